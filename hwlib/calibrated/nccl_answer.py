"""What `gpubook bandwidth` answers: a record that JSON can hold and a text, from the text of a log.

No file is read here, and no torch: a page in a browser asks the same function.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

from hwlib.calibrated.nccl_log import NcclLog, read_logs
from hwlib.calibrated.nccl_machine import LoggedMachine, described_machine, logged_node
from hwlib.calibrated.nccl_table import LogError, MachineError, binary
from hwlib.calibrated.nccl_verdict import LogVerdict, judge_alone, judge_log, judge_unplaced
from hwlib.specs.fitted import tree_constants
from hwlib.units import plural, show

EXAMPLE = "give the machine, as in --on dgx-h100, --on mi300x-node or --on '2x8 h100-sxm'"

__all__ = ["BandwidthAnswer", "answer"]


class BandwidthAnswer(NamedTuple):
    """`certified` where nothing is to be looked at, the record that JSON can hold, and the text."""

    certified: bool
    record: dict[str, Any]
    text: str


def answer(
    text: str,
    machine: str | None = None,
    gpus: int | None = None,
    collective: str | None = None,
    network: str | None = None,
    software: str | None = None,
) -> BandwidthAnswer:
    """Judge every run in a text, see `judge_log`. `machine` is a line as the planner takes it. The record is that of
    the run, or has the records of several in `tables`. Raises LogError or SpecError for what cannot be read.

    >>> ring = "1073741824 268435456 float sum -1 8190.2 131.10 229.43 0 8187.9 131.14 229.49 0"
    >>> answer(ring, "dgx-a100").text.splitlines()[0][:46]
    'all_reduce on 8 GPUs (a100-80gb-sxm) of 1 node'
    """
    place = described_machine(machine) if machine else None
    logs = read_logs(text)
    judged_by = _verdict if len(logs) == 1 else _of_several
    verdicts = [judged_by(log, place, gpus, collective, network, software) for log in logs]
    records = [_record(verdict) for verdict in verdicts]
    texts = [_text(verdict) for verdict in verdicts]
    certified = all(verdict.certified for verdict in verdicts)
    if len(verdicts) == 1:
        return BandwidthAnswer(certified, records[0], texts[0])
    passed, judged = all(verdict.passed for verdict in verdicts), all(verdict.judged for verdict in verdicts)
    whole = {"passed": passed, "judged": judged, "tables": records}
    head = f"{len(verdicts)} tables: {', '.join(_summary(verdict) for verdict in verdicts)}"
    return BandwidthAnswer(certified, whole, "\n\n".join([head, *texts]))


def _of_several(log: NcclLog, *options: Any) -> LogVerdict:
    """What is said of one table among others, of which none costs the others their answer."""
    try:
        return _verdict(log, *options)
    except LogError as error:
        return judge_unplaced(log._replace(collective=None, n=None), str(error))


def _verdict(
    log: NcclLog,
    place: LoggedMachine | None,
    gpus: int | None,
    collective: str | None,
    network: str | None,
    software: str | None,
) -> LogVerdict:
    if log.alone and not gpus and not (place and place.n):
        return judge_alone(log)
    n = gpus or (place.n if place else None)
    if place:
        return judge_log(log, place.node, n, collective, network, software, place.hosts)
    try:
        node = logged_node(log.gpu)
    except LogError as error:
        return judge_unplaced(log, f"{error}; {EXAMPLE}", collective, n)
    try:
        return judge_log(log, node, n, collective, network, software)
    except MachineError as error:
        return judge_unplaced(log, str(error), collective, n)


def _summary(verdict: LogVerdict) -> str:
    """A run in a few words."""
    kinds = [row.verdict for row in verdict.rows]
    counts = [f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)]
    return f"{verdict.collective or 'a collective'} on {_gpus(verdict)} ({', '.join(counts)})"


def _gpus(verdict: LogVerdict) -> str:
    return plural(verdict.n, "GPU") if verdict.n else "GPUs that nobody has counted"


def _record(verdict: LogVerdict) -> dict[str, Any]:
    record: dict[str, Any] = (
        {"passed": verdict.passed, "judged": verdict.judged} | verdict._asdict() | {"band": _finite(verdict.band)}
    )
    record["rows"] = [_row_record(row) for row in verdict.rows]
    record["causes"] = [cause._asdict() for cause in verdict.causes]
    return record


def _row_record(row: Any) -> dict[str, Any]:
    return {**row._asdict(), "share": row.share} | {
        name: _finite(value)
        for name, value in (
            ("band", row.band),
            ("share", row.share),
            ("expected_time", row.expected_time),
            ("expected_busbw", row.expected_busbw),
        )
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _held_against(verdict: LogVerdict) -> str:
    """What the rows are held against, in words."""
    if not verdict.chip:
        return "held against nothing"
    if not isfinite(verdict.band):
        return f"against the rates of the data sheet, for nothing was measured{_elsewhere(verdict)}: no row is judged"
    return f"against the model of NCCL (fitted to {verdict.source}: {verdict.holds}), within {verdict.band:.0%} of time"


def _elsewhere(verdict: LogVerdict) -> str:
    """The networks over which nodes of this chip were timed, if this one was not among them."""
    over = {name for chip, name in tree_constants() if chip == verdict.chip}
    if verdict.hosts < 2 or verdict.collective != "all_reduce" or not over or not verdict.network:
        return ""
    return f" like this (only full nodes over {' and '.join(sorted(over))})"


def _text(verdict: LogVerdict) -> str:
    chip = f" ({verdict.chip})" if verdict.chip else ""
    where = f"{_gpus(verdict)}{chip}" + (f" of {plural(verdict.hosts, 'node')}" if verdict.hosts else "")
    over = f" over {verdict.network}" if verdict.network else ""
    by = f" (ranks by {verdict.ranks_by})" if verdict.ranks_by else ""
    lines = [
        f"{verdict.collective or 'a collective'} on {where}{over}, {_held_against(verdict)}{by}",
        f"{'size':>10}{'time':>12}{'expected':>12}{'busbw':>14}{'expected':>14}  {'decided by':<11}verdict",
        *_row_lines(verdict.rows),
        "",
        *(f"- {cause.kind}: {cause.sentence}." for cause in verdict.causes),
    ]
    return "\n".join(lines)


def _row_lines(rows: Sequence[Any]) -> list[str]:
    lines = []
    for row in rows:
        verdict = row.verdict
        if verdict in ("slow", "unknown") and isfinite(row.share):
            verdict = f"{verdict}: {row.share:.0%} of the expected bandwidth"
        times = "".join(f"{_shown(t, 's'):>12}" for t in (row.time, row.expected_time))
        rates = "".join(f"{_shown(W, 'B/s'):>14}" for W in (row.busbw, row.expected_busbw))
        lines.append(f"{binary(row.S):>10}{times}{rates}  {row.regime:<11}{verdict}")
    return lines


def _shown(value: float, unit: str) -> str:
    return show(value, unit, 4) if isfinite(value) else "-"
