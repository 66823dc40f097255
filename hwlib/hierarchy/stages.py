"""A tiled kernel whose copies run ahead: when each step's operands are asked for, arrive, and are multiplied.

The tile's operands lie in a ring of `stages` slots of shared memory. A producer asks for the next step's operands as
soon as a slot is free; the consumer multiplies them, in order, once they have arrived. Barriers tell one side that a
slot is full and the other that it is empty. The sums of an output tile lie in one of `sums` accumulators, from its
first product until an epilogue has stored them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hwlib.arguments import as_int
from hwlib.formula import formula, maximum


@formula("t", cite="mlc-gpu-programming")
def stage_interval(t_copy, t_mma, stages):
    """Time from one step of a staged kernel to the next: its products, or a slot's own round of copy and products.

    With one stage nothing overlaps; with enough of them only the products are left. To first order: copies do not slow
    one another down, and asking takes no time.
    """
    return maximum(t_mma, (t_copy + t_mma) / stages)


class TileStep(NamedTuple):
    """One step of a tile's sum: its output tile, its slot, and when it is asked for, arrives, starts and ends."""

    tile: int
    slot: int
    asked: float
    arrived: float
    start: float
    end: float


class Timeline(NamedTuple):
    """The steps of a kernel, and from when to when each tile's epilogue runs."""

    steps: tuple[TileStep, ...]
    epilogues: tuple[tuple[float, float], ...]

    @property
    def time(self) -> float:
        """When the last epilogue ends."""
        return self.epilogues[-1][1]

    @property
    def busy(self) -> float:
        """Share of the time in which products are computed."""
        return sum(step.end - step.start for step in self.steps) / self.time if self.time else 1.0


def kernel_timeline(
    tiles: int,
    depth: int,
    stages: int,
    t_copy: float | Sequence[float],
    t_mma: float,
    t_epilogue: float = 0.0,
    sums: int = 1,
) -> Timeline:
    """One block's output tiles, one after another, of `depth` steps each.

    t_copy is the time from asking for a step's operands to their arrival, or a list of one for each step of the kernel;
    t_mma that of a step's products, t_epilogue that of storing a tile's sums. With `sums=2` the next tile begins while
    the last one is stored. Raises ValueError for counts below 1, times below 0 and a list that is too short.
    """
    counts = {"tiles": tiles, "depth": depth, "stages": stages, "sums": sums}
    tiles, depth, stages, sums = (as_int(f"kernel_timeline: {name}", n) for name, n in counts.items())
    copies = [t_copy] * (tiles * depth) if isinstance(t_copy, int | float) else list(t_copy)
    if len(copies) < tiles * depth:
        raise ValueError(f"kernel_timeline: {tiles * depth} steps, and {len(copies)} times of copies")
    if min(*copies, t_mma, t_epilogue) < 0:
        raise ValueError(f"kernel_timeline: times are at least 0, got {t_copy!r}, {t_mma!r} and {t_epilogue!r}")
    steps: list[TileStep] = []
    epilogues: list[tuple[float, float]] = []
    for tile in range(tiles):
        ready = epilogues[tile - sums][1] if tile >= sums else 0.0  # an accumulator is free
        for _ in range(depth):
            k = len(steps)
            requested = steps[k - stages].end if k >= stages else 0.0
            arrived = requested + copies[k]
            start = max(arrived, ready, steps[-1].end if steps else 0.0)
            steps.append(TileStep(tile, k % stages, requested, arrived, start, start + t_mma))
        begin = max(steps[-1].end, epilogues[-1][1] if epilogues else 0.0)
        epilogues.append((begin, begin + t_epilogue))
    return Timeline(tuple(steps), tuple(epilogues))
