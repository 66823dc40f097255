"""Every rule that a plan or a server must obey: what it asks, which option it concerns, and its sentence.

A rule stands here once. The planner's search drops columns by it, the rule of thumb and the serving planner skip what
breaks it, and a refusal quotes it. Each rule reads one strategy or columns of many.

>>> from hwlib.specs import models
>>> setting = Setting(models["llama3-8b"], gpus=24, T=8192, sequences=96)
>>> print(refusal(setting, Strategy.of(gpus=24, tp=12)))
12 does not divide the 32 heads of Llama 3.1 8B; 1, 2, 4, 8 would
>>> refusal(setting, Strategy.of(gpus=24, tp=8)) is None
True
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hwlib.columns import is_column
from hwlib.formula import maximum, minimum, where
from hwlib.specs import Features, Level, Model
from hwlib.specs.feature import DEGREES, FOLDED, STAGES
from hwlib.strategy import RECOMPUTED, SCHEDULES, Strategy, StrategyError
from hwlib.units import plural

TWO_CHUNKS = ("zbv", "dualpipe")
"""Schedules that give a rank two chunks."""
ENDS = 2  # chunks that may be without a layer: one for the embedding, one for the output layer
ALTERNATIVES = 8  # values that would do, of which a refusal names so many
_1F1B, _ZB_H1, _ZBV, _DUALPIPE = (SCHEDULES.index(word) for word in ("1f1b", "zb_h1", "zbv", "dualpipe"))


@dataclass(frozen=True)
class Setting:
    """What a strategy is held against: a model on `gpus` GPUs, and a batch of `sequences` of T tokens each.

    `levels` are those of the machine, none where its network does not matter; without `features` the software has
    everything. `m` is the number of microbatches of a replica, where that is not to follow from the batch.
    """

    model: Model
    gpus: int
    T: int = 1
    sequences: int = 1
    levels: tuple[Level, ...] = ()
    features: Features | None = None
    m: Any = None

    def microbatches(self, strategy: Strategy) -> Any:
        """Microbatches of a replica."""
        return self.m if self.m is not None else self.sequences // (strategy.dp * strategy.micro)


class Rule(NamedTuple):
    """A rule: whether a strategy obeys it, element by element of columns; the option to change where it does not; the
    `reason` under which rejected plans are counted; and the sentence on a single strategy, with its numbers.
    """

    reason: str
    option: str
    holds: Callable[[Setting, Strategy], Any]
    sentence: Callable[[Setting, Strategy], str]


class Refusal(NamedTuple):
    """The first rule that a strategy breaks, its sentence, and values of the option that obey every rule."""

    rule: Rule
    sentence: str
    would: tuple[int, ...]

    def __str__(self) -> str:
        return self.sentence + would_words(self.would)


class RuleError(StrategyError):
    """A strategy that breaks a rule: the option at fault, its value, and the `refusal` with what would do."""

    def __init__(self, refusal: Refusal, got: Any):
        super().__init__(refusal.rule.option, got, str(refusal))
        self.refusal = refusal

    def __reduce__(self) -> Any:
        return type(self), (self.refusal, self.got)

    def __str__(self) -> str:
        return f"{self.field}: {self.refusal}"


def would_words(values: Sequence[int], near: int = 1) -> str:
    """The end of a sentence of refusal: values that would do, of many those near one; empty where there are none.

    >>> would_words((1, 2, 4))
    '; 1, 2, 4 would'
    """
    if not values:
        return ""
    nearest = sorted(values, key=lambda value: abs(value - near))[:ALTERNATIVES]
    return f"; {', '.join(f'{value:,}' for value in sorted(nearest))} would"


# What divides a layer


def _tp_suits_kv_heads(setting: Setting, s: Strategy) -> Any:
    if x := setting.model.compression:
        return x.groups % s.tp == 0
    kv_heads = 1 if setting.model.mla else setting.model.kv_heads
    return (kv_heads % s.tp == 0) | (s.tp % kv_heads == 0)


def _unsuited_words(model: Model, tp: int) -> str:
    divides = f"{tp} divides the {plural(model.heads, 'head')} of {model.name} and does not"
    if x := model.compression:
        return f"{divides} divide the {plural(x.groups, 'group')} of heads, whose outputs have matrices of their own"
    suited = f"suit the {plural(model.kv_heads, 'key-value head')}: neither of the two divides the other"
    return f"{divides} {suited}"


def _state_heads(model: Model) -> int:
    """The heads that tensor parallelism divides of layers that keep a state; 0, as any number divides, without such.

    Heads of keys that are fewer than ranks are repeated, as those of attention are.
    """
    return model.mixer.heads if model.mixer else 0


def _dense_width(model: Model) -> int:
    """The width that tensor parallelism cuts of the MLPs that are not experts; 0 where all are."""
    return model.ffn if model.mlp_layers > model.moe_layers else 0


def _experts_divide(setting: Setting, s: Strategy) -> str:
    ranks, shared = ("dp*cp", f"ep = {s.ep}") if s.etp is None else ("dp*cp*tp", f"etp*ep = {s.etp * s.ep}")
    count = s.dp * s.cp * (1 if s.etp is None else s.tp)
    return f"{shared} does not divide the {plural(count, 'rank')} of {ranks}"


ETP_DIVIDES_TP = Rule(
    "etp does not divide tp",
    "etp",
    lambda setting, s: s.tp % s.expert_tp == 0,
    lambda setting, s: f"{s.etp} does not divide the tensor-parallel degree of {s.tp}",
)
HEADS = Rule(
    "tp does not divide the heads",
    "tp",
    lambda setting, s: setting.model.heads % s.tp == 0,
    lambda setting, s: f"{s.tp} does not divide the {plural(setting.model.heads, 'head')} of {setting.model.name}",
)
KV_HEADS = Rule(
    "tp does not suit the key-value heads",
    "tp",
    _tp_suits_kv_heads,
    lambda setting, s: _unsuited_words(setting.model, s.tp),
)
STATE_HEADS = Rule(
    "tp does not divide the heads of states",
    "tp",
    lambda setting, s: _state_heads(setting.model) % s.tp == 0,
    lambda setting, s: (
        f"{s.tp} does not divide the {plural(_state_heads(setting.model), 'head')} of {setting.model.name} that keep a "
        f"state"
    ),
)
MLP_WIDTH = Rule(
    "tp does not divide the MLP",
    "tp",
    lambda setting, s: _dense_width(setting.model) % s.tp == 0,
    lambda setting, s: f"{s.tp} does not divide the width of the MLP of {setting.model.name}, {setting.model.ffn:,}",
)
EXPERT_WIDTH = Rule(
    "tp does not divide the width of an expert",
    "tp",
    lambda setting, s: (setting.model.expert_ffn if setting.model.moe else 0) % s.expert_tp == 0,
    lambda setting, s: (
        f"{s.expert_tp} does not divide the width of an expert of {setting.model.name}, {setting.model.expert_ffn:,}"
    ),
)
STAGES_OF_LAYERS = Rule(
    "more stages than layers",
    "pp",
    lambda setting, s: s.pp <= setting.model.layers,
    lambda setting, s: (
        f"{s.pp} stages are more than the {plural(setting.model.layers, 'layer')} of {setting.model.name}"
    ),
)
SEQUENCE_PIECES = Rule(
    "2*cp does not divide the sequence",
    "cp",
    lambda setting, s: (s.cp == 1) | (setting.T % (2 * s.cp) == 0),
    lambda setting, s: f"{s.cp} does not cut {plural(setting.T, 'token')} into 2*cp equal pieces",
)
EXPERTS = Rule(
    "ep does not divide the experts",
    "ep",
    lambda setting, s: setting.model.experts % s.ep == 0,
    lambda setting, s: (
        f"{s.ep} does not divide the {plural(setting.model.experts, 'expert')} of {setting.model.name}"
        if setting.model.moe
        else f"{s.ep} does not apply to {setting.model.name}: a dense model has no experts"
    ),
)
EXPERT_DEGREE = Rule(
    "etp without experts",
    "etp",
    lambda setting, s: s.etp is None or setting.model.moe,
    lambda setting, s: f"{setting.model.name} is dense: it has no experts to cut",
)
SHAPE = (
    ETP_DIVIDES_TP,
    HEADS,
    KV_HEADS,
    STATE_HEADS,
    MLP_WIDTH,
    EXPERT_WIDTH,
    STAGES_OF_LAYERS,
    SEQUENCE_PIECES,
    EXPERTS,
    EXPERT_DEGREE,
)
"""Rules on the degrees and the shape of the model, whatever the GPUs and the batch."""

# What divides GPUs and batch

GPUS = Rule(
    "tp*cp*pp does not divide the GPUs",
    "gpus",
    lambda setting, s: setting.gpus % (s.tp * s.pp * s.cp) == 0,
    lambda setting, s: f"tp*cp*pp = {s.tp * s.cp * s.pp:,} does not divide {plural(setting.gpus, 'GPU')}",
)
BATCH = Rule(
    "dp does not divide the batch",
    "batch",
    lambda setting, s: setting.sequences % s.dp == 0,
    lambda setting, s: f"{s.dp:,} replicas do not divide the {plural(setting.sequences, 'sequence')} of the batch",
)
EXPERT_RANKS = Rule(
    "ep does not divide dp*cp",
    "ep",
    lambda setting, s: s.dp * s.cp * (1 if s.etp is None else s.tp) % ((1 if s.etp is None else s.etp) * s.ep) == 0,
    _experts_divide,
)
WHOLE_NODES = Rule(
    "a group splits a node unevenly",
    "gpus",
    lambda setting, s: in_levels(setting.levels, mesh_groups(setting.model, s)),
    lambda setting, s: (
        f"a group of {s.described()} splits a node or a level above it unevenly: "
        f"{' of '.join(f'{level.size:,} a {level.name}' for level in setting.levels)}"
    ),
)
MICROBATCH = Rule(
    "micro does not divide a replica's batch",
    "micro",
    lambda setting, s: setting.sequences % (s.dp * s.micro) == 0,
    lambda setting, s: (
        f"dp*micro = {s.dp * s.micro:,} does not divide the batch of {plural(setting.sequences, 'sequence')}"
    ),
)


def mesh_groups(model: Model, s: Strategy) -> list[tuple[Any, Any]]:
    """The groups of all axes: the size of each, and how many ranks stand within one member of it."""
    ranks = s.dp * s.cp
    groups = [(s.tp, 1), (s.cp, s.tp), (ranks, s.tp), (s.pp, ranks * s.tp)]
    if model.moe:
        inside = s.expert_tp * s.ep
        groups += [(s.ep, s.expert_tp), (ranks * s.tp // maximum(inside, 1), inside)]
    return groups


def shard_groups(model: Model, s: Strategy) -> list[tuple[Any, Any]]:
    """The groups of ranks that divide states among the shards, and those that sum the copies, as `mesh_groups`."""
    ranks, n = s.dp * s.cp, s.shard_ranks
    groups = [(n, s.tp), (ranks // n, s.tp * n)]
    if model.moe:
        inside = s.expert_tp * s.ep
        each = maximum(n * s.tp // inside, 1)
        groups += [(each, inside), (ranks * s.tp // inside // each, inside * each)]
    return groups


def in_levels(levels: Sequence[Level], groups: Iterable[tuple[Any, Any]]) -> Any:
    """Whether groups of these sizes, each of whose members stands for so many ranks, divide every level that they
    cross, as `axis_levels` of the collectives asks.
    """
    good: Any = True
    ends = [(_counts(inside), _counts(inside * size)) for size, inside in groups]
    below = 1
    for level in levels:
        above = below * level.size
        for first, end in ends:
            low, high = minimum(maximum(first, below), above), minimum(maximum(end, below), above)
            good = good & (high % low == 0) & (above % high == 0)
            if below > 1:
                good = good & (low % below == 0)
        below = above
    return good


def _counts(x: Any) -> Any:
    """Numbers of ranks: 32 bits hold any, and divide sooner than 64."""
    return x.astype("int32") if is_column(x) else int(x)


# Pipelines


def _interleaved(s: Strategy) -> Any:
    return (s.schedule_code == _1F1B) & (s.v > 1)


def even_chunks(layers: int, pp: Any, v: Any) -> Any:
    """Whether layers can be cut into pp*v chunks of equal length, but for those at the ends and one of some stages, so
    that one stage is full and as long as its steps are timed (`hwlib.footprint.stage_layers`). What is missing, the
    last chunk may lack as a whole, and each stage but it and the full one a layer.

    DeepSeek-V3's 61 layers on 16 stages of two chunks are 29 of two layers and 3 of one, and on two stages of eight
    chunks 15 of four layers and one of one, as in NVIDIA's layout of it (megatron-bridge). Two chunks of an interleaved
    pipeline may be without a layer, as those of Llama 3 405B's 126 layers on 16 stages with 8 chunks each.
    """
    chunks = pp * v
    chunk = -(-layers // chunks)
    short = chunk * chunks - layers
    return (v == 1) | (chunks <= layers + ENDS) & ((short <= chunk + pp - 2) | (short <= ENDS))


def _few_chunks(setting: Setting, s: Strategy) -> Any:
    most = where(_interleaved(s), setting.model.layers + ENDS, setting.model.layers)
    return (s.pp == 1) | (s.pp * s.v <= most)


def _dualpipe_filled(setting: Setting, s: Strategy) -> Any:
    m = setting.microbatches(s)
    return (s.schedule_code != _DUALPIPE) | (s.pp % 2 == 0) & (m % 2 == 0) & (m >= 2 * s.pp)


def _filled(schedule: str, least: str) -> Callable[[Setting, Strategy], str]:
    """The sentence of a schedule that needs more microbatches than there are."""

    def sentence(setting: Setting, s: Strategy) -> str:
        return f"{schedule} needs {least}, and on {plural(s.pp, 'stage')} a replica has {setting.microbatches(s):,}"

    return sentence


CHUNKS_NEED_A_PIPELINE = Rule(
    "chunks without a pipeline",
    "v",
    lambda setting, s: (s.pp > 1) | (s.v == 1) | (s.schedule_code != _1F1B),
    lambda setting, s: f"{s.v} chunks per rank need a pipeline, and pp is 1",
)
CHUNKS_OF_LAYERS = Rule(
    "more chunks than layers",
    "v",
    _few_chunks,
    lambda setting, s: (
        f"{s.v} chunks on each of {plural(s.pp, 'stage')} are more than the "
        f"{plural(setting.model.layers, 'layer')} of {setting.model.name}"
    ),
)
EVEN_CHUNKS = Rule(
    "chunks with unequal layers",
    "v",
    lambda setting, s: (s.pp == 1) | even_chunks(setting.model.layers, s.pp, s.v),
    lambda setting, s: (
        f"{s.v} does not cut the {plural(setting.model.layers, 'layer')} of {setting.model.name} into equal chunks, "
        f"with pp {s.pp}"
    ),
)
INTERLEAVED_ROUNDS = Rule(
    "interleaving needs microbatches in multiples of pp",
    "micro",
    lambda setting, s: (s.schedule_code != _1F1B) | (s.v == 1) | (setting.microbatches(s) % s.pp == 0),
    _filled("interleaved 1F1B", "microbatches in multiples of pp"),
)
ZB_H1_FILLED = Rule(
    "ZB-H1 needs at least pp microbatches",
    "schedule",
    lambda setting, s: (s.pp == 1) | (s.schedule_code != _ZB_H1) | (setting.microbatches(s) >= s.pp),
    _filled("ZB-H1", "at least pp microbatches"),
)
ZBV_FILLED = Rule(
    "ZB-V needs at least 2*pp - 1 microbatches",
    "schedule",
    lambda setting, s: (s.pp == 1) | (s.schedule_code != _ZBV) | (setting.microbatches(s) >= 2 * s.pp - 1),
    _filled("ZB-V", "at least 2*pp - 1 microbatches"),
)
DUALPIPE_FILLED = Rule(
    "DualPipe needs even pp and m, and at least 2*pp microbatches",
    "schedule",
    lambda setting, s: (s.pp == 1) | _dualpipe_filled(setting, s),
    _filled("DualPipe", "even pp and m, and at least 2*pp microbatches"),
)
PIPELINE = (
    CHUNKS_NEED_A_PIPELINE,
    CHUNKS_OF_LAYERS,
    EVEN_CHUNKS,
    INTERLEAVED_ROUNDS,
    ZB_H1_FILLED,
    ZBV_FILLED,
    DUALPIPE_FILLED,
)
"""Rules on schedules and their chunks."""


# ZeRO's shards

SHARDS_NEED_ZERO = Rule(
    "HSDP without ZeRO",
    "zero",
    lambda setting, s: _all_ranks(s) | (s.zero > 0),
    lambda setting, s: f"states are divided among {plural(s.shards, 'rank')} only with ZeRO, and zero is 0",
)
SHARDS_DIVIDE = Rule(
    "shards do not divide dp*cp",
    "shards",
    lambda setting, s: s.dp * s.cp % s.shard_ranks == 0,
    lambda setting, s: f"{s.shards} does not divide the {plural(s.dp * s.cp, 'rank')} of dp*cp",
)
SHARDS_OF_EXPERTS = Rule(
    "ep does not divide the shards",
    "shards",
    lambda setting, s: _all_ranks(s) | (maximum(s.ep, s.shard_ranks) % minimum(s.ep, s.shard_ranks) == 0),
    lambda setting, s: f"neither of {plural(s.shards, 'shard')} and ep = {s.ep} divides the other",
)
SHARDS_IN_NODES = Rule(
    WHOLE_NODES.reason,
    "shards",
    lambda setting, s: _all_ranks(s) | in_levels(setting.levels, shard_groups(setting.model, s)),
    lambda setting, s: f"{s.shards} shards split a node or a level above it unevenly",
)
SHARDS = (SHARDS_NEED_ZERO, SHARDS_DIVIDE, SHARDS_OF_EXPERTS, SHARDS_IN_NODES)
"""Rules on the ranks among which ZeRO divides the states."""


def _all_ranks(s: Strategy) -> Any:
    """Whether the states are divided among all ranks, or not at all: then it is not HSDP."""
    return s.shards is None or s.shards == s.dp * s.cp


# What a software has


def _lacking(
    features: Features, what: str, option: str, holds: Callable[[Setting, Strategy], Any], has: Iterable[object] = ()
) -> Rule:
    """A rule of a software that lacks something; `has` is what it has instead."""
    reason = features.without(what)
    instead = " or ".join(map(str, has))
    sentence = f"{reason}; it has {instead}" if instead else reason
    return Rule(reason, option, holds, lambda setting, s: sentence)


def degree_rules(features: Features) -> tuple[Rule, ...]:
    """A rule for each degree of parallelism that a software lacks."""
    lacking = [name for name in DEGREES if name not in features.degrees]
    rules = [_lacking(features, DEGREES[name], name, _stays_one(name)) for name in lacking]
    if not features.folded:
        rules.append(_lacking(features, FOLDED, "etp", lambda setting, s: s.expert_tp == s.tp))
    return tuple(rules)


def _stays_one(name: str) -> Callable[[Setting, Strategy], Any]:
    if name == "sp":
        return lambda setting, s: (s.sp == 0) | (s.tp == 1)
    return lambda setting, s: getattr(s, name) == 1


def schedule_rules(features: Features) -> tuple[Rule, ...]:
    """A rule for each schedule that a software lacks, and one on its chunks."""
    lacking = [code for code, word in enumerate(SCHEDULES) if word not in features.schedules]
    rules = [
        _lacking(features, f"schedule {SCHEDULES[code]}", "schedule", _other_schedule(code), features.schedules)
        for code in lacking
    ]
    most = features.most_chunks
    chunks = _lacking(
        features, f"more than {plural(most, 'chunk')} a rank", "v", lambda setting, s: (s.pp == 1) | (s.v <= most)
    )
    return (*rules, chunks)


def _other_schedule(code: int) -> Callable[[Setting, Strategy], Any]:
    return lambda setting, s: (s.pp == 1) | (s.schedule_code != code)


def zero_rules(features: Features) -> tuple[Rule, ...]:
    """A rule for each stage of ZeRO that a software lacks, without a pipeline or with one."""
    rules = []
    for zero in STAGES:
        for piped, known in ((False, features.zero), (True, features.piped_zero)):
            if zero not in known:
                with_pipeline = " with a pipeline" if piped and zero in features.zero else ""
                what = f"ZeRO-{zero}{with_pipeline}"
                rules.append(_lacking(features, what, "zero", _other_stage(zero, piped), known))
    return tuple(rules)


def _other_stage(zero: int, piped: bool) -> Callable[[Setting, Strategy], Any]:
    return lambda setting, s: (s.zero != zero) | ((s.pp > 1) != piped)


def recompute_rules(features: Features, words: Iterable[str] = RECOMPUTED) -> tuple[Rule, ...]:
    """A rule for each of these ways to recompute that a software lacks."""
    lacking = [word for word in words if not features.recomputes(word)]
    return tuple(
        _lacking(features, f"{word} recomputation", "recompute", _other_recomputation(RECOMPUTED.index(word)))
        for word in lacking
    )


def _other_recomputation(code: int) -> Callable[[Setting, Strategy], Any]:
    return lambda setting, s: s.recompute_code != code


def shard_rules(features: Features) -> tuple[Rule, ...]:
    """The rule of a software that has no HSDP."""
    if features.hsdp:
        return ()
    return (_lacking(features, "HSDP", "shards", lambda setting, s: _all_ranks(s)),)


def software_rules(features: Features | None, recompute: Iterable[str] = RECOMPUTED) -> tuple[Rule, ...]:
    """What a software lacks, as rules; none where it has everything."""
    if features is None:
        return ()
    ways = recompute_rules(features, recompute)
    return (
        *degree_rules(features),
        *schedule_rules(features),
        *zero_rules(features),
        *ways,
        *shard_rules(features),
    )


def lacking(features: Features, strategy: Strategy) -> tuple[str, ...]:
    """What a strategy needs and a software does not have, in words.

    >>> from hwlib.specs import features
    >>> lacking(features["megatron-core"], Strategy.of(zero=3, pp=4, dp=2))
    ('Megatron Core has no ZeRO-3 with a pipeline',)
    """
    rules = software_rules(features, (strategy.recompute,))
    return tuple(rule.reason for rule in rules if not rule.holds(_ANYWHERE, strategy))


_ANYWHERE: Any = None  # rules on a software read no setting

# All of them

OWN_RULES: Mapping[str, tuple[Rule, ...]] = {
    "tp": (HEADS, KV_HEADS, STATE_HEADS, MLP_WIDTH, GPUS),
    "pp": (STAGES_OF_LAYERS, GPUS),
    "cp": (SEQUENCE_PIECES, GPUS),
    "ep": (EXPERTS,),
    "etp": (EXPERT_DEGREE,),
    "micro": (MICROBATCH,),
}
"""Rules that a value of an option breaks whatever the other degrees are."""
MESH_RULES = (GPUS, BATCH, EXPERT_RANKS, WHOLE_NODES, MICROBATCH)
RULES_WITHIN = (*SHAPE, EXPERT_RANKS, *PIPELINE, *SHARDS)
"""Rules on a strategy and its model, whatever the machine, the batch and the software."""


def plan_rules(setting: Setting, recompute: Iterable[str] = RECOMPUTED) -> tuple[Rule, ...]:
    """Every rule that a training plan must obey, the cheapest first."""
    return (*SHAPE, *MESH_RULES, *PIPELINE, *SHARDS, *software_rules(setting.features, recompute))


def broken(setting: Setting, strategy: Strategy, rules: Iterable[Rule] | None = None) -> Rule | None:
    """The first rule that a single strategy breaks; None where it obeys all."""
    rules = plan_rules(setting, (strategy.recompute,)) if rules is None else rules
    return next((rule for rule in rules if not rule.holds(setting, strategy)), None)


def refusal(setting: Setting, strategy: Strategy) -> Refusal | None:
    """Why a single strategy cannot be, with values of the option at fault that obey every rule; None where it can."""
    rule = broken(setting, strategy)
    if rule is None:
        return None
    would = tuple(value for value in candidates(setting, rule.option) if _would(setting, strategy, rule.option, value))
    return Refusal(rule, rule.sentence(setting, strategy), would)


def demand(setting: Setting, strategy: Strategy) -> None:
    """Raise RuleError for a strategy, or the first of columns, that breaks a rule of a training plan; it names values
    that obey all of them, dp being what the GPUs leave.
    """
    case = _first_broken(setting, strategy, plan_rules(setting, _recomputed_words(strategy)))
    if case and (why := refusal(case.setting, case.strategy)):
        raise RuleError(why, _value_of(case))


def demand_within(model: Model, strategy: Strategy, T: Any, m: Any = None) -> None:
    """Raise RuleError for a strategy, or the first of columns, that breaks a rule whatever the machine, the batch and
    the software; it names values that would do with all other degrees as they are. T and m may be arrays; by default
    there are microbatches enough for every schedule.
    """
    setting = Setting(model, 1, T, m=2 * strategy.pp if m is None else m)
    if case := _first_broken(setting, strategy, RULES_WITHIN):
        own = replace(case.setting, gpus=int(case.strategy.gpus))
        others = (Strategy.of(case.strategy, **{case.rule.option: x}) for x in candidates(own, case.rule.option))
        would = (getattr(x, case.rule.option) for x in others if broken(own, x, RULES_WITHIN) is None)
        why = Refusal(case.rule, case.rule.sentence(own, case.strategy), tuple(would))
        raise RuleError(why, _value_of(case))


class _Broken(NamedTuple):
    """A rule, and the single strategy in its setting that breaks it."""

    rule: Rule
    setting: Setting
    strategy: Strategy


def _first_broken(setting: Setting, strategy: Strategy, rules: Iterable[Rule]) -> _Broken | None:
    """The first rule that a strategy, or any of its columns, breaks, with the first of these that does."""
    for rule in rules:
        holds = rule.holds(setting, strategy)
        if not (holds.all() if is_column(holds) else holds):
            alone = replace(setting, T=_first_at_fault(setting.T, holds), m=_first_at_fault(setting.m, holds))
            degrees = {name: _first_at_fault(x, holds) for name, x in strategy.degrees.items()}
            return _Broken(rule, alone, Strategy(**degrees))
    return None


def _first_at_fault(x: Any, holds: Any) -> Any:
    """The element of a column at the first place where a rule does not hold; of a whole number an int."""
    if is_column(x):
        import numpy as np

        x = np.broadcast_to(x, holds.shape).flat[int(holds.argmin())].item()
    return int(x) if isinstance(x, float) and x.is_integer() else x


def _value_of(case: _Broken) -> Any:
    """What the option at fault is; the GPUs and the batch are of the setting."""
    of_setting = {"gpus": case.setting.gpus, "batch": case.setting.sequences}
    return of_setting[case.rule.option] if case.rule.option in of_setting else getattr(case.strategy, case.rule.option)


def _recomputed_words(strategy: Strategy) -> tuple[str, ...]:
    """Every word of RECOMPUTED that a strategy or its columns have."""
    code = strategy.recompute_code
    codes = {int(x) for x in code.flat} if is_column(code) else {code}
    return tuple(RECOMPUTED[x] for x in sorted(codes))


def candidates(setting: Setting, option: str) -> Iterable[int]:
    """Values of an option that may be tried in place of one that is refused."""
    ends = {
        "tp": setting.model.heads,
        "pp": setting.model.layers,
        "cp": min(setting.gpus, setting.T),
        "ep": setting.model.experts,
        "etp": setting.model.heads,
        "micro": setting.sequences,
        "v": setting.model.layers,
        "shards": setting.gpus,
    }
    if option == "zero":
        return STAGES
    return range(1, ends.get(option, 0) + 1)


def _would(setting: Setting, strategy: Strategy, option: str, value: int) -> bool:
    """Whether the strategy obeys every rule with another value of an option; dp is what the GPUs leave."""
    degrees = {name: x for name, x in strategy.degrees.items() if name != "dp"} | {option: value}
    ranks = degrees["tp"] * degrees["pp"] * degrees["cp"]
    if setting.gpus % ranks:
        return False
    return broken(setting, Strategy.of(dp=setting.gpus // ranks, **degrees)) is None


# Servers

REPLICA_NODES = Rule(
    "a replica over several nodes does not fill them",
    "tp",
    lambda setting, s: _fills_nodes(setting, s.gpus),
    lambda setting, s: (
        f"a replica of {plural(s.gpus, 'GPU')} neither fits in a node of {setting.levels[0].size} nor fills nodes"
    ),
)
SERVER_RULES = (HEADS, KV_HEADS, STATE_HEADS, REPLICA_NODES, EXPERTS, MLP_WIDTH, EXPERT_WIDTH)
"""What the division of a replica must obey, as a strategy: `tp` GPUs share attention, dp such groups have sequences of
their own, and experts are cut among `etp` GPUs and spread over `ep`.
"""


def _fills_nodes(setting: Setting, gpus: Any) -> Any:
    node = setting.levels[0].size if setting.levels else gpus
    return (gpus <= node) | (gpus % node == 0)
