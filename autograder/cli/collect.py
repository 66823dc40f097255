"""`gpubook collect`: the submissions that a learning platform lets a teacher download."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from .terminal import echo

if TYPE_CHECKING:
    from ..course.intake.collect_archive import Report


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("name")
@click.argument("archive", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--worksheet",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="Moodle's grading worksheet: who is who, and when each submitted.",
)
@click.option(
    "--time-zone", "zone", metavar="NAME", help="Yours on the platform, e.g. Europe/Berlin: that of times without one."
)
@click.option(
    "--submissions",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    multiple=True,
    help="Canvas's list of submissions, JSON of its API or CSV: when each submitted (repeatable).",
)
@click.option(
    "--submitted",
    metavar="LEARNER=TIME",
    multiple=True,
    help="When a learner submitted, written as for `assign --due` (repeatable).",
)
@click.option("--replace", is_flag=True, help="Also replace what was submitted in another way.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing.")
def collect(
    folder: Path,
    name: str,
    archive: Path,
    worksheet: Path | None,
    zone: str | None,
    submissions: tuple[Path, ...],
    submitted: tuple[str, ...],
    replace: bool,
    dry_run: bool,
) -> None:
    """Take submissions out of ARCHIVE, Canvas's or Moodle's.

    ARCHIVE is the zip that the platform lets you download, or a zip or a folder with LEARNER.ipynb or
    LEARNER/NAME.ipynb. Each learner's notebook goes to FOLDER/submitted/LEARNER/NAME/NAME.ipynb.
    """
    from ..course.intake import collect_archive

    report = collect_archive.collect(
        folder,
        name,
        archive,
        worksheet=worksheet,
        zone=_zone(zone),
        submissions=submissions,
        submitted=_times(submitted),
        replace_others=replace,
        dry_run=dry_run,
    )
    _print(report, dry_run)
    if not collect_archive.taken(report):
        raise SystemExit(1)


def _times(texts: tuple[str, ...]) -> dict[str, datetime]:
    """The times (UTC) by learner."""
    from ..course.terms.deadline_time import read_time

    times = {}
    for text in texts:
        learner, _, time = text.partition("=")
        if not learner or not time:
            raise click.BadParameter(f"{text!r}: LEARNER=TIME was expected", param_hint="--submitted")
        try:
            times[learner] = read_time(time).utc
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--submitted") from None
    return times


def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        raise click.BadParameter(
            f"{name!r}: a name such as Europe/Berlin or UTC was expected", param_hint="--time-zone"
        ) from None


def _print(report: "Report", dry_run: bool) -> None:
    from ..course.class_results.results_table import inert

    def say(line: str) -> None:
        echo(inert(line))

    for outcome in report.outcomes:
        when = f", submitted {outcome.submitted[:16]} UTC" if outcome.submitted else ""
        if outcome.kind != "unchanged" or outcome.notes:
            notes = "".join(f"; {note}" for note in outcome.notes)
            say(f"{outcome.learner}: {outcome.kind}, {outcome.file}{when}{notes}")
    for line in report.refused:
        say(f"refused: {line}")
    kinds = ("new", "updated", "unchanged", "kept", "refused")
    counts = {kind: sum(outcome.kind == kind for outcome in report.outcomes) for kind in kinds}
    total = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "nobody's submission found"
    say(f"{'Nothing was written. Would be: ' if dry_run else ''}{total}.")
    if report.missing:
        say(f"Nothing in the archive from: {', '.join(report.missing)}")
    for note in report.notes:
        say(f"Note: {note}")
