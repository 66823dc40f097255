"""What stands in the place of attention in today's models: layers that keep a state, an index that picks keys, and keys
that are compressed over time.

A layer with a state adds each token to one matrix a head, and keeps no keys and values: its memory does not grow with
the sequence. An indexer scores all keys of a layer cheaply, and attention reads the best of them only.
What follows from these numbers is computed in `hwlib.transformer.state_layers` and `hwlib.transformer.sparse`.
"""

from dataclasses import dataclass

MIXERS = ("gated-delta", "mamba2", "mamba1", "kimi-delta", "lightning", "short-conv")
"""Gated DeltaNet (gated-deltanet), Mamba-2 (dao2024) and its first form (gu2023), Kimi Delta Attention (kimi-linear),
lightning attention (minimax01), a short convolution between two gates (lfm2)."""
PATTERN = "AaSsM"
"""A letter a layer: attention or a state, and an MLP after it where the letter is a capital; M: an MLP alone."""
CHUNK = 64  # tokens of a part that kernels compute at once, of Gated DeltaNet and KDA (gated-deltanet, kimi-linear)


def _at_least(record: object, least: dict[str, int]) -> None:
    """Raise ValueError for a field that is not a whole number, or too small: below 1 unless `least` says otherwise."""
    for name, value in vars(record).items():
        low = least.get(name, 1)
        if name in ("kind", "full_gate", "full_decay", "weighted", "strides"):
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise ValueError(f"{name} is a whole number of at least {low}, got {value!r}")


@dataclass(frozen=True)
class StateMixer:
    """A layer with a state: one matrix of `key_dim` rows and `value_dim` columns for each of its `heads`.

    `key_heads` heads of keys and queries are shared by those of values, as B and C are by the heads of Mamba-2. `conv`
    are the tokens that a short convolution before it sees, 0 where there is none. `state_bytes` are those of an element
    of the state, and `chunk` the tokens that kernels take at once. `low_rank` is the width of what Mamba's first form
    makes steps of, each of its channels being a head of one column. With `full_gate` one matrix gives the gate of KDA's
    values, and not two through fewer channels, and with `full_decay` the decay of its keys. A short convolution keeps
    nothing but the last tokens of its `heads` channels. Raises ValueError.
    """

    kind: str
    heads: int
    key_heads: int
    key_dim: int
    value_dim: int
    conv: int = 0
    state_bytes: int = 4
    chunk: int = CHUNK
    low_rank: int = 0
    full_gate: bool = False
    full_decay: bool = False

    def __post_init__(self) -> None:
        if self.kind not in MIXERS:
            raise ValueError(f"kind is one of {', '.join(MIXERS)}, got {self.kind!r}")
        _at_least(self, {"conv": 0, "low_rank": 0})
        if self.heads % self.key_heads:
            raise ValueError(f"key_heads is a divisor of the {self.heads} heads, got {self.key_heads}")

    @property
    def channels(self) -> int:
        """Channels of the short convolution: of queries, keys and values, in Mamba's first form of values alone."""
        if self.kind in ("mamba1", "short-conv"):
            return self.heads * self.value_dim
        return 2 * self.key_heads * self.key_dim + self.heads * self.value_dim

    @property
    def delta(self) -> bool:
        """Whether a token first takes away what the state holds under its key, by the delta rule."""
        return self.kind in ("gated-delta", "kimi-delta")


@dataclass(frozen=True)
class Indexer:
    """The indexer of DeepSeek's sparse attention: `heads` of `dim` elements score all keys, of which attention reads
    the best `top`. So many `layers` have one of their own; of latent attention the others take what it picks, else they
    read all keys. Its heads are `weighted` by the token, or each stands for a group of queries. Raises ValueError.
    """

    heads: int
    dim: int
    top: int
    layers: int
    weighted: bool = True

    def __post_init__(self) -> None:
        _at_least(self, {})


@dataclass(frozen=True)
class Compression:
    """Attention of DeepSeek-V4 (deepseek-v4): every layer reads the tokens of its window, and beside them entries that
    each stand for as many tokens as its number in `strides`, 0 where it has none. Those of the stride `sparse` overlap,
    and an indexer picks among them. One vector of a token is key and value of all heads, whose queries are compressed,
    and whose output goes through `rank` channels for each of `groups` groups of heads. Raises ValueError.
    """

    strides: tuple[int, ...]
    sparse: int
    groups: int
    rank: int

    def __post_init__(self) -> None:
        _at_least(self, {})
        if not self.strides or any(type(stride) is not int or stride < 0 for stride in self.strides):
            raise ValueError(f"strides are whole numbers of at least 0, one a layer, got {self.strides!r}")

    def overlap(self, stride: int) -> int:
        """Strides whose tokens an entry is made of."""
        return 2 if stride == self.sparse else 1


@dataclass(frozen=True)
class HeadShape:
    """Heads of the layers without a window, where they are others than those of the layers with one: so many of
    queries, of keys and values, and their widths; `v_dim` 0: values are as wide as keys. With `shared_values` one
    matrix gives keys and values. Raises ValueError.
    """

    heads: int
    kv_heads: int
    head_dim: int
    v_dim: int = 0
    sinks: bool = False
    shared_values: bool = False

    def __post_init__(self) -> None:
        numbers = {name: value for name, value in vars(self).items() if not isinstance(value, bool)}
        for name, value in numbers.items():
            low = 0 if name == "v_dim" else 1
            if not isinstance(value, int) or value < low:
                raise ValueError(f"{name} is a whole number of at least {low}, got {value!r}")
        if self.heads % self.kv_heads:
            raise ValueError(f"kv_heads is a divisor of the {self.heads} heads, got {self.kv_heads}")
