"""A class on made-up exercises, as `gpubook grade` leaves one, without a run: results, kept answers, cells."""

from dataclasses import dataclass, field
from pathlib import Path

from autograder.answers import Choice, Count, Expression, Function, Quantity, Written, positive
from autograder.course.class_results.class_result import ClassResult, Learner
from autograder.course.gradebook import AssignmentScore, GradebookLearner
from autograder.course.report.gathered_answers import Gathered
from autograder.course.run.journal import JournalEntry
from autograder.declaration import Bank, Exercise, Mistake
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.results import result_of
from autograder.values import encoding

COPY = Exercise(
    id="made-copy",
    points=2,
    prompt="How long do {S:B} take at {W:B/s} in {n} parts?",
    given={"S": [1e8, 7e8], "W": [5e10, 4.1e11], "n": [3, 5]},
    answer=Quantity("s"),
    solution=lambda S, W: S / W,
    mistakes=(
        Mistake(lambda S, W: W / S, "Turn the quotient over.", "upside-down"),
        Mistake(lambda S, W: 3 * S / W, "Not {S:B} three times."),
    ),
)
STEPS = Exercise(
    id="made-steps",
    points=1,
    prompt="How many steps has a ring of {n}?",
    given={"n": [8]},
    answer=Count(),
    solution=lambda n: 2 * (n - 1),
    mistakes=(Mistake(lambda n: n - 1, "One phase."), Mistake(lambda n: n, "No.")),
)
TERM = Exercise(
    id="made-term",
    points=2,
    prompt="How long?",
    answer=Expression({"S": positive("B"), "W": positive("B/s")}, "s"),
    solution=lambda S, W: S / W,
    mistakes=(Mistake(lambda S, W: S * W, "Divide."), Mistake(lambda S, W: W / S, "Turn it over.")),
)
WHICH = Exercise(
    id="made-which",
    points=1,
    prompt="Which?",
    predict=True,
    solution="memory",
    answer=Choice({"memory": "memory", "compute": "compute"}),
    mistakes=(Mistake("compute", "It waits for bytes."),),
)
MEAN = Exercise(
    id="made-mean",
    points=3,
    prompt="Write it.",
    answer=Function("mean", "mean(xs)", cases=[([1.0, 3.0],), ([2.0],)]),
    solution=lambda xs: sum(xs) / len(xs),
    mistakes=(Mistake(lambda xs: max(xs), "Not one of them."), Mistake(lambda xs: sum(xs), "Not the sum.")),
)
WHY = Exercise(
    id="made-why", prompt="Why?", answer=Written((("Says why.", 4),), words=100), solution="Because of the bytes."
)
BANK = Bank([COPY, STEPS, TERM, WHICH, MEAN, WHY])


@dataclass
class Class:
    """A class that fills up: `answer` judges what a learner answers, as a run does."""

    variants: bool = False
    asked: tuple[str, ...] = tuple(BANK)
    learners: dict[str, Learner] = field(default_factory=dict)
    answers: dict[str, dict] = field(default_factory=dict)
    sources: dict[str, dict[str, str]] = field(default_factory=dict)
    solutions: dict[str, str] = field(default_factory=dict)
    scores: dict[str, AssignmentScore] = field(default_factory=dict)

    def answer(self, who: str, exercise: Exercise, value, note: str = "", call=None) -> None:
        """`value` is judged with the learner's numbers, and kept."""
        given = exercise.variant(who if self.variants else None)
        message = encoding.encode(value)
        verdict = exercise.judge_message(message, given, call)
        learner = self.learners.setdefault(who, Learner(who))
        learner.results.append(result_of(exercise.id, exercise.points, verdict, note))
        if not callable(value):
            self.answers.setdefault(who, {})[exercise.id] = {"message": message, "fingerprint": ""}

    def wrote(self, who: str, exercise: Exercise, source: str, result=None) -> None:
        """The cell of an answer, and the result where there is one."""
        self.sources.setdefault(exercise.id, {})[who] = source
        learner = self.learners.setdefault(who, Learner(who))
        if result is not None:
            learner.results.append(result)

    def enrolled(self, who: str, first: str = "", last: str = "", **score) -> None:
        """On the roster."""
        self.scores[who] = AssignmentScore(GradebookLearner(who, first, last), "hw", 13.0, **score)

    def gathered(self) -> Gathered:
        """As it is read from a course."""
        result = ClassResult("hw", {name: BANK[name].points for name in self.asked}, list(self.learners.values()))
        print_ = Fingerprint("", "", {})
        entries = {
            who: JournalEntry(who, print_, tuple(one.results), (), "", self.answers.get(who, {}))
            for who, one in self.learners.items()
        }
        stubs = {name: BANK[name].stub() for name in BANK}
        return Gathered(
            Path("course"), "hw", result, self.scores, BANK, self.variants, entries, [], self.sources, stubs,
            self.solutions,
        )  # fmt: skip
