"""A class whose grading is killed at random moments and resumed, against the same class graded at once: every row of
the gradebook, every executed notebook, every feedback page."""

import hashlib
import json
import math
import random
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.grading.classroom import NAME
from benchmarks.grading.runs import Ran, grade_ours

KILLS = 10


def rows(course: Path) -> list[tuple[Any, ...]]:
    """What the gradebook has of every learner: scores, and by cell each grade and comment; sorted."""
    from nbgrader.api import Gradebook

    found: list[tuple[Any, ...]] = []
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        for sub in gradebook.assignment_submissions(NAME):
            who = sub.student.id
            found.append((who, "", sub.score, sub.max_score, sub.needs_manual_grade))
            for notebook in sub.notebooks:
                found += [(who, g.name, g.auto_score, g.manual_score, g.needs_manual_grade) for g in notebook.grades]
                found += [(who, c.name, c.auto_comment, c.manual_comment) for c in notebook.comments]
    return sorted(found, key=str)


def files(course: Path) -> dict[str, str]:
    """A digest of every executed notebook and every feedback page."""
    return {
        str(path.relative_to(course)): hashlib.sha256(path.read_bytes()).hexdigest()
        for part in ("autograded", "feedback")
        for path in sorted((course / part).rglob("*"))
        if path.is_file()
    }


def sentences(course: Path) -> Any:
    """Every verdict, as the results of the run have it."""
    kept = json.loads((course / ".gpubook" / f"{NAME}.results.json").read_text())
    return {one["name"]: (one["results"], one["problem"]) for one in kept["learners"]}


def finished(course: Path) -> list[str]:
    """The learners in the journal, in the order in which they were finished; some may be there twice."""
    path = course / ".gpubook" / f"{NAME}.journal"
    text = path.read_text() if path.is_file() else ""
    lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    return [line["learner"] for line in lines if "learner" in line]


class _Moment:
    """Whether `count` submissions are finished, and `more` seconds gone since: any step of any submission."""

    def __init__(self, course: Path, count: int, more: float):
        self.course, self.count, self.more, self.since = course, count, more, math.inf

    def __call__(self) -> bool:
        now = time.monotonic()
        if math.isinf(self.since) and len(set(finished(self.course))) >= self.count:
            self.since = now
        return now - self.since >= self.more


def progress(course: Path) -> str:
    """How far a run is."""
    return f"{len(set(finished(course))):,} finished"


def measure(course: Path, limit: float, workers: int, seed: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Grade one copy of `course` at once; kill and resume another; AssertionError where they differ in anything."""
    whole, killed = course.with_name("whole"), course.with_name("killed")
    for copy in (whole, killed):
        shutil.copytree(course, copy)
    at_once = grade_ours(whole, NAME, limit, workers, tell=partial(progress, whole))
    size = len(finished(whole))
    say(f"at once: {size:,} submissions in {at_once.seconds:.0f} s")
    rng = random.Random(seed)
    runs, done = list[Ran](), [0]
    for number, count in enumerate(sorted(rng.sample(range(size), KILLS)), start=1):
        moment = _Moment(killed, count, rng.uniform(0, 2 * at_once.seconds / size))
        runs.append(grade_ours(killed, NAME, limit, workers, resume=True, kill_when=moment))
        done.append(len(set(finished(killed))))
        assert done[-1] >= done[-2], f"kill {number} has lost submissions: {done}"
        say(f"kill {number} of {KILLS}: {runs[-1].seconds:.1f} s after its start, with {done[-1]:,} finished")
    runs.append(grade_ours(killed, NAME, limit, workers, resume=True, tell=partial(progress, killed)))
    for what, of in (("the gradebook's rows", rows), ("the files", files), ("the sentences", sentences)):
        assert of(killed) == of(whole), f"{what} are not those of the run that was not killed"
    left = sum(run.left for run in runs)
    found: dict[str, Any] = {"size": size, "at_once": at_once.seconds, "finished": done[1:], "left": left}
    found |= {"rows": len(rows(whole)), "files": len(files(whole)), "seconds": sum(run.seconds for run in runs)}
    say(
        f"resumed to the end: {found['seconds']:.0f} s in all; {found['rows']:,} rows, {found['files']:,} files and "
        f"all sentences are those of the run that was not killed; left running a second after a kill: {left}"
    )
    return found
