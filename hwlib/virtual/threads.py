"""Programs whose ranks differ: a thread for each rank, real data between them, and a virtual clock for each.

A collective starts when the last of its ranks has come; a message carries the time at which it arrives.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from hwlib.specs import Accelerator
from hwlib.virtual.group import Playing, nbytes
from hwlib.virtual.network import network
from hwlib.virtual.record import Step
from hwlib.virtual.world import KernelTime, World, chip_of, slow_ranks

NAME = "virtual_threads"
GRACE = 5.0  # seconds that threads have to end once one has failed


@dataclass(frozen=True)
class Run:
    """What each rank took, and what it returned."""

    steps: tuple[Step, ...]
    results: tuple[Any, ...]

    @property
    def step_time(self) -> float:
        """When the last rank is done."""
        return max(step.step_time for step in self.steps)

    @property
    def idle_fraction(self) -> float:
        """The share of all ranks' time in which they computed nothing: of a pipeline, its bubble."""
        return 1 - sum(step.compute for step in self.steps) / (len(self.steps) * self.step_time)


class Meeting:
    """What threads of one run share: when each came to a collective, and the messages on their way."""

    def __init__(self, timeout: float):
        self.deadline, self.lock = monotonic() + 0.9 * timeout, threading.Lock()
        self.came: dict[Any, dict[int, float]] = defaultdict(dict)
        self.mail: dict[Any, SimpleQueue[Any]] = defaultdict(SimpleQueue)


@cache
def register() -> None:
    """Make the backend known to torch, once in a process."""
    import torch
    import torch.distributed as dist
    from torch.testing._internal.distributed import multi_threaded_pg as threaded

    class Work(dist.Work):
        def __init__(self, result: Any, arrives: Callable[[], float]):
            super().__init__()
            self._arrives: Any = arrives
            self._future: Any = torch.futures.Future()
            self._future.set_result(result)

        def wait(self, *_: Any) -> bool:
            if self._arrives is not None:
                until, self._arrives = self._arrives(), None
                Playing.world.clock.wait(until)
            return True

        def get_future(self) -> Any:
            return self._future

        def is_completed(self) -> bool:
            return True

        def is_success(self) -> bool:
            return True

    base: Any = threaded.ProcessLocalGroup

    class Group(base):
        def __init__(self, rank: int, size: int):
            super().__init__(rank, size)
            self._calls = 0

        def getBackendName(self) -> str:
            return NAME

        def _met(self, call: str, S: float, exchange: Callable[[], Any]) -> Work:
            world = Playing.world
            clock, meeting, name = world.clock, world.meeting, self.pg_name
            self._calls += 1
            key = name, self._calls
            with meeting.lock:
                meeting.came[key][self._rank] = clock.ready(name)
            Playing.world = None
            try:
                exchange()  # which ends for no rank before all have come
            finally:
                Playing.world = world
            start = max(meeting.came[key].values())
            end = world.call(call, S, name, dist.get_process_group_ranks(self), start)
            return Work([], lambda: end)

        def allreduce(self, tensors: Any, *given: Any) -> Work:
            return self._met("all_reduce", nbytes(tensors), lambda: base.allreduce(self, tensors, *given))

        def allgather(self, outputs: Any, inputs: Any, *given: Any) -> Work:
            return self._met("all_gather", nbytes(outputs), lambda: base.allgather(self, outputs, inputs, *given))

        def reduce_scatter(self, outputs: Any, inputs: Any, *given: Any) -> Work:
            exchange = base.reduce_scatter
            return self._met("reduce_scatter", nbytes(inputs), lambda: exchange(self, outputs, inputs, *given))

        def all_to_all_single(self, output: Any, tensor: Any, *given: Any) -> Work:
            exchange = base.all_to_all_single
            return self._met("all_to_all", self.size() * nbytes(tensor), lambda: exchange(self, output, tensor, *given))

        alltoall_base = all_to_all_single

        def broadcast(self, tensors: Any, *given: Any) -> Work:
            return self._met("broadcast", nbytes(tensors), lambda: base.broadcast(self, tensors, *given))

        def barrier(self, *_: Any, **__: Any) -> Work:
            return self._met("barrier", 0.0, lambda: base.allreduce(self, [torch.ones(1)]))

        def send(self, tensors: Any, dst: int, tag: int = 0) -> Work:
            world, ranks = Playing.world, dist.get_process_group_ranks(self)
            pair = [ranks[self._rank], ranks[dst]]
            end = world.call("send", nbytes(tensors), f"{pair[0]} to {pair[1]}", pair)
            world.meeting.mail[(self.pg_name, self._rank, dst, tag)].put(([t.detach().clone() for t in tensors], end))
            return Work(tensors, lambda: end)

        def recv(self, tensors: Any, src: int, tag: int = 0) -> Work:
            meeting = Playing.world.meeting
            box = meeting.mail[(self.pg_name, src, self._rank, tag)]

            def arrives() -> float:
                try:
                    data, at = box.get(timeout=max(meeting.deadline - monotonic(), 0.0))
                except Empty:
                    raise TimeoutError(f"it waits for a message of rank {src} that nobody sent") from None
                with torch.no_grad():
                    world, Playing.world = Playing.world, None
                    for into, one in zip(tensors, data, strict=True):
                        into.copy_(one)
                    Playing.world = world
                return float(at)

            return Work(tensors, arrives)

    def begin(store: Any, rank: int, size: int, timeout: Any) -> Group:
        group = Group(rank, size)
        known: Any = threaded
        known._store_based_barrier(rank, store, "", size, timeout)
        return group

    dist.Backend.register_backend(NAME, begin, devices=["cpu"])


def play_ranks(
    program: Callable[[int], Any],
    where: Any,
    n: int | None = None,
    *,
    chip: str | Accelerator | None = None,
    kernel_time: KernelTime | None = None,
    call_time: Callable[[str, float, tuple[int, ...]], float] | None = None,
    latency: float | Mapping[str, float] = 0.0,
    overlap: bool = True,
    slow: Mapping[int, float] | None = None,
    slow_levels: Mapping[str, float] | None = None,
    timeout: float = 60.0,
) -> Run:
    """`program(rank)` on every rank of a virtual cluster, each in a thread; the arguments are those of `cluster`.

    Tensors have data, and what is sent arrives, so a program may be one of `torch.distributed.pipelining`, or a
    collective written by hand. Raises RuntimeError if a rank fails, or if one is not done after `timeout` real seconds.
    """
    import torch
    import torch.distributed as dist
    from torch.testing._internal.distributed import multi_threaded_pg as threaded

    from hwlib.virtual.watch import watcher

    known = chip_of(where, chip)
    net = network(where, n, known, latency, slow_levels, overlap)
    factors = slow_ranks(slow, net.ranks)
    register()
    size, meeting, store = net.ranks, Meeting(timeout), dist.HashStore()
    steps: list[Any] = [None] * size
    results: list[Any] = [None] * size
    failures: list[tuple[int, BaseException]] = []

    def one(rank: int) -> None:
        try:
            dist.init_process_group(NAME, rank=rank, world_size=size, store=store)
            world = World(net, known, rank, factors.get(rank, 1.0), True, kernel_time, call_time)
            world.meeting = meeting
            Playing.world = world
            with watcher()():
                results[rank] = program(rank)
            Playing.world = None
            steps[rank] = world.taken()
            dist.destroy_process_group()
        except BaseException as error:
            failures.append((rank, error))
            threaded.ProcessLocalGroup.exception_handle(error)
        finally:
            Playing.world = None

    c10d: Any = torch._C._distributed_c10d
    c10d._set_thread_isolation_mode(True)
    threaded._install_threaded_pg()
    try:
        threads = [threading.Thread(target=one, args=(rank,), daemon=True) for rank in range(size)]
        for thread in threads:
            thread.start()
        deadline = monotonic() + timeout
        for thread in threads:
            thread.join(max(deadline - monotonic(), 0.0))
        late = [rank for rank, thread in enumerate(threads) if thread.is_alive()]
        if late and not failures:
            failures.append((late[0], TimeoutError(f"it is not done after {timeout} s, for others did not join it")))
    finally:
        threaded.ProcessLocalGroup.exception_handle(None)  # whoever still waits ends
        for thread in threads:
            thread.join(GRACE)
        threaded.ProcessLocalGroup.reset()
        threaded._uninstall_threaded_pg()
        c10d._set_thread_isolation_mode(False)
    if failures:
        rank, error = failures[0]
        raise RuntimeError(f"rank {rank}: {type(error).__name__}: {error}") from error
    return Run(tuple(steps), tuple(results))
