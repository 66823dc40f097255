"""The product's numbers beside the ledger's, cell by cell: gradebook, results, feedback, exports, reports."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from autograder import course
from autograder.answers import Quantity
from autograder.course import gradebook
from autograder.course.gradebook.question_points import by_question
from autograder.course.report import explanation
from autograder.declaration import call_with
from benchmarks.term.classroom import RosterLearner
from benchmarks.term.importers import Canvas, CanvasStudent, Moodle, MoodleGrade
from benchmarks.term.ledger import AssignmentLedger
from hwlib.units import parse

SCORE = re.compile(r"\(Score: ([\d.]+) / ([\d.]+)\)")
STAMP = "%Y-%m-%dT%H:%M:%SZ"
NOW = 1.8e9  # the time of an upload to Moodle
GUEST = "77"  # a participant in Moodle whom the roster does not know


@dataclass
class Tally:
    """How many cells were compared, by kind, and those that differ."""

    counts: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    tell: Callable[[str], None] = lambda _: None  # each of these at once

    def same(self, kind: str, what: str, who: str, ledger: Any, product: Any, within: float = 1e-6) -> None:
        """Compare one cell."""
        self.counts[kind] += 1
        both = (ledger, product)
        if all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in both):
            equal = math.isclose(ledger, product, rel_tol=0, abs_tol=within)
        else:
            equal = ledger == product
        if not equal:
            self.lines.append(f"{kind}: {what}, {who}: ledger {ledger!r}, product {product!r}")
            self.tell(self.lines[-1])


def number(cell: str) -> float | str:
    """A cell as a number, or as it is."""
    try:
        return float(cell)
    except ValueError:
        return cell


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a file, by the heads of its columns."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def in_gradebook(folder: Path, book: AssignmentLedger, tally: Tally) -> None:
    """Every score and every point by question, as the product reads them from the gradebook."""
    name, points = book.about.name, by_question(folder, book.about.name)
    for score in gradebook.scores(folder, [name])[name]:
        who = score.person.id
        graded = book.graded(who)
        pairs: dict[str, tuple[Any, Any]] = {
            "graded": (graded, score.graded),
            "max": (book.max_score, score.max_score),
            "due": (book.due_for(who), score.due),
        }
        if graded:
            pairs |= {
                "raw": (book.raw(who), score.raw),
                "penalty": (book.penalty(who), score.late_penalty),
                "score": (book.score(who), score.score),
                "extra": (book.extra_of(who), score.extra_credit),
                "waiting": (book.waiting(who), score.waiting),
                "submitted": (book.when(who), score.submitted),
            }
        for what, (ledger, product) in pairs.items():
            tally.same("gradebook", f"{name} {what}", who, ledger, product)
        for exercise in book.bank:
            theirs = points.of.get(who, {}).get(exercise)
            tally.same("gradebook by question", f"{name} {exercise}", who, _with_extra(book, exercise, who), theirs)
    tally.same("gradebook by question", f"{name} exercises", "all", list(book.bank), list(points.most))


def _with_extra(book: AssignmentLedger, exercise: str, who: str) -> float | None:
    if not book.graded(who) or (own := book.points(exercise, who)) is None:
        return None
    return own + book.extra.get((book.by(who), exercise), 0.0)


def in_results(folder: Path, book: AssignmentLedger, tally: Tally) -> None:
    """What `gpubook grade` printed, as it keeps it."""
    name = book.about.name
    result = course.results(folder, name)
    tally.same("results", f"{name} points", "all", {one: book.most(one) for one in book.bank}, result.exercises)
    there = {one.name for one in result.learners}
    tally.same("results", f"{name} learners", "all", {p.id for p in book.people} - set(book.missing), there)
    for learner in result.learners:
        graded = book.graded(learner.name)
        tally.same("results", f"{name} has a problem", learner.name, not graded, bool(learner.problem))
        for one in learner.results:
            ledger = book.points(one.exercise, learner.name)
            tally.same("results", f"{name} {one.exercise}", learner.name, ledger or 0.0, one.points)
            waits = (ledger is None, one.kind == "waiting")
            tally.same("results", f"{name} {one.exercise} waits", learner.name, *waits)


def in_feedback(folder: Path, book: AssignmentLedger, tally: Tally) -> None:
    """The page of each who is graded, and the score in its head, which has two decimals."""
    name = book.about.name
    for person in book.people:
        page = folder / "feedback" / person.id / name / f"{name}.html"
        tally.same("feedback", f"{name} page", person.id, book.graded(person.id), page.is_file())
        if page.is_file() and book.graded(person.id):
            found = SCORE.search(page.read_text(encoding="utf-8"))
            said = tuple(map(float, found.groups())) if found else (math.nan, math.nan)
            tally.same("feedback", f"{name} score", person.id, book.score(person.id), said[0], within=0.00501)
            tally.same("feedback", f"{name} maximum", person.id, book.max_score, said[1], within=0.00501)


def in_csv(text: str, books: Sequence[AssignmentLedger], tally: Tally, kind: str = "csv") -> None:
    """The plain export: each cell of each row."""
    of = {book.about.name: book for book in books}
    people = {one.id: one for one in books[0].people}
    seen = set()
    for row in rows_of(text):
        book, who = of[row["assignment"]], row["learner"]
        seen.add((row["assignment"], who))
        graded, due = book.graded(who), book.due_for(who)
        when = book.when(who) if graded else None
        wanted: dict[str, Any] = {
            "last_name": people[who].last,
            "first_name": people[who].first,
            "email": people[who].email,
            "due": due.strftime(STAMP),
            "submitted": when.strftime(STAMP) if when else "",
            "max_score": book.max_score,
            "raw_score": book.raw(who) if graded else "",
            "extra_credit": book.extra_of(who) if graded else "",
            "score": book.score(who) if graded else "",
            "late_penalty": book.penalty(who) if graded else "",
            "needs_manual_grade": ("yes" if book.waiting(who) else "no") if graded else "",
            "answers_waiting": book.waiting(who) if graded else "",
        }
        wanted |= {_title(other, name): "" for other in books for name in other.bank}
        for name in book.bank:
            points = _with_extra(book, name, who)
            wanted[_title(book, name)] = "" if points is None else points
        for column, ledger in wanted.items():
            product = row.get(column, "no such column")
            about = product if isinstance(ledger, str) else number(product)
            tally.same(kind, f"{row['assignment']} {column}", who, ledger, about, within=6e-5)
    every = {(book.about.name, one.id) for book in books for one in book.people}
    tally.same(kind, "rows", "all", every, seen)


def _title(book: AssignmentLedger, name: str) -> str:
    most = book.most(name)
    return f"{name} ({most:g} point{'' if most == 1 else 's'})"


def in_canvas(text: str, books: Sequence[AssignmentLedger], ids: Mapping[str, int], tally: Tally) -> None:
    """The file for Canvas, as its importer takes it, in a course where the assignments are known."""
    people = books[0].people
    students = [CanvasStudent(one.number, one.name, f"{one.last}, {one.first}", login=one.id) for one in people]
    titles = {number: name for number, name in enumerate((b.about.name for b in books), start=1) if name not in ids}
    made = Canvas(students, titles | {number: name for name, number in ids.items()}).upload(text)
    for what, found in (("strangers", made.strangers), ("new", made.new), ("dropped", made.dropped)):
        tally.same("canvas", what, "all", [], found)
    for book in books:
        name = book.about.name
        tally.same("canvas", f"{name} possible", "all", book.max_score, number(made.possible.get(name, "")))
        for one in people:
            ledger = book.score(one.id) if book.graded(one.id) else ""
            product = number(made.grades.get((one.number, name), "no cell"))
            tally.same("canvas", name, one.id, ledger, product, within=6e-5)
    tally.same("canvas", "grades", "all", len(people) * len(books), len(made.grades))


def in_moodle(text: str, told: str, book: AssignmentLedger, numbers: Mapping[str, RosterLearner], tally: Tally) -> None:
    """The worksheet that was filled in, as Moodle's importer takes it: twice, of which the second changes nothing.

    Of who has more than all points by extra credit, Moodle skips the grade, and the command has `told` so.
    """
    name = book.about.name
    above = [who for who in book.class_ if book.score(who) > book.max_score + 1e-9]
    said = f"unless its assignment allows as many: {', '.join(above)}\n" if above else "more than the maximum"
    tally.same("moodle", f"{name} above the maximum is told", ", ".join(above), bool(above), said in told)
    moodle = Moodle(book.max_score, {number: MoodleGrade() for number in (*numbers, GUEST)})
    first = moodle.upload(text, NOW)
    again = moodle.upload(text, NOW + 3600)
    tally.same("moodle", f"{name} second upload", "all", [], [*again.grades, *again.comments])
    tally.same("moodle", f"{name} strangers", "all", [], first.strangers)
    tally.same("moodle", name, "guest", MoodleGrade(), moodle.participants[GUEST])
    titles = [_title(book, exercise) for exercise in book.bank]
    tally.same("moodle", f"{name} columns passed over", "all", titles, [t for t in first.ignored if t in titles])
    rows = {row["Identifier"]: row for row in rows_of(text)}
    for number_, person in numbers.items():
        who, has = person.id, moodle.participants[number_]
        graded = book.graded(who)
        ledger = book.score(who) if graded and who not in above else None
        tally.same("moodle", name, who, ledger, has.grade, within=6e-5)
        for exercise in book.bank:
            points = _with_extra(book, exercise, who)
            cell = number(rows[f"Participant {number_}"][_title(book, exercise)])
            tally.same("moodle", f"{name} {exercise}", who, "" if points is None else points, cell, within=6e-5)
            said = "to be graded" if points is None else f"{_text(points)} of {_text(book.most(exercise))}"
            told = f"{exercise} ({said})" in has.comment
            tally.same("moodle comments", f"{name} {exercise} ({said})", who, graded, told)
        late = f"Late: {_text(book.penalty(who))} of {_text(book.raw(who))} points" if graded else ""
        told = late in has.comment if graded and book.penalty(who) else "Late:" not in has.comment
        tally.same("moodle comments", f"{name} late", who, True, told)


def _text(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if value else "0"


def in_report(tables: Mapping[str, str], books: Sequence[AssignmentLedger], tally: Tally) -> None:
    """The tables of a report: outcomes, shares and means, mistakes, others' numbers."""
    of = {book.about.name: book for book in books}
    exercises = rows_of(tables["exercises"])
    listed = [(book.about.name, name) for book in books for name in book.bank]
    tally.same("report", "exercises", "all", listed, [(row["assignment"], row["exercise"]) for row in exercises])
    for row in exercises:
        book, name = of[row["assignment"]], row["exercise"]
        counted, most = book.outcomes(name), book.most(name)
        points = [book.points(name, who) for who in book.class_]
        decided = sum(counted.values()) - counted["waiting"]
        known = not counted["waiting"] and decided
        wanted = {
            "points": most,
            "graded": decided,
            "right_share": round(counted["right"] / decided, 4) if known else "",
            "mean_share": fmean((value or 0.0) / most for value in points) if known and most else "",
        }
        outcomes = ("right", "partial", "mistake", "wrong", "unread", "crashed", "empty", "failed", "waiting")
        wanted |= {f"n_{one}": counted[one] for one in outcomes}
        for column, ledger in wanted.items():
            tally.same("report", f"{book.about.name} {column}", name, ledger, number(row[column]), within=6e-5)
    wanted_mistakes = {(b.about.name, *key): who for b in books for key, who in b.beliefs().items()}
    found = {
        (r["assignment"], r["exercise"], r["mistake"]): set(r["learners"].split()) for r in rows_of(tables["mistakes"])
    }
    _sets("report mistakes", wanted_mistakes, found, tally)
    others = {(b.about.name, *key): who for b in books for key, who in b.borrowed().items()}
    right_for = {
        (r["assignment"], r["exercise"], r["learner"]): set(r["right_for"].split())
        for r in rows_of(tables["others-numbers"])
    }
    _sets("report others' numbers", others, right_for, tally)


def _sets(kind: str, ledger: Mapping[Any, set[str]], product: Mapping[Any, set[str]], tally: Tally) -> None:
    for key in sorted({*ledger, *product}):
        tally.same(kind, " ".join(key), "all", sorted(ledger.get(key, ())), sorted(product.get(key, ())))


def in_points_table(text: str, book: AssignmentLedger, tally: Tally) -> None:
    """The report's table of one assignment, a line for everybody."""
    rows = {row["learner"]: row for row in rows_of(text)}
    tally.same("report points", f"{book.about.name} rows", "all", {one.id for one in book.people}, set(rows))
    for who, row in rows.items():
        for name in book.bank:
            points = book.points(name, who) if book.graded(who) else None
            cell = number(row[name])
            tally.same("report points", f"{book.about.name} {name}", who, "" if points is None else points, cell, 6e-5)
        grade = book.score(who) if book.graded(who) else ""
        tally.same("report points", f"{book.about.name} grade", who, grade, number(row["grade"]), within=6e-5)
        gone = (who in book.missing, row["problem"] == "nothing submitted")
        tally.same("report points", f"{book.about.name} missing", who, *gone)


def in_term(text: str, books: Sequence[AssignmentLedger], tally: Tally) -> None:
    """The report's table of the term."""
    for row in rows_of(text):
        who = row["learner"]
        for book in books:
            ledger = (book.score(who) if book.graded(who) else "") if who != "of" else book.max_score
            tally.same("report of the term", book.about.name, who, ledger, number(row[book.about.name]), within=6e-5)
        total = sum(book.max_score if who == "of" else book.score(who) if book.graded(who) else 0 for book in books)
        tally.same("report of the term", "total", who, total, number(row["total"]), within=6e-4)


def in_explanation(folder: Path, book: AssignmentLedger, who: str, exercise: str, tally: Tally) -> None:
    """One verdict taken apart: points, the expected value, the mistakes that match, and that the key says the same."""
    made, about = explanation.of(folder, book.about.name, f"{who}/{exercise}"), f"{book.about.name} {exercise}"
    tally.same("explain", f"{about} points", who, book.points(exercise, who) or 0.0, made.recorded.points)
    keys = sorted(one.key for one in made.mistakes if one.matches)
    tally.same("explain", f"{about} mistakes", who, sorted(book.judged(exercise, who).mistakes), keys)
    tally.same("explain", f"{about} key", who, False, made.key_changed)
    said = book.work[book.by(who)].said[exercise]
    if said.value is not None:
        tally.same("explain", f"{about} judged now", who, made.recorded, made.now)
    if isinstance(book.bank[exercise].answer, Quantity):
        want = call_with(book.bank[exercise].solution, book.given(exercise, who))
        shown = parse(made.expected).value
        tally.same("explain", f"{about} expected", who, True, math.isclose(shown, want, rel_tol=5e-3))
        if said.value is not None:
            tally.same(
                "explain", f"{about} read", who, True, math.isclose(parse(made.read).value, said.value, rel_tol=5e-3)
            )
