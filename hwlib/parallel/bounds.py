"""Derived bounds: two times, an unknown symbol, and the values of the symbol for which the first is shorter.

>>> from hwlib.parallel import tp_block_time, tp_math_time
>>> [bound] = bounds(tp_block_time.expr, tp_math_time.expr, "tp")
>>> bound
<tp <= 1 + F*W*matrices/(C*b)>

Times hold minima and maxima where regimes meet; each choice of a side is a case, with the condition under which it
is the one.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any


@dataclass(frozen=True, repr=False)
class Bound:
    """`letter` side `value`, where all of `when` hold: sympy relations, none if there is one regime."""

    letter: str
    side: str
    value: Any
    when: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        condition = f" where {' and '.join(map(str, self.when))}" if self.when else ""
        return f"<{self.letter} {self.side} {self.value}{condition}>"

    def holds(self, **letters: Any) -> bool:
        """Whether these values of the symbols lie in this regime."""
        return all(bool(_fill(condition, letters)) for condition in self.when)

    def at(self, **letters: Any) -> float:
        """The value of the bound."""
        return float(_fill(self.value, letters))


def bounds(comm: Any, math: Any, letter: str) -> tuple[Bound, ...]:
    """The values of a symbol for which communication takes no longer than arithmetic: one bound per regime.

    Both are sympy expressions, such as a formula's `.expr`, in positive symbols; substitute symbols that are held fixed
    beforehand. A regime whose ratio does not depend on the symbol gives no bound. Raises ValueError if the ratio of the
    times does not cross 1 exactly once, or for a symbol that neither time has.
    """
    import sympy

    symbol = sympy.Symbol(letter, positive=True)
    comm, math = sympy.sympify(comm), sympy.sympify(math)
    if symbol not in comm.free_symbols | math.free_symbols:
        have = ", ".join(sorted(map(str, comm.free_symbols | math.free_symbols)))
        raise ValueError(f"bounds: letter is one of {have}, got {letter!r}")
    regions = []
    for when, left, right in _cases(comm, math):
        ratio = sympy.simplify(left / right)
        if symbol not in ratio.free_symbols:
            continue
        roots = [root for root in sympy.solve(sympy.Eq(ratio, 1), symbol) if root.is_positive is not False]
        if len(roots) != 1:
            raise ValueError(f"bounds: {letter} crosses {len(roots)} times in {ratio} = 1, not once")
        root = min((sympy.expand(roots[0]), sympy.factor(roots[0])), key=sympy.count_ops)
        regions.append(Bound(letter, _side(ratio, symbol, root), root, when))
    return tuple(regions)


def _cases(*times: Any) -> Any:
    """The times with every Min and Max replaced by one of its arguments, and the condition of that choice."""
    import sympy

    extremes = sorted({e for t in times for e in t.atoms(sympy.Min, sympy.Max)}, key=sympy.default_sort_key)
    for chosen in product(*(extreme.args for extreme in extremes)):
        replaced = dict(zip(extremes, chosen, strict=True))
        when = []
        for extreme, pick in replaced.items():
            for other in extreme.args:
                if other != pick:
                    low, high = (pick, other) if isinstance(extreme, sympy.Min) else (other, pick)
                    when.append(sympy.simplify(low) <= sympy.simplify(high))
        if sympy.false not in when:
            yield tuple(w for w in when if w is not sympy.true), *(t.xreplace(replaced) for t in times)


def _side(ratio: Any, symbol: Any, root: Any) -> str:
    """Which side of the crossing is good: where the ratio is below 1. Tried in numbers, where the root is positive."""
    others = sorted(ratio.free_symbols - {symbol}, key=str)
    for start in (2, 3, 5, 7, 11):
        values = {other: start + 3 * i for i, other in enumerate(others)}
        at = root.subs(values)
        if at.is_positive:
            return "<=" if ratio.subs(values).subs(symbol, at / 2) < 1 else ">="
    raise ValueError(f"bounds: no positive {symbol} found where {ratio} = 1")


def _fill(expression: Any, letters: dict[str, Any]) -> Any:
    return expression.subs({symbol: letters[str(symbol)] for symbol in expression.free_symbols})
