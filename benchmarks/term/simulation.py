"""A term of a course, and every number of it twice: `python -m benchmarks.term`.

A class goes through six assignments with the product's own commands: two subsets of chapters, two of the teacher's own
exercises, a subset with one of these, a text of the teacher's; everybody has numbers of their own. Work arrives by
nbgrader's exchange, from Canvas and from Moodle, in time, late, for a group, broken or not at all. Extensions are
granted, answers graded by hand, a wrong key is corrected, exercises are dropped and given to all, and it ends with
reports and exports, which are read back as Canvas and Moodle read them (`benchmarks.term.importers`).

Beside it a ledger works out what each number must be, from what each learner was made to answer. Every cell that
differs is a line of the output, and the exit status is 1 then.
"""

from __future__ import annotations

import csv
import io
import os
import random
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from autograder.answers import Written
from autograder.course import gradebook, gradebook_url
from benchmarks.term import checks
from benchmarks.term.checks import Tally
from benchmarks.term.classroom import TERM, Assignment, bank_of, roster
from benchmarks.term.course import Course
from benchmarks.term.ledger import AssignmentLedger

EXPLAINED = 6  # verdicts of each assignment
CHANGE = re.compile(r"^  (\S+) (\S+)  ([\d.]+)(?: of [\d.]+)? → ([\d.]+) of [\d.]+ \((.+) → (.+)\)", re.MULTILINE)
TOLD = {"unreadable": "unread", "unit": "unread", "slip": "wrong"}  # what the ledger calls a verdict's kind


def simulate(
    folder: Path,
    learners: int,
    seed: int,
    plan: Sequence[Assignment] = TERM,
    *,
    explained: int = EXPLAINED,
    cell_limit: float = 10.0,
    tell: Callable[[str], None] = lambda _: None,
) -> Course:
    """The term of so many learners in the course's `folder`, with what was compared; of each assignment so many
    verdicts are `explained`, and a cell may run for `cell_limit` seconds. `tell`: of commands and differences, as they
    come."""
    made = Course(folder, roster(learners), seed, cell_limit, Tally(tell=tell))
    made.open()
    for one in plan:
        book = made.assign(one)
        opening(made, book)
        made.draw(book)
        made.submit(book)
        made.gpubook("grade", folder, one.name)
        reconcile(made, book)
        more_time(made, book)
    decisions = {"mine-slower": by_rubric, "mine-copy": corrected, "mine-stages": for_all, "mine-plan": in_formgrader}
    for exercise, decide in decisions.items():
        for book in made.books.values():
            if exercise in book.bank:
                decide(made, book)
    exports(made)
    reports(made, explained)
    return made


def reconcile(made: Course, book: AssignmentLedger, feedback: bool = True) -> None:
    """Gradebook, results and pages of an assignment as they are now."""
    checks.in_gradebook(made.folder, book, made.tally)
    if feedback:
        checks.in_results(made.folder, book, made.tally)
        checks.in_feedback(made.folder, book, made.tally)


def opening(made: Course, book: AssignmentLedger) -> None:
    """What is agreed before anybody submits: groups, and more time for some."""
    if book.about.groups > 1:
        made.group(book)
    some = random.Random(f"extended {made.seed} {book.about.name}").sample(made.ids, max(2, len(made.ids) // 12))
    made.extend(book, some[1:], days=1.5)
    made.extend(book, some[:1], until=f"{book.due:%Y}-12-01 12:00 Asia/Kolkata")


def more_time(made: Course, book: AssignmentLedger) -> None:
    """Some of the late get more time afterwards, which is in the gradebook at once and on the pages when rewritten."""
    late = [who for who in book.work if book.graded(who) and book.penalty(who)]
    if late:
        made.extend(book, late[::2], days=1)
        reconcile(made, book, feedback=False)
        made.gpubook("course", "feedback", made.folder, book.about.name)
        reconcile(made, book)


def by_rubric(made: Course, book: AssignmentLedger) -> None:
    """Answers in words, graded in a table by criterion: half of them first, which leaves the others waiting."""
    name, rng = book.about.name, random.Random(f"rubric {made.seed}")
    written = [key for key, one in book.bank.items() if isinstance(one.answer, Written)]
    for key in written:
        rubric = book.bank[key].answer.graded_by()
        for part in (0, 1):
            table = made.folder / f"{name}-{key}.csv"
            made.gpubook("course", "rubric", made.folder, name, key, "--write", table)
            head, *rows = csv.reader(io.StringIO(table.read_text(encoding="utf-8"), newline=""))
            open_ = [row for row in rows if row[2] == "waiting"]
            waiting = sorted(who for who in book.work if book.graded(who) and book.points(key, who) is None)
            made.tally.same("by hand", f"{name} {key} waiting", "all", waiting, sorted(row[0] for row in open_))
            chosen = open_[: len(open_) // 2] if part == 0 else open_
            for row in chosen:
                given = [rng.choice([0, most / 2, most, most]) for _, most in rubric]
                row[4 : 4 + len(given)] = [f"{points:g}" for points in given]
                row[-2] = f"Seen, {row[1]}."
                book.hand[row[0], key] = sum(given)
            with table.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([head, *rows])
            told = made.gpubook("course", "rubric", made.folder, name, key, "--read", table, "--by", "ann")
            made.tally.same("by hand", f"{name} {key} entered", "all", True, f"Entered {len(chosen)}, " in told)
            made.gpubook("course", "feedback", made.folder, name)
            reconcile(made, book)


def corrected(made: Course, book: AssignmentLedger) -> None:
    """The key of an exercise was wrong: those whose verdict changes are printed, nobody else's is another."""
    before = {(who, key): (points, kind) for who, key, points, kind in book.kinds()}
    made.write_key({})
    book.bank = bank_of(book.about, made.own)
    after = {(who, key): (points, kind) for who, key, points, kind in book.kinds()}
    told = made.gpubook("grade", made.folder, book.about.name, "--resume")
    wanted = {one: (before[one][0], after[one][0]) for one in after if before[one] != after[one]}
    found = {(m[1], m[2]): (float(m[3]), float(m[4])) for m in CHANGE.finditer(told)}
    kinds = {(m[1], m[2]): TOLD.get(m[6], m[6]) for m in CHANGE.finditer(told)}
    for who, key in sorted({*wanted, *found}):
        made.tally.same("changed key", key, who, wanted.get((who, key)), found.get((who, key)))
        made.tally.same("changed key", f"{key} kind", who, after.get((who, key), (0.0, ""))[1], kinds.get((who, key)))
    made.tally.same("changed key", "anybody", "all", True, bool(wanted))
    reconcile(made, book)


def for_all(made: Course, book: AssignmentLedger) -> None:
    """One exercise is dropped and one given to everybody, through a new assigning; both count once that is taken back,
    and one is dropped for good."""
    name, (dropped, full) = book.about.name, ("mine-stages", "mine-where")
    made.gpubook("course", "drop", made.folder, name, dropped)
    book.dropped.add(dropped)
    reconcile(made, book, feedback=False)
    made.gpubook("course", "full-marks", made.folder, name, full)
    book.full.add(full)
    reconcile(made, book, feedback=False)
    made.gpubook("grade", made.folder, name, "--resume")
    reconcile(made, book)
    made.assign(book.about)
    reconcile(made, book, feedback=False)
    made.gpubook("course", "drop", made.folder, name, dropped, "--undo")
    made.gpubook("course", "full-marks", made.folder, name, full, "--undo")
    book.dropped.discard(dropped)
    book.full.discard(full)
    reconcile(made, book, feedback=False)
    made.gpubook("grade", made.folder, name, "--resume")
    reconcile(made, book)
    made.gpubook("course", "drop", made.folder, name, dropped)
    book.dropped.add(dropped)
    made.gpubook("grade", made.folder, name, "--resume")
    reconcile(made, book)


def in_formgrader(made: Course, book: AssignmentLedger) -> None:
    """Points, a comment and extra credit, as formgrader's handlers enter them; the last answer stays waiting."""
    name, key, rng = book.about.name, "mine-plan", random.Random(f"formgrader {made.seed}")
    waiting = [who for who in book.work if book.graded(who) and book.points(key, who) is None]
    with warnings.catch_warnings(), gradebook_url.opened(gradebook.url_of(made.folder)) as opened:
        warnings.simplefilter("ignore")
        for who in waiting[:-1]:
            grade = opened.find_grade(key, name, name, who)
            book.hand[who, key] = grade.manual_score = rng.choice([0.0, 1.5, 3.0, 4.0])
            grade.needs_manual_grade = False
            opened.find_comment(key, name, name, who).manual_comment = f"{grade.manual_score:g}, for *this*."
        for who in waiting[:2]:
            grade = opened.find_grade("mine-wire-grade", name, name, who)
            book.extra[who, "mine-wire"] = grade.extra_credit = 0.75
        opened.db.commit()
    made.gpubook("course", "feedback", made.folder, name)
    reconcile(made, book)


def exports(made: Course) -> None:
    """Each format, read back."""
    books, folder = list(made.books.values()), made.folder
    names = [book.about.name for book in books]
    plain, canvas = folder / "plain.csv", folder / "canvas.csv"
    made.gpubook("export", folder, *names, "--output", plain)
    checks.in_csv(plain.read_text(encoding="utf-8"), books, made.tally)
    ids = {name: 8000 + at for at, name in enumerate(names) if at % 2 == 0}
    options = [f"--canvas-id={name}={number}" for name, number in ids.items()]
    made.gpubook("export", folder, *names, "--format", "canvas", *options, "--output", canvas)
    checks.in_canvas(canvas.read_text(encoding="utf-8"), books, ids, made.tally)
    beside = (folder / "canvas-questions.csv").read_text(encoding="utf-8")
    checks.in_csv(beside, books, made.tally, "canvas questions")
    for book in books:
        filled = folder / f"{book.about.name}-moodle.csv"
        sheet = made.worksheet(book, {who: book.when(who) for who in made.ids if book.by(who) in book.work})
        options = ("--format", "moodle", "--worksheet", sheet, "--output", filled)
        told = made.gpubook("export", folder, book.about.name, *options)
        checks.in_moodle(filled.read_text(encoding="utf-8"), told, book, made.numbers(book), made.tally)


def reports(made: Course, explained: int) -> None:
    """The reports on each assignment and on the term, and some verdicts taken apart."""
    books, folder = list(made.books.values()), made.folder
    for book in books:
        name = book.about.name
        told = made.gpubook("report", folder, name)
        made.tally.same("report", f"{name} answers that no run has kept", "all", False, "Not in this report" in told)
        tables = tables_of(made, folder / f"{name}-report", name)
        checks.in_report(tables, [book], made.tally)
        checks.in_points_table(tables["points"], book, made.tally)
        copied(made, book, tables["alike"])
        explain(made, book, explained)
    tables = tables_of(made, folder / "term-report")
    checks.in_report(tables, books, made.tally)
    checks.in_term(tables["points"], books, made.tally)


def tables_of(made: Course, target: Path, *names: str) -> dict[str, str]:
    """The tables of a report by their names."""
    made.gpubook("report", made.folder, *names, "--csv", target)
    return {path.stem: path.read_text(encoding="utf-8") for path in target.glob("*.csv")}


def copied(made: Course, book: AssignmentLedger, table: str) -> None:
    """Whose work is the same: the two who share a function, the two who share a text, and nobody else's."""
    wanted = set()
    if "mine-bubble" in book.bank and book.about.faults:
        wanted.add(("mine-bubble", tuple(sorted(made.copied))))
    if "mine-plan" in book.bank:
        wanted.add(("mine-plan", tuple(sorted(made.same_text))))
    rows = [row for row in checks.rows_of(table) if row["is_the_solution"] == "no" and row["may_be_usual"] == "no"]
    found = {(row["exercise"], tuple(row["learners"].split())) for row in rows}
    for one in sorted(wanted | found):
        made.tally.same("report copies", one[0], " ".join(one[1]), one in wanted, one in found)


def explain(made: Course, book: AssignmentLedger, count: int) -> None:
    """Some verdicts of an assignment, of learners who did not submit themselves too."""
    rng = random.Random(f"explained {made.seed} {book.about.name}")
    asked = [key for key, one in book.bank.items() if not isinstance(one.answer, Written)]
    mates = [who for who in book.class_ if book.by(who) != who]
    some = rng.sample(book.class_, min(count, len(book.class_))) + mates[:count]
    for at, who in enumerate(some):
        checks.in_explanation(made.folder, book, who, asked[at % len(asked)], made.tally)
    told = made.gpubook("explain", made.folder, book.about.name, f"{some[0]}/{asked[0]}")
    made.tally.same("explain", f"{book.about.name} printed", some[0], True, "verdict" in told)


@click.command(help=__doc__)
@click.option("--learners", default=60, show_default=True, type=click.IntRange(8, 110))
@click.option("--seed", default=1, show_default=True, help="Of what learners answer and when they submit.")
@click.option("--keep", type=click.Path(path_type=Path), help="A new folder for the course, to be looked at.")
def main(learners: int, seed: int, keep: Path | None) -> None:
    """Simulate the term, and say what was compared."""
    began = time.perf_counter()
    with ExitStack() as ends:
        folder = keep or Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="gpubook-term-")))
        if keep is not None and keep.exists():
            raise click.UsageError(f"{keep} is there already; a new folder was expected")
        course = folder.resolve() / "course" if keep is None else folder.resolve()
        made = simulate(course, learners, seed, tell=lambda line: click.echo(line, err=True))
    seconds, tally = time.perf_counter() - began, made.tally
    cpu = sum(os.times()[:4])
    click.echo(
        f"{learners} learners, {len(made.books)} assignments, seed {seed}: {len(made.said)} commands, "
        f"{seconds:.0f} s, {cpu:.0f} s of processor time"
    )
    for kind, count in sorted(tally.counts.items()):
        wrong = sum(line.startswith(f"{kind}: ") for line in tally.lines)
        click.echo(f"  {count:6,} {kind}" + (f", of which {wrong} differ" if wrong else ""))
    click.echo(f"  {sum(tally.counts.values()):6,} compared, {len(tally.lines)} differ")
    if tally.lines:
        raise SystemExit(1)
