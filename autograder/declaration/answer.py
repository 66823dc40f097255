"""An answer kind: how it is asked, read, judged, shown, offered in the page and tested by itself.

Everything that is particular to a kind is a method or an attribute of it, and no other module asks for its name. A
course's own kind is a class in its file of exercises, and works wherever a kind of the book does.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from ..values import encoding
from ..values.numbers import Unreadable
from .given import Drawn, Given, call_with
from .verdict import DeclarationError, Verdict, no_answer, unreadable

if TYPE_CHECKING:
    from .exercise import Exercise

Call = Callable[[tuple], Any]
REQUIRED = ("how", "readable", "judge")  # what a kind has of its own; all else has a default
_registered: dict[str, type[Answer]] = {}


class JudgedBy(enum.Enum):
    """Who says whether an answer is right, and what it takes."""

    VALUE = enum.auto()  # the judge, who needs its value only: it can be saved, and judged again without a run
    CALLS = enum.auto()  # the judge, who calls the function that it is
    RANKS = enum.auto()  # the judge, who asks ranks that run it, each in a process of its own
    TEACHER = enum.auto()  # a teacher, who reads it: its cell is Markdown, and no cell grades it


class BoxField(NamedTuple):
    """One field of a record in an answer box: its name, what it is in words, its options where it has some, and
    whether it takes a list."""

    name: str
    meaning: str
    allowed: str = ""  # in Markdown
    options: Sequence[str] = ()
    several: bool = False


@dataclass(frozen=True)
class Box:
    """How the page asks for an answer: what is entered there is what `Answer.typed` makes an answer of."""

    input: str = "text"  # a field of "text", several "lines", "options", the "fields" of a record, or "code"
    ask: str = "Your answer"  # the label; of a prediction, "Your prediction"
    options: Mapping[str, str] = field(default_factory=dict)  # to choose from: key and words
    ordered: bool = False  # whether the order of the options has a meaning, so that no page may change it
    fields: Sequence[BoxField] = ()
    lines: int = 1
    echo: bool = False  # whether it helps to see, while one types, how a text is read
    above: str = ""  # what stands above the field, in Markdown, such as a table of what is asked for


class Advice(str):
    """A sentence of a self-test that an exercise works without: what the book asks of its own, and a teacher may
    leave."""

    __slots__ = ()


class Weakness(NamedTuple):
    """A standard wrong way that an exercise's numbers do not tell from the right one, by its name, and the sentence
    that says so."""

    way: str
    say: str


class Answer:
    """The base class of the answer kinds. A kind defines at least `how`, `readable` and `judge`."""

    answer_name: Any = "answer"  # the variable that the answer cell sets
    judged_by: ClassVar[JudgedBy] = JudgedBy.VALUE
    predictable: ClassVar[bool] = False
    in_a_chapter: ClassVar[tuple[int, int | None]] = (0, None)  # how many a chapter asks, predictions aside
    warms_judge: ClassVar[bool] = False  # whether judging a wrong one ahead saves time, and runs no teacher's function
    shows_stub: ClassVar[bool] = False  # whether its stub says more than that `answer` is to be set
    solution_title: ClassVar[str] = "Worked solution"
    builds: ClassVar[bool] = False  # whether something is computed for it when the book is built, see `build`
    partial: ClassVar[bool] = False  # whether an answer may score a part of its points
    elsewhere: ClassVar[str] = ""  # why a page cannot judge it, as a sentence, where its `box` is None
    rtol: Any = 0.0  # by which share the numbers in it may be off
    plays: ClassVar[str] = ""  # a rank that is a "generator" or of "torch.distributed"; a function that is a "kernel"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        known = _registered.setdefault(cls.__name__, cls)
        if _is_ours(known) and not _is_ours(cls):  # a public record names its kind, and means one
            raise DeclarationError(f"an answer kind {cls.__name__} is in {known.__module__}; another name was expected")
        _registered[cls.__name__] = cls

    # Asked

    @property
    def how(self) -> str:
        """How it is asked for, as a sentence without its full stop: "write `f(x)`"."""
        raise NotImplementedError

    def asked_with(self) -> str:
        """What stands below the prompt, in Markdown: options, a rubric; "" for nothing."""
        return ""

    def asked_of(self, given: Given | None) -> str:
        """The same for somebody's numbers; None where the prompt has letters in their place."""
        return self.asked_with()

    def stub(self, exercise: Exercise) -> str:
        """The answer cell before an answer."""
        return f"answer = ...  # {exercise.size}"

    def arranged(self, exercise_id: str, learner: str = "") -> Self:
        """The kind as an exercise asks it, or as one learner is asked: with options, in an order of their own."""
        return self

    # Declared and published

    def declare(self, exercise: Exercise) -> None:
        """Raise DeclarationError where the exercise does not fit its answer kind."""

    def worth(self, exercise: Exercise) -> float:
        """The points of the exercise, which says how many it has; a kind may know better."""
        return exercise.points

    def public(self) -> dict[str, Any]:
        """The part of it that learners may see, as JSON."""
        return {}

    @classmethod
    def from_public(cls, public: Mapping[str, Any]) -> Self:
        """The kind out of the public record of an exercise: enough to ask for an answer and to read it."""
        own: tuple[dataclasses.Field, ...] = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
        return cls(**{one.name: public[one.name] for one in own if one.init and one.name in public})

    # Built

    @property
    def built(self) -> Any:
        """What was computed for it when the book was built, as JSON; None for nothing."""
        return None

    def build(self, exercise: Exercise) -> Any:
        """Compute it: what is too much work for a verdict, such as the value that a search finds."""
        return None

    def with_built(self, built: Any) -> Self:
        """The kind with what `build` has made, which is kept beside the declaration; ValueError if it is not that."""
        return self

    # Computed ahead, for a place that lacks the libraries for it

    def heavy(self, exercise: Exercise) -> Any:
        """What judging computes with large libraries, as JSON, so that a page can do without them; None for
        nothing."""
        return None

    def recall(self, exercise: Exercise, heavy: Any) -> None:
        """Take over what `heavy` has computed."""

    # Read and judged

    def blank(self, value: Any) -> bool:
        """Whether plain data means "no answer yet"."""
        return is_empty(value)

    def readable(self, value: Any) -> str:
        """Say back what was understood of plain data, or raise Unreadable; needs no key."""
        raise NotImplementedError

    def recorded(self, message: Any) -> Verdict:
        """What is said without a key to a message of `encoding.encode`: whether it is an answer, and which."""
        try:
            value = encoding.decode(message)
            if self.blank(value):
                return no_answer()
            return Verdict(0.0, f"Recorded: {self.readable(value)}.", "recorded")
        except encoding.BadMessage as error:
            return unreadable(str(error), error.reason)
        except Unreadable as error:
            return not_read(error)

    def expected(self, exercise: Exercise, given: Given) -> Any:
        """The solution for these numbers."""
        return call_with(exercise.solution, given)

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """The verdict on plain data."""
        raise NotImplementedError

    def local_call(self, value: Any, withholds: Sequence[str] = ()) -> Call | None:
        """The `call` for `judge` that runs a learner's function in this process; None where nothing is called."""
        return None

    def declared_call(self, value: Any) -> Call | None:
        """The same for a solution or mistake of the declaration."""
        return self.local_call(value)

    def loads(self, exercise: Exercise) -> Sequence[str]:
        """Modules that judging needs and that take long to load: the grader's judge loads them once."""
        return ()

    # Shown

    def shown(self, exercise: Exercise, value: Any, given: Given) -> str:
        """What the solution or a mistake comes to with these numbers, in Markdown; "" if it is not a value."""
        try:
            return self.readable(call_with(value, given))
        except Unreadable:
            return ""

    def compared(self, exercise: Exercise, value: Any, given: Given) -> str:
        """A prediction beside what came out, in Markdown, where both are more than a value; `value` is plain data that
        can be read, or None for what came out alone. "" where the text of `readable` says it."""
        return ""

    def derived(self, exercise: Exercise, given: Given) -> str:
        """How the solution follows from the given numbers, in Markdown, where no instructor's cell says it; "" where
        the solution itself does."""
        return ""

    def worked(self, exercise: Exercise, source: str, given: Given, *, with_prompt: bool) -> str:
        """The solution in Markdown: the `source` of the instructor's cell, and what it comes to.

        `with_prompt`: it stands below the prompt, and not alone.
        """
        code = f"```python\n{source}\n```" if source else ""
        value = self.shown(exercise, exercise.solution, given)
        return "\n\n".join(part for part in (code, f"**Answer:** {value}" if value else "") if part)

    # Told to a teacher

    def right(self, exercise: Exercise, value: Any, given: Given) -> bool:
        """Whether plain data earns all points with these numbers."""
        return self.judge(exercise, value, given).score == 1

    def tolerance(self, exercise: Exercise, given: Given) -> str:
        """What an answer must have in common with the solution, as a part of a sentence."""
        return "the same"

    def as_read(self, value: Any) -> str:
        """What an answer is, as plain data that can be read, in Markdown."""
        return self.readable(value)

    def counted_as(self, exercise: Exercise, value: Any, given: Given) -> str | float:
        """What wrong answers of a class that mean the same have in common: a text, or a number, which `rtol` may
        separate; plain data that can be read."""
        return f"{sorted(given.items())} {self.readable(value)}"

    def relation(self, exercise: Exercise, value: Any, given: Given) -> str:
        """How a wrong answer relates to the right one, as a part of a sentence; "" where there is nothing to say."""
        return ""

    def formulas(self, exercise: Exercise, wrong: Sequence[tuple[Any, Given]]) -> list[dict[str, int]]:
        """For each of these wrong answers, with the numbers that it was given for, the simple formulas that come to it,
        as Python, with how involved each is: what one formula gives to several learners, they did alike."""
        return [{} for _ in wrong]

    def declared_as(self, exercise: Exercise, wrong: Sequence[tuple[Any, Given]]) -> str:
        """The value of a `Mistake` that recognises these wrong answers, each with the numbers that it was given for, in
        Python; "" where it cannot be written down."""
        return ""

    # Offered in the page

    def box(self, exercise: Exercise) -> Box | None:
        """The answer box; None where the page cannot judge it."""
        return None

    def typed(self, entered: Any) -> Any:
        """The answer that what was entered in the box means: a text, or a text for each field of a record."""
        return entered

    def echo(self, entered: Any) -> str:
        """How what was entered is read, in Markdown; Unreadable where it cannot be."""
        return self.readable(self.typed(entered))

    def tried(self, exercise: Exercise, value: Any, call: Call) -> list[Any]:
        """What a function does that somebody has just written and run, without a verdict and without the answer: texts
        in Markdown, and tables. `call` is that of `local_call`; [] where nothing is shown."""
        return []

    def graded_by(self) -> tuple[tuple[str, float], ...]:
        """What a teacher grades an answer by: criteria with their points; none where it is judged without one."""
        return ()

    # Tested by itself

    def as_learner(self, exercise: Exercise, function: Any, given: Given) -> Any:
        """What a learner who thinks as `function` does, the solution or a mistake, would submit."""
        return call_with(function, given)

    def collisions(self, exercise: Exercise, given: Given) -> list[str]:
        """What two wrong answers are not told apart with these numbers."""
        return []

    def problems(self, exercise: Exercise) -> list[str]:
        """What this kind asks of an exercise beyond what all do, as sentences: two mistakes, unless said otherwise."""
        mistakes = len(exercise.mistakes)
        were = "1 mistake" if mistakes == 1 else f"{mistakes} mistakes"
        return [] if mistakes >= 2 else [Advice(f"{were}; at least two were expected")]

    def weaknesses(self, exercise: Exercise, rows: Sequence[Given]) -> list[Weakness]:
        """The standard wrong ways that these rows of the given numbers, or its own cases, do not tell from the right
        one."""
        return []

    def samples(self, exercise: Exercise) -> Iterator[tuple[tuple[float, ...], float]]:
        """Numbers that the solution takes, and what it gives, to compare the library's formulas with; else nothing."""
        return iter(())


def _is_ours(kind: type[Answer]) -> bool:
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


def named(kind: str) -> type[Answer] | None:
    """The answer kind of that name, where it is defined in this process."""
    return _registered.get(kind)


def is_empty(value: Any) -> bool:
    """Whether plain data means "no answer yet"."""
    return value is None or value is ... or (type(value) is str and not value.strip())


def kinds() -> dict[str, type[Answer]]:
    """Every answer kind that is defined in this process, by its name."""
    return {name: kind for name, kind in sorted(_registered.items()) if not lacks(kind)}


def lacks(kind: type[Answer]) -> list[str]:
    """What an answer kind must have, and has not."""
    return [name for name in REQUIRED if getattr(kind, name) is getattr(Answer, name)]


def checked(answer: Any, exercise_id: str) -> Answer:
    """`answer` where it is of a whole kind; else DeclarationError."""
    if not isinstance(answer, Answer):
        known = ", ".join(kinds()) or "autograder.answers"
        raise DeclarationError(f"{exercise_id}: answer is {answer!r}; an answer kind was expected, one of {known}")
    if missing := lacks(type(answer)):
        raise DeclarationError(
            f"{exercise_id}: the answer kind {type(answer).__name__} lacks {', '.join(missing)}; "
            f"a kind defines {', '.join(REQUIRED)}"
        )
    if not isinstance(answer.judged_by, JudgedBy):
        raise DeclarationError(
            f"{exercise_id}: judged_by of {type(answer).__name__} is {answer.judged_by!r}; "
            f"one of {', '.join(map(str, JudgedBy))} was expected"
        )
    return answer


def others_numbers(exercise: Exercise, given: Given) -> list[dict[str, Any]]:
    """The numbers that other learners have; none beside the book's, unless these were drawn: whoever works alone has no
    others to mix them up with."""
    mine = dict(given)
    if mine == exercise.variant() and not isinstance(given, Drawn):
        return []
    return [row for row in exercise.variants() if row != mine]


def other_variant() -> Verdict:
    """The verdict on an answer that is right for another learner's numbers."""
    return Verdict(
        0.0,
        "That is right for other numbers than yours: compute with the numbers of your own prompt.",
        "variant",
    )


def not_read(error: Unreadable) -> Verdict:
    """The verdict on an answer that is not one, or is one in another unit."""
    if error.kind == "unit":
        return Verdict(0.0, str(error), "unit", error.reason)
    return unreadable(str(error), error.reason)
