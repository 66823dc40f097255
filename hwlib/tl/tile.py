"""Tiles and pointers of a kernel, and the record of what it does with them.

A kernel is run once for each program, on tiles that have a shape and a type but no values: each operation is written
down, with a number for its result. `memory.play` then does what is written down, so it can count every byte, and so a
kernel that runs in another process gives away nothing but this list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_OPERATIONS = 20_000  # of one program; a loop that never ends reaches them soon
MOST_ELEMENTS = 2**17  # of one tile: half a megabyte of float32, more than the registers of a multiprocessor


class KernelError(Exception):
    """A kernel does what it cannot do; the message says which program, array and element.

    Reasons: out-of-bounds, race, unwritten, element-twice, endless, too-large, no-power-of-two, other-shape,
    other-type, decides-in-python, no-tile, no-pointer, outside-a-kernel, bad-argument, no-record.
    """

    def __init__(self, say: str, reason: str, *, program: Any = None, array: str = "", element: int = -1):
        super().__init__(say)
        self.reason, self.program, self.array, self.element = reason, program, array, element


@dataclass(frozen=True)
class DType:
    """A type of elements, by the name that numpy and Triton give it."""

    name: str
    bytes: int
    rank: int  # of two types the one of the higher rank is the type of their sum

    @property
    def is_float(self) -> bool:
        """Whether operations on it are counted as FLOPs."""
        return self.name.startswith("float")

    def __repr__(self) -> str:
        return f"tl.{self.name}"


int1, int32, int64 = DType("int1", 1, 0), DType("int32", 4, 1), DType("int64", 8, 2)
float16, float32, float64 = DType("float16", 2, 3), DType("float32", 4, 4), DType("float64", 8, 5)
DTYPES = {one.name: one for one in (int1, int32, int64, float16, float32, float64)}


@dataclass
class Program:
    """What one program of the grid does: its place in the grid, and its operations.

    An operation is (name, operands, options); an operand is the number of an earlier result, or a constant in a list
    of its own. Operation k has result k.
    """

    at: tuple[int, int, int]
    grid: tuple[int, int, int]
    operations: list[tuple[str, tuple, dict[str, Any]]] = field(default_factory=list)

    def add(
        self,
        name: str,
        operands: Sequence[Any],
        shape: tuple[int, ...],
        dtype: DType,
        options: dict[str, Any] | None = None,
    ) -> Tile:
        """Write an operation down; its result has this shape and type."""
        if len(self.operations) >= MOST_OPERATIONS:
            raise KernelError(
                f"program {self.place} has done {MOST_OPERATIONS:,} operations: does a loop never end, or could one "
                "of them do the work of many?",
                "endless",
                program=self.at,
            )
        if (count := size_of(shape)) > MOST_ELEMENTS:
            raise KernelError(
                f"a tile of shape {shape} has {count:,} elements; at most {MOST_ELEMENTS:,} were expected", "too-large"
            )
        numbers = tuple(one.number if isinstance(one, Tile) else [one] for one in operands)
        self.operations.append((name, numbers, options or {}))
        return Tile(self, len(self.operations) - 1, shape, dtype)

    @property
    def place(self) -> str:
        """Where it stands in the grid, as short as the grid allows."""
        used = max(1, *(axis + 1 for axis in range(3) if self.grid[axis] > 1), 1)
        return str(self.at[0]) if used == 1 else str(self.at[:used])


def size_of(shape: Sequence[int]) -> int:
    """The number of elements of a shape."""
    count = 1
    for extent in shape:
        count *= extent
    return count


@dataclass(frozen=True, eq=False)
class Tile:
    """A block of values of one program, of which the kernel knows shape and type."""

    program: Program
    number: int
    shape: tuple[int, ...]
    dtype: DType

    def __bool__(self) -> bool:
        raise KernelError(
            "a tile has many values and decides nothing in Python: choose by element with `tl.where`, or with a mask",
            "decides-in-python",
        )

    def __getitem__(self, index: Any) -> Tile:
        """`x[:, None]`: an axis of one element more."""
        index = index if isinstance(index, tuple) else (index,)
        if not all(one is None or one == slice(None) for one in index) or index.count(slice(None)) != len(self.shape):
            raise KernelError(
                f"{index!r} of a tile of shape {self.shape}: only `:` and `None`, as in `x[:, None]`, were expected",
                "other-shape",
            )
        rest = iter(self.shape)
        shape = tuple(1 if one is None else next(rest) for one in index)
        return self.program.add("reshape", [self], shape, self.dtype, {"shape": list(shape)})

    @property
    def T(self) -> Tile:
        """The tile turned over its diagonal."""
        if len(self.shape) != 2:
            raise KernelError(f"a tile of shape {self.shape} is turned; two axes were expected", "other-shape")
        return self.program.add("transpose", [self], self.shape[::-1], self.dtype)

    def to(self, dtype: DType) -> Tile:
        """The values in another type."""
        return self.program.add("to", [self], self.shape, dtype, {"dtype": dtype.name})

    def __add__(self, other: Any) -> Any:
        return other + self if isinstance(other, Pointer) else binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return binary("add", other, self)

    def __sub__(self, other: Any) -> Tile:
        return binary("subtract", self, other)

    def __rsub__(self, other: Any) -> Tile:
        return binary("subtract", other, self)

    def __mul__(self, other: Any) -> Tile:
        return binary("multiply", self, other)

    def __rmul__(self, other: Any) -> Tile:
        return binary("multiply", other, self)

    def __truediv__(self, other: Any) -> Tile:
        return binary("divide", self, other)

    def __rtruediv__(self, other: Any) -> Tile:
        return binary("divide", other, self)

    def __floordiv__(self, other: Any) -> Tile:
        return binary("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Tile:
        return binary("floor_divide", other, self)

    def __mod__(self, other: Any) -> Tile:
        return binary("remainder", self, other)

    def __rmod__(self, other: Any) -> Tile:
        return binary("remainder", other, self)

    def __neg__(self) -> Tile:
        return binary("subtract", 0, self)

    def __lt__(self, other: Any) -> Tile:
        return binary("less", self, other)

    def __le__(self, other: Any) -> Tile:
        return binary("less_equal", self, other)

    def __gt__(self, other: Any) -> Tile:
        return binary("greater", self, other)

    def __ge__(self, other: Any) -> Tile:
        return binary("greater_equal", self, other)

    def __eq__(self, other: object) -> Tile:  # type: ignore[override]
        return binary("equal", self, other)

    def __ne__(self, other: object) -> Tile:  # type: ignore[override]
        return binary("not_equal", self, other)

    __hash__ = object.__hash__

    def __and__(self, other: Any) -> Tile:
        return binary("bitwise_and", self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Tile:
        return binary("bitwise_or", self, other)

    __ror__ = __or__

    def __invert__(self) -> Tile:
        return self.program.add("invert", [self], self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"a tile of shape {self.shape} of {self.dtype.name}"


COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
INTEGER_ONLY = ("bitwise_and", "bitwise_or", "remainder", "floor_divide")


def binary(name: str, left: Any, right: Any) -> Tile:
    """An operation on two tiles, or a tile and a number, element by element."""
    tiles = [operand for operand in (left, right) if isinstance(operand, Tile)]
    for operand in (left, right):
        if not isinstance(operand, (Tile, bool, int, float)):
            raise KernelError(f"{name} of {_named(operand)}: a tile or a number was expected", "no-tile")
    dtype = common(left, right)
    if name == "divide" and not dtype.is_float:
        dtype = float32
    if name in INTEGER_ONLY and dtype.is_float:
        raise KernelError(f"{name} of {dtype.name}: integers were expected", "other-type")
    if dtype is int1 and name in ("add", "subtract", "multiply"):
        dtype = int32
    shape = broadcast(*(tile.shape for tile in tiles))
    return tiles[0].program.add(name, [left, right], shape, int1 if name in COMPARISONS else dtype)


def common(*operands: Any) -> DType:
    """The type of what is made of these: the tiles' widest, and a float where a number is one."""
    dtypes = [one.dtype for one in operands if isinstance(one, Tile)]
    if any(type(one) is float for one in operands) and not any(dtype.is_float for dtype in dtypes):
        dtypes.append(float32)
    return max(dtypes, key=lambda one: one.rank, default=int32)


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what is made of tiles of these shapes: axes of one element stretch."""
    if len(set(shapes)) == 1:
        return shapes[0]
    axes = max(map(len, shapes))
    padded = [(1,) * (axes - len(shape)) + shape for shape in shapes]
    out = []
    for sizes in zip(*padded, strict=True):
        wide = {size for size in sizes if size != 1} or {1}
        if len(wide) > 1:
            texts = " and ".join(map(str, shapes))
            raise KernelError(f"tiles of shapes {texts} do not go together: only axes of 1 stretch", "other-shape")
        out.append(wide.pop())
    return tuple(out)


@dataclass(frozen=True, eq=False)
class Pointer:
    """An array in memory, or elements of it: `x_ptr + offsets`. Its unit is an element, as in Triton."""

    array: str
    dtype: DType
    offset: Any = 0

    def __add__(self, other: Any) -> Pointer:
        if isinstance(other, Tile) and (other.dtype.is_float or other.dtype is int1):
            raise KernelError(f"{self.array} + {other!r}: whole offsets were expected", "other-type")
        if not isinstance(other, (int, Tile)) or isinstance(other, bool):
            raise KernelError(f"{self.array} + {_named(other)}: whole offsets were expected", "other-type")
        return Pointer(self.array, self.dtype, self.offset + other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Pointer:
        return self + (-other)

    def __repr__(self) -> str:
        return f"a pointer into {self.array}"


def _named(value: Any) -> str:
    return repr(value) if isinstance(value, (Tile, Pointer, int, float, str, type(None))) else type(value).__name__
