"""Jobs whose sickness nobody tells: traces to diagnose, by number."""

from functools import cache
from random import Random
from typing import Any, NamedTuple

from hwlib.arguments import as_int
from hwlib.traces.generate import CAUSES, RANKS, draw_traces
from hwlib.traces.reader import read_trace
from hwlib.traces.waits import job_span

__all__ = ["case_traces"]

SICK = tuple(CAUSES)[1:]
SIZES = {"slow link": (2.0, 5.0), "data stall": (6e-3, 25e-3), "clock cap": (1.12, 1.45)}
PERIOD = len(SICK)


class Diagnosis(NamedTuple):
    """What is wrong with a job, on which rank, and by how many seconds a step would be shorter without it."""

    cause: str
    rank: int
    cost: float


def case_traces(number: int) -> list[dict[str, Any]]:
    """The traces of the eight ranks of job `number`, as `draw_traces` writes them; sick in one way, which is not told.

    Of three jobs 3k, 3k + 1, 3k + 2 each has another sickness. Raises ValueError for anything but a whole number.
    """
    cause, rank, size, seed = _case(as_int("case_traces: number", number, 0))
    return draw_traces(cause, rank, size, seed=seed)


def _case(number: int) -> tuple[str, int, float, int]:
    turn, place = divmod(number, PERIOD)
    causes = list(SICK)
    Random(turn).shuffle(causes)
    random = Random(1000 + number)
    low, high = SIZES[causes[place]]
    return (
        causes[place],
        random.randrange(RANKS),
        random.uniform(low, high),
        1 + number,
    )  # seed 0 is the job that everybody sees


@cache
def diagnosis_of(number: int) -> Diagnosis:
    """What is wrong with job `number`; its cost is the step less that of the same job in health, seconds."""
    cause, rank, size, seed = _case(number)
    sick, healthy = (_seconds(draw_traces(one, rank, by, seed=seed)) for one, by in ((cause, size), ("healthy", None)))
    return Diagnosis(cause, rank, sick - healthy)


def _seconds(raws: list[dict[str, Any]]) -> float:
    start, end = job_span(read_trace(raw) for raw in raws)
    return end - start
