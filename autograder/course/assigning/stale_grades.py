"""What of those who are graded is not as the course has it now: for how many, before anything runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ...grading.fingerprints import Fingerprint
from ...grading.restore import read_notebook
from .. import gradebook
from ..banks import bank_of
from ..layout import read_config, released
from ..run.class_run import ReleasedAssignment
from ..run.journal import finished_entries
from ..run.nbgrader_steps import GradeInSandbox

RUN, JUDGED, SHOWN = "run", "judged", "shown"


@dataclass(frozen=True)
class Stale:
    """How many submissions have to run again, to be judged again, and only to be shown anew, of so many."""

    run: int = 0
    judged: int = 0
    shown: int = 0
    graded: int = 0

    @property
    def sentence(self) -> str:
        """What is not up to date, without its full stop; "" where everything is."""
        parts = [
            (self.run, "ran in another release, or under other settings"),
            (self.judged, "were judged by another key"),
            (self.shown, "have the points and texts of before in table and feedback"),
        ]
        listed = [f"{count} {what}" for count, what in parts if count]
        return f"of {self.graded} graded submissions {', '.join(listed)}; to bring them up to date" if listed else ""


def stale(folder: Path | str, name: str) -> Stale:
    """Compare what the last run graded, and the gradebook still has, with the assignment as it is released now."""
    folder = Path(folder).resolve()
    entries = finished_entries(folder, name)
    if not entries:
        return Stale()
    with_grades = {score.person.id for score in gradebook.scores(folder, [name])[name] if score.graded}
    entries = {learner: entry for learner, entry in entries.items() if learner in with_grades}
    path = released(folder, name)
    nb = read_notebook(path)
    settings = GradeInSandbox(config=read_config(folder)).run_settings(folder, path)
    now = ReleasedAssignment(path, nb, bank_of(folder, nb, path), settings).fingerprint("")
    counts = Counter(kind_of(entry.fingerprint, now) for entry in entries.values())
    return Stale(counts[RUN], counts[JUDGED], counts[SHOWN], len(entries))


def kind_of(graded: Fingerprint, now: Fingerprint) -> str:
    """What has to be done again of a submission that was graded so; "" for nothing."""
    if graded.release != now.release:
        return RUN
    if any(graded.keys.get(exercise) != key for exercise, key in now.keys.items()):
        return JUDGED
    return SHOWN if graded.wording != now.wording else ""
