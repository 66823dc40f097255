"""A log of nccl-tests as a whole: the rows of its table, and what its header and its end say of them."""

import re
from typing import NamedTuple

from hwlib.calibrated.nccl_table import LEAST, LogError, LogRow, TimedRows, read_table, words_of
from hwlib.collectives import bus_factor

__all__ = ["LogError", "LogRow", "NcclLog", "read_log"]

DEVICE = re.compile(r"#\s*Rank (?P<rank>\d+)\b.*?\bon (?P<host>\S+) device \d+ \[[^\[\]]{0,64}\] ?(?P<gpu>.*)")
NAMED = re.compile(r"\b(all_reduce|all_gather|reduce_scatter|alltoall|sendrecv|broadcast|reduce)_perf\b")
COLLECTIVES = {"alltoall": "all_to_all"}
PROCESS = re.compile(r"\bPid (\d+)\b")
AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*(?P<busbw>\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?!\S)")


class NcclLog(NamedTuple):
    """What a log says: its rows by size, and what its header tells (None or empty where it does not).

    `gpu` has every name of a GPU that the header has; `processes` are those of a single host; `unread` the numbers of
    lines that begin like a row and are cut.
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


def read_log(text: str) -> NcclLog:
    """Read the output of all_reduce_perf and its like, whatever a launcher has put into its lines.

    The collective is named by the command or by nccl-tests, or else told by the two bandwidths and the operation; the
    ranks by the list of devices, or else by the two bandwidths of an all-reduce. Of several runs in one text only one
    collective is read. Raises LogError for a text without rows, for a row that is not possible or contradicts itself,
    and for several collectives.

    >>> log = read_log("1073741824 268435456 float sum -1 3859.0 278.24 486.92 0")
    >>> log.collective, log.n, round(log.rows[0].busbw/1e9)
    ('all_reduce', 8, 487)
    """
    lines = [" ".join(words) for words in map(words_of, text.splitlines()) if words]
    devices = [match for line in lines if (match := DEVICE.match(line, max(line.find("#"), 0)))]
    n = len({match["rank"] for match in devices}) or None
    table = read_table(text, n or 2)
    if not table.rows:
        raise LogError(_without_rows(lines, table))
    rows = tuple(sorted(table.rows, key=lambda row: row.S))
    named = {COLLECTIVES.get(name, name) for name in NAMED.findall(text)}
    if len(named) > 1:
        raise LogError(f"one collective was expected, got several: {', '.join(sorted(named))}; give one log at a time")
    collective = named.pop() if named else _by_bandwidths(rows)
    average = AVERAGE.search(text)
    hosts = len({match["host"] for match in devices}) or None
    return NcclLog(
        rows,
        collective,
        n or (_ranks(rows) if collective == "all_reduce" else None),
        hosts,
        " and ".join(sorted({match["gpu"] for match in devices})),
        float(average["busbw"]) * 1e9 if average else None,
        text,
        table.unread,
        _processes([match[0] for match in devices]) if hosts == 1 else None,
    )


def _processes(devices: list[str]) -> int | None:
    """The processes of a host, if it lists several devices: a single device is one process anyhow."""
    numbers = {match[1] for line in devices if (match := PROCESS.search(line))}
    return len(numbers) if len(devices) > 1 and numbers else None


def _without_rows(lines: list[str], table: TimedRows) -> str:
    if table.unread:
        got = f"only rows that are cut, the first in line {table.unread[0]}"
    elif lines:
        got = f"{len(lines)} lines without one, the first: {lines[0][:60]!r}"
    else:
        got = "an empty text"
    return (
        "no row of nccl-tests' table: size, count, type, redop, root, time (us), algbw, busbw (GB/s) and #wrong "
        f"were expected in a line, got {got}"
    )


def _ratio(rows: tuple[LogRow, ...]) -> float | None:
    """busbw over algbw, of the row where both have most digits; None if none has enough."""
    best = max(rows, key=lambda row: row.algbw)
    return best.busbw / best.algbw if best.algbw > LEAST * 1e9 else None


def _by_bandwidths(rows: tuple[LogRow, ...]) -> str | None:
    """An all-reduce multiplies by 1 (two ranks) or more; what gathers and scatters by less than 1."""
    ratio = _ratio(rows)
    if ratio is None or all(row.redop in ("", "none") for row in rows):
        return None
    return "all_reduce" if ratio >= 1 else "reduce_scatter"


def _ranks(rows: tuple[LogRow, ...]) -> int | None:
    """From 2(n - 1)/n, where it is far enough from its limit to tell n: up to some 40 ranks."""
    ratio = _ratio(rows)
    n = round(2 / (2 - ratio)) if ratio is not None and ratio < 1.96 else 0
    return n if n >= 2 and ratio and abs(bus_factor("all_reduce", n) - ratio) < 0.002 else None
