"""Why a verdict is what it is, for a teacher who is asked: the answer as it was read, what was expected and how
exactly, which mistake matched, and what the key as it is now says."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...declaration.answer import JudgedBy
from ...declaration.exercise import Exercise
from ...declaration.formula_text import Declared, declared
from ...declaration.verdict import Verdict
from ...grading.judge import Judge, JudgeFailed, JudgeRequest
from ...grading.results import FAILED, Result, result_of
from ...values.numbers import Unreadable
from ...values.texts import FIELD
from .. import gradebook
from ..class_results.results_table import inert, short
from .gathered_answers import NOTHING, Answered, Gathered

MOST_SOURCE = 4000  # letters of a cell that are shown
MOST_READ = 400  # of an answer
LATER = "the answer has to be called; `gpubook grade --resume` does that where the key has changed"


@dataclass(frozen=True)
class Matched:
    """A declared mistake beside the answer: its formula, what it comes to with these numbers, and whether the verdict
    has its sentence."""

    key: str
    formula: Declared
    comes_to: str
    say: str
    matches: bool


@dataclass(frozen=True)
class Explanation:
    """One verdict, taken apart."""

    learner: str
    called: str
    exercise: Exercise
    where: str  # the file and line of the declaration
    numbers: str
    whose: str
    source: str
    read: str
    expected: str
    solution: Declared
    tolerance: str
    relation: str
    mistakes: list[Matched]
    recorded: Result
    now: Result | None  # by the key as it is now; None where the answer would have to be called or is not kept
    why_not: str = ""
    key_changed: bool = False
    problems: list[str] = field(default_factory=list)


def of(folder: Path, name: str, what: str) -> Explanation:
    """The explanation of LEARNER/EXERCISE (its id, or its name or number in the table's legend); KeyError lists the
    known ones."""
    who, _, wanted = what.rpartition("/")
    if not who or not wanted:
        raise KeyError(f"{what!r}: LEARNER/EXERCISE was expected, e.g. ann/rooflines-ridge")
    gathered = Gathered.of(folder, name, with_cells=False)
    known = {learner.name for learner in gathered.result.learners}
    if who not in known and who in _enrolled(folder):
        if has_submitted(folder, who, name):
            raise ValueError(f"{who} has submitted {name}, which is still to be graded")
        raise ValueError(f"{who} has submitted nothing for {name}")
    learner = gathered.result.learner(who)
    if learner.problem:
        raise ValueError(f"{who} was not graded: {learner.problem}")
    ids = list(gathered.result.exercises)
    also = dict(zip(short(ids), ids, strict=True)) | {str(number): result for number, result in enumerate(ids, start=1)}
    result = next((r for r in learner.results if r.exercise in (wanted, also.get(wanted))), None)
    if result is None:
        raise KeyError(f"{who} has no result for {wanted!r} in {name}; known: {', '.join(ids)}")
    if result.exercise not in gathered.bank:
        raise KeyError(f"{result.exercise} is not declared any more; declared are: {', '.join(gathered.bank)}")
    return _explained(gathered, gathered.answered(who, result))


def _enrolled(folder: Path) -> list[str]:
    """Everybody in the gradebook; nobody where the folder is no course, and has none."""
    try:
        return gradebook.learners(folder)
    except CourseError:
        return []


def has_submitted(folder: Path, learner: str, name: str) -> bool:
    """Whether there is anything of the learner's for an assignment."""
    return (folder / "submitted" / learner / name).is_dir()


def _explained(found: Gathered, one: Answered) -> Explanation:
    exercise, result = found.bank[one.result.exercise], one.result
    answer = exercise.answer
    now, why_not, problems = _judged_now(found, one)
    judged = now or result
    matching = judged.mistakes or one.mistakes
    text = found.cells_of(one.learner).get(exercise.id, "")
    relation = ""
    if one.value is not NOTHING and result.kind not in ("right", "predicted"):
        with suppress(Unreadable, ArithmeticError, RecursionError):
            relation = answer.relation(exercise, one.value, one.given)
    return Explanation(
        one.learner,
        found.names.get(one.learner, one.learner),
        exercise,
        found.bank.where(exercise.id),
        _numbers(exercise, one.given),
        _whose(found, exercise, one),
        text[:MOST_SOURCE],
        _read(exercise, one),
        _shown(exercise, exercise.solution, one.given),
        declared(exercise.solution),
        answer.tolerance(exercise, one.given),
        relation,
        [
            Matched(
                exercise.mistake_key(number),
                declared(mistake.value),
                _shown(exercise, mistake.value, one.given),
                exercise.fill(mistake.say, one.given),
                exercise.mistake_key(number) in matching and exercise.fill(mistake.say, one.given) in judged.say,
            )
            for number, mistake in enumerate(exercise.mistakes)
        ],
        result,
        now,
        why_not,
        found.key_changed(one.learner, exercise.id),
        problems,
    )


def _numbers(exercise: Exercise, given: Any) -> str:
    """The numbers, each in the unit in which the prompt has it."""
    units = {match[1]: match[0] for match in FIELD.finditer(exercise.prompt)}
    return ", ".join(
        f"{name} = {exercise.fill(units.get(name, ''), given) or repr(value)}" for name, value in given.items()
    )


def _whose(found: Gathered, exercise: Exercise, one: Answered) -> str:
    if not one.given:
        return "the exercise has none"
    if not found.variants or exercise.variant_count == 1:
        return "the book's, which all have"
    rows = exercise.drawn()
    who = found.submitter(one.learner)
    group = ", who submitted for the group" if who != one.learner else ""
    return f"drawn for {who}{group}, number {rows.index(dict(one.given)) + 1} of {len(rows)}"


def _read(exercise: Exercise, one: Answered) -> str:
    if one.value is NOTHING:
        return ""
    if exercise.answer.blank(one.value):
        return "no answer"
    try:
        return exercise.answer.as_read(one.value)[:MOST_READ]
    except (Unreadable, ArithmeticError, RecursionError) as error:
        return f"not readable: {error}"


def _shown(exercise: Exercise, value: Any, given: Any) -> str:
    try:
        return exercise.answer.shown(exercise, value, given)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        return f"no value with these numbers ({type(error).__name__}: {error})"


def _judged_now(found: Gathered, one: Answered) -> tuple[Result | None, str, list[str]]:
    """The result of the kept answer by the key as it is now, in the judge's own confined process; or why there is
    none."""
    exercise, result = found.bank[one.result.exercise], one.result
    by = exercise.answer.judged_by
    if by is JudgedBy.TEACHER:
        return None, "a teacher grades it", []
    entry = found.entry_of(one.learner)
    answer = entry.answers.get(exercise.id) if entry else None
    if by is not JudgedBy.VALUE:
        return None, LATER, []
    if answer is None:
        return None, "the answer was not kept: none was read, or an earlier version graded it", []
    question = JudgeRequest(exercise.id, found.submitter(one.learner) if found.variants else None, answer["message"])
    with Judge(found.paths) as judge:
        try:
            verdict, problems = judge.ask(question), list[str]()
        except JudgeFailed as error:
            verdict, problems = Verdict(0.0, FAILED, "failed"), [str(error)]
    return result_of(exercise.id, found.result.exercises[exercise.id], verdict, result.note), "", problems


def show(made: Explanation, console: Any) -> None:
    """Print it; what a learner wrote is shown without what a terminal would obey."""
    from rich.text import Text

    exercise, result = made.exercise, made.recorded
    called = "" if made.called == made.learner else f" ({made.called})"
    head = f"{made.learner}{called} / {exercise.id}: {result.points:g} of {result.max_points:g} points"
    console.print(Text(inert(head), style="bold"), soft_wrap=True)
    by_hand = exercise.answer.judged_by is JudgedBy.TEACHER
    rows = [
        ("declared", made.where),
        ("numbers", f"{made.numbers or '–'}  [{made.whose}]"),
        ("answer", made.read or ("a text, which a teacher grades" if by_hand else "not kept as a value")),
        ("relation", made.relation),
        ("expected", _expected(made)),
        ("tolerance", "" if by_hand else made.tolerance),
    ]
    if made.source.strip() and (not made.read or exercise.answer.judged_by is not JudgedBy.VALUE):
        rows.append(("cell", made.source))
    for label, text in rows:
        if text:
            _row(console, label, text)
    for mistake in made.mistakes:
        equals = f" = {mistake.comes_to}" if mistake.comes_to and "$" not in mistake.comes_to else ""
        mark = "matched" if mistake.matches else "mistake"
        style = "bold yellow" if mistake.matches else "dim"
        place = f"  [{mistake.formula.place}]" if mistake.formula.place else ""
        _row(console, mark, f"{_inline(mistake.formula, place=False)}{equals}{place}", style)
        if mistake.matches:
            _row(console, "", mistake.say)
    kind = f"{result.kind}{', ' + result.reason if result.reason else ''}"
    _row(console, "verdict", f"{result.say}  [{kind}]")
    _row(console, "key", "has changed since" if made.key_changed else "is the same since it was judged")
    if made.now is None:
        _row(console, "judged now", made.why_not)
    elif _same(made.now, result):
        _row(console, "judged now", "the same")
    else:
        now = made.now
        _row(console, "judged now", f"{now.points:g} of {now.max_points:g} points: {now.say}  [{now.kind}]", "bold")
        _row(console, "", "`gpubook grade --resume` enters it")
    for problem in made.problems:
        _row(console, "problem", problem, "red")


def _expected(made: Explanation) -> str:
    """The right answer and its formula; only this one where a terminal cannot show the other."""
    formula = _inline(made.solution)
    return f"{made.expected}  [{formula}]" if made.expected and "$" not in made.expected else formula


def _same(one: Result, other: Result) -> bool:
    return (one.points, one.max_points, one.kind, one.say) == (other.points, other.max_points, other.kind, other.say)


def _inline(formula: Declared, place: bool = True) -> str:
    text = formula.text if len(formula.text) <= MOST_READ else f"{formula.text[:MOST_READ]}…"
    return f"{text}, {formula.place}" if place and formula.place else text


def _row(console: Any, label: str, text: str, style: str = "") -> None:
    from rich.text import Text

    lines = [inert(line) for line in text.expandtabs(4).splitlines()] or [""]
    for number, line in enumerate(lines):
        console.print(Text.assemble((f"{'' if number else label:11}", "cyan"), (line, style)), soft_wrap=True)
