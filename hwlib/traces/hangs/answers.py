"""What a hanging job's files say, in words and as a record: the culprit, what it should have called, who waits where.

`answer` takes names and bytes, so that it runs in a page as well as in a terminal.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hwlib.pasted_text import without_container
from hwlib.traces.hangs.culprits import Blame, JobCalls, blame, job_calls, other_line
from hwlib.traces.hangs.dumps import PICKLE, FlightCall, FlightDump, load_dumps
from hwlib.traces.hangs.ras import RasProblem, RasReport, RasShare, is_ras, read_ras
from hwlib.traces.hangs.watchdog import read_watchdog, says
from hwlib.traces.hangs.watchdog_answer import ranks_listed, watchdog_answer
from hwlib.units import plural

__all__ = ["HangAnswer", "HangFiles", "answer"]

SHOWN = 12  # ranks and lines of the terminal's lists
DIFFERENCES = {"operation": "another operation", "size": "another size", "dtype": "elements of another type"}
AGAIN = (
    "a mismatch may be a snapshot of a running job: ask RAS again, and it is a hang if the counts do not move. "
    "RAS counts what was launched, not what has ended"
)


class HangAnswer(NamedTuple):
    """Whether something hangs, a record that JSON can hold, and the same in words."""

    hangs: bool
    record: dict[str, Any]
    text: str


class HangFiles:
    """A job's files, as they are added: dumps of the flight recorder, one a rank, reports of NCCL's RAS, or logs with
    lines of PyTorch's watchdog.
    """

    def __init__(self) -> None:
        self.dumps: dict[int, FlightDump] = {}
        self.reports: list[RasReport] = []
        self.logs: list[str] = []

    def add(self, name: str, content: bytes | str) -> None:
        """Read a file; `name` has its rank where the dump has none. Raises ValueError, which names it, for another."""
        try:
            self._read(name, content.encode("utf-8", "replace") if isinstance(content, str) else content)
        except ValueError as error:
            raise ValueError(f"{name}: {error}" if name else str(error)) from None

    def _read(self, name: str, data: bytes) -> None:
        if data[:1] != PICKLE:
            text = without_container(data.decode("utf-8-sig", "replace"))
            if is_ras(text):
                self.reports.append(read_ras(text))
                return
            if says(text):
                read_watchdog(text)
                self.logs.append(text)
                return
        for dump in load_dumps(data, name):
            if dump.rank in self.dumps:
                raise ValueError(f"a second dump of rank {dump.rank}")
            self.dumps[dump.rank] = dump

    def answer(self) -> HangAnswer:
        """Who hangs the job; raises ValueError for files of several kinds, or none."""
        kinds = [files for files in (self.dumps, self.reports, self.logs) if files]
        if len(kinds) > 1:
            raise ValueError("dumps, output of ncclras and lines of the watchdog: give one kind at a time")
        if self.logs:
            return HangAnswer(True, *watchdog_answer(read_watchdog("\n".join(self.logs))))
        if not kinds:
            raise ValueError(
                "no file: dumps of the flight recorder, output of ncclras or a log of the watchdog expected"
            )
        return _of_reports(self.reports) if self.reports else _of_dumps(self.dumps)


def answer(files: Mapping[str, bytes | str]) -> HangAnswer:
    """Who hangs a job, from the contents of its files by name, see `HangFiles`; raises ValueError."""
    job = HangFiles()
    for name, content in files.items():
        job.add(name, content)
    return job.answer()


def _of_dumps(dumps: Mapping[int, FlightDump]) -> HangAnswer:
    job = job_calls(dumps.values())
    blamed = blame(job)
    without = _without_dump(job)
    record: dict[str, Any] = {
        "kind": "flight recorder",
        "hangs": blamed is not None,
        "ranks": sorted(dumps),
        "without_dump": without,
        "versions": sorted({dump.version for dump in dumps.values()}),
        "reason": "none",
        "culprits": [],
    }
    if blamed is None:
        doubt = _doubt(dumps, without)
        record["reason"] = "unknown" if doubt else "none"
        return HangAnswer(False, record, "\n".join([_head(dumps, without), doubt or "No call is open: nothing hangs."]))
    record |= _blamed_record(job, blamed)
    return HangAnswer(True, record, "\n".join([_head(dumps, without), "", *_blamed_lines(job, blamed, without)]))


def _doubt(dumps: Mapping[int, FlightDump], without: Sequence[int]) -> str:
    """Why dumps without an open call do not show that nothing hangs; empty where they do."""
    if not any(dump.calls for dump in dumps.values()):
        return "There is no call in the dumps: whether something hangs, they do not show."
    if without:
        waiting = ranks_listed(without)
        return f"No call is open in the dumps that are here: what {waiting} waits for, if anything, is not known."
    return ""


def _without_dump(job: JobCalls) -> list[int]:
    """Ranks that are members of a group, or lie between those that have dumped, and have no dump."""
    known = {rank for dump in job.dumps.values() for group in dump.groups.values() for rank in group.ranks}
    return sorted(known - set(job.dumps))


def _reason(job: JobCalls, blamed: Blame) -> str:
    """Of a job of several ranks the dump of a single rank says only where that one waits."""
    lone = len(job.dumps) == 1 and len(blamed.met.group.ranks) != 1
    return "unknown" if lone and blamed.reason in ("missing", "circle") else blamed.reason


def _blamed_record(job: JobCalls, blamed: Blame) -> dict[str, Any]:
    met, reason = blamed.met, _reason(job, blamed)
    other = other_line(job) if reason == "circle" else None
    return {
        "reason": reason,
        "culprits": [] if reason == "unknown" else list(blamed.ranks),
        "suspects": list(other[1]) if other else [],
        "call": {
            "group": met.group.name,
            "description": met.group.description,
            "members": list(met.group.ranks),
            "number": met.number,
            "operation": blamed.usual.operation,
            "input_sizes": [list(size) for size in blamed.usual.input_sizes],
            "output_sizes": [list(size) for size in blamed.usual.output_sizes],
            "line": blamed.usual.line,
        },
        "entered": sorted(met.calls),
        "instead": {str(rank): _call_record(met.calls[rank]) for rank in blamed.ranks if rank in met.calls},
        "waits": {str(rank): _call_record(call) for rank, call in sorted(job.waits.items())},
        "last": {str(rank): _call_record(call) for rank in blamed.ranks if (call := _last(job, rank))},
    }


def _call_record(call: FlightCall) -> dict[str, Any]:
    return {
        "group": call.group.name,
        "number": call.number,
        "operation": call.operation,
        "state": call.state,
        "input_sizes": [list(size) for size in call.input_sizes],
        "output_sizes": [list(size) for size in call.output_sizes],
        "dtypes": [list(kinds) for kinds in call.dtypes],
        "line": call.line,
    }


def _last(job: JobCalls, rank: int) -> FlightCall | None:
    """The newest call of a rank."""
    dump = job.dumps.get(rank)
    return dump.calls[-1] if dump and dump.calls else None


def _head(dumps: Mapping[int, FlightDump], without: Sequence[int]) -> str:
    versions = ", ".join(sorted({dump.version or "unknown" for dump in dumps.values()}))
    calls = sum(len(dump.calls) for dump in dumps.values())
    line = f"Flight recorder, version {versions}: {ranks_listed(sorted(dumps))}, {plural(calls, 'call')}."
    if without:
        line += f"\nNo dump of {ranks_listed(without)}: it may have died, or its file was not collected."
    return line


def _title(call: FlightCall, number: int) -> str:
    return f"{call.operation} number {number} of group {call.group.shown}"


def _shape(call: FlightCall) -> str:
    sent, got = call.dtypes
    return f"{_sizes(call.input_sizes)} {'/'.join(sent)} to {_sizes(call.output_sizes)} {'/'.join(got)}".replace(
        "  ", " "
    )


def _sizes(sizes: Sequence[Sequence[int]]) -> str:
    shown = ["x".join(map(str, size)) or "a number" for size in sizes[:4]]
    return ", ".join(shown) + (", ..." if len(sizes) > 4 else "") or "nothing"


def _at(call: FlightCall) -> str:
    return f", at {call.line}" if call.line else ""


def _blamed_lines(job: JobCalls, blamed: Blame, without: Sequence[int]) -> Iterator[str]:
    met = blamed.met
    title = _title(blamed.usual, met.number)
    yield _sentence(job, blamed, title, without)
    yield f"  members: {ranks_listed(met.group.ranks)}; entered: {ranks_listed(sorted(met.calls))}"
    yield f"  called with: {_shape(blamed.usual)}{_at(blamed.usual)}"
    for rank in blamed.ranks[:SHOWN]:
        yield from _about(job, blamed, rank)
    yield from _waiting(job, blamed.ranks)


def _waiting(job: JobCalls, culprits: Sequence[int]) -> Iterator[str]:
    """The calls in which the other ranks wait, a line each."""
    together: dict[str, list[int]] = defaultdict(list)
    for rank, call in sorted(job.waits.items()):
        if rank not in culprits:
            together[f"{_title(call, call.number)} ({call.state}){_at(call)}"].append(rank)
    if together:
        yield "Who waits where:"
    for what, ranks in list(together.items())[:SHOWN]:
        yield f"  {ranks_listed(ranks)} in {what}"
    if len(together) > SHOWN:
        yield f"  and {len(together) - SHOWN:,} more calls"


def _sentence(job: JobCalls, blamed: Blame, title: str, without: Sequence[int]) -> str:
    reason, who = _reason(job, blamed), ranks_listed(blamed.ranks)
    who = who[0].upper() + who[1:]
    if reason == "unknown":
        return (
            f"One dump of a job of several: its rank waits in {title}. Give the dumps of all ranks to learn for whom."
        )
    if reason == "missing":
        silent = [rank for rank in blamed.ranks if rank in without]
        added = f" (no dump of {ranks_listed(silent)})" if silent else ""
        return f"{who} did not enter {title}, and the others wait{added}."
    if reason in DIFFERENCES:
        return f"{who} called {DIFFERENCES[reason]} than the others in {title}."
    if reason == "stuck":
        return (
            f"All members have entered {title}, with equal arguments, and it does not end: a link, a GPU or NCCL "
            "itself, not the order of calls. See dmesg for Xid errors, and `ncclras` for ranks that do not answer."
        )
    other = other_line(job)
    if other is None:
        return f"Every rank waits in some call, the first is {title}: nothing in the dumps tells whose order is wrong."
    suspects = ranks_listed(other[1])
    return (
        f"Every rank waits in some call. {suspects[0].upper()}{suspects[1:]} made number {other[0].number} of group "
        f"{other[0].group.shown} from another line than the others: a call was left out before, or added."
    )


def _about(job: JobCalls, blamed: Blame, rank: int) -> Iterator[str]:
    """What a culprit did."""
    own = blamed.met.calls.get(rank)
    if own:
        yield f"  rank {rank} called {own.operation}, {_shape(own)}{_at(own)}"
        return
    last = _last(job, rank)
    if last:
        yield f"  rank {rank}'s newest call is {_title(last, last.number)} ({last.state}){_at(last)}"
    elif rank in job.dumps:
        yield f"  rank {rank} has made no call"


def _of_reports(reports: Sequence[RasReport]) -> HangAnswer:
    problems = [problem for report in reports for problem in report.problems]
    culprits = sorted({rank.rank for problem in problems for rank in problem.culprits if rank.rank >= 0})
    versions = sorted({report.version for report in reports if report.version})
    record = {
        "kind": "RAS",
        "hangs": bool(problems),
        "versions": versions,
        "culprits": culprits,
        "problems": [_problem_record(problem) for problem in problems],
    }
    head = f"NCCL RAS{f', NCCL {chr(44).join(versions)}' if versions else ''}: "
    if not problems:
        return HangAnswer(False, record, head + "all communicators are OK.")
    lines = [head + f"{len(problems)} problem{'s' * (len(problems) > 1)}.", *map(_problem_line, problems)]
    if any(problem.kind == "MISMATCH" for problem in problems):
        lines.append(f"{AGAIN[0].upper()}{AGAIN[1:]}.")
    return HangAnswer(True, record, "\n".join(lines))


def _problem_record(problem: RasProblem) -> dict[str, Any]:
    culprits = [rank.rank for rank in problem.culprits]
    return {
        "kind": problem.kind,
        "communicator": problem.communicator,
        "subject": problem.subject,
        "culprits": culprits,
        "shares": [_share_record(share) for share in problem.shares],
    }


def _share_record(share: RasShare) -> dict[str, Any]:
    return {"value": share.value, "count": share.total, "ranks": [rank._asdict() for rank in share.ranks]}


def _problem_line(problem: RasProblem) -> str:
    where = f"communicator {problem.communicator}" if problem.communicator else "the job"
    listed = [rank.shown for rank in problem.culprits]
    who = ", ".join(listed[:SHOWN]) + (f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else "")
    if problem.kind != "MISMATCH":
        return f"  {problem.kind}, {where}: {who or 'RAS lists no rank'}"
    shares = "; ".join(_share_line(problem.subject, share.value, share.total) for share in problem.shares)
    blamed = f": {who}" if who else "; run `ncclras -v` to list the ranks"
    what = "different status" if problem.subject == "status" else f"behind in {problem.subject}"
    return f"  MISMATCH, {where}, {what}{blamed} ({shares})"


def _share_line(subject: str, value: str, count: int) -> str:
    return f"{count} with status {value}" if subject == "status" else f"{count} at operation {value}"
