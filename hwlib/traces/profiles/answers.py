"""What the traces of a job say, as a record and in words: times by rank, kernels by class, who waits, what stands out.

`answer` takes names and pieces of text, so that it runs in a page as well as in a terminal; one rank is in memory at a
time, with what the comparison needs of the others.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hwlib.traces.profiles.findings import TraceFinding, TraceLimits, median_step, trace_findings
from hwlib.traces.profiles.job import JobWaits, job_waits
from hwlib.traces.profiles.profile import profile_rank
from hwlib.traces.profiles.times import DeviceTimes, KernelRow, RankTimes, rank_times
from hwlib.units import show

__all__ = ["TraceAnswer", "TraceJob", "answer"]

OF_RANK = re.compile(r"rank[-_.]?(\d{1,7})", re.IGNORECASE)
PAIRS = 4096  # of (who waited, for whom) in the record
TOP = 12  # kernels and pairs that are listed
RANKS = 32  # ranks of the terminal's table
WIDTH = 52  # characters of a kernel's name in the table


@dataclass(frozen=True)
class TraceAnswer:
    """The ranks by label, who waited for whom, and what stands out."""

    ranks: Mapping[str, DeviceTimes]
    waits: JobWaits
    findings: tuple[TraceFinding, ...]

    @property
    def record(self) -> dict[str, Any]:
        """All of it as JSON can hold it, in SI units."""
        return {
            "ranks": [_rank_record(label, own) for label, own in self.ranks.items()],
            "classes": [_row_record(row) for row in _summed(self.ranks, "classes")],
            "kernels": [_row_record(row) for row in _summed(self.ranks, "kernels")[:TOP]],
            "waits": [
                {"who": who, "for": cause, "seconds": seconds}
                for (who, cause), seconds in islice(self.waits.waits.items(), PAIRS)
            ],
            "caused": dict(self.waits.caused),
            "matched": self.waits.matched,
            "unmet": self.waits.unmet,
            "shifts": dict(self.waits.shifts),
            "groups": [group._asdict() | {"labels": list(group.labels)} for group in self.waits.groups],
            "findings": [finding._asdict() | {"ranks": list(finding.ranks)} for finding in self.findings],
        }

    @property
    def text(self) -> str:
        """All of it as a terminal shows it."""
        return "\n".join(_lines(self))


class TraceJob:
    """The traces of a job as they are added, a rank each; `answer` compares them."""

    def __init__(self) -> None:
        self.ranks: dict[str, DeviceTimes] = {}
        self.names: dict[str, str] = {}

    def add(self, name: str, chunks: Iterable[str]) -> None:
        """Read a rank's trace, from its text in pieces. Raises ValueError, which names it, for one that is none.

        The rank is that of the trace, or of the name (`rank-3`, `rank_3`), or the next that is free.
        """
        try:
            devices = rank_times(profile_rank(chunks))
            for own in devices:
                self._keep(name, self._label(name, own, len(devices) > 1), own)
        except ValueError as error:
            raise ValueError(f"{name}: {error}" if name else str(error)) from None

    def _label(self, name: str, own: DeviceTimes, several: bool) -> str:
        match = OF_RANK.search(name.replace("\\", "/").rpartition("/")[2][-200:])
        rank = own.rank if own.rank is not None else int(match[1]) if match else None
        if rank is None:
            used = {label.partition("/")[0] for label in self.ranks if self.names[label] != name}
            rank = next(number for number in range(len(used) + 1) if str(number) not in used)
        return f"{rank}/GPU{own.device}" if several else str(rank)

    def _keep(self, name: str, label: str, own: DeviceTimes) -> None:
        if label in self.ranks:
            raise ValueError(f"a second trace of rank {label}, after {self.names[label]}")
        self.ranks[label] = own
        self.names[label] = name

    def answer(self, limits: TraceLimits | None = None) -> TraceAnswer:
        """What the traces say; raises ValueError without any."""
        if not self.ranks:
            raise ValueError("no trace: a file of torch.profiler was expected")
        ranks = {label: self.ranks[label] for label in sorted(self.ranks, key=_order)}
        waits = job_waits(ranks)
        return TraceAnswer(ranks, waits, trace_findings(ranks, waits, limits))


def answer(files: Mapping[str, str], limits: TraceLimits | None = None) -> TraceAnswer:
    """What the texts of a job's traces say, by name, see `TraceJob`; raises ValueError."""
    job = TraceJob()
    for name, text in files.items():
        job.add(name, [text])
    return job.answer(limits)


def _order(label: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", label))


def _rank_record(label: str, own: DeviceTimes) -> dict[str, Any]:
    return {
        "rank": label,
        "chip": own.chip,
        "known_chip": own.known_chip,
        **own.times._asdict(),
        "fetching": own.fetching,
        "steps": [step._asdict() for step in own.steps],
        "events": own.events,
        "counts": dict(own.counts),
        "unread": own.unread,
        "shapes": own.shapes,
        "cut": own.cut,
        "notes": list(own.notes),
    }


def _row_record(row: KernelRow) -> dict[str, Any]:
    return row._asdict() | {"share": row.share}


def _summed(ranks: Mapping[str, DeviceTimes], what: str) -> list[KernelRow]:
    """Rows of all ranks by name, longest first."""
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0.0, 0.0, 0.0])
    for own in ranks.values():
        for row in getattr(own, what):
            total = sums[row.name, row.kind]
            for i, value in enumerate(row[2:]):
                total[i] += value
    rows = [KernelRow(*key, int(total[0]), *total[1:]) for key, total in sums.items()]
    return sorted(rows, key=lambda row: (-row.seconds, row.name))


def _lines(answered: TraceAnswer) -> Iterator[str]:
    ranks = answered.ranks
    yield _head(ranks)
    yield ""
    yield from _table(ranks)
    yield ""
    yield from _kernel_table("class", _summed(ranks, "classes"), ranks)
    yield ""
    yield from _kernel_table("kernel", _summed(ranks, "kernels")[:TOP], ranks)
    yield from _step_lines(ranks)
    yield from _wait_lines(answered)
    yield from _note_lines(ranks)
    yield ""
    if not answered.findings:
        yield "Nothing stands out."
    yield from (f"- {finding.kind}: {finding.sentence}." for finding in answered.findings)


def _head(ranks: Mapping[str, DeviceTimes]) -> str:
    chips = sorted({own.chip for own in ranks.values() if own.chip})
    world = max((own.world or 0 for own in ranks.values()), default=0)
    of_world = f" of {world}" if world > len(ranks) else ""
    events = sum(own.events for own in ranks.values())
    plural = "s" * (len(ranks) > 1 or bool(of_world))
    return f"{len(ranks)}{of_world} rank{plural}{f' on {chr(44).join(chips)}' if chips else ''}, {events:,} events"


def _table(ranks: Mapping[str, DeviceTimes]) -> Iterator[str]:
    columns = ("compute", "exposed", "copies", "idle", "launch", "loading")
    yield f"{'rank':<10}{'time':>11}" + "".join(f"{name:>10}" for name in columns)
    for label, own in list(ranks.items())[:RANKS]:
        shares = "".join(f"{_part(own.times, name):>10.1%}" for name in columns)
        yield f"{label:<10}{show(own.times.span, 's', 4):>11}{shares}"
    if len(ranks) > RANKS:
        yield f"and {len(ranks) - RANKS:,} more ranks; --json has all"
    yield "exposed: communication with no kernel beside; launch and loading: the parts of idle in which nothing was"
    yield "launched yet, and in which the host waited for a batch."


def _part(times: RankTimes, name: str) -> float:
    return getattr(times, name) / times.span if times.span else 0.0


def _kernel_table(title: str, rows: Sequence[KernelRow], ranks: Mapping[str, DeviceTimes]) -> Iterator[str]:
    span = sum(own.times.span for own in ranks.values()) or 1.0
    yield f"{title:<{WIDTH}}{'time':>11}{'of time':>9}{'calls':>10}{'of roofline':>13}"
    for row in rows:
        name = row.name if len(row.name) < WIDTH else f"{row.name[: WIDTH - 4]}..."
        share = "" if row.share is None else f"{row.share:.0%}"
        yield f"{name:<{WIDTH}}{show(row.seconds, 's', 3):>11}{row.seconds / span:>9.1%}{row.calls:>10,}{share:>13}"


def _step_lines(ranks: Mapping[str, DeviceTimes]) -> Iterator[str]:
    label, own = max(ranks.items(), key=lambda row: len(row[1].steps))
    if own.steps:
        usual, worst = median_step(own.steps), max(own.steps, key=lambda step: step.seconds)
        yield ""
        yield (
            f"{len(own.steps)} step{'s' * (len(own.steps) > 1)} on rank {label}: {show(usual, 's', 4)} in the median, "
            f"{show(worst.seconds, 's', 4)} at most (number {worst.number or 'unknown'})"
        )


def _wait_lines(answered: TraceAnswer) -> Iterator[str]:
    waits = answered.waits
    if len(answered.ranks) < 2:
        return
    yield ""
    if not waits.matched:
        yield f"No collective and no message is in two traces{_unmet_words(waits)}."
        return
    yield f"Who waited for whom, with no kernel beside ({waits.matched:.0%} of the calls are in two traces):"
    for (who, cause), seconds in list(waits.waits.items())[:TOP]:
        yield f"  rank {who} for rank {cause}: {show(seconds, 's', 3)}"
    if not waits.waits:
        yield "  nobody for anybody"
    if waits.unmet:
        yield f"  not compared{_unmet_words(waits)}"
    shifted = {label: shift for label, shift in waits.shifts.items() if shift}
    if shifted:
        most = max(shifted, key=lambda label: abs(shifted[label]))
        by = show(abs(shifted[most]), "s", 3)
        yield f"  clocks of {len(shifted)} ranks were aligned, by up to {by} (rank {most})"


def _unmet_words(waits: JobWaits) -> str:
    """Of messages that are not compared why."""
    if not waits.unmet:
        return ""
    return f"; {waits.unmet:,} sends and receives do not tell their peer, or their peer's trace has more or fewer"


def _note_lines(ranks: Mapping[str, DeviceTimes]) -> Iterator[str]:
    notes: dict[str, list[str]] = defaultdict(list)
    for label, own in ranks.items():
        for note in own.notes:
            notes[note].append(label)
        if own.unread:
            notes[f"{own.unread:,} events have no times that can be read"].append(label)
    if not any(own.shapes for own in ranks.values()):
        notes["no shapes were recorded (record_shapes=True), so no share of the roofline"] = []
    elif any(own.device >= 0 for own in ranks.values()) and not any(own.known_chip for own in ranks.values()):
        notes["the chip is not in the tables, or is not named, so no share of the roofline"] = []
    if notes:
        yield ""
    for note, labels in notes.items():
        where = f" (rank {', '.join(labels[:TOP])})" if labels else ""
        yield f"Note: {note}{where}"
