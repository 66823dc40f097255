"""Programs whose ranks differ: a thread for each rank, real data between them, and a virtual clock for each.

A collective starts when the last of its ranks has come; a message carries the time at which it arrives.
"""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from os import PathLike
from time import monotonic
from typing import Any

from hwlib.arguments import as_int
from hwlib.specs import Accelerator
from hwlib.units import show
from hwlib.virtual import exchange
from hwlib.virtual.exchange import Ranks
from hwlib.virtual.group import Playing, base_group, nbytes, unseen
from hwlib.virtual.meeting import Left, Meeting
from hwlib.virtual.network import network
from hwlib.virtual.record import Step, trace_of
from hwlib.virtual.world import KernelTime, World, chip_of, slow_ranks

NAME = "virtual_threads"
GRACE = 5.0  # seconds that threads have to end once one has failed
SWITCH = 0.5  # seconds: Python would wake every waiting thread each 5 ms, to ask for its turn


@dataclass(frozen=True, repr=False)
class Run:
    """What each rank took, and what it returned."""

    steps: tuple[Step, ...]
    results: tuple[Any, ...]

    def __repr__(self) -> str:
        idle = f", {self.idle_fraction:.1%} of it idle" if self.step_time else ""
        return f"<Run of {len(self.steps)} ranks: {show(self.step_time, 's')}{idle}>"

    @property
    def step_time(self) -> float:
        """When the last rank is done."""
        return max(step.step_time for step in self.steps)

    @property
    def idle_fraction(self) -> float:
        """The share of all ranks' time in which they computed nothing: of a pipeline, its bubble."""
        return 1 - sum(step.compute for step in self.steps) / (len(self.steps) * self.step_time)

    def chrome_trace(self, path: str | PathLike[str] | None = None) -> dict[str, Any]:
        """All ranks for Perfetto or chrome://tracing, side by side."""
        return trace_of(self.steps, path)


@cache
def register() -> None:
    """Make the backend known to torch, once in a process."""
    import torch
    import torch.distributed as dist

    class Work(dist.Work):
        def __init__(self, pending: Any, what: str, result: Any, arrived: Callable[[Any], None] | None = None):
            super().__init__()
            self._pending, self._what, self._result, self._arrived = pending, what, result, arrived

        def wait(self, *_: Any) -> bool:
            Playing.meeting.wait(self._pending, self._what)
            clock = Playing.clock
            clock.wait(self._pending.end, clock.current)
            if self._arrived is not None:
                self._arrived(self._pending.data)
                self._arrived = None
            return True

        def get_future(self) -> Any:
            future: Any = torch.futures.Future()

            def finish() -> None:
                self.wait()
                future.set_result(self._result)

            if torch._C._current_graph_task_id() != -1:  # DDP, which waits when backward ends
                torch.autograd.Variable._execution_engine.queue_callback(finish)
            else:
                finish()
            return future

        def is_completed(self) -> bool:
            return bool(self._pending.done.is_set())

        is_success = is_completed

    base: Any = base_group()

    class Group(base):
        """The group as the rank of this thread sees it."""

        def __init__(self, rank: int, ranks: Sequence[int], name: str = "", about: str = ""):
            super().__init__(rank, ranks, name, about)
            self._numbers: Counter[Any] = Counter()

        def getBackendName(self) -> str:
            return NAME

        def _number(self, of: Any) -> int:
            self._numbers[of] += 1
            return self._numbers[of]

        def _met(self, call: str, S: float, into: Any, given: Any, work: Callable[[Ranks], None]) -> Work:
            world, ranks = Playing.world, self._ranks
            key = (self._name, self._number("call"))
            with torch.no_grad(), unseen():
                pending = world.meeting.join(
                    key, self._rank, ranks, world.clock, (into, given), work, call, S,
                    lambda: world.network_time(call, S, ranks),
                )  # fmt: skip
            return Work(pending, f"{call} number {key[1]} of the ranks {_few(ranks)}, and not all came", into)

        def allreduce(self, tensors: Any, opts: Any = None) -> Work:
            tensors = tensors if isinstance(tensors, (list, tuple)) else [tensors]
            op = dist.ReduceOp.SUM if opts is None else opts.reduceOp
            return self._met("all_reduce", nbytes(tensors), tensors, tensors, exchange.all_reduced(op))

        allreduce_coalesced = allreduce

        def reduce(self, tensors: Any, opts: Any) -> Work:
            into = tensors if self._rank == opts.rootRank else None
            return self._met("reduce", nbytes(tensors), into, tensors, exchange.all_reduced(opts.reduceOp))

        def allgather(self, outputs: Any, inputs: Any, *_: Any) -> Work:
            return self._met("all_gather", nbytes(outputs), outputs, inputs, exchange.listed)

        def gather(self, outputs: Any, inputs: Any, *_: Any) -> Work:
            return self._met("gather", self.size() * nbytes(inputs), outputs, inputs, exchange.listed)

        def all_gather_single(self, output: Any, tensor: Any, *_: Any) -> Work:
            return self._met("all_gather", nbytes(output), output, tensor, exchange.gathered)

        _allgather_base = all_gather_single

        def all_gather_single_coalesced(self, outputs: Any, inputs: Any, *_: Any) -> Work:
            for output, tensor in zip(outputs, inputs, strict=True):
                work = self.all_gather_single(output, tensor)
            return work

        allgather_into_tensor_coalesced = all_gather_single_coalesced

        def reduce_scatter_single(self, output: Any, tensor: Any, opts: Any = None) -> Work:
            op = dist.ReduceOp.SUM if opts is None else opts.reduceOp
            return self._met("reduce_scatter", nbytes(tensor), output, tensor, exchange.scattered(op))

        _reduce_scatter_base = reduce_scatter_single

        def reduce_scatter_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
            for output, tensor in zip(outputs, inputs, strict=True):
                work = self.reduce_scatter_single(output, tensor, opts)
            return work

        reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

        def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
            for output, tensors in zip(outputs, inputs, strict=True):
                work = self.reduce_scatter_single(output, torch.cat([t.detach().reshape(-1) for t in tensors]), opts)
            return work

        def scatter(self, outputs: Any, inputs: Any, opts: Any) -> Work:
            return self._met("scatter", self.size() * nbytes(outputs), outputs, inputs, exchange.dealt(opts.rootRank))

        def broadcast(self, tensors: Any, opts: Any) -> Work:
            return self._met("broadcast", nbytes(tensors), tensors, tensors, exchange.spread(opts.rootRank))

        def alltoall(self, outputs: Any, inputs: Any, *_: Any) -> Work:
            return self._met("all_to_all", self.size() * nbytes(inputs), outputs, inputs, exchange.exchanged)

        def all_to_all_single(self, output: Any, tensor: Any, to: Any = None, of: Any = None, *_: Any) -> Work:
            S = self.size() * nbytes(tensor)
            if not to and not of:
                return self._met("all_to_all", S, output, tensor, exchange.transposed)
            into, given = (t.detach().split(k or len(t) // self.size()) for t, k in ((output, to), (tensor, of)))
            return self._met("all_to_all", S, into, given, exchange.exchanged)

        alltoall_base = all_to_all_single

        def barrier(self, *_: Any, **__: Any) -> Work:
            return self._met("barrier", 0.0, None, None, lambda _: None)

        def send(self, tensors: Any, dst: int, tag: int = 0) -> Work:
            world, pair = Playing.world, (self._ranks[self._rank], self._ranks[dst])
            end = world.call("send", nbytes(tensors), f"{pair[0]} to {pair[1]}", pair)
            with torch.no_grad(), unseen():
                data = [t.detach().clone() for t in tensors]
            key = (self._name, *pair, tag, self._number((dst, tag, "to")))
            return Work(Playing.meeting.message(key, end, data), "", tensors)

        def recv(self, tensors: Any, src: int, tag: int = 0) -> Work:
            def arrived(data: Any) -> None:
                with torch.no_grad(), unseen():
                    for into, one in zip(tensors, data, strict=True):
                        into.detach().copy_(one)

            pair = (self._ranks[src], self._ranks[self._rank])
            key = (self._name, *pair, tag, self._number((src, tag, "of")))
            what = f"a message of rank {pair[0]} that nobody sent"
            return Work(Playing.meeting.message(key), what, tensors, arrived)

    def begin(_store: Any, rank: int, size: int, _timeout: Any) -> Group:
        return Group(rank, range(size))

    dist.Backend.register_backend(NAME, begin, devices=["cpu"])


def _few(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks)) if len(ranks) <= 8 else f"{ranks[0]}, {ranks[1]}, ... {ranks[-1]}"


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
    warm: int = 1,
    timeout: float = 60.0,
) -> Run:
    """`program(rank)` on every rank of a virtual cluster, each in a thread; the arguments are those of `cluster`.

    Where a program returns a function, it has only made ready: the function is the step, called `warm` times and then
    once more, which alone is timed. Tensors have data, and what is sent arrives, so a program may be one of
    `torch.distributed.pipelining`, or a collective written by hand. All threads draw random numbers from one generator,
    unless a program has its own. Raises RuntimeError if a rank fails, or is not done after `timeout` real seconds.

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

    known = chip_of(where, chip)
    net = network(where, n, known, latency, slow_levels, overlap)
    factors = slow_ranks(slow, net.ranks)
    register()
    watch = watcher()  # torch imports much for it, which is none of the programs' time
    size, store = net.ranks, dist.HashStore()
    as_int("play_ranks: warm (steps before the one that counts)", warm, 0)
    worlds = [World(net, known, rank, factors.get(rank, 1.0), True, kernel_time, call_time) for rank in range(size)]
    meeting = Meeting(timeout, [world.clock for world in worlds])
    results: list[Any] = [None] * size
    failures: list[tuple[int, BaseException]] = []

    def one(rank: int) -> None:
        try:
            dist.init_process_group(NAME, rank=rank, world_size=size, store=store)
            worlds[rank].meeting = Playing.meeting = meeting
            Playing.world, Playing.clock = worlds[rank], worlds[rank].clock
            with autograd_in_this_thread(), watch():
                result = program(rank)
                if callable(result):
                    for _ in range(warm):
                        result()
                    meeting.restart()
                    result = result()
                results[rank] = result
            dist.destroy_process_group()
        except Left:
            pass
        except BaseException as error:
            failures.append((rank, error))
            meeting.end()

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
        meeting.end()  # whoever still waits ends
        deadline = monotonic() + GRACE
        for thread in threads:
            thread.join(max(deadline - monotonic(), 0.0))
    if failures:
        rank, error = failures[0]
        raise RuntimeError(f"rank {rank}: {type(error).__name__}: {error}") from error
    return Run(tuple(world.taken() for world in worlds), tuple(results))


@contextmanager
def torch_in_threads() -> Iterator[None]:
    """What torch keeps of a process once, it keeps of each thread; and threads wait for their turn without asking."""
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


def autograd_in_this_thread() -> Any:
    """Backward passes run in the thread that asks for them, whose clock it is."""
    import torch

    return torch.autograd.set_multithreading_enabled(False)
