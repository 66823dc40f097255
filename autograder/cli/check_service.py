"""`gpubook course serve`, `tokens` and `attempts`: the check service of a course; and a learner's `gpubook token`."""

from __future__ import annotations

import logging
import os
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from .terminal import echo

FOLDER = click.Path(file_okay=False, path_type=Path)
PORT = 8765
DAYS = 200


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--port", type=click.IntRange(0, 65535), help=f"The port.  [default: the hub's, or {PORT}]")
@click.option("--host", help="The address to listen at.  [default: the hub's, or 127.0.0.1]")
@click.option("--prefix", help="A path before /check, beside that of c.CheckService.url.  [default: the hub's, or /]")
@click.option("--workers", type=click.IntRange(1), help="Answers judged in parallel.  [default: one per core]")
@click.option("--unsafe", is_flag=True, help="Run code without a sandbox if the system does not support one.")
def serve(
    folder: Path, port: int | None, host: str | None, prefix: str | None, workers: int | None, unsafe: bool
) -> None:
    """Judge learners' answers to your own exercises before the deadline.

    Notebooks ask by token: of JupyterHub, where this runs as its service, or of `gpubook course tokens`.
    """
    import asyncio

    from ..course.layout import read_config
    from ..course.service import hub
    from ..course.service.desk import Desk
    from ..course.service.server import serve as serving
    from ..course.service.settings import CheckService

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    logging.getLogger("gpubook.service").setLevel(logging.INFO)
    folder = folder.resolve()
    ours = urlsplit(os.environ.get("JUPYTERHUB_SERVICE_URL", "") if hub.configured() else "")
    prefix = prefix or (os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/") if hub.configured() else "/")
    host = host or ours.hostname or "127.0.0.1"
    port = port if port is not None else ours.port or PORT
    service = CheckService.of(read_config(folder))  # a folder that is not a course is told before anything listens
    paths = tuple(filter(None, (prefix, service.path)))
    who = "JupyterHub's and your tokens" if hub.configured() else "the tokens of `gpubook course tokens`"

    def listening(number: int) -> None:
        echo(f"At http://{host}:{number}{prefix} for {who}; starting.")
        echo(
            f"Notebooks ask at {service.url}; a proxy may pass its path on, or strip it."
            if service.url
            else "c.CheckService.url in nbgrader_config.py is empty: no notebook asks here."
        )

    def ready(desk: Desk) -> None:
        served = desk.generations.catalogue.by_assignment
        for name, exercises in served.items():
            echo(f"{name}: {', '.join(exercises)}")
        if not served:
            echo("No released assignment asks an exercise of your own yet; it is served once one does.")
        echo("Serving. Ctrl-C ends it.")

    def reached(fault: str) -> None:
        if fault:
            echo(f"Note: {fault}.", err=True)
        elif service.url:
            echo(f"Reached at {service.url}, where notebooks ask.")

    make = partial(Desk, folder, unsafe=unsafe, workers=workers)
    at: dict[str, Any] = {"host": host, "port": port, "paths": paths, "hub": hub.configured(), "address": service.url}
    asyncio.run(serving(folder, make, **at, listening=listening, ready=ready, reached=reached))
    echo("Stopped; the attempts are kept.")


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("learners", nargs=-1)
@click.option(
    "--days", type=click.FloatRange(0, min_open=True), default=DAYS, show_default=True, help="For how long they hold."
)
@click.option("--renew", is_flag=True, help="Replace tokens that hold still, such as a stolen one.")
@click.option("--revoke", is_flag=True, help="Withdraw the tokens of LEARNERS, and issue none.")
@click.option("--output", type=click.Path(path_type=Path), help="The file.  [default: tokens.csv in FOLDER]")
def tokens(
    folder: Path, learners: tuple[str, ...], days: float, renew: bool, revoke: bool, output: Path | None
) -> None:
    """Write tokens for the check service, one for each learner.

    For LEARNERS, or for everybody in the gradebook who has none. The course keeps digests only: the file is the one
    place where the tokens are.
    """
    from ..course import gradebook, spreadsheet
    from ..course.class_results.results_table import inert
    from ..course.layout import read_config
    from ..course.service.tokens import CourseTokens

    folder = folder.resolve()
    read_config(folder)
    store = CourseTokens(folder)
    if revoke or renew:
        if not learners:
            raise click.UsageError(f"--{'revoke' if revoke else 'renew'}: name the learners")
        if revoke:
            for learner in learners:
                echo(f"{inert(learner)}: {store.revoke(learner)} withdrawn")
            return
    made = store.issue(learners or gradebook.learners(folder), days=days, renew=renew)
    if not made:
        raise click.ClickException(
            "no learner is without a token: name new ones, import a roster (`nbgrader db student import`), or --renew"
        )
    output = output or folder / "tokens.csv"
    rows = [[spreadsheet.inert(learner), token] for learner, token in made.items()]
    spreadsheet.write(spreadsheet.SheetContents([["id", "token"], *rows]), output)
    echo(f"Wrote {len(made)} tokens to {output}. Each learner runs, where the notebook is: gpubook token TOKEN")


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("learner", required=False)
@click.option("--again", metavar="LEARNER/EXERCISE", help="Give a learner all attempts at an exercise again.")
@click.option("--csv", "output", type=click.Path(path_type=Path), help="Write a CSV file instead.")
def attempts(folder: Path, learner: str | None, again: str | None, output: Path | None) -> None:
    """Show the attempts that learners have used at the check service.

    Of everybody, or of LEARNER.
    """
    from ..course import spreadsheet
    from ..course.class_results.results_table import inert
    from ..course.layout import read_config
    from ..course.service.attempts import Ledger, used

    folder = folder.resolve()
    read_config(folder)
    if again:
        who, _, exercise = again.rpartition("/")
        with Ledger(folder) as ledger:
            count = ledger.forget(who, exercise)
        echo(f"{inert(who)}: {count} attempts at {inert(exercise)} given back")
        return
    rows = [one for one in used(folder) if learner in (None, one.learner)]
    if not rows:
        raise click.ClickException("no attempt was made yet" + (f" by {inert(learner)}" if learner else ""))
    table = [
        [one.learner, one.exercise, str(one.count), one.kind, "yes" if one.right else "no", one.time] for one in rows
    ]
    head = ["learner", "exercise", "attempts", "last verdict", "right", "last asked"]
    if output is not None:
        cells = [[spreadsheet.inert(cell) for cell in row] for row in table]
        spreadsheet.write(spreadsheet.SheetContents([head, *cells]), output)
        echo(f"Wrote {output}")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(*head, box=None, pad_edge=False)
    for row in table:
        shown.add_row(*(Text(inert(cell)) for cell in row))
    Console().print(shown)


@click.command()
@click.argument("token", required=False)
@click.option("--folder", type=FOLDER, default=Path("."), help="Where the notebook is.  [default: current folder]")
def token(token: str | None, folder: Path) -> None:
    """Keep your TOKEN for a course's check service; it is asked for if you leave it out.

    It is kept in your account's configuration, for the address that the course's exercises.json names, and is sent
    nowhere else.
    """
    from ..learner import check_service

    token = token or click.prompt(f"Your token for {check_service.address_in(folder)}", hide_input=True)
    address = check_service.keep_token(folder, token)
    echo(f"Kept for {address}: `check` in the notebook asks there from now on.")
