"""The buffers of a rank's sends and receives for which it has not waited, in the learner's process.

Until then the network may read or write them at any time: where the rank changes what it sends or receives into, or
where two operations share a buffer, what arrives is left to chance. The judge is told, which ends the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Talk = Callable[[dict[str, Any]], Any]
MAX_WORK = 10_000  # tries to find an element that two strided views share


@dataclass
class InFlight:
    """The operations in flight by handle: the memory of each buffer, what it held when the operation was posted, and
    whether that sends."""

    talk: Talk
    operations: dict[int, tuple[Any, bytes, bool]] = field(default_factory=dict)

    def post(self, handle: int, tensor: Any, sends: bool) -> None:
        """An operation has begun. Two sends may share a buffer, no others."""
        memory = _memory(tensor)
        if memory is None:
            return
        for other, (held, _, sent) in self.operations.items():
            if not (sends and sent) and _overlap(held, memory):
                self.talk({"do": "clash", "handle": other, "by": handle})
        self.operations[handle] = memory, memory.tobytes(), sends

    def end(self, handle: int) -> None:
        """The rank waits for an operation, or has come to its own end."""
        memory, before, _ = self.operations.pop(handle, (None, b"", False))
        if memory is not None and memory.tobytes() != before:
            self.talk({"do": "clash", "handle": handle, "by": None})

    def end_all(self) -> None:
        """The rank has come to its end."""
        for handle in list(self.operations):
            self.end(handle)


def _memory(tensor: Any) -> Any:
    """The tensor's memory as an array; None for a type that numpy does not have."""
    try:
        return tensor.detach().numpy()
    except (TypeError, RuntimeError):
        return None


def _overlap(one: Any, other: Any) -> bool:
    import numpy as np

    try:
        return np.shares_memory(one, other, max_work=MAX_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return False
