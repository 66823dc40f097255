"""Grade a class: what it has submitted, entered in the gradebook, with results and feedback for everybody."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..grading.restore import read_notebook
from . import gradebook, gradebook_url
from .agreements import extensions, late_work, learner_groups
from .banks import bank_of, checked_name
from .class_results.class_result import ClassResult, add, enter_penalties, save
from .class_results.stored_results import results_path, with_grades_by_hand
from .layout import read_config, released
from .run import class_run, dask_cluster
from .run.gradebook_writer import GradebookWriter
from .run.journal import Journal, reporting_full_machine
from .run.nbgrader_steps import GradeInSandbox
from .run.trail_file import TrailFile
from .submissions import refused_uploads, submission_folders
from .terms import agreed_terms, group_shares, history


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
    trust_timestamps: bool = False,
) -> ClassResult:
    """Grade what is in submitted/*/NAME: gradebook, autograded/, feedback/, and the results by learner and
    exercise.

    A submission that cannot be graded is a learner with a `problem`; the others are graded all the same. With
    `resume`, what an earlier run has graded and what has not changed since stays. `started` is called with the
    number of submissions and a remark on an earlier run, `progress` with each learner's name as it is done. A
    timestamp.txt that nbgrader's exchange did not write counts only with `trust_timestamps`. Raises NoSandbox, see
    `grading.grade_notebook`.
    """
    folder, name = Path(folder).resolve(), checked_name(name)
    with reporting_full_machine(folder, name):
        began = time.monotonic()
        config = read_config(folder)
        config.GradeInSandbox.unsafe = unsafe or config.GradeInSandbox.get("unsafe", False)
        if cell_limit is not None:
            config.GradeInSandbox.cell_limit = cell_limit
        if trust_timestamps:
            config.SubmissionTime.trusted = True
        path = released(folder, name)
        release_nb = read_notebook(path)
        bank = bank_of(folder, release_nb, path)
        assigned = class_run.ReleasedAssignment(
            path, release_nb, bank, GradeInSandbox(config=config).run_settings(folder, path)
        )
        result = ClassResult(name, assigned.exercises, folder=str(folder))
        result.problems += [f"{error}; left out, for {name} asks for nothing of it" for error in bank.left_out]
        result.refused = refused_uploads.load(folder, name)
        result.gradebook = gradebook_url.location(gradebook.url_of(folder))
        agreed = agreed_terms.read(folder, name)
        if students is not None:
            students = learner_groups.whole_groups(folder, name, students, agreed.groups)
        homes = submission_folders.collect(folder, name, students, result)
        if scheduler is None:
            executor = partial(class_run.local_executor, assigned, workers)
        else:
            executor = partial(dask_cluster.executor, assigned, scheduler, workers)
        writer = GradebookWriter(folder, name, config, GradeInSandbox)
        result.problems += writer.times.doubted(homes)
        shares = learner_groups.share_out(homes, agreed.groups, writer.times.of, result)
        with writer, Journal.open(folder, name) as journal:
            extensions.enter(folder, name)
            had = group_shares.read(folder, name)
            if started is not None:
                started(len(homes), journal.remark(resume or students is not None))
            if students is None:
                journal.begin(restart=not resume)
            tell = progress or (lambda _: None)
            run = class_run.ClassRun(
                assigned,
                homes,
                result,
                journal,
                writer,
                executor,
                resume,
                tell,
                shares,
                had,
                lambda: group_shares.write(folder, name, had),
                TrailFile(folder, name),
            )
            run.run()
            if students is None:
                unsure = [learner.name for learner in result.learners if learner.problem]
                result.problems += learner_groups.take_back(folder, name, had, [*sum(shares.values(), unsure)])
            passed = _pass_on(folder, name, writer)
            had |= group_shares.read(folder, name)  # which has what was passed on
            for learner in passed:
                run.note_shown(learner)
            penalties = {one.person.id: one.late_penalty for one in gradebook.scores(folder, [name])[name]}
            enter_penalties(result, penalties, results_path(folder, name), run.late_reasons)
            result.seconds = time.monotonic() - began
            (save if students is None else add)(result, results_path(folder, name))
            if students is None:
                journal.end()
            late_work.note_rule(folder, config)
            history.record(folder, "grade", name, **_told(result, students))
    return with_grades_by_hand(result)


def _told(result: ClassResult, students: Sequence[str] | None) -> dict[str, Any]:
    """What a history says of a run."""
    changes = [*result.changes, *result.late_changes, *result.entry_changes]
    about: dict[str, Any] = {"graded": sum(1 for learner in result.learners if learner.results)}
    if changes:
        why = [change.why for change in result.changes] + [change.why for change in result.late_changes]
        why += ["submitted again" for change in result.changes if change.resubmitted]
        why += ["by hand, files or groups"] * bool(result.entry_changes)
        about |= {"changed": len(changes), "why": "; ".join(sorted(set(filter(None, why)))) or "nothing on record"}
    return about | ({"learners": list(students)} if students is not None else {})


def show_feedback(folder: Path | str, name: str) -> list[Path]:
    """Rewrite the feedback of everybody who is graded, from the gradebook as it is; returns the pages.

    Late penalties are computed again before: grades given by hand have changed the scores that they are part of, and
    times of submission may have become known.
    """
    folder, name = Path(folder).resolve(), checked_name(name)
    released(folder, name)
    late_work.bring_up_to_date(folder, name)
    with GradebookWriter(folder, name, read_config(folder), GradeInSandbox) as writer:
        return [writer.show(learner) for learner in sorted(writer.has())]


def _pass_on(folder: Path, name: str, writer: GradebookWriter) -> list[str]:
    """Grades by hand to all of a group, and their pages with it; returns for whom that changed something."""
    if changed := learner_groups.pass_on(folder, name):
        gradebook.update_late_penalties(folder, name)
        for learner in changed:
            writer.show(learner)
    return changed
