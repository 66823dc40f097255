"""Programs whose ranks differ: a thread for each rank, real data between them, and a virtual clock for each.

A collective starts when the last of its ranks has arrived; a message carries its arrival time.
"""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from time import monotonic
from typing import Any

from hwlib.arguments import as_int
from hwlib.specs import Accelerator, Stack
from hwlib.torch_groups import register
from hwlib.units import show
from hwlib.virtual.devices import words_of_devices
from hwlib.virtual.network import network
from hwlib.virtual.playing import Playing
from hwlib.virtual.record import StepTiming, trace_of
from hwlib.virtual.rendezvous import Rendezvous, RunEnded
from hwlib.virtual.thread_transport import ThreadTransport
from hwlib.virtual.world import KernelTime, World, autograd_in_this_thread, chip_and_stack, forget_meshes, slow_ranks

GRACE = 5.0  # seconds that threads have to end once one has failed
SWITCH = 0.5  # seconds: Python would wake every waiting thread each 5 ms, to ask for its turn


@dataclass(frozen=True, repr=False)
class ThreadedRun:
    """The times and the results of every rank."""

    steps: tuple[StepTiming, ...]
    results: tuple[Any, ...]

    def __repr__(self) -> str:
        idle = f", {self.idle_fraction:.1%} of it idle" if self.step_time else ""
        return f"<ThreadedRun of {len(self.steps)} ranks: {show(self.step_time, 's')}{idle}>"

    @property
    def step_time(self) -> float:
        """The time at which the last rank is done."""
        return max(step.step_time for step in self.steps)

    @property
    def idle_fraction(self) -> float:
        """The share of all ranks' time in which they computed nothing: of a pipeline, its bubble."""
        return 1 - sum(step.compute for step in self.steps) / (len(self.steps) * self.step_time)

    def chrome_trace(self, path: str | PathLike[str] | None = None) -> dict[str, Any]:
        """All ranks for Perfetto or chrome://tracing, side by side."""
        return trace_of(self.steps, path)


def play_ranks(
    program: Callable[[int], Any],
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
    warm: int = 1,
    timeout: float = 60.0,
) -> ThreadedRun:
    """`program(rank)` on every rank of a simulated cluster, each in a thread; the arguments are those of `cluster`.

    A program that returns a function was only the setup: the function is the step, which is called `warm` times and
    then once more, timed. Tensors have data, and messages are delivered, so a program may be one of
    `torch.distributed.pipelining`, or a collective written by hand. All threads draw random numbers from one generator,
    unless a program has its own. With a `stack`, transfers run beside the whole of a kernel: its `hide_dp` and
    `hide_tp` are not looked at. Raises RuntimeError if a rank fails, or is not finished after `timeout` real seconds.

    >>> import torch.distributed as dist, torch
    >>> def program(rank):
    ...     x = torch.ones(1000)
    ...     dist.all_reduce(x)
    ...     return x[0].item()
    >>> run = play_ranks(program, 4, latency=1e-6)
    >>> run.results, round(run.step_time * 1e6)  # a ring of four has six rounds
    ((4.0, 4.0, 4.0, 4.0), 6)
    """
    import torch.distributed as dist

    from hwlib.virtual.watch import streams_on_clocks, watcher

    known, software = chip_and_stack(where, chip, stack, kernel_time, call_time)
    net = network(where, n, known, latency, slow_levels, overlap, software)
    factors = slow_ranks(slow, net.ranks)
    register(ThreadTransport)
    watch = watcher()  # torch imports much for it, which is none of the programs' time
    size, store = net.ranks, dist.HashStore()
    as_int("play_ranks: warm (steps before the one that counts)", warm, 0)
    settings = (kernel_time, call_time, software)
    worlds = [World(net, known, rank, factors.get(rank, 1.0), True, *settings) for rank in range(size)]
    rendezvous = Rendezvous(timeout, [world.clock for world in worlds])
    results: list[Any] = [None] * size
    failures: list[tuple[int, BaseException]] = []

    def one(rank: int) -> None:
        try:
            dist.init_process_group(ThreadTransport.backend, rank=rank, world_size=size, store=store)
            worlds[rank].rendezvous = Playing.rendezvous = rendezvous
            Playing.world, Playing.clock = worlds[rank], worlds[rank].clock
            with autograd_in_this_thread(), words_of_devices()(), watch():
                result = program(rank)
                if callable(result):
                    for _ in range(warm):
                        result()
                    rendezvous.restart()
                    worlds[rank].renew()
                    result = result()
                results[rank] = result
            dist.destroy_process_group()
        except RunEnded:
            pass
        except BaseException as error:
            failures.append((rank, error))
            rendezvous.end()

    with torch_in_threads(), streams_on_clocks():
        threads = [threading.Thread(target=one, args=(rank,), daemon=True) for rank in range(size)]
        for thread in threads:
            thread.start()
        deadline = monotonic() + timeout
        for thread in threads:
            thread.join(max(deadline - monotonic(), 0.0))
        late = [rank for rank, thread in enumerate(threads) if thread.is_alive()]
        if late and not failures:
            failures.append((late[0], TimeoutError(f"it is not done after {timeout} s")))
        rendezvous.end()  # whoever still waits ends
        deadline = monotonic() + GRACE
        for thread in threads:
            thread.join(max(deadline - monotonic(), 0.0))
    if failures:
        rank, error = failures[0]
        raise RuntimeError(f"rank {rank}: {type(error).__name__}: {error}") from error
    return ThreadedRun(tuple(world.taken() for world in worlds), tuple(results))


@contextmanager
def torch_in_threads() -> Iterator[None]:
    """Make torch's process-wide state per thread, and let threads wait for their turn without polling."""
    import torch
    from torch.testing._internal.distributed import multi_threaded_pg as threaded

    c10d: Any = torch._C._distributed_c10d
    before, hook = sys.getswitchinterval(), sys.excepthook  # every rank that starts would wrap the hook once more
    c10d._set_thread_isolation_mode(True)
    threaded._install_threaded_pg()
    sys.setswitchinterval(SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        sys.excepthook = hook
        threaded._uninstall_threaded_pg()
        c10d._set_thread_isolation_mode(False)
        forget_meshes()
