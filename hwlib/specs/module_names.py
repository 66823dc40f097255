"""The names that checkpoints give to the matrices of a layer, and patterns of such names as quantisers write them.

Every architecture calls its matrices otherwise, and every quantiser names those that it leaves out in its own language:
whole names, parts of them, shell wildcards, regular expressions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import translate
from types import MappingProxyType

from hwlib.specs.table import SpecError

HEAD, EMBEDDING, ROUTER, SHARED_GATE = "head", "embedding", "router", "shared gate"
_MLPS = ("mlp", "feed_forward", "ffn")
_MIXTURES = (*_MLPS, "block_sparse_moe", "moe", "mixer")
_ATTENTIONS = ("self_attn", "attn", "attention", "self_attention", "mixer")
_MAMBAS = ("mixer", "mamba")


def _paths(holders: Iterable[str], *names: str) -> tuple[str, ...]:
    return tuple(f"{holder}.{name}" for holder in holders for name in names)


def _experts(*names: str) -> tuple[str, ...]:
    return _paths(_MIXTURES, *[f"{part}.{name}" for part in ("experts.0", "experts") for name in names])


def _shared(*names: str) -> tuple[str, ...]:
    return _paths(_MIXTURES, *[f"{part}.{name}" for part in ("shared_experts", "shared_expert") for name in names])


IN_A_LAYER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "q": _paths(_ATTENTIONS, "q_proj", "qkv_proj", "query_key_value", "c_attn", "wq"),
        "k": _paths(_ATTENTIONS, "k_proj", "qkv_proj", "query_key_value", "c_attn", "wk"),
        "v": _paths(_ATTENTIONS, "v_proj", "qkv_proj", "query_key_value", "c_attn", "wv"),
        "o": _paths(_ATTENTIONS, "o_proj", "dense", "c_proj", "wo", "out_proj"),
        "q_a": _paths(_ATTENTIONS, "q_a_proj", "fused_qkv_a_proj", "wq_a"),
        "q_b": _paths(_ATTENTIONS, "q_b_proj", "wq_b"),
        "kv": _paths(_ATTENTIONS, "kv_proj", "wkv"),
        "o_a": _paths(_ATTENTIONS, "o_a_proj", "wo_a"),
        "o_b": _paths(_ATTENTIONS, "o_b_proj", "wo_b"),
        "compressor": _paths(_ATTENTIONS, "compressor.kv_proj", "compressor.wkv"),
        "compressor gate": _paths(_ATTENTIONS, "compressor.gate_proj", "compressor.wgate"),
        "kv_a": _paths(_ATTENTIONS, "kv_a_proj_with_mqa", "fused_qkv_a_proj"),
        "kv_b": _paths(_ATTENTIONS, "kv_b_proj"),
        "gate": _paths(_MLPS, "gate_proj", "gate_up_proj", "w1"),
        "up": (*_paths(_MLPS, "up_proj", "gate_up_proj", "w3", "fc1", "c_fc", "dense_h_to_4h"), "mixer.up_proj"),
        "down": (*_paths(_MLPS, "down_proj", "w2", "fc2", "c_proj", "dense_4h_to_h"), "mixer.down_proj"),
        "expert gate": _experts("gate_proj", "gate_up_proj", "w1"),
        "expert up": _experts("up_proj", "gate_up_proj", "w3"),
        "expert down": _experts("down_proj", "w2"),
        "shared up": _shared("up_proj", "gate_up_proj", "w3"),
        "shared down": _shared("down_proj", "w2"),
        "shared gates": _shared("gate_proj", "gate_up_proj", "w1"),
        "own expert gate": _paths(("experts.0", "experts", "moe"), "gate_proj", "gate_up_proj"),
        "own expert up": _paths(("experts.0", "experts", "moe"), "up_proj", "gate_up_proj"),
        "own expert down": _paths(("experts.0", "experts", "moe"), "down_proj"),
        "latent in": _paths(_MIXTURES, "fc1_latent_proj", "routed_expert_down_proj"),
        "latent out": _paths(_MIXTURES, "fc2_latent_proj", "routed_expert_up_proj"),
        "attention gate": _paths(_ATTENTIONS, "g_proj"),
        "index q": _paths(_ATTENTIONS, "indexer.wq_b", "index_q_proj", "compressor.indexer.q_b_proj"),
        "index k": _paths(_ATTENTIONS, "indexer.wk", "index_k_proj"),
        "index weights": _paths(_ATTENTIONS, "indexer.weights_proj", "compressor.indexer.scorer.weights_proj"),
        "index compressor": _paths(_ATTENTIONS, "compressor.indexer.kv_proj", "indexer.compressor.wkv"),
        "index compressor gate": _paths(_ATTENTIONS, "compressor.indexer.gate_proj", "indexer.compressor.wgate"),
        "state qkv": ("linear_attn.in_proj_qkv", "linear_attn.in_proj_qkvz"),
        "state z": ("linear_attn.in_proj_z", "linear_attn.in_proj_qkvz"),
        "state gates": ("linear_attn.in_proj_ba", "linear_attn.in_proj_b", "linear_attn.in_proj_a"),
        "state out": ("linear_attn.out_proj",),
        "mamba in": _paths(_MAMBAS, "in_proj"),
        "mamba x": _paths(_MAMBAS, "x_proj"),
        "mamba steps": _paths(_MAMBAS, "dt_proj"),
        "mamba out": _paths(_MAMBAS, "out_proj"),
        "conv in": ("conv.in_proj",),
        "conv out": ("conv.out_proj",),
        "decay": _paths(_ATTENTIONS, "f_proj", "forget_gate.f_proj"),
        "decay in": _paths(_ATTENTIONS, "f_a_proj"),
        "decay out": _paths(_ATTENTIONS, "f_b_proj"),
        "strength": _paths(_ATTENTIONS, "b_proj"),
        "gate in": _paths(_ATTENTIONS, "g_a_proj"),
        "gate out": _paths(_ATTENTIONS, "g_b_proj"),
        "output gate": _paths(_ATTENTIONS, "output_gate"),
        ROUTER: (*_paths(_MIXTURES, "gate", "router"), "router.proj"),
        SHARED_GATE: _paths(_MIXTURES, "shared_expert_gate"),
    }
)
"""The paths within a layer that a kind of matrix may have; an expert stands for all of its layer."""
OUTSIDE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {HEAD: ("lm_head", "head", "output"), EMBEDDING: ("embed_tokens", "wte", "embeddings", "tok_embeddings")}
)
"""The names of the tables beside the layers."""
BEFORE = (
    "model.",
    "language_model.model.",
    "model.language_model.",
    "backbone.",
    "transformer.",
    "language_model.",
    "",
)
"""What stands before `layers`, or before the name of a table, in the names of checkpoints."""
MODULES = ("mtp.layers", "model.mtp.layers")
"""Where checkpoints keep their modules for multi-token prediction, unless these follow the other layers."""
OTHERS = "mtp|nextn|draft|eagle|vision|visual|image|vit|video|audio|speech|talker|code2wav"
"""Words within a name that say whose layers follow: not the language model's."""
TO_LAYERS = re.compile(
    rf"^(?!(?:[\w.]*[._])?(?:{OTHERS})s?[\d._])"
    r"(?:.*?(?=\blayers\.)|(?:[a-z_]+\.)*(?=(?:lm_head|embed_tokens)$))"
)
REGEX, WILDCARDS = "re:", frozenset("*?[")
LONGEST, WILDEST = 400, 8  # characters of a regular expression, and repetitions in it, that are still tried
REPEATED_GROUP = re.compile(r"\)[*+?{]|[*+}]\s*[*+{]")


class NamePatterns:
    """Patterns of names, as a quantiser lists modules: whole names or parts of them, wildcards, and with "re:" regular
    expressions. A module that holds others stands for all of them, but where names are `whole`. Raises SpecError for an
    expression that is none, or that could take forever.
    """

    def __init__(self, patterns: Iterable[str], whole: bool = False):
        self.patterns, self._whole = tuple(patterns), whole
        regular = [text for text in self.patterns if text.startswith(REGEX)]
        globs = [text for text in self.patterns if text not in regular and set(text) & WILDCARDS]
        begun = [text[:-1] for text in globs if text.endswith("*") and not set(text[:-1]) & WILDCARDS]
        self._literals = frozenset(TO_LAYERS.sub("", text) for text in self.patterns if text not in (*regular, *globs))
        self._begun = tuple(TO_LAYERS.sub("", text) for text in begun)
        self._wild = [re.compile(translate(text)) for text in globs if text[:-1] not in begun]
        self._wild += [_expression(text) for text in regular]
        written = "\n".join((*globs, *regular))
        self._before = [before for before in BEFORE if before and before in written] or BEFORE[:1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamePatterns) and set(self.patterns) == set(other.patterns)

    def __hash__(self) -> int:
        return hash(frozenset(self.patterns))

    def __repr__(self) -> str:
        return f"NamePatterns({self.patterns!r})"

    def match(self, names: Iterable[str]) -> bool:
        """Whether a matrix that may have these names is of the patterns."""
        return any(self._matches(name) for name in names)

    def _matches(self, name: str) -> bool:
        if name.startswith(self._begun) or name in self._literals:
            return True
        if self._literals and not self._whole and not self._literals.isdisjoint(_spans(name)):
            return True
        return any(wild.match(full) for wild in self._wild for full in self._full(name))

    def _full(self, name: str) -> Iterator[str]:
        """The names of a matrix and of the modules that hold it, with what may stand before them."""
        words = name.split(".")
        before_it = ("",) if name.startswith(MODULES) else self._before
        for end in range(2 if words[0] == "layers" else 1, len(words) + 1):
            for before in before_it:
                yield before + ".".join(words[:end])


def names_in(layer: int, kind: str) -> tuple[str, ...]:
    """The names that a kind of matrix may have in a layer.

    >>> names_in(3, "kv_b")[0]
    'layers.3.self_attn.kv_b_proj'
    """
    return tuple(f"layers.{layer}.{path}" for path in IN_A_LAYER[kind])


def names_in_module(number: int, layer: int, kind: str) -> tuple[str, ...]:
    """The names that a kind of matrix may have in a module for multi-token prediction: by its number among all layers,
    which it may follow, or by that among such modules.

    >>> names_in_module(0, 61, "kv_b")[0]
    'layers.61.self_attn.kv_b_proj'
    """
    apart = [f"{where}.{number}.{path}" for where in MODULES for path in IN_A_LAYER[kind]]
    return (*names_in(layer, kind), *apart)


def _spans(name: str) -> Iterator[str]:
    """A name, and all of its parts that are names; layers within another part are none of the model's."""
    words = name.split(".")
    for first in (i for i, word in enumerate(words) if i == 0 or word != "layers"):
        for end in range(first + 1, len(words) + 1):
            yield ".".join(words[first:end])


def _expression(text: str) -> re.Pattern[str]:
    inner = text.removeprefix(REGEX)
    if len(inner) > LONGEST or inner.count("*") + inner.count("+") > WILDEST or REPEATED_GROUP.search(inner):
        raise SpecError(f"{text[:60]!r}: expected a regular expression that is matched at once")
    try:
        return re.compile(inner)
    except (re.error, OverflowError, RecursionError) as error:
        raise SpecError(f"{text[:60]!r}: expected a regular expression: {error}") from None
