"""Sends and receives of several ranks' traces, matched: which send met which receive.

A kernel of `send` has the rank that it sends to, one of `recv` the rank that it receives from ("Dst Rank", "Src Rank",
torch/csrc/distributed/c10d/ParamCommsUtils and torch/csrc/profiler/util.cpp, PyTorch 2.5 and newer). Messages of two
ranks come in the order in which they were sent, so that the first send from one to the other meets the first receive.
What several of them that were batched do, one kernel of both ways, is told where its group has two ranks. Where one
trace has more than the other, they begin or end at different places, and nothing is matched.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from hwlib.traces.profiles.profile import CollectiveCall

__all__ = ["MESSAGE", "Messages", "met_messages"]

MESSAGE = "send_recv"
Key = tuple[str, int]
Messages = dict[str, dict[Key, CollectiveCall]]


def met_messages(ranks: Mapping[str, tuple[int | None, Sequence[CollectiveCall]]]) -> Messages:
    """The messages of each rank that another rank's trace has too, by their channel and number there; `ranks` are the
    number and the calls of each, by label.
    """
    channels: dict[str, dict[str, list[CollectiveCall]]] = defaultdict(lambda: defaultdict(list))
    for label, (rank, calls) in ranks.items():
        for call in calls:
            if call.operation == MESSAGE and (channel := channel_of(rank, call)):
                channels[channel][label].append(call)
    met: Messages = {label: {} for label in ranks}
    for channel, sides in channels.items():
        if len(sides) == 2 and len({len(calls) for calls in sides.values()}) == 1:
            for label, calls in sides.items():
                ordered = sorted(calls, key=lambda call: call.start)
                met[label] |= {(channel, number): call for number, call in enumerate(ordered)}
    return met


def channel_of(rank: int | None, call: CollectiveCall) -> str:
    """What a message has in common with the other side's: from whom to whom, in which group; empty where the trace
    does not tell.
    """
    if rank is None:
        return ""
    if call.peer >= 0 and call.way:
        ends = (rank, call.peer) if call.way == "send" else (call.peer, rank)
        return f"{ends[0]} to {ends[1]} in {call.group}"
    return f"between {call.group}" if _ranks_in(call.group) == 2 else ""


def _ranks_in(group: str) -> int:
    """How many ranks the name of a group lists; 0 where it lists none."""
    start = group.find("[")
    try:
        ranks = json.loads(group[start:]) if start >= 0 else []
    except (ValueError, RecursionError):
        return 0
    return len(ranks) if isinstance(ranks, list) else 0
