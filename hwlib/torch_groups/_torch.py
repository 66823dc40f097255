"""The process group and the work of torch 2.13, by its private names; it loads torch.

torch calls some collectives by an old name and a new one, and its own getters find neither name nor backend of a group
that is written in Python.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from hwlib.torch_groups.transport import ANY, Pending, Transport

OPS = ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM")

# torch types these in C++, more strictly than it calls them
ProcessGroup: Any = dist.ProcessGroup
BaseWork: Any = dist.Work
Tensors = Sequence[Any]


def op_name(op: Any) -> str:
    """A reduction of torch as a word: "sum", "avg", ..."""
    return next((name.lower() for name in OPS if op == getattr(dist.ReduceOp, name)), str(op))


class TransportWork(BaseWork):
    """torch's handle for a call that has started; `result` are the tensors that it fills."""

    def __init__(self, pending: Pending, result: Any, source: int = ANY):
        super().__init__()
        self._pending, self._result, self._source = pending, result, source

    def wait(self, *_: Any) -> bool:
        with torch.no_grad():
            self._pending.wait()
        return True

    def is_completed(self) -> bool:
        return self._pending.done

    is_success = is_completed

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

    def result(self) -> Any:
        self.wait()
        return self._result

    def _source_rank(self) -> int:
        return self._source


class TransportGroup(ProcessGroup):
    """A group whose collectives and messages a transport carries."""

    def __init__(self, transport: Transport, about: str = ""):
        super().__init__(transport.rank, transport.size)
        self.transport, self._about = transport, about

    # What torch asks a group for

    @property
    def _device_types(self) -> list[Any]:
        """The devices whose tensors it takes, by which torch chooses one to send objects and states on."""
        return [torch.device("cpu")]

    def size(self) -> int:
        return self.transport.size

    def getBackendName(self) -> str:
        return self.transport.backend

    def _set_group_name(self, name: str) -> None:
        self.transport.name = name

    def _set_group_desc(self, about: str) -> None:
        self._about = about

    @property
    def group_name(self) -> str:
        return self.transport.name

    @property
    def group_desc(self) -> str:
        return self._about

    def shutdown(self) -> None:
        pass

    abort = shutdown

    def new_group(self, ranks: Tensors, group_name: str, group_desc: str | None = None, **_: Any) -> Any:
        """A part of this group, or None if this rank is not in it; torch by itself would create it on every rank."""
        transport = self.transport
        mine = transport.ranks[transport.rank]
        transport.enter(ranks, group_name)
        if mine not in ranks:
            return None
        part = TransportGroup(type(transport)(ranks.index(mine), ranks), group_desc or "")
        part._set_group_name(group_name)
        return part

    # Collectives

    def _call(self, call: str, outputs: Any, inputs: Any, opts: Any = None, result: Any = None) -> TransportWork:
        op = op_name(getattr(opts, "reduceOp", dist.ReduceOp.SUM))
        with torch.no_grad():
            pending = self.transport.collective(call, outputs, inputs, op, getattr(opts, "rootRank", 0))
        result = outputs if result is None else result
        return TransportWork(pending, list(result) if isinstance(result, (list, tuple)) else [result])

    def _each(self, call: str, outputs: Any, inputs: Any, opts: Any = None) -> TransportWork:
        """As many calls as there are pairs; the last is waited for."""
        for output, tensors in zip(outputs, inputs, strict=True):
            work = self._call(call, output, tensors, opts)
        return work

    def allreduce(self, tensors: Any, opts: Any = None) -> TransportWork:
        tensors = tensors if isinstance(tensors, (list, tuple)) else [tensors]
        return self._call("all_reduce", tensors, tensors, opts)

    allreduce_coalesced = allreduce

    def reduce(self, tensors: Tensors, opts: Any) -> TransportWork:
        return self._call("reduce", tensors if self.transport.rank == opts.rootRank else None, tensors, opts, tensors)

    def broadcast(self, tensors: Tensors, opts: Any) -> TransportWork:
        return self._call("broadcast", tensors, tensors, opts)

    def allgather(self, outputs: Any, inputs: Tensors, opts: Any = None) -> TransportWork:
        return self._each("all_gather", outputs, inputs, opts)

    def all_gather_single(self, output: Any, tensor: Any, opts: Any = None) -> TransportWork:
        return self._call("all_gather", output, tensor, opts)

    _allgather_base = all_gather_single
    all_gather_single_coalesced = allgather_into_tensor_coalesced = allgather

    def gather(self, outputs: Any, inputs: Tensors, opts: Any) -> TransportWork:
        return self._each("gather", outputs or [None], inputs, opts)

    def scatter(self, outputs: Tensors, inputs: Any, opts: Any) -> TransportWork:
        return self._each("scatter", outputs, inputs or [None], opts)

    def reduce_scatter(self, outputs: Tensors, inputs: Any, opts: Any = None) -> TransportWork:
        return self._each("reduce_scatter", outputs, inputs, opts)

    def reduce_scatter_single(self, output: Any, tensor: Any, opts: Any = None) -> TransportWork:
        return self._call("reduce_scatter", output, tensor, opts)

    _reduce_scatter_base = reduce_scatter_single
    reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced = reduce_scatter

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> TransportWork:
        return self._call("all_to_all", list(outputs), list(inputs), opts)

    def all_to_all_single(
        self, output: Any, tensor: Any, to: Any = None, of: Any = None, opts: Any = None
    ) -> TransportWork:
        outputs, inputs = (self._blocks(*one) for one in (("output", output, to), ("input", tensor, of)))
        if not (_given(to) or _given(of)):
            outputs, inputs = output, tensor
        return self._call("all_to_all", outputs, inputs, opts, output)

    alltoall_base = all_to_all_single

    def barrier(self, opts: Any = None) -> TransportWork:
        return self._call("barrier", None, None, opts)

    def _blocks(self, name: str, tensor: Any, rows: Any) -> Any:
        """The blocks of rows of an all-to-all for each rank: equal ones where they were not counted.

        Refuses what torch's own groups refuse, and says which rank it is.
        """
        n, length = self.transport.size, len(tensor) if tensor.dim() else 1
        where = f"all_to_all_single on rank {self.transport.ranks[self.transport.rank]}: {name}"
        if isinstance(rows, torch.Tensor):
            raise TypeError(f"{where}_split_sizes is a tensor; a list was expected, use its .tolist()")
        if not _given(rows):
            if length % n:
                raise RuntimeError(f"{where} has {_rows(length)}, which {n} ranks cannot share evenly: name the sizes")
            rows = [length // n] * n
        sizes = [int(size) if isinstance(size, torch.Tensor) else size for size in rows]
        if len(sizes) != n:
            raise RuntimeError(f"{where}_split_sizes has {len(sizes)}; one for each of {n} ranks was expected")
        if sum(sizes) != length:
            raise RuntimeError(
                f"{where}_split_sizes {sizes} add up to {sum(sizes)}, but the {name} has {_rows(length)}"
            )
        return list(tensor.detach().split(sizes)) if tensor.dim() else [tensor]

    # Messages

    def send(self, tensors: Tensors, to: int, tag: int = 0) -> TransportWork:
        (tensor,) = tensors
        with torch.no_grad():
            return TransportWork(self.transport.send(tensor, to, tag), tensors)

    def recv(self, tensors: Tensors, source: int, tag: int = 0) -> TransportWork:
        (tensor,) = tensors
        with torch.no_grad():
            return TransportWork(self.transport.receive(tensor, source, tag), tensors, source)

    def recv_anysource(self, tensors: Tensors, tag: int = 0) -> TransportWork:
        return self.recv(tensors, ANY, tag)


def _given(rows: Any) -> bool:
    """Whether split sizes were named: torch passes an empty list where they were not."""
    return rows is not None and len(rows) > 0


def _rows(length: int) -> str:
    return f"{length} row{'s' if length != 1 else ''}"


def register(transport: type[Transport]) -> None:
    """Make a backend known to torch, once in a process."""
    if transport.backend in dist.Backend.backend_list:
        return

    def begin(asked: Any, _options: Any) -> TransportGroup:
        ranks = asked.global_ranks_in_group or range(asked.group_size)
        return TransportGroup(transport(asked.group_rank, ranks))

    dist.Backend.register_backend(transport.backend, begin, extended_api=True, devices=["cpu"])
