"""The rows of nccl-tests' table, by the names in its header line, whatever a launcher has put before or into them.

Each line is read in words, in a time proportional to its length: a log is text that somebody else wrote.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile, takewhile
from math import isfinite
from typing import NamedTuple

__all__ = [
    "Header",
    "LogError",
    "LogRow",
    "MachineError",
    "TimedRows",
    "begins_row",
    "binary",
    "names_columns",
    "read_table",
    "words_of",
]

MARK = re.compile(
    r"(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})?(?:\[[^\[\]\s]{1,300}\])?<std(?:out|err|diag)>:"
    r"|\[(?:rank|default)?\d{1,9}\]:?|\x1b\[[0-9;]{0,30}[A-Za-z]"
)
"""mpirun --tag-output and --timestamp-output: before each piece that is written, so within a row as well; torchrun's
`[rank0]:` and `[default0]:`, and `[0]` of other launchers; and the colours of a terminal."""
BEFORE = ":>]|"  # what ends the mark before a line: srun's `0:`, a pod's `[name]`, a quotation's `>`, compose's `|`
TRAILER = re.compile(r"Out of bounds values ?: ?(\S+)(?: (\w+))?")
TYPES = {
    "int8", "uint8", "int32", "uint32", "int64", "uint64", "char", "int", "half", "float", "double", "bfloat16",
    "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2",
}  # fmt: skip
OPERATIONS = {"sum", "prod", "max", "min", "avg", "mulsum", "none"}
NUMBERS = ("time", "algbw", "busbw")
CHECKS = ("#wrong", "error")  # a number of wrong values; until 2022 the largest error instead
BITS = "#bitdiff"  # values that differ from a first run of the same call, bit by bit
FIRST_NAMES = {"bytes": "size", "N": "count", "op": "redop", "res": "error"}
"""The columns of nccl-tests 1.0 (2017) by their later names; its times are in milliseconds."""
NAMES = {"cputime": "time", **FIRST_NAMES}
ACROSS = 200  # lines that others may write between two pieces of a row
GLUED = re.compile(r"-1|N/A|0(?![.\d])|[1-9]\d{0,18}(?=[a-zA-Z#\[])")
"""A root or a number of wrong values, behind which another program's line begins without a space."""
WIDEST = 64  # words of a row, and more than any has
PIECE = 3  # numbers at least, with which a row goes on
NEAR_SHARE = 0.02  # of (n - 1)/n for some n
ERRORS = {"half": 1e-2, "bfloat16": 1e-2, "float": 1e-5, "double": 1e-12}
"""The error up to which nccl-tests called a result right, for each rank but one; of whole numbers none."""
ROUNDING = 0.05  # of a printed number, and of what a row's size, time and algbw may disagree
LEAST = 1.0  # GB/s: below it two decimals of a bandwidth are too coarse to divide by
MOST = 2.0**63  # the sizes of nccl-tests are signed integers of 64 bits, and its other numbers far below
DIGITS = 19  # of MOST


class LogError(ValueError):
    """Text that is no table of nccl-tests, or one that contradicts itself: says which line, and what was expected."""


class MachineError(LogError):
    """A log of a machine that is not known as it is used there: says what was expected."""


class LogRow(NamedTuple):
    """One row, out of place: bytes, seconds, and S/t and the bus bandwidth as printed, in B/s (S/t is computed where
    the table has only what crosses a port, as for gathers until 2020).

    `wrong` is the larger figure of the two halves (wrong values, or the error of old tables), and `check` what becomes
    of it: "passed", "failed" (also where only the end of the log says so), or "none", as with -c 0. `bits` is how many
    values differ from run to run; without `counted`, `wrong` is an error that the log's end knows the bound of.
    `root` is the rank that sends or receives all, None without one; `half_checked` is for results that are checked out
    of place alone, as of messages and of exchanges between all.
    """

    S: int
    time: float
    algbw: float
    busbw: float
    wrong: float = 0.0
    check: str = "passed"
    redop: str = ""
    bits: float = 0.0
    counted: bool = True
    root: int | None = None
    half_checked: bool = False


class TimedRows(NamedTuple):
    """The rows in their order, and the numbers of the lines that begin like a row and cannot be read as one."""

    rows: tuple[LogRow, ...]
    unread: tuple[int, ...]


class Header(NamedTuple):
    """The columns between a row's type and its times, and those of each half (out of place, in place); the seconds of
    a printed time.
    """

    lead: tuple[str, ...]
    halves: tuple[tuple[str, ...], ...]
    unit: float = 1e-6

    @property
    def old(self) -> bool:
        """Whether the errors of results are printed, as until 2022, and not how many are wrong."""
        return CHECKS[1] in self.halves[0]


class _Trailer(NamedTuple):
    failed: bool


class _Unread(NamedTuple):
    line: int


class _Open(NamedTuple):
    """A row that stops before its end: what is there of it, and how many lines ago it was; of later lines only such
    with its last columns belong to it.
    """

    line: int
    words: list[str]
    ago: int = 0


class _Half(NamedTuple):
    time: float
    algbw: float
    busbw: float
    wrong: float | None
    bits: float = 0.0
    starred: bool = False


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


def binary(S: float) -> str:
    """A size in the unit in which benchmarks step: 32768 as 32 KiB; in bytes where it is no multiple of one.

    >>> [binary(S) for S in (1000, 1536, 2**33)]
    ['1000 B', '1.5 KiB', '8 GiB']
    """
    for name, unit in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if unit <= S and (S / unit * 64).is_integer():
            return f"{S / unit:g} {name}"
    return f"{S:.0f} B"


def begins_row(words: Sequence[str]) -> bool:
    """Whether a row begins among the words of a line."""
    place = _begins(words)
    return place is not None and not any(word.startswith("#") for word in words[:place])


def names_columns(words: Sequence[str]) -> bool:
    """Whether the words of a line are names of columns."""
    return _header(words) is not None


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
            rows += _failed(run) if item.failed else map(_passed, run)
            run = []
    return TimedRows((*rows, *run), tuple(unread))


def _failed(run: list[LogRow]) -> list[LogRow]:
    """Rows of a failed run: those that show it, or all, because any may be the one."""
    return run if any(row.check == "failed" for row in run) else [row._replace(check="failed") for row in run]


def _passed(row: LogRow) -> LogRow:
    """A row of a run that ended well: the program knows which errors its operations make, whatever we take for one."""
    return row if row.counted or row.check != "failed" else row._replace(check="passed")


def _items(text: str, ranks: int) -> Iterator[LogRow | _Trailer | _Unread]:
    """Rows, cut rows and ends in their order; what a row lacks may follow in a later line, behind lines of others."""
    header, open_row = None, None
    read = _RowReader(ranks, "hypercube_perf" in text)
    for number, line in enumerate(text.splitlines(), 1):
        words = words_of(line)
        item = _end(words) or _header(words) or read.row(number, words, header)
        if isinstance(item, Header):
            header = item
        if open_row:
            item, open_row = read.joined(open_row, words, header) if item is None else (item, _Unread(open_row.line))
        if isinstance(open_row, _Unread):
            yield open_row
            open_row = None
        if isinstance(item, _Open):
            open_row = item
        elif item and not isinstance(item, Header):
            yield item
    if open_row:
        yield _Unread(open_row.line)


def _end(words: Sequence[str]) -> _Trailer | None:
    if ended := TRAILER.search(" ".join(words)):
        return _Trailer(ended[1].strip("0") != "" or ended[2] == "FAILED")
    return None


def _header(words: Sequence[str]) -> Header | None:
    """The columns, if the line names them.

    >>> header = _header("# size count type root time algbw busbw error".split())
    >>> header.lead, header.halves
    (('root',), (('time', 'algbw', 'busbw', 'error'),))
    """
    first = "bytes" in words and "size" not in words
    if not {"bytes" if first else "size", "algbw", "busbw"}.issubset(words):
        return None
    begin = words.index("bytes" if first else "size")
    names = [NAMES.get(name, name) for name in words[begin:] if name != "timestamp"]
    times = [place for place, name in enumerate(names) if name == "time"]
    if names[1:3] != ["count", "type"] or not times:
        return None
    halves = tuple(tuple(names[begin:end]) for begin, end in zip(times, [*times[1:], len(names)], strict=True))
    unit = 1e-3 if first else 1e-6
    return Header(tuple(names[3 : times[0]]), halves, unit) if all(map(set(NUMBERS).issubset, halves)) else None


def _begins(words: Sequence[str]) -> int | None:
    """The place of the two whole numbers and the type with which a row begins, behind whatever stands before it."""
    for place in range(len(words) - 2):
        kind = words[place + 2]
        if kind in OPERATIONS or not (kind.isidentifier() and kind[0].islower() and _whole(words[place + 1])):
            continue
        if _whole(_bare(words[place])):
            return place
    return None


def _bare(word: str) -> str:
    return word[max(map(word.rfind, BEFORE)) + 1 :]


class _RowReader(NamedTuple):
    """Reads rows of a text. `ranks` is for the errors of old tables; with `ports` any table may have what crosses a
    port in both columns of bandwidths.
    """

    ranks: int
    ports: bool

    def row(self, number: int, words: Sequence[str], header: Header | None) -> LogRow | _Open | None:
        """The row of a line if there is one, or what is there of it."""
        place = _begins(words)
        if place is None or any(word.startswith("#") or word.endswith("#") for word in words[:place]):
            return None  # without one, or somebody has commented it out
        kind = words[place + 2]
        cells = [_bare(words[place]), kind, *words[place + 3 :]]
        row = self.whole(number, cells, header)
        if row is None and (header or kind in TYPES):
            return _Open(number, cells[:2] + _piece(cells[2:]))
        return row

    def joined(
        self, open_row: _Open, words: Sequence[str], header: Header | None
    ) -> tuple[LogRow | None, _Open | _Unread | None]:
        """The row, if this line has what it lacks; or what is known of it by now."""
        more = [*dropwhile(lambda word: word[-1] in BEFORE, words)]
        piece = _piece(more)
        if len(piece) >= PIECE:
            open_row = open_row._replace(words=open_row.words + piece)
            if row := self.whole(open_row.line, open_row.words, header):
                return row, None
        if open_row.ago >= ACROSS or len(open_row.words) > WIDEST:
            return None, _Unread(open_row.line)
        return None, open_row._replace(ago=open_row.ago + 1)

    def whole(self, number: int, words: list[str], header: Header | None) -> LogRow | None:
        """The row by the first layout that fits, None if it is cut. Raises LogError if the first that may fit
        refuses.
        """
        errors: list[Exception] = []
        for layout in WITHOUT_HEADER if header is None else (header,):
            try:
                return _by(layout, number, words, self, guessed=header is None)
            except _LayoutError:
                continue
            except (_CutError, LogError) as error:
                errors.append(error)
        if errors and isinstance(errors[0], LogError):
            raise errors[0]
        return None


def _piece(words: Sequence[str]) -> list[str]:
    """The words of a row up to the first of somebody else, of whose line a last number may be the beginning."""
    own = list(takewhile(_belongs, words))
    glued = GLUED.match(words[len(own)]) if len(own) < len(words) else None
    return [*own, glued[0]] if glued else own


def _belongs(word: str) -> bool:
    """Whether a word may stand in a row behind its type."""
    return word == "N/A" or word in OPERATIONS or _like_a_number(word.rstrip("*"))


def _by(header: Header, number: int, words: list[str], reader: _RowReader, guessed: bool) -> LogRow:
    redop, root, values = _lead(header.lead, words[2:])
    read: list[_Half | None] = []
    for names in header.halves:
        if read and guessed and not (values and _like_a_number(values[0])):
            break  # one half, and words of somebody else
        read.append(_half(number, dict(zip(names, values, strict=False)), names))
        values = values[len(names) :]
    halves = [half for half in read if half]
    if not halves:
        raise _CutError
    half = halves[0]
    size = _size(number, words[0], half, header.unit, ports=header.old or reader.ports)
    time = half.time * header.unit
    algbw = half.algbw * 1e9
    if half.algbw == half.busbw and (header.old or reader.ports) and size:
        algbw = size / time
    wrong = max((half.wrong for half in halves if half.wrong is not None), default=0.0)
    check = _check(header, halves, words[1], reader.ranks, guessed)
    bits = max(half.bits for half in halves)
    counted = not header.old or any(half.starred for half in halves)
    half_checked = len(halves) > 1 and halves[0].wrong is not None and halves[-1].wrong is None
    busbw = half.busbw * 1e9
    return LogRow(size, time, algbw, busbw, wrong, check, redop, bits, counted, root, half_checked)


def _check(header: Header, halves: Sequence[_Half], kind: str, ranks: int, guessed: bool) -> str:
    """What becomes of the figures of both halves."""
    wrong = [half.wrong for half in halves if half.wrong is not None]
    if not wrong:
        return "none"
    counted = CHECKS[0] in header.halves[0] and (max(wrong) >= 1 or not guessed)
    bound = 0.0 if counted else ERRORS.get(kind, 0.0) * (max(ranks, 2) - 1)
    starred = any(half.starred for half in halves)
    return "failed" if starred or max(wrong) > bound else "passed"


def _lead(names: tuple[str, ...], words: list[str]) -> tuple[str, int | None, list[str]]:
    """The operation, empty where it is not printed; the root, printed as -1 where there is none; and the words from
    the first time on.
    """
    redop, root = "", None
    for name in names:
        if not words:
            raise _CutError
        if name == "redop":
            if not words[0].isidentifier():
                continue  # left blank by what reduces nothing
            redop = words[0]
        elif name == "root":
            root = _root(words[0])
        words = words[1:]
    return redop, root, words


def _root(word: str) -> int | None:
    if not _whole(word.removeprefix("-")):
        raise _LayoutError
    return int(word) if _whole(word) and len(word) <= DIGITS else None


def _half(number: int, words: dict[str, str], names: tuple[str, ...]) -> _Half | None:
    """The numbers of a half by the names of their columns; None where all are N/A."""
    check = next((name for name in names if name in CHECKS), None)
    if not {*NUMBERS, *({check} if check else ()), *({BITS} & set(names))}.issubset(words):
        raise _CutError  # what stands behind these says nothing of time or results
    if words["time"] == "N/A":
        return None
    starred = check is not None and words[check].endswith("*")
    wrong = None if check is None or words[check] == "N/A" else _number(number, check, words[check].rstrip("*"))
    bits = words.get(BITS, "N/A")
    time, algbw, busbw = (_number(number, name, words[name]) for name in NUMBERS)
    return _Half(time, algbw, busbw, wrong, 0.0 if bits == "N/A" else _number(number, BITS, bits), starred)


def _number(line: int, name: str, word: str) -> float:
    if not _like_a_number(word):
        raise _CutError
    value = float(word)
    if not (isfinite(value) and 0 <= value < MOST):
        raise LogError(f"line {line}: {name}: a number from 0 to below {MOST:.1e} was expected, got {word[:20]}")
    return value


def _size(line: int, word: str, half: _Half, unit: float, ports: bool) -> int:
    """The bytes, if the half's time and bandwidth agree with them; with `ports` the latter may be (n - 1)/n of S/t."""
    digits = word.lstrip("0") or "0"
    if len(digits) > DIGITS or int(digits) >= MOST:
        raise LogError(f"line {line}: size: fewer than 2^63 bytes were expected, got a number of {len(digits)} digits")
    size, time = int(digits), half.time * unit
    if not size:
        if half.wrong:
            raise LogError(f"line {line}: #wrong: 0 was expected of 0 bytes, got {half.wrong:g}")
        return 0
    if not time > 0:
        raise LogError(f"line {line}: a time above 0 us was expected of {size} bytes, got {half.time:g}")
    rate = size / time * 1e-9
    if abs(rate - half.algbw) > ROUNDING * max(half.algbw, LEAST) and not (ports and _crosses_ports(rate, half)):
        raise LogError(
            f"line {line}: {size} bytes in {time * 1e6:g} us are {rate:.2f} GB/s, and the algbw of this row is "
            f"{half.algbw:g}: is a column missing, or the time in another unit?"
        )
    return size


def _crosses_ports(rate: float, half: _Half) -> bool:
    """Whether both bandwidths are (n - 1)/n of S/t, for some number of ranks."""
    if half.algbw != half.busbw or half.algbw >= rate:
        return False
    n = round(rate / (rate - half.algbw))
    return n >= 2 and abs(half.algbw / rate - (n - 1) / n) < NEAR_SHARE


def _whole(word: str) -> bool:
    return word.isascii() and word.isdecimal()


def _like_a_number(word: str) -> bool:
    """Whether Python reads a number, nan and inf among them."""
    try:
        float(word)
    except ValueError:
        return False
    return word.isascii() and "_" not in word
