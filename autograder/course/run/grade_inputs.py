"""Every input of a grade: what of a course, once it is another, gives another grade, page or export.

`--resume` compares each with what the last run graded, does the least that is needed and says what changed. The table
in docs/developers/grader.md is this list, and tests change each input, alone and two at once.
"""

from dataclasses import dataclass
from enum import StrEnum


class Least(StrEnum):
    """The least that is done where an input differs."""

    RUN = "the cells run"
    JUDGING = "the saved answers are judged again; cells run where an answer was not saved"
    REISSUE = "points and verdicts are brought under the new release; nothing runs"
    PENALTY = "the late penalty is computed again; nothing runs"
    ENTRY = "gradebook and page are written anew; nothing runs"
    REFUSED = "refused once there are submissions"


@dataclass(frozen=True)
class GradeInput:
    """One input: what compares it, as `module:name` in `autograder`, the least that is done where it differs, and the
    word by which the run's list of changes says so ("" where no result can be another)."""

    name: str
    compared_by: str
    least: Least
    reason: str


SUBMISSION = "grading.fingerprints:Fingerprint.submission"
RELEASE = "grading.fingerprints:Fingerprint.release"
WORDING = "grading.fingerprints:Fingerprint.wording"
TIME = "course.terms.lateness:Lateness.submitted"
DUE = "course.terms.lateness:Lateness.due"
INPUTS = (
    GradeInput("notebook", SUBMISSION, Least.RUN, "submitted again"),
    GradeInput("files", "course.terms.page_basis:PageBasis.files", Least.ENTRY, "files"),
    GradeInput("released files", RELEASE, Least.RUN, "release or settings"),
    GradeInput("time", TIME, Least.PENALTY, "time of submission"),
    GradeInput("trust", "course.terms.lateness:Lateness.trusted", Least.PENALTY, "trust in its time"),
    GradeInput("deadline", DUE, Least.PENALTY, "deadline or extension"),
    GradeInput("extension", DUE, Least.PENALTY, "deadline or extension"),
    GradeInput("group", "course.terms.group_shares:GroupShare.by", Least.ENTRY, "group"),
    GradeInput("late rule", "course.terms.lateness:Lateness.penalty", Least.PENALTY, "late rule or points"),
    GradeInput("points", WORDING, Least.REISSUE, "points or wording"),
    GradeInput("wording", WORDING, Least.JUDGING, ""),  # of an exercise, which its key has too; no result changes
    GradeInput("omission", "course.assigning.assign_and_drop:assign", Least.REFUSED, ""),
    GradeInput("drop", WORDING, Least.REISSUE, "points or wording"),
    GradeInput("full marks", WORDING, Least.REISSUE, "points or wording"),
    GradeInput("key", "grading.fingerprints:Fingerprint.keys", Least.JUDGING, "key"),
    GradeInput("variants", RELEASE, Least.RUN, "release or settings"),
    GradeInput("hand grade", "course.terms.page_basis:PageBasis.by_hand", Least.ENTRY, "by hand"),
)


def as_table() -> str:
    """The list as a table in Markdown."""
    rows = ["| input | compared by | least that is done | told as |", "|---|---|---|---|"]
    for item in INPUTS:
        reason = f'"{item.reason}"' if item.reason else "–"
        rows.append(f"| {item.name} | `{item.compared_by}` | {item.least} | {reason} |")
    return "\n".join(rows)
