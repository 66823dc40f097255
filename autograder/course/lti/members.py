"""A platform's roster (NRPS) into the gradebook, and which learner is whom there; in `.gpubook/lti-members.json`.

Nobody is matched by a name. A learner of the gradebook stays, whoever leaves the platform.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own
from .. import gradebook
from ..gradebook import GradebookLearner
from ..gradebook_url import opened
from ..terms.agreed_terms import checked_learner
from .connection import Connection

FILE = "lti-members.json"
REMEDY = "move it away, and read the platform's roster again: `gpubook course lti roster`"
ACCEPT = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
IDS = ("email", "login", "sis", "user")


@dataclass(frozen=True)
class RosterMember:
    """Who takes part in the platform's course; only `user` is never empty."""

    user: str
    sis: str = ""
    email: str = ""
    first_name: str = ""
    last_name: str = ""

    def learner_id(self, by: str) -> str:
        """The id in a gradebook: the address ("email"), what is before its @ ("login"), the institution's id ("sis") or
        the platform's own ("user"); "" where the platform does not say it."""
        login = self.email.partition("@")[0]
        return {"email": self.email, "login": login, "sis": self.sis, "user": self.user}[by]

    @property
    def shown(self) -> str:
        """Who it is, for a teacher."""
        return " ".join(filter(None, (self.first_name, self.last_name))) or self.email or self.user


@dataclass
class RosterChange:
    """What a roster says: by the platform's id the learners who are known, those who are `new`, and notes."""

    known: dict[str, str] = field(default_factory=dict)
    new: dict[str, RosterMember] = field(default_factory=dict)  # by learner's id
    notes: list[str] = field(default_factory=list)

    @property
    def users(self) -> dict[str, str]:
        """By the platform's id, each learner's."""
        return {**self.known, **{member.user: learner for learner, member in self.new.items()}}


def read(connection: Connection) -> list[RosterMember]:
    """The learners of the platform's course who are active, without its teachers."""
    members: dict[str, RosterMember] = {}
    for page in connection.pages(connection.at.roster_url, ACCEPT):
        rows = page.get("members") if isinstance(page, dict) else None
        if not isinstance(rows, list):
            raise CourseError(
                f"{connection.at.roster_url} answers without members; the address of a roster was expected"
            )
        for row in rows:
            if isinstance(row, dict) and _is_learner(row) and (user := _text(row, "user_id")):
                names = _text(row, "given_name"), _text(row, "family_name") or _text(row, "name")
                sis = _text(row, "lis_person_sourcedid")
                members[user] = RosterMember(user, sis, _text(row, "email"), *names)
    return list(members.values())


def compared(folder: Path, members: Iterable[RosterMember], by: str = "email") -> RosterChange:
    """What a roster changes; nothing is written. Who is new gets an id `by` one of IDS."""
    people = _people(folder)
    ids = {person.id for person in people}
    before = {user: who for user, who in load(folder).items() if who in ids}
    made, roster = RosterChange(), list(members)
    claims = {member.user: _matching(member, people, before) for member in roster}
    often = Counter(next(iter(learners)) for learners in claims.values() if len(learners) == 1)
    for member in roster:
        learners = claims[member.user]
        if len(learners) > 1:
            made.notes.append(
                f"{member.shown} is {' or '.join(sorted(learners))} by its keys, and nobody until that is one"
            )
        elif not learners:
            _enter(made, member, by, ids)
        elif often[learner := next(iter(learners))] > 1:
            made.notes.append(
                f"{member.shown} is {learner} by its keys, and so is another there: nobody's grades go there"
            )
        else:
            made.known[member.user] = learner
    if left := sorted(ids - set(made.users.values())):
        made.notes.append(f"in the gradebook, not in the platform's roster: {', '.join(left)}")
    return made


def enter(folder: Path, change: RosterChange) -> None:
    """Add who is new to the gradebook, and keep who is whom."""
    path = own(folder, FILE)
    with warnings.catch_warnings(), opened(gradebook.url_of(folder)) as book:
        warnings.simplefilter("ignore")  # nbgrader's way of adding makes SQLAlchemy 2.1 warn
        for learner, member in change.new.items():
            names: dict[str, Any] = {"first_name": member.first_name, "last_name": member.last_name}
            book.update_or_create_student(learner, **names, email=member.email)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(path, json.dumps({**load(folder), **change.users}, indent=1, ensure_ascii=False) + "\n")


def load(folder: Path) -> dict[str, str]:
    """The learners by the platform's id, as the last roster had them."""
    path = own(folder, FILE)
    return json_of(path, REMEDY, _users, CourseError) if path.exists() else {}


def _users(plain: Mapping[str, Any]) -> dict[str, str]:
    if any(type(learner) is not str for learner in plain.values()):
        raise TypeError("a platform's id with something else than a learner")
    return dict(plain)


def _people(folder: Path) -> list[GradebookLearner]:
    with opened(gradebook.url_of(folder)) as book:
        rows = sorted(book.students, key=lambda student: student.id)
        return [
            GradebookLearner(row.id, row.first_name or "", row.last_name or "", row.email or "", row.lms_user_id or "")
            for row in rows
        ]


def _matching(member: RosterMember, people: list[GradebookLearner], before: Mapping[str, str]) -> set[str]:
    """The learners whom the keys of a member mean; what two have means nobody."""
    if member.user in before:
        return {before[member.user]}
    numbers = {member.user, member.sis} - {""}
    by_key = [
        [who.id for who in people if who.lms_id in numbers],
        [who.id for who in people if who.id in numbers],
        [
            who.id
            for who in people
            if member.email and member.email.casefold() in (who.email.casefold(), who.id.casefold())
        ],
    ]
    return {learners[0] for learners in by_key if len(learners) == 1}


def _enter(made: RosterChange, member: RosterMember, by: str, ids: set[str]) -> None:
    learner = member.learner_id(by)
    if not learner:
        made.notes.append(f"{member.shown} is new, and the platform does not say the {by}: --id with another of {IDS}")
        return
    try:
        checked_learner(learner)
    except CourseError as error:
        made.notes.append(f"{member.shown}: {error}")
        return
    if learner in ids or learner in made.new:
        made.notes.append(f"{member.shown} would be {learner}, who is somebody else: --id with another of {IDS}")
        return
    made.new[learner] = member


def _is_learner(row: Mapping[str, Any]) -> bool:
    roles = row.get("roles")
    names = {str(role).replace("/", "#").rpartition("#")[2] for role in roles} if isinstance(roles, list) else set()
    return "Learner" in names and row.get("status", "Active") == "Active"


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    text = value if isinstance(value, str) else str(value) if type(value) is int else ""
    return "".join(filter(str.isprintable, " ".join(text.split())))
