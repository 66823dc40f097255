"""What the watchdog's lines say of a job that hangs, in words and as a record."""

from collections.abc import Iterator, Sequence
from typing import Any

from hwlib.traces.hangs.watchdog import TimedOutCall, WatchdogReport, WatchdogVerdict, watchdog_verdict
from hwlib.units import plural, show

__all__ = ["ranks_listed", "watchdog_answer"]

SHOWN = 12  # ranks and lines of the terminal's lists
NEXT = (
    "To learn for whom they wait, let each rank dump its flight recorder (TORCH_FR_BUFFER_SIZE=2000, until torch 2.8 "
    "TORCH_NCCL_TRACE_BUFFER_SIZE, and TORCH_NCCL_DUMP_ON_TIMEOUT=1) and give `gpubook hang` the dumps."
)


def watchdog_answer(report: WatchdogReport) -> tuple[dict[str, Any], str]:
    """The record that JSON can hold, and the text."""
    verdict = watchdog_verdict(report)
    record: dict[str, Any] = {
        "kind": "watchdog",
        "hangs": True,
        "ranks": list(report.ranks),
        "reason": verdict.reason,
        "culprits": list(verdict.culprits),
        "suspects": list(verdict.suspects),
        "timeouts": [call._asdict() | {"elements": list(call.elements)} for call in report.timeouts],
        "progress": [row._asdict() for row in report.progress],
        "mismatches": [row._asdict() for row in report.mismatches],
    }
    return record, "\n".join(_lines(report, verdict))


def ranks_listed(ranks: Sequence[int]) -> str:
    """Ranks in a sentence.

    >>> ranks_listed([3]), ranks_listed([0, 3])
    ('rank 3', 'ranks 0, 3')
    """
    if not ranks:
        return "no rank"
    listed = ", ".join(map(str, ranks[:SHOWN]))
    more = f" and {len(ranks) - SHOWN:,} more" if len(ranks) > SHOWN else ""
    return f"rank{'s' * (len(ranks) > 1)} {listed}{more}"


def _lines(report: WatchdogReport, verdict: WatchdogVerdict) -> Iterator[str]:
    calls = plural(len(report.timeouts), "call")
    yield f"PyTorch's watchdog: {calls} timed out; there are lines of {ranks_listed(report.ranks)}."
    yield ""
    yield _sentence(verdict)
    for call in report.timeouts[:SHOWN]:
        yield f"  rank {call.rank} waited{_long(call)} in {_title(call)}{_size(call)}"
    if len(report.timeouts) > SHOWN:
        yield f"  and {len(report.timeouts) - SHOWN:,} more calls"
    for row in report.progress[:SHOWN]:
        group = f" of group {row.group}" if row.group else ""
        yield f"  rank {row.rank} had called up to number {row.enqueued}{group}, and completed {row.completed}"
    for other in report.mismatches[:SHOWN]:
        shape = f" of [{other.shape}]" if other.shape else ""
        number = f", number {other.number}" if other.number is not None else ""
        yield f"  rank {other.rank} called {other.operation}{shape}{number}"
    if not verdict.culprits:
        yield NEXT


def _title(call: TimedOutCall) -> str:
    return f"{call.operation} number {call.number}" + (f" of group {call.group}" if call.group else "")


def _size(call: TimedOutCall) -> str:
    return f", {call.elements[0]:,} elements" if call.elements else ""


def _long(call: TimedOutCall) -> str:
    return f" {show(call.waited, 's', 3)}" if call.waited else ""


def _sentence(verdict: WatchdogVerdict) -> str:
    call = verdict.call
    title = _title(call) if call else "a call"
    who = ranks_listed(verdict.culprits or verdict.suspects)
    who = who[0].upper() + who[1:]
    if verdict.reason == "missing":
        if call is None:
            return f"{who} did not reach a monitored barrier in time."
        if verdict.culprits:
            return f"{who} had not called {title}, in which others wait."
        return f"{who} had not called {title}, in which others wait, if all these are of one group: names recur."
    if verdict.reason in ("operation", "size"):
        what = "another operation" if verdict.reason == "operation" else "another size"
        if verdict.culprits:
            return f"{who} called {what} than the others as {title}."
        return f"{who} called different things as {title}: their programs have parted, and the lines do not tell whose."
    if verdict.reason == "apart":
        return (
            f"The ranks wait in different calls, {who[0].lower()}{who[1:]} in the earliest: a call was left out or "
            "added before, or its own is the one that does not end."
        )
    if verdict.reason == "silent":
        return (
            f"All that have a line wait in {title}. {who} {'has' if len(verdict.suspects) == 1 else 'have'} none: not "
            "in that call, dead, or on a machine whose log this is not."
        )
    return (
        f"All that have a line wait in {title}, or in calls of groups that the lines do not tell apart: a rank without "
        "a line has not entered it, or the call itself does not end (a link, a GPU, NCCL)."
    )
