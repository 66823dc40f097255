"""The one change that makes a wrong formula right: a maximum for a minimum, an exponent, a letter, a number, a sign.

The learner's own formula is changed in one place at a time, and what comes out is compared with the solution. The
sentence says what kind of change it is, and never where or into what.

Reasons: max-for-min, rounded-otherwise, one-exponent, letters-exchanged, other-letter, one-number, one-sign,
term-too-many, term-missing, factor-missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

from ..values.finding import Finding
from ..values.trees import Tree, node, number_tree

MOST_CHANGES = 400  # that are tried of one formula
REST = "all else in it is right"
SAY = {
    "max-for-min": f"in one place yours takes the larger where the smaller belongs, or the other way round; {REST}",
    "rounded-otherwise": f"in one place yours rounds to the wrong side; {REST}",
    "one-exponent": f"in one place yours has a wrong power, or divides where it should multiply; {REST}",
    "letters-exchanged": f"two letters stand in each other's place; {REST}",
    "other-letter": f"in one place a letter stands where another belongs; {REST}",
    "one-number": f"one number in it is wrong; {REST}",
    "one-sign": f"one term of a sum has the wrong sign; {REST}",
    "term-too-many": f"a sum in it has a term too many; {REST}",
    "term-missing": f"it lacks a term that is added or taken off; {REST}",
    "factor-missing": f"it lacks a factor, or something that it is to be divided by; {REST}",
}
OTHER = {
    "max": ("min", "max-for-min"),
    "min": ("max", "max-for-min"),
    "ceil": ("floor", "rounded-otherwise"),
    "floor": ("ceil", "rounded-otherwise"),
}
POWERS = [Fraction(n, d) * sign for n, d in ((1, 1), (2, 1), (3, 1), (1, 2), (1, 3)) for sign in (1, -1)]
MINUS = number_tree(-1)

Change = tuple[str, Tree]


def one_change(answer: Tree, solution: Tree, letters: list[str], same: Callable[[Tree, Tree], bool]) -> Finding | None:
    """What kind of change in one place makes the answer the solution; None where none of those tried does. `same` says
    whether its first formula is the second wherever the second has a value."""
    for reason, changed in islice(_changes(answer, letters), MOST_CHANGES):
        if changed != answer and same(changed, solution):
            return Finding(f"Not yet: {SAY[reason]}.", reason)
    for reason, shorter, rest in _lacking(solution):
        whole = shorter is rest or _has_sum(answer)  # what is left of a quotient's sum is no sum that lacks a term
        if (whole or reason == "factor-missing") and same(shorter, answer):
            return Finding(f"Not yet: {SAY[reason]}.", reason)
    return None


def _changes(tree: Tree, letters: list[str]) -> Iterator[Change]:
    """All formulas with one change, the likely ones first: a term that is too many before another power of it, which
    may make it too small to see."""
    yield from ((reason, shorter) for reason, shorter, _ in _shortened(tree))
    for kind in (_others, _powers, _signs, _numbers):
        yield from _anywhere(tree, kind)
    present = [name for name in letters if name in tree.names()]
    for one, other in combinations(letters, 2):
        if one in present or other in present:
            yield "letters-exchanged", _renamed(tree, {one: other, other: one})
    yield from _anywhere(tree, lambda part: _letters(part, letters))


def _lacking(solution: Tree) -> Iterator[tuple[str, Tree, Tree]]:
    """The solution with one term of a sum less, what a formula that is equal to it lacks, and what is left of that sum:
    where it is 1 there is no sum in the formula, but a factor that it has not.
    """
    for _, shorter, rest in _shortened(solution):
        yield ("factor-missing" if rest == number_tree(1) else "term-missing"), shorter, rest


def _has_sum(tree: Tree) -> bool:
    return tree.head == "add" or any(_has_sum(part) for part in tree.args if isinstance(part, Tree))


def _shortened(tree: Tree) -> Iterator[tuple[str, Tree, Tree]]:
    """A formula with one term less somewhere, and what is left of that sum."""
    for reason, rest in _terms(tree):
        yield reason, rest, rest
    for at, part in enumerate(tree.args):
        if isinstance(part, Tree):
            for reason, changed, rest in _shortened(part):
                yield reason, node(tree.head, (*tree.args[:at], changed, *tree.args[at + 1 :])), rest


def _anywhere(tree: Tree, kind: Callable[[Tree], Iterator[Change]]) -> Iterator[Change]:
    """The formulas in which one part is changed in this way."""
    yield from kind(tree)
    for at, part in enumerate(tree.args):
        if isinstance(part, Tree):
            for reason, changed in _anywhere(part, kind):
                yield reason, node(tree.head, (*tree.args[:at], changed, *tree.args[at + 1 :]))


def _others(part: Tree) -> Iterator[Change]:
    if part.head in OTHER:
        head, reason = OTHER[part.head]
        yield reason, node(head, part.args)


def _powers(part: Tree) -> Iterator[Change]:
    """Other powers of a part, and of what is none yet."""
    if part.head == "pow" and isinstance(part.args[1], Tree) and not part.args[1].names():
        base: Tree = part.args[0]
    elif part.head in ("sym", "add", "mul", "max", "min"):
        base = part
    else:
        return
    for power in POWERS:
        yield "one-exponent", base if power == 1 else node("pow", (base, number_tree(power)))


def _signs(part: Tree) -> Iterator[Change]:
    if part.head == "add":
        for at, term in enumerate(part.args):
            yield "one-sign", node("add", (*part.args[:at], node("mul", (MINUS, term)), *part.args[at + 1 :]))


def _terms(part: Tree) -> Iterator[Change]:
    if part.head == "add" and len(part.args) > 1:
        for at in range(len(part.args)):
            rest = part.args[:at] + part.args[at + 1 :]
            yield "term-too-many", node("add", rest) if len(rest) > 1 else rest[0]


def _numbers(part: Tree) -> Iterator[Change]:
    if part.head in ("num", "dec"):
        number = Fraction(part.args[0])
        for other in (number + 1, number - 1, 2 * number, number / 2, -number):
            if other:  # by 0 a term goes
                yield "one-number", number_tree(other)


def _letters(part: Tree, letters: list[str]) -> Iterator[Change]:
    if part.head == "sym":
        yield from (("other-letter", Tree("sym", (name,))) for name in letters if name != part.args[0])


def _renamed(tree: Any, names: Mapping[str, str]) -> Any:
    """A tree with other letters; what is none, such as a number's value, as it is."""
    if not isinstance(tree, Tree):
        return tree
    if tree.head == "sym":
        return Tree("sym", (names.get(tree.args[0], tree.args[0]),))
    return Tree(tree.head, tuple(_renamed(part, names) for part in tree.args))
