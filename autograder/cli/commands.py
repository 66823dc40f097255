"""The `gpubook` command: the book, a learner's copy of it, and a teacher's course."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

from ..values.book_root import book_root
from . import check_service
from .bandwidth import bandwidth
from .check import check
from .collect import collect
from .course import course
from .explain_run import explain_run
from .group import Gpubook
from .mcp import mcp
from .parameters import FILE, FOLDER, assignment_name
from .plan import plan
from .progress import progress
from .recordings.hang import hang
from .recordings.trace import trace
from .report import explain, report
from .serve import serve
from .study import lab, start, whoami
from .terminal import echo
from .topo import topo
from .whole_book import epub, pdf


@click.group(cls=Gpubook, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of errors.")
@click.version_option(package_name="gpubook")
def main(debug: bool) -> None:
    """An interactive textbook on GPUs, networks, collectives and parallelism, and its grader."""


for command in (start, whoami, lab, check, progress):
    main.add_command(command)
main.add_command(course)
for command in (report, explain):
    main.add_command(command)
main.add_command(plan)
main.add_command(serve)
main.add_command(bandwidth)
main.add_command(topo)
main.add_command(trace)
main.add_command(hang)
main.add_command(explain_run)
main.add_command(mcp)
main.add_command(pdf)
main.add_command(epub)
main.add_command(collect)
main.add_command(check_service.token)


@main.command()
def doctor() -> None:
    """Report what this machine offers for the labs and for grading."""
    from . import doctor as doctors

    doctors.show(doctors.examine())


@main.command()
@click.option("--check", is_flag=True, help="Write nothing; fail if chapters/ is not up to date with solutions/.")
@click.argument("names", nargs=-1)
def chapters(names: tuple[str, ...], check: bool) -> None:
    """Generate chapters/ from solutions/.

    Of all chapters, or of NAMES; the exercises of what is built test themselves.
    A chapter with `draft: true` in its front matter is built and tested, but left out of chapters/.
    """
    from ..book.source import chapters as pipeline

    root = book_root()
    changes = pipeline.build(root, list(names) or None, check=check)
    for change in changes:
        echo(change)
    for draft in pipeline.drafts(root / "solutions"):
        if not names or draft in names:
            echo(f"{draft}: a draft, left out of chapters/; to list broken rules: gpubook rules {draft}")
    if check and changes:
        raise click.ClickException("chapters/ is not up to date with solutions/; run `make chapters` and commit both")


@main.command()
@click.argument("names", nargs=-1)
def rules(names: tuple[str, ...]) -> None:
    """List the rules that all chapters and drafts, or NAMES, break, and the book's bibliography."""
    from ..book.rules import chapter_rules as house
    from ..book.rules.software_versions import software_has_a_version
    from ..book.source.chapters import chapter_names, check_names

    root, count = book_root(), 0
    for name in check_names(root, names) or chapter_names(root, with_drafts=True):
        for line in house.broken(house.ChapterReading.of(root, name)):
            echo(line)
            count += 1
    for line in software_has_a_version(root / "docs" / "references.bib"):
        echo(line)
        count += 1
    if count:
        raise click.ClickException(
            f"rules are broken in {count} places; docs/authors/chapter.md gives the reason for each rule"
        )


@main.group()
def new() -> None:
    """Create a skeleton that passes every test."""


@new.command("chapter")
@click.argument("name")
@click.option("--sections", is_flag=True, help="Declare the exercises in a folder exercises/, one file per section.")
def new_chapter(name: str, sections: bool) -> None:
    """Create a draft of the chapter NAME in solutions/NAME/.

    NAME is two digits and a topic, such as 08-sharded-matmuls.
    """
    from ..book import skeleton
    from ..book.source.contents import contents, find

    for path in skeleton.new_chapter(book_root(), name, sections=sections):
        echo(f"Wrote {path}")
    if not find(contents(book_root()), name).about:
        echo(f"Say what it is about: an entry [{name}] in docs/chapters.toml")
    echo(f"Build and test it: gpubook chapters {name}")
    echo("Read it as a page: gpubook book --drafts")
    echo(f"List what it needs before release: gpubook rules {name}")


@main.command()
@click.option("--course", is_flag=True, help="The course edition: no solutions, no answer boxes.")
@click.option("--drafts", is_flag=True, help="Include chapters that are drafts, for their authors.")
@click.option("--out", type=FOLDER, default=Path("build/html"), show_default=True, help="The output folder.")
def book(course: bool, drafts: bool, out: Path) -> None:
    """Build the book as static HTML."""
    from ..book.site import html as pages

    pages.build(book_root(), out, course=course, with_drafts=drafts)
    echo(f"Open {out / 'index.html'}")


@main.command()
@click.argument("folder", type=FOLDER)
@click.argument("names", nargs=-1)
@click.option(
    "--format",
    "form",
    type=click.Choice(["canvas", "moodle", "csv"]),
    default="csv",
    show_default=True,
    help="The program that reads the file.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="The file; - prints.  [default: grades-FORMAT.csv in FOLDER]"
)
@click.option("--missing-as-zero", is_flag=True, help="Score 0 instead of nothing for a missing submission.")
@click.option("--canvas-id", "ids", metavar="NAME=NUMBER", multiple=True, help="Canvas's id of an assignment.")
@click.option("--worksheet", type=FILE, help="Moodle's grading worksheet, to be filled in.")
@click.option("--scale", is_flag=True, help="Scale grades to Moodle's maximum where it is not the course's.")
def export(
    folder: Path,
    names: tuple[str, ...],
    form: str,
    output: Path | None,
    missing_as_zero: bool,
    ids: tuple[str, ...],
    worksheet: Path | None,
    scale: bool,
) -> None:
    """Write a course's grades as CSV, of all assignments or of NAMES."""
    from ..course import export as exports
    from ..course import spreadsheet

    numbers = {}
    for text in ids:
        name, _, canvas_id = text.rpartition("=")
        if not name or not canvas_id.isdecimal():
            raise click.BadParameter(f"{text!r}: expected NAME=NUMBER, e.g. week3=4711", param_hint="--canvas-id")
        numbers[name] = int(canvas_id)
    made = exports.table(
        folder,
        names,
        form,
        missing_as_zero=missing_as_zero,
        canvas_ids=numbers,
        worksheet=worksheet,
        scale=scale,
    )
    if output == Path("-"):
        click.echo(made.text, nl=False)  # the file itself, which a shell may redirect
    else:
        output = output or folder / f"grades-{form}.csv"
        spreadsheet.write(made, output)
        echo(f"Wrote {output}")
        if made.beside is not None:
            questions = output.with_name(f"{output.stem}-questions.csv")
            spreadsheet.write(made.beside, questions)
            echo(f"Wrote {questions}: points by question, for you; not to be uploaded")
    for note in made.notes:
        echo(f"Note: {note}", err=True)


@contextmanager
def _stopping(folder: Path, name: str) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the block, and the command with one line that says how to resume."""
    ended = signal.SIGINT

    def stop(number: int, _: object) -> None:
        nonlocal ended
        ended = signal.Signals(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        echo(f"Stopped; finished grades are kept. To resume: gpubook grade {folder} {name} --resume", err=True)
        raise SystemExit(128 + ended) from None
    finally:
        signal.signal(signal.SIGTERM, before)


@main.command()
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.option("--student", "students", multiple=True, help="Grade only this learner (may be repeated).")
@click.option("--show", metavar="[LEARNER][/EXERCISE]", help="Print the verdicts of the last run instead of grading.")
@click.option("--cell-limit", type=float, help="Time limit per cell, in seconds.  [default: the course's, 30]")
@click.option("--unsafe", is_flag=True, help="Grade without a sandbox if the system does not support one.")
@click.option("--workers", type=click.IntRange(1), help="Submissions graded in parallel.  [default: one per core]")
@click.option("--resume", is_flag=True, help="Skip submissions that are graded and have not changed since.")
@click.option("--scheduler", metavar="ADDRESS", help="Grade on a dask.distributed cluster, e.g. tcp://HOST:8786.")
@click.option("--trust-timestamps", is_flag=True, help="Count a timestamp.txt that nbgrader's exchange did not write.")
def grade(
    folder: Path,
    name: str,
    students: tuple[str, ...],
    show: str | None,
    cell_limit: float | None,
    unsafe: bool,
    workers: int | None,
    resume: bool,
    scheduler: str | None,
    trust_timestamps: bool,
) -> None:
    """Grade the submissions of an assignment.

    Those in FOLDER/submitted/*/NAME; writes the gradebook and the feedback.
    """
    from ..sandbox import zygote_ahead
    from . import lazy_jsonschema

    here = not (show or resume or scheduler)  # whether submissions are sure to be run, and on this machine
    with zygote_ahead() if here else nullcontext():
        lazy_jsonschema.notebooks()
        from .. import course as courses
        from ..course import gradebook
        from ..course.class_results import results_table

        if show:
            from ..course.report.gathered_answers import reader

            results_table.show(courses.results(folder, name), show, read=reader(folder, name))
            return
        from .progress_bar import ProgressMeter

        with _stopping(folder, name), ProgressMeter() as meter:
            result = courses.grade(
                folder,
                name,
                students=list(students) or None,
                started=meter.started,
                progress=meter.progress,
                cell_limit=cell_limit,
                unsafe=unsafe,
                workers=workers,
                resume=resume,
                scheduler=scheduler,
                trust_timestamps=trust_timestamps,
            )
    scores = {score.person.id: score for score in gradebook.scores(folder, [name])[name]}
    results_table.print_class(result, scores=scores, waiting=gradebook.waiting_by_cell(folder, name))
    results_table.print_changes(result.changes, late=result.late_changes, entries=result.entry_changes)
    if result.learners and not any(learner.results for learner in result.learners):
        raise SystemExit(1)
