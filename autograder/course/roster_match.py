"""Which learner of the gradebook a platform means by a name and a number. Nobody is guessed."""

import unicodedata
from collections.abc import Mapping, Sequence

from .archives import Refused
from .downloads import Upload
from .gradebook import Person
from .moodle_worksheet import Participant


class Roster:
    """The people of a gradebook, found by id, address, name and number.

    `lines`: the lines of Moodle's worksheet, by the number of a participant.
    """

    def __init__(self, people: Sequence[Person], lines: Mapping[str, Participant] | None = None):
        self.people, self.lines = people, lines

    def owner(self, upload: Upload) -> Person:
        """The one learner whose file this is; Refused where there is none, are several, or two keys disagree."""
        said = f"{upload.member.name}: "
        if upload.platform == "plain":
            return self._one(said, upload.who, self._by_key(upload.who) or self._named(upload.who))
        numbered = self._numbered(said, upload)
        named = self._named(upload.who)
        if numbered is None:
            found = self._one(said, upload.who, named)
            if upload.platform == "canvas" and found.lms_id.isdecimal():
                raise Refused(
                    f"{said}the name of {found.id}, whose number is {found.lms_id}, with the number {upload.number}"
                )
            return found
        if named and numbered not in named:
            others = " or ".join(person.id for person in named)
            raise Refused(f"{said}by the number {upload.number} of {numbered.id}, by the name of {others}")
        return numbered

    def _by_key(self, text: str) -> list[Person]:
        ids = [person for person in self.people if person.id == text]
        return ids or [one for one in self.people if one.email and one.email.casefold() == text.casefold()]

    def _named(self, text: str) -> list[Person]:
        folded = fold(text)
        return [person for person in self.people if folded and folded in _names(person)]

    def _numbered(self, said: str, upload: Upload) -> Person | None:
        """Whom Canvas's number or the line of Moodle's worksheet means; None where nothing says so."""
        if upload.platform == "canvas":
            found = [person for person in self.people if person.lms_id == upload.number]
            return self._one(said, upload.number, found) if found else None
        if self.lines is None:
            return None
        if upload.number not in self.lines:
            raise Refused(f"{said}participant {upload.number} is not in the worksheet: that of this assignment?")
        line = self.lines[upload.number]
        if line.name and fold(line.name) != fold(upload.who):
            raise Refused(
                f"{said}participant {upload.number} is {line.name} in the worksheet: that of this assignment?"
            )
        if line.person is None:
            raise Refused(f"{said}the worksheet's line of participant {upload.number} is nobody of the gradebook")
        return line.person

    def _one(self, said: str, text: str, found: list[Person]) -> Person:
        if not found:
            raise Refused(f"{said}{text!r} is nobody of the gradebook")
        if len(found) > 1:
            raise Refused(f"{said}{text!r} may be {' or '.join(person.id for person in found)}")
        return found[0]


def _names(person: Person) -> set[str]:
    first, last = fold(person.first_name), fold(person.last_name)
    return {first + last, last + first} - {""} or {fold(person.id)}


def fold(text: str) -> str:
    """Letters and digits alone, whatever their case: platforms leave out of a file's name what is neither."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
