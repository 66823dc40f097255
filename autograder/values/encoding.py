"""Answers as plain data: encoded in a learner's process, decoded in the judge.

`encode` runs in the learner's process and turns a value into JSON; `decode` runs in the judge and rebuilds the
value, node by node, from an allow-list. Nothing is unpickled, evaluated or sympified, and no object of
a learner's class crosses: types are compared exactly, so a subclass of float with a lying `__eq__` is
rejected. Types of numpy, torch and sympy are considered only if the learner's process has imported them.
"""

from __future__ import annotations

import base64
import binascii
import functools
import math
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .finding import Explained

MAX_DEPTH = 24
MAX_NODES = 200_000
MAX_TEXT = 1_000_000
MAX_BYTES = 64 << 20
MAX_BITS = 20_000
MAX_ALIKE = 100  # keys of one dict that have the same hash: to find one of them takes as many comparisons
ITEM_BYTES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "float16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
}


class NotEncodable(Explained, ValueError):
    """A value that is not an answer (an open file, a generator, an object of some class); the message names its
    type. An expression has the reasons of a `TreeError`."""

    reason = "no-plain-data"


class BadMessage(Explained, ValueError):
    """A message that `encode` did not write: forged, truncated, or too large."""

    reason = "bad-message"


@dataclass(frozen=True)
class Callable:
    """Stands for a function that stays in the learner's process; `name` is its own name."""

    name: str


@dataclass
class _Budget:
    nodes: int = MAX_NODES

    def spend(self, depth: int, error: type[ValueError]) -> None:
        self.nodes -= 1
        if self.nodes < 0:
            raise error(f"more than {MAX_NODES} values; an answer was expected")
        if depth > MAX_DEPTH:
            raise error(f"nested more than {MAX_DEPTH} deep; an answer was expected")


def type_name(value: object) -> str:
    """The name of a value's class, even if its metaclass lies."""
    return str(type.__dict__["__name__"].__get__(type(value)))[:60]


def encode(value: Any) -> Any:
    """`value` as JSON-able data: numbers, text, lists, dicts, arrays, symbolic expressions, and functions as
    a marker.

    Raises NotEncodable, with a sentence for the learner, for anything else.
    """
    try:
        return _encode(value, 0, _Budget())
    except NotEncodable:
        raise
    except Exception as error:
        raise NotEncodable(f"a value of type {type_name(value)} that cannot be read ({type_name(error)})") from None


def _encode(value: Any, depth: int, budget: _Budget) -> Any:
    budget.spend(depth, NotEncodable)
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        if len(value) > MAX_TEXT:
            raise NotEncodable(f"a text of {len(value)} characters; at most {MAX_TEXT} were expected")
        return value.encode("utf-8", "replace").decode("utf-8")
    if kind is int:
        if value.bit_length() > MAX_BITS:
            raise NotEncodable(f"an integer of {value.bit_length()} bits; at most {MAX_BITS} were expected")
        return value if abs(value) < 2**53 else {"$": "int", "v": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"$": "float", "v": repr(value)}
    if kind is complex:
        return {"$": "complex", "v": [repr(value.real), repr(value.imag)]}
    if value is ...:
        return {"$": "ellipsis"}
    if kind is Fraction or kind is Decimal:
        return _fraction(value)
    if kind is list or kind is tuple:
        return {"$": kind.__name__, "v": [_encode(v, depth + 1, budget) for v in value]}
    if isinstance(value, tuple) and hasattr(kind, "_fields"):  # a named tuple
        return {"$": "tuple", "v": [_encode(v, depth + 1, budget) for v in tuple.__iter__(value)]}
    if isinstance(value, dict):  # an ordered one, too
        pairs = [[_encode(k, depth + 1, budget), _encode(v, depth + 1, budget)] for k, v in dict.items(value)]
        return {"$": "dict", "v": pairs}
    return _encode_library(value, depth, budget)


def _fraction(value: Fraction | Decimal) -> Any:
    if isinstance(value, Decimal):
        if not value.is_finite():
            return {"$": "float", "v": str(float(value))}
        if abs(value.adjusted()) > 400:
            raise NotEncodable(f"a decimal with an exponent of {value.adjusted()}; at most 400 was expected")
        value = Fraction(value)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise NotEncodable(f"a fraction of more than {MAX_BITS} bits")
    return {"$": "fraction", "v": [hex(value.numerator), hex(value.denominator)]}


def _encode_library(value: Any, depth: int, budget: _Budget) -> Any:
    kind = type(value)
    numpy, torch, sympy = (sys.modules.get(name) for name in ("numpy", "torch", "sympy"))
    if numpy is not None:
        if isinstance(value, numpy.generic) and kind is getattr(value.dtype, "type", None):
            if value.dtype.name in ITEM_BYTES or value.dtype.kind == "U":
                return _encode(value.item(), depth + 1, budget)
            raise NotEncodable(f"a numpy scalar of type {value.dtype.name}; an integer, a float or a bool was expected")
        if kind is numpy.ndarray and value.dtype.kind == "U":
            return _encode(value.tolist(), depth + 1, budget)
        if kind is numpy.ndarray:
            return _array(value, numpy)
    if torch is not None and kind is torch.Tensor:
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
        return _array(value.detach().cpu().numpy(), numpy or sys.modules["numpy"])
    if sympy is not None:
        from . import trees

        if value is sympy.S or value is sympy.N:
            raise NotEncodable(
                f"sympy's own {'S' if value is sympy.S else 'N'}, not a letter of the exercise; "
                "take your letters from symbols(...)",
                "letter-of-sympy",
            )
        if isinstance(value, (sympy.Basic, sympy.logic.boolalg.Boolean)):
            try:
                return {"$": "tree", "v": trees.to_json(trees.from_sympy(value))}
            except trees.TreeError as error:
                raise NotEncodable(str(error), error.reason) from None
    if callable(value) and kind is not type:
        return {"$": "callable", "v": str(getattr(value, "__name__", None) or type_name(value))[:80]}
    what = "a class" if kind is type else f"a value of type {type_name(value)}"
    raise NotEncodable(
        f"{what} cannot be graded; a number, a text, a list, an array, an expression or a function was expected"
    )


def _array(value: Any, numpy: Any) -> Any:
    if value.dtype.name not in ITEM_BYTES:
        raise NotEncodable(f"an array of {value.dtype.name}; numbers were expected")
    if value.nbytes > MAX_BYTES:
        raise _too_large(value)
    little = numpy.ascontiguousarray(value).astype(value.dtype.newbyteorder("<"))
    return {
        "$": "array",
        "t": value.dtype.name,
        "s": list(value.shape),
        "v": base64.b64encode(little.tobytes()).decode(),
    }


def _too_large(array: Any) -> NotEncodable:
    return NotEncodable(f"an array of {array.nbytes} bytes; at most {MAX_BYTES} were expected")


def decode(message: Any) -> Any:
    """The value that `encode` wrote, of builtin types, numpy arrays, `trees` and `Callable`; BadMessage for
    anything else."""
    try:
        return _decode(message, 0, _Budget())
    except BadMessage:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError, RecursionError) as error:
        raise BadMessage(f"not a message of plain data ({type(error).__name__})") from None


def plain(value: Any) -> Any:
    """What `decode` makes of what `encode` makes of a value, a copy of it: without the text between them, which takes
    several times as long for arrays."""
    try:
        return _plain(value, 0, _Budget())
    except (NotEncodable, BadMessage):
        raise
    except Exception as error:
        raise NotEncodable(f"a value of type {type_name(value)} that cannot be read ({type_name(error)})") from None


def _plain(value: Any, depth: int, budget: _Budget) -> Any:
    kind = type(value)
    if kind is list or kind is tuple:
        budget.spend(depth, NotEncodable)
        return kind([_plain(part, depth + 1, budget) for part in value])
    if kind is dict:
        budget.spend(depth, NotEncodable)
        return {_key(_plain(k, depth + 1, budget)): _plain(v, depth + 1, budget) for k, v in value.items()}
    if value is None or kind is bool or kind is float or (kind is int and abs(value) < 2**53):
        budget.spend(depth, NotEncodable)
        return value
    if kind is str and value.isascii() and len(value) <= MAX_TEXT:  # as are all words of a rank's messages
        budget.spend(depth, NotEncodable)
        return value
    numpy = sys.modules.get("numpy")
    if numpy is not None and kind is numpy.ndarray and value.dtype in _item_types(numpy):
        budget.spend(depth, NotEncodable)
        if value.nbytes > MAX_BYTES:
            raise _too_large(value)
        return numpy.array(value, _item_types(numpy)[value.dtype], order="C")
    return _decode(_encode(value, depth, budget), depth, _Budget())


@functools.cache
def _item_types(numpy: Any) -> dict[Any, Any]:
    """The types of an array's numbers, in either order of bytes, each with that of this machine."""
    types = []
    for name in ITEM_BYTES:
        with suppress(TypeError):  # a page's small numpy has no complex numbers
            types.append(numpy.dtype(name))
    return {other: own for own in types for other in (own.newbyteorder("<"), own.newbyteorder(">"))}


def _decode(obj: Any, depth: int, budget: _Budget) -> Any:
    budget.spend(depth, BadMessage)
    kind = type(obj)
    if obj is None or kind is bool or kind is float:
        return obj
    if kind is int:
        if obj.bit_length() > MAX_BITS:
            raise BadMessage(f"an integer of {obj.bit_length()} bits")
        return obj
    if kind is str:
        if len(obj) > MAX_TEXT:
            raise BadMessage(f"a text of {len(obj)} characters")
        return obj
    if kind is not dict or type(obj.get("$")) is not str:
        raise BadMessage(f"{type_name(obj)} where plain data was expected")
    tag, value = obj["$"], obj.get("v")
    if tag == "ellipsis":
        return ...
    if tag in ("list", "tuple") and type(value) is list:
        items = [_decode(v, depth + 1, budget) for v in value]
        return items if tag == "list" else tuple(items)
    if tag == "dict" and type(value) is list:
        return _told_apart([(_key(_decode(k, depth + 1, budget)), _decode(v, depth + 1, budget)) for k, v in value])
    if tag == "array":
        return _decode_array(obj)
    if tag == "tree":
        from . import trees

        return trees.from_json(value)
    return _decode_scalar(tag, value)


def _decode_scalar(tag: str, value: Any) -> Any:
    if tag == "int" and type(value) is str:
        return _hex(value)
    if tag == "float" and value in ("nan", "inf", "-inf", "NaN", "Infinity", "-Infinity"):
        return float(value)
    if tag == "fraction" and type(value) is list and len(value) == 2:
        over, under = map(_hex, value)
        return Fraction(over, under) if under else math.nan
    if (
        tag == "complex"
        and type(value) is list
        and len(value) == 2
        and all(type(v) is str and len(v) < 40 for v in value)
    ):
        return complex(float(value[0]), float(value[1]))
    if tag == "callable" and type(value) is str:
        return Callable(value[:80])
    raise BadMessage(f"an unknown kind of value: {tag[:20]!r}")


def _hex(text: Any) -> int:
    if type(text) is not str or len(text) > MAX_BITS // 4 + 3:
        raise BadMessage("a number in hexadecimal was expected")
    return int(text, 16)


def _told_apart(items: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """The dict of these items. BadMessage where many keys have one hash, as numbers made for it have."""
    alike = max(Counter(hash(key) for key, _ in items).values(), default=0)
    if alike > MAX_ALIKE:
        raise BadMessage(f"a dict with {alike} keys of the same hash; at most {MAX_ALIKE} were expected")
    return dict(items)


def _key(key: Any) -> Any:
    if type(key) not in (str, int, float, bool, tuple, type(None)):
        raise BadMessage(f"a key of type {type_name(key)}")
    return key


def _decode_array(obj: dict[str, Any]) -> Any:
    name, shape, text = obj.get("t"), obj.get("s"), obj.get("v")
    if (
        name not in ITEM_BYTES
        or type(text) is not str
        or type(shape) is not list
        or len(shape) > 16
        or not all(type(n) is int and 0 <= n <= MAX_BYTES for n in shape)
    ):
        raise BadMessage("an array needs a number type, a shape and its bytes")
    if len(text) > MAX_BYTES * 4 // 3 + 4 or math.prod(shape) * ITEM_BYTES[name] > MAX_BYTES:
        raise BadMessage(f"an array of more than {MAX_BYTES} bytes")
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise BadMessage("an array whose bytes are not base64") from None
    if len(raw) != math.prod(shape) * ITEM_BYTES[name]:
        raise BadMessage(f"an array of shape {shape} and type {name} with {len(raw)} bytes")
    import numpy as np

    return np.frombuffer(raw, dtype=np.dtype(name).newbyteorder("<")).astype(name).reshape(shape)
