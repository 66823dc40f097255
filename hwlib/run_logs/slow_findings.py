"""Which steps of a run are slow and how often, and what stands in the log before them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from hwlib.run_logs.finding import LIKELY, OFTEN, POSSIBLE, SHOWN, RunFinding, step_numbers
from hwlib.run_logs.pace import RunPace, period_of, slow_steps, trend_of
from hwlib.run_logs.records import RunLog
from hwlib.units import plural, show

EVENTS = {
    "save": "a checkpoint is written",
    "saved": "a checkpoint is written",
    "evaluate": "the model is evaluated",
    "collect": "Python collects garbage",
    "profile": "the profiler writes its trace",
    "flush": "the allocator empties its cache",
    "reloop": "the data set begins again",
    "overflow": "the step overflows",
}
NOTHING = 0.02  # of the time: what a busy machine's steps vary by
CAUSES = {"saved": "save", "flush": "allocator", "overflow": "skipped"}
"""Kinds of findings whose event has another name."""


def slow_findings(log: RunLog, pace: RunPace) -> Iterator[RunFinding]:
    """What the times of the steps show, and the clock between them."""
    yield from _warm(pace)
    yield from _slow(log, pace)
    yield from _outside(log, pace)
    yield from _changes(pace)
    yield from _fixed(pace)


def _time(pace: RunPace, seconds: float) -> str:
    """A time in words; of relative ones how often the usual step."""
    return show(seconds, "s", 3) if pace.absolute else f"{seconds / pace.usual:.2f} of a step"


def _warm(pace: RunPace) -> Iterator[RunFinding]:
    if not pace.warm:
        return
    first, numbers = pace.warm[0][1] / pace.usual, tuple(step.step for step, _ in pace.warm)
    yield RunFinding(
        "warmup",
        f"the first {plural(len(numbers), 'line')} ({step_numbers(numbers)}) took up to {first:.1f} times the usual "
        "step: kernels are compiled and memory is taken then; they are left out of everything below",
        LIKELY,
        numbers,
    )


def _slow(log: RunLog, pace: RunPace) -> Iterator[RunFinding]:
    """Steps that are longer than their neighbours: by the events before them, by a period, or without a rule."""
    if not pace.single:
        return
    places = slow_steps(pace.seconds)
    if not places or len(places) > len(pace.seconds) / 3:
        return
    between = _events_between(log, pace)
    kinds = [between[place] for place in places]
    of_places = dict(zip(places, kinds, strict=True))
    counted = Counter(kind for of_place in kinds for kind in of_place)
    for kind in sorted(counted, key=lambda kind: (-counted[kind], kind)):
        mine = [place for place, of_place in zip(places, kinds, strict=True) if kind in of_place]
        if mine and (len(mine) >= OFTEN * len(places) or len(mine) >= 2):
            beside = Counter(other for place in mine for other in of_places[place] if other != kind)
            both = [other for other, count in sorted(beside.items()) if count >= OFTEN * len(mine)]
            yield _by_event(pace, mine, kind, both)
            kinds = [of_place for place, of_place in zip(places, kinds, strict=True) if place not in mine]
            places = [place for place in places if place not in mine]
    if places and _excess(pace, places) > NOTHING * pace.mean:
        yield _by_pattern(pace, places)


def _events_between(log: RunLog, pace: RunPace) -> list[set[str]]:
    """For each step the kinds of events between its line and the one before it."""
    between: list[set[str]] = []
    last = 0
    events = sorted((event for event in log.events if event.kind in EVENTS), key=lambda event: event.line)
    place = 0
    for step in pace.steps:
        kinds = set()
        while place < len(events) and events[place].line < step.line:
            if events[place].line > last:
                kinds.add(CAUSES.get(events[place].kind, events[place].kind))
            place += 1
        between.append(kinds)
        last = step.line
    return between


def _excess(pace: RunPace, places: Sequence[int]) -> float:
    """What such steps take more than the usual one, a mean step."""
    return sum(pace.seconds[place] - pace.usual for place in places) / len(pace.seconds)


def _by_event(pace: RunPace, places: Sequence[int], kind: str, both: Sequence[str] = ()) -> RunFinding:
    numbers = [pace.steps[place].step for place in places]
    more = median(pace.seconds[place] for place in places) - pace.usual
    period = period_of(numbers, [step.step for step in pace.steps])
    often = f"every {period} steps" if period else f"at {plural(len(numbers), 'line')}: {step_numbers(numbers)}"
    seconds = _excess(pace, places)
    words = " and ".join(map(_event_words, (kind, *both)))
    sentence = (
        f"{words} {often}, and the step after it is longer by {_time(pace, more)}: "
        f"{seconds / pace.mean:.1%} of the time"
    )
    return RunFinding(kind, sentence, SHOWN, tuple(numbers), seconds, seconds / pace.mean)


def _event_words(kind: str) -> str:
    """What happens, of a kind of findings."""
    return EVENTS.get(kind) or next(words for event, words in EVENTS.items() if CAUSES.get(event) == kind)


def _by_pattern(pace: RunPace, places: Sequence[int]) -> RunFinding:
    numbers = [pace.steps[place].step for place in places]
    more = median(pace.seconds[place] for place in places) - pace.usual
    seconds = _excess(pace, places)
    period = period_of(numbers, [step.step for step in pace.steps])
    cost = f"longer by {_time(pace, more)}, {seconds / pace.mean:.1%} of the time"
    if period:
        sentence = (
            f"every {period} steps one is {cost}; what happens then the log does not say: a checkpoint, an evaluation, "
            f"garbage collection or a refill of the loader, whichever is set to {period} steps"
        )
        return RunFinding("periodic", sentence, POSSIBLE, tuple(numbers), seconds, seconds / pace.mean)
    first = "kernels that are compiled in the first, " if 0 in places and not pace.warm else ""
    sentence = (
        f"{plural(len(numbers), 'line')} without a rule ({step_numbers(numbers)}), {cost}; the log does not say why: "
        f"{first}data that came late, a slow rank, the network or another job"
    )
    return RunFinding("irregular", sentence, POSSIBLE, tuple(numbers), seconds, seconds / pace.mean)


def _outside(log: RunLog, pace: RunPace) -> Iterator[RunFinding]:
    """Time between the lines that no step has: what a program does not count into its steps."""
    if pace.source == "clock" or not pace.absolute:
        return
    gaps: list[tuple[int, float, set[str]]] = []
    wall = counted = 0.0
    between = _events_between(log, pace)
    for place, (before, step) in enumerate(pairwise(pace.steps), 1):
        if before.clock is None or step.clock is None or step.step <= before.step or step.clock < before.clock:
            continue
        took, steps = step.clock - before.clock, step.step - before.step
        gaps.append((step.step, took - steps * pace.seconds[place], between[place]))
        wall, counted = wall + took, counted + steps
    lost = sum(gap for _, gap, _ in gaps)
    if not gaps or lost < 0.03 * wall or lost < 1.0:
        return
    whole = all(step.clock == round(step.clock or 0.0) for step in pace.steps)
    least = max(2 * lost / len(gaps), 1.0 if whole else 0.0)
    long = [(step, kinds) for step, gap, kinds in gaps if gap > least]
    kinds = Counter(kind for _, of_gap in long for kind in of_gap)
    kind = next((kind for kind, count in kinds.most_common() if count >= OFTEN * len(long)), "outside")
    where = f"before step {step_numbers([step for step, _ in long])}" if long else "spread over all steps"
    words = f"there {EVENTS.get(kind, '')}" if kind != "outside" else "what is done then the log does not say"
    sentence = (
        f"the clock of the lines says {show(lost, 's', 3)} more than their steps took, {lost / wall:.1%} of the time, "
        f"{where}; the program's own times leave it out; {words}"
    )
    sure = SHOWN if kind != "outside" else POSSIBLE
    yield RunFinding(kind, sentence, sure, tuple(step for step, _ in long), lost / counted, lost / wall)


def _changes(pace: RunPace) -> Iterator[RunFinding]:
    trend = trend_of([step.step for step in pace.steps], pace.seconds) if pace.single else None
    if trend is None:
        return
    seconds = sum(time - min(pace.usual, time) for time in pace.seconds) / len(pace.seconds)
    if trend.since is not None:
        sentence = (
            f"from step {trend.since} on a step takes {trend.change:+.0%}: a change of that moment (clocks, a slower "
            "node, another job, a longer batch); the log does not say which"
        )
        yield RunFinding("shift", sentence, POSSIBLE, (trend.since,), seconds, seconds / pace.mean)
        return
    sentence = (
        f"steps change by {trend.change:+.0%} from the start of the log to its end, slowly: sequences that grow, "
        "memory that fragments or leaks, or a chip that gets hot; the log does not say which"
    )
    yield RunFinding("drift", sentence, POSSIBLE, (), seconds, seconds / pace.mean)


def _fixed(pace: RunPace) -> Iterator[RunFinding]:
    """Batches that ramp up show what of a step does not depend on the batch."""
    by_batch: dict[float, list[float]] = {}
    for step, seconds in zip(pace.steps, pace.seconds, strict=True):
        if step.batch:
            by_batch.setdefault(step.batch, []).append(seconds)
    if not pace.absolute or len(by_batch) < 2:
        return
    small, large = min(by_batch), max(by_batch)
    low, high = median(by_batch[small]), median(by_batch[large])
    if large < 2 * small:
        return
    fixed = max(low - (high - low) / (large - small) * small, 0.0)
    if fixed < 0.5 * high:
        return
    sentence = (
        f"a step of {small:g} sequences takes {show(low, 's', 3)} and of {large:g} {show(high, 's', 3)}: "
        f"{show(fixed, 's', 3)} do not depend on the batch, so that the GPUs wait for something else: the host that "
        "launches kernels, or latency"
    )
    yield RunFinding("host", sentence, LIKELY, (), fixed, min(fixed / high, 1.0))
