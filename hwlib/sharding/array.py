"""Meshes and sharded arrays: the notation, and the part that one device holds."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, prod

_ARRAY = re.compile(r"\s*+(?P<name>[A-Za-z]\w*+)?\s*+\[(?P<dims>[^\[\]]*)\]\s*(?:\{(?P<sums>[^{}]*(?:\{\w+\})?)\})?\s*")
_DIM = re.compile(r"(?P<label>[A-Za-z][A-Za-z0-9]*)(?:_\{?(?P<axes>[A-Za-z]+)\}?)?")
_SUM = re.compile(r"U_\{?(?P<axes>[A-Za-z]+)\}?")


class ShardingError(ValueError):
    """Not a sharding, or not valid for this mesh or shape; the message says which part and what is allowed."""


class Mesh(Mapping[str, int]):
    """A grid of devices with named axes, `Mesh(X=4, Y=2)`; an axis is one letter, and the first varies slowest."""

    def __init__(self, **axes: int):
        for axis, size in axes.items():
            if len(axis) != 1:
                raise ShardingError(f"a mesh axis is one letter, so that I_XY reads as X and Y; got {axis!r}")
            if type(size) is not int or size < 1:
                raise ShardingError(f"the mesh axis {axis} has a whole number of devices, at least 1; got {size!r}")
        self._axes = dict(axes)

    def __getitem__(self, axis: str) -> int:
        return self._axes[axis]

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    def __len__(self) -> int:
        return len(self._axes)

    def __hash__(self) -> int:
        return hash(tuple(self._axes.items()))

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{axis}={size}' for axis, size in self._axes.items())})"

    @property
    def devices(self) -> int:
        """The number of devices."""
        return prod(self._axes.values())

    def size(self, axes: str | tuple[str, ...]) -> int:
        """The number of devices along some axes. Raises ShardingError for an axis that the mesh does not have."""
        for axis in axes:
            if axis not in self._axes:
                raise ShardingError(f"the mesh has no axis {axis!r}; it has {', '.join(self._axes) or 'none'}")
        return prod(self._axes[axis] for axis in axes)


@dataclass(frozen=True, repr=False)
class Sharded:
    """An array's name, the axes that split each of its dimensions (the first splits coarsest), and the axes over
    which it is an unreduced sum. Its text is the notation: `A[I_XY, J]{U_Z}`.
    """

    name: str
    dims: tuple[tuple[str, tuple[str, ...]], ...]
    sums: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        labels = [label for label, _ in self.dims]
        if twice := [label for label in labels if labels.count(label) > 1]:
            raise ShardingError(f"{self}: the dimension {twice[0]} occurs twice; give each its own letter")
        used = [axis for _, axes in self.dims for axis in axes] + list(self.sums)
        if again := [axis for axis in used if used.count(axis) > 1]:
            raise ShardingError(
                f"{self}: the mesh axis {again[0]} is used twice; an axis splits one dimension or has one unreduced sum"
            )

    def __str__(self) -> str:
        dims = ", ".join(label + ("_" + "".join(axes) if axes else "") for label, axes in self.dims)
        return f"{self.name}[{dims}]" + ("{U_" + "".join(self.sums) + "}" if self.sums else "")

    def __repr__(self) -> str:
        return f"sharded({str(self)!r})"

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the dimensions, in order."""
        return tuple(label for label, _ in self.dims)

    def axes(self, label: str) -> tuple[str, ...]:
        """The axes that split a dimension."""
        return dict(self.dims)[label]

    def role(self, axis: str) -> str | None:
        """What a mesh axis does here: the dimension that it splits, "" for an unreduced sum, None for nothing."""
        if axis in self.sums:
            return ""
        return next((label for label, axes in self.dims if axis in axes), None)

    def with_dims(self, dims: Mapping[str, tuple[str, ...]], sums: tuple[str, ...] | None = None) -> "Sharded":
        """The same array with other axes for some dimensions, or other unreduced sums."""
        new = tuple((label, dims.get(label, axes)) for label, axes in self.dims)
        return Sharded(self.name, new, self.sums if sums is None else sums)

    def check(self, mesh: Mesh, shape: Mapping[str, int] | None = None) -> None:
        """Raise ShardingError for an axis that the mesh does not have, or a dimension without a size."""
        for label, axes in (*self.dims, ("the unreduced sum", self.sums)):
            for axis in axes:
                if axis not in mesh:
                    raise ShardingError(f"{self}: {label} names the axis {axis}; {mesh} has {', '.join(mesh)}")
        for label in self.labels if shape is not None else ():
            size = shape[label] if shape is not None and label in shape else None
            if type(size) is not int or size < 0:
                raise ShardingError(f"{self}: the size of {label} is a whole number, at least 0; got {size!r}")

    def local_shape(self, shape: Mapping[str, int], mesh: Mesh, at: Mapping[str, int] | None = None) -> tuple[int, ...]:
        """The shape of one device's part: the largest part, or that of the device `at` these mesh coordinates.

        Where a size does not divide, parts are as in torch.chunk: all of ceil(size/parts) except the last.
        """
        self.check(mesh, shape)
        return tuple(_part(shape[label], axes, mesh, at) for label, axes in self.dims)

    def local_bytes(self, shape: Mapping[str, int], mesh: Mesh, b: float = 2) -> float:
        """Bytes that a device holds (the largest part), at b bytes per element; a partial sum has the full size."""
        if not b > 0:
            raise ShardingError(f"b is the bytes of an element, above 0; got {b!r}")
        return prod(self.local_shape(shape, mesh)) * b

    def total_bytes(self, shape: Mapping[str, int], mesh: Mesh, b: float = 2) -> float:
        """Bytes of all devices together, including copies, counting every part as the largest."""
        return self.local_bytes(shape, mesh, b) * mesh.devices

    def copies(self, mesh: Mesh) -> int:
        """The number of devices that hold the same part: the product of the axes that do nothing here."""
        self.check(mesh)
        return prod(size for axis, size in mesh.items() if self.role(axis) is None)

    def placements(self, mesh: Mesh) -> tuple[str, ...]:
        """What each mesh axis does, as PyTorch's placements: Shard(dim), Replicate() or Partial().

        Raises ShardingError if a dimension is split by axes in another order than the mesh's, for which DTensor has
        no plain placement.
        """
        self.check(mesh)
        order = list(mesh)
        for label, axes in self.dims:
            if [order.index(axis) for axis in axes] != sorted(order.index(axis) for axis in axes):
                split = "".join(axes)
                raise ShardingError(f"{self}: {label} is split by {split}; DTensor splits in the order of {mesh}")
        names = {None: "Replicate()", "": "Partial()"} | {
            label: f"Shard({dim})" for dim, label in enumerate(self.labels)
        }
        return tuple(names[self.role(axis)] for axis in mesh)


def _part(size: int, axes: tuple[str, ...], mesh: Mesh, at: Mapping[str, int] | None) -> int:
    """The length of one part, split by each axis in turn."""
    for axis in axes:
        step = ceil(size / mesh[axis])
        place = at[axis] if at is not None else 0
        size = max(min(step, size - place * step), 0)
    return size


def sharded(text: str | Sharded) -> Sharded:
    """Read `A[I_X, J_YZ]{U_W}`. Raises ShardingError that shows the part that is not of this form."""
    if isinstance(text, Sharded):
        return text
    match = _ARRAY.fullmatch(text) if isinstance(text, str) else None
    if not match:
        raise ShardingError(f"a sharded array reads A[I_X, J_Y]{{U_Z}}; got {text!r}")
    dims = []
    for part in match["dims"].split(",") if match["dims"].strip() else ():
        dim = _DIM.fullmatch(part.strip())
        if not dim:
            raise ShardingError(f"{text!r}: {part.strip()!r} is not a dimension; I, I_X or I_XY was expected")
        dims.append((dim["label"], tuple(dim["axes"] or "")))
    sums: tuple[str, ...] = ()
    if match["sums"] is not None:
        open_sum = _SUM.fullmatch(match["sums"].strip())
        if not open_sum:
            raise ShardingError(f"{text!r}: {{{match['sums']}}} is not an unreduced sum; {{U_X}} was expected")
        sums = tuple(open_sum["axes"])
    return Sharded(match["name"] or "", tuple(dims), sums)
