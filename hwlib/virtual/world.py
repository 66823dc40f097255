"""A simulated cluster of which this process is one rank."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from hwlib.arguments import as_int
from hwlib.calibrated import KernelModel
from hwlib.roofline import roofline_time
from hwlib.specs import Accelerator, Cluster, Stack, accelerators, stacks
from hwlib.specs.cluster import place_of
from hwlib.torch_groups import register
from hwlib.virtual.clock import VirtualClock
from hwlib.virtual.gpus import as_on_gpus
from hwlib.virtual.kernel_times import Cost, KernelTimes
from hwlib.virtual.network import Network, network
from hwlib.virtual.playing import Playing
from hwlib.virtual.record import StepTiming, summed
from hwlib.virtual.shapes import shapes_mode, told_in_a_sentence
from hwlib.virtual.spmd import SpmdTransport

KernelTime = KernelModel | Callable[[str, float, float], float]


class World:
    """A simulated cluster in which this process plays one rank: `step` times a function on it."""

    def __init__(
        self,
        net: Network,
        chip: Accelerator,
        rank: int,
        slow: float,
        data: bool,
        kernel_time: KernelTime | None,
        call_time: Callable[[str, float, tuple[int, ...]], float] | None,
        stack: Stack | None = None,
    ):
        self.network, self.chip, self.rank, self.slow, self.data = net, chip, rank, slow, data
        self.stack, self.kernel_times = stack, KernelTimes(stack, slow) if stack else None
        self.clock = VirtualClock()
        self.rendezvous: Any = None  # of the threads, where each plays a rank
        self._kernel_time, self._call_time = kernel_time, call_time
        self.steps: Any = None  # of a script, which has no other way to say where one ends
        self._shapes: Any = None
        self._known: dict[tuple[str, float, tuple[int, ...]], float] = {}
        self._times: dict[tuple[float, float, str], float] = {}  # of kernels

    def __repr__(self) -> str:
        levels = ", ".join(f"{level.name} {level.size}" for level in self.network.levels)
        software = f", {self.stack.key}" if self.stack else ""
        return f"<World of {self.ranks} x {self.chip.name}{software}, as rank {self.rank}: {levels}>"

    @property
    def ranks(self) -> int:
        """Ranks of the whole cluster."""
        return self.network.ranks

    def shapes(self) -> AbstractContextManager[Any]:
        """Make models and inputs in here: they have shapes and no data, unless the world has data."""
        if self.data:
            return nullcontext()
        if self._shapes is None:
            self._shapes = shapes_mode()()
        return self._shapes

    def kernel(
        self, cost: Cost, args: tuple[Any, ...] = (), more: Mapping[str, Any] | None = None, out: Any = None
    ) -> None:
        """Put a kernel on the clock: a roofline, unless the world has a stack or was given another time."""
        if self.steps is not None:
            self.steps.another()
        if self.kernel_times is not None:
            return self.kernel_times.kernel(self.clock, cost, args, dict(more or {}), out)
        name, flops, bytes, dtype = cost
        if self._kernel_time is None or isinstance(self._kernel_time, KernelModel):
            key = (flops, bytes, dtype)
            if key not in self._times:
                self._times[key] = self._model_time(*key)
            time = self._times[key]
        else:
            time = self._kernel_time(name, flops, bytes)
        self.clock.kernel(name, self.slow * float(time), flops, bytes)

    def _model_time(self, flops: float, bytes: float, dtype: str) -> float:
        if isinstance(self._kernel_time, KernelModel):
            return float(self._kernel_time.time(flops, bytes))
        rate = self.chip.flops(dtype) if flops else 1.0
        return float(roofline_time(flops, bytes, rate, self.chip.hbm_bandwidth))

    def call(self, call: str, S: float, group: str, ranks: tuple[int, ...]) -> float:
        """Put a collective on the clock; returns its end."""
        if self.steps is not None:
            self.steps.another()
        return self.clock.call(call, self.network_time(call, S, ranks), S, group, ranks)

    def network_time(self, call: str, S: float, ranks: tuple[int, ...]) -> float:
        """Seconds of a collective, by the network or as the world was told."""
        key = (call, S, ranks)
        if key not in self._known:
            self._known[key] = (self._call_time or self.network.time)(*key)
        return self._known[key]

    def step(self, program: Callable[[], Any], warm: int = 1) -> StepTiming:
        """The times of one call of `program`, after `warm` calls that are not counted.

        The first call is not like the others: DTensor tries its operators on whole shapes, DDP arranges its buckets.
        """
        as_int("step: warm (calls before the one that counts)", warm, 0)
        for counted in [False] * warm + [True]:
            with self.counting(counted):
                program()
        return self.taken()

    @contextmanager
    def counting(self, counted: bool = True, numbers: bool = False) -> Iterator[None]:
        """What is done in here goes on a new clock, if it is `counted`. With `numbers`, integers of the CPU have values
        although there are no data.
        """
        from hwlib.virtual.watch import awaited_when_used, streams_on_clocks, watcher

        Playing.clock = self.restarted()
        Playing.world = self if counted else None
        waits = nullcontext() if self.data else awaited_when_used()
        try:
            with self.shapes() as shapes, streams_on_clocks(), waits, autograd_in_this_thread(), watcher()(shapes):
                if shapes is not None:
                    Playing.numbers = numbers
                with told_in_a_sentence():
                    yield
        finally:
            Playing.world, Playing.clock, Playing.numbers = None, None, False

    def updating(self, now: bool) -> None:
        """An optimizer begins its work, or ends it."""
        if self.kernel_times is not None:
            self.kernel_times.update(now)
        if self.steps is not None:
            self.steps.updating(now)

    def restarted(self) -> VirtualClock:
        """A new clock, for a step."""
        self.renew()
        self.clock = VirtualClock() if self.kernel_times is None else self.kernel_times.clock()
        return self.clock

    def renew(self) -> None:
        """What a stack knows of a step is of the next one."""
        if self.stack is not None:
            widths = self.kernel_times.widths if self.kernel_times else {}
            self.kernel_times = KernelTimes(self.stack, self.slow, widths=widths)

    def taken(self) -> StepTiming:
        """The record of the clock so far."""
        if self.kernel_times is not None:
            self.kernel_times.end(self.clock)
        by_start = sorted(self.clock.spans, key=lambda span: span.start)  # other threads note what all did
        spans = tuple(sorted(self.clock.real_spans(), key=lambda span: span.start))
        levels = {span.ranks: self._outermost(span.ranks) for span in spans if span.ranks}
        return StepTiming(
            rank=self.rank,
            ranks=self.ranks,
            step_time=self.clock.end,
            compute=sum(span.end - span.start for span in spans if span.row == "compute"),
            flops=sum(span.flops for span in spans),
            calls=summed(by_start, levels),
            spans=spans,
        )

    def _outermost(self, ranks: tuple[int, ...]) -> str:
        return self.network.crossed(ranks)[-1].name


def autograd_in_this_thread() -> Any:
    """Run backward passes in the calling thread, which has the clock."""
    import torch

    return torch.autograd.set_multithreading_enabled(False)


@contextmanager
def cluster(
    where: Any,
    n: int | None = None,
    *,
    chip: str | Accelerator | None = None,
    kernel_time: KernelTime | None = None,
    call_time: Callable[[str, float, tuple[int, ...]], float] | None = None,
    stack: str | Stack | None = None,
    latency: float | Mapping[str, float] | None = None,
    overlap: bool = True,
    slow: Mapping[int, float] | None = None,
    slow_levels: Mapping[str, float] | None = None,
    data: bool = False,
    rank: int | None = None,
) -> Iterator[World]:
    """torch.distributed on a simulated cluster: a number of ranks, a key, a line or file that describes one
    (`hwlib.specs.own_cluster`), a topology, levels; `n` of it.

    Every rank runs the same program, so this process plays one of them, with the whole cluster around it. With a
    `stack` its kernels and transfers take what `hwlib.steptime.step_time` says of this software. Without one, kernels
    take a roofline's time, or `kernel_time`: a `KernelModel`, or a function of (name, flops, bytes); and collectives
    that of their levels, or `call_time(call, S, ranks)`. Each call has the latency of the chip's usual stack; `latency`
    replaces it by seconds for each round of a ring, at all levels or by name. `slow` maps ranks to the factor by which
    their kernels are slower: as all ranks wait for the slowest, that one is simulated, unless `rank` names another.
    `slow_levels` divides the bandwidth of a level. Without `data` there are only shapes.

    The program may be written for GPUs: `hwlib.virtual.gpus` says what stands for them.
    Raises RuntimeError if torch.distributed runs already.

    >>> import torch, torch.distributed as dist
    >>> with cluster("superpod-h100-4su") as world:
    ...     with world.shapes():
    ...         gradients = torch.empty(10**9, dtype=torch.bfloat16)
    ...     step = world.step(lambda: dist.all_reduce(gradients))
    >>> step.of("all_reduce").level, round(step.step_time * 1e3, 2)
    ('spine', 9.91)
    """
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if dist.is_initialized():
        raise RuntimeError("cluster: this process is a rank of torch.distributed already")
    known, software = chip_and_stack(where, chip, stack, kernel_time, call_time)
    net = network(where, n, known, latency, slow_levels, overlap, software)
    factors = slow_ranks(slow, net.ranks)
    played = max(factors, key=factors.__getitem__, default=0) if rank is None else rank
    if rank is None and factors.get(played, 1.0) < 1 and len(factors) < net.ranks:
        played = next(r for r in range(net.ranks) if r not in factors)
    as_int("cluster: rank", played, 0, net.ranks - 1)
    register(SpmdTransport)
    hook = sys.excepthook  # which torch wraps once more each time
    dist.init_process_group(SpmdTransport.backend, store=FakeStore(), rank=played, world_size=net.ranks)
    world = World(net, known, played, factors.get(played, 1.0), data, kernel_time, call_time, software)
    try:
        with as_on_gpus(world):
            yield world
    finally:
        dist.destroy_process_group()
        forget_meshes()
        sys.excepthook = hook


def forget_meshes() -> None:
    """Clear what DTensor keeps of operators: it holds their meshes, which equal those of a later cluster but name the
    groups of this one."""
    tensor = sys.modules.get("torch.distributed.tensor")
    if tensor is not None:
        from torch.distributed.tensor.debug import _clear_sharding_prop_cache

        _clear_sharding_prop_cache()


def slow_ranks(slow: Mapping[int, float] | None, n: int) -> dict[int, float]:
    """The factors of slow ranks, checked."""
    factors = {as_int("cluster: slow (a rank)", rank, 0, n - 1): factor for rank, factor in (slow or {}).items()}
    if any(not factor > 0 for factor in factors.values()):
        raise ValueError(f"cluster: slow maps ranks to factors above 0, got {slow}")
    return factors


def chip_of(where: Any, chip: str | Accelerator | None) -> Accelerator:
    """The chip that was named, or else that of the cluster or node."""
    if isinstance(chip, Accelerator):
        return chip
    if chip is None:
        return _chip_there(where) or accelerators["h100-sxm"]
    return accelerators[chip]


def _chip_there(where: Any) -> Accelerator | None:
    """The chip of a cluster or a node, by its key, its description or itself; None for what names none."""
    place: Any = place_of(where) if isinstance(where, str) else where
    place = place.members if isinstance(place, Cluster) else place
    chip = getattr(place, "chip", None)
    return chip if isinstance(chip, Accelerator) else None


def chip_and_stack(
    where: Any, chip: str | Accelerator | None, stack: str | Stack | None, kernel_time: Any, call_time: Any
) -> tuple[Accelerator, Stack | None]:
    """The chip, and the stack on it if one was named. Raises ValueError if they do not fit."""
    if stack is None:
        return chip_of(where, chip), None
    software = stacks.of(stack)
    known = chip_of(where, chip or _chip_there(where) or software.accelerator)
    if software.chip != known.key:
        raise ValueError(f"cluster: the stack {software.key} is of {software.chip}, the ranks are {known.key}")
    if kernel_time or call_time:
        raise ValueError("cluster: a stack has times of its own: give either it, or kernel_time and call_time")
    return known, software
