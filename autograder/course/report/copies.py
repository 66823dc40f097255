"""Whose functions and written texts are the same, or nearly, and whose are the book's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ...answers.written import untouched
from ...declaration.answer import JudgedBy
from .gathered_answers import Gathered
from .likeness import (
    CODE_ALIKE,
    LEAST_NODES,
    LEAST_WORDS,
    TEXT_ALIKE,
    WorkTrace,
    code_trace,
    groups,
    of_others,
    stub_trace,
    text_trace,
)

USUAL = 0.25  # of those who wrote something: what so many share is how one writes it
MOST_PAIRS = 20  # of one group
LIMIT = (
    f"Functions of fewer than {LEAST_NODES} nodes in their syntax tree beyond the stub (some five lines) and texts of "
    f"fewer than {LEAST_WORDS} words are not compared: two write these alike by themselves."
)


@dataclass(frozen=True)
class Copy:
    """Learners whose work on an exercise is the same (`share` 1) or nearly; `book`: it is that of the solution.

    `usual`: so many have it that it may be the way in which one writes it.
    """

    exercise: str
    learners: tuple[str, ...]
    share: float
    book: bool = False
    usual: bool = False


def copies(found: Gathered) -> list[Copy]:
    """Of every exercise that asks for a function or a text. What was not touched and what is short never counts; work
    that is the solution's own is told apart, and not counted as one learner's from another."""
    return [one for name in found.result.exercises if name in found.bank for one in _of_exercise(found, name)]


def _of_exercise(found: Gathered, name: str) -> Iterator[Copy]:
    by = found.bank[name].answer.judged_by
    if by is JudgedBy.VALUE:  # a number or a formula is right or wrong, and many have the same
        return
    words = by is JudgedBy.TEACHER
    traces = _traces(found, name, words)
    known = text_trace(found.solutions.get(name, "")) if words else code_trace(found.solutions.get(name, ""))
    least = TEXT_ALIKE if words else CODE_ALIKE
    own = of_others(traces, known, least, of_shorter=words)
    if own:
        yield Copy(name, tuple(sorted(own)), min(own.values()), book=True)
    others = {who: trace for who, trace in traces.items() if who not in own}
    for group in groups(others, least, of_shorter=words):
        usual = len(group.members) > max(4, USUAL * len(traces))
        yield Copy(name, group.members, group.share, usual=usual and not words)


def _traces(found: Gathered, name: str, words: bool) -> dict[str, WorkTrace]:
    written = found.sources.get(name, {})
    if words:
        made = {who: text_trace(text) for who, text in written.items() if not untouched(text)}
    else:
        stub = stub_trace(found.stubs.get(name, ""))
        made = {who: code_trace(text, stub) for who, text in written.items()}
    return {who: trace for who, trace in made.items() if trace is not None}


def pairs(made: Sequence[Copy]) -> list[tuple[str, str, int]]:
    """Who has how many pieces of work in common with whom, where it is more than one; the usual and the book's own do
    not count."""
    count: Counter[tuple[str, str]] = Counter()
    for piece in made:
        if not piece.book and not piece.usual:
            count.update(combinations(piece.learners, 2))
    several = [(*both, times) for both, times in count.items() if times > 1]
    return sorted(several, key=lambda pair: (-pair[2], pair[0], pair[1]))[:MOST_PAIRS]
