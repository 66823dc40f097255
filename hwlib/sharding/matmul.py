"""Sharded matmuls: every way to run one on a mesh, the collectives that each needs, and their cost.

A matmul is a sum of products over the dimensions of its two arrays: I and K remain, J is summed over. In the
local product, each mesh axis splits at most one dimension. Choosing a dimension, or none, for each axis
therefore enumerates every way to do it: the shardings of the arrays and the result follow, and so do the moves.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from hwlib.sharding.array import Mesh, Sharded, ShardingError, sharded
from hwlib.sharding.moves import FREE, Move, moves_between
from hwlib.units import show


@dataclass(frozen=True, repr=False)
class MatmulPlan:
    """One way to multiply: moves of the inputs, the local product of `left` and `right`, moves of its result.

    `flops` are those of one device; `split` says which dimension each mesh axis splits in the product ("" for none).
    """

    split: Mapping[str, str]
    before: tuple[Move, ...]
    left: Sharded
    right: Sharded
    product: Sharded
    after: tuple[Move, ...]
    flops: float

    @property
    def moves(self) -> tuple[Move, ...]:
        """All collectives in order, without the slices, which are free."""
        return tuple(move for move in (*self.before, *self.after) if move.op != FREE)

    @property
    def sent_bytes(self) -> float:
        """The fewest bytes that a device sends in all collectives."""
        return sum(move.sent_bytes for move in self.moves)

    def comm_time(self, W: float | Mapping[str, float], alpha: float = 0.0) -> float:
        """Seconds of the collectives in sequence; see `Move.time`."""
        return sum(move.time(W, alpha) for move in self.moves)

    def time(self, C: float, W: float | Mapping[str, float], alpha: float = 0.0) -> float:
        """First-order seconds if arithmetic at C FLOP/s and the collectives overlap perfectly."""
        return max(self.flops / C, self.comm_time(W, alpha))

    def __str__(self) -> str:
        steps = [str(move) for move in self.before]
        steps += [f"{self.left} . {self.right} -> {self.product}"]
        return "; ".join(steps + [str(move) for move in self.after])

    def __repr__(self) -> str:
        return f"<{self}: {show(self.flops, 'FLOP')} and {show(self.sent_bytes, 'B')} sent a device>"


def _letters(A: Sharded, B: Sharded, C: Sharded) -> tuple[list[str], list[str]]:
    """All dimensions, and those summed over. Raises ShardingError if the three arrays do not form a matmul."""
    letters = list(dict.fromkeys((*A.labels, *B.labels)))
    if unknown := [label for label in C.labels if label not in letters]:
        raise ShardingError(f"{C} has the dimension {unknown[0]}, which neither {A} nor {B} has")
    summed = [label for label in letters if label not in C.labels]
    if alone := [label for label in summed if label not in A.labels or label not in B.labels]:
        raise ShardingError(f"{alone[0]} is missing in {C}, so it is summed over, but only one of {A} and {B} has it")
    return letters, summed


def matmul_case(A: Sharded | str, B: Sharded | str, C: Sharded | str | None = None) -> int:
    """Which of the four cases a matmul is; without C, the result has the dimensions that only one array has.

    1: no summed dimension is split, and no axis is used twice: no communication. 2: one array is split
    along a summed dimension and the other is not: gather it, or slice the other and reduce. 3: both are split
    in the same way along a summed dimension: multiply, then reduce. 4: one axis splits different dimensions of the
    two: gather one first. Returns the first of 4, 2, 3 that holds.
    """
    A, B = sharded(A), sharded(B)
    C = sharded(C) if C is not None else Sharded("", tuple((x, ()) for x in sorted({*A.labels} ^ {*B.labels})))
    _, summed = _letters(A, B, C)
    axes = {axis for array in (A, B) for _, split in array.dims for axis in split}
    roles = [(A.role(axis), B.role(axis)) for axis in sorted(axes)]
    if any(a and b and a != b for a, b in roles):
        return 4
    if any((a or b) in summed and a != b for a, b in roles):
        return 2
    return 3 if any(a in summed and a == b for a, b in roles) else 1


def matmul_plans(
    A: Sharded | str,
    B: Sharded | str,
    C: Sharded | str,
    mesh: Mesh,
    shape: Mapping[str, int],
    b: float = 2,
) -> list[MatmulPlan]:
    """Every way to compute C from A and B as they are sharded, the fewest bytes sent first.

    `shape` is the size of each dimension, b the bytes of an element. Ways that repeat the same arithmetic on several
    devices are included, with larger `flops`. If only one input is an unreduced sum, it stays one through the
    product; otherwise it is reduced first.
    """
    A, B, C = sharded(A), sharded(B), sharded(C)
    for array in (A, B, C):
        array.check(mesh, {label: shape.get(label, -1) for label in array.labels})
    letters, summed = _letters(A, B, C)
    plans: dict[str, MatmulPlan] = {}
    for choice in product(["", *letters], repeat=len(mesh)):
        split = dict(zip(mesh, choice, strict=True))
        plan = _plan(A, B, C, split, summed, mesh, shape, b)
        if plan:
            plans.setdefault(str(plan), plan)
    return sorted(plans.values(), key=lambda plan: (plan.sent_bytes, plan.flops, len(plan.moves), str(plan)))


def gradient_plans(
    A: Sharded | str, B: Sharded | str, C: Sharded | str, mesh: Mesh, shape: Mapping[str, int], b: float = 2
) -> tuple[list[MatmulPlan], list[MatmulPlan]]:
    """Every way to compute the gradients of A and B from that of C, all sharded like the arrays themselves.

    dA sums dC . B over the dimensions that A does not have, dB sums A . dC over those that B does not have.
    """
    A, B, C = sharded(A), sharded(B), sharded(C)
    dA, dB, dC = (Sharded(f"d{array.name}", array.dims) for array in (A, B, C))
    return matmul_plans(dC, B, dA, mesh, shape, b), matmul_plans(A, dC, dB, mesh, shape, b)


def _plan(
    A: Sharded,
    B: Sharded,
    C: Sharded,
    split: Mapping[str, str],
    summed: list[str],
    mesh: Mesh,
    shape: Mapping[str, int],
    b: float,
) -> MatmulPlan | None:
    """The plan in which each axis splits the dimension named in `split`; None if the result cannot become C."""
    open_sums = [axis for axis in mesh if (A.role(axis) == "") != (B.role(axis) == "") and not split[axis]]
    left = _as_split(A, split, [axis for axis in open_sums if axis in A.sums])
    right = _as_split(B, split, [axis for axis in open_sums if axis in B.sums])
    axes = {label: tuple(a for a, split_letter in split.items() if split_letter == label) for label in C.labels}
    sums = tuple(axis for axis in mesh if split[axis] in summed or axis in open_sums)
    result = Sharded(C.name, tuple((label, axes[label]) for label in C.labels), sums)
    try:
        before = (*moves_between(A, left, mesh, shape, b), *moves_between(B, right, mesh, shape, b))
        after = tuple(moves_between(result, C, mesh, shape, b))
    except ShardingError:
        return None
    letters = dict.fromkeys((*A.labels, *B.labels))
    local = (*left.dims, *((label, axes) for label, axes in right.dims if label not in left.labels))
    parts = Sharded("", local).local_shape({label: shape[label] for label in letters}, mesh)
    return MatmulPlan(split, before, left, right, result, after, 2.0 * prod(parts))


def _as_split(array: Sharded, split: Mapping[str, str], sums: list[str]) -> Sharded:
    dims = {label: tuple(axis for axis, letter in split.items() if letter == label) for label in array.labels}
    return array.with_dims(dims, tuple(sums))
