"""torch.distributed for a rank whose every message is carried by the judge: a process group without a network.

`run_rank` calls a learner's function with the default process group set to one that passes each send and each
collective to `talk` as plain data, and gets plain data back. The rank's process needs no socket, no shared
folder and no other rank: it knows only what the judge sends it.

`talk` takes a request and returns its reply: `send` and `post` return a handle at once, `wait` blocks until the
handle's result is available. `autograder.ranks.network` is the other end.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

Talk = Callable[[dict[str, Any]], Any]
BACKEND = "judged"
REDUCTIONS = ("sum", "avg", "product", "min", "max")
_talk: list[Talk] = []  # of the rank that this process is; a backend's constructor has no argument to spare


def run_rank(function: Callable[..., Any], rank: int, n: int, x: Any, talk: Talk) -> Any:
    """What `function(rank, n, x)` returns, with `x` as a tensor; tensors in the result become numpy arrays.

    The default group exists while the function runs. Exceptions of the function propagate.
    """
    import torch
    import torch.distributed as dist

    _register()
    _talk[:] = [talk]
    dist.init_process_group(BACKEND, rank=rank, world_size=n, store=dist.HashStore())
    try:
        return plainly(function(rank, n, torch.from_numpy(x.copy())))
    finally:
        dist.destroy_process_group()
        _talk.clear()


def plainly(value: Any) -> Any:
    """Tensors, also in lists and tuples, as numpy arrays; anything else unchanged."""
    import torch

    if isinstance(value, torch.Tensor):
        return as_array(value)
    if isinstance(value, (list, tuple)):
        return [plainly(item) for item in value]
    return value


def as_array(tensor: Any) -> Any:
    """A copy of a tensor's numbers as a numpy array."""
    return tensor.detach().cpu().contiguous().numpy().copy()


def _register() -> None:
    """Register the backend with torch.distributed, once per process."""
    import torch.distributed as dist

    if BACKEND in dist.Backend.backend_list:
        return
    group_class = _group_class()

    def create(made: Any, _: Any) -> Any:
        ranks = made.global_ranks_in_group or range(made.group_size)
        return group_class(made.group_rank, list(ranks), _talk[0])

    dist.Backend.register_backend(BACKEND, create, extended_api=True, devices=["cpu"])


def _group_class() -> type:
    import torch
    import torch.distributed as dist

    base: Any = dist.ProcessGroup  # their types in C++ are stricter than how torch calls them
    work: Any = dist.Work

    def fill(tensor: Any, array: Any, what: str) -> None:
        data = torch.from_numpy(array)
        if data.numel() != tensor.numel() or data.dtype != tensor.dtype:
            raise RuntimeError(
                f"{what} brought {data.numel()} numbers of {data.dtype}, but the tensor to hold them "
                f"has {tensor.numel()} of {tensor.dtype}"
            )
        with torch.no_grad():
            tensor.copy_(data.reshape(tensor.shape))

    class JudgedWork(work):
        """A posted receive or collective; `wait` fetches the data."""

        def __init__(self, fetch: Callable[[], None] | None, tensors: Any = None):
            super().__init__()
            self.fetch, self.tensors, self.source = fetch, tensors, -1

        def wait(self, timeout: Any = None) -> bool:  # noqa: ARG002  the judge keeps the time
            fetch, self.fetch = self.fetch, None
            if fetch is not None:
                fetch()
            return True

        def is_completed(self) -> bool:
            return self.fetch is None

        def is_success(self) -> bool:
            return self.fetch is None

        def get_future(self) -> Any:
            self.wait()
            future: Any = torch.futures.Future()
            future.set_result(self.tensors)
            return future

        def result(self) -> Any:
            self.wait()
            return self.tensors

        def _source_rank(self) -> int:
            return self.source

    class JudgedGroup(base):
        """One group of ranks; `ranks` are their numbers in the whole job."""

        def __init__(self, rank: int, ranks: list[int], talk: Talk):
            super().__init__(rank, len(ranks))
            self.me, self.ranks, self.talk, self.label = rank, ranks, talk, ""
            self.open: weakref.WeakSet = weakref.WeakSet()

        # torch asks a group for these, and its own answers need a backend in C++
        def getBackendName(self) -> str:
            return BACKEND

        def _set_group_name(self, name: str) -> None:
            self.label = name

        def _set_group_desc(self, description: str) -> None:
            pass

        @property
        def group_name(self) -> str:
            return self.label

        def shutdown(self) -> None:
            pass

        def abort(self) -> None:
            pass

        # Messages from one rank to another

        def peer(self, rank: int) -> int:
            if not 0 <= rank < len(self.ranks):
                raise ValueError(f"the ranks are 0 to {len(self.ranks) - 1}, there is no {rank}")
            return self.ranks[rank]

        def send(self, tensors: Sequence[Any], to: int, tag: int = 0) -> Any:
            request = {"do": "send", "to": self.peer(to), "tag": tag, "data": as_array(tensors[0])}
            handle = self.talk(request)
            return JudgedWork(lambda: self.talk({"do": "wait", "handle": handle}))

        def recv(self, tensors: Sequence[Any], source: int, tag: int = 0) -> Any:
            frm = self.peer(source)
            handle = self.talk({"do": "post", "call": "recv", "from": frm, "tag": tag})

            def fetch() -> None:
                fill(tensors[0], self.talk({"do": "wait", "handle": handle}), f"the message from rank {frm}")

            return JudgedWork(fetch, tensors)

        def recv_anysource(self, tensors: Sequence[Any], tag: int = 0) -> Any:  # noqa: ARG002
            raise RuntimeError("recv without a source is not judged: say which rank the message is from")

        # Collectives: what goes in is posted, what comes out is fetched

        def _post(self, call: str, data: Any, into: Callable[[Any], None], tensors: Any, **more: Any) -> Any:
            request = {"do": "post", "call": call, "group": self.ranks, "data": data, **more}
            handle = self.talk(request)
            return JudgedWork(lambda: into(self.talk({"do": "wait", "handle": handle})), tensors)

        def allreduce(self, tensors: Any, opts: Any = None) -> Any:
            (x,) = tensors
            return self._post(
                "all_reduce", as_array(x), lambda y: fill(x, y, "all_reduce"), tensors, op=_reduction(opts)
            )

        def reduce(self, tensors: Any, opts: Any) -> Any:
            (x,) = tensors
            return self._post(
                "reduce", as_array(x), lambda y: None if y is None else fill(x, y, "reduce"), tensors,
                op=_reduction(opts), root=opts.rootRank,
            )  # fmt: skip

        def broadcast(self, tensors: Any, opts: Any) -> Any:
            (x,) = tensors
            return self._post("broadcast", as_array(x), lambda y: fill(x, y, "broadcast"), tensors, root=opts.rootRank)

        def all_gather_single(self, out: Any, x: Any, opts: Any = None) -> Any:  # noqa: ARG002
            return self._post("all_gather", as_array(x), lambda y: fill(out, y, "all_gather"), [out])

        _allgather_base = all_gather_single

        def allgather(self, outs: Any, inputs: Any, opts: Any = None) -> Any:  # noqa: ARG002
            (out,), (x,) = outs, inputs

            def into(y: Any) -> None:
                for tensor, part in zip(out, y.reshape(len(out), -1), strict=True):
                    fill(tensor, part, "all_gather")

            return self._post("all_gather", as_array(x), into, outs)

        def reduce_scatter_single(self, out: Any, x: Any, opts: Any = None) -> Any:
            return self._post(
                "reduce_scatter", as_array(x), lambda y: fill(out, y, "reduce_scatter"), [out],
                op=_reduction(opts),
            )  # fmt: skip

        _reduce_scatter_base = reduce_scatter_single

        def reduce_scatter(self, outs: Any, inputs: Any, opts: Any = None) -> Any:
            (out,), (xs,) = outs, inputs
            return self.reduce_scatter_single(out, torch.cat([x.reshape(-1) for x in xs]), opts)

        def all_to_all_single(
            self, out: Any, x: Any, out_splits: Any = (), in_splits: Any = (), opts: Any = None  # noqa: ARG002
        ) -> Any:  # fmt: skip
            rows = x.reshape(x.shape[0], -1) if x.dim() else x.reshape(1, 1)
            parts = torch.split(rows, list(in_splits) or rows.shape[0] // len(self.ranks))
            return self._post(
                "all_to_all", [as_array(part.reshape(-1)) for part in parts],
                lambda y: fill(out, _joined(y, x), "all_to_all"), [out],
            )  # fmt: skip

        alltoall_base = all_to_all_single

        def alltoall(self, outs: Any, inputs: Any, opts: Any = None) -> Any:  # noqa: ARG002
            def into(parts: Any) -> None:
                for tensor, part in zip(outs, parts, strict=True):
                    fill(tensor, part, "all_to_all")

            return self._post("all_to_all", [as_array(x.reshape(-1)) for x in inputs], into, outs)

        def gather(self, outs: Any, inputs: Any, opts: Any) -> Any:
            def into(y: Any) -> None:
                for tensor, part in zip(outs[0] if outs else (), () if y is None else y, strict=True):
                    fill(tensor, part, "gather")

            return self._post("gather", as_array(inputs[0]), into, outs, root=opts.rootRank)

        def scatter(self, outs: Any, inputs: Any, opts: Any) -> Any:
            parts = [as_array(x) for x in inputs[0]] if inputs else None
            return self._post("scatter", parts, lambda y: fill(outs[0], y, "scatter"), outs, root=opts.rootRank)

        def barrier(self, opts: Any = None) -> Any:  # noqa: ARG002
            return self._post("barrier", None, lambda _: None, None)

    return JudgedGroup


def _joined(parts: Sequence[Any], like: Any) -> Any:
    import numpy as np

    return np.concatenate(list(parts)) if len(parts) else as_array(like)[:0]


def _reduction(opts: Any) -> str:
    """The name of a reduction, by default "sum"."""
    import torch.distributed as dist

    if opts is None:
        return "sum"
    for name in REDUCTIONS:
        if opts.reduceOp == getattr(dist.ReduceOp, name.upper()):
            return name
    raise RuntimeError(f"this reduction is not judged: one of {', '.join(REDUCTIONS)} was expected")
