"""Which collectives turn one sharding of an array into another, and how many bytes they move."""

from collections.abc import Mapping
from dataclasses import dataclass

from hwlib.sharding.array import Mesh, Sharded, ShardingError, sharded
from hwlib.units import show

FREE = "slice"  # a device keeps a part of what it has


@dataclass(frozen=True, repr=False)
class Move:
    """One collective on an array over some mesh axes; `bytes` is the full buffer S of a group of `n` devices.

    S is the result of an all-gather, the input of a device to a reduce-scatter or all-reduce, or the data of all
    devices in an all-to-all; it is 0 for a slice. Groups along the other axes communicate at the same time.
    """

    op: str
    before: Sharded
    after: Sharded
    axes: tuple[str, ...]
    n: int
    bytes: float

    def __str__(self) -> str:
        return f"{self.op}_{''.join(self.axes)}: {self.before} -> {self.after}"

    def __repr__(self) -> str:
        return f"<{self}, {self.n} devices, {show(self.bytes, 'B')}>"

    @property
    def sent_bytes(self) -> float:
        """The fewest bytes that each device sends: S*(n-1)/n, twice that for an all-reduce, S*(n-1)/n^2 for an
        all-to-all."""
        share = {"all_reduce": 2.0, "all_to_all": 1 / self.n, FREE: 0.0}.get(self.op, 1.0)
        return share * self.bytes * (self.n - 1) / self.n

    def time(self, W: float | Mapping[str, float], alpha: float = 0.0) -> float:
        """Seconds on rings: W is the one-way bandwidth of a device, or of each axis; the axes of a move add up.

        The all-to-all goes directly from each device to every other, so it assumes a switch.
        """
        from hwlib.collectives import (
            direct_alltoall_time,
            ring_allgather_time,
            ring_allreduce_time,
            ring_reduce_scatter_time,
        )

        if self.op == FREE:
            return 0.0
        rate = sum(W[axis] for axis in self.axes) if isinstance(W, Mapping) else W
        times = {
            "all_gather": ring_allgather_time,
            "reduce_scatter": ring_reduce_scatter_time,
            "all_reduce": ring_allreduce_time,
            "all_to_all": direct_alltoall_time,
        }
        return float(times[self.op](n=self.n, S=self.bytes, alpha=alpha, W=rate))


def moves_between(
    before: Sharded | str, after: Sharded | str, mesh: Mesh, shape: Mapping[str, int], b: float = 2
) -> list[Move]:
    """The moves from one sharding of an array to another; none if they are the same.

    First the moves that shrink the parts (slice, reduce-scatter), then exchanges and all-reduces, then all-gathers.
    If an inner axis stays while an outer one is gathered, as from I_XY to I_Y, the inner one is gathered too
    and sliced again, because a gather over X alone does not produce the blocks of I_Y.
    Raises ShardingError if `after` is an unreduced sum that `before` is not, or has other dimensions.
    """
    before, after = sharded(before), sharded(after)
    for array in (before, after):
        array.check(mesh, shape)
    if set(before.labels) != set(after.labels):
        raise ShardingError(f"{before} and {after} are not the same array: their dimensions differ")
    if lost := [axis for axis in after.sums if axis not in before.sums]:
        raise ShardingError(f"{before} is not an unreduced sum over {lost[0]}, so it cannot become {after}")
    return _Moves(before, after, mesh, shape, b).all()


class _Moves:
    """The array's present sharding, and the moves so far."""

    def __init__(self, before: Sharded, after: Sharded, mesh: Mesh, shape: Mapping[str, int], b: float):
        self.now, self.goal, self.mesh, self.shape, self.b = before, after, mesh, shape, b
        self.done: list[Move] = []

    def all(self) -> list[Move]:
        axes = [axis for axis in self.mesh if self.now.role(axis) != self.goal.role(axis)]
        for axis in axes:  # nothing -> a dimension: free where the split is innermost and in its final place
            label = self.goal.role(axis)
            if self.now.role(axis) is None and label and self._fits(label, axis):
                self._set(FREE, (axis,), {label: (*self.now.axes(label), axis)})
        for axis in axes:  # an unreduced sum -> a dimension
            label = self.goal.role(axis)
            if self.now.role(axis) == "" and label and self._fits(label, axis):
                self._reduce("reduce_scatter", (axis,), {label: (*self.now.axes(label), axis)})
        if sums := tuple(axis for axis in self.now.sums if axis not in self.goal.sums):
            self._reduce("all_reduce", sums, {})
        self._exchange(axes)
        for label in self.now.labels:  # a dimension -> nothing: from the innermost axis to the outermost gathered one
            have = self.now.axes(label)
            keep = _common(have, self.goal.axes(label))
            if len(have) > keep:
                self._set("all_gather", have[keep:], {label: have[:keep]})
                self._exchange(axes)
        for label in self.now.labels:
            have, want = self.now.axes(label), self.goal.axes(label)
            if want != have:
                self._set(FREE, want[len(have) :], {label: want})
        return self.done

    def _exchange(self, axes: list[str]) -> None:
        """Move axes from one dimension to another where the axis is innermost in both."""
        for axis in axes:
            old, new = self.now.role(axis), self.goal.role(axis)
            if old and new and old != new and self.now.axes(old)[-1] == axis and self._fits(new, axis):
                moved = {old: self.now.axes(old)[:-1], new: (*self.now.axes(new), axis)}
                self._set("all_to_all", (axis,), moved)

    def _fits(self, label: str, axis: str) -> bool:
        """Whether splitting `label` by `axis` now is a step towards its final axes."""
        want = (*self.now.axes(label), axis)
        return self.goal.axes(label)[: len(want)] == want

    def _reduce(self, op: str, axes: tuple[str, ...], dims: Mapping[str, tuple[str, ...]]) -> None:
        self._set(op, axes, dims, tuple(axis for axis in self.now.sums if axis not in axes))

    def _set(
        self, op: str, axes: tuple[str, ...], dims: Mapping[str, tuple[str, ...]], sums: tuple[str, ...] | None = None
    ) -> None:
        before, after = self.now, self.now.with_dims(dims, sums)
        n = self.mesh.size(axes)
        held = before.local_bytes(self.shape, self.mesh, self.b)
        S = {
            FREE: 0.0,
            "all_gather": after.local_bytes(self.shape, self.mesh, self.b),
            "all_to_all": n * held,
        }.get(op, held)
        self.done.append(Move(op, before, after, axes, n, S))
        self.now = after


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """The number of leading axes that two splits have in common."""
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return count
