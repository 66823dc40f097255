"""The traffic of a run: the ranks' logs, merged afterwards as a network would have seen them.

A message counts by its bytes, and a collective as the algorithm that `hwlib.simulate.call_costs` names for it,
whatever the backend really does. Rounds are the longest chain of messages each of which was sent after the one before
had been waited for.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class RunTraffic:
    """What a run sent, by rank, in how many rounds, how often each call was made by all ranks together, and the bytes
    from whom to whom."""

    sent_bytes: list[int]
    received_bytes: list[int]
    rounds: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)


def traffic(logs: Sequence[Sequence[Sequence[Any]]]) -> RunTraffic:
    """Puts the logs of all ranks together: the k-th send from a to b is what the k-th receive at b from a took."""
    return _Replay(logs).run()


class _Replay:
    """Goes through the logs as a network would, with a clock for each rank that counts rounds."""

    def __init__(self, logs: Sequence[Sequence[Sequence[Any]]]):
        n = len(logs)
        self.logs, self.total = logs, RunTraffic([0] * n, [0] * n)
        self.clock, self.at = [0] * n, [0] * n
        self.sent: dict[tuple, list[int]] = defaultdict(list)  # rounds of the messages of a pair, group and tag
        self.received: Counter[tuple] = Counter()
        self.met: dict[tuple, list[tuple[int, Any]]] = defaultdict(list)
        self.made: Counter[tuple] = Counter()
        self.ends: dict[tuple, int] = {}  # of a collective: when it has ended
        self.waited: list[dict[int, Callable[[], int | None]]] = [{} for _ in logs]

    def run(self) -> RunTraffic:
        moved = True
        while moved:
            moved = False
            for rank in range(len(self.logs)):
                while self.at[rank] < len(self.logs[rank]) and self.step(rank, self.logs[rank][self.at[rank]]):
                    self.at[rank] += 1
                    moved = True
        return self.total

    def step(self, rank: int, entry: Sequence[Any]) -> bool:
        """One entry of a rank; False where it waits for what has not been sent yet."""
        number = self.at[rank]
        if entry[0] == "wait":
            ended = self.waited[rank].get(entry[1], lambda: 0)() if entry[2] is None else self.any(rank, entry)
            if ended is None:
                return False
            self.clock[rank] = max(self.clock[rank], ended)
            return True
        call, group, peer, size, tag = entry
        self.total.calls[call] += 1
        if call == "send":
            depth = self.clock[rank] + 1
            self.sent[rank, group[peer], tuple(group), tag].append(depth)
            self.total.rounds = max(self.total.rounds, depth)
            self.total.sent_bytes[rank] += size
            self.total.pairs[rank, group[peer]] += size
        elif call == "recv":
            self.total.received_bytes[rank] += size
            if peer is not None:
                self.waited[rank][number] = self.message((group[peer], rank, tuple(group), tag))
        else:
            self.waited[rank][number] = self.collective(rank, call, tuple(group), peer, size)
        return True

    def message(self, key: tuple) -> Callable[[], int | None]:
        """When the next message of this kind was sent, once it has been."""
        index = self.received[key]
        self.received[key] += 1
        return lambda: self.sent[key][index] if len(self.sent[key]) > index else None

    def any(self, rank: int, entry: Sequence[Any]) -> int | None:
        _, group, _, _, tag = self.logs[rank][entry[1]]
        key = (entry[2], rank, tuple(group), tag)
        ended = self.message(key)()
        if ended is None:
            self.received[key] -= 1
        return ended

    def collective(self, rank: int, call: str, group: tuple, root: Any, size: Any) -> Callable[[], int | None]:
        order = self.made[group, rank]
        self.made[group, rank] += 1
        key = (group, order)
        self.met[key].append((rank, size))
        if len(self.met[key]) == len(group):
            self.perform(key, call, root)
        return lambda: self.ends.get(key)

    def perform(self, key: tuple, call: str, root: Any) -> None:
        from hwlib.simulate.call_costs import call_cost, exchange_cost

        group, met = key[0], dict(self.met.pop(key))
        if call == "all_to_all":
            cost = exchange_cost([met[rank] for rank in group])
        else:
            count, itemsize = (met[group[root or 0]] if call != "barrier" else None) or (0, 1)
            cost = call_cost(call, len(group), count, itemsize, root)
        for place, rank in enumerate(group):
            self.total.sent_bytes[rank] += cost.sent_bytes[place]
            self.total.received_bytes[rank] += cost.received_bytes[place]
        for frm, to, moved in cost.pairs:
            self.total.pairs[group[frm], group[to]] += moved
        start = max(self.clock[rank] for rank in group)
        self.ends[key] = start + cost.rounds
        self.total.rounds = max(self.total.rounds, start + cost.rounds)
