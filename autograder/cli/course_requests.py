"""`gpubook course requests`: learners' requests for another look at a grade, and the answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .parameters import FILE, FOLDER, TIME, assignment_name
from .terminal import echo

if TYPE_CHECKING:
    from ..course.regrades.regrade_requests import RegradeRequest
    from ..course.terms.deadline_time import Moment


@click.group("requests")
def course_requests() -> None:
    """Take and answer learners' requests for another look at a grade.

    They come by the check service, or as the text that feedback pages have where `c.RegradeRequests.offered` is set;
    the answers stand in the next feedback.
    """


@course_requests.command("list")
@click.argument("folder", type=FOLDER)
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="Those that are answered, too.")
def requests_list(folder: Path, name: str | None, every: bool) -> None:
    """List the open requests of NAME, or of all assignments."""
    from ..course.banks import checked_name
    from ..course.layout import read_config
    from ..course.regrades import regrade_requests

    folder = folder.resolve()
    read_config(folder)
    wanted = checked_name(name) if name else None
    rows = [row for row in regrade_requests.of_all(folder) if wanted in (None, row[0])]
    shown = [(assignment, request) for assignment, request in rows if every or request.open]
    for assignment, request in shown:
        for line in _lines(assignment, request):
            echo(line)
    if not shown:
        echo("No request is open." if not every else "Nobody has asked for another look.")


@course_requests.command("add")
@click.argument("folder", type=FOLDER)
@click.argument("files", type=FILE, nargs=-1)
@click.option("--for", "about", metavar="NAME/LEARNER/EXERCISE", help="What is asked about, without a file.")
@click.option("--reason", help="What the learner says, with --for.")
def requests_add(folder: Path, files: tuple[Path, ...], about: str | None, reason: str | None) -> None:
    """Enter requests: FILES with the text of a feedback page, filled in, or one that you type.

    A file counts with the code of the learner's own page only. What you type is taken as it is.
    """
    from ..course.layout import read_config
    from ..course.regrades import regrade_requests, request_text

    folder = folder.resolve()
    if bool(files) == bool(about) or bool(about) != bool(reason):
        raise click.UsageError("either files were expected, or --for with --reason")
    if about and reason:
        name, learner, exercise = _parts(about)
        made = regrade_requests.ask(folder, name, learner, exercise, reason)
        echo(f"Request {made.number} of {name}: {_about(made)}")
        if not regrade_requests.RegradeRequests.of(read_config(folder)).offered:
            shown = "feedback pages show this one and its answer, and offer none"
            echo(f"Note: c.RegradeRequests.offered in nbgrader_config.py is not set: {shown}.", err=True)
        return
    refused = 0
    for path in files:
        try:
            text = request_text.read_file(folder, path)
            made = regrade_requests.ask(folder, text.assignment, text.learner, text.exercise, text.reason)
        except ValueError as error:
            refused += 1
            echo(f"Refused: {_plain(str(error))}", err=True)
        else:
            echo(f"Request {made.number} of {text.assignment}: {_about(made)}")
    if refused:
        raise SystemExit(1)


@course_requests.command("answer")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.argument("number", type=int)
@click.argument("text")
@click.option("--by", default="", help="Who answers.")
def requests_answer(folder: Path, name: str, number: int, text: str, by: str) -> None:
    """Answer request NUMBER of the assignment NAME; TEXT is Markdown, for the learner.

    Change the grade first: the answer says what it was and what it is.
    """
    from ..course.regrades import regrade_requests

    made = regrade_requests.answer(folder, name, number, text, by)
    echo(f"{_about(made)}: {made.points}. Into the feedback: gpubook course feedback {folder} {name}")


@course_requests.command("until")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.argument("time", type=TIME, required=False)
def requests_until(folder: Path, name: str, time: Moment | None) -> None:
    """Take requests about NAME until TIME; without a TIME, without an end."""
    from ..course.layout import read_config, released
    from ..course.regrades import regrade_requests

    read_config(folder)
    released(folder, name)
    regrade_requests.take_until(folder, name, time.utc if time is not None else None)
    echo(f"Requests about {name} are taken " + (f"until {time}" if time is not None else "without an end"))


def request_lines(folder: Path, name: str, learner: str, exercise: str) -> list[str]:
    """What was asked about an exercise of a learner, and answered."""
    from ..course.regrades import regrade_requests

    requests = regrade_requests.read(folder, name).of(learner, exercise)
    return [line for request in requests for line in _lines(name, request)]


def _lines(name: str, request: RegradeRequest) -> list[str]:
    state = (
        f"answered {request.answered} UTC{f' by {request.by}' if request.by else ''}" if request.answered else "open"
    )
    head = f"request {request.number} of {name}: {_about(request)}, {request.at} UTC, {request.points}; {state}"
    answer = [f"  answer: {line}" for line in request.answer.splitlines()]
    reason = [f"  {line}" for line in request.reason.splitlines()]
    return [_plain(line) for line in (head, *reason, *answer)]


def _about(request: RegradeRequest) -> str:
    return _plain(f"{request.learner}/{request.exercise}")


def _plain(text: str) -> str:
    from ..course.class_results.results_table import inert

    return inert(text)


def _parts(about: str) -> tuple[str, str, str]:
    parts = about.split("/")
    if len(parts) != 3 or not all(parts):
        raise click.BadParameter(f"{about!r}: expected NAME/LEARNER/EXERCISE", param_hint="--for")
    return parts[0], parts[1], parts[2]
