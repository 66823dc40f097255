"""One process plays one rank, and its peers hold the same data.

So a sum over n ranks is n times this rank's data, and a gather repeats this rank's part.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hwlib.torch_groups import Transport
from hwlib.virtual.clock import VirtualClock
from hwlib.virtual.playing import Playing, buffer_bytes, unseen

NO_PEERS = (
    "one rank stands for all here, so there is nobody to send to: a program whose ranks differ, such as a "
    "pipeline, is no SPMD program"
)


@dataclass
class SpmdPending:
    """Its data is complete; waiting only advances the clock, if there is one."""

    end: float = 0.0
    clock: VirtualClock | None = None
    done: bool = True

    def wait(self) -> None:
        """The current stream continues at the end of the collective."""
        if self.clock is not None:
            self.clock.wait(self.end, self.clock.current)


class SpmdTransport(Transport):
    """The group as the simulated rank sees it."""

    backend = "virtual"

    def collective(self, call: str, outputs: Any, inputs: Any, op: str, root: int) -> SpmdPending:  # noqa: ARG002
        """Compute the result at once, with peers that hold the same data."""
        with unseen():
            COPIES[call](outputs, inputs, self.size if op == "sum" else 1, self)
        world = Playing.world
        if world is None or self.size == 1:
            return SpmdPending()
        S = buffer_bytes(call, outputs, inputs, self.size)
        if world.kernel_times:
            world.kernel_times.sent(call, outputs, inputs, self.size)
        return SpmdPending(world.call(call, S, self.name, self.ranks), world.clock)

    def send(self, tensor: Any, to: int, tag: int) -> Any:
        """There is nobody. Raises NotImplementedError."""
        raise NotImplementedError(NO_PEERS)

    def receive(self, tensor: Any, source: int, tag: int) -> Any:
        """There is nobody. Raises NotImplementedError."""
        raise NotImplementedError(NO_PEERS)


def _reduce(outputs: Any, _inputs: Any, times: int, _group: Transport) -> None:
    for tensor in outputs or ():
        tensor.mul_(times)


def _gather(outputs: Any, tensor: Any, _times: int, group: Transport) -> None:
    if outputs is None or isinstance(outputs, (list, tuple)):
        for output in outputs or ():
            output.copy_(tensor)
    else:
        outputs.view(group.size, -1).copy_(tensor.reshape(1, -1).expand(group.size, -1))


def _reduce_scatter(output: Any, inputs: Any, times: int, group: Transport) -> None:
    parts = inputs if isinstance(inputs, (list, tuple)) else inputs.reshape(group.size, -1)
    output.copy_(parts[group.rank].view_as(output)).mul_(times)


def _scatter(output: Any, parts: Any, _times: int, group: Transport) -> None:
    if parts is not None:  # only the root has them
        output.copy_(parts[group.rank])


def _all_to_all(outputs: Any, inputs: Any, _times: int, _group: Transport) -> None:
    pairs = zip(outputs, inputs, strict=True) if isinstance(outputs, (list, tuple)) else [(outputs, inputs)]
    for into, tensor in pairs:
        if into.numel() == tensor.numel():
            into.copy_(tensor.view_as(into))


def _nothing(*_: Any) -> None:
    pass


COPIES: dict[str, Callable[[Any, Any, int, Transport], None]] = {
    "all_reduce": _reduce,
    "reduce": _reduce,
    "reduce_scatter": _reduce_scatter,
    "all_gather": _gather,
    "gather": _gather,
    "scatter": _scatter,
    "all_to_all": _all_to_all,
    "broadcast": _nothing,
    "barrier": _nothing,
}
