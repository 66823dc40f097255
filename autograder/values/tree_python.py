"""An expression's tree as Python, in the functions of `hwlib.formula`: a line that a file of declarations may hold."""

from __future__ import annotations

from fractions import Fraction

from .trees import Tree

CALLS = {
    "max": "maximum",
    "min": "minimum",
    "log": "log",
    "log2": "log2",
    "exp": "exp",
    "abs": "abs",
    "ceil": "ceil",
    "floor": "floor",
}
SUM, PRODUCT, POWER, ATOM = range(4)  # how tightly what is printed holds together


def python(tree: Tree) -> str:
    """The tree as one line; "" for one with cases or comparisons, which no line of a declaration is."""
    try:
        return _printed(tree)[0]
    except KeyError:
        return ""


def _printed(tree: Tree) -> tuple[str, int]:
    head, args = tree.head, tree.args
    if head == "num":
        return _number(args[0])
    if head in ("dec", "sym"):
        return str(args[0]), ATOM if not str(args[0]).startswith("-") else SUM
    if head == "add":
        text = _in(args[0], SUM)
        for arg in args[1:]:
            part = _in(arg, SUM)
            text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
        return text, SUM
    if head == "mul":
        return _product(args)
    if head == "pow":
        return f"{_in(args[0], ATOM)}**{_in(args[1], ATOM)}", POWER
    return f"{CALLS[head]}({', '.join(_in(arg, SUM) for arg in args)})", ATOM


def _product(args: tuple[Tree, ...]) -> tuple[str, int]:
    below = [arg.args[0] for arg in args if _is_inverse(arg)]
    above = [arg for arg in args if not _is_inverse(arg)]
    text = "*".join(_in(arg, PRODUCT) for arg in above) or "1"
    if not below:
        return text, PRODUCT
    under = "*".join(_in(arg, PRODUCT if len(below) > 1 else POWER) for arg in below)
    return f"{text}/{under if len(below) == 1 else f'({under})'}", PRODUCT


def _is_inverse(tree: Tree) -> bool:
    return tree.head == "pow" and tree.args[1] == Tree("num", (Fraction(-1),))


def _in(tree: Tree, place: int) -> str:
    text, holds = _printed(tree)
    return text if holds >= place else f"({text})"


def _number(value: Fraction) -> tuple[str, int]:
    if value.denominator == 1:
        return str(value.numerator), ATOM if value >= 0 else SUM
    return f"{value.numerator}/{value.denominator}", PRODUCT if value > 0 else SUM
