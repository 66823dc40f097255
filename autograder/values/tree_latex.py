"""An expression's tree as LaTeX, as it was typed: terms in their order, quotients as fractions."""

from __future__ import annotations

from fractions import Fraction

from hwlib.notation import NOTATION

from .trees import Tree

CALLS = {
    "max": r"\max\left({}\right)",
    "min": r"\min\left({}\right)",
    "log": r"\ln\left({}\right)",
    "log2": r"\log_2\left({}\right)",
    "exp": r"\exp\left({}\right)",
    "abs": r"\left|{}\right|",
    "ceil": r"\left\lceil {} \right\rceil",
    "floor": r"\left\lfloor {} \right\rfloor",
}
SIGNS = {"lt": "<", "le": r"\le", "gt": ">", "ge": r"\ge", "eq": "=", "ne": r"\ne", "and": r"\land", "or": r"\lor"}
SUM, PRODUCT, TIGHT = range(3)  # what a place asks of what stands in it, without brackets


def latex(tree: Tree) -> str:
    """The LaTeX of a tree; a letter of the book's notation as the book prints it."""
    return _shown(tree, SUM)


def _shown(tree: Tree, place: int) -> str:
    text, level = _printed(tree)
    return text if level >= place else rf"\left({text}\right)"


def _printed(tree: Tree) -> tuple[str, int]:
    head, args = tree.head, tree.args
    if head == "num":
        return _number(args[0])
    if head == "dec":
        return _decimal(args[0])
    if head == "sym":
        return _letter(args[0]), TIGHT
    if head == "add":
        return _sum(args), SUM
    if head == "mul":
        return _product(args)
    if head == "pow":
        return _power(*args)
    if head == "mod":
        return rf"{_shown(args[0], PRODUCT)} \bmod {_shown(args[1], TIGHT)}", SUM
    if head == "where":
        pairs = zip(args[::2], args[1::2], strict=True)
        rows = r" \\ ".join(f"{latex(value)} & {_condition(condition)}" for value, condition in pairs)
        return rf"\begin{{cases}} {rows} \end{{cases}}", SUM
    if head in SIGNS:
        return f" {SIGNS[head]} ".join(_shown(arg, SUM) for arg in args), SUM
    if head == "not":
        return rf"\lnot {_shown(args[0], TIGHT)}", SUM
    if head in CALLS:
        return CALLS[head].format(", ".join(map(latex, args))), TIGHT
    return {"pi": r"\pi", "e": "e"}.get(head, rf"\text{{{head}}}"), TIGHT


def _condition(tree: Tree) -> str:
    return r"\text{otherwise}" if tree.head == "true" else rf"\text{{if }} {latex(tree)}"


def _number(value: Fraction) -> tuple[str, int]:
    sign = "-" if value < 0 else ""
    over, under = abs(value.numerator), value.denominator
    text = str(over) if under == 1 else rf"\frac{{{over}}}{{{under}}}"
    return sign + text, SUM if sign else TIGHT


def _decimal(text: str) -> tuple[str, int]:
    digits, _, exponent = text.lower().partition("e")
    if not exponent:
        return digits, TIGHT
    return rf"{digits} \cdot 10^{{{int(exponent)}}}", PRODUCT


def _letter(name: str) -> str:
    if name in NOTATION:
        return NOTATION[name].tex
    first, _, rest = name.partition("_")
    body = first if len(first) == 1 else rf"\mathrm{{{first}}}"
    if not rest:
        return body
    return f"{body}_{rest}" if len(rest) == 1 else rf"{body}_{{\mathrm{{{rest.replace('_', ',')}}}}}"


def _sum(args: tuple[Tree, ...]) -> str:
    text = ""
    for arg in args:
        minus, rest = _without_minus(arg)
        shown = _shown(rest, PRODUCT if minus or rest.head != "add" else SUM)
        text += (f" {'-' if minus else '+'} " if text else "-" if minus else "") + shown
    return text


def _without_minus(tree: Tree) -> tuple[bool, Tree]:
    """Whether a term is taken away, and the term: `a - b` is the sum of a and -1 times b."""
    if tree.head == "mul" and tree.args[0] == Tree("num", (Fraction(-1),)):
        rest = tree.args[1:]
        return True, rest[0] if len(rest) == 1 else Tree("mul", rest)
    if tree.head == "num" and tree.args[0] < 0:
        return True, Tree("num", (-tree.args[0],))
    return False, tree


def _product(args: tuple[Tree, ...]) -> tuple[str, int]:
    minus, rest = _without_minus(Tree("mul", args))
    if minus:
        return f"-{_shown(rest, PRODUCT)}", SUM
    over, under = _factors(Tree("mul", args))
    if not under:
        return _times(over), PRODUCT
    above = latex(over[0]) if len(over) == 1 else _times(over) if over else "1"
    below = latex(under[0]) if len(under) == 1 else _times(under)
    return rf"\frac{{{above}}}{{{below}}}", TIGHT


def _factors(tree: Tree) -> tuple[list[Tree], list[Tree]]:
    """The factors above and below the line, in their order; a 1 above others stands for nothing."""
    over: list[Tree] = []
    under: list[Tree] = []
    for arg in tree.args:
        if arg.head == "mul" and not _without_minus(arg)[0]:
            more_over, more_under = _factors(arg)
            over, under = over + more_over, under + more_under
        elif arg.head == "pow" and arg.args[1] == Tree("num", (Fraction(-1),)):
            under.append(arg.args[0])
        else:
            over.append(arg)
    ones = [one for one in over if one != Tree("num", (Fraction(1),))]
    return (ones if under else over), under


def _times(factors: list[Tree]) -> str:
    """Factors side by side, with a dot where two numbers meet."""
    text = ""
    for factor in factors:
        shown = _shown(factor, PRODUCT if not text else TIGHT)
        text += (r" \cdot " if text and shown[:1].isdigit() else r" \, " if text else "") + shown
    return text


def _power(base: Tree, exponent: Tree) -> tuple[str, int]:
    if exponent == Tree("num", (Fraction(1, 2),)):
        return rf"\sqrt{{{latex(base)}}}", TIGHT
    if exponent == Tree("num", (Fraction(-1),)):
        return rf"\frac{{1}}{{{latex(base)}}}", TIGHT
    simple = base.head in ("sym", "num", "pi", "e")
    shown = _shown(base, TIGHT) if simple else rf"\left({latex(base)}\right)"
    return f"{shown}^{{{latex(exponent)}}}", TIGHT
