"""Each rank is a thread: collectives run when the last rank has arrived, and messages carry their arrival time."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hwlib.torch_groups import ANY, Transport
from hwlib.virtual.exchange import work_of
from hwlib.virtual.playing import Playing, buffer_bytes, nbytes, unseen
from hwlib.virtual.rendezvous import PendingOperation


@dataclass
class ThreadPending:
    """A pending operation of a rank; `what` describes it in a timeout's message, and `arrived` stores a message."""

    pending: PendingOperation
    what: str
    arrived: Callable[[Any], None] | None = None

    @property
    def done(self) -> bool:
        """Whether the others have arrived."""
        return self.pending.done.is_set()

    def wait(self) -> None:
        """Wait for them; the clock continues at the end of the operation."""
        Playing.rendezvous.wait(self.pending, self.what)
        clock = Playing.clock
        clock.wait(self.pending.end, clock.current)
        arrived, self.arrived = self.arrived, None
        if arrived is not None:
            arrived(self.pending.data)


class ThreadTransport(Transport):
    """The group as the rank of this thread sees it."""

    backend = "virtual_threads"

    def __init__(self, rank: int, ranks: Sequence[int]):
        super().__init__(rank, ranks)
        self._numbers: Counter[Any] = Counter()

    def _number(self, of: Any) -> int:
        self._numbers[of] += 1
        return self._numbers[of]

    def collective(self, call: str, outputs: Any, inputs: Any, op: str, root: int) -> ThreadPending:
        """Arrive at the collective; the last of the group does it for all."""
        world, ranks = Playing.world, self.ranks
        S = buffer_bytes(call, outputs, inputs, self.size)
        work = work_of(call, op, root)
        key = (self.name, self._number("call"))
        with unseen():
            pending = world.rendezvous.join(
                key,
                self.rank,
                ranks,
                world.clock,
                (outputs, inputs),
                work,
                call,
                S,
                lambda: world.network_time(call, S, ranks),
            )
        return ThreadPending(pending, f"{call} number {key[1]} of the ranks {_few(ranks)}, and not all came")

    def send(self, tensor: Any, to: int, tag: int) -> ThreadPending:
        """Leave a copy, with the time at which it arrives."""
        world, pair = Playing.world, (self.ranks[self.rank], self.ranks[to])
        end = world.call("send", nbytes(tensor), f"{pair[0]} to {pair[1]}", pair)
        with unseen():
            data = tensor.detach().clone()
        key = (self.name, *pair, tag, self._number((to, tag, "to")))
        return ThreadPending(Playing.rendezvous.message(key, end, data), "")

    def receive(self, tensor: Any, source: int, tag: int) -> ThreadPending:
        """Wait for the copy."""
        if source == ANY:
            raise NotImplementedError("a simulated cluster receives from a named rank only, not from any")

        def arrived(data: Any) -> None:
            with unseen():
                tensor.detach().copy_(data)

        pair = (self.ranks[source], self.ranks[self.rank])
        key = (self.name, *pair, tag, self._number((source, tag, "of")))
        return ThreadPending(Playing.rendezvous.message(key), f"a message of rank {pair[0]} that nobody sent", arrived)


def _few(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks)) if len(ranks) <= 8 else f"{ranks[0]}, {ranks[1]}, ... {ranks[-1]}"
