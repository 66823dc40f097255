"""How often and how many at once may ask: what is beyond waits a moment, and is told for how long."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

MANY = 10_000  # learners of whom something is remembered


class Later(Exception):
    """Not now: the status, what is said, and the seconds after which one may ask again."""

    def __init__(self, status: int, say: str, seconds: float):
        super().__init__(say)
        self.status, self.say, self.seconds = status, say, max(1, math.ceil(seconds))


class Rate:
    """For each learner a bucket of `burst` requests that refills by one in `interval` seconds."""

    def __init__(self, burst: int, interval: float, clock: Callable[[], float] = time.monotonic):
        self.burst, self.interval, self.clock = burst, interval, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by who: what was left, and when

    def take(self, who: str) -> None:
        """Count a request of this learner; Later where the bucket is empty."""
        now = self.clock()
        left, then = self._left.pop(who, (float(self.burst), now))
        left = min(self.burst, left + (now - then) / self.interval)
        self._left[who] = (left if left < 1 else left - 1, now)
        while len(self._left) > MANY:
            self._left.popitem(last=False)
        if left < 1:
            raise Later(429, "You ask more often than is answered", (1 - left) * self.interval)


class OneAtATime:
    """Each learner has one answer judged at a time."""

    def __init__(self) -> None:
        self._busy: set[str] = set()

    def begin(self, who: str) -> None:
        if who in self._busy:
            raise Later(429, "Another answer of yours is being judged", 1)
        self._busy.add(who)

    def end(self, who: str) -> None:
        self._busy.discard(who)


class Queue:
    """At most `most` answers wait or are judged at once."""

    def __init__(self, most: int, seconds: float):
        self.most, self.seconds = most, seconds
        self.count = 0

    def begin(self) -> None:
        if self.count >= self.most:
            raise Later(503, "Too many answers wait to be judged", self.seconds)
        self.count += 1

    def end(self) -> None:
        self.count -= 1
