"""What is wrong in a job by its traces: shares of the time above a limit, a rank for which the others wait, and why."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from hwlib.traces.profiles.job import GroupRow, JobWaits
from hwlib.traces.profiles.times import PAUSE, SECONDS, DeviceTimes, StepTimes
from hwlib.units import show

__all__ = ["TraceFinding", "TraceLimits", "trace_findings"]

SLOWER = 1.05  # times the median: kernels that are slower than this are a cause
COVERED = 0.5  # share of the steps' time that lies between a device's first and last event: below it, most is outside
EXPLAINS = 0.5  # share of a wait that a cause makes up
LISTED = 8
PAUSES = f"{show(PAUSE * SECONDS, 's')} or more at a time (start-up, compilation, an evaluation, a checkpoint)"


@dataclass(frozen=True)
class TraceLimits:
    """From which share of a rank's time on something is a finding, and from which multiple of the median."""

    exposed: float = 0.25
    launch: float = 0.15
    idle: float = 0.25
    loading: float = 0.05
    straggler: float = 0.05
    step: float = 1.3
    group: float = 1.5


class TraceFinding(NamedTuple):
    """Something to look at: a kind, the ranks it is about, its size (a share or a multiple), and a sentence."""

    kind: str
    ranks: tuple[str, ...]
    value: float
    sentence: str


def trace_findings(
    ranks: Mapping[str, DeviceTimes], waits: JobWaits, limits: TraceLimits | None = None
) -> tuple[TraceFinding, ...]:
    """What is above the limits, in this order: traces that are cut or lie mostly outside kernels, stragglers, slow
    groups, shares of time, steps.
    """
    limits = limits or TraceLimits()
    slow = tuple(_slow_groups(waits.groups, limits))
    findings = [*_cut(ranks), *_outside(ranks), *_stragglers(ranks, waits, slow, limits)]
    findings += [finding for _, finding in slow]
    return (*findings, *_shares(ranks, limits), *_slow_steps(ranks, limits))


def _named(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - LISTED} more" if len(labels) > LISTED else ""
    return f"rank{'s' * (len(labels) > 1)} {', '.join(labels[:LISTED])}{more}"


def _cut(ranks: Mapping[str, DeviceTimes]) -> Iterator[TraceFinding]:
    cut = tuple(label for label, own in ranks.items() if own.cut)
    if cut:
        yield TraceFinding("cut", cut, 0.0, f"the trace of {_named(cut)} is cut: its times are of what could be read")
    unknown = tuple(label for label, own in ranks.items() if not own.times.span)
    if unknown:
        yield TraceFinding("no device", unknown, 0.0, f"the trace of {_named(unknown)} has nothing of a device")


def _outside(ranks: Mapping[str, DeviceTimes]) -> Iterator[TraceFinding]:
    """Devices with nothing recorded in most of the time of the steps, which no share of theirs shows."""
    covered = {label: own.times.span / _stepping(own) for label, own in ranks.items() if _stepping(own)}
    few = tuple(label for label, share in covered.items() if 0 < share < COVERED)
    if few:
        least = min(few, key=covered.__getitem__)
        own = ranks[least]
        yield TraceFinding(
            "outside",
            few,
            1 - covered[least],
            f"the device of {_named(few)} has events in a part of the recorded steps alone, of rank {least} in "
            f"{show(own.times.span, 's', 3)} of {show(_stepping(own), 's', 3)}: all shares are of that part, and in "
            "the rest the host worked alone, or kernels were not recorded",
        )


def _stepping(own: DeviceTimes) -> float:
    return sum(step.seconds for step in own.steps)


def _shares(ranks: Mapping[str, DeviceTimes], limits: TraceLimits) -> Iterator[TraceFinding]:
    about = (
        ("exposed", limits.exposed, "waits in communication with no kernel beside"),
        ("launch", limits.launch, "has nothing to run because the host has launched nothing: it is launch-bound"),
        ("pauses", limits.launch, f"has nothing to run while the host is at something else for {PAUSES}"),
        ("loading", limits.loading, "has nothing to run while the host waits for the next batch"),
    )
    for kind, limit, words in about:
        shares = {label: _share(own, kind) for label, own in ranks.items()}
        if kind == "launch":
            shares = {label: share - _share(ranks[label], "pauses") for label, share in shares.items()}
        yield from _above(kind, shares, limit, words)
    idle = {label: _share(own, "idle") - _share(own, "launch") for label, own in ranks.items()}
    yield from _above("idle", idle, limits.idle, "is idle, and not for a launch that is seen (a wait, or no launches)")


def _share(own: DeviceTimes, kind: str) -> float:
    return getattr(own.times, kind) / own.times.span if own.times.span else 0.0


def _above(kind: str, shares: Mapping[str, float], limit: float, words: str) -> Iterator[TraceFinding]:
    above = tuple(sorted((label for label, share in shares.items() if share > limit), key=lambda label: -shares[label]))
    if above:
        most = shares[above[0]]
        yield TraceFinding(
            kind, above, most, f"the device of {_named(above)} {words}, for up to {most:.0%} of the time"
        )


def _slow_groups(groups: Sequence[GroupRow], limits: TraceLimits) -> Iterator[tuple[GroupRow, TraceFinding]]:
    """Groups whose transfers take longer than those of their like: same operation, bytes and ranks."""
    alike: dict[tuple[str, float, int], list[GroupRow]] = defaultdict(list)
    for group in groups:
        if group.bytes and group.transfer > 0:
            alike[group.operation, group.bytes, len(group.labels)].append(group)
    for rows in alike.values():
        usual = median(row.transfer for row in rows) if len(rows) > 2 else float("inf")
        for row in rows:
            if row.transfer > limits.group * usual:
                times = row.transfer / usual
                sentence = (
                    f"{row.operation} of {show(row.bytes, 'B', 3)} in group {row.group[:60]} ({_named(row.labels)}) "
                    f"takes {times:.1f} times as long as in the like groups: {show(row.transfer, 's', 3)} against "
                    f"{show(usual, 's', 3)}; look at the link between these ranks"
                )
                yield row, TraceFinding("slow group", row.labels, times, sentence)


def _stragglers(
    ranks: Mapping[str, DeviceTimes],
    waits: JobWaits,
    slow: Sequence[tuple[GroupRow, TraceFinding]],
    limits: TraceLimits,
) -> Iterator[TraceFinding]:
    """Ranks for which each other rank waits longer than the limit, on average, and longer than for the usual rank."""
    spans = [own.times.span for own in ranks.values() if own.times.span]
    if len(ranks) < 2 or not spans:
        return
    caused = {label: waits.caused[label] / (len(ranks) - 1) for label in ranks}
    usual = median(caused.values()) if len(ranks) > 2 else min(caused.values())
    for label in sorted(ranks, key=lambda label: -caused[label]):
        share = caused[label] / median(spans)
        if share > limits.straggler and caused[label] > 2 * usual:
            cause = _cause(label, caused[label], ranks, slow)
            sentence = f"the others wait {share:.0%} of the time for rank {label}: {cause}"
            yield TraceFinding("straggler", (label,), share, sentence)


def _cause(
    label: str,
    wait: float,
    ranks: Mapping[str, DeviceTimes],
    slow: Sequence[tuple[GroupRow, TraceFinding]],
) -> str:
    """Why a rank comes late, as far as its trace shows."""
    own = ranks[label]
    others = [other for name, other in ranks.items() if name != label]
    usual = median(other.times.compute for other in others)
    if usual and own.times.compute > SLOWER * usual and own.times.compute - usual > EXPLAINS * wait:
        return f"its kernels take {own.times.compute / usual:.2f} times as long as the others' (clock, or more work)"
    fetching = own.fetching - median(other.fetching for other in others)
    if fetching > EXPLAINS * wait:
        return f"its batches come {show(fetching, 's', 3)} later than the others' (DataLoader)"
    launch = own.times.launch - median(other.times.launch for other in others)
    if launch > EXPLAINS * wait:
        return f"its host launches late, {show(launch, 's', 3)} more than the others' (CPU, or a profiler beside)"
    idle = own.times.idle - median(other.times.idle for other in others)
    if idle > EXPLAINS * wait:
        return f"its device is idle for {show(idle, 's', 3)} more than the others': look at what its host does then"
    if any(label in group.labels for group, _ in slow):
        return "it comes from transfers of a slow group, see there"
    return "its kernels take as long as the others', and neither loader nor launches show why"


def _slow_steps(ranks: Mapping[str, DeviceTimes], limits: TraceLimits) -> Iterator[TraceFinding]:
    """Steps that take longer than most; the first, which warms up, is not one."""
    slow: dict[str, float] = {}
    labels: list[str] = []
    for label, own in ranks.items():
        usual = median([step.seconds for step in own.steps] or [0.0])
        above = [step for step in own.steps[1:] if usual and step.seconds > limits.step * usual]
        slow |= {step.number: max(slow.get(step.number, 0.0), step.seconds / usual) for step in above}
        labels += [label] * bool(above)
    if slow:
        worst = max(slow.values())
        numbers = ", ".join(list(slow)[:LISTED]) + (", ..." if len(slow) > LISTED else "")
        sentence = f"steps {numbers} take up to {worst:.2f} times the median step, on {_named(labels)}"
        yield TraceFinding("slow steps", tuple(labels), worst, sentence)


def median_step(steps: Sequence[StepTimes]) -> float:
    """Seconds of the median step, 0 without one."""
    return median([step.seconds for step in steps] or [0.0])
