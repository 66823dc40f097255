"""A course in nbgrader's own layout: with `gradebook` and `recording` all that imports nbgrader.

nbgrader releases, keeps the gradebook, late penalties and manual grades, and writes the feedback. The one
step it does unsafely, running the learner's code and the tests in one kernel, is replaced through its own
extension points.
"""

import atexit
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    DeduplicateIds,
    LimitOutput,
    LockCells,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
    SaveCells,
)
from nbgrader.utils import is_solution
from traitlets import Bool, Float
from traitlets.config import Config

from . import assignment, class_run, cluster, draws, gradebook, grading, handed_in
from .banks import CourseError, bank_of, checked_name
from .feedback import HERE, FeedbackPage, cell_markdown
from .gradebook import programs_on_path
from .grader import Terms
from .journal import Journal
from .judging import Judge
from .layout import FOLDERS, init, read_config, released
from .recording import Recorder, ShowGrades, WorkedSolutions
from .restore import read_notebook, restore
from .results import ClassResult, add, load, save
from .sandbox import Limits, Zygote


class WriteStubs(ClearSolutions):
    """Replaces a solution by the cell's own stub (`metadata.gpubook.stub`), which runs, unlike nbgrader's."""

    def preprocess_cell(self, cell, resources, cell_index):
        """Write the stub; a cell without one of its own is cleared as nbgrader clears it."""
        own = cell.metadata.get("gpubook", {})
        stub = own.pop("stub", None)
        if stub is None or not is_solution(cell):
            return super().preprocess_cell(cell, resources, cell_index)
        cell.source = stub
        return cell, resources


class Submissions(NotebookExporter):
    """What nbgrader reads submissions with: nbconvert's own, once a submission has been looked at.

    nbgrader copies what is handed in before it reads it, and no hook of its own can refuse a submission; its exporter
    is made before either, and is given the converter.
    """

    def __init__(self, **given):
        super().__init__(**given)
        converter: Any = self.parent
        course, begin = converter.coursedir, converter.init_destination

        def looked_at(assignment: str, student: str) -> bool:
            handed_in.look(Path(course.format_path(course.submitted_directory, student, assignment)))
            return begin(assignment, student)

        converter.init_destination = looked_at

    def from_filename(self, filename, resources=None, **more):
        """Raises SubmissionError for what `read_notebook` would not read either."""
        read_notebook(Path(filename))
        return super().from_filename(filename, resources, **more)


class _OfCourse(NbGraderPreprocessor):
    """A step of autograding that looks at the release of the assignment at hand."""

    def _course(self) -> CourseDirectory:
        return self.parent.parent.coursedir  # this step, its exporter, nbgrader's converter

    def _release(self, resources: Any) -> Path:
        about, course = resources["nbgrader"], self._course()
        folder = course.format_path(course.release_directory, ".", about["assignment"])
        return Path(folder) / f"{about['notebook']}.ipynb"


class Restore(_OfCourse):
    """Puts the locked cells back as they were released, before nbgrader's own steps look at the metadata."""

    def preprocess(self, nb, resources):
        """See `restore.restore`."""
        return restore(nb, read_notebook(self._release(resources))), resources


class GradeInSandbox(_OfCourse):
    """Stands where nbgrader executes the notebook: runs it confined, has the judge decide, writes the
    verdicts."""

    cell_limit = Float(30.0, help="Seconds a cell may run.").tag(config=True)
    total_limit = Float(600.0, help="Seconds a submission may run.").tag(config=True)
    variants = Bool(False, help="Whether each learner has numbers of their own.").tag(config=True)
    unsafe = Bool(False, help="Whether to run learners' code with your rights where there is no sandbox.").tag(
        config=True
    )

    def preprocess(self, nb, resources):
        """The notebook with its verdicts, where SaveAutoGrades finds them."""
        owner, path = resources["nbgrader"]["student"], self._release(resources)
        release_nb = read_notebook(path)
        bank = bank_of(Path(self._course().root), release_nb, path)
        graded = grading.grade_notebook(
            nb,
            release_nb,
            bank,
            owner,
            Limits(cell=self.cell_limit, total=self.total_limit),
            self.variants,
            zygote=_zygote(),
            judge=_judge(tuple(bank.paths)),
            unsafe=self.unsafe,
            secret=draws.secret_of(Path(self._course().root)),
        )
        for problem in graded.problems:
            self.log.error("%s: %s", path, problem)
        return graded.nb, resources


@cache
def _zygote() -> Zygote:
    zygote = Zygote()
    atexit.register(zygote.close)
    return zygote


@cache
def _judge(paths: tuple[Path, ...]) -> Judge:
    judge = Judge(paths)
    atexit.register(judge.close)
    return judge


# nbgrader's own list, with our stubs; IncludeHeaderFooter and InstantiateTests serve features the book has no
# use for.
RELEASE = [LockCells, WriteStubs, ClearOutput, CheckCellMetadata, ComputeChecksums, SaveCells,
           ClearHiddenTests, ClearMarkScheme, ComputeChecksums, CheckCellMetadata]  # fmt: skip
SANITIZE = [Restore, ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
AUTOGRADE = [GradeInSandbox, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
__all__ = ["FOLDERS", "CourseError", "assign", "configure", "drop", "grade", "init", "release", "results"]
GRADED = "Graded by your teacher."
NEVER_RELEASED = ["*.md", "*.py", "*.pyc", "__pycache__", ".ipynb_checkpoints"]


def release(source_dir: Path | str, release_dir: Path | str, name: str, db_url: str | None = None) -> Path:
    """Write `release_dir/name/` from `source_dir/name/name.ipynb` and return the learner's notebook.

    Other files of the source folder are copied too, but for text and code (they may hold solutions).
    Without `db_url` no gradebook is touched; with one, the assignment's cells are recorded in it.
    """
    source_dir, release_dir = Path(source_dir).resolve(), Path(release_dir).resolve()
    notebook = source_dir / name / f"{name}.ipynb"
    if not notebook.is_file():
        raise CourseError(f"{notebook} is missing; the instructor's notebook of {name!r} was expected there")
    root = Path(os.path.commonpath([source_dir, release_dir]))
    config = Config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.source_directory = str(source_dir.relative_to(root))
    config.CourseDirectory.release_directory = str(release_dir.relative_to(root))
    config.CourseDirectory.ignore = NEVER_RELEASED
    config.GenerateAssignment.preprocessors = [p for p in RELEASE if db_url or p is not SaveCells]
    config.GenerateAssignment.no_database = db_url is None
    if db_url is not None:
        config.CourseDirectory.db_url = db_url
        config.CourseDirectory.course_id = "default_course"  # nbgrader's own; PostgreSQL refuses an empty one
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    api.log.propagate = False
    with programs_on_path():
        done = api.generate_assignment(name, force=True, create=True)
    if not done["success"]:
        raise CourseError(f"nbgrader could not release {notebook}: {_last(done)}")
    return release_dir / name / f"{name}.ipynb"


def configure(config: Config) -> None:
    """Have a course's nbgrader release our stubs, grade in the sandbox, write feedback that loads nothing."""
    import nbgrader

    formgrader = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
    templates, styles = formgrader / "templates", formgrader / "static/node_modules/bootstrap/dist/css"
    config.CourseDirectory.ignore = NEVER_RELEASED
    config.GenerateAssignment.preprocessors = RELEASE
    config.Autograde.exporter_class = Submissions
    config.Autograde.sanitize_preprocessors = SANITIZE
    config.Autograde.autograde_preprocessors = AUTOGRADE
    config.GenerateFeedback.preprocessors = [ShowGrades, WorkedSolutions, CSSHTMLHeaderPreprocessor]
    config.GenerateFeedback.exporter_class = FeedbackPage
    config.FeedbackPage.template_name = "gpubook"
    config.FeedbackPage.extra_template_paths = [str(templates), str(styles)]
    config.HTMLExporter.extra_template_basedirs = [str(HERE), str(templates)]
    config.HTMLExporter.filters = {"markdown2html": cell_markdown}


def assign(
    folder: Path | str,
    name: str,
    *,
    chapter: str | None = None,
    exercises: Sequence[str] | None = None,
    text: Path | str | None = None,
    due: datetime | None = None,
) -> Path:
    """Release the assignment `name` and return the learner's notebook; see `assignment.stage` for what it is
    made of.

    Done again, it replaces the notebook; what else a teacher put into source/NAME/ stays.
    """
    folder, name = Path(folder).resolve(), checked_name(name)
    config = read_config(folder)
    with _whole_or_not(folder, name):
        assignment.stage(
            folder,
            name,
            chapter=chapter,
            exercises=exercises,
            text=None if text is None else Path(text),
            variants=GradeInSandbox(config=config).variants,
        )
        return _publish(folder, name, due)


def drop(folder: Path | str, name: str, exercise: str) -> Path:
    """Have an exercise of a released assignment count for nobody: 0 of 0 points, in the gradebook at once.

    The learners' notebooks need not change; the prompt says so in feedback made from now on. Assigning anew
    undoes it.
    """
    folder, name = Path(folder).resolve(), checked_name(name)
    db_url = gradebook.url_of(folder)
    released(folder, name)
    with _whole_or_not(folder, name):
        cell = assignment.drop(folder / "source" / name / f"{name}.ipynb", exercise)
        path = _publish(folder, name)
    gradebook.clear(db_url, name, cell)
    gradebook.late(folder, name)
    return path


@contextmanager
def _whole_or_not(folder: Path, name: str) -> Iterator[None]:
    """Put source/NAME and release/NAME back as they were where what is done to them fails: nbgrader refuses
    other cells once there are submissions, and has deleted the release by then."""
    folders = [folder / part / name for part in ("source", "release")]
    with tempfile.TemporaryDirectory() as scratch:
        kept = {one: Path(scratch) / one.parent.name for one in folders if one.is_dir()}
        for one, copy in kept.items():
            shutil.copytree(one, copy)
        try:
            yield
        except BaseException:
            for one in folders:
                shutil.rmtree(one, ignore_errors=True)
                if one in kept:
                    shutil.copytree(kept[one], one)
            raise


def _publish(folder: Path, name: str, due: datetime | None = None) -> Path:
    db_url = gradebook.url_of(folder)
    path = release(folder / "source", folder / "release", name, db_url)
    gradebook.set_due(db_url, name, due)
    return path


def grade(
    folder: Path | str,
    name: str,
    students: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    started: Callable[[int, str], None] | None = None,
    cell_limit: float | None = None,
    unsafe: bool = False,
    workers: int | None = None,
    resume: bool = False,
    scheduler: str | None = None,
) -> ClassResult:
    """Grade what is in submitted/*/NAME: gradebook, autograded/, feedback/, and the results by learner and
    exercise.

    A submission that cannot be graded is a learner with a `problem`; the others are graded all the same. With
    `resume`, what an earlier run has graded and what has not changed since stays. `started` is called with the
    number of submissions and a remark on an earlier run, `progress` with each learner's name as it is done. Raises
    NoSandbox, see `grading.grade_notebook`.
    """
    began = time.monotonic()
    folder, name = Path(folder).resolve(), checked_name(name)
    config = read_config(folder)
    config.GradeInSandbox.unsafe = unsafe or config.GradeInSandbox.get("unsafe", False)
    if cell_limit is not None:
        config.GradeInSandbox.cell_limit = cell_limit
    settings = GradeInSandbox(config=config)
    limits = Limits(cell=settings.cell_limit, total=settings.total_limit)
    path = released(folder, name)
    release_nb = read_notebook(path)
    terms = Terms(limits, settings.variants, settings.unsafe, draws.secret_of(folder))
    work = class_run.Work(path, release_nb, bank_of(folder, release_nb, path), terms)
    result = ClassResult(name, work.exercises, folder=str(folder))
    result.gradebook = gradebook.place(gradebook.url_of(folder))
    submissions = handed_in.collect(folder, name, students, result)
    if scheduler is None:
        workplace = partial(class_run.local, work, workers)
    else:
        workplace = partial(cluster.workplace, work, scheduler, workers)
    writer = Recorder(folder, name, config, GradeInSandbox)
    with writer, Journal.open(folder, name) as journal, journal.room():
        if started is not None:
            started(len(submissions), journal.remark(resume or students is not None))
        if students is None:
            journal.begin(anew=not resume)
        class_run.Run(work, submissions, result, journal, writer, workplace, resume, progress or (lambda _: None))()
        result.seconds = time.monotonic() - began
        (save if students is None else add)(result, _results_path(folder, name))
        if students is None:
            journal.end()
    return _with_grades_by_hand(result)


def _last(done: dict[str, Any]) -> str:
    """What nbgrader stumbled over, out of the log of what it said about it."""
    lines = (done.get("log", "") + "\n" + done.get("error", "")).strip().splitlines()
    named = [line.strip() for line in lines if re.match(r"\s*[\w.]*(Error|Exception): ", line)]
    causes = [line for line in named if "NbGraderException" not in line] or named or lines
    return causes[-1] if causes else ""


def results(folder: Path | str, name: str) -> ClassResult:
    """The results of the last `grade`, with the grades that a teacher has given to written answers since."""
    return _with_grades_by_hand(load(_results_path(Path(folder), name)))


def _with_grades_by_hand(result: ClassResult) -> ClassResult:
    """Put what a teacher gave for written answers, and said of them, in place of their waiting."""
    if not any(one.kind == "waiting" for learner in result.learners for one in learner.results):
        return result
    given = gradebook.by_hand(gradebook.url_of(result.folder), result.assignment)
    for learner in result.learners:
        for at, one in enumerate(learner.results):
            if one.kind == "waiting" and (learner.name, one.exercise) in given:
                points, comment = given[learner.name, one.exercise]
                learner.results[at] = replace(one, points=points, say=comment or GRADED, kind="by hand")
    return result


def show_feedback(folder: Path | str, name: str) -> list[Path]:
    """Write the feedback of everybody who is graded anew, from the gradebook as it is; returns the pages.

    Late penalties are worked out anew before: grades given by hand have changed the scores that they are part of.
    """
    folder, name = Path(folder).resolve(), checked_name(name)
    released(folder, name)
    gradebook.late(folder, name)
    with Recorder(folder, name, read_config(folder), GradeInSandbox) as recorder:
        return [recorder.show(learner) for learner in sorted(recorder.has())]


def _results_path(folder: Path, name: str) -> Path:
    return folder / ".gpubook" / f"{name}.results.json"
