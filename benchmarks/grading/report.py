"""What `gpubook report` costs for a large class: `python -m benchmarks.grading.report`.

A small class on a chapter is drawn (right, declared mistakes, answers that no mistake explains, errors, nothing) and
graded. Each of its learners is then there many times over, with functions that differ, in submissions, journal and
gradebook, as a class of that size leaves them. The report is made in a process of its own, as a teacher makes it: in
the terminal, as a page, as tables. Figures are minimum / median / maximum of the repeats.
"""

import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import click
import nbformat

from autograder import course
from autograder.declaration import Bank, Exercise, call_with, load_bank
from autograder.declaration.answer import JudgedBy
from autograder.declaration.worked import solution_of
from autograder.values.book_root import book_root
from benchmarks.paths import ROOT

CHAPTER = "03-rooflines"
NAME = "week1"
SHARES = {"right": 0.55, "mistake": 0.2, "other": 0.12, "error": 0.05}  # the rest answers nothing
WORDS = Path(__file__).read_text(encoding="utf-8").split()  # of texts that nobody copied
FORMS = {"terminal": (), "page": ("--html", "report.html"), "tables": ("--csv", "tables")}


def answers(bank: Bank, solutions: dict[str, str], rng: random.Random) -> Iterator[tuple[str, str]]:
    """The answer cells of one learner."""
    for name, exercise in bank.items():
        if name not in solutions:
            continue
        if exercise.answer.judged_by is JudgedBy.TEACHER:
            yield name, " ".join(rng.sample(WORDS, 80))
            continue
        lot = rng.choices([*SHARES, "nothing"], [*SHARES.values(), 1 - sum(SHARES.values())])[0]
        source = {"right": solutions[name], "error": "answer = undefined_name + 1"}.get(lot, "")
        source = _wrong(exercise, lot, rng) if lot in ("mistake", "other") else source
        if source:
            yield name, source


def _wrong(exercise: Exercise, lot: str, rng: random.Random) -> str:
    """A wrong answer: a declared mistake of an exercise on values, or a number that no mistake explains."""
    if exercise.answer.judged_by is not JudgedBy.VALUE:
        return f"def {exercise.answer_name}(*arguments):\n    return {rng.randrange(3)}"
    if lot == "mistake" and exercise.mistakes:
        value = rng.choice(exercise.mistakes[:2]).value
        symbols = getattr(exercise.answer, "symbols", None)
        letters = {one: domain.symbol(one) for one, domain in symbols.items()} if symbols else exercise.variant()
        made = call_with(value, letters)
        return f"answer = {str(made) if symbols else made!r}"
    return f"answer = {rng.choice([0.25, 3.5, 17.0])}"


def graded(folder: Path, size: int, seed: int) -> None:
    """A course in which so many have submitted, and are graded."""
    course.init(folder)
    release = nbformat.read(course.assign(folder, NAME, chapter=CHAPTER), as_version=4)
    bank = load_bank(book_root() / "solutions" / CHAPTER)
    teacher = nbformat.read(folder / "source" / NAME / f"{NAME}.ipynb", as_version=4)
    solutions = {key: solution_of(cell.source) for cell, key in _answer_cells(teacher)}
    for number in range(size):
        nb = copy.deepcopy(release)
        written = dict(answers(bank, solutions, random.Random(f"{seed} {number}")))
        for cell, key in _answer_cells(nb):
            cell.source = written.get(key, cell.source)
        path = folder / "submitted" / f"s{number:03}" / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(nb, path)
    course.grade(folder, NAME)


def _answer_cells(nb: Any) -> Iterator[tuple[Any, str]]:
    for cell in nb.cells:
        own = cell.metadata.get("gpubook", {})
        if own.get("part") == "answer":
            yield cell, own["exercise"]


def multiply(folder: Path, size: int, seed: int) -> None:
    """Make a class of `size` of the one that is graded: each learner again under other names."""
    kept = folder / ".gpubook" / f"{NAME}.journal"
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    entries = {line["learner"]: line for line in lines if "learner" in line}
    notebooks = folder / ".gpubook" / f"{NAME}.graded"
    rng, more = random.Random(seed), []
    for number in range(len(entries), size):
        entry = dict(list(entries.values())[number % len(entries)])
        who = f"s{number:03}"
        shutil.copytree(folder / "submitted" / entry["learner"], folder / "submitted" / who)
        nb = json.loads((notebooks / entry["notebook"]).read_text(encoding="utf-8"))
        for cell in nb["cells"]:
            if cell["metadata"].get("gpubook", {}).get("part") == "answer":
                cell["source"] = _varied("".join(cell["source"]), rng)
        entry |= {"learner": who, "notebook": f"{who}.ipynb"}
        (notebooks / entry["notebook"]).write_text(json.dumps(nb), encoding="utf-8")
        more.append(json.dumps(entry))
    with kept.open("a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in more))
    course.grade(folder, NAME, resume=True)  # nothing runs: what the journal has is entered


def _varied(source: str, rng: random.Random) -> str:
    """A function with statements that no other has; anything else as it is."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    if not any(isinstance(node, ast.FunctionDef) for node in tree.body):
        return source
    lines = [f"step_{at} = {rng.random():.6f}*{rng.choice('abcdef')} - {rng.randrange(9)}" for at in range(4)]
    return f"{source}\n" + "\n".join(lines)


@click.command()
@click.option("--learners", default=200, show_default=True, help="How many are in the class.")
@click.option("--drawn", default=20, show_default=True, help="How many of them are drawn and graded.")
@click.option("--repeats", default=5, show_default=True, help="Reports in each form.")
@click.option("--seed", default=1, show_default=True, help="Of the answers.")
def main(learners: int, drawn: int, repeats: int, seed: int) -> None:
    """Time `gpubook report` over a class."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "course"
        graded(folder, min(drawn, learners), seed)
        multiply(folder, learners, seed)
        exercises = len(course.results(folder, NAME).exercises)
        click.echo(
            f"{learners} learners, {exercises} exercises, {repeats} reports in each form; "
            f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores"
        )
        for form, options in FORMS.items():
            written = [str(Path(scratch) / one) if at else one for at, one in enumerate(options)]
            command = [sys.executable, "-m", "autograder", "report", str(folder), NAME, *written]
            rows = [timed(command) for _ in range(repeats)]
            wall, cpu = (
                " / ".join(f"{one:.2f}" for one in (min(column), median(column), max(column)))
                for column in zip(*rows, strict=True)
            )
            click.echo(f"  {form:8}  {wall} s, {cpu} s of processor time")


def timed(command: list[str]) -> tuple[float, float]:
    """The seconds that a command takes, and its processor time."""
    before, began = os.times(), time.monotonic()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # which has the package that is measured
    seconds, after = time.monotonic() - began, os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return seconds, used


if __name__ == "__main__":
    main()
