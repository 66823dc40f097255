"""A log of nccl-tests as a whole: the rows of its table, and what its header and its end say of them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from hwlib.calibrated.nccl_files import as_tables
from hwlib.calibrated.nccl_ranks import ListedDevice, count_ranks, listed_devices, lone_processes, runs_apart
from hwlib.calibrated.nccl_table import (
    LEAST,
    LogError,
    LogRow,
    TimedRows,
    begins_row,
    names_columns,
    read_table,
    words_of,
)
from hwlib.units import plural

__all__ = ["LogError", "LogRow", "NcclLog", "read_log", "read_logs"]

TESTS = "all_reduce|all_gather|reduce_scatter|alltoallv|alltoall|sendrecv|broadcast|reduce|gather|scatter|hypercube"
NAMED = re.compile(rf"\b({TESTS})(?:_bias)?_perf\b")
RAN = re.compile(rf"\b({TESTS})(?:_bias)?_perf\s+-|Collective test starting: ({TESTS})(?:_bias)?_perf\b")
"""A command with options, or what the program says of itself: other names may be of a listing or a build."""
STARTS = re.compile(
    rf"\b(?:{TESTS})_perf\s+-|nThreads?:? \d{{1,9}} nGpus|Collective test starting|Using devices|tests version \S"
    r"|\bRank \d{1,9} [^\n]{0,200}?\bdevice \d{1,4} \["
)
"""What stands before a table and not behind its rows."""
ENDS = re.compile(
    r"Out of bounds values|Bitwise mismatches|Avg bus bandwidth|Collective test concluded|GPU memory usage"
)
COLLECTIVES = {"alltoall": "all_to_all", "alltoallv": "all_to_all", "sendrecv": "send", "hypercube": "all_gather"}
"""Tests that are named otherwise than what they do: a hypercube is how its test gathers."""
AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*(?P<busbw>\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?!\S)")
MOST_TABLES = 1000


class NcclLog(NamedTuple):
    """What a log says: its rows by size, and what its header tells (None or empty where it does not).

    `gpu` has every name of a GPU that the header has; `processes` are those of a single host; `unread` the numbers of
    lines that begin like a row and are cut. `ranks_by` says in words what the ranks are known by, `test` is the name
    of the program, `alone` how many processes ran it each as its only rank, and `apart` how many ran each a test of its
    own, with as many ranks as `n`.
    """

    rows: tuple[LogRow, ...]
    collective: str | None = None
    n: int | None = None
    hosts: int | None = None
    gpu: str = ""
    average: float | None = None
    text: str = ""
    unread: tuple[int, ...] = ()
    processes: int | None = None
    ranks_by: str = ""
    test: str = ""
    alone: int = 0
    apart: int = 1


def read_logs(text: str) -> tuple[NcclLog, ...]:
    """The runs of a text in their order, each with its own table: several tests one after another, or a file of
    nccl-tests -J or rccl-tests -Z. A run that has only cut rows counts as unread of the one before. Raises LogError as
    `read_log` does, with the numbers of lines of the whole text.
    """
    lines = as_tables(text).splitlines()
    starts = _starts(lines)
    if len(starts) <= 1:
        return (read_log("\n".join(lines)),)
    parts = ["\n" * begin + "\n".join(lines[begin:end]) for begin, end in zip(starts, [*starts[1:], None], strict=True)]
    return tuple(map(read_log, parts))


def _starts(lines: Sequence[str]) -> list[int]:
    """Where runs begin: behind the end of the one before, or where something that stands before a table follows rows;
    rows alone that follow an end are another process's.
    """
    starts, timed, behind = [0], False, None
    for i, line in enumerate(lines):
        words = words_of(line)
        plain = " ".join(words)
        if begins_row(words):
            timed, behind = True, None
        elif timed and ENDS.search(plain):
            behind = i + 1
        elif timed and len(starts) < MOST_TABLES and (STARTS.search(plain) or names_columns(words)):
            starts.append(i if behind is None else behind)
            timed, behind = False, None
    if not timed and len(starts) > 1:
        starts.pop()  # words about the run before, and no table
    return starts


def read_log(text: str) -> NcclLog:
    """Read the output of all_reduce_perf and its like, whatever a launcher has put into its lines.

    The collective is named by the command or by nccl-tests, or else told by the two bandwidths and the operation; the
    ranks by NCCL's own lines, by the list of devices, by the two bandwidths or by the command. Of several runs in one
    text only one collective is read, see `read_logs`. Raises LogError for a text without rows, for a row that is not
    possible or contradicts itself, and for several collectives.

    >>> log = read_log("1073741824 268435456 float sum -1 3859.0 278.24 486.92 0")
    >>> log.collective, log.n, log.ranks_by, round(log.rows[0].busbw/1e9)
    ('all_reduce', 8, 'the two bandwidths', 487)
    """
    text = as_tables(text)
    lines = [" ".join(words) for words in map(words_of, text.splitlines()) if words]
    devices = listed_devices(lines)
    table = read_table(text, len({device.rank for device in devices}) or 2)
    if not table.rows:
        raise LogError(_without_rows(lines, table))
    rows = tuple(sorted(table.rows, key=lambda row: row.S))
    test = _test_of(text)
    collective = COLLECTIVES.get(test, test) or _by_bandwidths(rows)
    average = AVERAGE.search(text)
    ranks = count_ranks(devices, rows, "\n".join(lines), collective)
    alone = lone_processes(devices, rows)
    return NcclLog(
        rows,
        collective,
        1 if alone else ranks.n,
        ranks.hosts,
        " and ".join(sorted({device.gpu for device in devices})),
        float(average["busbw"]) * 1e9 if average else None,
        text,
        table.unread,
        _processes(devices) if ranks.hosts == 1 else None,
        ranks.source,
        test,
        alone,
        runs_apart(devices),
    )


def _test_of(text: str) -> str:
    """The test that a text is of, empty where none is named. Raises LogError where it names several alike."""
    tests = set(NAMED.findall(text))
    if len(tests) > 1:
        ran = {command or started for command, started in RAN.findall(text)}
        tests = ran if len(ran) == 1 else tests
    if len(tests) > 1:
        raise LogError(f"one collective was expected, got several: {', '.join(sorted(tests))}; give one log at a time")
    return tests.pop() if tests else ""


def _processes(devices: Sequence[ListedDevice]) -> int | None:
    """The processes of a host, if it lists several devices: a single device is one process anyhow."""
    numbers = {device.process for device in devices if device.process}
    return len(numbers) if len(devices) > 1 and numbers else None


def _without_rows(lines: list[str], table: TimedRows) -> str:
    if table.unread:
        got = f"only rows that are cut, the first in line {table.unread[0]}"
    elif lines:
        got = f"{plural(len(lines), 'line')} without one, the first: {lines[0][:60]!r}"
    else:
        got = "an empty text"
    return (
        "no row of nccl-tests' table: size, count, type, redop, root, time (us), algbw, busbw (GB/s) and #wrong "
        f"were expected in a line, got {got}"
    )


def _by_bandwidths(rows: tuple[LogRow, ...]) -> str | None:
    """An all-reduce multiplies by 1 (two ranks) or more; what gathers and scatters by less than 1. Only a reduce has
    a root and an operation; messages and exchanges between all are not checked in place, and may print an operation.
    """
    if any(row.half_checked for row in rows):
        return None
    if any(row.root is not None and row.redop not in ("", "none") for row in rows):
        return "reduce"
    best = max(rows, key=lambda row: row.algbw)
    if not best.algbw > LEAST * 1e9 or all(row.redop in ("", "none") for row in rows):
        return None
    return "all_reduce" if best.busbw >= best.algbw else "reduce_scatter"
