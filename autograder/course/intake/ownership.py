"""Whose the files of an archive are.

A path has names from two hands: the outermost is the platform's or the teacher's, all below it the learner's, who may
call a file or a folder as somebody else. So the outermost alone is asked, and where it is nobody's, the file is; but
folders that are around everything in an archive say nothing of anybody.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from .archives import Member, Refused
from .download_names import Upload, composed, is_notebook, is_submitted, label_of, upload, without_suffix
from .roster_match import Roster

AROUND = ("submissions", "submitted", "class")  # how those who pack an archive call a folder around everything


@dataclass
class Owned:
    """By learner, the files; and a line for each that was refused."""

    files: dict[str, list[Upload]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


def by_owner(members: Sequence[Member], roster: Roster, around: Collection[str]) -> Owned:
    """By learner, the files; where the files of two people seem to be one learner's, nobody gets any of them.

    `around`: further names of folders that may be around everything, as those of the assignment and the archive.
    """
    owned, ids = Owned(), roster.ids
    submitted = [member for member in members if is_submitted(member)]
    depth = _depth(submitted, roster, {composed(name).casefold() for name in (*AROUND, *around)})
    for member in submitted:
        try:
            file = upload(member, depth, ids)
            is_id = not roster.people and file.owner.platform == "plain"
            learner = _by_shape(file, depth, around) if is_id else roster.owner(file).id
            owned.files.setdefault(_checked_id(learner), []).append(file)
        except Refused as error:
            owned.refused.append(str(error))
    for learner, files in list(owned.files.items()):
        if len({file.owner for file in files}) > 1:
            owned.refused.append(f"{listed(files)}: files of several people, all of whom seem to be {learner}")
            del owned.files[learner]
    return owned


def listed(files: Sequence[Upload]) -> str:
    """The names of the first few files."""
    return ", ".join(sorted({file.member.name for file in files})[:5])


def _depth(members: Sequence[Member], roster: Roster, around: Collection[str]) -> int:
    """How many folders are around everything and nobody's: those called so, and others where what is in them shows
    that they are no learner's, since it is of two, or called as platforms alone call it."""
    paths = [member.path for member in members if len(member.path) > 1 or is_notebook(member.path[0])]
    levels = zip(*(path[:-1] for path in paths), strict=False)
    common = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)]
    nobodys = list(takewhile(lambda part: not roster.knows(label_of(part, roster.ids, is_file=False).owner), common))
    depth = len(nobodys)
    inside = {path[depth]: len(path) == depth + 1 for path in paths}
    owners = [label_of(part, roster.ids, is_file=is_file).owner for part, is_file in inside.items()]
    known = {owner for owner in owners if roster.knows(owner)}
    if len(known) > 1 or (known and all(owner.platform != "plain" for owner in owners)):
        return depth
    return len(list(takewhile(lambda part: composed(part).casefold() in around, nobodys)))


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
