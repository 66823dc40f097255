"""A backend of torch.distributed in which one process plays one rank, and its peers hold what it holds.

So a sum over n ranks is n times what is here, and all that is gathered is this rank's part again. torch calls the
backend by names that differ between releases; those of 2.13 are here.
"""

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from hwlib.virtual.clock import Clock

NAME = "virtual"


class _Playing(threading.local):
    world: Any = None
    clock: Any = None
    meeting: Any = None


Playing = _Playing()
"""In this thread: the `world` that is being played, or None while nothing is counted; the `clock` of its rank, always;
and the `meeting` with other threads, if each plays a rank."""


def nbytes(value: Any) -> int:
    """Bytes of all tensors in nested lists."""
    if isinstance(value, (list, tuple)):
        return sum(map(nbytes, value))
    return value.numel() * value.element_size()


@cache
def base_group() -> type:
    """What a group of either backend is: this rank's number in it, and the `ranks` of the cluster that it has."""
    import torch.distributed as dist

    base: Any = dist.ProcessGroup  # its methods have many forms, of which torch calls those that the backends have

    class Group(base):
        def __init__(self, rank: int, ranks: Sequence[int], name: str = "", about: str = ""):
            super().__init__(rank, len(ranks))
            self._rank, self._ranks, self._size = rank, tuple(ranks), len(ranks)
            self._name, self._about = name, about  # torch's own getter finds no name of a group in Python

        def size(self) -> int:
            return self._size

        def getBackendName(self) -> str:
            return NAME

        def _set_group_name(self, name: str) -> None:
            self._name = name

        def _set_group_desc(self, about: str) -> None:
            self._about = about

        @property
        def group_name(self) -> str:
            return self._name

        @property
        def group_desc(self) -> str:
            return self._about

        def new_group(self, ranks: Sequence[int], group_name: str, group_desc: str | None = None, **_: Any) -> Any:
            """A part of this group, or None where this rank is not in it: torch alone would make it everywhere."""
            mine = self._ranks[self._rank]
            return type(self)(ranks.index(mine), ranks, group_name, group_desc or "") if mine in ranks else None

    return Group


@cache
def register() -> None:
    """Make the backend known to torch, once in a process."""
    import torch
    import torch.distributed as dist

    class Work(dist.Work):
        """Done already, as far as data goes; `wait` moves the clock."""

        def __init__(self, result: list[Any], end: float, clock: Clock | None):
            super().__init__()
            self._end, self._clock = end, clock
            self._future: Any = torch.futures.Future()
            self._future.set_result(result)

        def wait(self, *_: Any) -> bool:
            if self._clock is not None:
                self._clock.wait(self._end, self._clock.current)
            return True

        def get_future(self) -> Any:
            clock, end = self._clock, self._end
            if clock is not None and torch._C._current_graph_task_id() != -1:  # DDP, which waits when backward ends
                torch.autograd.Variable._execution_engine.queue_callback(lambda: clock.wait(end, clock.current))
            return self._future

        def is_completed(self) -> bool:
            return True

        def is_success(self) -> bool:
            return True

    base: Any = base_group()

    class Group(base):
        """The group as this rank sees it."""

        def _done(self, call: str, S: float, result: list[Any]) -> Work:
            world = Playing.world
            if world is None or self._size == 1:
                return Work(result, 0.0, None)
            return Work(result, world.call(call, S, self._name, self._ranks), world.clock)

        def _times(self, opts: Any) -> int:
            op = getattr(opts, "reduceOp", None)
            return self._size if op == dist.ReduceOp.SUM else 1

        def allreduce(self, tensors: Any, opts: Any = None) -> Work:
            tensors = tensors if isinstance(tensors, (list, tuple)) else [tensors]
            with torch.no_grad(), unseen():
                for tensor in tensors:
                    tensor.mul_(self._times(opts))
            return self._done("all_reduce", nbytes(tensors), list(tensors))

        allreduce_coalesced = allreduce

        def allgather(self, outputs: Any, inputs: Any, *_: Any) -> Work:
            with torch.no_grad(), unseen():
                for into, tensor in zip(outputs, inputs, strict=True):
                    for one in into:
                        one.copy_(tensor)
            return self._done("all_gather", nbytes(outputs), [one for into in outputs for one in into])

        def all_gather_single(self, output: Any, tensor: Any, *_: Any) -> Work:
            with torch.no_grad(), unseen():
                output.view(self._size, -1).copy_(tensor.reshape(1, -1).expand(self._size, -1))
            return self._done("all_gather", nbytes(output), [output])

        _allgather_base = all_gather_single

        def allgather_into_tensor_coalesced(self, outputs: Any, inputs: Any, *_: Any) -> Work:
            for output, tensor in zip(outputs, inputs, strict=True):
                work = self.all_gather_single(output, tensor)
            return work

        all_gather_single_coalesced = allgather_into_tensor_coalesced

        def reduce_scatter_single(self, output: Any, tensor: Any, opts: Any = None) -> Work:
            with torch.no_grad(), unseen():
                output.copy_(tensor.reshape(self._size, -1)[self._rank].view_as(output)).mul_(self._times(opts))
            return self._done("reduce_scatter", nbytes(tensor), [output])

        _reduce_scatter_base = reduce_scatter_single

        def reduce_scatter_tensor_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
            for output, tensor in zip(outputs, inputs, strict=True):
                work = self.reduce_scatter_single(output, tensor, opts)
            return work

        reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced

        def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
            with torch.no_grad(), unseen():
                for output, tensors in zip(outputs, inputs, strict=True):
                    output.copy_(tensors[self._rank]).mul_(self._times(opts))
            return self._done("reduce_scatter", nbytes(inputs), list(outputs))

        def alltoall_base(self, output: Any, tensor: Any, *_: Any) -> Work:
            with torch.no_grad(), unseen():
                if output.numel() == tensor.numel():
                    output.copy_(tensor.view_as(output))
            return self._done("all_to_all", self._size * nbytes(tensor), [output])

        all_to_all_single = alltoall_base

        def broadcast(self, tensors: Any, *_: Any) -> Work:
            return self._done("broadcast", nbytes(tensors), list(tensors))

        def barrier(self, *_: Any, **__: Any) -> Work:
            return self._done("barrier", 0.0, [])

        def send(self, *_: Any) -> Work:
            raise NotImplementedError(
                "one rank stands for all here, so there is nobody to send to: a program whose ranks differ, such as a "
                "pipeline, is no SPMD program"
            )

        recv = send

    def begin(_store: Any, rank: int, size: int, _timeout: Any) -> Group:
        return Group(rank, range(size))

    dist.Backend.register_backend(NAME, begin, devices=["cpu"])


class unseen:
    """While the backend itself copies, the clock sees no kernels."""

    def __enter__(self) -> None:
        self.world, Playing.world = Playing.world, None

    def __exit__(self, *error: object) -> None:
        Playing.world = self.world
