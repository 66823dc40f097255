"""What is trained, and in which precision: one record, of which memory, time and words are made.

All of a model, with states of some bytes a parameter and an optimizer; or adapters (LoRA) beside matrices that are
frozen, and that may be stored in fewer bits (QLoRA).
"""

from dataclasses import dataclass, field

from hwlib.footprint.state_bytes import DEEPSEEK_ADAM, FP8_MOMENTS_ADAM, States
from hwlib.specs import Model
from hwlib.transformer import compressor_matrices, matmul_parameters, mixer_shapes, parameter_count

OPTIMIZERS = {"adamw": 2, "muon": 1, "lion": 1, "sgd": 1}
"""Moments that an optimizer keeps of a parameter. Tables and norms, for which Muon keeps Adam's two, are not told
apart."""
BASES = {"bf16": 2.0, "int8": 1.0, "int4": (4 + 20 / 128) / 8, "nf4": 4.127 / 8}
"""Bytes of a frozen parameter as it is stored: QLoRA's four bits and their scales, 8 bits for each 64 and 32 for each
64 * 256, take 4.127 bits (dettmers2023). GPTQ's four bits have a scale of 16 and a zero of four for each 128
(frantar2022).
"""
APART = ("int4",)
"""Bases that are made again in 16 bits by kernels apart, one an operation; for the others there is one kernel."""
MATRICES = ("q", "k", "v", "o", "gate", "up", "down", "experts")
"""Matrices of a layer that may have adapters. Of latent attention q and k are both matrices that compress and v the one
that makes keys and values; gate, up and down are those of dense MLPs and of shared experts."""
GROUPS = {
    "attention": ("q", "k", "v", "o"),
    "mlp": ("gate", "up", "down"),
    "all": ("q", "k", "v", "o", "gate", "up", "down"),
}
"""Words for several of them. Routed experts are not in `all`: they get adapters only by name."""
NARROW_MOMENTS = {DEEPSEEK_ADAM: 2.0, FP8_MOMENTS_ADAM: 1.0}
WIDE_COPY = 4.0  # bytes of a moment in 32 bits, and of a copy
NEWTON_SCHULZ = 5  # iterations of Muon, each of three products (jordan2024)


@dataclass(frozen=True)
class Adapters:
    """Adapters of a rank beside some of MATRICES; the model's own parameters are frozen and stored as `base`.

    Raises ValueError.
    """

    rank: int
    matrices: tuple[str, ...] = GROUPS["all"]
    base: str = "bf16"

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ValueError(f"a rank is at least 1, got {self.rank}")
        if odd := [name for name in self.matrices if name not in MATRICES]:
            raise ValueError(f"expected matrices of {', '.join((*MATRICES, *GROUPS))}, got {odd[0]!r}")
        if not self.matrices:
            raise ValueError("adapters stand beside one matrix at least")
        if self.base not in BASES:
            raise ValueError(f"base: expected one of {', '.join(BASES)}, got {self.base!r}")

    def __str__(self) -> str:
        return f"LoRA of rank {self.rank} on {'+'.join(self.matrices)}, base in {self.base}"

    @property
    def frozen_bytes(self) -> float:
        """Bytes of a frozen parameter."""
        return BASES[self.base]

    @property
    def apart(self) -> bool:
        """Whether a frozen matrix is made again by kernels apart."""
        return self.base in APART

    @property
    def quantised(self) -> bool:
        """Whether a frozen matrix is made again in 16 bits before each product."""
        return self.frozen_bytes < BASES["bf16"]

    @property
    def reading(self) -> tuple[str, ...]:
        """Matrices that keep their inputs for the backward pass: those with adapters, and all that are stored in fewer
        bits, for the product of bitsandbytes keeps what it takes in, frozen or not.
        """
        return MATRICES if self.quantised else self.matrices

    def parameters(self, model: Model) -> int:
        """Parameters of all adapters of a model: `rank` for each row and each column of a matrix.

        >>> from hwlib.specs import models
        >>> Adapters(16, GROUPS["attention"]).parameters(models["llama3-8b"])
        13631488
        """
        sides = (model.layers - model.moe_layers) * self._sides(model, False, model.experts)
        return round(self.rank * (sides + model.moe_layers * self._sides(model, True, model.experts)))

    def check(self, model: Model) -> None:
        """Raises ValueError where a model lacks what adapters are asked for, or is narrower than they are."""
        if "experts" in self.matrices and not model.moe:
            raise ValueError(f"{model.name} has no experts, which adapters would stand beside")
        if not self.parameters(model):
            raise ValueError(f"{model.name} has no matrix of {', '.join(self.matrices)}")
        if self.rank > model.width:
            raise ValueError(f"a rank is at most the width of {model.name}, {model.width:,}, got {self.rank:,}")

    def token_sides(self, model: Model, moe: bool) -> tuple[float, float]:
        """Elements that go into a token's adapters of one layer, and that come out of them."""
        pairs = self._pairs(model, moe, model.experts_per_token)
        return sum(n * rows for n, (rows, _) in pairs), sum(n * columns for n, (_, columns) in pairs)

    def _sides(self, model: Model, moe: bool, experts: int) -> float:
        return sum(n * (rows + columns) for n, (rows, columns) in self._pairs(model, moe, experts))

    def _pairs(self, model: Model, moe: bool, experts: int) -> list[tuple[float, tuple[int, int]]]:
        """The matrices of the mean layer that have adapters: how many of each, and its sides."""
        shapes = layer_matrices(model, moe)
        count = {name: (experts if name == "experts" else 1) * matrix_share(model, moe, name) for name in self.matrices}
        return [(count[name], sides) for name in self.matrices for sides in shapes[name]]


@dataclass(frozen=True)
class Trained:
    """What is trained: `states` are bytes of a trained parameter, whose optimizer keeps so many moments; with
    `adapters` these are trained and nothing else.
    """

    states: States
    optimizer: str = "adamw"
    adapters: Adapters | None = None
    name: str = field(default="", compare=False)
    """The name of the states in STATES; empty where they are the software's own, or bytes."""

    def __str__(self) -> str:
        words = [str(self.adapters)] if self.adapters else []
        named = f"{self.name} states, " if self.name else ""
        return ", ".join([*words, f"{self.optimizer}, {named}{bytes_words(self.states)}"])

    def parameters(self, model: Model) -> int:
        """Parameters that are trained."""
        return self.adapters.parameters(model) if self.adapters else parameter_count(model)

    def state_bytes(self, model: Model) -> float:
        """Bytes of all weights, gradients and states of the optimizer together, divided among nothing."""
        frozen = self.adapters.frozen_bytes * parameter_count(model) if self.adapters else 0.0
        return frozen + self.states.total * self.parameters(model)

    def spared_flops(self, model: Model, B: float) -> float:
        """Operations of a step of B tokens that need not be done where all of a model would be trained: gradients of
        frozen matrices, less the products of adapters forward and backward.
        """
        if self.adapters is None:
            return 0.0
        kinds = ((False, model.layers - model.moe_layers), (True, model.moe_layers))
        sides = sum(layers * sum(self.adapters.token_sides(model, moe)) for moe, layers in kinds if layers)
        return 2.0 * B * (matmul_parameters(model) - 3 * self.adapters.rank * sides)

    @property
    def update_bytes(self) -> float:
        """Bytes that the update of a parameter moves: what the optimizer has is read and written, the gradient read,
        the weight written. Where there is a copy of the weight in 32 bits the gradient too is read in so many; where
        there is none the weight is read.

        >>> from hwlib.footprint import BFLOAT16_ADAM, MEGATRON_ADAM
        >>> Trained(MEGATRON_ADAM).update_bytes, Trained(BFLOAT16_ADAM).update_bytes
        (30, 14)
        """
        weight, gradient, optimizer = self.states
        count = OPTIMIZERS[self.optimizer]
        moments = count * moment_bytes(self.states, count)
        has_copy = optimizer > moments
        return 2 * optimizer + (max(gradient, WIDE_COPY) + weight if has_copy else gradient + 2 * weight)


def moment_bytes(states: States, moments: int = OPTIMIZERS["adamw"]) -> float:
    """Bytes of one of so many moments. Beside moments in 32 bits there may be a copy of the weight, beside shorter ones
    only in the layouts of NARROW_MOMENTS.
    """
    return NARROW_MOMENTS.get(states, min(WIDE_COPY, states.optimizer / moments))


def with_optimizer(states: States, optimizer: str) -> States:
    """The states of Adam with another optimizer in its place, whose moments are as wide.

    >>> with_optimizer(States(2, 4, 12), "muon")
    States(weight=2, gradient=4, optimizer=8.0)
    """
    fewer = OPTIMIZERS["adamw"] - OPTIMIZERS[optimizer]
    return states._replace(optimizer=states.optimizer - fewer * moment_bytes(states)) if fewer else states


def bytes_words(states: States) -> str:
    """Bytes of a trained parameter in words: their sum and its parts."""
    parts = f"weight {states.weight:g}, gradient {states.gradient:g}, optimizer {states.optimizer:g}"
    return f"{states.total:g} bytes a parameter ({parts})"


def adapters_of(text: str, base: str = "bf16") -> Adapters:
    """Adapters as they are asked for, RANK or RANK@MATRICES: names of MATRICES and GROUPS, joined by commas or plus
    signs. Raises ValueError.

    >>> adapters_of("16@q+v")
    Adapters(rank=16, matrices=('q', 'v'), base='bf16')
    """
    rank, at, names = str(text).strip().partition("@")
    if not (rank.isascii() and rank.isdigit()):
        raise ValueError(f"expected RANK or RANK@MATRICES, as in 16 or 16@q+k+v+o, got {text!r}")
    words = [word.strip() for word in names.replace("+", ",").split(",")] if at else ["all"]
    matrices: list[str] = []
    for word in words:
        matrices.extend(GROUPS.get(word, (word,)))
    return Adapters(int(rank), tuple(dict.fromkeys(matrices)), base)


def layer_matrices(model: Model, moe: bool) -> dict[str, tuple[tuple[int, int], ...]]:
    """The sides of the matrices of one layer, with experts or not, by the names of MATRICES: what goes in, and what
    comes out. Those of routed experts are of one of them.
    """
    width, heads = model.width, model.heads * model.key_dim
    query_columns = heads + model.heads * model.value_dim * model.attention_gate
    output: tuple[tuple[int, int], ...] = ((model.heads * model.value_dim, width),)
    values: tuple[tuple[int, int], ...]
    if x := model.compression:
        queries = ((width, model.q_lora), (model.q_lora, heads))
        keys, values = ((width, model.head_dim),), ()
        output = (heads // x.groups, x.groups * x.rank), (x.groups * x.rank, width)
    elif model.mla:
        up = model.heads * (model.nope_dim + model.v_dim)
        queries = ((width, model.q_lora), (model.q_lora, heads)) if model.q_lora else ((width, heads),)
        keys, values = ((width, model.kv_lora + model.rope_dim),), ((model.kv_lora, up),)
    else:
        queries = ((width, query_columns),)
        keys = ((width, model.kv_heads * model.key_dim),)
        values = ((width, model.kv_heads * model.value_dim),)
    ffn = model.expert_ffn * model.shared_experts if moe else model.ffn
    gated = model.matrices == 3
    wide = ((width, ffn),) if ffn else ()
    expert = (model.expert_ffn, model.expert_width or width)
    return {
        "q": queries,
        "k": keys,
        "v": values,
        "o": output,
        "gate": wide if gated else (),
        "up": wide,
        "down": tuple((columns, rows) for rows, columns in wide),
        "experts": (expert[::-1],) * (2 if gated else 1) + (expert,) if moe else (),
        **_mixer_matrices(model, moe),
    }


def _mixer_matrices(model: Model, moe: bool) -> dict[str, tuple[tuple[int, int], ...]]:
    """The sides of matrices that are not among MATRICES: of states, of indexers, and around experts that read narrower
    vectors. Nothing of a model without.
    """
    sides: dict[str, tuple[tuple[int, int], ...]] = {}
    if model.mixer:
        sides["states"] = tuple((into, out) for out, into in mixer_shapes(model))
    for stride in _strides(model):
        sides[f"{COMPRESSORS}{stride}"] = ((model.width, compressor_matrices(model, stride) // model.width),)
    if model.indexer:
        x, c = model.indexer, model.compression
        keys = (2 * c.overlap(c.sparse) if c else 1) * x.dim + x.heads * x.weighted
        sides["indexers"] = ((model.q_lora or model.width, x.heads * x.dim), (model.width, keys))
    if model.expert_width and moe:
        sides["latent"] = ((model.width, model.expert_width), (model.expert_width, model.width))
    return sides


COMPRESSORS = "compressors of "


def _strides(model: Model) -> list[int]:
    """The strides of layers whose keys are compressed over time, each once."""
    return sorted(set(model.compression.strides) - {0}) if model.compression else []


def matrix_share(model: Model, moe: bool, name: str) -> float:
    """How many of the layers, with experts or not, have the matrices of a name of `layer_matrices`.

    >>> from hwlib.specs import models
    >>> matrix_share(models["llama3-8b"], False, "q")
    1.0
    """
    if name in ("q", "k", "v", "o"):
        return model.attention_share
    if name == "states":
        return 1.0 - model.attention_share
    if name == "indexers" and model.indexer:
        return model.indexer.layers / model.layers
    if name.startswith(COMPRESSORS) and model.compression:
        return model.compression.strides.count(int(name.removeprefix(COMPRESSORS))) / model.layers
    return model.mlp_share if name in ("gate", "up", "down") and not moe else 1.0


def newton_schulz_flops(model: Model) -> float:
    """Operations with which Muon makes the updates of all layers' matrices orthogonal: five times the products X X',
    A A and B X, of which two are of m x m by m x n and one of m x m by m x m, m the shorter side.
    """
    flops = 0.0
    kinds = ((False, model.layers - model.moe_layers), (True, model.moe_layers))
    for moe, layers in kinds:
        for name, shapes in layer_matrices(model, moe).items() if layers else ():
            count = layers * matrix_share(model, moe, name) * (model.experts if name == "experts" else 1)
            flops += sum(count * _orthogonal_flops(*sides) for sides in shapes)
    return flops


def _orthogonal_flops(rows: int, columns: int) -> float:
    m, n = sorted((rows, columns))
    return NEWTON_SCHULZ * (4.0 * m * m * n + 2.0 * m**3)
