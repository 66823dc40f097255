"""Our replacements for steps of nbgrader, and the configuration that installs them.

The one step that nbgrader does unsafely, running the learner's code and the tests in one kernel, is replaced through
its own extension points.
"""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    LimitOutput,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from nbgrader.utils import is_solution
from traitlets import Bool, Float
from traitlets.config import Config

from ...book.source.release import NEVER_RELEASED, RELEASE
from ...grading import submission
from ...grading.judge import Judge
from ...grading.restore import read_notebook, restore
from ...ranks import seeds
from ...sandbox import Limits, Zygote
from ..banks import bank_of
from ..by_hand.rubric_steps import CriteriaInFeedback, RubricInFormgrader
from ..feedback import FILTERS, HERE, FeedbackPage
from ..feedback.feedback_steps import ShowGrades, WorkedSolutions
from ..gradebook import deadlines
from ..gradebook.grade_entry import automatic_score
from ..gradebook_url import opened
from ..layout import texts_beside
from ..regrades.request_steps import RegradesInFeedback
from ..submissions import inert_files, submission_folders
from ..terms.granted_time import granted_for


class Submissions(NotebookExporter):
    """What nbgrader reads submissions with: nbconvert's own, once a submission has been checked.

    nbgrader copies a submission before it reads it, and no hook of its own can refuse a submission or rename its
    files; its exporter is made before either, and is given the converter.
    """

    def __init__(self, **given):
        super().__init__(**given)
        converter: Any = self.parent
        course, begin, copy = converter.coursedir, converter.init_destination, converter.init_assignment

        def checked(assignment: str, student: str) -> bool:
            submission_folders.check_folder(Path(course.format_path(course.submitted_directory, student, assignment)))
            return begin(assignment, student)

        def copied(assignment: str, student: str) -> None:
            copy(assignment, student)
            source = Path(course.format_path(course.source_directory, ".", assignment))
            inert_files.neutralise(Path(course.format_path(course.autograded_directory, student, assignment)), source)

        converter.init_assignment = copied
        converter.init_destination = checked

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
    """Replaces nbgrader's execution of the notebook: runs it confined, has the judge decide, writes the verdicts."""

    cell_limit = Float(Limits.cell, help="Seconds a cell may run.").tag(config=True)
    total_limit = Float(Limits.total, help="Seconds a submission may run.").tag(config=True)
    variants = Bool(False, help="Whether each learner has numbers of their own.").tag(config=True)
    unsafe = Bool(False, help="Whether to run learners' code with your rights if the system has no sandbox.").tag(
        config=True
    )

    def run_settings(self, folder: Path, *releases: Path) -> submission.RunSettings:
        """What these options ask of a run over the course in `folder`, in which these notebooks are released."""
        limits = Limits(cell=self.cell_limit, total=self.total_limit)
        files = {name: text for release in releases for name, text in texts_beside(release).items()}
        return submission.RunSettings(limits, self.variants, self.unsafe, seeds.secret_of(folder), files)

    def preprocess(self, nb, resources):
        """The notebook with its verdicts, where SaveAutoGrades finds them."""
        owner, path = resources["nbgrader"]["student"], self._release(resources)
        release_nb = read_notebook(path)
        bank = bank_of(Path(self._course().root), release_nb, path)
        graded = submission.grade_notebook(
            nb,
            release_nb,
            bank,
            owner,
            self.run_settings(Path(self._course().root), path),
            zygote=_zygote(),
            judge=_judge(tuple(bank.paths)),
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


class SaveGrades(SaveAutoGrades):
    """nbgrader's step that enters automatic scores, and where everybody gets the same, that."""

    def _add_score(self, cell: Any, resources: Any) -> None:
        super()._add_score(cell, resources)
        score = automatic_score(cell, self.log)
        if is_solution(cell) and score is not None:
            name = cell.metadata["nbgrader"]["grade_id"]
            grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
            grade.auto_score, grade.needs_manual_grade = score, grade.manual_score is not None
            self.gradebook.db.commit()


class LatePenalties(AssignLatePenalties):
    """nbgrader's step that computes late penalties, from the deadline with the extension that was granted."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Enter the extension, which may be older than the submission; then nbgrader's own work."""
        about, course = resources["nbgrader"], self.parent.parent.coursedir
        name, learner = about["assignment"], about["student"]
        due, _ = deadlines(about["db_url"], name)
        if (more := granted_for(Path(course.root), name, due).get(learner)) is not None:
            with opened(about["db_url"]) as gradebook:
                gradebook.update_or_create_submission(name, learner, extension=more)
        return super().preprocess(nb, resources)


SANITIZE = [Restore, ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
AUTOGRADE = [GradeInSandbox, LimitOutput, SaveGrades, LatePenalties, CheckCellMetadata]


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
    config.GenerateFeedback.preprocessors = [
        ShowGrades,
        WorkedSolutions,
        CriteriaInFeedback,
        RegradesInFeedback,
        CSSHTMLHeaderPreprocessor,
    ]
    config.GenerateFeedback.exporter_class = FeedbackPage
    config.FeedbackPage.template_name = "gpubook"
    config.FeedbackPage.preprocessors = []  # not those of formgrader's page, whose configuration it inherits
    config.FeedbackPage.extra_template_paths = [str(templates), str(styles)]
    config.HTMLExporter.extra_template_basedirs = [str(HERE), str(templates)]
    config.HTMLExporter.filters = dict(FILTERS)
    config.HTMLExporter.preprocessors = [RubricInFormgrader]
