"""The state of the thread that plays a rank: its world, its clock, and its rendezvous with the other ranks' threads."""

import threading
from typing import Any


class _Playing(threading.local):
    world: Any = None
    clock: Any = None
    rendezvous: Any = None
    numbers: bool = False


Playing = _Playing()
"""In this thread: the `world` that is being played, or None while nothing is counted; the `clock` of its rank, always;
the `rendezvous` with other threads, if each plays a rank; and whether integers of the CPU have values among shapes."""


class unseen:
    """Hide the backend's own copies from the clock."""

    def __enter__(self) -> None:
        self.world, Playing.world = Playing.world, None

    def __exit__(self, *error: object) -> None:
        Playing.world = self.world


def nbytes(value: Any) -> int:
    """Bytes of all tensors in nested lists."""
    if isinstance(value, (list, tuple)):
        return sum(map(nbytes, value))
    return value.numel() * value.element_size()


def buffer_bytes(call: str, outputs: Any, inputs: Any, n: int) -> float:
    """Bytes of a collective's full buffer, the S of `hwlib.collectives`, from one rank's tensors."""
    if call == "barrier":
        return 0.0
    here = nbytes(outputs if call in ("all_gather", "scatter") else inputs)
    return n * here if call in ("gather", "scatter", "all_to_all") else here
