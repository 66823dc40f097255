"""A formula is written once, as a Python function of one `return`, and read many ways.

    @formula("t", cite="thakur2005")
    def ring_allreduce_time(n, S, alpha, W):
        \"\"\"Reduce-scatter, then all-gather: n - 1 steps each, S/n bytes a step.\"\"\"
        return 2*(n - 1)*alpha + 2*(n - 1)/n * (S/W)

Call it with numbers, numpy arrays or sympy symbols. `.expr` is its sympy expression, `.dim` its dimension,
`.tex` its LaTeX, `.js` and `.vega` its JavaScript, `.equation` the equation with its "where" line, which a
notebook shows.

The parameters are symbols of `hwlib.notation`. The body may contain them, numbers, `+ - * / **`, calls of other
formulas and the ops `ceil floor log2 ln sqrt minimum maximum where sum_of max_of const`, and nothing else: what
needs a loop or a branch is an algorithm, written as a plain function.
"""

from hwlib.formula.decorator import ALL, REGISTRY, Formula, NoReading, formula
from hwlib.formula.dimensions import DimensionError
from hwlib.formula.ops import ceil, const, floor, ln, log2, max_of, maximum, minimum, sqrt, sum_of, where
from hwlib.formula.source import FormulaError

__all__ = [
    "ALL",
    "REGISTRY",
    "DimensionError",
    "Formula",
    "FormulaError",
    "NoReading",
    "ceil",
    "const",
    "floor",
    "formula",
    "ln",
    "log2",
    "max_of",
    "maximum",
    "minimum",
    "sqrt",
    "sum_of",
    "where",
]
