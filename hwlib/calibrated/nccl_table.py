"""The rows of nccl-tests' table, by the names in its header line, whatever a launcher has put before or into them.

Each line is read in words, in a time proportional to its length: a log is text that somebody else wrote.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import NamedTuple

__all__ = ["Header", "LogError", "LogRow", "TimedRows", "read_table", "words_of"]

MARK = re.compile(
    r"(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})?(?:\[[^\[\]\s]{1,300}\])?<std(?:out|err|diag)>:"
)
"""mpirun --tag-output and --timestamp-output: before each piece that is written, so within a row as well."""
BEFORE = ":>]|"  # what ends the mark before a line: srun's `0:`, a pod's `[name]`, a quotation's `>`, compose's `|`
TRAILER = re.compile(r"Out of bounds values ?: ?(\S+)(?: (\w+))?")
TYPES = {
    "int8", "uint8", "int32", "uint32", "int64", "uint64", "char", "int", "half", "float", "double", "bfloat16",
    "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2",
}  # fmt: skip
OPERATIONS = {"sum", "prod", "max", "min", "avg", "mulsum", "none"}
NUMBERS = ("time", "algbw", "busbw")
CHECKS = ("#wrong", "error")  # a number of wrong values; until 2022 the largest error instead
ERRORS = {"half": 1e-2, "bfloat16": 1e-2, "float": 1e-5, "double": 1e-12}
"""The error up to which nccl-tests called a result right, for each rank but one; of whole numbers none."""
ROUNDING = 0.05  # of a printed number, and of what a row's size, time and algbw may disagree
LEAST = 1.0  # GB/s: below it two decimals of a bandwidth are too coarse to divide by
MOST = 2.0**63  # the sizes of nccl-tests are signed integers of 64 bits, and its other numbers far below
DIGITS = 19  # of MOST


class LogError(ValueError):
    """Text that is no table of nccl-tests, or one that contradicts itself: says which line, and what was expected."""


class LogRow(NamedTuple):
    """One row, out of place: bytes, seconds, and S/t and the bus bandwidth as printed, in B/s.

    `wrong` is the larger figure of the two halves (wrong values, or the error of old tables), and `check` what becomes
    of it: "passed", "failed" (also where only the end of the log says so), or "none", as with -c 0.
    """

    S: int
    time: float
    algbw: float
    busbw: float
    wrong: float = 0.0
    check: str = "passed"
    redop: str = ""


class TimedRows(NamedTuple):
    """The rows in their order, and the numbers of the lines that begin like a row and cannot be read as one."""

    rows: tuple[LogRow, ...]
    unread: tuple[int, ...]


class Header(NamedTuple):
    """The columns between a row's type and its times, and those of each half (out of place, in place)."""

    lead: tuple[str, ...]
    halves: tuple[tuple[str, ...], ...]


class _Trailer(NamedTuple):
    failed: bool


class _Unread(NamedTuple):
    line: int


class _Half(NamedTuple):
    time: float
    algbw: float
    busbw: float
    wrong: float | None


class _CutError(Exception):
    """A line that begins like a row and is not one to its end."""


class _LayoutError(Exception):
    """A row that has other columns before its times."""


_HALF = (*NUMBERS, CHECKS[0])
WITHOUT_HEADER = tuple(Header(lead, (_HALF, _HALF)) for lead in (("redop", "root"), ("redop",)))


def words_of(line: str) -> list[str]:
    """The words of a line without the marks of mpirun.

    >>> words_of("[1,0]<stdout>:  8  2 float[1,0]<stdout>: sum")
    ['8', '2', 'float', 'sum']
    """
    return MARK.sub(" ", line).split()


def read_table(text: str, ranks: int = 2) -> TimedRows:
    """All rows of a text; a run whose end says FAILED and that shows no wrong value has failed as a whole.

    `ranks` is for the errors in tables of before 2022, which grow with it. Raises LogError for a row with a number
    that is not finite or not possible, or whose time and bandwidth contradict each other.
    """
    rows: list[LogRow] = []
    run: list[LogRow] = []
    unread = []
    for item in _items(text, ranks):
        if isinstance(item, LogRow):
            run.append(item)
        elif isinstance(item, _Unread):
            unread.append(item.line)
        elif item.failed and not run:  # several processes, each with a table and an end of its own
            rows = _failed(rows)
        else:
            rows += _failed(run) if item.failed else run
            run = []
    return TimedRows((*rows, *run), tuple(unread))


def _failed(run: list[LogRow]) -> list[LogRow]:
    """Rows of a failed run: those that show it, or all, because any may be the one."""
    return run if any(row.check == "failed" for row in run) else [row._replace(check="failed") for row in run]


def _items(text: str, ranks: int) -> Iterator[LogRow | _Trailer | _Unread]:
    header = None
    for number, line in enumerate(text.splitlines(), 1):
        words = words_of(line)
        if ended := TRAILER.search(" ".join(words)):
            yield _Trailer(ended[1].strip("0") != "" or ended[2] == "FAILED")
        elif columns := _header(words):
            header = columns
        else:
            yield from _rows(number, words, header, ranks)


def _header(words: Sequence[str]) -> Header | None:
    """The columns, if the line names them.

    >>> _header("# size count type root time algbw busbw error".split())
    Header(lead=('root',), halves=(('time', 'algbw', 'busbw', 'error'),))
    """
    if not {"size", "algbw", "busbw"}.issubset(words):
        return None
    names = ["time" if name == "cputime" else name for name in words[words.index("size") :] if name != "timestamp"]
    times = [place for place, name in enumerate(names) if name == "time"]
    if names[1:3] != ["count", "type"] or not times:
        return None
    halves = tuple(tuple(names[begin:end]) for begin, end in zip(times, [*times[1:], len(names)], strict=True))
    return Header(tuple(names[3 : times[0]]), halves) if all(map(set(NUMBERS).issubset, halves)) else None


def _rows(number: int, words: Sequence[str], header: Header | None, ranks: int) -> Iterator[LogRow | _Unread]:
    """The row of a line if there is one: behind whatever stands before it, two whole numbers and a type."""
    for place in range(len(words) - 2):
        kind = words[place + 2]
        if kind in OPERATIONS or not (kind.isidentifier() and kind[0].islower() and _whole(words[place + 1])):
            continue
        size = words[place][max(map(words[place].rfind, BEFORE)) + 1 :]
        if _whole(size):
            if any(word.startswith("#") or word.endswith("#") for word in words[:place]):
                return  # a row that somebody has commented out
            layouts = WITHOUT_HEADER if header is None else (header,)
            row = _row(number, [size, kind, *words[place + 3 :]], layouts, ranks)
            if row or header or kind in TYPES:
                yield row or _Unread(number)
            return


def _row(number: int, words: list[str], layouts: Iterable[Header], ranks: int) -> LogRow | None:
    """The row by the first layout that fits, None if it is cut. Raises LogError if the first that may fit refuses."""
    errors: list[Exception] = []
    for header in layouts:
        try:
            return _by(header, number, words, ranks, guessed=layouts is WITHOUT_HEADER)
        except _LayoutError:
            continue
        except (_CutError, LogError) as error:
            errors.append(error)
    if errors and isinstance(errors[0], LogError):
        raise errors[0]
    return None


def _by(header: Header, number: int, words: list[str], ranks: int, guessed: bool) -> LogRow:
    redop, values = _lead(header.lead, words[2:])
    halves: list[_Half | None] = []
    for names in header.halves:
        if halves and guessed and not (values and _like_a_number(values[0])):
            break  # one half, and words of somebody else
        halves.append(_half(number, dict(zip(names, values, strict=False)), names))
        values = values[len(names) :]
    if not any(halves):
        raise _CutError
    wrong = [half.wrong for half in halves if half and half.wrong is not None]
    counted = "#wrong" in header.halves[0] and (max(wrong, default=0.0) >= 1 or not guessed)
    bound = 0.0 if counted else ERRORS.get(words[1], 0.0) * (max(ranks, 2) - 1)
    check = "none" if not wrong else "failed" if max(wrong) > bound else "passed"
    half = next(filter(None, halves))
    size = _size(number, words[0], half)
    return LogRow(size, half.time * 1e-6, half.algbw * 1e9, half.busbw * 1e9, max(wrong, default=0.0), check, redop)


def _lead(names: tuple[str, ...], words: list[str]) -> tuple[str, list[str]]:
    """The operation, empty where it is not printed, and the words from the first time on."""
    redop = ""
    for name in names:
        if not words:
            raise _CutError
        if name == "redop":
            if not words[0].isidentifier():
                continue  # left blank by what reduces nothing
            redop = words[0]
        elif name == "root" and not _whole(words[0].removeprefix("-")):
            raise _LayoutError
        words = words[1:]
    return redop, words


def _half(number: int, words: dict[str, str], names: tuple[str, ...]) -> _Half | None:
    """The numbers of a half by the names of their columns; None where all are N/A."""
    if len(words) < len(names):
        raise _CutError
    check = next((name for name in names if name in CHECKS), None)
    if words["time"] == "N/A":
        return None
    wrong = None if check is None or words[check] == "N/A" else _number(number, check, words[check])
    time, algbw, busbw = (_number(number, name, words[name]) for name in NUMBERS)
    return _Half(time, algbw, busbw, wrong)


def _number(line: int, name: str, word: str) -> float:
    if not _like_a_number(word):
        raise _CutError
    value = float(word)
    if not (isfinite(value) and 0 <= value < MOST):
        raise LogError(f"line {line}: {name}: a number from 0 to below {MOST:.1e} was expected, got {word[:20]}")
    return value


def _size(line: int, word: str, half: _Half) -> int:
    """The bytes, if the half's time and bandwidth agree with them."""
    digits = word.lstrip("0") or "0"
    if len(digits) > DIGITS or int(digits) >= MOST:
        raise LogError(f"line {line}: size: fewer than 2^63 bytes were expected, got a number of {len(digits)} digits")
    size, time = int(digits), half.time * 1e-6
    if not size:
        if half.wrong:
            raise LogError(f"line {line}: #wrong: 0 was expected of 0 bytes, got {half.wrong:g}")
        return 0
    if not time > 0:
        raise LogError(f"line {line}: a time above 0 us was expected of {size} bytes, got {half.time:g}")
    rate = size / time * 1e-9
    if abs(rate - half.algbw) > ROUNDING * max(half.algbw, LEAST):
        raise LogError(
            f"line {line}: {size} bytes in {half.time:g} us are {rate:.2f} GB/s, and the algbw of this row is "
            f"{half.algbw:g}: is a column missing, or the time in another unit?"
        )
    return size


def _whole(word: str) -> bool:
    return word.isascii() and word.isdecimal()


def _like_a_number(word: str) -> bool:
    """Whether Python reads a number, nan and inf among them."""
    try:
        float(word)
    except ValueError:
        return False
    return word.isascii() and "_" not in word
