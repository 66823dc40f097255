"""The names of the files in a download of submissions, as Canvas and Moodle write them.

Canvas (`ContentZipper`) puts all files into one folder: the name by which it sorts a learner in small letters and
without what is no letter or digit, LATE, the learner's number, the file's, and the name under which it was uploaded, as
in `lovelaceada_LATE_4711_90210_week1-1.ipynb`. Moodle (`mod_assign`) makes a folder for each learner, as in
`Ada Lovelace_123_assignsubmission_file/week1.ipynb`, where 123 is a number of this assignment alone; in another setting
of its own, it puts the same before the file's name. Neither says in a zip when a file was submitted.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from .archives import Member, Refused

MOODLE = re.compile(r"(?P<who>.*?)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<title>.*))?", re.DOTALL)
CANVAS = re.compile(r"(?P<who>.+?)_(?:(?P<late>LATE)_)?(?P<number>\d+)_\d+_(?P<title>.+)", re.DOTALL)
ANONYMOUS = re.compile(r"(?:LATE_)?anon_\w+?_\d+_.+", re.DOTALL)
RUBBISH = ("__MACOSX", ".ipynb_checkpoints", ".DS_Store")  # of whoever packed it, in any folder
NOTEBOOK = ".ipynb"


@dataclass(frozen=True)
class Upload:
    """A learner's file in a download: whose it is as the `platform` says it (a name, and a number), and its title."""

    member: Member
    platform: str
    who: str
    number: str
    title: str
    late: bool = False

    @property
    def owner(self) -> tuple[str, str, str]:
        """What all files of one learner have in common."""
        return self.platform, self.who, self.number


def upload(member: Member, ids: Collection[str]) -> Upload | None:
    """Whose a member is; None for what nobody submitted. `ids`: the learners of the gradebook. Refused where the
    name hides its learner, or belongs to a text that was typed into the platform."""
    *folders, file = member.path
    if set(member.path) & set(RUBBISH) or file.startswith("._"):
        return None
    for part in (*folders, file):
        if (found := MOODLE.fullmatch(part)) and (part is not file or found["title"]):
            if found["kind"] != "file":
                raise Refused(f"{member.name}: typed into Moodle ({found['kind']}); an uploaded file was expected")
            return Upload(member, "moodle", found["who"], found["number"], found["title"] if part is file else file)
    stem = file.removesuffix(NOTEBOOK)
    for own in (*folders, stem):
        if own in ids:
            return Upload(member, "plain", own, "", file)
    if ANONYMOUS.fullmatch(file):
        raise Refused(f"{member.name}: Canvas hides whose it is; end the assignment's anonymous grading before")
    if (found := CANVAS.fullmatch(file)) is not None:
        return Upload(member, "canvas", found["who"], found["number"], found["title"], found["late"] is not None)
    return Upload(member, "plain", _plain_owner(folders, stem), "", file)


def _plain_owner(folders: list[str], stem: str) -> str:
    """Whose a file is by LEARNER.ipynb, LEARNER/NAME.ipynb or LEARNER/NAME/NAME.ipynb."""
    named = [folder for folder in folders if folder != stem]
    return named[-1] if named else stem
