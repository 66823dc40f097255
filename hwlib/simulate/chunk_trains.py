"""Messages of many chunks, without an event for each chunk.

A message in m chunks crosses a network as a train: its chunks come to a link at equal distances, and leave it at equal
distances. So a link takes a whole train in one event, until another message contends for the link; then the train is
split at that chunk: the earlier chunks stay, the others become a train of their own, ready when they were ready, and
the events scheduled for them downstream are cancelled. The result equals that of an event for every chunk and link,
exactly; the cost is an event for every train and link, and one more for each split. Where trains are split all the
time, links take single chunks, and gradually more again: any train may be taken as two.
"""

import math
from collections.abc import Callable
from heapq import heappush
from typing import Any, NamedTuple

GROWTH = 1.02  # a link that has seen a train cut takes one chunk 36 times before it takes two
ARRIVAL = -(1 << 40)  # a heap entry of order ARRIVAL + m is the arrival of message m


class Hop(NamedTuple):
    """One link of a message's way, for chunks of one size.

    A chunk occupies the link for `service` seconds. Where it comes over a slower link, its head is there
    `slack` seconds earlier than it need start for its end not to wait for data. `offset` is from its start to
    its head's coming to the next link; at the last link, to its arrival. `after` is the number of the next
    hop, -1 at the last.
    """

    link: int
    service: Any
    slack: Any
    offset: Any
    after: int


class Train:
    """`count` chunks of one message, from its chunk `first` on, at one link of their way.

    The head of chunk j is there at `ready` + j * `period`; once the link has taken the train, it starts at
    `start` + j * `gap`. `parent` is the train at the link before, and `children` are those at the next. `due` is when
    the last chunk will arrive.
    """

    __slots__ = (
        "again", "before", "children", "count", "due", "first", "gap", "hop", "order", "parent", "period",
        "plan", "ready", "row", "size", "start",
    )  # fmt: skip

    def __init__(
        self,
        order: int,
        plan: tuple[Hop, ...],
        hop: int,
        size: Any,
        first: int,
        count: int,
        ready: Any,
        period: Any,
        parent: "Train | None" = None,
        again: int = 0,
    ):
        self.order, self.plan, self.hop, self.size = order, plan, hop, size
        self.first, self.count, self.ready, self.period = first, count, ready, period
        self.parent, self.again = parent, again
        self.children: list[Train] = []
        self.start: Any = None
        self.gap: Any = 0
        self.due: Any = None
        self.before: Any = None
        self.row = -1

    def __lt__(self, other: "Train") -> bool:
        return self.first < other.first


class TrainLinks:
    """The links as trains see them: when each is free, and which train may still be cut.

    `log` takes rows of (link, message, bytes, start, end); `left(message, time)` and `resend(train, time)` tell
    the outside that the last chunk has left its sender, and that a chunk was lost.
    """

    def __init__(
        self,
        heap: list[tuple],
        dies: list[Any],
        log: Any,
        left: Callable[[int, Any], None],
        resend: Callable[[Train, Any], None],
    ):
        self.heap, self.dies, self.log, self.left, self.resend = heap, dies, log, left, resend
        self.free: list[Any] = [0] * len(dies)
        self.last: list[Train | None] = [None] * len(dies)
        self.grasp = [math.inf] * len(dies)  # chunks of a train that a link takes at once
        self.unsent: dict[int, int] = {}
        self.missing: dict[int, int] = {}
        self.cuts = 0

    def enter(self, train: Train) -> None:
        """A train at its sender, with all its chunks ready."""
        message = train.order >> 1
        self.unsent[message] = self.unsent.get(message, 0) + train.count
        self.missing[message] = self.missing.get(message, 0) + train.count
        heappush(self.heap, (train.ready, train.order, train))

    def reach(self, train: Train) -> None:
        """The head of a train's first chunk is at a link, at `train.ready`, which is now."""
        if not train.count:
            return
        link, service, slack, offset, after = train.plan[train.hop]
        now, period = train.ready, train.period
        if self.last[link] is not None:
            self.interrupt(link, now, train.order, train.first)
        if train.count > self.grasp[link]:
            self.split(train, int(self.grasp[link]))
            self.grasp[link] *= GROWTH
        begin, dies = now + slack, self.dies[link]
        start = max(begin, self.free[link])
        if start + service > dies:
            self.split(train, 1)
            train.count = 0
            self.resend(train, max(now, dies))
            return
        gap = service
        if train.count > 1:
            if period > service:
                if start == begin:
                    gap = period
                else:  # the first ones queue and leave back to back, until the others no longer catch up
                    self.split(train, int((start - begin) // (period - service)) + 1)
            if start + (train.count - 1) * gap + service > dies:
                self.split(train, int((dies - start - service) // gap) + 1)
        train.start, train.gap, train.before = start, gap, self.free[link]
        self.free[link] = end = start + (train.count - 1) * gap + service
        self.last[link] = train if train.count > 1 and period > 0 else None
        train.row = self.log.add(link, train.order >> 1, train.count * train.size, start, end)
        if not train.hop and not train.again:
            self.depart(train, end)
        if after < 0:
            self.arrive(train)
        else:
            child = Train(
                train.order,
                train.plan,
                after,
                train.size,
                train.first,
                train.count,
                start + offset,
                gap,
                train,
                train.again,
            )
            train.children = [child]
            heappush(self.heap, (child.ready, child.order, child))

    def depart(self, train: Train, end: Any) -> None:
        """A train has left its sender, which may be free now."""
        message = train.order >> 1
        self.unsent[message] -= train.count
        if not self.unsent[message]:
            del self.unsent[message]
            self.left(message, end)

    def arrive(self, train: Train) -> None:
        """The last chunk's arrival is scheduled; if the train is split, an earlier chunk becomes the last."""
        train.due = train.start + (train.count - 1) * train.gap + train.plan[train.hop].offset
        heappush(self.heap, (train.due, ARRIVAL + (train.order >> 1), train))

    def complete(self, train: Train, now: Any) -> bool:
        """A scheduled arrival has occurred, unless it was cancelled; whether it completes the message."""
        if train.due is None or train.due != now:
            return False
        train.due, message = None, train.order >> 1
        self.missing[message] -= train.count
        if self.missing[message]:
            return False
        del self.missing[message]
        return True

    def interrupt(self, link: int, now: Any, order: int, first: int = 0) -> None:
        """A message of this order is ready at the link: chunks of the last train that are not ready come after it.

        At one time, the message with the lower number goes first, and of one message the earlier chunk.
        """
        train = self.last[link]
        assert train is not None
        self.last[link] = None
        ready, period = train.ready, train.period
        keep = min(train.count, int((now - ready) // period) + 1)
        turn = now, order, first
        while keep and (ready + (keep - 1) * period, train.order, train.first + keep - 1) > turn:
            keep -= 1
        while keep < train.count and (ready + keep * period, train.order, train.first + keep) < turn:
            keep += 1  # more than one of either only by rounding
        if keep < train.count:
            self.cuts += 1
            self.grasp[link] = 1
            self.split(train, keep)

    def split(self, train: Train, keep: int) -> None:
        """The chunks from `keep` on become a train of their own, which reaches the link when they are ready."""
        if keep >= train.count:
            return
        rest = Train(
            train.order,
            train.plan,
            train.hop,
            train.size,
            train.first + keep,
            train.count - keep,
            train.ready + keep * train.period,
            train.period,
            train.parent,
            train.again,
        )
        self.cut(train, keep)
        if rest.parent is not None:
            rest.parent.children.append(rest)
        heappush(self.heap, (rest.ready, rest.order, rest))

    def cut(self, train: Train, keep: int) -> None:
        """Cancels what was scheduled for the chunks from `keep` on, here and downstream."""
        if keep >= train.count:
            return
        train.count = max(keep, 0)
        if train.start is None:
            return
        link, service, _, _, after = train.plan[train.hop]
        end = train.start + (keep - 1) * train.gap + service if keep > 0 else train.before
        self.free[link] = end
        self.log.shorten(train.row, train.count * train.size, end)
        for child in train.children:
            self.cut(child, train.first + train.count - child.first)
        if after < 0:
            train.due = None
            if train.count:
                self.arrive(train)
