"""`gpubook course data` and `forget`: what is held about one learner, to hand out or to remove."""

from __future__ import annotations

from pathlib import Path

import click

from .parameters import FOLDER
from .terminal import echo, inert


@click.command("data")
@click.argument("folder", type=FOLDER)
@click.argument("learner")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The archive.  [default: LEARNER.zip]")
def course_data(folder: Path, learner: str, out: Path | None) -> None:
    """Write all that the course holds about LEARNER into a zip archive.

    Submissions, feedback, the gradebook's rows, and what is kept in the course's own files. Copies with keys or hidden
    criteria in them are left out, so that it can be handed out.
    """
    from ..course.people import learner_record

    record = learner_record.of(folder, learner)
    path = out or Path(f"{learner}.zip")
    if path.exists():
        raise click.ClickException(f"{path} already exists; --out names another file")
    names = learner_record.pack(record, path)
    echo(f"{path}: {len(names)} files; {record.summary}")


@click.command("forget")
@click.argument("folder", type=FOLDER)
@click.argument("learner")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--no-statistics", is_flag=True, help="Keep no counts of points and kinds of answers either.")
def course_forget(folder: Path, learner: str, yes: bool, no_statistics: bool) -> None:
    """Remove all that the course holds about LEARNER, for good.

    Gradebook, folders, and the course's own files; counts of points and of kinds of answers stay, without the id. Files
    that you made yourself (exports, downloads) are named, and stay. `gpubook course data` writes a copy first.
    """
    from ..course.people import learner_record

    record = learner_record.of(folder, learner)
    if not yes:
        echo(f"{learner}: {record.summary}.")
        if not click.confirm(f"Remove all of it, for good, from {inert(str(folder))}?", err=True):
            raise click.ClickException("nothing was removed")
    left = learner_record.forget(record, statistics=not no_statistics)
    echo(f"Removed {learner} from {folder}.")
    for path in left:
        echo(f"Note: the id still stands in {path}, which is others' work or your own file", err=True)
