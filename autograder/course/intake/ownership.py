"""Whose the files of an archive are.

A path has names from two hands: the outermost is the platform's or the teacher's, all below it the learner's, who may
call a file or a folder as somebody else. So the outermost alone is asked, and where it is nobody's, the file is. A
folder around everything says nothing of anybody only where it is called as those who pack archives call it, for what is
in any other may be all of one learner's choice; and an archive that is called as a learner is has nobody else's files.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from .archives import Member, Refused
from .download_names import (
    FILE_NUMBER,
    ZIP,
    Upload,
    composed,
    is_notebook,
    is_submitted,
    label_of,
    platform_of,
    upload,
    without_suffix,
)
from .roster_match import Roster

AROUND = ("submissions", "submitted", "class")  # how those who pack an archive call a folder around everything


@dataclass
class Owned:
    """By learner, the files; and a line for each that was refused."""

    files: dict[str, list[Upload]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


def by_owner(members: Sequence[Member], roster: Roster, name: str, archive: str) -> Owned:
    """By learner, the files; where the files of two people seem to be one learner's, nobody gets any of them.

    `name`: the assignment, and `archive` the name of the archive's file or folder, after which a folder around
    everything may be called, too.
    """
    owned, ids = Owned(), roster.ids
    around = (name, ZIP.sub("", archive))
    submitted = [member for member in members if is_submitted(member)]
    depth = _depth(submitted, roster, {composed(part).casefold() for part in (*AROUND, *around)})
    platform = platform_of(submitted, depth, ids) or ("moodle" if roster.lines else "")
    outside = _learner_of(archive, roster)
    for member in submitted:
        try:
            file = upload(member, depth, ids, platform)
            is_id = not roster.people and file.owner.platform == "plain"
            learner = _by_shape(file, depth, around) if is_id else roster.owner(_certain(file, name)).id
            if outside not in ("", learner):
                raise Refused(
                    f"{member.name}: this is a file of {learner}, in an archive that is called as {outside} is; rename "
                    f"the archive where it is of several people, and put it into a folder {outside} where it is not"
                )
            owned.files.setdefault(_checked_id(learner), []).append(file)
        except Refused as error:
            owned.refused.append(str(error))
    for learner, files in list(owned.files.items()):
        if len({file.owner for file in files}) > 1:
            owned.refused.append(
                f"{listed(files)}: files of several people, all of whom seem to be {learner}; by an lms_user_id in the "
                "gradebook, or Moodle's worksheet, they can be told apart"
            )
            del owned.files[learner]
    return owned


def _learner_of(archive: str, roster: Roster) -> str:
    """The learner as whom a whole archive is called, as one of a single submission is; "" where nobody is."""
    learners = {person.id for person in roster.meant(label_of(archive, roster.ids, is_file=False).owner)}
    return learners.pop() if len(learners) == 1 else ""


def _certain(file: Upload, name: str) -> Upload:
    """The file, whose title begins with digits where the assignment's name does: those are no number of Canvas's."""
    digits = FILE_NUMBER.match(name)
    is_named = file.owner.platform == "canvas" and digits is not None and file.title.startswith(digits[0])
    return replace(file, owner=replace(file.owner, others=())) if is_named else file


def listed(files: Sequence[Upload]) -> str:
    """The names of the first few files."""
    return ", ".join(sorted({file.member.name for file in files})[:5])


def _depth(members: Sequence[Member], roster: Roster, around: Collection[str]) -> int:
    """How many folders are around everything and nobody's: those that are called so, and as no learner is."""
    paths = [member.path for member in members if len(member.path) > 1 or is_notebook(member.path[0])]
    levels = zip(*(path[:-1] for path in paths), strict=False)
    common = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)]
    return len(
        list(takewhile(lambda part: composed(part).casefold() in around and not _is_known(part, roster), common))
    )


def _is_known(part: str, roster: Roster) -> bool:
    return roster.knows(label_of(part, roster.ids, is_file=False).owner)


def _by_shape(file: Upload, depth: int, around: Collection[str]) -> str:
    """Who a file's owner is where nobody is known: by LEARNER.ipynb, LEARNER/NAME.ipynb or LEARNER/NAME/NAME.ipynb."""
    inner = file.member.path[depth + 1 : -1]
    if len(inner) > 1 or (inner and inner[0] not in (*around, without_suffix(file.title))):
        raise Refused(
            f"{file.member.name}: with no learners in the gradebook, LEARNER/{file.title} was expected, and either of "
            f"{file.owner.who!r} and {inner[0]!r} may be a learner"
        )
    return file.owner.who


def _checked_id(learner: str) -> str:
    if not learner.isprintable() or learner.startswith(".") or "/" in learner or "\\" in learner or not learner.strip():
        raise Refused(f"{learner!r} is not the name of a learner's folder")
    return learner
