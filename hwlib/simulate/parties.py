"""The post office under every simulation: it moves messages between programs, and knows nothing of time.

A party is anything with `.send(value)` that answers with the next step and raises StopIteration(result) at the
end: a generator, or a proxy of one that runs elsewhere. Sends do not wait: a message lies in the channel from
its sender to its receiver, first in, first out, until it is asked for. No party can see the order in which
the others are run, so neither can the result.

Each rank has a logical clock, 0 at the start. A message leaves in the round that its sender's clock shows; a
step ends one round after the latest of the rank's own clock and those messages it receives. The largest clock
is the number of rounds: the longest chain of steps that wait for one another.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from hwlib.algorithms.step import Step, copied

SHOWN = 6  # ranks that an error names one by one


class SimulationError(RuntimeError):
    """An algorithm that cannot go on, or whose sends and receives do not match."""


class Message(NamedTuple):
    """`bytes` left rank `src` in `round` and were received by rank `dst` in round `taken` >= `round`."""

    round: int
    src: int
    dst: int
    bytes: float
    taken: int


class Party(Protocol):
    """One rank's program, here or elsewhere."""

    def send(self, value: Any, /) -> Step | list[Step]:
        """The next step, once the last one gave `value`; raises StopIteration(result) at the end."""


class Ended(NamedTuple):
    """What the parties returned, the messages in the order in which they were received, and the clocks."""

    outputs: list[Any]
    messages: list[Message]
    clocks: list[int]


def run_parties(
    parties: Sequence[Party],
    *,
    limit: int | None = None,
    copy: Callable[[Any], Any] = copied,
) -> Ended:
    """Runs parties, rank 0 first, to their end.

    `limit` is the number of messages after which a run counts as endless. `copy` makes the message out of
    what was sent. Raises SimulationError for a deadlock, a message that nobody receives, or a step that is
    none.
    """
    return _Office(parties, limit, copy).run()


class _Office:
    def __init__(self, parties: Sequence[Party], limit: int | None, copy: Callable[[Any], Any]):
        self.parties, self.limit, self.copy = parties, limit, copy
        size = range(len(parties))
        self.clock = [0 for _ in size]  # at the start of the rank's step
        self.latest = [0 for _ in size]  # of the own clock and the messages that this step has received
        self.missing = [0 for _ in size]  # messages that this step still waits for
        self.got: list[Any] = [None for _ in size]  # what the step gives; a list where a list was yielded
        self.steps = [-1 for _ in size]
        self.done = [False for _ in size]
        self.outputs: list[Any] = [None for _ in size]
        self.messages: list[Message] = []
        self.events = 0  # messages, and steps without one
        # By (src, dst): messages not asked for yet, and places in the receiver's step that still want one.
        self.channel: dict[tuple[int, int], deque[tuple[Any, int]]] = defaultdict(deque)
        self.wanted: dict[tuple[int, int], deque[int]] = defaultdict(deque)
        self.ready: deque[int] = deque(size)

    def run(self) -> Ended:
        while self.ready:
            self.step(self.ready.popleft())
        if not all(self.done):
            raise SimulationError(self.deadlock())
        if any(self.channel.values()):
            raise SimulationError(self.unreceived())
        return Ended(self.outputs, self.messages, self.clock)

    def step(self, rank: int) -> None:
        """Gives a rank what its last step received, and starts its next one."""
        value = self.got[rank]
        self.steps[rank] += 1
        try:
            yielded = self.parties[rank].send(value if type(value) is not _Single else value[0])
        except StopIteration as end:
            self.done[rank], self.outputs[rank] = True, end.value
            return
        except Exception as error:
            before = f", after step {self.steps[rank] - 1}" if self.steps[rank] else ", before its first step"
            error.add_note(f"in rank {rank}{before}")
            raise
        steps = checked_steps(yielded, lambda: self.place(rank), rank, len(self.parties))
        self.got[rank] = (_Single if isinstance(yielded, Step) else list)([None] * len(steps))
        self.latest[rank] = self.clock[rank]
        moves = False
        for step in steps:
            if step.to is not None:
                self.post(rank, step.to, step.send)
                moves = True
        for place, step in enumerate(steps):
            if step.frm is not None:
                self.receive(rank, step.frm, place)
                moves = True
        if not moves:
            self.count()
            self.ready.append(rank)
        elif not self.missing[rank]:
            self.finish(rank)

    def finish(self, rank: int) -> None:
        self.clock[rank] = self.latest[rank] + 1
        self.ready.append(rank)

    def post(self, src: int, dst: int, data: Any) -> None:
        self.count()
        message = self.copy(data), self.clock[src]
        if wanted := self.wanted.get((src, dst)):
            self.deliver(src, dst, wanted.popleft(), message)
            self.missing[dst] -= 1
            if not self.missing[dst]:
                self.finish(dst)
        else:
            self.channel[src, dst].append(message)

    def count(self) -> None:
        self.events += 1
        if self.limit is not None and self.events > self.limit:
            raise SimulationError(f"more than {self.limit} messages: the algorithm does not seem to end")

    def receive(self, rank: int, frm: int, place: int) -> None:
        if waiting := self.channel.get((frm, rank)):
            self.deliver(frm, rank, place, waiting.popleft())
        else:
            self.wanted[frm, rank].append(place)
            self.missing[rank] += 1

    def deliver(self, src: int, dst: int, place: int, message: tuple[Any, int]) -> None:
        data, left = message
        self.got[dst][place] = data
        self.latest[dst] = max(self.latest[dst], left)
        self.messages.append(Message(left, src, dst, data.nbytes, max(left, self.clock[dst])))

    # What went wrong

    def place(self, rank: int) -> str:
        return f"rank {rank}, step {self.steps[rank]}"

    def deadlock(self) -> str:
        waits: dict[int, set[int]] = {rank: set() for rank, done in enumerate(self.done) if not done}
        for (src, dst), places in self.wanted.items():
            if places:
                waits[dst].add(src)
        lines = []
        for rank, sources in sorted(waits.items())[:SHOWN]:
            whom = " and ".join(self.whom(src) for src in sorted(sources)[:SHOWN])
            lines.append(f"{self.place(rank)}, waits for {whom}")
        if len(waits) > SHOWN:
            lines.append(f"and {len(waits) - SHOWN} more ranks wait")
        return "deadlock: " + "; ".join(lines)

    def whom(self, rank: int) -> str:
        return f"rank {rank}" + (", which has returned" if self.done[rank] else "")

    def unreceived(self) -> str:
        left = sorted((src, dst, len(queue)) for (src, dst), queue in self.channel.items() if queue)
        lines = [f"{_messages(count)} from rank {src} to rank {dst}" for src, dst, count in left[:SHOWN]]
        more = f" and {len(left) - SHOWN} more pairs" if len(left) > SHOWN else ""
        return f"sent but never received: {', '.join(lines)}{more}"


def checked_steps(yielded: Any, place: Callable[[], str], rank: int, n: int) -> list[Step]:
    """The steps that rank yielded, among n parties, if they are steps; `place()` says where, for the error."""
    steps = [yielded] if isinstance(yielded, Step) else yielded
    if not isinstance(steps, list | tuple) or not all(isinstance(step, Step) for step in steps):
        wanted = "an algorithm yields Step(send, to, frm) or a list of them"
        raise SimulationError(f"{place()}: {wanted}, got {_short(yielded)}")
    for step in steps:
        if (step.send is None) != (step.to is None):
            there, absent = ("send", "to") if step.to is None else ("to", "send")
            raise SimulationError(f"{place()}: a Step has `{there}` but no `{absent}`")
        if step.send is not None and not hasattr(step.send, "nbytes"):
            raise SimulationError(f"{place()}: `send` is an array, got {_short(step.send)}")
        for name, peer in (("to", step.to), ("frm", step.frm)):
            if peer is None or (type(peer) is int and 0 <= peer < n and peer != rank):
                continue
            if not _is_whole(peer) or not 0 <= peer < n or peer == rank:
                allowed = f"another rank, 0 to {n - 1}" if n > 1 else "another rank, and there is none"
                raise SimulationError(f"{place()}: `{name}` is {allowed}, got {_short(peer)}")
    return list(steps)


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


class _Single(list):
    """The one slot of a step that was yielded alone: its value, not a list, goes back."""


def _messages(count: int) -> str:
    return "one message" if count == 1 else f"{count} messages"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def started(algorithm: Callable[..., Any], calls: Iterable[tuple], **options: Any) -> list[Party]:
    """The party of each call. Raises SimulationError for a function that is no generator."""
    parties = [algorithm(*call, **options) for call in calls]
    for party in parties:
        if not hasattr(party, "send"):
            name = getattr(algorithm, "__name__", "the algorithm")
            raise SimulationError(f"{name} is no generator: it returned {_short(party)} without a `yield Step(...)`")
    return parties
