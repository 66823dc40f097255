"""`gpubook course graders`: who grades what by hand, how far each of them is, and how far they agree."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .parameters import FOLDER
from .terminal import echo

if TYPE_CHECKING:
    from ..course.by_hand.second_marks import GraderAgreement

MOST_LISTED = 10  # answers on which two graders are farthest apart


@click.command("graders")
@click.argument("folder", type=FOLDER)
@click.argument("name", required=False)
@click.option(
    "--grader", "graders", multiple=True, metavar="NAME[=N]", help="A grader, with N times the share (repeatable)."
)
@click.option(
    "--by",
    "way",
    type=click.Choice(["question", "learner", "evenly"]),
    default="evenly",
    show_default=True,
    help="How the answers are shared.",
)
@click.option("--remove", is_flag=True, help="Nobody has a share any more.")
@click.option("--twice", metavar="N|N%", help="Have a sample of each question's answers graded a second time.")
@click.option("--agreement", is_flag=True, help="Show how far the two graders of the sample agree.")
def course_graders(
    folder: Path,
    name: str | None,
    graders: tuple[str, ...],
    way: str,
    remove: bool,
    twice: str | None,
    agreement: bool,
) -> None:
    """Share the grading by hand of NAME, or of all assignments.

    The names are those that the server of /gpubook/by_hand has for its users; each sees the own queue first. Without an
    option, show the shares and how far each grader is.
    """
    from ..course.banks import checked_name
    from ..course.by_hand import shares
    from ..course.layout import read_config

    folder = folder.resolve()
    read_config(folder)
    name = checked_name(name) if name else ""
    if sum([bool(graders), remove, twice is not None, agreement]) > 1:
        raise click.UsageError("one of --grader, --remove, --twice and --agreement was expected")
    if (twice is not None or agreement) and not name:
        raise click.UsageError("--twice and --agreement need a NAME: they are about one assignment")
    if graders or remove:
        shares.give(folder, name, shares.GradingShares(way, _weights(graders)) if graders else None)
    if twice is not None:
        _draw(folder, name, twice)
    elif agreement:
        _show_agreement(folder, name)
    else:
        _show(folder, name)


def _weights(graders: tuple[str, ...]) -> dict[str, int]:
    weights = {}
    for text in graders:
        grader, sign, weight = text.partition("=")
        if not grader.strip() or (sign and not weight.isdecimal()):
            raise click.BadParameter(f"{text!r}: expected NAME or NAME=N, e.g. ann=2", param_hint="--grader")
        weights[grader.strip()] = int(weight) if sign else 1
    return weights


def _show(folder: Path, name: str) -> None:
    from ..course.by_hand import questions, shares
    from ..course.by_hand.answers import answers
    from ..course.class_results.results_table import inert

    dealt = shares.of(folder, name)
    if dealt is None:
        echo("Nobody has a share of the grading.")
    else:
        echo(f"Shared {dealt.way}: {shares.WAYS[dealt.way]}.")
    if not name:
        for grader, weight in dealt.weights.items() if dealt else ():
            echo(f"{inert(grader)}: {weight} of {sum(dealt.weights.values())}" if dealt else "")
        return
    answered = [(question, answers(folder, question)) for question in questions.questions(folder, name)]
    if dealt is not None and dealt.way == "question":
        for number, (question, _) in enumerate(answered):
            echo(f"{inert(dealt.grader_of(number, 0))}: {question.exercise}")
    for row in shares.progress(folder, name, answered):
        share = f"a share of {row.answers}, {row.waiting} to be graded, " if row.answers else ""
        echo(f"{inert(row.grader)}: {share}{row.graded} graded")


def _draw(folder: Path, name: str, twice: str) -> None:
    from ..course.by_hand import questions, second_marks
    from ..course.by_hand.answers import answers

    percent = twice.removesuffix("%")
    if not percent.isdecimal() or (twice.endswith("%") and int(percent) > 100):
        raise click.BadParameter(f"{twice!r}: expected a number of answers or a share, e.g. 10%", param_hint="--twice")
    for question in questions.questions(folder, name):
        written = sum(answer.state != "empty" for answer in answers(folder, question))
        count = math.ceil(written * int(percent) / 100) if twice.endswith("%") else int(percent)
        sample = second_marks.draw(folder, question, count)
        echo(
            f"{question.exercise}: {len(sample.learners)} of {written} answers, to be graded again at "
            f"/gpubook/by_hand/{name}/{question.exercise}/second"
        )


def _show_agreement(folder: Path, name: str) -> None:
    from ..course.by_hand import questions, second_marks
    from ..course.by_hand.answers import answers
    from ..course.class_results.results_table import inert

    for question in questions.questions(folder, name):
        sample = second_marks.load(folder, question)
        if not sample.learners:
            echo(f"{question.exercise}: no sample is graded twice; --twice 10% has one")
            continue
        made = second_marks.agreement(sample, answers(folder, question), question)
        echo(_sentence(question, made))
        apart = sorted(made.pairs, key=lambda pair: -abs(pair.second - pair.first))
        for pair in apart[:MOST_LISTED]:
            if pair.first != pair.second:
                first, second = map(_by, pair.by)
                echo(f"  {inert(pair.learner)}: {pair.first:g}{first}, {pair.second:g}{second}")


def _by(grader: str) -> str:
    from ..course.class_results.results_table import inert

    return f" by {inert(grader)}" if grader else ""


def _sentence(question: Any, made: GraderAgreement) -> str:
    head = f"{question.exercise}: {len(made.pairs)} of {made.asked_for} graded twice"
    if not made.pairs:
        return head
    kappa = "not defined, both always give the same" if math.isnan(made.kappa) else f"{made.kappa:.2f}"
    return (
        f"{head}; {100 * made.same:.0f} % the same points, Cohen's kappa {kappa}, the second gives "
        f"{made.difference:+.2f} of {question.max_score:g} points on average, {made.distance:.2f} apart"
    )
