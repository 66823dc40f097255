"""NCCL's RAS report (`ncclras`), as text or JSON: which ranks of which communicator are behind, missing or in error.

Lines as NCCL 2.24 to 2.30 print them; source: the user's guide and src/ras/client_support.cc of NVIDIA/nccl, 2026-06.
RAS counts the calls that each rank has launched, by operation since 2.26. It lists the ranks of a count if they are few
(at most a quarter, or under a half with `-v`), and otherwise only says how many they are.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["RasProblem", "RasRank", "RasReport", "RasShare", "is_ras", "read_ras"]

SECTION = re.compile(r"(?:#(\d+-\d+) \(([0-9a-fA-F]{1,16})\) )?(INCOMPLETE|ERROR|MISMATCH|DEAD|TIMEOUT)")
VERSION = re.compile(r"NCCL version (\S{1,40})")
SUBJECT = re.compile(
    r"Communicator ranks have different (?:(\w{1,40}) operation counts|(collective) operation counts|(status))"
)
VALUES = (
    r"launched up to operation (\d{1,19})",
    r"(not) launched any operations",
    r"status (\w{1,20})",
)
SHARE = re.compile(rf"(\d{{1,9}}) ranks (?:have (?:{'|'.join(VALUES)})|reported (.{{1,80}}))")
RANK = re.compile(rf"Rank (\d{{1,9}})(?: has (?:{'|'.join(VALUES)})| reported ([^-]{{1,80}}?))? -- (.{{1,200}})")
PLACE = re.compile(r"GPU (.{1,40}?) managed by process (\d{1,9}) on node (\S{1,100})")
PROCESS = re.compile(r"Process (\d{1,9}) on node (\S{1,100}) managing GPUs? (.{1,60})")
MISSING = re.compile(r"The missing ranks?: ?(.*)")
LINES = 200_000
MARKS = ("RAS network", "Communicators...", "Job summary", "Communicator ranks have different", "Missing communicator")
STATES = {0: "RUNNING", 7: "INIT"}


class RasRank(NamedTuple):
    """A rank of a communicator, and where it runs, as far as RAS knows; rank -1 is a process without its rank."""

    rank: int
    gpu: str = ""
    process: int = -1
    node: str = ""

    @property
    def shown(self) -> str:
        """In words."""
        place = f" on {self.node}" if self.node else ""
        process = f", process {self.process}" if self.process >= 0 else ""
        gpu = f" (GPU {self.gpu}{process}{place})" if self.gpu else ""
        return (f"rank {self.rank}" if self.rank >= 0 else "a process") + gpu


class RasShare(NamedTuple):
    """How many ranks have one value: the number of their last operation, a status or an error; `ranks` if listed."""

    value: str
    total: int
    ranks: tuple[RasRank, ...]


class RasProblem(NamedTuple):
    """What RAS says of one communicator ("" for the job): its kind, what differs ("AllReduce", "status"), how."""

    kind: str
    communicator: str
    subject: str
    shares: tuple[RasShare, ...]

    @property
    def culprits(self) -> tuple[RasRank, ...]:
        """The ranks that are missing, in error, of a rarer status or have launched fewest calls, if they are listed."""
        if self.kind in ("INCOMPLETE", "DEAD", "ERROR"):
            return tuple(rank for share in self.shares for rank in share.ranks)
        if len(self.shares) < 2:
            return ()
        if self.subject == "status":
            return min(self.shares, key=lambda share: share.total).ranks
        return min(self.shares, key=lambda share: int(share.value)).ranks


class RasReport(NamedTuple):
    """A report: NCCL's version and the problems, errors first; none if all communicators are OK."""

    version: str
    problems: tuple[RasProblem, ...]


def is_ras(text: str) -> bool:
    """Whether a text looks like RAS output: its own headings, or JSON with communicators."""
    head = text[:20_000]
    return any(mark in head for mark in MARKS) or ('"communicators"' in head and '"nccl_version"' in head)


def read_ras(text: str) -> RasReport:
    """Read what `ncclras` printed, as text or with `-f json`; raises ValueError for anything else."""
    if text.lstrip()[:1] == "{":
        return _of_json(text)
    if not is_ras(text):
        raise ValueError("output of ncclras was expected: a job summary, or its Errors and Warnings")
    version = VERSION.search(text)
    lines = (line[:400].strip() for line in text.splitlines()[:LINES])
    return RasReport(version[1] if version else "", tuple(_problems(lines)))


class _Open:
    """A problem as its lines come in."""

    def __init__(self, kind: str, communicator: str):
        self.kind, self.communicator, self.subject = kind, communicator, ""
        self.shares: list[tuple[str, int, list[RasRank]]] = []

    def share(self, value: str, count: int) -> None:
        self.shares.append((value, count, []))

    def rank(self, value: str, rank: RasRank) -> None:
        """Under the value that its line has, else that of the share before."""
        if value or not self.shares:
            self.share(value, 1)
        self.shares[-1][2].append(rank)

    def done(self) -> RasProblem:
        shares = (RasShare(value, max(count, len(ranks)), tuple(ranks)) for value, count, ranks in self.shares)
        return RasProblem(self.kind, self.communicator, self.subject, tuple(shares))


def _problems(lines: Iterable[str]) -> Iterator[RasProblem]:
    problem: _Open | None = None
    for line in lines:
        if section := SECTION.fullmatch(line):
            if problem and (problem.shares or not problem.subject):
                yield problem.done()
            problem = _Open(section[3], f"#{section[1]} ({section[2]})" if section[1] else "")
        elif problem and (subject := SUBJECT.match(line)):
            if problem.shares:
                yield problem.done()
            problem = _Open(problem.kind, problem.communicator)
            problem.subject = subject[1] or subject[2] or subject[3]
        elif problem:
            _read(problem, line)
    if problem:
        yield problem.done()


def _read(problem: _Open, line: str) -> None:
    if share := SHARE.match(line):
        problem.share(_value(share.groups()[1:]), int(share[1]))
    elif rank := RANK.match(line):
        problem.rank(_value(rank.groups()[1:5]), _placed(int(rank[1]), rank[6]))
    elif process := PROCESS.match(line):
        problem.rank("", RasRank(-1, process[3], int(process[1]), process[2]))
    elif missing := MISSING.match(line):
        for number in re.findall(r"\d{1,9}", missing[1]):
            problem.rank("", RasRank(int(number)))


def _value(groups: Iterable[str | None]) -> str:
    number, none, status, error = groups
    return "0" if none else number or status or error or ""


def _placed(rank: int, text: str) -> RasRank:
    place = PLACE.match(text)
    return RasRank(rank, place[1], int(place[2]), place[3]) if place else RasRank(rank)


def _of_json(text: str) -> RasReport:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"JSON of ncclras was expected: {str(error)[:200]}") from None
    rows = value.get("communicators") if isinstance(value, Mapping) else None
    if not isinstance(rows, list):
        raise ValueError("JSON of ncclras has a list `communicators`")
    problems = [problem for row in rows if isinstance(row, Mapping) for problem in _of_communicator(row)]
    return RasReport(str(value.get("nccl_version", ""))[:40], tuple(problems))


def _of_communicator(row: Mapping[str, Any]) -> Iterator[RasProblem]:
    name = str(row.get("hash", ""))[:20]
    missing = [_rank_of(rank) for rank in _maps(row.get("missing_ranks"))]
    if missing:
        yield RasProblem("INCOMPLETE", name, "", (RasShare("", len(missing), tuple(missing)),))
    counts: dict[str, dict[int, list[RasRank]]] = defaultdict(lambda: defaultdict(list))
    states: dict[str, list[RasRank]] = defaultdict(list)
    errors: dict[str, list[RasRank]] = defaultdict(list)
    for rank in _maps(row.get("ranks")):
        states[_state(rank)].append(_rank_of(rank))
        if error := _error(rank):
            errors[error].append(_rank_of(rank))
        for operation, count in _map(rank.get("collective_counts")).items():
            counts[str(operation)[:40]][_whole(count)].append(_rank_of(rank))
    yield from _grouped("ERROR", name, "error", errors, 1)
    yield from _grouped("MISMATCH", name, "status", states, 2)
    for operation, by_count in counts.items():
        yield from _grouped("MISMATCH", name, operation, by_count, 2)


def _grouped(
    kind: str, name: str, subject: str, ranks: Mapping[Any, list[RasRank]], least: int
) -> Iterator[RasProblem]:
    if len(ranks) >= least:
        shares = (RasShare(str(value), len(own), tuple(own)) for value, own in ranks.items())
        yield RasProblem(kind, name, subject, tuple(sorted(shares, key=lambda share: -share.total)))


def _state(rank: Mapping[str, Any]) -> str:
    status = _map(rank.get("status"))
    if status.get("abort_flag") is True:
        return "ABORT"
    if status.get("finalize_called") is True or status.get("destroy_flag") is True:
        return "FINALIZE"
    return STATES.get(_whole(status.get("init_state", 0)), "INIT")


def _error(rank: Mapping[str, Any]) -> str:
    status = _map(rank.get("status"))
    number = _whole(status.get("async_error", 0))
    return f"asynchronous error {number}" if number not in (0, 7) else ""


def _rank_of(rank: Mapping[str, Any]) -> RasRank:
    gpu, host = str(rank.get("cuda_dev", ""))[:20], str(rank.get("host", ""))[:100]
    return RasRank(_whole(rank.get("rank", -1)), gpu, _whole(rank.get("pid", -1)), host)


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else 0
