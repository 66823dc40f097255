"""A measurement on a GPU beside what a model says of it."""

import math
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

from hwlib.labs import measure

REPEATS = 15
LONGEST = 0.004  # seconds of kernels in one graph


class Row(NamedTuple):
    """One measurement, in seconds, or in what `unit` says."""

    kind: str
    shape: str
    low: float
    middle: float
    high: float
    predicted: float
    unit: str = "s"

    @property
    def error(self) -> float:
        """Of the prediction, as a share of what was measured."""
        return self.predicted / self.middle - 1


def timed(arrays: Callable[[], Any], run: Callable[..., Any]) -> tuple[float, float, float]:
    """Seconds of a call: minimum, median and maximum of the repeats, each of many calls in one graph.

    `arrays` makes a set of arrays; a graph walks through as many sets as the last cache does not hold.
    """
    import torch

    sets = [arrays()]
    size = sum(one.numel() * one.element_size() for one in sets[0])
    beyond = measure.PAST_CACHE * torch.cuda.get_device_properties(0).L2_cache_size
    sets += [arrays() for _ in range(min(math.ceil(beyond / size), 200) - 1)]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(2):
            for one in sets[:3]:
                run(*one)
        side.synchronize()
        begun = time.perf_counter()
        run(*sets[0])
        side.synchronize()
        calls = min(max(int(LONGEST / (time.perf_counter() - begun)), 1, len(sets)), 200)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for turn in range(calls):
            run(*sets[turn % len(sets)])
    graph.replay()
    times = []
    for _ in range(REPEATS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e-3 / calls)
    return min(times), median(times), max(times)
