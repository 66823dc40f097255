"""Pickles read as data: what a file of numbers, texts, lists and dictionaries holds, without running any of it.

`pickle.load` calls whatever a file names, and even a harmless opcode may ask for gigabytes (an entry of the memo with a
large number). A dump of the flight recorder needs neither: this reader knows the opcodes of plain data and no other.
"""

import struct
from collections.abc import Callable
from typing import Any

__all__ = ["PickleError", "read_pickle"]

STEPS = 5_000_000  # opcodes: a rank's ring of 20,000 calls has about as many; a step makes at most 72 bytes
DIGITS = 16  # bytes of an integer: two of those that the recorder writes
CODE = {
    "c": "a name to import",
    "\x93": "a name to import",
    "i": "an object of a class",
    "o": "an object of a class",
    "R": "a call",
    "\x81": "an object of a class",
    "\x92": "an object of a class",
    "b": "an object's state",
    "P": "an object kept elsewhere",
    "Q": "an object kept elsewhere",
    "\x82": "a registered name",
    "\x83": "a registered name",
    "\x84": "a registered name",
}
"""Opcodes that call or import something, with what they stand for: refused by that name."""


class PickleError(ValueError):
    """Bytes that are not a pickle of plain data: says what stands there."""


class _Mark:
    """Where the items of a list, tuple or dictionary begin on the stack."""


MARK = _Mark()


class _PickleReader:
    """The state of reading one pickle: position, stack and memo."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def take(self, count: int) -> bytes:
        """The next bytes; raises PickleError where there are fewer."""
        start, self.at = self.at, self.at + count
        if self.at > len(self.data):
            raise PickleError(f"the pickle is cut: {count} bytes were expected at {start}, of {len(self.data)}")
        return self.data[start : self.at]

    def number(self, form: str, size: int) -> int:
        return struct.unpack(form, self.take(size))[0]

    def items(self) -> list[Any]:
        """Those on the stack above the last mark, which is removed."""
        stack = self.stack
        for at in range(len(stack) - 1, -1, -1):
            if stack[at] is MARK:
                items = stack[at + 1 :]
                del stack[at:]
                return items
        raise PickleError("the pickle closes a list that it has not opened")

    def pop(self, count: int = 1) -> list[Any]:
        """The last values of the stack."""
        values = self.stack[len(self.stack) - count :] if len(self.stack) >= count else []
        if len(values) < count or any(value is MARK for value in values):
            raise PickleError(f"the pickle uses a value that is not there, at byte {self.at}")
        del self.stack[len(self.stack) - count :]
        return values

    def target(self, kind: type) -> Any:
        """The list or dictionary on top of the stack."""
        if not self.stack or type(self.stack[-1]) is not kind:
            raise PickleError(f"the pickle adds to something that is not a {kind.__name__}, at byte {self.at}")
        return self.stack[-1]


def read_pickle(data: bytes) -> Any:
    """The value that a pickle of plain data holds: numbers, texts, bytes, None, lists, tuples and dictionaries.

    Nothing is imported or called: a pickle that asks for it is refused, as are those of more than `STEPS` opcodes.
    Protocols 2 to 5; PyTorch's C++ writes 2. Raises PickleError.

    >>> import pickle
    >>> read_pickle(pickle.dumps({"version": "2.10", "entries": [(1, None)]}))
    {'version': '2.10', 'entries': [(1, None)]}
    """
    reader = _PickleReader(data)
    actions = ACTIONS
    for _ in range(STEPS):
        at = reader.at
        if at >= len(data):
            raise PickleError(f"the pickle is cut after {len(data)} bytes: it does not say that it ends")
        opcode = data[at]
        reader.at = at + 1
        if opcode == STOP:
            return reader.pop()[0]
        action = actions[opcode]
        if action is None:
            raise PickleError(_refusal(opcode, at))
        action(reader)
    raise PickleError(f"the pickle has more than {STEPS:,} opcodes: no dump of a rank is that large")


def _refusal(opcode: int, at: int) -> str:
    sign = chr(opcode)
    if sign in CODE:
        return f"the pickle has {CODE[sign]} at byte {at}: it would run code when loaded, which a dump has no need of"
    return f"the pickle has the opcode {opcode:#04x} at byte {at}, which plain data does not have"


def _constant(value: Any) -> Callable[[_PickleReader], None]:
    return lambda reader: reader.stack.append(value)


def _push(value: Callable[[_PickleReader], Any]) -> Callable[[_PickleReader], None]:
    def action(reader: _PickleReader) -> None:
        reader.stack.append(value(reader))

    return action


def _text(size: Callable[[_PickleReader], int]) -> Callable[[_PickleReader], None]:
    def action(reader: _PickleReader) -> None:
        reader.stack.append(reader.take(size(reader)).decode("utf-8", "replace"))

    return action


def _bytes(size: Callable[[_PickleReader], int]) -> Callable[[_PickleReader], None]:
    return _push(lambda reader: reader.take(size(reader)))


def _u1(reader: _PickleReader) -> int:
    return reader.take(1)[0]


def _u2(reader: _PickleReader) -> int:
    return reader.number("<H", 2)


def _u4(reader: _PickleReader) -> int:
    return reader.number("<I", 4)


def _i4(reader: _PickleReader) -> int:
    return reader.number("<i", 4)


def _u8(reader: _PickleReader) -> int:
    return reader.number("<Q", 8)


def _long(reader: _PickleReader) -> int:
    size = _u1(reader)
    if size > DIGITS:
        raise PickleError(f"the pickle has an integer of {size} bytes; no count or time has more than {DIGITS}")
    return int.from_bytes(reader.take(size), "little", signed=True)


def _float(reader: _PickleReader) -> float:
    return struct.unpack(">d", reader.take(8))[0]


def _tuple(count: int) -> Callable[[_PickleReader], None]:
    def action(reader: _PickleReader) -> None:
        reader.stack.append(tuple(reader.pop(count)))

    return action


def _put(index: Callable[[_PickleReader], int]) -> Callable[[_PickleReader], None]:
    def action(reader: _PickleReader) -> None:
        place = index(reader)
        (value,) = reader.pop()
        reader.stack.append(value)
        reader.memo[place] = value

    return action


def _get(index: Callable[[_PickleReader], int]) -> Callable[[_PickleReader], None]:
    def action(reader: _PickleReader) -> None:
        place = index(reader)
        if place not in reader.memo:
            raise PickleError(f"the pickle refers to its value number {place}, which it has not kept")
        reader.stack.append(reader.memo[place])

    return action


def _append(reader: _PickleReader) -> None:
    (value,) = reader.pop()
    reader.target(list).append(value)


def _appends(reader: _PickleReader) -> None:
    items = reader.items()
    reader.target(list).extend(items)


def _setitem(reader: _PickleReader) -> None:
    _fill(reader, reader.pop(2))


def _setitems(reader: _PickleReader) -> None:
    _fill(reader, reader.items())


def _fill(reader: _PickleReader, items: list[Any]) -> None:
    target = reader.target(dict)
    for key, value in zip(items[::2], items[1::2], strict=False):
        if type(key) not in (str, int, bool, bytes, float, type(None)):
            raise PickleError(f"the pickle has a key that is a {type(key).__name__}; texts and numbers are keys")
        target[key] = value


def _closed(kind: Callable[[list[Any]], Any]) -> Callable[[_PickleReader], None]:
    return _push(lambda reader: kind(reader.items()))


def _dict(reader: _PickleReader) -> None:
    items = reader.items()
    reader.stack.append({})
    _fill(reader, items)


def _discard(reader: _PickleReader) -> None:
    if reader.stack and reader.stack[-1] is MARK:
        reader.stack.pop()
    else:
        reader.pop()


def _discard_items(reader: _PickleReader) -> None:
    reader.items()


STOP = ord(".")
ACTIONS: list[Callable[[_PickleReader], None] | None] = [None] * 256
for _sign, _action in {
    "\x80": _u1,  # the protocol
    "\x95": _u8,  # a frame's size
    "N": _constant(None),
    "\x88": _constant(True),
    "\x89": _constant(False),
    "J": _push(_i4),
    "K": _push(_u1),
    "M": _push(_u2),
    "\x8a": _push(_long),
    "G": _push(_float),
    "X": _text(_u4),
    "\x8c": _text(_u1),
    "\x8d": _text(_u8),
    "B": _bytes(_u4),
    "C": _bytes(_u1),
    "\x8e": _bytes(_u8),
    "T": _text(_u4),
    "U": _text(_u1),
    "(": _constant(MARK),
    ")": _constant(()),
    "]": lambda reader: reader.stack.append([]),
    "}": lambda reader: reader.stack.append({}),
    "t": _closed(tuple),
    "l": _closed(list),
    "d": _dict,
    "\x85": _tuple(1),
    "\x86": _tuple(2),
    "\x87": _tuple(3),
    "a": _append,
    "e": _appends,
    "s": _setitem,
    "u": _setitems,
    "q": _put(_u1),
    "r": _put(_u4),
    "\x94": _put(lambda reader: len(reader.memo)),
    "h": _get(_u1),
    "j": _get(_u4),
    "0": _discard,
    "1": _discard_items,
}.items():
    ACTIONS[ord(_sign)] = _action
