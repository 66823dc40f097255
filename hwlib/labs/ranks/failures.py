"""The errors of a failed run: which rank failed first, and where the others are, in the learner's own lines."""

import signal
from collections.abc import Sequence
from typing import Any

from hwlib.labs.ranks.places import Frame

PEER_LOST = ("closed by peer", "reset by peer", "Broken pipe", "Read error", "Socket Timeout", "remote process exited")
SAID = 600  # characters of what a rank has printed that an error repeats


class RankError(RuntimeError):
    """A rank failed: `rank`, the name of its exception in `error`, and its `traceback` with the notebook's lines."""

    def __init__(self, message: str, rank: int | None = None, error: str = "", traceback: str = ""):
        super().__init__(message)
        self.rank, self.error, self.traceback = rank, error, traceback


class RankTimeout(RankError):
    """Ranks did not end; `places` says where each of those stands: {rank: "waits in recv at line 4 of f: ..."}."""

    def __init__(self, message: str, places: dict[int, str]):
        super().__init__(message, min(places, default=None), "RankTimeout")
        self.places = places


def traceback_text(frames: Sequence[Sequence[Any]], text: str) -> str:
    """A traceback as Python prints it. What lies below the learner's last line is left out, but for its last frame."""
    every = [Frame(*frame) for frame in frames]
    last = max((i for i, frame in enumerate(every) if frame.own), default=-1)
    shown = [f for f in every[: last + 1] if f.own] + every[last + 1 :][-1:]
    lines = [f"  {f.where}, in {f.name}" + (f"\n    {f.source}" if f.source else "") for f in shown]
    return "\n".join([*(["Traceback (most recent call last):", *lines] if lines else []), text])


def failure(
    errors: dict[int, dict[str, Any]], died: dict[int, int], places: dict[int, str], output: Sequence[str]
) -> RankError:
    """The error of the rank that failed first, not of one that lost its peer."""
    if died and all(lost_peer(error) for error in errors.values()):
        rank, code = min(died.items())
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended its process (exit status {code})"
        where = f"; it {places[rank]}" if places.get(rank) else ""
        return RankError(f"rank {rank} {how}{where}{_said(output[rank])}", rank, "RankDied")
    rank = min(errors, key=lambda r: (lost_peer(errors[r]), errors[r]["at"], r))
    same = [r for r in sorted(errors) if r != rank and errors[r]["text"] == errors[rank]["text"]]
    also = f" (and so did rank{'s' * (len(same) > 1)} {', '.join(map(str, same))})" if same else ""
    shown = traceback_text(errors[rank]["frames"], errors[rank]["text"])
    message = f"rank {rank} raised {errors[rank]['type']}{also}\n{shown}{_said(output[rank])}"
    return RankError(message, rank, errors[rank]["type"], shown)


def lost_peer(error: dict[str, Any]) -> bool:
    """Whether a rank failed because another was gone."""
    return any(words in error["text"] for words in PEER_LOST)


def hung(n: int, timeout: float, places: dict[int, str], output: Sequence[str], stuck: bool) -> RankTimeout:
    """The error of ranks that did not end."""
    why = "none of them can go on, for all wait" if stuck else f"not done after {timeout:g} s"
    lines = [f"{len(places)} of {n} ranks did not end: {why}"]
    lines += [f"  rank {rank} " + (places.get(rank) or "has returned") for rank in range(n)]
    talker = max(places, key=lambda rank: len(output[rank]))
    return RankTimeout("\n".join(lines) + _said(output[talker], f"rank {talker}"), places)


def _said(output: str, who: str = "it") -> str:
    return f"\n{who} had printed:\n{output[-SAID:].rstrip()}" if output.strip() else ""
