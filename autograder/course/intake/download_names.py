"""The names of the files in a download of submissions, as Canvas and Moodle write them.

Canvas (`ContentZipper`) puts all files into one folder: the name by which it sorts a learner in small letters and
without what is no letter or digit, LATE, the learner's number, the file's, and the name under which it was uploaded, as
in `lovelaceada_LATE_4711_90210_week1-1.ipynb`. Moodle (`mod_assign`) makes a folder for each learner, as in
`Ada Lovelace_123_assignsubmission_file/week1.ipynb`, where 123 is a number of this assignment alone; in another setting
of its own, it puts the same before the file's name. Neither says in a zip when a file was submitted.

A learner may call a file, and on many platforms herself, so that a name can be read in two ways. All names of a
download are of one platform, so those that can be read in one way alone say which; what is still open is nobody's.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from .archives import Member, Refused

MARK = r"_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)"
MOODLE_FOLDER = re.compile(rf"(?P<who>.*){MARK}_?", re.DOTALL)
MOODLE_FILE = re.compile(rf"(?P<who>.*?){MARK}_(?P<title>.+)", re.DOTALL)
CANVAS = re.compile(r"(?P<who>.+?)_(?:(?P<late>LATE)_)?(?P<number>\d+)_(?P<file>\d+)_(?P<title>.+)", re.DOTALL)
FILE_NUMBER = re.compile(r"[1-9]\d*_")  # as Canvas writes a file's before its title
ANONYMOUS = re.compile(r"(?:LATE_)?anon_\w+?_\d+_.+", re.DOTALL)
RUBBISH = ("__MACOSX", ".ipynb_checkpoints", ".DS_Store")  # of whoever packed it, in any folder
NOTEBOOK = ".ipynb"
SAVED = re.compile(
    r"\.ipynb(?:\.json|\.txt)?\Z", re.IGNORECASE
)  # a browser that saves a notebook may put its kind behind
ZIP = re.compile(r"\.zip\Z", re.IGNORECASE)  # what a learner handed in is as a folder, see `archives`


@dataclass(frozen=True)
class Owner:
    """Whose a file is, as a `platform` writes it: a name, and a number.

    `others`: who it may be as well, by name and number, if what this platform writes between them stands in a name.
    """

    platform: str
    who: str
    number: str = ""
    others: tuple[tuple[str, str], ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Label:
    """What the name of a file or of a folder says: its owner, and how the learner called it, or the kind of the text
    that was typed in."""

    owner: Owner
    title: str = ""
    kind: str = "file"
    late: bool = False


@dataclass(frozen=True)
class Upload:
    """A learner's file in a download: its owner, and its title."""

    member: Member
    owner: Owner
    title: str
    late: bool = False


def is_notebook(title: str) -> bool:
    """Whether a file is called as a notebook is, whatever a browser has put behind its name."""
    return without_suffix(title) != title


def without_suffix(title: str) -> str:
    """A file's name without what makes it a notebook's: "week1" of "week1.ipynb" and of "week1.ipynb.json"."""
    return SAVED.sub("", title)


def composed(text: str) -> str:
    """A text with each letter and its accent as one character: some systems write them as two in the name of a file."""
    return unicodedata.normalize("NFC", text)


def is_submitted(member: Member) -> bool:
    """Whether somebody may have submitted a member: a system that packs a zip puts files of its own into it."""
    return not set(member.path) & set(RUBBISH) and not member.path[-1].startswith("._")


def upload(member: Member, around: int, ids: Collection[str], platform: str = "") -> Upload:
    """Whose a member is, by the outermost name below the first `around` folders, which the `platform` or a teacher
    made: what is below it is a learner's choice. `ids`: the learners of the gradebook, `composed`. Refused where the
    name hides its learner, belongs to a text that was typed into the platform, or may be of either platform."""
    path = _below(member, around)
    outermost, is_file = path[0], len(path) == 1
    if is_file and composed(without_suffix(outermost)) not in ids and ANONYMOUS.fullmatch(outermost):
        raise Refused(f"{member.name}: Canvas hides whose it is; end the assignment's anonymous grading before")
    if not platform and len(_readings(outermost, ids, is_file=is_file)) > 1:
        raise Refused(
            f"{member.name}: this may be a name of Canvas's or of Moodle's, for two people; give Moodle's worksheet, "
            "or put it into a folder with the learner's id"
        )
    label = label_of(outermost, ids, is_file=is_file, platform=platform)
    if label.kind != "file":
        raise Refused(f"{member.name}: typed into Moodle ({label.kind}); an uploaded file was expected")
    return Upload(member, label.owner, (label.title or path[-1]) if is_file else path[-1], label.late)


def platform_of(members: Iterable[Member], around: int, ids: Collection[str]) -> str:
    """The platform that wrote these names, by those that can be of one platform alone; "" where none says so."""
    paths = [_below(member, around) for member in members]
    readings = [_readings(path[0], ids, is_file=len(path) == 1) for path in paths]
    platforms = {next(iter(labels)) for labels in readings if len(labels) == 1}
    return platforms.pop() if len(platforms) == 1 else ""


def label_of(part: str, ids: Collection[str], *, is_file: bool, platform: str = "") -> Label:
    """What a part of a path says. Where it has the marks of both platforms, it is of this `platform`, or of the one
    whose marks come first."""
    readings = _readings(part, ids, is_file=is_file)
    plain = composed(without_suffix(part) if is_file else ZIP.sub("", part))
    return readings.get(platform) or next(iter(readings.values()), Label(Owner("plain", plain)))


def _readings(part: str, ids: Collection[str], *, is_file: bool) -> dict[str, Label]:
    """By platform, what a part of a path says if that wrote it; first that whose marks come first."""
    if composed(without_suffix(part) if is_file else ZIP.sub("", part)) in ids:
        return {}
    moodle = (None if is_file else MOODLE_FOLDER.fullmatch(part)) or MOODLE_FILE.fullmatch(part)
    canvas = CANVAS.fullmatch(part)
    labels = {"moodle": _of_moodle(part, moodle)} if moodle else {}
    if canvas is None:
        return labels
    is_first = moodle is None or canvas.start("number") < moodle.start("number")
    by_canvas = {"canvas": _of_canvas(canvas)}
    return by_canvas | labels if is_first else labels | by_canvas


def _below(member: Member, around: int) -> tuple[str, ...]:
    return member.path[around:] or member.path[-1:]


def _of_moodle(part: str, match: re.Match[str]) -> Label:
    marks = [(part[: mark.start()], mark["number"]) for mark in re.finditer(MARK, part)]
    own = match["who"], match["number"]
    owner = Owner("moodle", *own, tuple(other for other in marks if other != own))
    return Label(owner, match.groupdict().get("title") or "", match["kind"])


def _of_canvas(match: re.Match[str]) -> Label:
    """Canvas takes `_12_` out of a name, but leaves `_12` at its end."""
    others = ((f"{match['who']}_{match['number']}", match["file"]),) if FILE_NUMBER.match(match["title"]) else ()
    owner = Owner("canvas", match["who"], match["number"], others)
    return Label(owner, match["title"], late=match["late"] is not None)
