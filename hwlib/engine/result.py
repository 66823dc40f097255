"""What a run of an engine was: every request with the times of its tokens, every step, and the measures of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf
from typing import NamedTuple

from hwlib.engine.requests import Request
from hwlib.inference import token_cost
from hwlib.units import show

HOUR = 3600.0  # s


class EngineStep(NamedTuple):
    """A step of an engine: tokens of prompts that it read, and sequences that got a token without reading any."""

    start: float
    end: float
    read: int
    decoding: int


class Chunk(NamedTuple):
    """A part of a prompt: the step in which it was read, and its tokens."""

    start: float
    end: float
    tokens: int


class RequestOutcome(NamedTuple):
    """A request as it went: the `times` at which its tokens were there, and the parts in which its prompt was read;
    more than once where it lost its cache, `again` times.
    """

    request: Request
    times: tuple[float, ...]
    chunks: tuple[Chunk, ...]
    again: int = 0

    @property
    def arrival(self) -> float:
        return self.request.arrival

    @property
    def first(self) -> float:
        """When its first token was there."""
        return self.times[0]

    @property
    def end(self) -> float:
        """When its last token was there."""
        return self.times[-1]

    @property
    def ttft(self) -> float:
        """Time to the first token, from the arrival."""
        return self.first - self.arrival

    @property
    def gaps(self) -> tuple[float, ...]:
        """Times between one token and the next."""
        return tuple(b - a for a, b in zip(self.times, self.times[1:], strict=False))

    @property
    def tpot(self) -> float:
        """Time per output token after the first, on average; 0 for a request of one token."""
        return (self.end - self.first) / (len(self.times) - 1) if len(self.times) > 1 else 0.0


def quantile(values: Iterable[float], q: float) -> float:
    """The least value that at least a share q of all values do not exceed (nearest rank). Raises ValueError for none.

    >>> quantile([4, 1, 3, 2], 0.5), quantile(range(1, 101), 0.99)
    (2, 99)
    """
    ordered = sorted(values)
    if not ordered or not 0 <= q <= 1:
        raise ValueError(f"a share from 0 to 1 of one value or more, got {q} of {len(ordered)}")
    return ordered[max(0, ceil(q * len(ordered) - 1e-9) - 1)]


@dataclass(frozen=True, repr=False)
class EngineRun:
    """A run on so many GPUs: `outcomes` in the order of the requests, `steps` in the order of time."""

    outcomes: tuple[RequestOutcome, ...]
    steps: tuple[EngineStep, ...]
    gpus: int = 1
    engines: int = 1

    def __repr__(self) -> str:
        first, gap = self.ttft(0.99), self.tbt(0.99)
        return (
            f"<EngineRun: {len(self.outcomes)} requests in {show(self.duration, 's', 3)}, "
            f"{self.tokens_per_second:.0f} tokens/s, p99 of the first token {show(first, 's', 3)}, "
            f"of the time between tokens {show(gap, 's', 3)}>"
        )

    @cached_property
    def duration(self) -> float:
        """Seconds from the first arrival to the last token."""
        return max(one.end for one in self.outcomes) - min(one.arrival for one in self.outcomes)

    @cached_property
    def gaps(self) -> tuple[float, ...]:
        """Times between tokens, of all requests, the shortest first."""
        return tuple(sorted(gap for one in self.outcomes for gap in one.gaps))

    @property
    def tokens(self) -> int:
        """Tokens that were generated."""
        return sum(len(one.times) for one in self.outcomes)

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.duration

    @property
    def busy(self) -> float:
        """The share of the time in which the engines run a step, on average of them."""
        return sum(step.end - step.start for step in self.steps) / (self.engines * self.duration)

    @property
    def again(self) -> int:
        """How often a request lost its cache and was read again."""
        return sum(one.again for one in self.outcomes)

    def ttft(self, q: float) -> float:
        """The quantile of the times to the first token."""
        return quantile((one.ttft for one in self.outcomes), q)

    def tbt(self, q: float) -> float:
        """The quantile of the times between tokens, over all tokens of all requests; 0 if none has two."""
        return quantile(self.gaps, q) if self.gaps else 0.0

    def tpot(self, q: float) -> float:
        """The quantile of the requests' own mean times between tokens."""
        return quantile((one.tpot for one in self.outcomes), q)

    def attained(self, ttft: float = inf, tpot: float = inf, tbt: float = inf) -> float:
        """The share of requests that keep an objective: on the first token, the mean time between tokens and the
        longest one.
        """
        attained = [
            one.ttft <= ttft and one.tpot <= tpot and max(one.gaps, default=0.0) <= tbt for one in self.outcomes
        ]
        return sum(attained) / len(attained)

    def goodput(self, ttft: float = inf, tpot: float = inf, tbt: float = inf) -> float:
        """Requests per second that keep the objective (Zhong et al., 2024)."""
        return self.attained(ttft, tpot, tbt) * len(self.outcomes) / self.duration

    def dollars_per_million(self, gpu_hour: float) -> float:
        """Dollars for a million generated tokens, at a price of a GPU and hour, from the first arrival to the end."""
        return 1e6 * float(token_cost(self.gpus, gpu_hour / HOUR, self.tokens_per_second))


def together(runs: Sequence[EngineRun]) -> EngineRun:
    """Runs of engines that served beside each other, as one. Raises ValueError for none."""
    if not runs:
        raise ValueError("together: at least one run was expected")
    outcomes = sorted((one for run in runs for one in run.outcomes), key=lambda one: one.arrival)
    steps = sorted(step for run in runs for step in run.steps)
    return EngineRun(tuple(outcomes), tuple(steps), sum(run.gpus for run in runs), sum(run.engines for run in runs))
