"""Language models: frozen records read from models.toml beside this file, and models of one's own.

A row of the table has one source for its shape; `published_parameters`, the count that somebody printed or
that a checkpoint holds, has its own. What follows from the shape is computed in `hwlib.transformer`.

>>> from hwlib.specs import models
>>> models["llama3-70b"].layers, models["llama3-70b"].heads_per_kv_head
(80, 8)
>>> models["llama3-70b"].replace(kv_heads=64)
<Llama 3.1 70B, changed: 80 layers of width 8192, 64 heads, MLP of 28672, vocabulary 128256>
>>> Model.small(layers=2, width=64, heads=4)
<small: 2 layers of width 64, 4 heads, MLP of 256, vocabulary 1024>

Wherever a key is asked for, the path of a `config.json` will do (`read_config`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hwlib.specs.hf_config import NAME, content_of, is_config, values_of_config
from hwlib.specs.quantisation import Quantisation
from hwlib.specs.reader import Record, count, flag, read, rows_of, text, values_of
from hwlib.specs.shortened import short
from hwlib.specs.state_mixer import PATTERN, Compression, HeadShape, Indexer, StateMixer
from hwlib.specs.table import SpecError, Table, file_text, unknown

NORMS = ("rms", "layer", "gain", "bare")
"""Kinds of norms: with gains alone, with gains and offsets, a layer norm with gains alone, one without parameters."""
MOST_LAYERS = 2**13  # layers are walked one by one to count a checkpoint, about a second of so many
MOST = 2**32  # of a number of a model: a width, a vocabulary, a window
LARGEST = {"layers": MOST_LAYERS, "experts": 2**16, "shared_experts": 2**16, "published_parameters": 2**53}
"""Of other numbers: experts are divided among chips in every way, and published models have some hundred."""
BIASES = ("none", "all", "qkv", "attention", "mlp")
"""Which matrices have biases: none, all, those of queries, keys and values, these and attention's output, the MLP's."""


BLOCKS, BESIDE = "blocks", "experts beside"
NAMINGS = ("", BLOCKS, BESIDE)
"""Ways to name parts of a layer in checkpoints: mixers and MLPs numbered each by themselves; experts beside an MLP."""


def _no_cell(place: str, cell: Any) -> None:
    """A row of the table has a shape, and no checkpoint."""
    raise SpecError(f"{place}: expected no such field, as a `config.json` alone says it, got {cell!r}")


@dataclass(frozen=True, repr=False)
class Model(Record):
    """One decoder: the numbers that its parameters, operations and memory follow from.

    A dense model has one expert, which every token takes; `expert_ffn` is then its `ffn`. Raises ValueError,
    naming the field, for a shape that cannot be.
    """

    source: str = text(needed=True)
    confidence: str = text(needed=True)
    note: str = text()
    norm: str = text("rms")
    biases: str = text("none")

    layers: int = count("layers, L", 0, needed=True)
    width: int = count("width of the residual stream, D", 0, needed=True)
    ffn: int = count("width of the MLP of a dense layer, F", 0, needed=True)
    heads: int = count("query heads", 0, needed=True)
    kv_heads: int = count("key-value heads, K", 0, needed=True)
    head_dim: int = count("width of a head, H", 0, needed=True)
    vocab: int = count("rows of the embedding, V", 0, needed=True)
    context: int = count("longest sequence that the model is made for", 0, needed=True)
    gated: bool = flag("whether the MLP has a gate, and so three matrices instead of two", True)
    tied: bool = flag("whether the output layer is the embedding again", False)
    dropout: bool = flag("whether training drops activations out, and keeps masks", False)
    qk_norm: bool = flag("whether queries and keys are normalised, with gains for a head", False)
    qk_norm_full: bool = flag("whether those gains are of all heads, not the same for each", False)
    layer_norms: int = count("norms of a layer over its width", 2)
    embedding_norm: bool = flag("whether a norm follows the embedding", False)
    head_bias: bool = flag("whether the output layer has biases", False)
    shared_gate: bool = flag("whether a vector weighs what the shared experts give", False)
    parallel: bool = flag("whether attention and MLP of a layer read the same input, and are added together", False)
    sinks: bool = flag("whether each head learns a logit of its own", False)
    rotary_scaled: bool = flag("whether rotary embeddings have a factor, as YaRN gives them", False)
    router_bias: bool = flag("whether a bias for each expert steers the router", False)
    positions: int = count("rows of a learned table of positions", 0)
    experts: int = count("routed experts of a layer, E; 1 in a dense model", 1)
    experts_per_token: int = count("routed experts that a token takes, k", 1)
    shared_experts: int = count("experts that every token takes beside these", 0)
    expert_ffn: int = count("width of one expert", 0)
    expert_width: int = count("width that routed experts read and write, between two matrices; 0: the model's", 0)
    dense_layers: int = count("layers with a dense MLP, the first ones, in a model with experts", 0)
    q_lora: int = count("width of the compressed queries (MLA)", 0)
    kv_lora: int = count("width of the compressed keys and values (MLA)", 0)
    rope_dim: int = count("width of the key shared by all heads that carries the position (MLA)", 0)
    nope_dim: int = count("width of a head's query and key without position (MLA)", 0)
    v_dim: int = count("width of a head's value (MLA)", 0)
    window: int = count("keys that a token of a windowed layer sees", 0)
    window_layers: int = count("layers with such a window", 0)
    mtp_layers: int = count("further layers that predict the tokens after the next one", 0)
    published_parameters: int = count("parameters, as published", 0)
    quantisation: Quantisation | None = field(default=None, metadata={"bare": _no_cell})
    """How the checkpoint stores its weights that the shape was read from; None of a shape without a checkpoint."""
    beside: tuple[str, ...] = field(default=(), metadata={"bare": _no_cell})
    """Parts of the file's model that are not counted, such as the one for images, each with what the file tells."""
    attention_gate: bool = flag("whether a gate as wide as the queries weighs what attention gives", False)
    pattern: str = text()
    """A letter a layer, of `hwlib.specs.state_mixer.PATTERN`; empty where all have attention and an MLP."""
    mixer: StateMixer | None = field(default=None, metadata={"bare": _no_cell})
    """The layers of the pattern that keep a state; None of a model without."""
    naming: str = text()
    """How checkpoints name parts of a layer, where they do so otherwise: one of `NAMINGS`."""
    indexer: Indexer | None = field(default=None, metadata={"bare": _no_cell})
    """What picks the keys that attention reads; None where it reads all of them."""
    wider: int = count("columns of all dense MLPs together beyond `ffn` each, which is then their mean", 0)
    gains: int = count("further gains and numbers of the whole model, in no matrix", 0)
    full_heads: HeadShape | None = field(default=None, metadata={"bare": _no_cell})
    """Heads of the layers without a window, where they differ from the model's, which are those with one."""
    shared_values: bool = flag("whether one matrix gives keys and values", False)
    compression: Compression | None = field(default=None, metadata={"bare": _no_cell})
    """What stands for tokens beyond the window of every layer; None where all keys are kept."""
    streams: int = count("residual streams that hyper-connections mix around every block; 0: one, without", 0)
    hashed_layers: int = count("first layers with experts that a table of tokens chooses, without a bias", 0)

    def __post_init__(self) -> None:
        if not self.moe and not self.expert_ffn:
            object.__setattr__(self, "expert_ffn", self.ffn)
        unchanged = {name: datum for name, datum in self.data.items() if getattr(self, name) == datum.value}
        object.__setattr__(self, "data", MappingProxyType(unchanged))
        for f in fields(self):
            if "meaning" in f.metadata:
                self._check_number(f.name, f.metadata)
        self._check("norm", self.norm in NORMS, f"one of {', '.join(NORMS)}")
        self._check("biases", self.biases in BIASES, f"one of {', '.join(BIASES)}")
        self._check("naming", self.naming in NAMINGS, f"one of {', '.join(filter(None, NAMINGS))}, or empty")
        self._check("kv_heads", self.heads % self.kv_heads == 0, f"a divisor of the {self.heads} heads")
        self._check("experts_per_token", self.experts_per_token <= self.experts, f"at most {self.experts} experts")
        self._check("qk_norm_full", self.qk_norm or not self.qk_norm_full, "false where qk_norm is")
        self._check("expert_ffn", self.expert_ffn > 0, "above 0 in a model with experts")
        self._check_layers()

    def _check_layers(self) -> None:
        letters = not self.pattern or (len(self.pattern) == self.layers and set(self.pattern) <= set(PATTERN))
        self._check("pattern", letters, f"a letter of {PATTERN} for each of the {self.layers} layers")
        stateful = bool(self.mixer) == bool(self.state_layers)
        self._check("mixer", stateful, "there where layers keep a state, and only there")
        self._check(
            "dense_layers", self.dense_layers <= self.mlp_layers, f"at most {self.mlp_layers} layers, which have an MLP"
        )
        attention = self.attention_layers
        self._check(
            "window_layers", self.window_layers <= attention, f"at most {attention} layers, which have attention"
        )
        self._check("full_heads", not self.full_heads or self.window_layers > 0, "beside layers with a window")
        self._check("hashed_layers", self.hashed_layers <= self.moe_layers, f"at most {self.moe_layers} layers")
        self._check_compression()
        reads = not self.indexer or not self.indexer.weighted or self.q_lora > 0
        self._check("indexer", reads, "beside compressed queries, which it reads")
        own = self.indexer.layers if self.indexer else 0
        self._check("indexer", own <= attention, f"in at most {attention} layers, which have attention")

    def _check_compression(self) -> None:
        x = self.compression
        if x is None:
            return
        self._check("compression", len(x.strides) == self.attention_layers, f"of {self.attention_layers} strides")
        self._check("compression", self.heads % x.groups == 0, f"of groups that divide the {self.heads} heads")
        self._check("kv_heads", self.kv_heads == 1 and not self.mla, "1 beside compression, and without latent keys")
        self._check("window", self.window > 0, "above 0 beside compression")
        self._check("window_layers", self.window_layers == x.strides.count(0), "those without a stride")
        own = self.indexer.layers if self.indexer else 0
        self._check("indexer", own == x.strides.count(x.sparse), "in the layers of the shortest stride")

    def _check_number(self, name: str, metadata: Mapping[str, Any]) -> None:
        value = getattr(self, name)
        if metadata["kind"] == "flag":
            self._check(name, isinstance(value, bool), "true or false")
        else:
            least = 1 if metadata["needed"] or name in ("experts", "experts_per_token") else 0
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
            self._check(name, whole, f"a whole number of at least {least}")
            most = LARGEST.get(name, MOST)
            self._check(name, value <= most, f"at most {most:,}")

    def _check(self, name: str, good: bool, expected: str) -> None:
        if not good:
            raise ValueError(f"model {self.key!r}: {name} is {expected}, got {short(getattr(self, name))}")

    def __repr__(self) -> str:
        heads = f"{self.heads} heads" + (f" on {self.kv_heads}" if self.heads_per_kv_head > 1 else "")
        mlp = f"MLP of {self.ffn}"
        if self.moe:
            mlp = f"{self.experts} experts of {self.expert_ffn}, {self.experts_per_token} a token"
        shape = f"{self.layers} layers of width {self.width}, {heads}, {mlp}, vocabulary {self.vocab}"
        return f"<{self.name}: {shape}>"

    @property
    def moe(self) -> bool:
        """Whether the model has experts to choose from."""
        return self.experts > 1

    @property
    def state_layers(self) -> int:
        """Layers that keep a state in place of keys and values."""
        return self.pattern.lower().count("s")

    @property
    def attention_layers(self) -> int:
        """Layers that keep keys and values."""
        return self.layers - self.state_layers - self.pattern.count("M")

    @property
    def mixed(self) -> bool:
        """Whether some layers are not attention on every key: they keep a state, or pick their keys."""
        return bool(self.mixer or self.indexer or self.compression)

    @cached_property
    def full_view(self) -> "Model":
        """A model whose every layer has the heads of this one's layers without a window."""
        if self.full_heads is None:
            return self
        return replace(self, full_heads=None, **vars(self.full_heads))

    @property
    def attention_share(self) -> float:
        """Layers that keep keys and values, of all."""
        return self.attention_layers / self.layers

    @property
    def mlp_share(self) -> float:
        """Layers with an MLP, of those without experts: below 1 where some are a mixer alone."""
        without = self.layers - self.moe_layers
        return (self.mlp_layers - self.moe_layers) / without if without else 1.0

    @property
    def mlp_layers(self) -> int:
        """Layers with an MLP, or with experts, after attention or state."""
        return sum(letter.isupper() for letter in self.pattern) if self.pattern else self.layers

    @property
    def moe_layers(self) -> int:
        return self.mlp_layers - self.dense_layers if self.moe else 0

    @property
    def mla(self) -> bool:
        """Whether keys and values are compressed into one vector for all heads."""
        return self.kv_lora > 0

    @property
    def latent_key(self) -> int:
        """Elements of a token's one vector that all heads read as their key; 0 where heads have keys of their own."""
        return self.head_dim if self.compression else self.kv_lora + self.rope_dim

    @property
    def latent_value(self) -> int:
        """Elements of it that they read as their value."""
        return self.head_dim if self.compression else self.kv_lora

    @property
    def matrices(self) -> int:
        """Matrices of an MLP: up and down, and a gate where there is one."""
        return 3 if self.gated else 2

    @property
    def heads_per_kv_head(self) -> int:
        """Query heads that share a key and a value, G."""
        return self.heads // self.kv_heads

    @property
    def key_dim(self) -> int:
        """Width of a head's query and key."""
        return self.nope_dim + self.rope_dim if self.mla else self.head_dim

    @property
    def value_dim(self) -> int:
        """Width of a head's value."""
        return self.v_dim or self.head_dim

    def replaced_precision(self, dtype: str) -> str:
        """The precision of the checkpoint, and this one, where a plan in it sets that of a quantised one aside."""
        return self.quantisation.replaced_by(dtype) if self.quantisation else ""

    def planned_name(self, dtype: str) -> str:
        """The name, with both precisions where a plan in this one sets that of a quantised checkpoint aside."""
        replaced = self.replaced_precision(dtype)
        return f"{self.name} (quantised: {replaced})" if replaced else self.name

    def replace(self, **changes: Any) -> "Model":
        """This model with some fields changed; what was changed has no source any more.

        A new `ffn` of a dense model is its `expert_ffn` too, and the published count is dropped.
        """
        if odd := sorted(set(changes) - {f.name for f in fields(self)}):
            raise TypeError(unknown("field", odd[0], (f.name for f in fields(self) if f.name != "data")))
        if "ffn" in changes and not self.moe:
            changes.setdefault("expert_ffn", changes["ffn"])
        names = {"key": f"{self.key}-changed", "name": f"{self.name}, changed", "published_parameters": 0}
        return replace(self, **{**names, **changes})

    @classmethod
    def of_config(cls, content: Mapping[str, Any], name: str, where: str = NAME) -> "Model":
        """The model of the fields of a Hugging Face `config.json`; `where` names the file in messages.

        >>> Model.of_config({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024,
        ...                  "vocab_size": 50257}, "GPT-2")
        <GPT-2: 12 layers of width 768, 12 heads, MLP of 3072, vocabulary 50257>

        Raises SpecError, which names the field.
        """
        values = values_of_config(content, name, where)
        try:
            return cls(**values)
        except ValueError as error:
            raise SpecError(f"{where}: {error}") from None

    @classmethod
    def small(cls, layers: int = 4, width: int = 256, heads: int = 8, vocab: int = 1024, **others: Any) -> "Model":
        """A model of one's own, and by default of Llama's kind: as many key-value heads as heads, an MLP four
        times as wide as the model, a context of 1024. Any field can be given.
        """
        usual = {
            "key": "small",
            "name": "small",
            "data": MappingProxyType({}),
            "kv_heads": heads,
            "ffn": 4 * width,
            "head_dim": max(width // heads, 1),
            "context": 1024,
        }
        return cls(**{**usual, **others, "layers": layers, "width": width, "heads": heads, "vocab": vocab})


CONFIGURED = "published_models.toml"
"""The table of models by the fields of their `config.json`."""


def _read(file: str) -> Iterator[Model]:
    """The models of one table, checked."""
    return _configured_rows(file, file_text(file)) if file == CONFIGURED else read(Model, file, file_text(file))


def _configured_rows(file: str, content: str) -> Iterator[Model]:
    """The models of a table whose rows hold the fields of a `config.json`. Raises SpecError."""
    for key, row in rows_of(file, content).items():
        place = f"{file}, {key}"
        shape = values_of_config(row.get("config", {}), key, place)
        written = {name: cell for name, cell in row.items() if name != "config"}
        of_file = {name: shape[name] for name in COUNTED & shape.keys()}
        values = values_of(Model, place, {**of_file, **written})
        parts = {name: shape[name] for name in ("mixer", "indexer", "full_heads", "compression") if name in shape}
        try:
            yield Model(key=key, **values, **parts)
        except ValueError as error:
            raise SpecError(f"{place}: {error}") from None


def read_config(path: str | Path) -> Model:
    """The model of a Hugging Face `config.json`, or of the folder that holds one, named after the folder. Nothing is
    fetched. Raises SpecError, which names the file and the field that is not understood.
    """
    return Model.of_config(*content_of(path))


def _configured(text: str) -> Model | None:
    return read_config(text) if is_config(text) else None


COUNTED = {f.name for f in fields(Model) if "meaning" in f.metadata} | {"norm", "biases", "pattern", "note", "naming"}
"""The fields of a row that a `config.json` says, each without a source of its own."""
models: Table[Model] = Table("model", _read, ("models.toml", CONFIGURED), _configured)
