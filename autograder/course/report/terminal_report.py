"""A report in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..class_results.results_table import inert, print_table, short
from . import beliefs as believed
from . import copies as copied
from .beliefs import Belief, Unexplained
from .copies import Copy
from .of_class import AssignmentReport, Term, histogram, summary

MOST_NAMES = 12  # learners in one line
BAR = 40  # letters of the longest bar of a histogram
COLUMNS = {"partial": "part", "mistake": "named", "wrong": "other", "unread": "unread", "crashed": "crash",
           "empty": "empty", "lost": "lost", "failed": "failed", "waiting": "hand"}  # fmt: skip
WIDEST = 20  # letters of an exercise's name


def show(found: AssignmentReport | Term, console: Any, *, table: bool = True) -> None:
    """A report, or that on a term; `table` says whether with the table of the learners."""
    if isinstance(found, Term):
        print_term(found, console, table=table)
    else:
        print_report(found, console, table=table)


def print_report(report: AssignmentReport, console: Any, *, table: bool = True) -> None:
    """All of it: the learners' table, the exercises, the mistakes, what nobody explains, whose work is alike."""
    if table:
        print_table(report.result, console, report.scores, report.waiting)
        console.print()
    print_items(report, console)
    called = _called(report)
    _print_beliefs(console, called, report.beliefs, report)
    _print_unexplained(console, called, report.unexplained)
    _print_borrowed(console, called, report)
    _print_copies(console, called, report.copies)
    _print_histogram(console, report)
    if report.unkept:
        _head(console, "Not in this report")
        _say(console, f"The answers of {report.unkept} learners: no run has kept them; grade them again.")
    if report.removed.learners:
        _say(console, report.removed.sentence(report.points.values()))


def print_items(report: AssignmentReport, console: Any) -> None:
    """The exercises: how many are right, and what the others are."""
    from rich.table import Table
    from rich.text import Text

    seen = [key for key in COLUMNS if any(item.outcomes.get(key) for item in report.items)]
    table = Table(title=Text(f"{report.name}: exercises"), box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("exercise", no_wrap=True, overflow="ellipsis", max_width=WIDEST)
    for name in ("of", "right", "mean", "discr", *(COLUMNS[key] for key in seen)):
        table.add_column(name, justify="right", no_wrap=True)
    called = _called(report)
    for item in report.items:
        low = item.discrimination is not None and item.discrimination < 0
        counts = [Text(str(item.outcomes[key]) if item.outcomes.get(key) else "", style="dim") for key in seen]
        discrimination = "–" if item.discrimination is None else f"{item.discrimination:.2f}"
        table.add_row(
            str(item.number),
            Text(called[item.exercise], style="cyan"),
            f"{item.max_points:g}",
            _share(item.right),
            _share(item.mean),
            Text(discrimination, style="yellow" if low else ""),
            *counts,
        )
    console.print(table)
    _say(
        console,
        "right, mean: in percent. discr: the correlation with the points on all others; below 0, look at "
        "the question. named, other: wrong by a mistake with a name, and otherwise",
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f}"


def _called(report: AssignmentReport) -> dict[str, str]:
    ids = list(report.result.exercises)
    return dict(zip(ids, short(ids), strict=True))


def _print_beliefs(console: Any, called: dict[str, str], beliefs: Sequence[Belief], report: AssignmentReport) -> None:
    if not beliefs:
        return
    from rich.text import Text

    _head(console, "What the class believes: mistakes with a name, by how many make them")
    graded = {item.exercise: item.graded for item in report.items}
    several = [belief for belief in beliefs if len(belief.learners) > 1]
    for belief in sorted(several, key=lambda belief: -len(belief.learners)):
        count = f"{len(belief.learners):4} of {graded[belief.exercise]} "
        did = f"  [{belief.did}]" if belief.did else ""
        console.print(
            Text.assemble((count, "bold"), (called[belief.exercise], "cyan"), f"  {_line(belief.say)}", (did, "dim")),
            soft_wrap=True,
        )
    if rare := len(beliefs) - len(several):
        _say(console, f"   {'and ' if several else ''}{rare} that one learner each makes: in --html and --csv")


def _print_unexplained(console: Any, called: dict[str, str], found: Sequence[Unexplained]) -> None:
    if not found:
        return
    from rich.text import Text

    _head(console, "Wrong answers that several gave and no mistake explains: declare them")
    for group in found:
        gave = f"gave {_line(group.shown)}" if group.shown else "were told the same"
        relation = f", {group.relation}" if group.relation else ""
        head = Text.assemble(
            (f"{len(group.learners):4} ", "bold"), f"{gave}{relation}  ", (called[group.exercise], "cyan")
        )
        console.print(head, soft_wrap=True)
        _say(console, f"     {_names(group.learners)}; told: {_line(group.told)}")
        if group.declaration:
            console.print(Text(f"     {_line(group.declaration)}", style="green"), soft_wrap=True)


def _print_borrowed(console: Any, called: dict[str, str], report: AssignmentReport) -> None:
    if not report.borrowed:
        return
    _head(console, "Right for somebody else's numbers")
    for learner, owner, times, total in believed.pairs(report.borrowed):
        of = f"{times} of {total} such answers" if total > 1 else "the one such answer"
        _say(console, f"  {inert(report.called(learner))}: {of} right for the numbers of {inert(report.called(owner))}")
    for answer in report.borrowed:
        if not answer.owners:
            _say(
                console,
                f"  {inert(report.called(answer.learner))}: {called[answer.exercise]}, for nobody's in this course",
            )


def _print_copies(console: Any, called: dict[str, str], found: Sequence[Copy]) -> None:
    if not found:
        _say(console, f"No work is the same. {copied.LIMIT}")
        return
    _head(console, "The same work, names and layout aside: a reason to look, and no proof")
    for piece in found:
        _say(
            console, f"  {called[piece.exercise]}: {how_alike(piece)} ({len(piece.learners)}): {_names(piece.learners)}"
        )
    _say(console, f"  {copied.LIMIT}")
    for piece, other, times in copied.pairs(found):
        _say(console, f"  {inert(piece)} and {inert(other)} have {times} pieces of work in common")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def how_alike(one: Copy) -> str:
    """What a group of copies is, in words."""
    share = "the same" if one.share >= 1 else f"alike by {100 * one.share:.0f} % or more"
    if one.book:
        return "the solution" if one.share >= 1 else f"nearly the solution, {share}"
    return f"{share}; so many have it that it may be the usual way to write it" if one.usual else share


def _print_histogram(console: Any, report: AssignmentReport) -> None:
    points, most = list(report.points.values()), report.result.max_points
    bins = histogram(points, most)
    _head(console, f"Scores of {len(points)}: {summary(points, most)}")
    largest = max((number for _, _, number in bins), default=0) or 1
    for start, end, number in bins:
        _say(console, f"  {start:5g} to {end:<5g} {'█' * round(BAR * number / largest)} {number}")


def print_term(term: Term, console: Any, *, table: bool = True) -> None:
    """A term: the assignments, what recurs, the learners over all of them, and the exercises to look at."""
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(f"{term.course}: {_counted(len(term.reports), 'assignment')}"), box=None, pad_edge=False)
    made.add_column("assignment", no_wrap=True)
    for name in ("graded", "missing", "of", "mean", "mean %", "median", "by hand"):
        made.add_column(name, justify="right", no_wrap=True)
    for report in term.reports:
        made.add_row(Text(report.name), *assignment_row(report))
    console.print(made)
    if table:
        _print_learners(term, console)
    if term.recurring:
        _head(console, "Misconceptions, by how many learners had them in the term")
        for name, did, learners, times in term.recurring:
            _say(console, f"{learners:4} learners, {times} answers  {name}: You {did}.")
    _head(console, "Exercises to look at: few are right, or those who know the rest fail")
    for name, item in hardest(term):
        _say(
            console,
            f"  {name}/{item.exercise}: {_share(item.right)} % right, discrimination "
            f"{'–' if item.discrimination is None else f'{item.discrimination:.2f}'}",
        )
    _print_together(term, console)


def assignment_row(report: AssignmentReport) -> list[str]:
    """The numbers of an assignment in the table of a term."""
    from statistics import fmean, median

    points, most = list(report.points.values()), report.result.max_points
    mean, middle = (f"{fmean(points):.4g}", f"{median(points):.4g}") if points else ("–", "–")
    share = f"{100 * fmean(points) / most:.0f}" if points and most else "–"
    waits = sum(report.waiting.values())
    return [str(len(points)), str(len(report.missing)), f"{most:g}", mean, share, middle, str(waits or "")]


HARDEST = 10  # exercises of a term that are shown


def hardest(term: Term) -> list[tuple[str, Any]]:
    """The exercises of a term that a teacher looks at first: with their assignments, the worst first."""
    rows = [(report.name, item) for report in term.reports for item in report.items if item.right is not None]
    return sorted(rows, key=lambda row: (row[1].right or 0.0) + min(0.0, row[1].discrimination or 0.0))[:HARDEST]


def _print_learners(term: Term, console: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    most = [report.result.max_points for report in term.reports]
    table = Table(box=None, pad_edge=False)
    for name in ("learner", "name"):
        table.add_column(name, no_wrap=True, overflow="ellipsis", max_width=24)
    for name in (*(report.name for report in term.reports), "total", "%"):
        table.add_column(Text(name), justify="right", no_wrap=True)
    console.print()
    for who, points in sorted(term.table.items(), key=lambda row: (term.names[row[0]].casefold(), row[0])):
        total = sum(value or 0.0 for value in points)
        cells = ["–" if value is None else f"{value:.4g}" for value in points]
        name = term.names[who] if term.names[who] != who else ""
        table.add_row(Text(inert(who)), Text(inert(name)), *cells, f"{total:.4g}", _share(total / (sum(most) or 1)))
    table.add_section()
    table.add_row("of", "", *(f"{value:g}" for value in most), f"{sum(most):g}", "")
    console.print(table)


def _print_together(term: Term, console: Any) -> None:
    together = copied.pairs([who for report in term.reports for who in report.copies])
    taken = believed.pairs([who for report in term.reports for who in report.borrowed])
    if together or taken:
        _head(console, "Together, over the term: a reason to look, and no proof")
    for who, other, times in together:
        _say(console, f"  {inert(term.called(who))} and {inert(term.called(other))}: {times} pieces of work in common")
    for learner, owner, times, total in taken:
        if times > 1:
            _say(
                console,
                f"  {inert(term.called(learner))}: {times} of {total} answers right for the numbers of "
                f"{inert(term.called(owner))}",
            )


def _head(console: Any, text: str) -> None:
    from rich.text import Text

    console.print()
    console.print(Text(text, style="bold"))


def _say(console: Any, text: str) -> None:
    from rich.text import Text

    console.print(Text(text), soft_wrap=True)


def _line(text: str) -> str:
    return inert(" ".join(text.split()))


def _names(learners: Iterable[str]) -> str:
    them = list(map(inert, learners))
    more = f" and {len(them) - MOST_NAMES} more" if len(them) > MOST_NAMES else ""
    return ", ".join(them[:MOST_NAMES]) + more
