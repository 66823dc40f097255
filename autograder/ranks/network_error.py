"""What the judge's network refuses, with the reason, and how it quotes what a rank has sent."""

from __future__ import annotations

from typing import Any

from ..values.finding import Explained
from ..values.texts import quoted


class NetworkError(Explained, ValueError):
    """The ranks' program cannot continue: the ranks wait for each other, or request something that does not exist.

    Reasons: deadlock, only-sends (a deadlock in which no rank waits for a message); unreceived, unsent and left-alone,
    of a message or a collective whose other side has ended; endless, too-many-bytes, group-not-entered-by-all,
    buffer-in-flight; of a request, unknown-request, unknown-handle, no-such-rank, own-rank, not-an-array; of a call,
    unknown-call, call-not-allowed, foreign-group, other-call (than that of the group's other ranks), other-sizes,
    unknown-reduction, other-reductions, other-roots, other-parts, other-splits, uneven-split.
    """


def shown(value: Any) -> str:
    """A value that a rank has sent, for an error message: a number as it is, anything else quoted."""
    return str(value) if type(value) is int and abs(value) < 1 << 32 else quoted(str(value), 40)
