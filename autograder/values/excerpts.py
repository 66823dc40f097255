"""Values of plain data as short texts: what a learner is shown of a result, around the place that matters."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from . import encoding
from .compare import Path, is_array, is_sequence, listed
from .numbers import as_float

LONG = 100  # characters: a text that is longer is cut around the place
AROUND = (2, 1, 0)  # elements that are shown on either side of it, as many as there is space for
MANY = 10**6  # characters: what Python refuses to write out
MOST = 12  # elements of a value that is shown from its beginning
LEAST = 6  # letters of a value that is cut beside others
MOST_OF_ARRAY = 8
LETTERS = 20  # and letters of a text


def fitted(values: Sequence[Any], room: int) -> str:
    """Values of plain data with commas between them in about so many letters: the long ones are cut, so that each is
    seen."""
    texts = [text_of(value) for value in values]
    spare = room - len(", ") * (len(texts) - 1)
    if not texts or sum(map(len, texts)) <= spare:
        return ", ".join(texts)
    most = max((most for most in range(LEAST, spare + 1) if _length(texts, most) <= spare), default=LEAST)
    return ", ".join(_cut(value, text, most) for value, text in zip(values, texts, strict=True))


def _length(texts: Sequence[str], most: int) -> int:
    """Of texts that are cut to so many letters each."""
    return sum(min(len(text), most) for text in texts)


def _cut(value: Any, text: str, most: int) -> str:
    """A value's `text` in so many letters; of a dict with few entries, all keys with the beginnings of their values."""
    if len(text) <= most:
        return text
    if type(value) is dict and len(value) <= MOST:
        keys = [f"{text_of(key)}: " for key in value]
        each = (most - len("{}") - sum(len(key) + len(", ") for key in keys)) // len(keys)
        if each >= LEAST:
            pairs = zip(keys, value.values(), strict=True)
            return "{" + ", ".join(key + _cut(part, text_of(part), each) for key, part in pairs) + "}"
    return f"{text[: most - 1]}…"


def text_of(value: Any) -> str:
    """A value of plain data, short."""
    if is_array(value):
        return f"array of shape {value.shape}" if value.size > MOST_OF_ARRAY else f"array({value.tolist()})"
    if type(value) is float:
        return f"{value:.10g}"
    if type(value) is int and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    if is_sequence(value):
        return _sequence(value, [text_of(v) for v in value[:MOST]] + ["…"] * (len(value) > MOST))
    if type(value) is dict:
        pairs = [f"{text_of(k)}: {text_of(v)}" for k, v in list(value.items())[:MOST]]
        return "{" + ", ".join(pairs) + (", …" if len(value) > MOST else "") + "}"
    if type(value) is Fraction:
        return f"{as_float(value):.10g}"
    if isinstance(value, encoding.Callable):
        return f"the function {value.name}"
    known = (int, str, bool, complex, type(None))
    return repr(value)[:200] if type(value) in known else encoding.type_name(value)


def excerpt(value: Any, path: Path) -> str:
    """`text_of` where that is short; else the elements, or the letters, around the place at `path`.

    >>> excerpt(list(range(100)), (50,)), excerpt([1, 2], (1,))
    ('[…, 48, 49, 50, 51, 52, …]', '[1, 2]')
    """
    rows, whole = listed(value), text_of(value)
    if not path or (len(whole) <= LONG and _written(rows) <= LONG and not _is_cut(value)):
        return whole
    key, inner = path[0], path[1:]
    if type(rows) is dict and key in rows:
        return "{" + "…, " * (len(rows) > 1) + f"{text_of(key)}: {excerpt(rows[key], inner)}" + "}"
    if type(rows) is str and type(key) is int:
        first, last = max(0, key - LETTERS), key + LETTERS
        return "…" * (first > 0) + repr(rows[first:last]) + "…" * (last < len(rows))
    if not is_sequence(rows) or type(key) is not int:
        return whole
    shown = ""
    for around in AROUND:
        first, last = max(0, key - around), key + around + 1
        near = [excerpt(v, inner) if i == key else text_of(v) for i, v in enumerate(rows[first:last], first)]
        shown = _sequence(rows, ["…"] * (first > 0) + near + ["…"] * (last < len(rows)))
        if len(shown) <= LONG:
            break
    return shown


def _sequence(value: Sequence[Any], texts: list[str]) -> str:
    if type(value) is list:
        return f"[{', '.join(texts)}]"
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def _is_cut(value: Any) -> bool:
    """Whether `text_of` leaves out elements of a value."""
    if is_array(value):
        return bool(value.size > MOST_OF_ARRAY)
    if type(value) is dict:
        return len(value) > MOST or any(map(_is_cut, value.values()))
    return is_sequence(value) and (len(value) > MOST or any(map(_is_cut, value)))


def element(path: Path) -> str:
    """The name of the element at `path`, as Python writes it: "[1]", "['a'][0]"."""
    return "".join(f"[{text_of(key)}]" for key in path)


def size_of(value: Any) -> tuple[int, int]:
    """How much there is to read in a value: its numbers and letters, and how long it is written out."""
    return _leaves(value), _written(value)


def _written(value: Any) -> int:
    """How long a value is written out; an integer, or a fraction in a list, of too many digits for Python is longer."""
    try:
        return len(str(value))
    except ValueError:  # sys.get_int_max_str_digits
        return MANY


def _leaves(value: Any) -> int:
    if is_array(value):
        return int(value.size)
    if type(value) is dict:
        return sum(_leaves(k) + _leaves(v) for k, v in value.items())
    if is_sequence(value):
        return sum(map(_leaves, value))
    return max(1, len(value)) if type(value) is str else 1
