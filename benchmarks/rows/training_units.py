"""Seconds of a training step, from whatever a source measured it in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hwlib.specs import Model, accelerators
from hwlib.strategy import RECOMPUTE
from hwlib.transformer import recomputed_flops, step_flops

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "day": 86400.0}
PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18}
LEAST_SHARE, MOST_SHARE = 0.02, 0.85  # shares of the peak that a rate may be if it does not say of how many GPUs it is
WORDS = (
    (r"\bper\b", "/"), (r"[\s_-]*/[\s_-]*", "/"), (r"[\s_-]+", " "),
    (r"\bthousand\b", "k"), (r"\bmillion\b", "m"), (r"\bbillion\b", "b"), (r"\btrillion\b", "t"),
    (r"\b(seconds?|secs?)\b", "s"), (r"\b(milliseconds?|msecs?)\b", "ms"), (r"\b(microseconds?|usecs?|µs)", "us"),
    (r"\b(minutes?|mins?)\b", "min"), (r"\b(hours?|hrs?|hr)\b", "h"), (r"\b(days?|d)\b", "day"),
    (r"\b(iterations?|iters?|its?|steps?)\b", "step"), (r"\b(gpus?|chips?|devices?|accelerators?)\b", "gpu"),
    (r"\b(samples?|sequences?|seqs?)\b", "sample"), (r"\b([kmbt]?) ?(tokens?|toks?|tok)\b", r"\1 token"),
    (r"\btps\b", "token/s"), (r"\b([mgtpe])flops?(/s)?\b", r"\1flop/s"),
)  # fmt: skip


@dataclass(frozen=True)
class OperationCounts:
    """Operations of a step as a source counts them: for MFU, for HFU, and for its TFLOP/s.

    `sure` is false where the source does not say how it counts and the ways to count differ; `peak` is the dtype of
    the peak that its MFU is a share of, where it says.
    """

    model: float
    hardware: float
    rate: float
    sure: bool = True
    peak: str = ""

    @classmethod
    def ours(
        cls, model: Model, B: int, T: int, recompute: str, known: bool = True, mtp: bool = False
    ) -> "OperationCounts":
        """With attention's mask. Not `known`: unsure where a count without the mask is another by more than 5 %."""
        done = float(step_flops(model, B, T, mtp=mtp))
        again = float(recomputed_flops(model, B, T, recompute)) if recompute in RECOMPUTE else 0.0  # a part: uncounted
        sure = known or float(step_flops(model, B, T, causal=False)) < 1.05 * done
        return cls(done, done + again, done, sure)


@dataclass(frozen=True)
class MeasuredValue:
    """A measured value with all that turns it into seconds: B tokens a step in sequences of T, on a chip's GPUs."""

    value: float
    unit: str
    gpus: int
    B: int
    T: int
    chip: str
    dtype: str
    counts: OperationCounts
    config: Mapping[str, Any]

    def of_all(self, per_gpu: str | None, rate: float, share: float) -> float:
        """A rate of all GPUs. `share` is that of the peak if the rate is one GPU's.

        One that does not say whose it is, is what it can be. Raises ValueError where it can be both.
        """
        if per_gpu:
            return rate * self.gpus
        one, every = (LEAST_SHARE < x < MOST_SHARE for x in (share, share / self.gpus))
        if one and every and self.gpus > 1:
            raise ValueError(f"the unit {self.unit!r} does not say whether it is of one GPU or of all")
        return rate * self.gpus if one and not every else rate

    @property
    def seconds(self) -> float:
        """Of a step. Raises ValueError for a unit that gives none."""
        unit = plain(self.unit)
        for pattern, read in READERS:
            if found := re.fullmatch(pattern, unit):
                return read(self, found)
        raise ValueError(f"the unit {self.unit!r} gives no time of a step")

    def counted(self, flops: float) -> float:
        """The operations, if it is known how the source counts them. Raises ValueError."""
        if not self.counts.sure:
            raise ValueError(
                f"the unit {self.unit!r} does not say whether attention's mask is counted, which is over 5 % here"
            )
        return flops


def plain(unit: str) -> str:
    """A unit in one spelling: "TFLOPs per GPU" is tflop/s/gpu, "Tokens / sec / GPU" token/s/gpu."""
    text = re.sub(r"\s*\(incl[^)]*\)$", "", unit.strip().lower())  # evaluations are a few percent of a run
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return text.strip()


def _time(x: MeasuredValue, unit: re.Match[str]) -> float:
    return x.value * SECONDS[unit[1]]


def _steps(x: MeasuredValue, unit: re.Match[str]) -> float:
    return SECONDS[unit[1]] / x.value


def _tokens(x: MeasuredValue, unit: re.Match[str]) -> float:
    many, what, time, per_gpu = unit.groups()
    size = x.T if what == "sample" else 1
    rate = x.value * PREFIXES[many or ""] * size / SECONDS[time]
    share = rate * x.counts.model / x.B / accelerators[x.chip].flops(x.dtype)
    return x.B / x.of_all(per_gpu, rate, share)


def _operations(x: MeasuredValue, unit: re.Match[str]) -> float:
    """A rate in tokens needs no count of operations. Where the source prints both, the rate of operations, which has
    more digits in some tables, is taken if our count agrees with the source's to 2 %, else that in tokens.
    """
    kind, many, per_gpu = unit.groups()
    rate = x.value * PREFIXES[many]
    flops = x.counts.hardware if kind == "hardware" else x.counts.rate
    tokens = printed_number(x.config.get("tokens_s_gpu"))
    if per_gpu and tokens and abs(flops / x.B * tokens / rate - 1) > 0.02:
        return x.B / (tokens * x.gpus)
    share = rate / accelerators[x.chip].flops(x.dtype)
    return x.counted(flops) / x.of_all(per_gpu, rate, share)


def _share(x: MeasuredValue, unit: re.Match[str]) -> float:
    dtype, name = unit[1] or x.counts.peak, unit[2]
    percent = "%" in x.unit or "percent" in x.unit.lower()
    if percent and x.value <= 1:
        raise ValueError(f"{x.value:g} {x.unit} is less than any run: a share, where a percentage is said?")
    if not dtype and x.dtype in ("fp8", "fp4"):
        raise ValueError(f"the unit {x.unit!r} does not say of which peak, {x.dtype} or bf16")
    peak = accelerators[x.chip].flops(dtype or x.dtype)
    share = x.value / 100 if percent or x.value > 1 else x.value
    if share > 1:
        raise ValueError(f"the row contradicts itself: {x.value:g} {x.unit} is more than the chip's peak")
    flops = x.counts.hardware if name == "hfu" else x.counts.model
    return x.counted(flops) / (share * peak * x.gpus)


def _run(x: MeasuredValue, unit: re.Match[str]) -> float:
    """Time, or GPU-time, in which a number of tokens was trained, as the unit or the row says."""
    per_gpu, time, number, many = unit.groups()
    if many:
        tokens = float(number or 1) * PREFIXES[many]
    else:
        given = next((str(x.config[k]) for k in ("train_tokens", "total_tokens", "tokens") if x.config.get(k)), "")
        found = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\d+)?) ?([kmbt]?)(?: ?tokens?)?", given.strip().lower())
        if not found:
            raise ValueError(f"the row does not give the tokens that {x.unit!r} are for")
        tokens = float(found[1]) * PREFIXES[found[2]]
    if tokens < x.B:
        raise ValueError(f"{tokens:g} tokens are fewer than the {x.B} of a step")
    return x.value * SECONDS[time] / (x.gpus if per_gpu else 1) * x.B / tokens


READERS = (
    (r"(us|ms|s|min)(?:/step| step)?", _time),
    (r"(h|day)/step", _time),
    (r"step/(s|min|h|day)", _steps),
    (r"(?:([kmbt]) )?(token|sample)/(s|min|h|day)(/gpu)?", _tokens),
    (r"(?:(model|hardware|achieved) )?([gtpe])flop/s(/gpu)?", _operations),
    (r"%? ?(?:(bf16|fp16|fp8|fp4) )?(mfu|hfu)(?: ?\(?(?:%|percent|fraction)\)?)?", _share),
    (r"(?:(?:[a-z]+\d+\w* )?(gpu) )?(h|day)(?:(?: for |/)(\d+(?:\.\d+)?)? ?([kmbt]) token)?", _run),
)


def printed_number(x: Any) -> float:
    """A number above 0 as a table prints it, or 0 for anything else."""
    try:
        value = float(str(x).replace(",", ""))
    except ValueError:
        return 0.0
    return value if 0 < value < float("inf") else 0.0
