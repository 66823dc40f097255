"""`gpubook start`, `whoami` and `lab`: a learner's own copy of the book."""

from pathlib import Path

import click

from .terminal import echo

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--reset", metavar="CHAPTER", multiple=True, help="Bring a fresh copy of CHAPTER; yours is backed up.")
def start(folder: Path, reset: tuple[str, ...]) -> None:
    """Create your own copy of the book in FOLDER, or update it.

    What you wrote stays. Close notebooks that are open in JupyterLab before.
    """
    from ..learner import study, trust

    report = study.start(folder, reset)
    trust.keep(report.before)
    for line in report.lines():
        echo(line)
    updated = f" and {len(report.updated)} updated" if report.updated else ""
    echo(f"{len(report.new)} new files{updated} in {folder}. Open it with: gpubook lab {folder}")


@click.command()
@click.argument("learner")
@click.option("--folder", type=FOLDER, default=Path("."), help="Your copy of the book.  [default: current folder]")
def whoami(learner: str, folder: Path) -> None:
    """Write your gradebook id into your notebooks.

    LEARNER is that id, which courses need whose exercises have variants.
    """
    from ..learner import study

    for path in study.whoami(folder, learner):
        echo(f"{path}: {learner}")


@click.command()
@click.argument("folder", type=FOLDER, default=Path("study"))
@click.option("--port", type=int, help="The server's port.")
@click.option("--token", help="The server's token.  [default: random]")
@click.option("--browser/--no-browser", default=True, help="Open a browser window.")
def lab(folder: Path, port: int | None, token: str | None, browser: bool) -> None:
    """Open the book in JupyterLab, where you last answered, or at its start page.

    In your own copy FOLDER (default: ./study), which is created or updated first.
    """
    from ..learner import jupyterlab, study, trust

    report = study.start(folder)
    trust.keep(report.before)
    for line in report.lines():
        echo(line)
    note = study.without_figures()
    jupyterlab.serve(folder.resolve(), port=port, token=token, browser=browser, note=note)
