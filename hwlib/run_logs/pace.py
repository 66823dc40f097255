"""How long each step took, from whatever a log says of it, and the steps that took longer than their neighbours."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from hwlib.run_logs.facts import Facts, value_of
from hwlib.run_logs.records import LoggedStep, RunLog

LEAST = 3  # steps of which anything is said
LONGER, SPREADS = 0.15, 6.0
"""A step is slow if it is longer than the usual one by this share, and by so many median deviations."""
WARM, WARMING = 0.3, 10
"""The first steps warm up as long as they are longer by this share, at most so many of them."""
LONGEST_GAP = 7 * 86_400.0  # seconds between lines: more is another day of a clock without a date
Timed = tuple[LoggedStep, float]


@dataclass(frozen=True)
class RunPace:
    """Steps and their seconds, without those that warm up, `warm`; `source` names what of the log they are from.

    Not `absolute` where the log has rates and nobody says of how many tokens: then they are relative ones. Not `single`
    where each is a mean since the start, in which no step shows.
    """

    steps: tuple[LoggedStep, ...]
    seconds: tuple[float, ...]
    warm: tuple[Timed, ...]
    source: str
    absolute: bool
    single: bool = True

    @property
    def usual(self) -> float:
        """The median of a step."""
        return median(self.seconds)

    @property
    def mean(self) -> float:
        """The mean of a step."""
        return sum(self.seconds) / len(self.seconds)

    @property
    def deviation(self) -> float:
        """The median deviation from the median."""
        usual = self.usual
        return median(abs(time - usual) for time in self.seconds)


def pace_of(log: RunLog, facts: Facts) -> RunPace | None:
    """The pace of a run by the first source that most of its steps have; None where the log has none."""
    best: tuple[int, str, list[Timed], bool] | None = None
    for source, seconds_of, absolute in _sources(facts):
        timed = [(step, seconds) for step in log.steps if (seconds := seconds_of(step)) and seconds > 0]
        if timed and (best is None or len(timed) > 2 * best[0]):
            best = (len(timed), source, timed, absolute)
    by_clock = _by_clock(log.steps)
    if by_clock and (best is None or best[1] == "mean_sample_rate"):
        best = (len(by_clock), "clock", by_clock, True)
    if best is None:
        return None
    _, source, timed, absolute = best
    warm = warm_steps([seconds for _, seconds in timed])
    steady = timed[warm:]
    return RunPace(
        tuple(step for step, _ in steady),
        tuple(seconds for _, seconds in steady),
        tuple(timed[:warm]),
        source,
        absolute,
        source != "mean_sample_rate",
    )


def _sources(facts: Facts) -> list[tuple[str, Callable[[LoggedStep], float | None], bool]]:
    """What the time of a step can be from, and whether it is one, or only in proportion to it."""
    tokens, batch, gpus = (value_of(facts, name) for name in ("batch_tokens", "batch", "gpus"))
    of_gpu = tokens / gpus if tokens and gpus else None
    return [
        ("seconds", lambda step: step.seconds, True),
        ("gpu_token_rate", partial(_inverse, "gpu_token_rate", of_gpu or 1.0), of_gpu is not None),
        ("token_rate", partial(_inverse, "token_rate", tokens or 1.0), bool(tokens)),
        ("sample_rate", partial(_inverse, "sample_rate", batch or 1.0), bool(batch)),
        ("step_rate", partial(_inverse, "step_rate", 1.0), True),
        ("mean_sample_rate", partial(_inverse, "mean_sample_rate", batch or 1.0), bool(batch)),
    ]


def _inverse(name: str, amount: float, step: LoggedStep) -> float | None:
    rate = getattr(step, name)
    return amount / rate if rate else None


def _by_clock(steps: Sequence[LoggedStep]) -> list[Timed]:
    """The time between neighbouring lines, by the steps between them; the first line has none before it."""
    timed = []
    for before, step in itertools.pairwise(steps):
        if before.clock is None or step.clock is None or step.step <= before.step:
            continue
        seconds = (step.clock - before.clock) / (step.step - before.step)
        if 0 < seconds < LONGEST_GAP:
            timed.append((step, seconds))
    return timed


def warm_steps(seconds: Sequence[float]) -> int:
    """How many of the first steps are longer than the usual one, as long as caches, kernels and memory are made."""
    if len(seconds) < LEAST:
        return 0
    usual = median(seconds[len(seconds) // 4 :])
    most = min(WARMING, len(seconds) // 3 or 1)
    count = 0
    while count < most and seconds[count] > usual * (1 + WARM):
        count += 1
    return count


def slow_steps(seconds: Sequence[float]) -> list[int]:
    """The places of the steps that are longer than the median of their neighbours, by more than these vary."""
    if len(seconds) < LEAST:
        return []
    usual = local_medians(seconds)
    deviation = median(abs(time - expected) for time, expected in zip(seconds, usual, strict=True))
    return [
        place
        for place, (time, expected) in enumerate(zip(seconds, usual, strict=True))
        if time > expected * (1 + LONGER) and time > expected + SPREADS * deviation
    ]


NEIGHBOURS = 25


def local_medians(seconds: Sequence[float]) -> list[float]:
    """The median around each step, so that neither a drift nor a new level makes a step slow."""
    half = NEIGHBOURS // 2
    medians = []
    for place in range(len(seconds)):
        start = max(min(place - half, len(seconds) - NEIGHBOURS), 0)
        medians.append(median(seconds[start : start + NEIGHBOURS]))
    return medians


def period_of(numbers: Sequence[int], every: Sequence[int]) -> int | None:
    """Every how many steps these numbers come among all of `every`; None if they do not come regularly: four of five
    stand at a multiple of one period from the others, and four of five such places are among them.
    """
    if len(numbers) < LEAST:
        return None
    differences = sorted(high - low for low, high in itertools.pairwise(numbers))
    period = differences[len(differences) // 2]
    if period <= 0:
        return None
    rests = [number % period for number in numbers]
    rest = max(set(rests), key=rests.count)
    hits = rests.count(rest)
    places = sum(1 for number in every if number % period == rest and numbers[0] <= number <= numbers[-1])
    regular = hits >= 0.8 * len(numbers) and hits >= 0.8 * places and places < 0.7 * len(every)
    return period if regular and hits >= LEAST else None


@dataclass(frozen=True)
class Trend:
    """How the pace changes: by which share a step of the end differs from one of the start, and `since` which step, if
    it is a new level and no slow rise.
    """

    change: float
    since: int | None = None


CHANGED, STEADY = 0.08, 20


def trend_of(numbers: Sequence[int], seconds: Sequence[float]) -> Trend | None:
    """Whether steps get longer or shorter, slowly or at once; None if they do not, or if there are too few."""
    count = len(seconds)
    if count < STEADY:
        return None
    third = count // 4
    start, end = median(seconds[:third]), median(seconds[-third:])
    change = end / start - 1
    if abs(change) < CHANGED or abs(end - start) < 3 * _roughness(seconds):
        return None
    split = _best_split(seconds)
    low, high = median(seconds[:split]), median(seconds[split:])
    stepped = sum(abs(time - low) for time in seconds[:split]) + sum(abs(time - high) for time in seconds[split:])
    slope = (end - start) / (count - third)
    first = median(seconds) - slope * (count - 1) / 2
    sloped = sum(abs(time - first - slope * place) for place, time in enumerate(seconds))
    if stepped < 0.8 * sloped:
        return Trend(high / low - 1, numbers[split])
    return Trend(change)


def _roughness(seconds: Sequence[float]) -> float:
    """How far neighbouring steps differ, in the median."""
    return median(abs(high - low) for low, high in itertools.pairwise(seconds))


def _best_split(seconds: Sequence[float]) -> int:
    """Where two levels part with the least squares, each of at least a tenth of the steps."""
    count = len(seconds)
    ceiling = 3 * median(seconds)  # a single long step makes no level
    clipped = [min(time, ceiling) for time in seconds]
    total, before = sum(clipped), 0.0
    margin, best, best_gain = max(count // 10, 2), count // 2, -1.0
    for place in range(1, count):
        before += clipped[place - 1]
        if margin <= place <= count - margin:
            gain = before**2 / place + (total - before) ** 2 / (count - place)
            if gain > best_gain:
                best, best_gain = place, gain
    return best
