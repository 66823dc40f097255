"""torch.distributed for a rank whose every message is carried by the judge: a process group without a network.

`run_rank` calls a learner's function with the default process group set to one that passes each send and each
collective to `talk` as plain data, and gets plain data back. The rank's process needs no socket, no shared
folder and no other rank: it knows only what the judge sends it.

`talk` takes a request and returns its reply: `send` and `post` return a handle at once, `wait` blocks until the
handle's result is available. `autograder.ranks.network` is the other end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hwlib.torch_groups import ANY, Transport, register

from .arguments import each
from .in_flight import InFlight, Talk
from .memory_meter import unmetered

REDUCTIONS = ("sum", "avg", "product", "min", "max")
REDUCING = ("all_reduce", "reduce", "reduce_scatter")
ROOTED = ("reduce", "broadcast", "gather", "scatter")
_here = threading.local()  # the rank that this thread plays; a backend's constructor has no argument to spare


def run_rank(function: Callable[..., Any], rank: int, n: int, x: Any, talk: Talk) -> Any:
    """What `function(rank, n, x)` returns, with the arrays in x as tensors; tensors in the result become numpy arrays.

    The default group exists while the function runs. Exceptions of the function propagate.
    """
    import numpy as np
    import torch
    import torch.distributed as dist

    register(JudgedTransport)
    in_flight = _here.in_flight = InFlight(talk)
    dist.init_process_group(JudgedTransport.backend, rank=rank, world_size=n, store=dist.HashStore())
    try:
        tensors = each(x, lambda array: torch.from_numpy(np.array(array, order="C")))
        result = plainly(function(rank, n, tensors))
        in_flight.end_all()
        return result
    finally:
        dist.destroy_process_group()
        _here.in_flight = None


def plainly(value: Any) -> Any:
    """Tensors, also in lists, tuples and dicts, as numpy arrays; anything else unchanged."""
    import torch

    if isinstance(value, torch.Tensor):
        return as_array(value)
    if isinstance(value, (list, tuple)):
        return [plainly(item) for item in value]
    if isinstance(value, dict):
        return {name: plainly(item) for name, item in value.items()}
    return value


def as_array(tensor: Any) -> Any:
    """A copy of a tensor's numbers as a numpy array. Raises RuntimeError where its storage was freed (`resize_(0)`)."""
    if tensor.numel() and not tensor.untyped_storage().nbytes():
        raise RuntimeError("the storage of this tensor was freed: it has no numbers")
    return tensor.detach().cpu().contiguous().numpy().copy()


def sendable(tensor: Any) -> Any:
    """A tensor's numbers as an array, or the name of their type where numpy lacks it: the judge says which it takes."""
    kind = str(tensor.dtype).removeprefix("torch.")
    return kind if kind == "bfloat16" or kind.startswith("float8") else as_array(tensor)


@dataclass
class JudgedPending:
    """What the judge has been asked for; `take` puts the reply where it belongs, once."""

    talk: Talk
    handle: Any
    take: Callable[[Any], None] | None
    in_flight: InFlight | None = None  # of a message

    @property
    def done(self) -> bool:
        """Whether it has been fetched."""
        return self.take is None

    def wait(self) -> None:
        """Fetch it."""
        take, self.take = self.take, None
        if take is not None:
            with unmetered():
                if self.in_flight is not None:
                    self.in_flight.end(self.handle)
                take(self.talk({"do": "wait", "handle": self.handle}))


class JudgedTransport(Transport):
    """One group of ranks; what goes in is posted to the judge, what comes out is fetched from it."""

    backend = "judged"

    def __init__(self, rank: int, ranks: Any):
        super().__init__(rank, ranks)
        self.in_flight = _here.in_flight

    def talk(self, request: dict[str, Any]) -> Any:
        """Ask the judge. RuntimeError where this thread plays another rank: of the declaration's ranks, which share a
        process, one uses a group that another has made, such as the default of `torch.distributed.nn.functional`."""
        if getattr(_here, "in_flight", self.in_flight) is not self.in_flight:
            raise RuntimeError("this process group is another rank's: name the group, `group=dist.group.WORLD`")
        return self.in_flight.talk(request)

    def enter(self, ranks: Any, name: str) -> None:
        """Tell the judge; a rank that is to be in the group then waits for the others in it."""
        members = [int(rank) for rank in ranks]
        handle = self.talk({"do": "post", "call": "new_group", "ranks": members, "local": not name.isdigit()})
        if self.ranks[self.rank] in members:
            self.talk({"do": "wait", "handle": handle})

    def collective(self, call: str, outputs: Any, inputs: Any, op: str, root: int) -> JudgedPending:
        """Post this rank's part."""
        request: dict[str, Any] = {"do": "post", "call": call, "group": list(self.ranks)}
        with unmetered():
            request["data"] = self._given(call, inputs)
            if call == "all_to_all":
                room = self._parts(outputs)
                widths = {part.shape[1:].numel() for part in room}
                request["room"], request["width"] = [part.numel() for part in room], max(widths, default=1)
        if call in REDUCING:
            if op not in REDUCTIONS:
                raise RuntimeError(f"this reduction is not judged: one of {', '.join(REDUCTIONS)} was expected")
            request["op"] = op
        if call in ROOTED:
            request["root"] = root
        return JudgedPending(self.talk, self.talk(request), lambda reply: self._take(call, outputs, reply))

    def _given(self, call: str, inputs: Any) -> Any:
        """What a call brings, as plain data."""
        import torch

        if inputs is None:
            return None
        if call in ("all_reduce", "reduce", "broadcast"):
            (x,) = inputs
            return sendable(x)
        if call == "scatter":
            return [sendable(x) for x in inputs]
        if call == "all_to_all":
            return [sendable(part.reshape(-1)) for part in self._parts(inputs)]
        if call == "reduce_scatter" and isinstance(inputs, (list, tuple)):
            return sendable(torch.cat([x.reshape(-1) for x in inputs]))
        return sendable(inputs)

    def _parts(self, x: Any) -> Any:
        import torch

        if isinstance(x, (list, tuple)):
            return x
        rows = x.reshape(x.shape[0], -1) if x.dim() else x.reshape(1, 1)
        return torch.split(rows, [rows.shape[0] // self.size] * self.size)

    def _take(self, call: str, outputs: Any, reply: Any) -> None:
        """Put what came of a call into the tensors that it was called with."""
        import numpy as np

        if outputs is None or reply is None:
            return
        if call in ("all_reduce", "reduce", "broadcast"):
            (outputs,) = outputs
        if not isinstance(outputs, (list, tuple)):
            fill(outputs, np.concatenate(reply) if call == "all_to_all" else reply, call)
            return
        parts = reply.reshape(len(outputs), -1) if call == "all_gather" else reply
        for tensor, part in zip(outputs, parts, strict=True):
            fill(tensor, part, call)

    def _peer(self, rank: int) -> int:
        if not 0 <= rank < self.size:
            raise ValueError(f"the ranks are 0 to {self.size - 1}, there is no {rank}")
        return self.ranks[rank]

    def send(self, tensor: Any, to: int, tag: int) -> JudgedPending:
        """Hand the message to the judge."""
        with unmetered():
            handle = self.talk({"do": "send", "to": self._peer(to), "tag": tag, "data": sendable(tensor)})
            self.in_flight.post(handle, tensor, sends=True)
        return JudgedPending(self.talk, handle, lambda _: None, self.in_flight)

    def receive(self, tensor: Any, source: int, tag: int) -> JudgedPending:
        """Ask the judge for a message."""
        if source == ANY:
            raise RuntimeError("recv without a source is not judged: say which rank the message is from")
        frm = self._peer(source)
        handle = self.talk({"do": "post", "call": "recv", "from": frm, "tag": tag})
        with unmetered():
            self.in_flight.post(handle, tensor, sends=False)
        take = partial(fill, tensor, what=f"the message from rank {frm}")
        return JudgedPending(self.talk, handle, take, self.in_flight)


def fill(tensor: Any, array: Any, what: str) -> None:
    """Copy what came into a tensor that holds as many numbers of its type, or raise RuntimeError."""
    import torch

    data = torch.from_numpy(array)
    if data.numel() != tensor.numel() or data.dtype != tensor.dtype:
        raise RuntimeError(
            f"{what} brought {data.numel()} numbers of {data.dtype}, but the tensor to hold them "
            f"has {tensor.numel()} of {tensor.dtype}"
        )
    with torch.no_grad():
        tensor.copy_(data.reshape(tensor.shape))
