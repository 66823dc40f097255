"""Bytes of a checkpoint's weights as its files store them: each matrix in its format, with scales and zero points.

The matrices are those of `hwlib.transformer.model_counts`; what they leave over of its counts (norms, biases, tables of
positions) has 16 bits, or the 32 that the file says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hwlib.specs import Model, models
from hwlib.specs.module_names import EMBEDDING, HEAD, OUTSIDE, ROUTER
from hwlib.specs.quantisation import Quantisation
from hwlib.specs.weight_format import WeightFormat
from hwlib.transformer.model_counts import mtp_parameters, parameter_groups

WITHOUT = Quantisation()


class Matrix(NamedTuple):
    """So many matrices of a part of a layer, of one kind, with `out` rows and `into` columns each."""

    part: str
    kind: str
    out: int
    into: int
    number: int = 1


class StoredParts(NamedTuple):
    """Bytes of weights by part; `rest` are tables, norms, biases and routers."""

    attention: float
    mlp: float
    experts: float
    shared_experts: float
    rest: float

    @property
    def total(self) -> float:
        """All of them."""
        return sum(self)


def checkpoint_bytes(model: Model | str, mtp: bool = False) -> float:
    """Bytes of the weights as the checkpoint's files store them; with `mtp` those of the modules for multi-token
    prediction too, with their copies of both tables, as DeepSeek's files have them. Raises ValueError where the files
    do not say the format.

    >>> checkpoint_bytes("llama3-8b") / 2
    8030261248.0
    """
    model = models.of(model)
    total = stored_parts(model).total
    if not mtp:
        return total
    last = model.replace(layers=1, dense_layers=0 if model.moe else 1, window_layers=0)
    layer = stored_parts(last)
    tables = 2 * model.vocab * model.width
    one_layer = layer.total - layer.rest
    matrices = mtp_parameters(model) - model.mtp_layers * sum(m.number * m.out * m.into for m in _layer(last, False))
    return total + model.mtp_layers * (one_layer + 2 * tables) + 2 * matrices


def stored_parts(model: Model | str) -> StoredParts:
    """Bytes of a checkpoint's weights by part. Raises ValueError where its files do not say the format.

    >>> parts = stored_parts("mixtral-8x7b")
    >>> parts.experts / parts.total > 0.9
    True
    """
    model = models.of(model)
    quantisation = WITHOUT if model.quantisation is None else model.quantisation
    sums = dict.fromkeys(StoredParts._fields, 0.0)
    counted = 0
    for layer in range(model.layers):
        for matrix in _layer(model, layer < model.dense_layers or not model.moe):
            sums[matrix.part] += _stored(matrix, quantisation.in_layer(layer, matrix.kind))
            counted += matrix.number * matrix.out * matrix.into
    tables = [EMBEDDING] if model.tied else [EMBEDDING, HEAD]
    for kind in tables:
        form = quantisation.format_of(OUTSIDE[kind], kind)
        sums["rest"] += form.stored_bytes(model.vocab, model.width)
        counted += model.vocab * model.width
    plain = quantisation.format_of(("norm",), EMBEDDING)
    sums["rest"] += (parameter_groups(model).total - counted) * plain.bits / 8
    return StoredParts(**sums)


def formats(model: Model | str) -> dict[str, WeightFormat]:
    """The format that most bytes of each part have. Raises ValueError where the files do not say it."""
    model = models.of(model)
    quantisation = WITHOUT if model.quantisation is None else model.quantisation
    held: dict[tuple[str, WeightFormat], float] = {}
    for layer in range(model.layers):
        for matrix in _layer(model, layer < model.dense_layers or not model.moe):
            form = quantisation.in_layer(layer, matrix.kind)
            held[matrix.part, form] = held.get((matrix.part, form), 0.0) + matrix.number * matrix.out * matrix.into
    most = sorted(held.items(), key=lambda item: item[1])
    return {part: form for (part, form), _ in most}


def _stored(matrix: Matrix, form: WeightFormat) -> float:
    return matrix.number * form.stored_bytes(matrix.out, matrix.into)


def _layer(model: Model, dense: bool) -> Iterator[Matrix]:
    """The matrices of one layer, with a dense MLP or with experts."""
    yield from _attention(model)
    if dense:
        yield from _mlp(model, "mlp", model.ffn, 1, ("gate", "up", "down"))
        return
    yield from _mlp(model, "experts", model.expert_ffn, model.experts, ("expert gate", "expert up", "expert down"))
    if model.shared_experts:
        names = ("shared gates", "shared up", "shared down")
        yield from _mlp(model, "shared_experts", model.expert_ffn * model.shared_experts, 1, names)
    yield Matrix("rest", ROUTER, model.experts, model.width)


def _mlp(model: Model, part: str, ffn: int, number: int, kinds: tuple[str, str, str]) -> Iterator[Matrix]:
    gate, up, down = kinds
    if model.gated:
        yield Matrix(part, gate, ffn, model.width, number)
    yield Matrix(part, up, ffn, model.width, number)
    yield Matrix(part, down, model.width, ffn, number)


def _attention(model: Model) -> Iterator[Matrix]:
    width, heads = model.width, model.heads
    if not model.mla:
        yield Matrix("attention", "q", heads * model.head_dim, width)
        yield Matrix("attention", "k", model.kv_heads * model.head_dim, width)
        yield Matrix("attention", "v", model.kv_heads * model.head_dim, width)
        yield Matrix("attention", "o", width, heads * model.head_dim)
        return
    if model.q_lora:
        yield Matrix("attention", "q_a", model.q_lora, width)
    yield Matrix("attention", "q_b" if model.q_lora else "q", heads * model.key_dim, model.q_lora or width)
    yield Matrix("attention", "kv_a", model.kv_lora + model.rope_dim, width)
    yield Matrix("attention", "kv_b", heads * (model.nope_dim + model.v_dim), model.kv_lora)
    yield Matrix("attention", "o", width, heads * model.v_dim)
