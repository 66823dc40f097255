"""Collect the ranks' output and results, until all have ended, one has failed, or the time is over."""

import json
import os
import pickle
import selectors
import time
from contextlib import suppress
from typing import Any

from hwlib.labs.ranks import failures, places
from hwlib.labs.ranks.launch import Started
from hwlib.labs.ranks.process import HEAD
from hwlib.labs.ranks.results import Ranks

PRINTED = 20_000  # characters that are kept of what a rank prints
GRACE = 0.15  # seconds, after the first has failed, for others to say that they have too
PEERS = 1.0  # the same where what failed first says that its peer is gone
QUIET = 1.0  # seconds without a word, after which it is looked whether any can go on
SAYS = 1.0  # seconds in which the server ends a line that it has begun
GONE = "the process that the ranks are forked from has ended, and they with it; the next run starts another"


class Collector:
    """The state of a run, by rank: heads and bodies of results, output, failures, and where the others are."""

    def __init__(self, started: Started, deadline: float):
        self.started, self.deadline = started, deadline
        n = len(started.links)
        self.heads: dict[int, dict[str, Any]] = {}
        self.bodies: dict[int, memoryview] = {}
        self.errors: dict[int, dict[str, Any]] = {}
        self.died: dict[int, int] = {}  # exit status, or minus the signal
        self.places: dict[int, str] = {}
        self.printed = [bytearray() for _ in range(n)]
        self.came = [bytearray() for _ in range(n)]
        self.looks = selectors.DefaultSelector()
        for rank in range(n):
            self.looks.register(started.links[rank], selectors.EVENT_READ, (self.take, rank))
            self.looks.register(started.outputs[rank], selectors.EVENT_READ, (self.hear, rank))
        self.looks.register(started.launcher.control, selectors.EVENT_READ, (self.told, 0))
        self.stuck = False

    @property
    def missing(self) -> list[int]:
        """The ranks that have not ended."""
        return [r for r in range(len(self.came)) if r not in self.heads and r not in self.died]

    @property
    def output(self) -> list[str]:
        """What each rank has printed."""
        texts = [bytes(b[:PRINTED]).decode(errors="replace") for b in self.printed]
        cut = f"\n[cut after {PRINTED} characters]"
        return [text + cut * (len(b) > PRINTED) for text, b in zip(texts, self.printed, strict=True)]

    def collect(self) -> None:
        """Collect until all have ended, one has failed, or none can continue; then find out where the others are."""
        last: dict[int, places.Look] = {}
        while self.missing and not self.stuck and (left := self.deadline - time.monotonic()) > 0:
            quiet = not self.turn(min(left, QUIET))
            if self.errors or self.died:
                self.hear_others()
                break
            now = self.look() if quiet and self.missing else {}
            self.stuck, last = places.stuck(last, now), now
        self.places = {rank: places.fell(self.started.folder, rank) for rank in self.died}
        if self.missing and not self.errors and not self.died:
            self.places = {rank: look.place for rank, look in (last or self.look()).items()}
        self.turn(0.0)
        self.looks.close()

    def hear_others(self) -> None:
        """After a failure: collect the others' messages for a short time."""
        peers = not self.died and all(map(failures.lost_peer, self.errors.values()))
        until = time.monotonic() + (PEERS if peers else GRACE)
        while self.missing and (left := until - time.monotonic()) > 0:
            self.turn(left)

    def turn(self, seconds: float) -> bool:
        """Take what there is, waiting for it at most so long; whether there was anything."""
        ready = self.looks.select(seconds)
        for key, _ in ready:
            act, rank = key.data
            act(rank)
        return bool(ready)

    def take(self, rank: int) -> None:
        """Receive a part of a rank's result."""
        part = b""
        with suppress(OSError):
            part = self.started.links[rank].recv(1 << 20)
        came = self.came[rank]
        if not part:
            self.looks.unregister(self.started.links[rank])
            return
        came += part
        if len(came) < HEAD.size:
            return
        head, body = HEAD.unpack_from(came)
        if rank in self.heads or len(came) < HEAD.size + head + body:
            return
        self.heads[rank] = json.loads(bytes(came[HEAD.size : HEAD.size + head]))
        self.bodies[rank] = memoryview(came)[HEAD.size + head :]
        if "failed" in self.heads[rank]:
            self.errors[rank] = {**self.heads[rank]["failed"], "at": self.heads[rank]["ended"]}

    def hear(self, rank: int) -> None:
        """Receive a part of a rank's output; what exceeds the limit is discarded."""
        part = os.read(self.started.outputs[rank], 1 << 16)
        if not part:
            self.looks.unregister(self.started.outputs[rank])
        self.printed[rank] += part[: max(0, PRINTED + 1 - len(self.printed[rank]))]

    def told(self, _: int) -> None:
        """Receive the server's message that a rank has ended before it was told to."""
        launcher = self.started.launcher
        more = True
        while more:
            try:
                message = launcher.hear(time.monotonic() + SAYS)
            except OSError:
                raise failures.RankError(GONE) from None
            if (rank := message.get("ended")) is not None and rank not in self.heads:
                self.died[rank] = message["code"]
            more = b"\n" in launcher.unread

    def look(self) -> dict[int, places.Look]:
        """Find out where the ranks are that have not ended."""
        started = self.started
        pids = {rank: started.pids[rank] for rank in self.missing}
        return places.look(started.folder, pids, lambda: started.launcher.ask({"do": "signal"}))

    def ranks(self) -> Ranks:
        """The results of a run in which all ranks succeeded."""
        order = range(len(self.came))
        heads = [self.heads[rank] for rank in order]
        seconds = max(head["ended"] for head in heads) - min(head["begun"] for head in heads)
        results = [pickle.loads(self.bodies[rank]) for rank in order]
        return Ranks(results, self.output, seconds, heads[0]["backend"], [head["log"] for head in heads])
