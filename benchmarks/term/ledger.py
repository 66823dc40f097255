"""What the simulated term must come to, kept beside the product: by arithmetic of its own from what each learner was
made to answer, when it was submitted, and what the teacher decided."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from autograder.answers import Choice, Count, Quantity, Written
from autograder.declaration import Bank, Exercise, call_with
from benchmarks.term.classroom import Assignment, RosterLearner, Said

PER_DAY, GRACE = 0.1, timedelta(minutes=15)  # the course's rule for late work
OUTCOME = {"empty": "empty", "malformed": "unread", "error": "crashed", "crash": "crashed", "loop": "crashed"}


@dataclass(frozen=True)
class LedgerVerdict:
    """What one answer is worth: the share of its points (None: a teacher has to say), what becomes of it, and the names
    under which the report counts its mistakes."""

    share: float | None
    outcome: str
    mistakes: tuple[str, ...] = ()
    for_others: bool = False  # right for other numbers than the learner's


def judged(exercise: Exercise, said: Said, given: Mapping[str, Any]) -> LedgerVerdict:
    """The worth of an answer by the exercise as it is declared now."""
    found = _judged(exercise, said, given)
    if exercise.predict and found.outcome in ("right", "mistake", "wrong"):
        return LedgerVerdict(1.0, found.outcome, found.mistakes)  # its points are for predicting at all
    return found


def _judged(exercise: Exercise, said: Said, given: Mapping[str, Any]) -> LedgerVerdict:
    kind = exercise.answer
    names = [one.name or f"{exercise.id}#{at + 1}" for at, one in enumerate(exercise.mistakes)]
    if said.lot in OUTCOME:
        return LedgerVerdict(0.0, OUTCOME[said.lot])
    if isinstance(kind, Written):
        return LedgerVerdict(None, "waiting")
    if not isinstance(kind, (Choice, Count, Quantity)):  # a formula or a function, made to be what its lot says
        if said.lot == "right":
            return LedgerVerdict(1.0, "right")
        return (
            LedgerVerdict(0.0, "mistake", (names[said.mistake],)) if said.mistake >= 0 else LedgerVerdict(0.0, "wrong")
        )
    if same(exercise, said.value, call_with(exercise.solution, given)):
        return LedgerVerdict(1.0, "right")
    values = [call_with(one.value, given) for one in exercise.mistakes]
    made = [name for name, value in zip(names, values, strict=True) if same(exercise, said.value, value)]
    if made:
        return LedgerVerdict(0.0, "mistake", tuple(dict.fromkeys(made)))
    others = [call_with(exercise.solution, row) for row in exercise.variants() if dict(row) != dict(given)]
    return LedgerVerdict(0.0, "wrong", for_others=any(same(exercise, said.value, value) for value in others))


def same(exercise: Exercise, value: Any, other: Any) -> bool:
    """Whether two answers are one, within the tolerance that the exercise declares."""
    if isinstance(exercise.answer, Quantity):
        return abs(value - other) <= exercise.answer.rtol * abs(other)
    return value == other or (isinstance(exercise.answer, Count) and math.isclose(value, other, rel_tol=1e-9))


@dataclass
class LedgerSubmission:
    """One submission: what was said to each exercise, when it was made (UTC, None: nobody knows), whether it can be
    read."""

    said: dict[str, Said]
    when: datetime | None = None
    broken: bool = False


@dataclass
class AssignmentLedger:
    """The ledger of one assignment."""

    about: Assignment
    bank: Bank
    due: datetime  # in UTC
    people: Sequence[RosterLearner]
    work: dict[str, LedgerSubmission] = field(default_factory=dict)  # by who submitted
    groups: dict[str, list[str]] = field(default_factory=dict)
    extensions: dict[str, timedelta] = field(default_factory=dict)
    hand: dict[tuple[str, str], float] = field(default_factory=dict)  # what a teacher gave, by learner and exercise
    extra: dict[tuple[str, str], float] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    full: set[str] = field(default_factory=set)

    def by(self, who: str) -> str:
        """Who submitted for this learner."""
        mates = next((members for members in self.groups.values() if who in members), [who])
        return next((one for one in mates if one in self.work), who)

    def graded(self, who: str) -> bool:
        return (work := self.work.get(self.by(who))) is not None and not work.broken

    @property
    def class_(self) -> list[str]:
        """Everybody who has grades, by id."""
        return [one.id for one in self.people if self.graded(one.id)]

    @property
    def missing(self) -> list[str]:
        """Who has submitted nothing at all, also not for a group."""
        return [one.id for one in self.people if self.by(one.id) not in self.work]

    def most(self, name: str) -> float:
        """The points that an exercise gives now."""
        kind = self.bank[name].answer
        own = sum(points for _, points in kind.rubric) if isinstance(kind, Written) else self.bank[name].points
        return 0.0 if name in self.dropped else float(self.about.points.get(name, own))

    @property
    def max_score(self) -> float:
        return sum(self.most(name) for name in self.bank)

    def given(self, name: str, who: str) -> dict[str, Any]:
        """The numbers that an answer is for: of a group, those of who submitted."""
        return self.bank[name].variant(self.by(who))

    def judged(self, name: str, who: str) -> LedgerVerdict:
        return judged(self.bank[name], self.work[self.by(who)].said[name], self.given(name, who))

    def points(self, name: str, who: str) -> float | None:
        """What an exercise gave, without extra credit; None where a teacher has still to say."""
        if name in self.full or name in self.dropped:
            return self.most(name)
        if (self.by(who), name) in self.hand:
            return self.hand[self.by(who), name]
        share = self.judged(name, who).share
        return None if share is None else share * self.most(name)

    def outcome(self, name: str, who: str) -> str:
        """What the report counts an answer as."""
        found, points, most = self.judged(name, who), self.points(name, who), self.most(name)
        if points is None:
            return "waiting"
        if self.bank[name].predict and name not in self.full:
            return found.outcome
        if points >= most > 0 or found.outcome == "right":
            return "right"
        if points > 0:
            return "partial"
        return "wrong" if found.outcome == "waiting" else found.outcome

    def waiting(self, who: str) -> int:
        return sum(self.points(name, who) is None for name in self.bank)

    def extra_of(self, who: str) -> float:
        return sum(value for (one, name), value in self.extra.items() if one == self.by(who))

    def raw(self, who: str) -> float:
        """The sum of all, extra credit among it."""
        return sum(self.points(name, who) or 0.0 for name in self.bank) + self.extra_of(who)

    def due_for(self, who: str) -> datetime:
        return self.due + self.extensions.get(who, timedelta())

    def when(self, who: str) -> datetime | None:
        return self.work[self.by(who)].when

    def penalty(self, who: str) -> float:
        """What being late costs: a tenth of the score for each day begun, after a quarter of an hour."""
        when = self.when(who)
        late = when - self.due_for(who) - GRACE if when is not None else timedelta()
        days = -(-late // timedelta(days=1)) if late > timedelta() else 0
        return self.raw(who) * min(1.0, PER_DAY * days)

    def score(self, who: str) -> float:
        return max(0.0, self.raw(who) - self.penalty(who))

    def beliefs(self) -> dict[tuple[str, str], set[str]]:
        """Who makes which mistake: learners by exercise and the mistake's name."""
        made: dict[tuple[str, str], set[str]] = {}
        for name in self.bank:
            for who in self.class_:
                for key in self.judged(name, who).mistakes:
                    made.setdefault((name, key), set()).add(who)
        return made

    def borrowed(self) -> dict[tuple[str, str], set[str]]:
        """The answers that are right for somebody else's numbers, and whose these are, by exercise and learner; a
        prediction's are not told apart."""
        made = {}
        for name, exercise in self.bank.items():
            for who in self.work:
                if self.graded(who) and not exercise.predict and self.judged(name, who).for_others:
                    value = self.work[who].said[name].value
                    values = {one.id: call_with(exercise.solution, exercise.variant(one.id)) for one in self.people}
                    owners = {one for one, theirs in values.items() if same(exercise, value, theirs)}
                    made[name, who] = owners
        return made

    def outcomes(self, name: str) -> Counter[str]:
        return Counter(self.outcome(name, who) for who in self.class_)

    def kinds(self) -> Iterator[tuple[str, str, float, str]]:
        """Each answer that was judged: the learner who submitted it, the exercise, the points, and what it was."""
        for who in self.work:
            if self.graded(who):
                for name in self.bank:
                    found = self.judged(name, who)
                    kind = "variant" if found.for_others else found.outcome
                    yield who, name, self.points(name, who) or 0.0, kind


def in_utc(text: str) -> datetime:
    """A deadline of the plan in UTC, without a zone, by the standard library alone."""
    day, _, zone = text.partition(" ")
    if text[10:11] == "T":
        when = datetime.fromisoformat(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC).replace(tzinfo=None)
    hour, _, zone = zone.partition(" ")
    return datetime.fromisoformat(f"{day}T{hour}").replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).replace(tzinfo=None)
