"""Exponents that are typed as decimals and are near to simple fractions: 0.33 for a third."""

from __future__ import annotations

from fractions import Fraction

from ..values.evaluation import Undefined, value
from ..values.trees import Tree, number_tree

SIMPLE = 6  # the largest denominator of an exponent in the book's formulas, doubled
ROUNDED = Fraction(2, 100)  # relative: what a third is off by as 0.33, and less than between simple fractions
SAID = "Not yet: an exponent is rounded, and all else is right. Write it as a quotient of whole numbers, as (2/5)."


def with_simple_exponents(tree: Tree) -> Tree:
    """The tree with each such exponent replaced by the fraction that it is near to."""
    args = tuple(with_simple_exponents(arg) if isinstance(arg, Tree) else arg for arg in tree.args)
    if tree.head == "pow" and not args[1].names():
        try:
            power = value(args[1], {})
        except Undefined:
            return Tree(tree.head, args)
        simple = Fraction(power).limit_denominator(SIMPLE) if type(power) is Fraction else power
        if simple != power and abs(simple - power) <= ROUNDED * abs(power):
            return Tree("pow", (args[0], number_tree(simple)))
    return Tree(tree.head, args)
