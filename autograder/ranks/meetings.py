"""The `new_group` calls of the ranks: torch asks that every rank makes them all, in the same order, also those for
groups that it is not in. Where ranks do not, their groups get wrong names, and they may wait for each other for ever.

With `use_local_synchronization` the members of a group alone make the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from ..values.finding import Finding

REASON = "group-not-entered-by-all"
SHOWN = 2  # groups of which is told who entered them

Members = tuple[int, ...]


@dataclass
class RankMeeting:
    """One call of every rank in `expected`, and the group that each has named so far."""

    expected: Collection[int]
    entered: dict[int, Members] = field(default_factory=dict)

    def missing(self, rank: int) -> list[int]:
        """The members of the group that `rank` named that have not yet named it too: they connect to each other."""
        members = self.entered[rank]
        return [other for other in members if self.entered.get(other) != members] if rank in members else []

    def split(self) -> bool:
        """Whether two ranks have named different groups."""
        return len(set(self.entered.values())) > 1

    def say(self) -> str:
        """Who entered which group, and who did not."""
        groups = list(dict.fromkeys(self.entered[rank] for rank in sorted(self.entered)))
        sentences = []
        for group in groups[:SHOWN]:
            inside = [rank for rank in sorted(self.expected) if self.entered.get(rank) == group]
            outside = [rank for rank in sorted(self.expected) if rank not in inside]
            sentences.append(f"new_group({list(group)}) was entered by {_ranks(inside)}, but not by {_ranks(outside)}")
        return "; ".join(sentences)


class Meetings:
    """All of them, in a run of n ranks."""

    def __init__(self, n: int):
        self.all = range(n)
        self.meetings: dict[tuple[Members | None, int], RankMeeting] = {}
        self.calls: Counter[tuple[Members | None, int]] = Counter()

    def enter(self, rank: int, members: Members, local: bool) -> RankMeeting:
        """The meeting of a rank's next call."""
        among = members if local else None
        number = self.calls[among, rank]
        self.calls[among, rank] += 1
        meeting = self.meetings.setdefault((among, number), RankMeeting(members if local else self.all))
        meeting.entered[rank] = members
        return meeting

    def broken(self, gone: Iterable[int]) -> Finding | None:
        """The first meeting that cannot be held, as a rank in `gone` has ended without it, or named another group."""
        ended = set(gone)
        for meeting in self.meetings.values():
            if meeting.split() or any(rank in ended for rank in meeting.expected if rank not in meeting.entered):
                say = f"{meeting.say()}: every rank calls new_group for every group, in the same order"
                return Finding(say, REASON)
        return None


def _ranks(numbers: Collection[int]) -> str:
    return f"rank{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"
