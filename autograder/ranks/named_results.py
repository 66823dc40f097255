"""Results that are tensors by name, each of a shape of its own: compared by name, and what is wrong with the first.

A list of tensors is as many results: `grads[0]`, `grads[1]`.

Reasons: returns-nothing, not-an-array, wrong-value, wrong-names; of a shape, transposed, whole-for-a-part,
part-for-a-whole, same-elements, wrong-shape; of an element, untouched, other-rank, n-times, nth-part, twice, half,
only-zeros, transposed, wrong-element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..values.finding import Finding
from ..values.numbers import named

if TYPE_CHECKING:
    from .buffers import Case

FLOAT32 = 1e-5  # of the largest number of a tensor: what adding in another order may change


def by_name(value: Any, returns: Sequence[str] = ()) -> Any:
    """The tensors that a rank returns, by name; a value of another form stays as it is.

    With one name, or none, it is the tensor itself, or a list of tensors; with several a tuple in this order. A dict
    by these names is as good.
    """
    names = list(returns) or [""]
    if type(value) is dict and returns:
        if set(value) != set(names):
            return value
        items = [value[name] for name in names]
    elif len(names) == 1:
        items = [value]
    elif type(value) in (list, tuple) and len(value) == len(names):
        items = list(value)
    else:
        return value
    return dict(part for name, item in zip(names, items, strict=True) for part in _parts(name, item))


def _parts(name: str, item: Any) -> Iterator[tuple[str, Any]]:
    import numpy as np

    if type(item) in (list, tuple):
        for number, part in enumerate(item):
            yield from _parts(f"{name}[{number}]", part)
    else:
        yield name, np.array(item) if type(item) in (bool, int, float) else item


def is_array(value: Any) -> bool:
    """Whether a result is an array of numbers."""
    return type(value).__name__ == "ndarray" and value.dtype.kind in "biuf"


def differs(case: Case, got: Any, want: Any, rtol: float) -> Any:
    """For each element whether it differs, as measured by the largest one that is expected; the shapes are the same."""
    import numpy as np

    if got.dtype.kind in "biu" and want.dtype.kind in "biu":
        return got != want
    finite = np.abs(want[np.isfinite(want)])
    largest = float(finite.max()) if finite.size else 0.0
    tolerance = max(rtol, FLOAT32 if case.dtype == "float32" else 0) * largest
    return ~np.isclose(got, want, rtol=0, atol=tolerance, equal_nan=True)


def same_named(case: Case, got: Any, want: Any, rtol: float) -> bool:
    """Whether one rank's results are the expected ones; where None is expected, any will do."""
    if want is None:
        return True
    if type(got) is not dict or type(want) is not dict:
        return type(got) is not dict and type(want) is not dict and repr(got) == repr(want)
    return list(got) == list(want) and all(_same(case, got[name], one, rtol) for name, one in want.items())


def _same(case: Case, got: Any, want: Any, rtol: float) -> bool:
    if want is None:
        return True
    if not is_array(got) or not is_array(want):
        return not is_array(want) and repr(got) == repr(want)
    return got.shape == want.shape and not differs(case, got, want, rtol).any()


def wrong_named(
    case: Case,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    wanted: Sequence[Any],
    returns: Sequence[str],
    rtol: float,
) -> Finding | None:
    """Which rank has which result wrong, in its form, its shape or its first wrong element, and the likely cause."""
    for rank, (got, want) in enumerate(zip(outputs, wanted, strict=True)):
        if same_named(case, got, want, rtol):
            continue
        with_ = f"With {case}, rank {rank}"
        if type(want) is not dict:
            return Finding(f"{with_} does not return what was expected.", "wrong-value")
        if finding := _form(with_, got, want, returns):
            return finding
        for name, expected in want.items():
            if not _same(case, got[name], expected, rtol):
                return _wrong(case, rank, inputs, name, outputs, wanted, rtol, with_)
    return None


def _form(with_: str, got: Any, want: Mapping[str, Any], returns: Sequence[str]) -> Finding | None:
    """What is wrong with a result that has not the names that are expected."""
    if got is None:
        return Finding(f"{with_} returns nothing: is there a `return`?", "returns-nothing")
    if type(got) is dict and list(got) == list(want):
        return None
    expected = f"{', '.join(returns)}, in this order" if len(returns) > 1 else "one tensor"
    if any("[" in name for name in want):
        expected = f"{len(want)} tensors, {', '.join(list(want)[:3])}{' and so on' if len(want) > 3 else ''},"
    has = named(got)
    if type(got) in (list, tuple):
        has = f"{len(got)} results"
    elif type(got) is dict:
        has = ", ".join(map(str, got)) if all(got) else f"{len(got)} tensors"
    elif type(got).__name__ == "ndarray":
        has = "one tensor"
    return Finding(f"{with_} returns {has}, where {expected} {_were(expected)} expected.", "wrong-names")


def _were(expected: str) -> str:
    return "was" if expected == "one tensor" else "were"


def _wrong(
    case: Case,
    rank: int,
    inputs: Sequence[Any],
    name: str,
    outputs: Sequence[Any],
    wanted: Sequence[Any],
    rtol: float,
    with_: str,
) -> Finding:
    """What is wrong with one result of one rank."""
    got, want = outputs[rank][name], wanted[rank][name]
    if got is None:
        return Finding(f"{with_} returns nothing (`None`) for {name or 'its result'}.", "returns-nothing")
    if not is_array(got):
        which = f" for {name}" if name else ""
        return Finding(f"{with_} returns {named(got)}{which}; a tensor of numbers was expected.", "not-an-array")
    if got.shape != want.shape:
        why, reason = _shape(case, got.shape, want.shape)
        say = f"{with_} returns {name or 'a tensor'} of shape {_tuple(got.shape)}, where {_tuple(want.shape)} was"
        return Finding(f"{say} expected{why}.", reason)
    wrong = differs(case, got, want, rtol)
    first = tuple(int(place[0]) for place in wrong.nonzero()) if wrong.ndim else ()
    number = got[first]
    where = f"{name or 'its result'}{list(first) if first else ''}"
    why, reason = next(_looks_like(case, rank, inputs, name, outputs, wanted, rtol), ("", "wrong-element"))
    say = (
        f"{with_} has {number:.6g} in {where}"
        if number == number
        else f"{with_} has nan in {where} (never written, or 0/0)"
    )
    return Finding(f"{say}, where {want[first]:.6g} was expected{why}.", reason)


def _tuple(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _shape(case: Case, got: Sequence[int], want: Sequence[int]) -> tuple[str, str]:
    if len(want) > 1 and tuple(got) == tuple(reversed(want)):
        return ": that is the transposed", "transposed"
    if len(got) == len(want):
        other = [(axis, a, b) for axis, (a, b) in enumerate(zip(got, want, strict=True)) if a != b]
        axis, a, b = other[0]
        if len(other) == 1 and a == case.n * b:
            return f": {case.n} times as long on axis {axis}, the whole instead of a rank's part", "whole-for-a-part"
        if len(other) == 1 and b == case.n * a:
            part = "half" if case.n == 2 else f"1/{case.n}"
            return f": {part} as long on axis {axis}, a rank's part instead of the whole", "part-for-a-whole"
    if _count(got) == _count(want):
        return ": as many elements, in another shape", "same-elements"
    return "", "wrong-shape"


def _count(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _added(shares: Sequence[Any]) -> Any:
    """The sum of arrays, in which a rank's infinity may meet another's of the other sign."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        return sum(shares[1:], shares[0])


def _looks_like(
    case: Case,
    rank: int,
    inputs: Sequence[Any],
    name: str,
    outputs: Sequence[Any],
    wanted: Sequence[Any],
    rtol: float,
) -> Iterator[tuple[str, str]]:
    got, want, n = outputs[rank][name], wanted[rank][name], case.n

    def same(one: Any, other: Any) -> bool:
        return is_array(other) and one.shape == other.shape and not differs(case, one, other, rtol).any()

    for parameter, value in inputs[rank].items() if type(inputs[rank]) is dict else ():
        if same(got, value):
            yield f": it is still the {parameter} that the rank was given", "untouched"
    if not got.any():
        yield ": it is all zeros", "only-zeros"
    for other, results in enumerate(wanted):
        if other != rank and type(results) is dict and same(got, results.get(name)):
            yield f": that is what rank {other} should return", "other-rank"
    shares: list[Any] = [results.get(name) if type(results) is dict else None for results in outputs]
    alike = n > 1 and all(is_array(share) and share.shape == want.shape for share in shares)
    if alike and same(_added(shares), want):
        yield ": it is the rank's own share, and those of all ranks add up to what was expected", "own-share"
    if got.dtype.kind == "f" and n > 1:
        if same(got, want * n):
            yield f": all of it is {n} times as much, n = {n}. A sum, where a mean is asked for?", "n-times"
        if same(got, want / n):
            yield f": all of it is 1/{n} of that, n = {n}. A mean, where a sum is asked for?", "nth-part"
        if same(got, want * 2):
            yield ": all of it is twice as much", "twice"
        if same(got, want / 2):
            yield ": all of it is half as much", "half"
    if got.ndim == 2 and same(got, want.T):
        yield ": it is the transposed", "transposed"
