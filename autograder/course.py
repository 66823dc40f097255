"""A course in nbgrader's own layout: with `gradebook` the only module that imports nbgrader.

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
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

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

from . import assignment, gradebook, grading, handed_in
from .banks import CourseError, bank_of, checked_name
from .feedback import HERE, FeedbackPage, inert_markdown
from .gradebook import programs_on_path
from .judging import Judge
from .layout import FOLDERS, init, read_config, released
from .restore import grade_cell, read_notebook, restore
from .results import ClassResult, Learner, add, load, save
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
    unsafe = Bool(
        False, help="Whether to run learners' code with your rights where there is no sandbox."
    ).tag(config=True)
    ready: ClassVar[dict[str, Any]] = {}  # notebooks that are graded already, by learner

    def preprocess(self, nb, resources):
        """The notebook with its verdicts, where SaveAutoGrades finds them."""
        owner, path = resources["nbgrader"]["student"], self._release(resources)
        if owner in self.ready:
            return self.ready[owner], resources
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
    config.Autograde.sanitize_preprocessors = SANITIZE
    config.Autograde.autograde_preprocessors = AUTOGRADE
    config.GenerateFeedback.exporter_class = FeedbackPage
    config.FeedbackPage.template_name = "gpubook"
    config.FeedbackPage.extra_template_paths = [str(templates), str(styles)]
    config.HTMLExporter.extra_template_basedirs = [str(HERE), str(templates)]
    config.HTMLExporter.filters = {"markdown2html": inert_markdown}


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
    cell_limit: float | None = None,
    unsafe: bool = False,
    workers: int | None = None,
) -> ClassResult:
    """Grade what is in submitted/*/NAME: gradebook, autograded/, feedback/, and the results by learner and
    exercise.

    A submission that cannot be graded is a learner with a `problem`; the others are graded all the same.
    `progress` is called with each learner's name as it is done. Raises NoSandbox, see
    `grading.grade_notebook`.
    """
    started = time.monotonic()
    folder, name = Path(folder).resolve(), checked_name(name)
    config = read_config(folder)
    config.GradeInSandbox.unsafe = unsafe or config.GradeInSandbox.get("unsafe", False)
    if cell_limit is not None:
        config.GradeInSandbox.cell_limit = cell_limit
    path = released(folder, name)
    release_nb = read_notebook(path)
    bank = bank_of(folder, release_nb, path)
    roles = [role for role in map(grade_cell, release_nb.cells) if role is not None and role.part == "grade"]
    result = ClassResult(name, {role.exercise: role.points for role in roles}, folder=str(folder))
    result.gradebook = gradebook.place(gradebook.url_of(folder))
    submissions = handed_in.collect(folder, name, students, result)
    settings = GradeInSandbox(config=config)
    limits = Limits(cell=settings.cell_limit, total=settings.total_limit)
    ready: dict[str, Any] = {}
    with Zygote() as zygote, Judge(bank.paths) as judge:
        zygote.refuse_unless(settings.unsafe)

        def one(learner: Learner) -> None:
            try:
                graded = grading.grade_notebook(
                    submissions[learner.name],
                    release_nb,
                    bank,
                    learner.name,
                    limits,
                    settings.variants,
                    zygote=zygote,
                    judge=judge,
                    unsafe=settings.unsafe,
                )
            except Exception as error:  # one submission, whatever it does, is not the others' loss
                learner.problem = f"the grader failed on this submission: {type(error).__name__}: {error}"
                return
            learner.results, ready[learner.name] = graded.results, graded.nb
            result.problems += [
                f"{path}: {p}" for p in graded.problems if f"{path}: {p}" not in result.problems
            ]
            if progress is not None:
                progress(learner.name)

        with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
            list(pool.map(one, [learner for learner in result.learners if learner.name in submissions]))
    _record(folder, name, config, result, ready)
    result.seconds = time.monotonic() - started
    (save if students is None else add)(result, _results_path(folder, name))
    return result


def _record(folder: Path, name: str, config: Config, result: ClassResult, graded: dict[str, Any]) -> None:
    """Have nbgrader write autograded/, the gradebook and the feedback, from the notebooks that are graded
    already."""
    decided = type("GradeInSandbox", (GradeInSandbox,), {"ready": graded})
    config = Config(config)
    config.Autograde.autograde_preprocessors = [
        decided if p is GradeInSandbox else p for p in config.Autograde.autograde_preprocessors
    ]
    with warnings.catch_warnings(), programs_on_path():
        warnings.simplefilter("ignore")
        api = NbGraderAPI(CourseDirectory(config=config), config=config)
        db_url = CourseDirectory(config=config).db_url

        def autograde(who: str) -> dict[str, Any]:
            path = folder / "autograded" / who / name / f"{name}.ipynb"
            with gradebook.reviews_kept(db_url, path, name, who):
                return api.autograde(name, who, force=True, create=True)

        for learner in result.learners:
            if learner.name not in graded:
                continue
            for step in (autograde, lambda who: api.generate_feedback(name, who, force=True)):
                done = step(learner.name)
                if not done["success"]:
                    learner.problem = f"nbgrader could not record {name} of {learner.name}: {_last(done)}"
                    break
            else:
                learner.feedback = str(folder / "feedback" / learner.name / name / f"{name}.html")


def _last(done: dict[str, Any]) -> str:
    """What nbgrader stumbled over, out of the log of what it said about it."""
    lines = (done.get("log", "") + "\n" + done.get("error", "")).strip().splitlines()
    named = [line.strip() for line in lines if re.match(r"\s*[\w.]*(Error|Exception): ", line)]
    causes = [line for line in named if "NbGraderException" not in line] or named or lines
    return causes[-1] if causes else ""


def results(folder: Path | str, name: str) -> ClassResult:
    """The results of the last `grade`."""
    return load(_results_path(Path(folder), name))


def _results_path(folder: Path, name: str) -> Path:
    return folder / ".gpubook" / f"{name}.results.json"
