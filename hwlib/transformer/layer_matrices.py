"""The matrices of each layer of a model, by part and by the kind that their names in checkpoints have.

The kinds are those of `hwlib.specs.module_names.IN_A_LAYER`. What is no matrix (norms, biases, decays, the short
convolutions of states) is not here.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from hwlib.specs import Model
from hwlib.specs.model import BESIDE, BLOCKS
from hwlib.specs.module_names import ROUTER
from hwlib.specs.state_mixer import StateMixer

USUAL_NAMES = (("expert gate", "expert up", "expert down"), ("shared gates", "shared up", "shared down"))
NAMES_BESIDE = (("own expert gate", "own expert up", "own expert down"), ("gate", "up", "down"))
"""The kinds of routed experts' matrices, and of those that every token takes."""


class Matrix(NamedTuple):
    """So many matrices of a part of a layer, of one kind, with `out` rows and `into` columns each."""

    part: str
    kind: str
    out: int
    into: int
    number: int = 1

    @property
    def elements(self) -> int:
        """Of all of them."""
        return self.number * self.out * self.into


class Sublayer(NamedTuple):
    """The matrices of a mixer or an MLP, and the number that names in checkpoints have for its layer."""

    number: int
    matrices: tuple[Matrix, ...]

    @property
    def elements(self) -> int:
        """Of all matrices."""
        return sum(matrix.elements for matrix in self.matrices)


def sublayers(model: Model) -> Iterator[Sublayer]:
    """The matrices of all layers, mixers and MLPs apart. Layers without experts, and
    those with a window, are taken to be the first."""
    pattern = model.pattern or "A" * model.layers
    index = dense = attended = 0
    full, blocks = model.full_view, model.naming == BLOCKS
    for letter in pattern:
        if letter in "Aa":
            if model.compression:
                yield Sublayer(index, tuple(_compressed_attention(model, model.compression.strides[attended])))
            else:
                own_index = model.indexer is not None and attended < model.indexer.layers
                heads = model if attended < model.window_layers else full
                yield Sublayer(index, tuple(attention_matrices(heads, own_index)))
            attended += 1
        elif letter in "Ss":
            yield Sublayer(index, tuple(_mixer(model)))
        index += blocks
        if letter.isupper():
            ffn = model.ffn + model.wider * (not dense)
            yield Sublayer(index, tuple(mlp_matrices(model, dense < model.dense_layers or not model.moe, ffn)))
            dense += 1
            index += blocks
        index += not blocks


def mlp_matrices(model: Model, dense: bool, ffn: int) -> Iterator[Matrix]:
    """An MLP of this width, or experts with what is around them."""
    width = model.width
    if dense:
        yield from _mlp(model, "mlp", ffn, width, 1, ("gate", "up", "down"))
        return
    routed, names = NAMES_BESIDE if model.naming == BESIDE else USUAL_NAMES
    yield from _mlp(model, "experts", model.expert_ffn, model.expert_width or width, model.experts, routed)
    if model.shared_experts:
        yield from _mlp(model, "shared_experts", model.expert_ffn * model.shared_experts, width, 1, names)
    if model.expert_width:
        yield Matrix("shared_experts", "latent in", model.expert_width, width)
        yield Matrix("shared_experts", "latent out", width, model.expert_width)
    yield Matrix("rest", ROUTER, model.experts, width)


def _mlp(model: Model, part: str, ffn: int, width: int, number: int, kinds: tuple[str, str, str]) -> Iterator[Matrix]:
    gate, up, down = kinds
    if model.gated:
        yield Matrix(part, gate, ffn, width, number)
    yield Matrix(part, up, ffn, width, number)
    yield Matrix(part, down, width, ffn, number)


def attention_matrices(model: Model, own_index: bool) -> Iterator[Matrix]:
    """Attention, with a gate in the matrix of queries where it has one, and its indexer where that is the layer's own.

    A gate beside compressed queries is a matrix of its own.
    """
    width, heads = model.width, model.heads
    if not model.mla:
        yield Matrix("attention", "q", heads * model.head_dim * (1 + model.attention_gate), width)
        yield Matrix("attention", "k", model.kv_heads * model.head_dim, width)
        if not model.shared_values:
            yield Matrix("attention", "v", model.kv_heads * model.value_dim, width)
        yield Matrix("attention", "o", width, heads * model.value_dim)
        yield from _indexer(model, own_index)
        return
    if model.q_lora:
        yield Matrix("attention", "q_a", model.q_lora, width)
    yield Matrix("attention", "q_b" if model.q_lora else "q", heads * model.key_dim, model.q_lora or width)
    yield Matrix("attention", "kv_a", model.kv_lora + model.rope_dim, width)
    yield Matrix("attention", "kv_b", heads * (model.nope_dim + model.v_dim), model.kv_lora)
    if model.attention_gate:
        yield Matrix("attention", "attention gate", heads * model.v_dim, width)
    yield Matrix("attention", "o", width, heads * model.v_dim)
    yield from _indexer(model, own_index)


def _compressed_attention(model: Model, stride: int) -> Iterator[Matrix]:
    """Attention on keys that are compressed over time, and in a layer of this stride what compresses them; its grouped
    output as one matrix of as many columns as a group.
    """
    x, width, dim = model.compression, model.width, model.head_dim
    assert x
    yield Matrix("attention", "q_a", model.q_lora, width)
    yield Matrix("attention", "q_b", model.heads * dim, model.q_lora)
    yield Matrix("attention", "kv", dim, width)
    yield Matrix("attention", "o_a", x.groups * x.rank, model.heads * dim // x.groups)
    yield Matrix("attention", "o_b", width, x.groups * x.rank)
    if stride:
        yield Matrix("attention", "compressor", x.overlap(stride) * dim, width)
        yield Matrix("attention", "compressor gate", x.overlap(stride) * dim, width)
    index = model.indexer
    if index and stride == x.sparse:
        yield Matrix("attention", "index q", index.heads * index.dim, model.q_lora)
        yield Matrix("attention", "index weights", index.heads, width)
        yield Matrix("attention", "index compressor", x.overlap(stride) * index.dim, width)
        yield Matrix("attention", "index compressor gate", x.overlap(stride) * index.dim, width)


def _indexer(model: Model, own: bool) -> Iterator[Matrix]:
    if not own or model.indexer is None:
        return
    heads, dim = model.indexer.heads, model.indexer.dim
    yield Matrix("attention", "index q", heads * dim, model.q_lora or model.width)
    yield Matrix("attention", "index k", dim, model.width)
    if model.q_lora:
        yield Matrix("attention", "index weights", heads, model.width)


def _mixer(model: Model) -> Iterator[Matrix]:
    """The matrices of a layer that keeps a state."""
    assert model.mixer
    for kind, out, into in OF_MIXERS[model.mixer.kind](model.width, model.mixer):
        yield Matrix("attention", kind, out, into)


Shapes = Iterator[tuple[str, int, int]]


def _gated_delta(width: int, x: StateMixer) -> Shapes:
    keys, values = x.key_heads * x.key_dim, x.heads * x.value_dim
    yield "state qkv", 2 * keys + values, width
    yield "state z", values, width
    yield "state gates", 2 * x.heads, width
    yield "state out", width, values


def _mamba2(width: int, x: StateMixer) -> Shapes:
    keys, values = x.key_heads * x.key_dim, x.heads * x.value_dim
    yield "mamba in", 2 * keys + 2 * values + x.heads, width
    yield "mamba out", width, values


def _mamba1(width: int, x: StateMixer) -> Shapes:
    values = x.heads * x.value_dim
    yield "mamba in", 2 * values, width
    yield "mamba x", x.low_rank + 2 * x.key_dim, values
    yield "mamba steps", values, x.low_rank
    yield "mamba out", width, values


def _kimi_delta(width: int, x: StateMixer) -> Shapes:
    keys, values = x.key_heads * x.key_dim, x.heads * x.value_dim
    yield "q", keys, width
    yield "k", keys, width
    yield "v", values, width
    if x.full_decay:
        yield "decay", keys, width
    else:
        yield "decay in", x.value_dim, width
        yield "decay out", keys, x.value_dim
    yield "strength", x.heads, width
    if x.full_gate:
        yield "attention gate", values, width
    else:
        yield "gate in", x.value_dim, width
        yield "gate out", values, x.value_dim
    yield "o", width, values


def _lightning(width: int, x: StateMixer) -> Shapes:
    keys, values = x.key_heads * x.key_dim, x.heads * x.value_dim
    yield "q", keys, width
    yield "k", keys, width
    yield "v", values, width
    yield "output gate", values, width
    yield "o", width, values


def _short_conv(width: int, x: StateMixer) -> Shapes:
    yield "conv in", 3 * x.channels, width
    yield "conv out", width, x.channels


OF_MIXERS: Mapping[str, Callable[[int, StateMixer], Shapes]] = MappingProxyType(
    {
        "gated-delta": _gated_delta,
        "mamba2": _mamba2,
        "mamba1": _mamba1,
        "kimi-delta": _kimi_delta,
        "lightning": _lightning,
        "short-conv": _short_conv,
    }
)
"""The matrices of each kind of mixer: kind, rows and columns."""
