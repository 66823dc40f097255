"""Enter graded notebooks into nbgrader's gradebook (see `gradebook.grade_entry`), autograded/ and feedback/.

The result is what `nbgrader autograde` and `nbgrader generate_feedback` leave with the course's configuration.
"""

import errno
import json
import logging
import os
import shutil
import sys
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

from nbformat import from_dict, read, writes
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    GetGrades,
    SaveAutoGrades,
)
from nbgrader.utils import find_all_files
from traitlets.config import Config

from ...grading.restore import SubmissionError
from ...ranks import seeds
from ...values.atomic_write import naming, write_whole
from ...values.digest import digest
from ...values.own_folder import without_links
from ..feedback import releasable
from ..gradebook import AssignmentScore, cell_texts, deadlines, scores
from ..gradebook.grade_entry import GradeEntry
from ..submissions import inert_files
from ..submissions.submission_time import FILE as TIME_FILE
from ..submissions.submission_time import CountedTime, SubmissionTime
from ..terms import group_shares
from ..terms.granted_time import granted_for
from ..terms.lateness import Lateness
from ..terms.page_basis import HandGrade, PageBasis

MOST_NAMES = 10  # of files that were renamed, in a feedback page
MOST_READ = 1 << 20  # bytes of a file that are compared; a larger one is told by its size and time


class GradebookWriter:
    """The one writer of a run over a class: `record` a learner's executed notebook. A context manager.

    `decided`: the preprocessor of the configuration that executes and judges, which is done by now.
    """

    def __init__(self, folder: Path, name: str, config: Config, decided: type):
        self.folder, self.name = folder, name
        quiet = logging.getLogger("gpubook.recording")  # nbgrader tells of each step and penalty
        quiet.addHandler(logging.NullHandler())
        quiet.propagate = False
        self.course = CourseDirectory(config=config, log=quiet)
        self.autograde = Autograde(coursedir=self.course, config=config, log=quiet)
        self.feedback = GenerateFeedback(coursedir=self.course, config=config, log=quiet)
        own = (decided, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata)  # the metadata is the release's
        steps = [step for step in self.autograde.autograde_preprocessors if not issubclass(step, own)]
        self.steps = [step(config=config, parent=self.autograde) for step in steps]
        self.page = self.feedback.exporter_class(parent=self.feedback, config=self.feedback.config)
        for step in self.feedback.preprocessors:
            if not issubclass(step, GetGrades):
                self.page.register_preprocessor(step)
        self.times = SubmissionTime(folder, name, config, self.course)
        self.grades = GradeEntry(folder, name, self.course.db_url, config, quiet)
        self.due, granted = deadlines(self.course.db_url, name)
        self.granted = granted_for(folder, name, self.due)
        self.extensions = granted | self.granted

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.grades.close()

    def has(self) -> set[str]:
        """The learners with a submission in the gradebook, and files of their own."""
        return {who for who in self.grades.learners() if self._notebook(who).is_file() and self.page_of(who).is_file()}

    def _notebook(self, learner: str) -> Path:
        return self.folder / "autograded" / learner / self.name / f"{self.name}.ipynb"

    def page_of(self, learner: str) -> Path:
        """The learner's feedback."""
        return self.folder / "feedback" / learner / self.name / f"{self.name}.html"

    def record(self, learner: str, text: str, by: str = "") -> Lateness:
        """Enter what was graded, and write the learner's files; returns how late it counts. `by`: who submitted it,
        where that is another learner of the same group.

        Done again it changes nothing. The gradebook comes first: what a teacher graded by hand is told from the
        notebook that was there before.
        """
        nb, resources = from_dict(json.loads(text)), self._resources(learner)
        for step in self.steps:
            nb, resources = step.preprocess(nb, resources)
        autograded = writes(nb, version=4)
        former = partial(cell_texts, self._notebook(learner))
        counted = self.times.counted(by or learner)
        when = {"timestamp": self.times.read(by or learner, counted)}  # None takes an earlier one back
        more = {"extension": self.granted[learner]} if learner in self.granted else {}
        resources["nbgrader"] |= self.grades.enter(learner, nb, former, **when, **more)
        self._write(learner, autograded, by or learner)
        self._write_page(learner, nb, resources)
        return self._lateness(learner, counted, resources["nbgrader"]["late_penalty"])

    def lateness(self, learner: str, by: str = "") -> Lateness:
        """How late the submission that the gradebook has would count if it were entered now."""
        counted = self.times.counted(by or learner)
        try:
            when, due = self.times.read(by or learner, counted), self._due_of(learner)
        except SubmissionError:  # which is for `record` to say
            when = due = None
        late = (when - due).total_seconds() if when is not None and due is not None else 0.0
        raw = self._scores[learner].raw if learner in self._scores else 0.0
        return self._lateness(learner, counted, self.grades.penalty(learner, raw, late))

    def basis(self, learner: str, by: str = "", entered: bool = False) -> PageBasis:
        """What the learner's files would show beside verdicts and lateness; read anew if just `entered`."""
        by_hand = self.grades.hand_grades(learner) if entered else self._hand_grades
        return PageBasis(by_hand.get(learner, {}), self._digest_of_files(by or learner))

    def _digest_of_files(self, by: str) -> str:
        """Of what was submitted beside the notebook, but for its time, which is compared as such."""
        parts: list[str | bytes] = []
        folder = self.folder / "submitted" / by / self.name
        for file in sorted(map(Path, find_all_files(str(folder), [*self.course.ignore, "*.ipynb"]))):
            about, inside = file.stat(), str(file.relative_to(folder))
            content = str(about.st_mtime_ns) if about.st_size > MOST_READ else file.read_bytes()
            parts += [] if inside == TIME_FILE else [inside, str(about.st_size), content]
        return digest(*parts)

    def show(self, learner: str) -> Path:
        """Rewrite the learner's feedback page from what is graded and from the gradebook as it is now."""
        nb, resources = read(self._notebook(learner), as_version=4), self._resources(learner)
        resources["nbgrader"] |= self.grades.show(learner, nb)
        return self._write_page(learner, nb, resources)

    @cached_property
    def _hand_grades(self) -> dict[str, dict[str, HandGrade]]:
        """What everybody had by hand when this was first asked."""
        return self.grades.hand_grades()

    @cached_property
    def _scores(self) -> dict[str, AssignmentScore]:
        """What everybody had when this was first asked."""
        return {one.person.id: one for one in scores(self.folder, [self.name])[self.name]}

    def _due_of(self, learner: str) -> datetime | None:
        return self.due and self.due + self.extensions.get(learner, timedelta())

    def _lateness(self, learner: str, counted: CountedTime, penalty: float | None) -> Lateness:
        due = self._due_of(learner)
        return Lateness(counted.text, counted.trusted, due.isoformat() if due is not None else "", penalty or 0.0)

    def _resources(self, learner: str) -> dict[str, Any]:
        about = {"student": learner, "assignment": self.name, "notebook": self.name, "db_url": self.course.db_url}
        return {"unique_key": self.name, "output_files_dir": f"{self.name}_files", "nbgrader": about}

    def _write_page(self, learner: str, nb: Any, resources: dict[str, Any]) -> Path:
        beside, target = self._notebook(learner).parent, without_links(self.folder / "feedback", learner, self.name)
        resources["nbgrader"]["submitted_by"] = group_shares.submitters(self.folder, self.name).get(learner, "")
        resources["nbgrader"]["renamed"] = inert_files.renamed_in(beside)[:MOST_NAMES]
        page, _ = self.page.from_notebook_node(nb, {**resources, "metadata": {"name": self.name}})
        target.mkdir(parents=True, exist_ok=True)
        for file in map(Path, find_all_files(str(beside), [*self.course.ignore, "*.ipynb"])):
            inside = file.relative_to(beside)
            if inside.parts[0] != self.page_of(learner).name:
                _make_way(target, inside)
                copy_file(file, target / inside)
        if self.page_of(learner).is_dir():
            shutil.rmtree(self.page_of(learner))
        write_whole(self.page_of(learner), page)
        releasable.complete(self.page_of(learner), self.folder, learner)
        self.feedback.set_permissions(self.name, learner)
        return self.page_of(learner)

    def _write(self, learner: str, text: str, by: str) -> None:
        """autograded/: the notebook, what else was submitted, and over it what the teacher has in source/."""
        target = without_links(self.folder / "autograded", learner, self.name)
        target.mkdir(parents=True, exist_ok=True)
        ignored = [*self.course.ignore, "*.ipynb"]
        written = {self._notebook(learner)}
        source = self.folder / "source" / self.name
        own = self.autograde.exclude_overwriting.get(self.name, [])
        for folder in (self.folder / "submitted" / by / self.name, source):
            for file in map(Path, find_all_files(str(folder), ignored)):
                inside = file.relative_to(folder)
                if folder == source and str(inside) in own:
                    continue
                if folder != source and (str(inside) in own or not (source / inside).is_file()):
                    inside = inert_files.stored_as(inside)
                written.add(target / inside)
                _make_way(target, inside)
                copy_file(file, target / inside)  # its permissions are the course's
        secret = target / releasable.SECRET
        if by != learner and secret.is_file():  # release_feedback names pages by it: two would be one
            write_whole(secret, digest(seeds.secret_of(self.folder), learner, self.name))
        write_whole(self._notebook(learner), text if text.endswith("\n") else text + "\n")
        self._remove_others(target, written)
        self.autograde.set_permissions(self.name, learner)

    def _remove_others(self, target: Path, kept: Collection[Path]) -> None:
        for folder, _, files in os.walk(target, topdown=False):
            for file in files:
                if Path(folder, file) not in kept:
                    Path(folder, file).unlink()
            if folder != str(target) and not os.listdir(folder):
                os.rmdir(folder)


def copy_file(source: Path, target: Path) -> None:
    """Copy what a file holds; where it holds nothing (a sparse one), the copy takes no place either."""
    if sys.platform != "linux":
        shutil.copyfile(source, target)
        return
    with naming(target), open(source, "rb") as read, open(target, "wb") as write:
        size, at = os.fstat(read.fileno()).st_size, 0
        write.truncate(size)
        while at < size:
            try:
                at = os.lseek(read.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:  # nothing but a hole from here on
                    raise
                break
            hole = os.lseek(read.fileno(), at, os.SEEK_HOLE)
            write.seek(at)
            while at < hole and (sent := os.sendfile(write.fileno(), read.fileno(), at, hole - at)):
                at += sent


def _make_way(target: Path, inside: Path) -> None:
    """Make the folders for a file below `target`; what lies there under the name of one of them, or of the file, and is
    something else, goes: it was submitted before, or is not the teacher's."""
    for folder in reversed(inside.parents[:-1]):
        if (target / folder).is_file():
            (target / folder).unlink()
    (target / inside).parent.mkdir(parents=True, exist_ok=True)
    if (target / inside).is_dir():
        shutil.rmtree(target / inside)
    (target / inside).unlink(missing_ok=True)
