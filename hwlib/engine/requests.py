"""Requests of a server: when each arrives, how long its prompt is, and how many tokens it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from math import exp, log
from random import Random
from typing import NamedTuple

P90 = 1.2815515655446004  # standard deviations above the mean below which 90 % of a normal distribution lie


class Request(NamedTuple):
    """A request: `arrival` in seconds, tokens of its prompt and of its answer, and of the prompt those whose keys and
    values are there already, from an earlier request or from another server.
    """

    arrival: float
    prompt: int
    output: int
    cached: int = 0


class Lengths(NamedTuple):
    """Tokens, drawn from a lognormal distribution: by its median and the length that 90 % do not exceed, cut at `most`
    (0: not cut).
    """

    median: float
    p90: float
    most: int = 0

    def at(self, normal: float) -> int:
        """The length that lies so many standard deviations above the median."""
        tokens = round(self.median * exp(normal * log(self.p90 / self.median) / P90))
        return max(1, min(tokens, self.most or tokens))


Drawn = int | Lengths | Mapping[int, float]
"""A length for all, a distribution, or a few lengths with their shares."""


def draw_requests(
    rate: float, count: int, *, prompt: Drawn, output: Drawn, burst: float = 1.0, seed: int = 0
) -> tuple[Request, ...]:
    """`count` requests that arrive at random, `rate` a second on average, with lengths drawn independently.

    `burst` is the standard deviation of the time between two of them over its mean: 1 for arrivals that know nothing of
    each other (Poisson), 0 for a steady beat, more for bursts (gamma distributed, as BurstGPT measures them). The same
    seed gives the same draws at every rate, only closer together. Raises ValueError for a rate of 0 or below.

    >>> [round(one.arrival, 2) for one in draw_requests(2, 3, prompt=100, output=10, burst=0)]
    [0.5, 1.0, 1.5]
    """
    if not (rate > 0 and count >= 1 and burst >= 0):
        raise ValueError(f"a rate above 0, a request or more and a burst of at least 0, got {rate}, {count}, {burst}")
    times, lengths = Random(f"{seed} times"), Random(f"{seed} lengths")
    shape = burst**-2 if burst else 0.0
    gaps = [times.gammavariate(shape, 1 / shape) if burst else 1.0 for _ in range(count)]
    arrivals = accumulate(gap / rate for gap in gaps)
    return tuple(Request(at, _length(prompt, lengths), _length(output, lengths)) for at in arrivals)


def _length(drawn: Drawn, rng: Random) -> int:
    if isinstance(drawn, int):
        return drawn
    if isinstance(drawn, Lengths):
        return drawn.at(rng.gauss(0, 1))
    return rng.choices(list(drawn), list(drawn.values()))[0]
