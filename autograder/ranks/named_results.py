"""Results that are tensors by name, each of a shape of its own: compared by name, and what is wrong with the first.

A list of tensors is as many results: `grads[0]`, `grads[1]`.

Reasons: returns-nothing, not-an-array, wrong-value, wrong-names; of a shape, transposed, whole-for-a-part,
part-for-a-whole, same-elements, wrong-shape; of either, other-result; of an element, untouched, other-rank,
own-share, only-zeros, those of `resemblance`, wrong-element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..values.digits import apart, written
from ..values.finding import Finding
from ..values.numbers import named
from . import whereabouts
from .resemblance import Resemblance

if TYPE_CHECKING:
    from .buffers import Case

UNEXPLAINED = ("wrong-element", "some-signs")  # after which it is said where it is right
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
        why = _other_result(case, name, got, wanted[rank], rtol) or _shape(case, got.shape, want.shape)
        say = f"{with_} returns {name or 'a tensor'} of shape {_tuple(got.shape)}, where {_tuple(want.shape)} was"
        return Finding(f"{say} expected{why.say}.", why.reason)
    wrong = differs(case, got, want, rtol)
    first = tuple(int(place[0]) for place in wrong.nonzero()) if wrong.ndim else ()
    number = got[first]
    where = f"{name or 'its result'}{list(first) if first else ''}"
    why = next(_looks_like(case, rank, inputs, name, outputs, wanted, rtol), Finding("", "wrong-element"))
    mine, right = apart(number.item(), want[first].item(), written)
    has = mine if number == number else "nan"
    never = "" if number == number else " (never written, or 0/0)"
    end = "" if why.say.endswith("?") else "."
    more = _where(case, rank, name, outputs, wanted, rtol) if why.reason in UNEXPLAINED else ""
    return Finding(f"{with_} has {has} in {where}{never}, where {right} was expected{why.say}{end}{more}", why.reason)


def _where(case: Case, rank: int, name: str, outputs: Sequence[Any], wanted: Sequence[Any], rtol: float) -> str:
    """Where else that result is right: in other elements, other results, on other ranks."""
    got, want = outputs[rank], wanted[rank]
    results = {other: _same(case, got[other], expected, rtol) for other, expected in want.items()}
    ranks = [
        type(mine) is dict and type(right) is dict and name in mine and _same(case, mine[name], right.get(name), rtol)
        for mine, right in zip(outputs, wanted, strict=True)
    ]
    elements = whereabouts.of_elements(differs(case, got[name], want[name], rtol))
    return elements + whereabouts.of_results(results, name) + whereabouts.of_ranks(ranks, rank)


def _tuple(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _other_result(case: Case, name: str, got: Any, expected: Mapping[str, Any], rtol: float) -> Finding | None:
    """Whether what a rank returns for a result is what belongs in another."""
    for other, want in expected.items():
        if other != name and is_array(want) and _same(case, got, want, rtol):
            return Finding(f": that is what belongs in {other}", "other-result")
    return None


def _shape(case: Case, got: Sequence[int], want: Sequence[int]) -> Finding:
    if len(want) > 1 and tuple(got) == tuple(reversed(want)):
        return Finding(": that is the transposed", "transposed")
    if len(got) == len(want):
        other = [(axis, a, b) for axis, (a, b) in enumerate(zip(got, want, strict=True)) if a != b]
        axis, a, b = other[0]
        if len(other) == 1 and a == case.n * b:
            say = f": {case.n} times as long on axis {axis}, the whole instead of a rank's part"
            return Finding(say, "whole-for-a-part")
        if len(other) == 1 and b == case.n * a:
            part = "half" if case.n == 2 else f"1/{case.n}"
            say = f": {part} as long on axis {axis}, a rank's part instead of the whole"
            return Finding(say, "part-for-a-whole")
    if _count(got) == _count(want):
        return Finding(": as many elements, in another shape", "same-elements")
    return Finding("", "wrong-shape")


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
) -> Iterator[Finding]:
    got, want = outputs[rank][name], wanted[rank][name]
    resemblance = Resemblance.of(case, got, want, inputs[rank], rtol)
    for parameter, value in inputs[rank].items() if type(inputs[rank]) is dict else ():
        if is_array(value) and _same(case, got, value, rtol):
            yield Finding(f": it is still the {parameter} that the rank was given", "untouched")
    if not got.any():
        yield Finding(": it is all zeros", "only-zeros")
    yield from resemblance.numbers()
    if other := _other_result(case, name, got, wanted[rank], rtol):
        yield other
    yield from _of_other_ranks(case, rank, name, outputs, wanted, rtol)
    yield from resemblance.order()
    others = {f"{other} as expected": array for other, array in wanted[rank].items() if other != name}
    yield from resemblance.combined(others | _results_of_others(rank, name, wanted))


def _results_of_others(rank: int, name: str, wanted: Sequence[Any]) -> dict[str, Any]:
    """What the other ranks should return under this name."""
    rows = [(other, results) for other, results in enumerate(wanted) if other != rank and type(results) is dict]
    return {f"what rank {other} should return": results.get(name) for other, results in rows}


def _of_other_ranks(
    case: Case, rank: int, name: str, outputs: Sequence[Any], wanted: Sequence[Any], rtol: float
) -> Iterator[Finding]:
    """Whether it is another rank's result, or a share of what all ranks together have."""
    got, want = outputs[rank][name], wanted[rank][name]
    for other, results in enumerate(wanted):
        expected = results.get(name) if type(results) is dict else None
        if other != rank and is_array(expected) and _same(case, got, expected, rtol):
            yield Finding(f": that is what rank {other} should return", "other-rank")
    shares: list[Any] = [results.get(name) if type(results) is dict else None for results in outputs]
    if not all(is_array(share) and share.shape == want.shape for share in shares):
        return
    if all(_same(case, share, got, rtol) for share in shares):
        return  # as each rank has them, they are no shares
    if _same(case, _added(shares), want, rtol):
        say = ": it is the rank's own share, and those of all ranks add up to what was expected"
        yield Finding(say, "own-share")
