"""Products of vectors and matrices, and convolutions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import mul
from typing import Any

from hwlib.plain.arrays import asarray, broadcast_to, flat, made, ndarray
from hwlib.plain.dtypes import FLOAT64, OF_KIND, promoted, rounded
from hwlib.plain.elementwise import multiply
from hwlib.plain.strided import broadcast_shapes


def _sum_of_products(x: Sequence[Any], y: Sequence[Any]) -> Any:
    return sum(map(mul, x, y))


sum_of_products: Callable[[Sequence[Any], Sequence[Any]], Any] = getattr(math, "sumprod", _sum_of_products)


def matmul(one: Any, other: Any) -> Any:
    """The product of two matrices, of rows of matrices, or with vectors."""
    x, y = asarray(one), asarray(other)
    if not x.ndim or not y.ndim:
        raise ValueError("matmul: Input operand does not have enough dimensions")
    kind = promoted(x.dtype, y.dtype)
    left, right = (x.reshape(1, -1) if x.ndim == 1 else x), (y.reshape(-1, 1) if y.ndim == 1 else y)
    (rows, inner), (height, columns) = left.shape[-2:], right.shape[-2:]
    if inner != height:
        raise ValueError(
            f"matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(n?,k),(k,m?)->(n?,m?) (size {height} is different from {inner})"
        )
    front = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    a = flat(broadcast_to(left, (*front, rows, inner)))
    b = flat(broadcast_to(right, (*front, inner, columns)))
    values: list[Any] = []
    for i in range(math.prod(front)):
        page = b[i * inner * columns : (i + 1) * inner * columns]
        across = [page[j::columns] for j in range(columns)]
        for start in range(i * rows * inner, (i + 1) * rows * inner, inner) if inner else ():
            row = a[start : start + inner]
            values += [sum_of_products(row, column) for column in across]
        if not inner:
            values += [0] * (rows * columns)
    values = _fitted(values, kind)
    shape = front + ((rows,) if x.ndim > 1 else ()) + ((columns,) if y.ndim > 1 else ())
    return made(values, shape, kind) if shape else kind.type(values[0])


def _fitted(values: list[Any], kind: Any) -> list[Any]:
    if kind.kind in "bf" and values and type(values[0]) is not (python := OF_KIND[kind.kind]):
        values = list(map(python, values))
    return values if kind is FLOAT64 else rounded(values, kind)


def dot(one: Any, other: Any) -> Any:
    """The sum over the last axis of one and the last but one of the other."""
    x, y = asarray(one), asarray(other)
    if not x.ndim or not y.ndim:
        return multiply(x, y)
    if x.ndim > 2 and y.ndim > 2:
        raise NotImplementedError("the page's small numpy has no dot of two arrays of three axes; `@` may be meant")
    return matmul(x, y)


def vdot(one: Any, other: Any) -> Any:
    """The sum of the products of all elements."""
    return matmul(asarray(one).reshape(-1), asarray(other).reshape(-1))


def inner(one: Any, other: Any) -> Any:
    """The sum over the last axes of both."""
    x, y = asarray(one), asarray(other)
    return multiply(x, y) if not x.ndim or not y.ndim else matmul(x, y.T if y.ndim > 1 else y)


def outer(one: Any, other: Any) -> ndarray:
    """The product of each element of one with each of the other."""
    return multiply.outer(asarray(one).reshape(-1), asarray(other).reshape(-1))


def convolve(one: Any, other: Any, mode: str = "full") -> ndarray:
    """The coefficients of the product of two polynomials."""
    x, y = asarray(one), asarray(other)
    if not x.size or not y.size:
        raise ValueError("convolve: an operand is empty")
    a, b = flat(x), flat(y)
    if len(a) < len(b):
        a, b = b, a
    back = b[::-1]
    pad = [0] * (len(b) - 1)
    wide = pad + a + pad
    values = [sum_of_products(wide[i : i + len(b)], back) for i in range(len(a) + len(b) - 1)]
    if mode == "same":
        start = (len(b) - 1) // 2
        values = values[start : start + len(a)]
    elif mode == "valid":
        values = values[len(b) - 1 : len(a)]
    elif mode != "full":
        raise ValueError(f"mode {mode!r}; 'full', 'same' or 'valid' was expected")
    kind = promoted(x.dtype, y.dtype)
    return made(_fitted(values, kind), (len(values),), kind)


def kron(one: Any, other: Any) -> ndarray:
    """Each element of one times the other, as blocks."""
    x, y = asarray(one), asarray(other)
    if x.ndim != y.ndim:
        raise NotImplementedError("the page's small numpy has kron of arrays with as many axes only")
    tall = x.reshape([size for one in x.shape for size in (one, 1)])
    wide = y.reshape([size for one in y.shape for size in (1, one)])
    return multiply(tall, wide).reshape([a * b for a, b in zip(x.shape, y.shape, strict=True)])


def einsum(subscripts: str, *given: Any) -> Any:
    """Sums of products by letters: each letter is an axis, and those that the result lacks are summed over."""
    arrays = [asarray(one) for one in given]
    left, _, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(arrays) or any(
        len(t) != x.ndim or len(set(t)) < len(t) for t, x in zip(terms, arrays, strict=False)
    ):
        raise ValueError(f"einsum {subscripts!r}: a letter for each axis of each operand was expected, none twice")
    if "->" not in subscripts:
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    letters = right + "".join(sorted(set(left) - {","} - set(right)))
    product: Any = 1
    for term, x in zip(terms, arrays, strict=True):
        there = [c for c in letters if c in term]
        seen = x.transpose([term.index(c) for c in there]) if there else x
        product = multiply(product, seen[tuple(slice(None) if c in term else None for c in letters)])
    product = asarray(product)
    summed = tuple(range(len(right), len(letters)))
    return product.sum(axis=summed) if summed else product
