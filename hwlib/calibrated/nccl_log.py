"""The table that nccl-tests prints, read from a log: sizes, times and the two bandwidths of each row."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hwlib.collectives import bus_factor

__all__ = ["LogError", "LogRow", "NcclLog", "read_log"]

NUMBER = r"(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?)"
ROW = re.compile(
    rf"^(?:\S*[:>\]]\s*)*\s*(?P<size>\d+)\s+(?P<count>\d+)\s+(?P<type>[a-z]\w*)\s+(?:(?P<redop>[a-z]\w*)\s+)?"
    rf"(?:(?P<root>-?\d+)\s+)?(?P<time>{NUMBER})\s+(?P<algbw>{NUMBER})\s+(?P<busbw>{NUMBER})\s+(?P<wrong>{NUMBER}|N/A)"
    rf"(?:\s|$)"
)
DEVICE = re.compile(r"#\s*Rank\s+(?P<rank>\d+)\b.*?\bon\s+(?P<host>\S+)\s+device\s+\d+\s+\[[^\]]*\]\s*(?P<gpu>.*)")
NAMED = re.compile(r"\b(all_reduce|all_gather|reduce_scatter|alltoall|sendrecv|broadcast|reduce)_perf\b")
COLLECTIVES = {"alltoall": "all_to_all"}
AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*(?P<busbw>[\d.]+)")
ROUNDING = 0.05  # of a small printed number, and of what a row's two bandwidths may disagree
LEAST = 1.0  # GB/s: below it two decimals of a bandwidth are too coarse to divide by


class LogError(ValueError):
    """Text that is no table of nccl-tests, or one that contradicts itself: says which line, and what was expected."""


class LogRow(NamedTuple):
    """One row, out of place: bytes, seconds, and S/t and the bus bandwidth as printed, in B/s."""

    S: int
    time: float
    algbw: float
    busbw: float
    wrong: float = 0.0


class NcclLog(NamedTuple):
    """What a log says: its rows by size, and what its header tells (None or empty where it does not)."""

    rows: tuple[LogRow, ...]
    collective: str | None = None
    n: int | None = None
    hosts: int | None = None
    gpu: str = ""
    average: float | None = None
    text: str = ""


def read_log(text: str) -> NcclLog:
    """Read the output of all_reduce_perf and its like, whatever a launcher has put in front of its lines.

    The collective is named by the command or by nccl-tests, or else told by the two bandwidths and the operation; the
    ranks by the list of devices, or else by the two bandwidths of an all-reduce. Of several runs in one text only one
    collective is read. Raises LogError for a text without rows, for a row whose time and bandwidth contradict each
    other, and for several collectives.

    >>> log = read_log("1073741824 268435456 float sum -1 3859.0 278.24 486.92 0")
    >>> log.collective, log.n, round(log.rows[0].busbw/1e9)
    ('all_reduce', 8, 487)
    """
    found = [(number, match) for number, line in enumerate(text.splitlines(), 1) for match in _rows(line)]
    if not found:
        lines = [line for line in text.splitlines() if line.strip()]
        got = f"{len(lines)} lines without one, the first: {lines[0].strip()[:60]!r}" if lines else "an empty text"
        raise LogError(
            "no row of nccl-tests' table: size, count, type, redop, root, time (us), algbw, busbw (GB/s) and #wrong "
            f"were expected in a line, got {got}"
        )
    rows = tuple(sorted((_row(number, match) for number, match in found), key=lambda row: row.S))
    named = {COLLECTIVES.get(name, name) for name in NAMED.findall(text)}
    if len(named) > 1:
        raise LogError(f"one collective was expected, got several: {', '.join(sorted(named))}; give one log at a time")
    devices = [match for line in text.splitlines() if (match := DEVICE.search(line))]
    reduces = any(match["redop"] not in (None, "none") for _, match in found)
    n = len({match["rank"] for match in devices}) or None
    collective = named.pop() if named else _told(rows, reduces)
    average = AVERAGE.search(text)
    return NcclLog(
        rows,
        collective,
        n or (_ranks(rows) if collective == "all_reduce" else None),
        len({match["host"] for match in devices}) or None,
        devices[0]["gpu"].strip() if devices else "",
        float(average["busbw"]) * 1e9 if average else None,
        text,
    )


def _rows(line: str) -> Iterator[re.Match[str]]:
    if not line.lstrip().startswith("#") and (match := ROW.match(line)):
        yield match


def _row(number: int, match: re.Match[str]) -> LogRow:
    size, time = int(match["size"]), float(match["time"]) * 1e-6
    algbw, busbw = float(match["algbw"]), float(match["busbw"])
    if size and not time > 0:
        raise LogError(f"line {number}: a time above 0 us was expected of {size} bytes, got {match['time']}")
    if algbw > LEAST and abs(size / time / (algbw * 1e9) - 1) > ROUNDING:
        raise LogError(
            f"line {number}: {size} bytes in {match['time']} us are {size / time / 1e9:.2f} GB/s, and the algbw of "
            "this "
            f"row is {match['algbw']}: is a column missing, or the time in another unit?"
        )
    return LogRow(size, time, algbw * 1e9, busbw * 1e9, 0.0 if match["wrong"] == "N/A" else float(match["wrong"]))


def _largest(rows: tuple[LogRow, ...]) -> float:
    """busbw over algbw, of the row where both have most digits; 1 if none has enough."""
    best = max(rows, key=lambda row: row.algbw)
    return best.busbw / best.algbw if best.algbw > LEAST * 1e9 else 1.0


def _told(rows: tuple[LogRow, ...], reduces: bool) -> str | None:
    """An all-reduce multiplies by 1 (two ranks) or more; what gathers and scatters by less than 1."""
    ratio = _largest(rows)
    if reduces:
        return "all_reduce" if ratio >= 1 else "reduce_scatter"
    return None


def _ranks(rows: tuple[LogRow, ...]) -> int | None:
    """From 2(n - 1)/n, where it is far enough from its limit to tell n: up to some 40 ranks."""
    ratio = _largest(rows)
    n = round(2 / (2 - ratio)) if ratio < 1.96 else 0
    return n if n >= 2 and abs(bus_factor("all_reduce", n) - ratio) < 0.002 else None
