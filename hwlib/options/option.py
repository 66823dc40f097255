"""An option of a planner: one record, from which a command, a page, a tool of agents and the documentation are made."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hwlib.options.readers import Kind, Reader

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Entry:
    """How a page asks for an option: `about` says what it is, an empty field means what `empty` says.

    `choices` are pairs of a value and its name, or a function that has them: a list to choose from or, where it is
    `free`, what a text may be among others. `first` stands in the field when the page opens; `fold` is the title below
    which it is unfolded; `usual` is the value of an empty field, where the page needs one.
    """

    about: str = ""
    label: str = ""
    empty: str = ""
    first: str = ""
    choices: Pairs | Callable[[], Pairs] = ()
    free: bool = False
    fold: str = ""
    usual: Any = None

    @property
    def pairs(self) -> Pairs:
        """The choices."""
        return self.choices() if callable(self.choices) else self.choices


@dataclass(frozen=True)
class Option:
    """An option: its name, the reader of its text, what is taken where it is not given, the unit of its value, and a
    sentence.

    `value` is the default where that is a value. `search` is its entry on the page that searches, and `single` on the
    page of a single plan; without one the page does not ask for it. `agent` is what agents are told of it as an
    argument of its own; None where they ask for it by name among others. `flags` are the command's words for it, if
    they are not its name; `column` is what the column of a table means that has its name.
    """

    name: str
    reader: Reader
    sentence: str
    default: str = ""
    unit: str = ""
    group: str = ""
    value: Any = None
    required: bool = False
    positional: bool = False
    flags: tuple[str, ...] = ()
    agent: str | None = None
    search: Entry | None = None
    single: Entry | None = None
    column: str = ""

    @property
    def label(self) -> str:
        """Its name as the page of a single plan has it: "ZeRO"."""
        return (self.single and self.single.label) or self.name

    @property
    def words(self) -> str:
        """What it is in a few words, as the page of a single plan asks for it: "ZeRO stage"."""
        return f"{self.single.label} {self.single.about}".strip() if self.single else self.name

    @property
    def flag(self) -> str:
        """The word of a command that gives it."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def all_flags(self) -> tuple[str, ...]:
        """All words of a command that give it; those that deny it stand behind a slash."""
        denied = f"/--no-{self.name.replace('_', '-')}" if self.reader.kind is Kind.SWITCH else ""
        return self.flags or (self.flag + denied,)

    @property
    def denied(self) -> str:
        """The word of a command that denies it; empty where it is left out instead."""
        return self.all_flags[0].partition("/")[2]

    @property
    def help(self) -> str:
        """What the command says of it."""
        return self.sentence + (f"  [default: {self.default}]" if self.default else "")


def named(options: Iterable[Option]) -> dict[str, Option]:
    """Options by their names."""
    return {option.name: option for option in options}


def of_group(options: Iterable[Option], *groups: str) -> tuple[Option, ...]:
    """The options of some groups."""
    return tuple(option for option in options if option.group in groups)


def markdown(options: Sequence[Option]) -> str:
    """A table of options for the documentation: how each is given, its unit, its default, and its sentence."""
    lines = ["| option | unit | default | meaning |", "|:--|:--|:--|:--|"]
    for option in options:
        cells = (f"`{_usage(option)}`", option.unit, option.default, option.sentence)
        lines.append(f"| {' | '.join(_cell(text) for text in cells)} |")
    return "\n".join(lines)


def _usage(option: Option) -> str:
    if option.positional:
        return option.name.upper()
    words = ", ".join(option.all_flags).replace("/", " / ")
    wants_text = option.reader.kind not in (Kind.SWITCH, Kind.FLAG)
    return f"{words} {option.reader.name}" if wants_text else words


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
