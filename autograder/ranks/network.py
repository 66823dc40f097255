"""The judge as the network: it carries every message of a torch.distributed program, and counts what it carries.

A rank is a program: `send(reply)` gives its next request (see `autograder.ranks.process_group`), or ends with
StopIteration and what the rank's function returned. Ranks interact nowhere else, so they run one at a time,
each until it waits for something that has not arrived.

A rank's bytes are those of its messages; a collective's are those of the algorithm that `hwlib.simulate.call_costs`
names for it. Rounds are the longest chain of messages, each sent only after the previous one had been waited
for: a rank that sends to all others at once uses one round. Waiting for a send returns when its receive
has been posted, as in NCCL, whose ranks all hang if each sends before it receives.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hwlib.simulate.call_costs import ALGORITHM_OF

from .collective_results import PERFORM, array_of, cost_of
from .meetings import Meetings, RankMeeting
from .network_error import NetworkError, shown

CALLS = ("send", "recv", "barrier", "all_to_all", *ALGORITHM_OF)
MAX_REQUESTS = 100_000


class ServedRank(Protocol):
    """One rank's program, wherever it runs."""

    def send(self, reply: Any, /) -> dict[str, Any]:
        """Its next request, for the reply to its last one; raises StopIteration(result) at the end."""


@dataclass
class Carried:
    """What the ranks returned, the bytes that each sent and received, the rounds, the number of calls of each kind, and
    the bytes from each rank to each other."""

    outputs: list[Any]
    sent_bytes: list[int]
    received_bytes: list[int]
    rounds: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)


@dataclass
class _Collective:
    """One collective call of a group: it completes when the last of its ranks has made it."""

    call: str
    group: tuple[int, ...]
    posts: dict[int, dict[str, Any]] = field(default_factory=dict)
    start: int = 0
    results: dict[int, Any] | None = None
    end: int = 0

    @property
    def missing(self) -> list[int]:
        """The ranks that have not made it yet."""
        return [rank for rank in self.group if rank not in self.posts]


@dataclass
class _Rank:
    program: ServedRank
    clock: int = 0
    reply: Any = None
    waits: int | None = None  # the handle of what it waits for
    done: bool = False
    handles: list[Any] = field(default_factory=list)


def carry(programs: Sequence[ServedRank], allowed: Sequence[str] = CALLS, max_bytes: int = 1 << 30) -> Carried:
    """Run the ranks to their ends. Raises NetworkError for a deadlock, a call that is not `allowed`, or too much."""
    network = _Network(programs, allowed, max_bytes)
    network.run()
    return network.carried


class _Network:
    def __init__(self, programs: Sequence[ServedRank], allowed: Sequence[str], max_bytes: int):
        n = len(programs)
        self.ranks = [_Rank(program) for program in programs]
        self.allowed, self.left = tuple(allowed), max_bytes
        self.carried = Carried([None] * n, [0] * n, [0] * n)
        self.taken: dict[tuple[int, int, int], int] = defaultdict(int)  # receives posted so far
        self.arrived: dict[tuple[int, int, int], list[tuple[Any, int]]] = defaultdict(list)
        self.calls: dict[tuple[tuple[int, ...], int], _Collective] = {}
        self.made: Counter[tuple[tuple[int, ...], int]] = Counter()  # collectives by group and rank
        self.meetings = Meetings(n)
        self.requests = 0

    def run(self) -> None:
        """Run the ranks until none can continue."""
        moved = True
        while moved:
            moved = False
            for number, rank in enumerate(self.ranks):
                while not rank.done and self._ready(number):
                    moved = True
                    self._step(number)
        self._meet(number for number, rank in enumerate(self.ranks) if rank.done)
        if waiting := [number for number, rank in enumerate(self.ranks) if not rank.done]:
            say = "no rank can go on: " + "; ".join(self._why(number) for number in waiting)
            raise NetworkError(say, self._stuck(waiting))
        self._match()

    def _stuck(self, waiting: Sequence[int]) -> str:
        """The reason why ranks wait: for one that has ended, or for each other."""
        kinds = set()
        for number in waiting:
            kind, peers = self._waited(number)
            kinds.add(kind)
            if any(self.ranks[peer].done for peer in peers):
                return {"send": "unreceived", "recv": "unsent"}.get(kind, "left-alone")
        return "only-sends" if "send" in kinds and "recv" not in kinds else "deadlock"

    def _waited(self, number: int) -> tuple[str, Sequence[int]]:
        """What a rank waits for, and for which ranks."""
        rank = self.ranks[number]
        assert rank.waits is not None
        kind, what, _ = rank.handles[rank.waits]
        if kind in ("send", "recv"):
            return kind, [what[kind == "send"]]
        return kind, what.missing(number) if kind == "group" else what.missing

    def _match(self) -> None:
        """At the end every message has been sent and received, and every collective called by all of its group."""
        for key in dict.fromkeys((*self.arrived, *self.taken)):
            frm, to, tag = key
            sent, received = len(self.arrived[key]), self.taken[key]
            if sent > received:
                say = f"rank {frm} sent a message to rank {to} that rank {to} never received"
                raise NetworkError(f"{say}{_with(tag)}", "unreceived")
            if sent < received:
                say = f"rank {to} posted a receive from rank {frm} for a message that rank {frm} never sent"
                raise NetworkError(f"{say}{_with(tag)}", "unsent")
        for made in self.calls.values():
            if made.missing:
                say = f"rank {min(made.posts)} called {made.call}, but rank {_listed(made.missing)} never did"
                raise NetworkError(say, "left-alone")

    def _ready(self, number: int) -> bool:
        """Whether what the rank waits for has arrived; if so, store the reply."""
        rank = self.ranks[number]
        if rank.waits is None:
            return True
        kind, what, index = rank.handles[rank.waits]
        if kind == "send":
            if self.taken[what] <= index:
                return False
            rank.waits, rank.reply = None, None
            return True
        if kind == "group":
            if what.missing(number):
                return False
            rank.waits, rank.reply = None, None
            return True
        if kind == "recv":
            messages = self.arrived[what]
            if len(messages) <= index:
                return False
            data, depth = messages[index]
            messages[index] = (None, depth)
        else:
            if what.results is None:
                return False
            data, depth = what.results.pop(number), what.end
        rank.handles[rank.waits] = None
        rank.waits, rank.reply, rank.clock = None, data, max(rank.clock, depth)
        self.carried.rounds = max(self.carried.rounds, rank.clock)
        return True

    def _step(self, number: int) -> None:
        rank = self.ranks[number]
        self.requests += 1
        if self.requests > MAX_REQUESTS:
            raise NetworkError(f"the ranks made more than {MAX_REQUESTS:,} calls; do they ever end?", "endless")
        try:
            request = rank.program.send(rank.reply)
        except StopIteration as end:
            rank.done, self.carried.outputs[number] = True, end.value
            return
        rank.reply = None
        do = request.get("do")
        if do == "wait":
            rank.waits = self._handle(number, request.get("handle"))
        elif do == "clash":
            raise NetworkError(self._clash(number, request), "buffer-in-flight")
        elif do in ("send", "post"):
            rank.reply = len(rank.handles)
            rank.handles.append((self._send if do == "send" else self._post)(number, request))
        else:
            say = f"rank {number} made a request that is not a rank's: {shown(do)}"
            raise NetworkError(say, "unknown-request")

    def _handle(self, number: int, handle: Any) -> int:
        handles = self.ranks[number].handles
        if type(handle) is not int or not 0 <= handle < len(handles) or handles[handle] is None:
            say = f"rank {number} waits for {shown(handle)}, not posted or already waited for"
            raise NetworkError(say, "unknown-handle")
        return handle

    def _clash(self, number: int, request: dict[str, Any]) -> str:
        """What a rank does with the buffer of a message for which it has not waited."""
        sends, peer = self._message(number, request.get("handle"))
        held, does = f"{'isend to' if sends else 'irecv from'} rank {peer}", "changes"
        if request.get("by") is not None:
            sends, peer = self._message(number, request["by"])
            does = f"sends to rank {peer} from" if sends else f"receives from rank {peer} into"
        return f"rank {number} {does} the buffer of its {held} before it has waited for that"

    def _message(self, number: int, handle: Any) -> tuple[bool, int]:
        """Whether a message is one that the rank sends, and its peer."""
        kind, pair, _ = self.ranks[number].handles[self._handle(number, handle)]
        if kind not in ("send", "recv"):
            raise NetworkError(f"rank {number} made a request that is not a rank's: {kind}", "unknown-request")
        return kind == "send", pair[1] if kind == "send" else pair[0]

    def _allow(self, number: int, call: Any) -> None:
        if call not in CALLS:
            raise NetworkError(f"rank {number} called {shown(call)}, which is not judged", "unknown-call")
        if call not in self.allowed:
            say = f"your function called {call}; this exercise allows {', '.join(self.allowed)}"
            raise NetworkError(say, "call-not-allowed")
        self.carried.calls[call] += 1

    def _peer(self, number: int, other: Any, verb: str) -> int:
        n = len(self.ranks)
        if type(other) is not int or not 0 <= other < n:
            say = f"rank {number} {verb} rank {shown(other)}; there are ranks 0 to {n - 1}"
            raise NetworkError(say, "no-such-rank")
        if other == number:
            raise NetworkError(f"rank {number} {verb} itself", "own-rank")
        return other

    def _send(self, number: int, request: dict[str, Any]) -> tuple[str, Any, int]:
        self._allow(number, "send")
        to = self._peer(number, request.get("to"), "sends to")
        data = array_of(request.get("data"), number)
        self._count(number, to, data.nbytes)
        depth = self.ranks[number].clock + 1
        self.carried.rounds = max(self.carried.rounds, depth)
        key = number, to, _tag(request)
        self.arrived[key].append((data, depth))
        return "send", key, len(self.arrived[key]) - 1

    def _post(self, number: int, request: dict[str, Any]) -> tuple[str, Any, int]:
        call = str(request.get("call"))
        if call == "new_group":
            return "group", self._enter(number, request), 0
        self._allow(number, call)
        if call == "recv":
            frm = self._peer(number, request.get("from"), "receives from")
            key = (frm, number, _tag(request))
            self.taken[key] += 1
            return "recv", key, self.taken[key] - 1
        group = self._group(number, request.get("group"))
        order = self.made[group, number]
        self.made[group, number] += 1
        made = self.calls.setdefault((group, order), _Collective(call, group))
        if made.call != call:
            say = f"rank {number} calls {call} where rank {min(made.posts)} calls {made.call}"
            raise NetworkError(say, "other-call")
        made.posts[number] = request
        made.start = max(made.start, self.ranks[number].clock)
        if len(made.posts) == len(group):
            self._perform(made)
        return "collective", made, 0

    def _enter(self, number: int, request: dict[str, Any]) -> RankMeeting:
        local = request.get("local") is True
        members = self._group(number, request.get("ranks"), own=local)
        meeting = self.meetings.enter(number, members, local)
        if len(meeting.entered) == len(meeting.expected):
            self._meet(())
        return meeting

    def _meet(self, gone: Iterable[int]) -> None:
        """Raises NetworkError where the ranks did not all enter a group."""
        if broken := self.meetings.broken(gone):
            raise NetworkError(broken.say, broken.reason)

    def _group(self, number: int, group: Any, own: bool = True) -> tuple[int, ...]:
        n = len(self.ranks)
        members = tuple(group) if isinstance(group, (list, tuple)) else ()
        right = all(type(member) is int and 0 <= member < n for member in members)
        if not right or (own and number not in members) or len(set(members)) < len(members):
            say = f"rank {number} named the group {shown(group)}, which is not one of its own"
            raise NetworkError(say, "foreign-group")
        return members

    def _perform(self, made: _Collective) -> None:
        """Compute what each rank receives, and count the bytes and rounds of the call's algorithm."""
        posts = [made.posts[rank] for rank in made.group]
        results, moved = PERFORM[made.call](posts, len(posts))
        cost = cost_of(made.call, moved, posts)
        for frm, to, size in cost.pairs:
            self._count(made.group[frm], made.group[to], size)
        made.results = dict(zip(made.group, results, strict=True))
        made.end = made.start + cost.rounds
        for post in posts:
            post.pop("data", None)

    def _count(self, frm: int, to: int, size: int) -> None:
        self.left -= size
        if self.left < 0:
            say = "the ranks sent more than a thousand times what the exercise needs"
            raise NetworkError(say, "too-many-bytes")
        self.carried.sent_bytes[frm] += size
        self.carried.received_bytes[to] += size
        self.carried.pairs[frm, to] += size

    def _why(self, number: int) -> str:
        rank, (kind, peers) = self.ranks[number], self._waited(number)
        what = rank.handles[rank.waits or 0][1]
        ended = ", which has ended" if all(self.ranks[peer].done for peer in peers) and len(peers) == 1 else ""
        if kind == "recv":
            return f"rank {number} waits for a message from rank {peers[0]}{_with(what[2])}{ended}"
        if kind == "send":
            return f"rank {number} waits in send for rank {peers[0]} to receive{_with(what[2])}{ended}"
        call = f"new_group({list(what.entered[number])})" if kind == "group" else what.call
        return f"rank {number} waits in {call} for rank {_listed(peers)}{ended}"


def _with(tag: int) -> str:
    return f" with tag {tag}" if tag else ""


def _listed(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks))


def _tag(request: dict[str, Any]) -> int:
    tag = request.get("tag", 0)
    return tag if type(tag) is int else 0
