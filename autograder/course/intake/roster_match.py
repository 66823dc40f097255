"""Which learner of the gradebook a platform means by a name and a number. Nobody is guessed."""

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..gradebook import GradebookLearner
from ..moodle.moodle_worksheet import Participant
from .archives import Refused
from .download_names import Owner, Upload, composed


class Roster:
    """The people of a gradebook, found by id, address, name and number.

    `lines`: the lines of Moodle's worksheet, by the number of a participant.
    """

    def __init__(self, people: Sequence[GradebookLearner], lines: Mapping[str, Participant] | None = None):
        self.people, self.lines = people, lines
        self.ids = {composed(person.id) for person in people}
        self._by_name: dict[str, list[GradebookLearner]] = defaultdict(list)
        for person in people:
            for name in _names(person):
                self._by_name[name].append(person)

    def owner(self, upload: Upload) -> GradebookLearner:
        """The one learner whose file this is; Refused where there is none, are several, or two keys disagree."""
        place, owner = f"{upload.member.name}: ", upload.owner
        if owner.platform == "plain":
            return self._one(place, owner.who, self.meant(owner))
        person = self._on_platform(place, owner)
        if owner.others and (rivals := self._rivals(owner)):
            raise Refused(
                f"{place}this may be of {owner.who!r} or of {rivals[0]!r}, one of whom has a name like those that the "
                "platform writes; give Moodle's worksheet, or put it into a folder with the learner's id"
            )
        return person

    def meant(self, owner: Owner) -> list[GradebookLearner]:
        """Whom a name may mean."""
        if owner.platform == "plain":
            return self._by_key(owner.who) or self.named(owner.who)
        return (self._by_lms_id(owner.number) if owner.platform == "canvas" else []) or self.named(owner.who)

    def knows(self, owner: Owner) -> bool:
        """Whether a name is that of anybody here, or made by a platform for somebody."""
        return owner.platform == "moodle" or bool(self.meant(owner))

    def _on_platform(self, said: str, owner: Owner) -> GradebookLearner:
        numbered = self._numbered(said, owner)
        named = self.named(owner.who)
        if numbered is None:
            learner = self._one(said, owner.who, named)
            if owner.platform == "canvas" and learner.lms_id.isdecimal():
                raise Refused(
                    f"{said}the name of {learner.id}, whose number is {learner.lms_id}, with the number {owner.number}"
                )
            return learner
        if named and numbered not in named:
            others = " or ".join(person.id for person in named)
            raise Refused(f"{said}by the number {owner.number} of {numbered.id}, by the name of {others}")
        return numbered

    def _rivals(self, owner: Owner) -> list[str]:
        """Whom the platform would have written in the same way: anybody, whether known here or not, but in Moodle with
        its worksheet only those whose number is in that."""
        may_be_anybody = owner.platform == "canvas" or self.lines is None
        return [who for who, number in owner.others if may_be_anybody or number in (self.lines or ())]

    def _by_lms_id(self, number: str) -> list[GradebookLearner]:
        return [person for person in self.people if person.lms_id and person.lms_id == number]

    def _by_key(self, text: str) -> list[GradebookLearner]:
        ids = [person for person in self.people if composed(person.id) == composed(text)]
        emails = [one for one in self.people if one.email and one.email.casefold() == text.casefold()]
        return ids or emails or self._by_lms_id(text)

    def named(self, text: str) -> list[GradebookLearner]:
        """Who has that name, in either order."""
        return self._by_name.get(fold(text), [])

    def _numbered(self, said: str, owner: Owner) -> GradebookLearner | None:
        """Whom Canvas's number or the line of Moodle's worksheet means; None where nothing says so."""
        if owner.platform == "canvas":
            matching = self._by_lms_id(owner.number)
            return self._one(said, owner.number, matching) if matching else None
        if self.lines is None:
            return None
        if owner.number not in self.lines:
            raise Refused(f"{said}participant {owner.number} is not in the worksheet: that of this assignment?")
        line = self.lines[owner.number]
        if line.name and fold(line.name) != fold(owner.who):
            raise Refused(f"{said}participant {owner.number} is {line.name} in the worksheet: that of this assignment?")
        if line.person is None:
            raise Refused(f"{said}the worksheet's line of participant {owner.number} is nobody of the gradebook")
        return line.person

    def _one(self, said: str, text: str, found: list[GradebookLearner]) -> GradebookLearner:
        if not found:
            raise Refused(
                f"{said}{text!r} is nobody of the gradebook; as the outermost name, a learner's id, address, name or "
                "number was expected (of a folder around everybody's, collect what is in it)"
            )
        if len(found) > 1:
            sharing = " or ".join(person.id for person in found)
            raise Refused(f"{said}{text!r} may be {sharing}: the roster has it for each")
        return found[0]


def _names(person: GradebookLearner) -> set[str]:
    first, last = fold(person.first_name), fold(person.last_name)
    return ({first + last, last + first} - {""} or {fold(person.id)}) - {""}


def fold(text: str) -> str:
    """Letters and digits alone, whatever their case: platforms leave out of a file's name what is neither."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
