"""The mailbox under every simulation: it moves messages between programs, and knows nothing of time.

A program is anything with `.send(value)` that answers with the next step and raises StopIteration(result) at the
end: a generator, or a proxy of one that runs elsewhere. Sends do not wait: a message lies in the channel from
its sender to its receiver, first in, first out, until it is asked for. No program can see the order in which
the others are run, so neither can the result.

Each rank has a logical clock, 0 at the start. A message leaves in the round that its sender's clock shows; a
step ends one round after the latest of the rank's own clock and those messages it receives. The largest clock
is the number of rounds: the longest chain of steps that wait for one another.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from hwlib.algorithms.protocol import Step, copied

SHOWN = 6  # ranks that an error names one by one


class SimulationError(RuntimeError):
    """An algorithm that cannot go on, or whose sends and receives do not match.

    `reason` names what was found, in words that do not change: deadlock, unreceived, endless; of a step, not-a-step,
    half-a-step, not-an-array, no-such-rank; not-a-generator; unreachable.
    """

    def __init__(self, message: str, reason: str = ""):
        super().__init__(message)
        self.reason = reason


class Message(NamedTuple):
    """`bytes` left rank `src` in `round` and were received by rank `dst` in round `taken` >= `round`."""

    round: int
    src: int
    dst: int
    bytes: float
    taken: int


class RankProgram(Protocol):
    """One rank's program, here or elsewhere."""

    def send(self, value: Any, /) -> Step | list[Step]:
        """The next step, once the last one gave `value`; raises StopIteration(result) at the end."""


class MailboxRun(NamedTuple):
    """The programs' results, the messages in the order in which they were received, and the clocks."""

    outputs: list[Any]
    messages: list[Message]
    clocks: list[int]


def run_programs(
    programs: Sequence[RankProgram],
    *,
    limit: int | None = None,
    copy: Callable[[Any], Any] = copied,
) -> MailboxRun:
    """Runs programs, rank 0 first, to their end.

    `limit` is the number of messages after which a run counts as endless. `copy` makes the message out of
    what was sent. Raises SimulationError for a deadlock, a message that no rank receives, or an invalid step.
    """
    return _Mailbox(programs, limit, copy).run()


class _RankState:
    """A program and its mail: what it waits for, and what waits for it, by sender."""

    __slots__ = (
        "alone",
        "clock",
        "done",
        "got",
        "latest",
        "mail",
        "missing",
        "number",
        "output",
        "program",
        "step",
        "wanted",
    )

    def __init__(self, number: int, program: RankProgram):
        self.number, self.program = number, program
        self.step = -1
        self.done, self.output = False, None
        self.clock = 0  # at the start of the step
        self.latest = 0  # of the clock and the messages that the step has received
        self.missing = 0  # messages that the step still waits for
        self.got: list[Any] = [None]  # by place in the step; `alone` if it was not a list
        self.alone = True
        self.mail: dict[int, deque[tuple[Any, int]]] = defaultdict(deque)  # not asked for yet
        self.wanted: dict[int, deque[int]] = defaultdict(deque)  # places in the step that still want one


class _Mailbox:
    def __init__(self, programs: Sequence[RankProgram], limit: int | None, copy: Callable[[Any], Any]):
        self.ranks = [_RankState(number, program) for number, program in enumerate(programs)]
        self.ready = deque(self.ranks)
        self.limit, self.copy = limit, copy
        self.log: list[tuple] = []  # the messages, as plain tuples: there may be millions
        self.events = 0  # messages, and steps without one

    def run(self) -> MailboxRun:
        while self.ready:
            self.take_step(self.ready.popleft())
        if not all(rank.done for rank in self.ranks):
            raise SimulationError(self.deadlock(), "deadlock")
        if any(queue for rank in self.ranks for queue in rank.mail.values()):
            raise SimulationError(self.unreceived(), "unreceived")
        messages = [Message(*entry) for entry in self.log]
        return MailboxRun([rank.output for rank in self.ranks], messages, [rank.clock for rank in self.ranks])

    def take_step(self, rank: _RankState) -> None:
        """Gives a rank what its last step received, and starts its next one."""
        rank.step += 1
        try:
            yielded = rank.program.send(rank.got[0] if rank.alone else rank.got)
        except StopIteration as end:
            rank.done, rank.output = True, end.value
            return
        except Exception as error:
            before = f"after step {rank.step - 1}" if rank.step else "before its first step"
            error.add_note(f"in rank {rank.number}, {before}")
            raise
        steps = checked_steps(yielded, lambda: self.place(rank), rank.number, len(self.ranks))
        rank.alone, rank.got = isinstance(yielded, Step), [None] * len(steps)
        rank.latest = rank.clock
        idle = True
        for step in steps:
            if step.to is not None:
                idle = False
                self.post(rank, self.ranks[step.to], step.send)
        for place, step in enumerate(steps):
            if step.frm is not None:
                idle = False
                self.receive(rank, self.ranks[step.frm], place)
        if idle:
            self.events += 1
            self.ready.append(rank)
        elif not rank.missing:
            rank.clock = rank.latest + 1
            self.ready.append(rank)
        if self.limit is not None and self.events > self.limit:
            say = f"more than {self.limit} messages: the algorithm does not seem to end"
            raise SimulationError(say, "endless")

    def post(self, src: _RankState, dst: _RankState, data: Any) -> None:
        """Hands a message over, if the receiver waits for it, or leaves it in its mail."""
        self.events += 1
        message = self.copy(data), src.clock
        if wanted := dst.wanted.get(src.number):
            self.deliver(src, dst, wanted.popleft(), message)
            dst.missing -= 1
            if not dst.missing:
                dst.clock = dst.latest + 1
                self.ready.append(dst)
        else:
            dst.mail[src.number].append(message)

    def receive(self, dst: _RankState, src: _RankState, place: int) -> None:
        if mail := dst.mail.get(src.number):
            self.deliver(src, dst, place, mail.popleft())
        else:
            dst.wanted[src.number].append(place)
            dst.missing += 1

    def deliver(self, src: _RankState, dst: _RankState, place: int, message: tuple[Any, int]) -> None:
        data, left = message
        dst.got[place] = data
        if left > dst.latest:
            dst.latest = left
        self.log.append((left, src.number, dst.number, data.nbytes, max(left, dst.clock)))

    # What went wrong

    @staticmethod
    def place(rank: _RankState) -> str:
        return f"rank {rank.number}, step {rank.step}"

    def deadlock(self) -> str:
        waiting = [rank for rank in self.ranks if not rank.done]
        lines = []
        for rank in waiting[:SHOWN]:
            sources = [src for src, places in sorted(rank.wanted.items()) if places]
            lines.append(f"{self.place(rank)}, waits for {' and '.join(map(self.whom, sources[:SHOWN]))}")
        if len(waiting) > SHOWN:
            lines.append(f"and {len(waiting) - SHOWN} more ranks wait")
        return "deadlock: " + "; ".join(lines)

    def whom(self, number: int) -> str:
        return f"rank {number}" + (", which has returned" if self.ranks[number].done else "")

    def unreceived(self) -> str:
        left = [(src, rank.number, len(queue)) for rank in self.ranks for src, queue in rank.mail.items() if queue]
        lines = [
            f"{'one message' if count == 1 else f'{count} messages'} from rank {src} to rank {dst}"
            for src, dst, count in sorted(left)[:SHOWN]
        ]
        more = f" and {len(left) - SHOWN} more pairs" if len(left) > SHOWN else ""
        return f"sent but never received: {', '.join(lines)}{more}"


def checked_steps(yielded: Any, place: Callable[[], str], rank: int, n: int) -> list[Step]:
    """The steps that rank yielded, among n programs, if they are steps; `place()` says where, for the error."""
    steps = [yielded] if isinstance(yielded, Step) else yielded
    if not isinstance(steps, list | tuple):
        steps = [None]
    for step in steps:
        if not isinstance(step, Step):
            wanted = "an algorithm yields Step(send, to, frm) or a list of them"
            raise SimulationError(f"{place()}: {wanted}, got {_short(yielded)}", "not-a-step")
        send, *peers = step
        if (send is None) != (step.to is None):
            there, absent = ("send", "to") if step.to is None else ("to", "send")
            raise SimulationError(f"{place()}: a Step has `{there}` but no `{absent}`", "half-a-step")
        if send is not None and not hasattr(send, "nbytes"):
            raise SimulationError(f"{place()}: `send` is an array, got {_short(send)}", "not-an-array")
        for name, peer in zip(("to", "frm"), peers, strict=True):
            if peer is None or (type(peer) is int and 0 <= peer < n and peer != rank):
                continue
            if not _is_whole(peer) or not 0 <= peer < n or peer == rank:
                raise SimulationError(f"{place()}: {_no_rank(name, peer, rank, n)}", "no-such-rank")
    return list(steps)


def _no_rank(name: str, peer: Any, rank: int, n: int) -> str:
    """What is said of a `to` or `frm` that no message can have."""
    if n == 1:
        return f"`{name}` is {_short(peer)}, and there is no other rank"
    if not _is_whole(peer):
        return f"`{name}` is {_short(peer)}; a rank is a whole number, 0 to {n - 1}"
    if peer == rank:
        does = "sends to" if name == "to" else "waits for"
        return f"`{name}` is {_short(peer)}, so the rank {does} itself; another rank was expected"
    return f"`{name}` is {_short(peer)}, and the ranks are 0 to {n - 1}"


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def start_programs(algorithm: Callable[..., Any], calls: Iterable[tuple], **options: Any) -> list[RankProgram]:
    """The program of each call. Raises SimulationError for a function that is not a generator."""
    programs = [algorithm(*call, **options) for call in calls]
    for program in programs:
        if not hasattr(program, "send"):
            name = getattr(algorithm, "__name__", "the algorithm")
            raise SimulationError(
                f"{name} is not a generator: it returned {_short(program)}, with no `yield Step(...)`",
                "not-a-generator",
            )
    return programs
