"""How fast is this machine? Timed pointwise operations and matmuls, on a CPU or a GPU by the same code.

Times are of real work: one call warms up, then the median of repeats counts. Repeats walk through memory that
is four times the last cache, so that no array is found there. A GPU is timed by its own events, a CPU by the
clock.

A CPU computes with one thread unless told otherwise, so what is measured is one core, in kernels of a few
milliseconds at most: threads wait for one another, so another program on one core slows all of them, and a
longer kernel does not get through without being set aside for it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

from hwlib.calibrated import Sample
from hwlib.roofline import matmul_bytes, matmul_flops
from hwlib.units import KiB, MiB, show

SECONDS = 0.25  # what the repeats of one kernel may take
LEAST, MOST = 3, 200  # repeats
PAST_CACHE = 4  # this many times the last cache: what comes round again is no longer there
MOST_WAITED = 0.05  # of the time, that a measurement may lose to other programs
MOST_DRIFT = 0.25  # by which a reference kernel may differ from before to after
MAX_CACHE = 64 * MiB  # of a server's larger ones, a core uses a part


class Scale(NamedTuple):
    """The sizes that suit a kind of device: what takes it from microseconds to a few milliseconds."""

    cache: float  # bytes; where the system does not tell
    arrays: tuple[float, ...]  # bytes, ascending
    matmuls: tuple[tuple[int, int, int], ...]  # B, D, F


CPU = Scale(
    cache=32 * MiB,
    arrays=(4 * KiB, 64 * KiB, 512 * KiB, 2 * MiB, 8 * MiB),
    matmuls=(
        (1, 64, 64),
        (1, 1024, 1024),
        (4, 1024, 1024),
        (16, 1024, 1024),
        (64, 64, 64),
        (128, 128, 128),
        (64, 512, 512),
        (128, 256, 256),
        (256, 512, 512),
    ),
)
GPU = Scale(
    cache=64 * MiB,
    arrays=(64 * KiB, 1 * MiB, 16 * MiB, 64 * MiB, 256 * MiB),
    matmuls=(
        (1, 1024, 1024),
        (1, 8192, 8192),
        (16, 8192, 8192),
        (64, 8192, 8192),
        (256, 2048, 2048),
        (512, 4096, 4096),
        (1024, 8192, 8192),
        (4096, 8192, 8192),
        (8192, 8192, 8192),
    ),
)


def default_device() -> str:
    """ "cuda" where there is a GPU that torch can use, else "cpu"."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def default_dtype(device: Any = None) -> Any:
    """The torch dtype that the device multiplies fast: bfloat16 on a GPU, float32 on a CPU."""
    import torch

    return torch.float32 if _device(device).type == "cpu" else torch.bfloat16


def time_kernel(run: Callable[[], Any], device: Any = None, threads: int = 1) -> float:
    """The median time of run() in seconds, after a warm-up: of 3 to 200 repeats, in a quarter of a second.

    On a GPU it is the time between two events around the call, without a wait in between: a kernel shorter
    than its launch then costs what the launch costs, as it does in a program.
    """
    device = _device(device)
    with _threads(threads):
        run()
        first = _timed(run, device, 1)[0]
        repeats = min(max(int(SECONDS / max(first, 1e-9)), LEAST), MOST)
        return median(_timed(run, device, repeats))


def measure_bandwidth(device: Any = None, dtype: Any = None, threads: int = 1) -> float:
    """Memory bandwidth in B/s, by doubling large arrays that no cache holds into others: read plus write.

    A CPU may read the target before it overwrites it; the program did not ask for that traffic, and it is not
    counted.
    """
    bench = _Bench(device, dtype, threads)
    sample = bench.measure(bench.double(bench.scale.arrays[-1]))
    return sample.bytes / sample.time


def measure_matmul(
    device: Any = None, dtype: Any = None, sizes: Iterable[tuple[int, int, int]] = (), threads: int = 1
) -> float:
    """The best rate, in FLOP/s, of a matmul [B, D] x [D, F] over `sizes` of (B, D, F); by default large ones.

    In float32 on a CPU and bfloat16 on a GPU, unless `dtype` says otherwise. Raises ValueError for a size
    that is not three whole numbers above zero.
    """
    bench = _Bench(device, dtype, threads)
    kernels = [bench.matmul(*_checked(size)) for size in sizes or bench.scale.matmuls[-3:]]
    return max(s.flops / s.time for s in map(bench.measure, kernels))


def measure_kernels(device: Any = None, dtype: Any = None, threads: int = 1) -> list[Sample]:
    """What a kernel model is fitted to: pointwise operations and matmuls, from tiny to large.

    Tiny kernels show what starting one costs, large arrays the bandwidth, large matmuls the arithmetic rate.
    A sample has the least operations and bytes of its kernel, every array moved once. Takes five seconds.
    """
    bench = _Bench(device, dtype, threads)
    kernels = [make(size) for make in (bench.double, bench.add) for size in bench.scale.arrays]
    kernels += [bench.matmul(*size) for size in bench.scale.matmuls]
    return [bench.measure(kernel) for kernel in kernels]


@dataclass
class Noise:
    """How much other programs disturbed a measurement; it says in words whether to repeat it.

    `waited` is the share of the time in which the core, or one of them, worked for somebody else; `drift` by how much
    a reference kernel took longer after the measurement than before, or before than after. NaN until it has ended.
    """

    waited: float = math.nan
    drift: float = math.nan

    @property
    def busy(self) -> bool:
        """Whether the measurement should be repeated."""
        return self.waited > MOST_WAITED or self.drift > MOST_DRIFT

    def __repr__(self) -> str:
        if math.isnan(self.waited):
            return "Nothing has been measured yet."
        seen = (
            f"{self.waited:.0%} of the time went to other programs, and one and the same kernel took {self.drift:.0%} "
            "longer at one end of the measurement than at the other"
        )
        if self.busy:
            return (
                f"The machine was too busy to measure: {seen}. Close what else is running, wait, and run that cell "
                "again, and then those below it."
            )
        return f"Quiet enough to measure: {seen}."

    def _repr_markdown_(self) -> str:
        return f"**{self}**" if self.busy else str(self)


@contextmanager
def watch(device: Any = None, ranks: int = 1) -> Iterator[Noise]:
    """Watch a measurement: `with measure.watch() as noise: ...`, and then `noise` says whether it can be believed.

    Processor time is held against the clock's, since one thread that measures on a CPU never waits of its own accord;
    and a reference kernel is timed before and after. A GPU that others use shows in the second only.

    Where so many `ranks` are measured, each a process that also waits for the others, as many compute side by side
    before and after, without a message: what one of them lacks of a whole core is lost to other programs.
    """
    if ranks < 1:
        raise ValueError(f"watch: ranks is the number of processes that are measured, at least 1, not {ranks!r}")
    noise, bench = Noise(), _Bench(device, None, 1)
    kernel = bench.matmul(*bench.scale.matmuls[-1])
    crowded = _crowded(bench, ranks)
    before = bench.measure(kernel).time
    start, own = perf_counter(), process_time()
    yield noise
    lasted, own = perf_counter() - start, process_time() - own
    after = bench.measure(kernel).time
    alone = max(0.0, 1 - own / lasted) if bench.device.type == "cpu" and ranks == 1 else 0.0
    noise.waited = max(alone, crowded, _crowded(bench, ranks))
    noise.drift = max(before, after) / min(before, after) - 1


def _crowded(bench: "_Bench", ranks: int) -> float:
    """The largest share of the time that one of several ranks, all computing, lacks of a core of its own."""
    if ranks == 1 or bench.device.type != "cpu":
        return 0.0
    from hwlib.labs.ranks import run_ranks

    return max(run_ranks(_computing, ranks).results)


def _computing(_rank: int, _n: int) -> float:
    """The share of `SECONDS` in which this process had no core, though it always had something to compute."""
    import torch

    x = torch.ones(128, 128)
    start, own = perf_counter(), process_time()
    while perf_counter() - start < SECONDS:
        x @ x
    return max(0.0, 1 - (process_time() - own) / (perf_counter() - start))


class _Kernel(NamedTuple):
    """What is timed: `shapes` are those of its arrays, the output last; `run` takes that many arrays."""

    label: str
    flops: float
    bytes: float
    shapes: Sequence[tuple[int, ...]]
    run: Callable[..., Any]


class _Bench:
    """A device and a dtype, with memory that kernels walk through, so that none is served by a cache."""

    def __init__(self, device: Any, dtype: Any, threads: int):
        import torch

        self.device, self.threads = _device(device), threads
        self.dtype = dtype or default_dtype(self.device)
        self.b = torch.empty(0, dtype=self.dtype).element_size()
        self.scale = CPU if self.device.type == "cpu" else GPU
        n = self._elements(PAST_CACHE * _last_cache(self.device, self.scale))
        # Random numbers, since a GPU's clock depends on its data; all written, since the system hands out
        # memory when it is first written.
        some = torch.randn(2**16, generator=torch.Generator().manual_seed(0)).to(self.device, self.dtype)
        self.inputs = some.repeat(math.ceil(n / len(some)))
        self.outputs = torch.empty_like(self.inputs).fill_(1)

    def _elements(self, size: float) -> int:
        return max(int(size / self.b), 1)

    def double(self, size: float) -> _Kernel:
        import torch

        n = self._elements(size)
        run = lambda x, out: torch.mul(x, 2, out=out)
        return _Kernel(f"2x of {show(n * self.b, 'B', 3)}", n, 2 * n * self.b, [(n,)] * 2, run)

    def add(self, size: float) -> _Kernel:
        import torch

        n = self._elements(size)
        run = lambda x, y, out: torch.add(x, y, out=out)
        return _Kernel(f"x + y of {show(n * self.b, 'B', 3)}", n, 3 * n * self.b, [(n,)] * 3, run)

    def matmul(self, B: int, D: int, F: int) -> _Kernel:
        import torch

        run = lambda x, w, out: torch.mm(x, w, out=out)
        flops, traffic = matmul_flops(B, D, F), matmul_bytes(B, D, F, self.b)
        return _Kernel(f"matmul {B} x {D} x {F}", flops, traffic, [(B, D), (D, F), (B, F)], run)

    def measure(self, kernel: _Kernel) -> Sample:
        turns = self._turns(kernel.shapes)
        time = time_kernel(lambda: kernel.run(*next(turns)), self.device, self.threads)
        return Sample(kernel.flops, kernel.bytes, time, kernel.label)

    def _turns(self, shapes: Sequence[tuple[int, ...]]) -> Iterator[list[Any]]:
        """The kernel's arrays, turn after turn, each time from the next part of the memory."""
        *inputs, output = shapes
        rounds = [*_parts(self.inputs, inputs), *_parts(self.outputs, [output])]
        return ([parts[turn % len(parts)] for parts in rounds] for turn in count())


def _parts(memory: Any, shapes: Sequence[tuple[int, ...]]) -> list[list[Any]]:
    """For each shape its views: memory is cut into stretches that hold one array of each shape."""
    sizes = [math.prod(shape) for shape in shapes]
    stretch = sum(sizes)
    if stretch > len(memory):
        memory = memory.repeat(math.ceil(stretch / len(memory)))
    starts = range(0, len(memory) - stretch + 1, stretch)[: 2 * MOST]
    offsets = [sum(sizes[:i]) for i in range(len(sizes))]
    return [
        [memory[at + offset : at + offset + size].view(shape) for at in starts]
        for offset, size, shape in zip(offsets, sizes, shapes, strict=True)
    ]


def _device(device: Any) -> Any:
    import torch

    return torch.device(device or default_device())


@contextmanager
def _threads(n: int) -> Iterator[None]:
    """n threads for what torch computes on the CPU, and then as many as before."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _checked(size: tuple[int, int, int]) -> tuple[int, int, int]:
    if len(size) != 3 or not all(isinstance(n, int) and n > 0 for n in size):
        raise ValueError(f"a matmul has three sizes (B, D, F), whole and above zero, not {size!r}")
    return size


def _timed(run: Callable[[], Any], device: Any, repeats: int) -> list[float]:
    """The times of `repeats` calls, in seconds."""
    if device.type == "cuda":
        return _timed_by_events(run, device, repeats)
    times = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return times


def _timed_by_events(run: Callable[[], Any], device: Any, repeats: int) -> list[float]:
    import torch

    pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repeats)]
    with torch.cuda.device(device):
        for start, end in pairs:
            start.record()
            run()
            end.record()
        torch.cuda.synchronize()
    return [start.elapsed_time(end) * 1e-3 for start, end in pairs]


def _last_cache(device: Any, scale: Scale) -> float:
    """Bytes of the device's largest cache as the system tells it, or the scale's guess."""
    from pathlib import Path

    if device.type == "cuda":
        import torch

        return getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0) or scale.cache
    factor = {"K": KiB, "M": MiB}
    texts = [p.read_text().strip() for p in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    reported = [int(t[:-1]) * factor[t[-1]] for t in texts if t[:-1].isdigit() and t[-1] in factor]
    return min(max(reported, default=scale.cache), MAX_CACHE)
