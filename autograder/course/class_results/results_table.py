"""The output of `gpubook grade`: a table of learners by exercises, who is missing, what changed, and the verdicts on
demand."""

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...declaration.verdict import AS_PREDICTED
from ...grading.results import Result
from .class_result import Change, ClassResult, EntryChange, LateChange, Learner

if TYPE_CHECKING:
    from ..gradebook import AssignmentScore

LEAST_NAME, WIDEST_NAME = 8, 22  # letters of a name
Read = Callable[[str, Result], str]  # what a learner has answered, as it was read; "" where nobody knows


def class_table(result: ClassResult, scores: Mapping[str, "AssignmentScore"] | None = None, width: int = 1000) -> Any:
    """Learners by exercises as a rich table: points, full marks in green, none in red; columns are numbered.

    `scores`, of the gradebook: learners then have their names and stand in the order of these, late penalties and what
    was changed by hand are in the table, and it ends with the grade that counts. Below it stand the mean and the share
    that is right, in percent, over all who are graded. Names are cut, or left out, where the `width` in letters is too
    small for all.
    """
    from rich.table import Table
    from rich.text import Text

    scores = scores or {}
    differ = [learner for learner in result.learners if learner.results and _differs(learner, scores)]
    late = any(scores[learner.name].late_penalty for learner in differ)
    rows = _below(result, scores, late, bool(differ))
    more = ["sum", *["late"] * late, "grade"] if differ else ["total"]
    heads = [*map(str, range(1, len(result.exercises) + 1)), *more]
    columns = zip_longest(heads, *(row for _, row in rows), fillvalue="")
    taken = sum(max(map(len, column)) + 1 for column in columns) + len("right % ") + 1
    widest = min(
        WIDEST_NAME, width - max(taken, taken - 8 + max((len(one.name) for one in result.learners), default=0))
    )
    named = widest >= LEAST_NAME and any(_name(scores, learner.name) for learner in result.learners)
    table = Table(title=Text(result.assignment), box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("learner", no_wrap=True)
    if named:
        table.add_column("name", no_wrap=True, overflow="ellipsis", max_width=widest)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for learner in in_order(result.learners, scores if named else {}):
        points = {r.exercise: r for r in learner.results}
        cells = [_cell(points.get(exercise)) for exercise in result.exercises]
        names = [Text(inert(_name(scores, learner.name)))] if named else []
        row = [Text(inert(learner.name)), *names, *cells, *_sums(learner, scores, late, bool(differ))]
        table.add_row(*row)
    table.add_section()
    for label, ends in rows:
        table.add_row(Text(label, style="dim"), *[""] * named, *(Text(cell, style="dim") for cell in ends))
    return table


def in_order(learners: Sequence[Learner], scores: Mapping[str, "AssignmentScore"]) -> list[Learner]:
    """By name, those whom the roster does not know by their ids."""
    return sorted(learners, key=lambda one: (_name(scores, one.name).casefold() or one.name.casefold(), one.name))


def _name(scores: Mapping[str, "AssignmentScore"], learner: str) -> str:
    """The name in the gradebook, the last one first; "" where it has none."""
    if learner not in scores:
        return ""
    who = scores[learner].person
    return ", ".join(filter(None, (who.last_name, who.first_name)))


def _differs(learner: Learner, scores: Mapping[str, "AssignmentScore"]) -> bool:
    """Whether the gradebook has another sum than the results: a late penalty, extra credit, a grade by hand."""
    return learner.name in scores and abs(scores[learner.name].score - learner.points) > 1e-6


def _sums(learner: Learner, scores: Mapping[str, "AssignmentScore"], late: bool, differ: bool) -> list[Any]:
    from rich.text import Text

    if not learner.results:
        return [Text("none", style="red"), *[""] * (late + differ)]
    score = scores.get(learner.name)
    penalty = score.late_penalty if score else 0.0
    counts = score.score if score else learner.points
    cells = [Text(f"{learner.points:g}", style="" if differ else "bold")]
    cells += [Text(f"-{penalty:g}" if penalty else "", style="yellow")] * late
    return cells + [Text(f"{counts:.4g}", style="bold")] * differ


def _below(
    result: ClassResult, scores: Mapping[str, "AssignmentScore"], late: bool, differ: bool
) -> list[tuple[str, list[str]]]:
    """The rows under the table: mean and right in percent, where all answers are graded, and the points that there
    are."""
    graded = [learner for learner in result.learners if learner.results]
    columns = {name: [r for one in graded for r in one.results if r.exercise == name] for name in result.exercises}
    decided = {name: [] if any(r.kind == "waiting" for r in rows) else rows for name, rows in columns.items()}
    most = result.max_points
    sums = [learner.points for learner in graded]
    counts = [scores[one.name].score if one.name in scores else one.points for one in graded]
    means = [
        percent(sum(r.points for r in decided[name]), points * len(decided[name]))
        for name, points in result.exercises.items()
    ]
    right = [percent(sum(map(is_right, rows)), len(rows)) for rows in decided.values()]
    blank, ends = [""] * late, [percent(sum(counts), most * len(graded))] * differ
    rows = [("mean %", [*means, percent(sum(sums), most * len(graded)), *blank, *ends]), ("right %", [*right, ""])]
    of = [f"{points:g}" for points in result.exercises.values()]
    return [*(rows if graded else []), ("of", [*of, f"{most:g}", *blank, *[f"{most:g}"] * differ])]


def is_right(result: Result) -> bool:
    """Whether it has all points; of a prediction, whose points are for making one, whether it came true."""
    if result.kind == "predicted":
        return result.reason == AS_PREDICTED
    return result.points >= result.max_points > 0 or result.kind == "right"


def percent(part: float, whole: float) -> str:
    """ "67" for two of three; "–" of nothing."""
    return f"{100 * part / whole:.0f}" if whole else "–"


def legend(result: ClassResult) -> str:
    """Which exercise each column is."""
    return "  ".join(f"{number} {name}" for number, name in enumerate(short(list(result.exercises)), start=1))


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


def short(names: list[str]) -> list[str]:
    """Exercise ids without the word that all begin with: rooflines-ridge is ridge."""
    first = {name.split("-", 1)[0] for name in names}
    cut = len(first) == 1 and all("-" in name for name in names)
    return [name.split("-", 1)[1] if cut else name for name in names]


def print_class(
    result: ClassResult,
    console: Any = None,
    scores: Mapping[str, "AssignmentScore"] | None = None,
    waiting: Mapping[str, int] | None = None,
) -> None:
    """The table, every problem, who is missing, what is to be graded by hand, and where the feedback and the gradebook
    are. `scores` and `waiting` are of the gradebook."""
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    print_table(result, console, scores, waiting)
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
            f"Every sentence: {command} grade {folder} {result.assignment} --show LEARNER, /EXERCISE or "
            f"LEARNER/EXERCISE\n"
            f"What the class believes: {command} report {folder} {result.assignment}"
        ),
        soft_wrap=True,
    )


def print_table(
    result: ClassResult,
    console: Any,
    scores: Mapping[str, "AssignmentScore"] | None = None,
    waiting: Mapping[str, int] | None = None,
) -> None:
    """The table, every problem, whose answer cells are not as they were released, who is missing, and what is to be
    graded by hand."""
    from rich.text import Text

    console.print(class_table(result, scores, console.width))
    console.print(Text(legend(result), style="dim"))
    for learner in result.learners:
        if learner.problem:
            console.print(
                Text.assemble((f"{inert(learner.name)}: ", "bold"), (inert(learner.problem), "red")), soft_wrap=True
            )
    mentioned = {learner.problem for learner in result.learners}
    for problem in result.problems:
        if problem not in mentioned:
            console.print(Text(inert(problem), style="red"), soft_wrap=True)
    for learner in result.learners:
        if learner.cells.sentence and not learner.submitted_by:
            line = Text.assemble((inert(learner.name), "bold"), " ", (inert(learner.cells.sentence), "yellow"))
            console.print(line, soft_wrap=True)
    for line in refused_lines(result):
        console.print(Text(line, style="red"), soft_wrap=True)
    for line in filter(None, (missing_line(result, scores or {}), waiting_line(result, waiting or {}))):
        console.print(Text(line), soft_wrap=True)


def refused_lines(result: ClassResult) -> list[str]:
    """Whose files `gpubook collect` refused, and why: these have submitted something."""
    graded = {learner.name for learner in result.learners}
    lines = []
    for who, why in result.refused.items():
        beside = " (what else they submitted counts)" if who in graded else ""
        lines.append(f"{inert(who)}: refused when it was collected, {inert(why)}{beside}")
    return lines


def missing_line(result: ClassResult, scores: Mapping[str, "AssignmentScore"]) -> str:
    """Who of the roster has submitted nothing, counted and by name; "" for nobody."""
    there = {learner.name for learner in result.learners}
    there |= result.refused.keys()
    gone = [who for who, score in scores.items() if not score.graded and who not in there]
    if not gone:
        return ""
    names = [f"{name} ({who})" if (name := _name(scores, who)) else who for who in sorted(gone)]
    return f"Nothing submitted by {len(gone)} of {len(scores)} in the gradebook: {'; '.join(map(inert, names))}"


def waiting_line(result: ClassResult, waiting: Mapping[str, int]) -> str:
    """How many answers to which question are to be graded by hand; "" for none."""
    if not waiting:
        return ""
    count = sum(waiting.values())
    ids = list(result.exercises)
    called = dict(zip(ids, short(ids), strict=True))
    each = ", ".join(f"{number} of {inert(called.get(name, name))}" for name, number in waiting.items())
    answers = f"{count} answer{'' if count == 1 else 's'}"
    return f"{answers} to be graded by hand, at /gpubook/by_hand of the course's JupyterLab: {each}"


def print_changes(
    changes: Sequence[Change],
    console: Any = None,
    late: Sequence[LateChange] = (),
    entries: Sequence[EntryChange] = (),
) -> None:
    """Who has other points, or another kind of verdict, or loses other points for being late, or has other grades by
    hand or files, than after the run before, from what to what and why; nothing where nobody has."""
    from rich.console import Console
    from rich.text import Text

    count = len(changes) + len(late) + len(entries)
    if not count:
        return
    console = console or Console()
    learners = [[row.learner for row in changes], [row.learner for row in late], [row.learner for row in entries]]
    who = len(set(chain.from_iterable(learners)))
    head = f"{count} result{'' if count == 1 else 's'} of {who} changed since the run before:"
    console.print(Text(head, style="bold"))
    for change in sorted(changes, key=lambda late_change: (late_change.after.exercise, late_change.learner)):
        before, after = change.before, change.after
        of = "" if before.max_points == after.max_points else f" of {before.max_points:g}"
        console.print(
            Text.assemble(
                "  ",
                (inert(change.learner), "bold"),
                " ",
                (inert(after.exercise), "cyan"),
                f"  {before.points:g}{of} → {after.points:g} of {after.max_points:g} ({before.kind} → {after.kind})",
                "  submitted again" if change.resubmitted else "",
                _because(change.why),
            ),
            soft_wrap=True,
        )
    for late_change in sorted(late, key=lambda late_change: late_change.learner):
        lost = f"  {0 - late_change.before:g} → {0 - late_change.after:g} points"  # and no -0
        line = Text.assemble("  ", (inert(late_change.learner), "bold"), " ", ("late", "cyan"), lost)
        console.print(line + Text(_because(late_change.why)), soft_wrap=True)
    for entry in sorted(entries, key=lambda entry: (entry.learner, entry.subject)):
        line = Text.assemble("  ", (inert(entry.learner), "bold"), " ", (inert(entry.subject), "cyan"))
        console.print(line + Text(f"  {inert(entry.what)}"), soft_wrap=True)


def _because(why: str) -> str:
    return f"  (changed: {why})" if why else ""


def _from_here(folder: Path) -> Path:
    """A folder as one types it: relative, where it lies below the current one."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def inert(text: str) -> str:
    """A name or a problem without control characters: a folder's name may hold what a terminal obeys."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def show(result: ClassResult, what: str, console: Any = None, read: Read | None = None) -> None:
    """The sentences of LEARNER, of LEARNER/EXERCISE, or of all learners on /EXERCISE (its id, or its name or number in
    the table's legend), each with the answer as it was read; KeyError lists the known ones."""
    from rich.console import Console

    console = console or Console()
    name, _, exercise = what.partition("/")
    ids = list(result.exercises)
    also = dict(zip(short(ids), ids, strict=True)) | {str(n): one for n, one in enumerate(ids, start=1)}
    learners = [result.learner(name)] if name or not exercise else result.learners
    chosen = [
        (one, [r for r in one.results if exercise in ("", r.exercise) or r.exercise == also.get(exercise)])
        for one in learners
    ]
    if exercise and not any(results for _, results in chosen):
        known = ", ".join(ids if not name else [r.exercise for r in learners[0].results]) or "none"
        raise KeyError(f"{name or 'nobody'} has no result for {exercise!r} in {result.assignment}; known: {known}")
    for learner, results in chosen:
        console.print(sentences(learner, results, read), soft_wrap=True)


def sentences(learner: Learner, chosen: list[Result], read: Read | None = None) -> Any:
    """Points and sentence of each result, as rich text."""
    from rich.text import Text

    lines = (
        [Text.assemble((inert(learner.name), "bold"), f": {learner.points:g} points")]
        if not learner.problem
        else [Text.assemble((inert(learner.name), "bold"), f": {inert(learner.problem)}")]
    )
    if learner.cells.sentence:
        lines.append(Text.assemble((inert(learner.name), "bold"), " ", (inert(learner.cells.sentence), "yellow")))
    for r in chosen:
        answer = inert(" ".join(read(learner.name, r).split())) if read else ""
        shown = f"  [{answer}]" if answer else ""
        lines.append(
            Text.assemble((f"{r.points:g}/{r.max_points:g} ", "bold"), (r.exercise, "cyan"), shown, f"  {r.say}")
        )
    return Text("\n").join(lines)
