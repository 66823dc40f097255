"""The output of `gpubook grade`: a table of learners by exercises, and the verdicts on demand."""

import sys
from pathlib import Path
from typing import Any

from ..grading.results import Result
from .class_result import ClassResult, Learner


def class_table(result: ClassResult) -> Any:
    """Learners by exercises as a rich table: points, full marks in green, none in red; columns are
    numbered."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(result.assignment), box=None, padding=(0, 1, 0, 0), pad_edge=False, show_footer=True)
    table.add_column("learner", footer="of", no_wrap=True)
    for number, points in enumerate(result.exercises.values(), start=1):
        table.add_column(str(number), footer=Text(f"{points:g}"), justify="right", no_wrap=True)
    table.add_column("total", footer=Text(f"{result.max_points:g}"), justify="right", no_wrap=True)
    for learner in result.learners:
        points = {r.exercise: r for r in learner.results}
        cells = [_cell(points.get(exercise)) for exercise in result.exercises]
        total = Text(f"{learner.points:g}", style="bold") if learner.results else Text("none", style="red")
        table.add_row(Text(inert(learner.name)), *cells, total)
    return table


def legend(result: ClassResult) -> str:
    """Which exercise each column is."""
    return "  ".join(f"{number} {name}" for number, name in enumerate(_short(list(result.exercises)), start=1))


def _cell(result: Result | None) -> Any:
    from rich.text import Text

    if result is None:
        return Text("–", style="dim")
    if result.kind == "waiting":
        return Text("…", style="yellow")
    style = (
        "green"
        if result.points == result.max_points
        else "dim"
        if result.kind == "empty"
        else "yellow"
        if result.points
        else "red"
    )
    return Text(f"{result.points:g}", style=style)


def _short(names: list[str]) -> list[str]:
    """Exercise ids without the word that all begin with: rooflines-ridge is ridge."""
    first = {name.split("-", 1)[0] for name in names}
    cut = len(first) == 1 and all("-" in name for name in names)
    return [name.split("-", 1)[1] if cut else name for name in names]


def print_class(result: ClassResult, console: Any = None) -> None:
    """The table, every problem, and where the feedback and the gradebook are."""
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    console.print(class_table(result))
    console.print(Text(legend(result), style="dim"))
    for learner in result.learners:
        if learner.problem:
            console.print(
                Text.assemble((f"{inert(learner.name)}: ", "bold"), (inert(learner.problem), "red")), soft_wrap=True
            )
    said = {learner.problem for learner in result.learners}
    for problem in result.problems:
        if problem not in said:
            console.print(Text(inert(problem), style="red"), soft_wrap=True)
    folder = _from_here(Path(result.folder))
    named = result.gradebook or str(Path(result.folder) / "gradebook.db")
    gradebook = named if "://" in named else _from_here(Path(named))
    command = sys.argv[0] if Path(sys.argv[0]).name == "gpubook" else "gpubook"
    graded = sum(1 for learner in result.learners if learner.results)
    console.print(
        Text(
            f"{graded} of {len(result.learners)} graded in {result.seconds:.1f} s. "
            f"Gradebook: {gradebook}\n"
            f"Feedback: {folder / 'feedback'}/LEARNER/{result.assignment}/{result.assignment}.html\n"
            f"Every sentence: {command} grade {folder} {result.assignment} --show LEARNER[/EXERCISE]"
        ),
        soft_wrap=True,
    )


def _from_here(folder: Path) -> Path:
    """A folder as one types it: relative, where it lies below the current one."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def inert(text: str) -> str:
    """A name or a problem without control characters: a folder's name may hold what a terminal obeys."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def show(result: ClassResult, what: str, console: Any = None) -> None:
    """The sentences of LEARNER, or of LEARNER/EXERCISE (its id, or its name or number in the table's legend);
    KeyError lists the known ones."""
    from rich.console import Console

    console = console or Console()
    name, _, exercise = what.partition("/")
    learner = result.learner(name)
    ids = list(result.exercises)
    also = dict(zip(_short(ids), ids, strict=True)) | {str(n): one for n, one in enumerate(ids, start=1)}
    chosen = [r for r in learner.results if not exercise or r.exercise in (exercise, also.get(exercise))]
    if exercise and not chosen:
        known = ", ".join(r.exercise for r in learner.results) or "none"
        raise KeyError(f"{name} has no result for {exercise!r} in {result.assignment}; known: {known}")
    console.print(sentences(learner, chosen), soft_wrap=True)


def sentences(learner: Learner, chosen: list[Result]) -> Any:
    """Points and sentence of each result, as rich text."""
    from rich.text import Text

    lines = (
        [Text.assemble((inert(learner.name), "bold"), f": {learner.points:g} points")]
        if not learner.problem
        else [Text.assemble((inert(learner.name), "bold"), f": {inert(learner.problem)}")]
    )
    lines += [
        Text.assemble((f"{r.points:g}/{r.max_points:g} ", "bold"), (r.exercise, "cyan"), f"  {r.say}") for r in chosen
    ]
    return Text("\n").join(lines)
