"""One run of a learner's ranks beside the solution's, and whether it is that of a mistake."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..ranks import outcomes
from ..ranks.arguments import arrays, size_of
from ..ranks.buffers import Case
from ..ranks.generators import Budget
from ..ranks.named_results import same_named
from ..ranks.outcomes import RanksOutcome
from .limits import Limit

PATIENCE = 20  # times what the solution takes, in steps and bytes, before a run counts as endless
MANY = 10  # messages about each array that is given by name
NEAR = 0.25  # of a mistake's peak of memory, from which a learner's may be away


@dataclass(frozen=True)
class RankComparison:
    """What each rank began with, what the solution did, what each should end with, what the learner did, whether
    results have names and shapes, and the axes of the ranks, by the names of their sizes, where bytes along them
    count."""

    case: Case
    inputs: Sequence[Any]
    solution: RanksOutcome
    wanted: Sequence[Any]
    mine: RanksOutcome
    shaped: bool = False
    axes: Sequence[str] = ()

    @property
    def budget(self) -> Budget:
        """Far more than it takes, and an end."""
        return budget_of(self.case, self.solution, self.inputs)

    def same_results(self, outcome: RanksOutcome, wanted: Sequence[Any], rtol: float) -> bool:
        """Whether every rank of a run ended with what is wanted, by name."""
        pairs = zip(outcome.outputs, wanted, strict=True)
        return all(same_named(self.case, got, want, rtol) for got, want in pairs)

    def off(self, mistake: RanksOutcome, rtol: float, memory: Limit | None) -> float | None:
        """How far the learner's run is from that of a mistake; None where the two are not the same.

        Wrong numbers that are the same have the same cause, whatever was sent for them. A mistake whose numbers are
        right is one of bytes, rounds, or memory.
        """
        if not (self.mine.ended and mistake.ended and self.shaped):
            return 0.0 if outcomes.alike(self.mine, mistake, rtol) and self._same_axes(mistake) else None
        if not self.same_results(self.mine, mistake.outputs, rtol):
            return None
        otherwise = 0.0 if outcomes.same_traffic(self.mine, mistake) else 1.0
        if not self.same_results(mistake, self.wanted, rtol):
            return otherwise
        return None if otherwise or not self._same_axes(mistake) else self._off_memory(mistake, memory)

    def _same_axes(self, mistake: RanksOutcome) -> bool:
        """Whether both send as much along each axis: as many bytes in as many rounds may go elsewhere."""
        if not self.mine.ended or not mistake.ended:
            return True
        shape = [self.case[name] for name in self.axes]
        return self.mine.axis_bytes(shape) == mistake.axis_bytes(shape)

    def _off_memory(self, mistake: RanksOutcome, limit: Limit | None) -> float | None:
        """The same, of the peak of memory."""
        if limit is None or not self.mine.peaks or not mistake.peaks:
            return 0.0
        mine, its = ([peak.bytes for peak in one.peaks] for one in (self.mine, mistake))
        best = [peak.bytes for peak in self.solution.peaks] or [0] * self.case.n
        broken = [limit.broken(*limit.busiest(self.case, peaks, best, max)[1:]) for peaks in (mine, its)]
        if min(mine) < 0:
            return None  # not told
        if not all(broken):
            return None if any(broken) else 0.0
        off = abs(max(mine) - max(its)) / max(*its, 1)
        return off if off <= NEAR else None


def budget_of(case: Case, solution: RanksOutcome, inputs: Sequence[Any]) -> Budget:
    """Far more steps and bytes than the solution takes, and an end."""
    steps = case.n * PATIENCE * (solution.rounds + case.n)
    if any(type(given) is dict for given in inputs):  # which may be sent one by one
        steps += case.n * PATIENCE * MANY * max(len(list(arrays(given))) for given in inputs)
    size = max(map(size_of, inputs))
    return Budget(steps, PATIENCE * int(sum(solution.sent_bytes) + case.n**2 * size))


def farthest(
    done: Sequence[RankComparison], mistakes: Iterable[RanksOutcome], rtol: float, memory: Limit | None = None
) -> float | None:
    """How far the runs are from those of a mistake at most; None as soon as one is not the same."""
    most = 0.0
    for run, mistake in zip(done, mistakes, strict=True):
        off = run.off(mistake, rtol, memory)
        if off is None:
            return None
        most = max(most, off)
    return most
