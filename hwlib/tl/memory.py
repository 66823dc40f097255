"""The memory that kernels read and write: it does their operations, one program after the other, and counts.

What is counted, and how: bytes are those of the elements that a load or store asks for, masked ones left out; sectors
are the aligned pieces of 32 bytes that hold them, each once in a load or store, as a GPU fetches them (Nvidia, CUDA
C++ Best Practices Guide, "Coalesced Access to Global Memory"); FLOPs are the operations on floats and on whatever is
made of them, 2MNK of a dot, one for each other result or summand; tiles are alive from the operation that makes them to
the last that uses them. What is free, addresses and masks, `counting` says.
With an `L2`, also the bytes that it exchanges with HBM.

What is not modelled: time; warps, whose threads a GPU coalesces (here it is the tile of a load or store); the L1 cache
and the banks of shared memory; what a compiler saves or adds, spilled registers among it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import Any

from hwlib.tl.arrays import library
from hwlib.tl.counting import KernelTally
from hwlib.tl.l2 import L2, SECTOR, Waves
from hwlib.tl.tile import COMPARISONS, DTYPES, INTEGER_ONLY, MOST_ELEMENTS, DType, KernelError, Program, size_of

MOST_WORK = 2**30  # elements of all results: seconds
MOST_AXES = 8
ALONG_AN_AXIS = frozenset({"sum", "max", "min", "cumsum"})
OF_PYTHON = {bool: "b", int: "i", float: "f"}  # numpy's letters of Python's numbers
OPERANDS = {  # how many values each operation takes: numpy would write into one more
    "arange": (0,),
    "full": (0,),
    "load": (1, 2),
    "store": (2, 3),
    "where": (3,),
    "dot": (2,),
    **dict.fromkeys(("to", "reshape", "transpose", "sum", "max", "min", "exp", "log", "sqrt", "invert"), (1,)),
    **dict.fromkeys(("exp2", "log2", "absolute", "cumsum"), (1,)),
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "maximum", "minimum", *COMPARISONS, *INTEGER_ONLY), (2,)),
}


@dataclass(frozen=True)
class Empty:
    """An array that has not been written: to read it before is an error."""

    shape: tuple[int, ...]
    dtype: DType


@dataclass
class Traffic:
    """What went between one array and the programs."""

    loaded_bytes: int = 0
    stored_bytes: int = 0
    loaded_sectors: int = 0
    stored_sectors: int = 0

    @property
    def bytes(self) -> int:
        """Bytes both ways."""
        return self.loaded_bytes + self.stored_bytes

    @property
    def sectors(self) -> int:
        """Sectors of 32 bytes both ways."""
        return self.loaded_sectors + self.stored_sectors


@dataclass(frozen=True)
class Touch:
    """One load or store: the program, the operation's number, and the elements of the array, in the tile's order."""

    program: tuple[int, int, int]
    operation: int
    array: str
    stores: bool
    elements: Any


@dataclass
class Run:
    """A kernel that has run: its arrays, and what it took."""

    arrays: dict[str, Any] = field(default_factory=dict)
    traffic: dict[str, Traffic] = field(default_factory=dict)
    hbm: Traffic | None = None  # between L2 and HBM, of all arrays, where there was an `L2`
    programs: int = 0
    flops: int = 0
    tile_bytes: int = 0  # of floats, and of what is made of them, alive at once, in the program that has most
    touches: list[Touch] = field(default_factory=list)
    unwritten: dict[str, Any] = field(default_factory=dict)  # of each array, the elements that nobody has written
    work: int = 0  # elements of all results

    @property
    def bytes(self) -> int:
        """Bytes of all loads and stores."""
        return sum(one.bytes for one in self.traffic.values())

    @property
    def sectors(self) -> int:
        """Sectors of all loads and stores."""
        return sum(one.sectors for one in self.traffic.values())


class _Array:
    """One array, flat, with who wrote and who read each element."""

    def __init__(self, name: str, given: Any):
        np = library()

        self.name, self.traffic = name, Traffic()
        self.waves: Waves | None = None  # where what is loaded and stored goes on to an L2 cache
        if isinstance(given, Empty):
            self.shape, self.values = given.shape, np.zeros(size_of(given.shape), given.dtype.name)
        else:
            array = np.asarray(given, None if hasattr(given, "dtype") else "float32")
            self.shape, self.values = array.shape, array.reshape(-1).copy()
        self.writer = np.full(self.values.size, -1 if isinstance(given, Empty) else -2)  # -1 nobody, -2 before it began
        self.reader = np.full(self.values.size, -1)  # -1 nobody, -2 several programs
        self.begins_empty, self.loaded, self.stored = isinstance(given, Empty), False, False
        self.loads: list[tuple[int, Any]] = []  # programs and elements that `reader` does not tell of yet
        self.waiting = 0  # elements of these

    @property
    def is_table(self) -> bool:
        """Whether it holds integers that no program has written: indices, not data."""
        return self.values.dtype.kind in "ib" and not self.stored and not self.begins_empty

    def touch(self, elements: Any, program: Program, number: int, stores: bool) -> None:
        """Count a request for these elements, and raise KernelError where it must not be."""
        np = library()

        item = self.values.itemsize
        if elements.size and (elements.min() < 0 or elements.max() >= self.values.size):
            at = int(elements[(elements < 0) | (elements >= self.values.size)][0])
            self._wrong(
                program,
                at,
                f"{'stores to' if stores else 'loads'} element {at:,} of {self.name}, which has "
                f"{self.values.size:,}: is its address right, and does a mask leave out what lies beyond?",
                "out-of-bounds",
            )
        sectors = np.unique(elements // (SECTOR // item))
        if stores:
            self._stored(np, elements, program, number)
            self.traffic.stored_bytes += elements.size * item
            self.traffic.stored_sectors += len(sectors)
        else:
            self._loaded(np, elements, program, number)
            self.traffic.loaded_bytes += elements.size * item
            self.traffic.loaded_sectors += len(sectors)
        if self.waves:
            self.waves.request(self.name, sectors.tolist(), stores)

    def _stored(self, np: Any, elements: Any, program: Program, number: int) -> None:
        places = np.unique(elements)
        if places.size < elements.size:
            places, times = np.unique(elements, return_counts=True)
            at = int(places[times > 1][0])
            self._wrong(
                program,
                at,
                f"stores element {at:,} of {self.name} {int(times.max())} times at once: which "
                "value stays is not determined",
                "element-twice",
            )
        self._told(np)
        writers, readers = self.writer[places], self.reader[places]
        if self.stored and (clash := (writers >= 0) & (writers != number)).any():
            at = int(places[clash][0])
            self._wrong(
                program,
                at,
                f"stores element {at:,} of {self.name}, which another program stores too: the "
                "order of programs is not determined",
                "race",
            )
        if self.loaded and (clash := (readers != -1) & (readers != number)).any():
            at = int(places[clash][0])
            self._wrong(
                program,
                at,
                f"stores element {at:,} of {self.name}, which another program loads: whether it "
                "sees the old or the new value is not determined",
                "race",
            )
        self.writer[places] = number
        self.stored = True

    def _loaded(self, np: Any, elements: Any, program: Program, number: int) -> None:
        if self.stored or self.begins_empty:
            self._defined(elements, program, number)
        self.loaded = True
        self.loads.append((number, elements))
        self.waiting += elements.size
        if self.waiting > MOST_ELEMENTS:
            self._told(np)

    def _defined(self, elements: Any, program: Program, number: int) -> None:
        writers = self.writer[elements]
        if (writers == -1).any():
            at = int(elements[writers == -1][0])
            self._wrong(program, at, f"loads element {at:,} of {self.name}, which nobody has written", "unwritten")
        if (clash := (writers >= 0) & (writers != number)).any():
            at = int(elements[clash][0])
            self._wrong(
                program,
                at,
                f"loads element {at:,} of {self.name}, which another program stores: whether it "
                "sees the old or the new value is not determined",
                "race",
            )

    def _told(self, np: Any) -> None:
        """Let `reader` tell of all loads so far."""
        for number, elements in self.loads:
            readers = self.reader[elements]
            self.reader[elements] = np.where((readers == -1) | (readers == number), number, -2)
        self.loads, self.waiting = [], 0

    def _wrong(self, program: Program, element: int, say: str, reason: str) -> None:
        raise KernelError(
            f"program {program.place} {say}", reason, program=program.at, array=self.name, element=element
        )


def play(
    programs: Iterable[Program],
    arrays: Mapping[str, Any],
    touches: bool = False,
    most_work: int = MOST_WORK,
    l2: L2 | None = None,
) -> Run:
    """Do what the programs have written down, on these arrays, which stay as they are.

    `arrays`: numpy arrays, nested lists (of float32), or `Empty`. `touches`: keep which elements each load and store
    touched. `most_work`: of all results together, the elements. `l2`: a cache through which they load and store, whose
    traffic with HBM is then in `Run.hbm`. Raises KernelError where a program reads outside an array or what was never
    written, where two programs touch one element and one of them stores it, and for a record that no kernel has
    written: nothing is larger than `Program` lets it be, whoever made the record.
    """
    np = library()

    memory = {name: _Array(name, given) for name, given in arrays.items()}
    waves = Waves(l2, {name: array.values.nbytes for name, array in memory.items()}) if l2 else None
    for array in memory.values():
        array.waves = waves
    run = Run()
    with np.errstate(all="ignore"):
        for number, program in enumerate(programs):
            if waves:
                waves.begin()
            _run(np, program, number, memory, run, touches, most_work)
            run.programs += 1
    if waves:
        cache = waves.end()
        run.hbm = Traffic(cache.bytes_in, cache.bytes_out, cache.fetches, cache.write_backs)
    run.arrays = {name: array.values.reshape(array.shape) for name, array in memory.items()}
    run.traffic = {name: array.traffic for name, array in memory.items()}
    run.unwritten = {name: np.flatnonzero(array.writer == -1) for name, array in memory.items()}
    return run


def _run(
    np: Any, program: Program, number: int, memory: dict[str, _Array], run: Run, touches: bool, most_work: int
) -> None:
    last = {
        operand: at
        for at, (_, operands, _) in enumerate(program.operations)
        for operand in operands
        if not isinstance(operand, list)
    }
    values: dict[int, Any] = {}
    tally = KernelTally()
    for at, (name, operands, options) in enumerate(program.operations):
        if len(operands) not in OPERANDS.get(name, ()):
            raise KernelError(f"operation {at} of program {program.place} is none of a kernel's", "no-record")
        try:
            inputs = [operand[0] if isinstance(operand, list) else values[operand] for operand in operands]
            run.work += max(1, _size(np, name, inputs, options))
            if run.work > most_work:
                raise KernelError(f"program {program.place} goes on without an end", "endless", program=program.at)
            if name in ("load", "store"):
                result = _request(np, name, inputs, options, memory, program, number, at, run, touches)
            else:
                result = _compute(np, name, inputs, options)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise KernelError(
                f"operation {at} of program {program.place}, {name!r}, cannot be done: {type(error).__name__}",
                "no-record",
            ) from None
        values[at], used = result, {operand for operand in operands if not isinstance(operand, list)}
        from_table = name == "load" and memory[options["array"]].is_table
        tally.begin(at, name, operands, inputs, result, from_table, options.get("axis"))
        for operand in {*used, at}:
            if last.get(operand, operand) <= at:
                tally.end(operand, values.pop(operand))
    run.flops += tally.flops
    run.tile_bytes = max(run.tile_bytes, tally.tile_bytes)


def _size(np: Any, name: str, given: list, options: dict) -> int:
    """The elements that an operation makes, or goes through to make fewer; KernelError where they are too many."""
    shapes: list[tuple[int, ...]] = [getattr(one, "shape", ()) for one in given]
    if name == "full":
        shape = tuple(map(index, options["shape"]))
    elif name == "arange":
        shape = (index(options["end"]) - index(options["start"]),)
    elif name == "dot":
        (rows, inner), (_, columns) = shapes
        shape = (rows, columns)
    else:
        shape = shapes[0] if len(set(shapes)) == 1 else np.broadcast_shapes(*shapes)
    most = MOST_ELEMENTS
    if len(shape) > MOST_AXES or not all(0 <= size <= most for size in shape) or (count := size_of(shape)) > most:
        raise KernelError(f"a tile is larger than {most:,} elements, or has no size", "too-large")
    return count * inner if name == "dot" else count


def _request(
    np: Any,
    name: str,
    given: list,
    options: dict,
    memory: dict[str, _Array],
    program: Program,
    number: int,
    at: int,
    run: Run,
    touches: bool,
) -> Any:
    array = memory[options["array"]]
    offset, rest = np.asarray(given[0]), given[1:]
    value = np.asarray(rest.pop(0)) if name == "store" else None
    shape = np.broadcast_shapes(offset.shape, *(np.shape(mask) for mask in rest))
    offset = np.broadcast_to(offset, shape)
    mask = np.broadcast_to(rest[0], shape) if rest else None
    if offset.dtype.kind != "i" or (
        mask is not None and mask.dtype.kind != "b"
    ):  # numpy takes others too, for another meaning
        raise TypeError
    whole = mask is None or mask.all()
    elements = offset.reshape(-1) if whole else offset[mask]
    array.touch(elements, program, number, name == "store")
    if touches:
        run.touches.append(Touch(program.at, at, array.name, name == "store", elements))
    if value is not None:
        value = np.broadcast_to(value, shape)
        array.values[elements] = (value.reshape(-1) if whole else value[mask]).astype(array.values.dtype)
        return None
    if whole:
        np.full((), options["other"], array.values.dtype)  # which must be one of that type all the same
        return array.values[elements].reshape(shape)
    result = np.full(shape, options["other"], array.values.dtype)
    result[mask] = array.values[elements]
    return result


def _compute(np: Any, name: str, given: list, options: dict) -> Any:
    result = _result(np, name, given, options)
    if result.dtype.kind not in "bif":  # an object has any size, and its FLOPs are not counted
        raise TypeError
    return result


def _result(np: Any, name: str, inputs: list, options: dict) -> Any:
    if name == "arange":
        return np.arange(options["start"], options["end"])
    if name == "full":
        return np.full(options["shape"], options["value"], _numpy(options["dtype"]))
    if name == "to":
        return inputs[0].astype(_numpy(options["dtype"]))
    if name == "reshape":
        return inputs[0].reshape(options["shape"])
    if name == "transpose":
        return inputs[0].T
    if name == "dot":
        wide = np.float64 if inputs[0].dtype == np.float64 else np.float32
        return inputs[0].astype(wide) @ inputs[1].astype(wide)
    if name == "where":
        return np.where(*inputs)
    if name in ALONG_AN_AXIS:
        return _along_an_axis(np, name, inputs[0], options)
    kinds = {OF_PYTHON.get(type(one)) or one.dtype.kind for one in inputs}
    if name in INTEGER_ONLY and "f" in kinds:
        raise TypeError
    if name == "divide" and "f" not in kinds:
        inputs = [np.asarray(one, np.float32) for one in inputs]
    if name in ("add", "subtract", "multiply") and kinds == {"b"}:  # truth values are counted, as numbers
        inputs = [np.asarray(one, np.int32) for one in inputs]
    return np.asarray(getattr(np, name)(*inputs))


def _along_an_axis(np: Any, name: str, x: Any, options: dict) -> Any:
    """Sums, running or not, in the type of what they sum; the largest and the smallest."""
    axis = options["axis"]
    if name == "cumsum":
        return np.cumsum(x, axis=index(axis), dtype=x.dtype)
    return np.asarray(np.sum(x, axis=axis, dtype=x.dtype) if name == "sum" else getattr(np, name)(x, axis=axis))


def _numpy(name: str) -> str:
    if name not in DTYPES:
        raise KernelError(f"a type that no kernel has; one of {', '.join(DTYPES)} was expected", "other-type")
    return "bool" if name == "int1" else name
