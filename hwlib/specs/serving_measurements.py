"""Measured services: what a machine gives with and without an objective for its latency, and how long requests are.

Two tables: measured_serving.csv (MLPerf inference, one entry of each machine in two scenarios) and
measured_lengths.csv (tokens of prompts and answers in published traces, as the means of 200 slices of equal size).
"""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import ms


class MeasuredService(NamedTuple):
    """One machine in two scenarios of MLPerf: output tokens a second of all its GPUs.

    `offline` has all requests at once and no objective. `server` has arrivals at random, and 99 % of the requests
    keep to `ttft`, seconds to the first token, and to `tpot`, seconds for each further one. `output` is the mean of
    the generated tokens. `source` is a key of docs/references.bib.
    """

    key: str
    model: str
    system: str
    gpus: int
    dtype: str
    output: float
    ttft: float
    tpot: float
    offline: float
    server: float
    software: str
    source: str


class MeasuredLength(NamedTuple):
    """A slice of a trace: the mean of half a per cent of its prompts, and of its answers, in tokens, both sorted."""

    trace: str
    percentile: float
    input: int
    output: int
    source: str


SERVICES = Measurements("service", "measured_serving.csv", MeasuredService, ttft=of("ttft_s"), tpot=of("tpot_ms", ms))
LENGTHS = Measurements("trace", "measured_lengths.csv", MeasuredLength)


def measured_services(model: str | None = None) -> tuple[MeasuredService, ...]:
    """The measured services of a model, or all. Raises ValueError, listing the known models, if there is none."""
    return SERVICES.where(model=model)


def measured_lengths(trace: str) -> tuple[MeasuredLength, ...]:
    """The 200 slices of a trace, shortest first. Raises ValueError, listing the traces, for an unknown one.

    >>> round(sum(r.input for r in measured_lengths("azure-conversation")) / 200)
    1155
    """
    return LENGTHS.where(trace=trace)
