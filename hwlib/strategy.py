"""The degrees of a training plan: one frozen record, checked once, for one plan or for columns of many.

It defines SCHEDULES, RECOMPUTE and MODULES. `hwlib.footprint` gives the memory of a strategy, `hwlib.steptime` its
step time, `hwlib.parallel` its transfers; `hwlib.planner` searches for the best.

>>> Strategy.of(dp=8, tp=4)
Strategy(dp=8, tp=4)
>>> Strategy.of(gpus=256, tp=8, pp=4, zero=1)
Strategy(dp=8, tp=8, pp=4, zero=1)
>>> Strategy.of(dp=0)
Traceback (most recent call last):
    ...
hwlib.strategy.StrategyError: dp: expected a whole number of at least 1, got 0
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from math import inf
from typing import Any

from hwlib.arguments import is_number
from hwlib.columns import is_column

RECOMPUTE = ("none", "selective", "full")
"""What is recomputed: nothing; attention's scores; everything from each layer's input on."""
MODULES = ("core_attn", "mla_up_proj", "layernorm", "mlp", "moe_act", "moe", "shared_experts")
"""Parts of a layer that are recomputed one by one, by Megatron Core's names: attention's scores; queries, keys and
values from the compressed vectors of latent attention; what the norms give; a dense MLP; the activation of experts; all
of a layer's experts, shared ones among them; the shared ones alone.
"""
BY_OP = "op"
"""Recomputation by operator, torchtitan's `selective`: kept are attention's output and every second matrix product."""
RECOMPUTED = (
    *RECOMPUTE,
    BY_OP,
    *("+".join(some) for n in range(1, len(MODULES) + 1) for some in combinations(MODULES, n)),
)
"""All that `Strategy.recompute` can be, by position: RECOMPUTE, BY_OP, and modules joined by "+"."""
SCHEDULES = ("gpipe", "1f1b", "zb_h1", "zbv", "dualpipe")
"""Pipeline schedules; 1f1b is interleaved where a rank has several chunks."""
MESH = ("tp", "cp", "ep", "pp", "dp")
"""The degrees that say which GPU holds what; the rest says how a step goes about it."""
LAYOUT = ("tp", "cp", "ep", "etp", "pp")
"""The degrees that are chosen, in the order in which they are told; dp is what they leave."""
CHOICES = (*LAYOUT, "micro", "zero", "recompute", "form", "shards")
"""What a plan chooses, each of which an explanation changes in turn; a form is a schedule with its chunks."""
TOLD = (*MESH, "micro", "zero", "sp", "shards")
"""The fields in which two plans are compared, beside their forms and what they recompute."""
NO_PIPELINE = "no pipeline"
_SPAN = {"zero": (0, 3), "sp": (0, 1), "recompute_layers": (0, inf)}  # all other numbers are at least 1
_MEAN = ("micro",)  # of microbatches that are not all of one size, the mean


class StrategyError(ValueError):
    """An invalid strategy: its `field`, the value (`got`) and what was `expected`."""

    def __init__(self, field: str, got: Any, expected: str):
        super().__init__(field, got, expected)
        self.field, self.got, self.expected = field, got, expected

    def __str__(self) -> str:
        return f"{self.field}: expected {self.expected}, got {self.got!r}"


@dataclass(frozen=True, repr=False, eq=False)
class Strategy:
    """How ranks share the work: dp*tp*pp*cp of them, of which ep of each dp*cp share the experts.

    An expert's matrices are cut among as many ranks as other matrices, or among `etp` of them, where experts are folded
    over tensor parallelism: then etp*ep of each dp*tp*cp ranks share the experts (parallel folding, megatron-core-moe).

    A pipeline rank has `v` chunks of layers; `micro` sequences are a microbatch (their mean, where they differ); ZeRO's
    stage `zero` divides the states among dp*cp ranks, or among `shards` of them (HSDP); `sp` is sequence parallelism
    beside tensor parallelism. `recompute` is a word of RECOMPUTE, BY_OP, or names of MODULES, in a tuple or joined by
    "+"; `recompute_layers` of a rank's layers recompute it, all where that is None.

    Each field is a number (or a word), or a numpy array with one element per plan: then the strategy is columns, and
    words are given as their positions in RECOMPUTED and SCHEDULES. Raises StrategyError.
    """

    dp: Any = 1
    tp: Any = 1
    pp: Any = 1
    cp: Any = 1
    ep: Any = 1
    v: Any = 1
    micro: Any = 1
    zero: Any = 0
    sp: Any = True
    recompute: Any = "none"
    schedule: Any = "1f1b"
    shards: Any = None
    recompute_layers: Any = None
    etp: Any = None

    def __post_init__(self) -> None:
        for name, x in self.degrees.items():
            self.__dict__[name] = checked(name, x)
        columns = {name: x for name, x in self.degrees.items() if is_column(x)}
        if len({x.shape for x in columns.values()}) > 1:
            import numpy as np

            try:
                shape = np.broadcast_shapes(*(x.shape for x in columns.values()))
            except ValueError:
                shapes = ", ".join(f"{name} {x.shape}" for name, x in columns.items())
                raise StrategyError("columns", shapes, "arrays of one length") from None
            self.__dict__.update({name: np.broadcast_to(x, shape) for name, x in columns.items()})

    @classmethod
    def of(cls, base: "Strategy | None" = None, /, *, gpus: Any = None, **degrees: Any) -> "Strategy":
        """A strategy by its degrees, all others 1; or `base` with some changed. Of `gpus`, dp is what is left over.

        >>> Strategy.of(Strategy.of(dp=8, tp=4), zero=3, recompute="full")
        Strategy(dp=8, tp=4, zero=3, recompute='full')
        """
        names = [f.name for f in fields(cls)]
        for name in degrees:
            if name not in names:
                raise StrategyError(name, degrees[name], f"one of the fields {', '.join(names)}")
        named = {**base.degrees, **degrees} if base else dict(degrees)
        if gpus is None:
            return cls(**named)
        if "dp" in degrees:
            raise StrategyError("gpus", gpus, "either gpus or dp, not both")
        made = cls(**named | {"dp": 1})
        share = made.tp * made.pp * made.cp
        if is_column(share) or not is_number(gpus) or gpus < 1 or gpus % share:
            raise StrategyError("gpus", gpus, f"a multiple of tp*pp*cp = {share}")
        return cls(**named | {"dp": gpus // share})

    @property
    def degrees(self) -> dict[str, Any]:
        """All fields by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def gpus(self) -> Any:
        """All ranks: dp*tp*pp*cp."""
        return self.dp * self.tp * self.pp * self.cp

    @property
    def shard_ranks(self) -> Any:
        """Ranks among which ZeRO divides the states."""
        return self.dp * self.cp if self.shards is None else self.shards

    def state_ranks(self, replicas: Any) -> Any:
        """Of so many ranks that have the same parameters those among which ZeRO divides their states."""
        if self.shards is None:
            return replicas
        from hwlib.formula import maximum, minimum  # not by commands that plan nothing, which read fields alone

        return minimum(maximum(self.shards * replicas / (self.dp * self.cp), 1), replicas)

    @property
    def copies(self) -> Any:
        """How many copies of the states there are, each divided among `shard_ranks` ranks."""
        return self.dp * self.cp // self.shard_ranks

    def without_copies(self) -> "Strategy":
        """The same with states that are divided among all ranks."""
        return self.unchecked({"shards": None})

    @property
    def expert_tp(self) -> Any:
        """Ranks among which an expert's matrices are cut."""
        return self.tp if self.etp is None else self.etp

    @property
    def expert_ranks(self) -> Any:
        """Ranks of a stage that have the same share of the experts: dp*cp/ep of them, unless experts are folded."""
        return self.beside_experts(self.dp * self.cp / self.ep)

    def beside_experts(self, ranks: Any) -> Any:
        """Ranks that stand beside others with the same part of a layer, counted for the parts of experts."""
        return ranks if self.etp is None else ranks * self.tp / self.etp

    def within_experts(self, x: Any) -> Any:
        """What the ranks that share a layer's matrices have, for those that share an expert's."""
        return x if self.etp is None else x * self.etp / self.tp

    @property
    def folded(self) -> Any:
        """Whether experts are cut among another number of ranks than other matrices."""
        return False if self.etp is None else self.etp != self.tp

    @property
    def hybrid(self) -> Any:
        """Whether ZeRO divides the states among fewer than all ranks (HSDP)."""
        return False if self.shards is None else self.shards < self.dp * self.cp

    def degree(self, name: str) -> Any:
        """A degree of LAYOUT or dp, also where it is not given because it is another one's."""
        return self.expert_tp if name == "etp" else getattr(self, name)

    def departs(self, name: str) -> bool:
        """Whether a single strategy has a degree of LAYOUT or dp that it would not have by itself."""
        return self.etp is not None if name == "etp" else bool(getattr(self, name) > 1)

    def choice(self, name: str) -> Any:
        """One of CHOICES as a number, of columns one for each plan: equal where two plans choose the same."""
        if name == "form":
            return self.schedule_code * 1000 + self.v
        if name == "shards":
            return self.shard_ranks < self.dp * self.cp
        if name == "etp":
            return self.expert_tp != self.tp
        return self.recompute_code if name == "recompute" else getattr(self, name)

    def choice_words(self, name: str) -> str:
        """What a single strategy has for one of CHOICES.

        >>> Strategy.of(dp=64, zero=3, shards=8).choice_words("shards"), Strategy.of(tp=8).choice_words("etp")
        ('HSDP', 'etp 8')
        """
        if name == "form":
            return self.schedule_name or NO_PIPELINE
        if name == "shards":
            return "HSDP" if self.shards else "no HSDP"
        return f"{name} {self.degree(name)}"

    def told(self, name: str) -> str:
        """The value of one of TOLD, in words."""
        return "all" if name == "shards" and self.shards is None else f"{getattr(self, name)}"

    @property
    def recompute_code(self) -> Any:
        """The position of what is recomputed in RECOMPUTED."""
        return RECOMPUTED.index(self.recompute) if isinstance(self.recompute, str) else self.recompute

    @property
    def schedule_code(self) -> Any:
        """The position of the schedule in SCHEDULES."""
        return SCHEDULES.index(self.schedule) if isinstance(self.schedule, str) else self.schedule

    @property
    def schedule_name(self) -> str:
        """The pipeline's schedule with its chunks; empty without a pipeline. Of a single strategy.

        >>> Strategy.of(pp=8, v=4).schedule_name
        '1f1b v4'
        """
        if self.pp == 1:
            return ""
        return f"1f1b v{self.v}" if self.schedule == "1f1b" and self.v > 1 else str(self.schedule)

    @property
    def zero_name(self) -> str:
        """ZeRO's stage, with the ranks that divide the states where that is not all; empty without ZeRO.

        >>> Strategy.of(dp=64, zero=3, shards=8).zero_name
        'ZeRO-3 over 8'
        """
        if not self.zero:
            return ""
        return f"ZeRO-{self.zero}" + (f" over {self.shards}" if self.shards is not None else "")

    def microbatches(self, B: Any, T: Any) -> Any:
        """Microbatches of a replica in a step of B tokens in sequences of T. Raises StrategyError if not whole."""
        m = B / (T * self.dp * self.micro)
        whole = m == m // 1
        if not (whole.all() if is_column(whole) else whole):
            raise StrategyError("micro", self.micro, "B to be a whole number of microbatches, T*dp*micro tokens each")
        return m

    @property
    def size(self) -> int:
        """How many plans these columns are; 1 for a single strategy."""
        return max((x.size for x in self.degrees.values() if is_column(x)), default=1)

    def __getitem__(self, at: Any) -> "Strategy":
        """Of columns, one plan, with its words, or those of a slice or a mask.

        One plan whose shards are all its ranks has none: it is not HSDP.
        """
        part = {name: x[at] if is_column(x) else x for name, x in self.degrees.items()}
        if any(is_column(x) for x in part.values()):
            return self.unchecked(part)
        if is_column(self.shards) and part["shards"] == part["dp"] * part["cp"]:
            part["shards"] = None
        if is_column(self.etp) and part["etp"] == part["tp"]:
            part["etp"] = None
        return Strategy(**part)

    def unchecked(self, changed: dict[str, Any]) -> "Strategy":
        """The same with fields that were checked before, such as parts of its columns."""
        made = object.__new__(Strategy)
        made.__dict__.update(self.__dict__)
        made.__dict__.update(changed)
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strategy):
            return NotImplemented
        return all(_equal(x, other.degrees[name]) for name, x in self.degrees.items())

    def __hash__(self) -> int:
        return hash(tuple(x.tobytes() if is_column(x) else x for x in self.degrees.values()))

    def __repr__(self) -> str:
        if any(is_column(x) for x in self.degrees.values()):
            return f"<Strategy: columns of {self.size} plans>"
        arguments = [f"{f.name}={x!r}" for f in fields(self) if (x := getattr(self, f.name)) != f.default]
        return f"Strategy({', '.join(arguments)})"

    def __str__(self) -> str:
        return repr(self) if any(is_column(x) for x in self.degrees.values()) else self.described()

    def _fold(self, name: str) -> str:
        """The experts' own tensor degree, which is told after their number of ranks."""
        return f" etp {self.etp}" if name == "ep" and self.etp is not None else ""

    def described(self, *more: str) -> str:
        """What differs from the defaults in a single strategy, with `more` after the degrees of its mesh.

        >>> Strategy.of(dp=32, tp=8, zero=1).described("64 microbatches")
        'tp 8 dp 32, 64 microbatches, ZeRO-1'
        """
        degrees = {name: getattr(self, name) for name in MESH}
        mesh = [f"{name} {x}" + self._fold(name) for name, x in degrees.items() if x > 1 or self._fold(name)]
        mesh = mesh or ["one GPU"]
        words = [*more, self.schedule_name, self.zero_name]
        part = "" if self.recompute_layers is None else f" of {self.recompute_layers} layers"
        words.append("" if self.recompute == "none" else f"{self.recompute} recomputation{part}")
        return ", ".join([" ".join(mesh), *(word for word in words if word)])


def strategy_of(strategy: Strategy | None, degrees: dict[str, Any]) -> Strategy:
    """The strategy that a function was called with: a record, or fields of one as plain keywords; without either, that
    of a single GPU. Raises StrategyError for both, and TypeError for a keyword that is not a field.

    >>> strategy_of(None, {"dp": 8, "zero": 1})
    Strategy(dp=8, zero=1)
    """
    names = [f.name for f in fields(Strategy)]
    if odd := [name for name in degrees if name not in names]:
        raise TypeError(f"unexpected keyword argument {odd[0]!r}; a strategy has {', '.join(names)}")
    if strategy is None:
        return Strategy.of(**degrees)
    for name, x in degrees.items():
        raise StrategyError(name, x, "either a strategy or its fields as keywords, not both")
    return strategy


def _equal(x: Any, y: Any) -> bool:
    """Whether two values of a field are the same; a column is not the same as a number, nor as a longer one."""
    if is_column(x) and is_column(y):
        return x.shape == y.shape and bool((x == y).all())
    return not (is_column(x) or is_column(y)) and bool(x == y)


def checked(name: str, x: Any) -> Any:
    """A value of a field: an int, a truth value or a word; of a column floats. Raises StrategyError."""
    if name in ("shards", "recompute_layers", "etp") and x is None:
        return x
    if words := {"recompute": RECOMPUTED, "schedule": SCHEDULES}.get(name, ()):
        return _word(name, _joined(x) if name == "recompute" else x, words)
    low, high = _SPAN.get(name, (1, inf))
    whole = _count(name, x, low, high)
    return whole if is_column(whole) or name != "sp" else bool(whole)


def recomputed_modules(code: Any) -> tuple[str, ...]:
    """The names of MODULES that a position in RECOMPUTED stands for; "full" and BY_OP stand for themselves.

    >>> recomputed_modules(RECOMPUTED.index("selective")), recomputed_modules(0)
    (('core_attn',), ())
    """
    word = RECOMPUTED[int(code)]
    return {"none": (), "selective": ("core_attn",)}.get(word, tuple(word.split("+")))


def _joined(x: Any) -> Any:
    """Names of modules, in a tuple or joined by "+", as they are in RECOMPUTED; anything else as it is."""
    names = x.split("+") if isinstance(x, str) and "+" in x else x
    if not isinstance(names, tuple | list | set | frozenset):
        return x
    if odd := [name for name in names if name not in MODULES]:
        raise StrategyError("recompute", odd[0], f"names of {', '.join(MODULES)}")
    return "+".join(name for name in MODULES if name in names) or "none"


def _word(name: str, x: Any, words: Sequence[str]) -> Any:
    """A word, from itself or its position; or a column of positions, from either."""
    if isinstance(x, str):
        if x not in words:
            known = (*RECOMPUTE, BY_OP, *MODULES) if name == "recompute" else words
            raise StrategyError(name, str(x), f"one of {', '.join(known)}")
        return str(x)
    if is_column(x) and x.dtype.kind in "UO":
        import numpy as np

        distinct, where = np.unique(x.astype(str), return_inverse=True)
        positions = [float(words.index(checked(name, str(one)))) for one in distinct]
        return np.array(positions)[where].reshape(x.shape)
    position = _count(name, x, 0, len(words) - 1)
    return position if is_column(position) else words[position]


def _count(name: str, x: Any, low: int, high: float) -> Any:
    """A whole number as an int, or a column of them as floats (products of ints overflow)."""
    mean = name in _MEAN
    number = "a number" if mean else "a whole number"
    span = f"{number} of at least {low}" if high == inf else f"{number} from {low} to {high:g}"
    if is_column(x):
        kind = getattr(getattr(x, "dtype", None), "kind", "")
        good = kind in "iufb" and (not x.size or bool(x.min() >= low and x.max() <= high and x.max() < inf))
        if good and kind == "f" and not mean:
            good = bool((x == x // 1).all())
        if not good:
            raise StrategyError(name, x, span)
        return x if kind == "f" else x.astype(float)
    try:
        truth = name == "sp" and x in (True, False)
        good = truth or (is_number(x) and low <= x <= high and (int(x) == x or mean))
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise StrategyError(name, x, "True or False" if name == "sp" else span)
    return float(x) if int(x) != x else int(x)
