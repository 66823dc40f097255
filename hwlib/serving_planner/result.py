"""The answer of the serving planner: the plans within the limits, with their tables and explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, overload

from hwlib.serving_planner.certainty import certainty_record, certainty_words, point_error
from hwlib.serving_planner.drafting_gain import gain_record, gain_words
from hwlib.serving_planner.errors import nothing_fits, too_late
from hwlib.serving_planner.explain import basis_words, binding, limit_words, point_words, versus
from hwlib.serving_planner.points import Point
from hwlib.serving_planner.prefix import prefix_words
from hwlib.serving_planner.question import Question, question_of
from hwlib.serving_planner.search import Found, front, search
from hwlib.serving_planner.words import given_words, plan_words, record, rows
from hwlib.transformer.checkpoint_words import model_record
from hwlib.units import plural, show

APART = 1.15  # between two rows of a front that is shown


@dataclass(frozen=True, repr=False, eq=False)
class ServingPlans(Sequence[Point]):
    """The best points within the limits, each the best of its division of the GPUs; the first gives most of all."""

    found: Found
    best: tuple[Point, ...]

    @overload
    def __getitem__(self, i: int) -> Point: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Point, ...]: ...
    def __getitem__(self, i: int | slice) -> Point | tuple[Point, ...]:
        """One point, or some."""
        return self.best[i]

    def __len__(self) -> int:
        return len(self.best)

    @property
    def question(self) -> Question:
        """What was asked."""
        return self.found.question

    @property
    def advised(self) -> Point:
        """The plan to take: the simplest within half of the error to expect of the best. Prefill and decode together
        are simpler than apart, and attention divided by heads than by sequences.
        """
        least = (1 - self.closeness) * self.best[0].gpu_rate
        near = [point for point in self.best if point.gpu_rate >= least]
        return min(near, key=lambda one: (one.plan.prefill is not None, one.plan.decode.attention_dp > 1))

    @property
    def closeness(self) -> float:
        """The share of tokens a second within which plans are too close to call: half of the error to expect."""
        return point_error(self.question, self.best[0]).mean / 2

    @property
    def free(self) -> Point:
        """The point that gives most, whatever its latency."""
        return max(self.found.points, key=lambda point: point.gpu_rate)

    def front(self) -> list[Point]:
        """The Pareto front of the time of a token and the tokens a GPU, of all points that keep the limit of the first
        token, quickest first.
        """
        limit = self.question.limits.ttft
        return front(point for point in self.found.points if point.ttft <= limit)

    def front_table(self) -> str:
        """The front as a text table; of points that give nearly the same, the first."""
        *most, last = self.front()
        thin: list[Point] = []
        for point in most:
            if not thin or point.gpu_rate > APART * thin[-1].gpu_rate:
                thin.append(point)
        head = "Pareto front of the time of a token and tokens a GPU:"
        return "\n".join([head, *rows([*(p for p in thin if APART * p.gpu_rate < last.gpu_rate), last])])

    def table(self) -> str:
        """The plans, one per line, below the question, the counts of the search, and whose constants are taken, where
        none was fitted.
        """
        q = self.question
        tried = plural(len(self.found.points) + sum(self._impossible().values()), "configuration")
        fitting = f"{len(self.found.kept):,} {self.keeping}"
        terms = f"{tried}, of which {fitting}; stack {q.stack.key}, {q.dtype}, cache in {q.cache}"
        return "\n".join([str(q), terms, *([q.caveat] if q.caveat else []), "", *rows(self.best)])

    @property
    def keeping(self) -> str:
        """What the configurations that are kept do, in words."""
        fit, keep = ("fits", "keeps") if len(self.found.kept) == 1 else ("fit", "keep")
        return f"{fit} in {show(self.question.memory, 'B', 3)} of a GPU and {keep} the limits"

    def _impossible(self) -> dict[str, int]:
        """Reasons for which there is no point at all."""
        return {why: count for why, count in self.found.rejected.items() if "limit" not in why}

    def explain(self) -> str:
        """Why the best plan is the best, why not the next, what the limits cost, and what the numbers rest on."""
        q, best = self.question, self.best[0]
        lines = [f"Best plan for {q}:", *(f"  {line}" for line in [*self.reasons(), *certainty_words(q, best)])]
        lines += [f"  {line}" for line in (*gain_words(q, best), *prefix_words(q.model, q.prefix))]
        if (advised := self.advised) is not best:
            lines.append(f"Simplest plan within half the expected error ({self.closeness:.0%}):")
            lines += [f"  {plan_words(advised)}", f"  {given_words(advised)}"]
        if len(self) > 1:
            lines.append("The next plans, compared with the best:")
            lines += [f"  {i}. {sentence}" for i, sentence in enumerate(self.differences(), 2)]
        if sentence := limit_words(q, best, self.free):
            lines.append(sentence)
        return "\n".join([*lines, basis_words(q)])

    def reasons(self) -> list[str]:
        """The sentences on the best plan: what it is and gives, where the time of a token and memory go, what binds."""
        sentences = [*point_words(self.question, self.best[0]), binding(self.question, self.best[0])]
        return [line for line in sentences if line]

    def differences(self) -> list[str]:
        """Of each further plan how it differs from the best, what it loses, and which part of a token's time grew."""
        return [versus(self.question, self.best[0], other) for other in self.best[1:]]

    def rejected(self) -> list[str]:
        """Why configurations were rejected, the most frequent reason first."""
        most = sorted(self.found.rejected.items(), key=lambda item: -item[1])
        return [f"{count:>9,}  {why}" for why, count in most]

    def json(self) -> dict[str, Any]:
        """The result as JSON data, in SI."""
        q = self.question
        limits = {name: None if x == inf else x for name, x in q.limits._asdict().items()}
        return {
            "model": q.model.key, "chip": q.chip.key, "cluster": q.machine.name, "gpus": q.gpus,
            "prompt": q.workload.prompt, "output": q.workload.output, "limits": limits, "stack": q.stack.key,
            "stack_error": q.stack.error, "error": certainty_record(q, self.best[0]),
            "fitted": list(q.stack.fitted), "caveat": q.caveat or None,
            "dtype": q.dtype, "kv_dtype": q.kv_dtype, "cache": q.cache,
            "quantised": q.model.replaced_precision(q.dtype) or None,
            "checkpoint": model_record(q.model),
            "prefix": asdict(q.prefix) if q.prefix else None, "speculation": gain_record(q, self.best[0]),
            "memory": q.memory, "rejected": dict(self.found.rejected), "plans": [record(point) for point in self],
            "advised": record(self.advised), "without_limits": record(self.free),
            "front": [record(point) for point in self.front()], "why": self.reasons(),
            "why_not_next": self.differences(), "without_limits_words": limit_words(q, self.best[0], self.free) or None,
            "rests_on": basis_words(q),
        }  # fmt: skip

    def __repr__(self) -> str:
        return self.table()


def plan_serving(model: Any, cluster: Any, *, count: int = 5, **asked: Any) -> ServingPlans:
    """The plans that give most tokens a second and GPU, and so the cheapest tokens, within limits of latency.

    `prompt` and `output` are tokens of a request, or `trace` a measured one (`hwlib.specs.measured_lengths`); `ttft`,
    `tpot` and `gap` limits in seconds, at the mean; `gpus`, `dtype`, `kv_dtype`, `stack`, `memory` (bytes of a GPU),
    `price` (dollars a second and GPU), `fixed` (allowed degrees of "tp", "ep", "attention_dp"), `apart`, `speculate`
    ("mtp:1", "eagle3:3"), `prefix` and `state_every` (tokens) as of `question_of`.
    Raises PlanError, naming the field, with what would be possible.
    """
    searched = search(question_of(model, cluster, **asked))
    if not searched.points:
        raise nothing_fits(searched.question, searched.rejected)
    within = searched.kept
    if not within:
        raise too_late(searched)
    best: dict[tuple[Any, ...], Point] = {}
    for point in within:
        prefill = point.plan.prefill
        best.setdefault((point.plan.decode[:3], prefill is None), point)
    return ServingPlans(searched, tuple(best.values())[:count])
