"""What a plan is written as: commands with their arguments, files, and what neither can say."""

import json
import re
import shlex
import textwrap
from typing import Any, NamedTuple

from hwlib.launch.origins import source_of

WIDTH = 80  # columns of a line that can be broken
PLAIN = re.compile(r"[\w./-]+")


class LaunchError(ValueError):
    """A plan that a software cannot start at all; the message says why, and what would."""


class Argument(NamedTuple):
    """One argument, by the name that it has in the software's table; a flag has no value."""

    name: str
    value: Any = None

    @property
    def words(self) -> tuple[str, ...]:
        """The argument as words of a command line; text in it that the shell is to replace begins with a dollar."""
        if not self.name.startswith("--"):  # an override of a field, in Hydra's words
            word = written(self.value)
            plain = not isinstance(self.value, str) or PLAIN.fullmatch(word)
            return (shlex.quote(f"{self.name}={word}" if plain else f"{self.name}='{word}'"),)
        many = self.value if isinstance(self.value, tuple) else (() if self.value is None else (self.value,))
        return (self.name, *(shell_word(written(one)) for one in many))


class Command(NamedTuple):
    """A command: variables before it, the words that it begins with, and its arguments; a comment says what it is."""

    head: tuple[str, ...]
    arguments: tuple[Argument, ...]
    comment: str = ""
    environment: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The command over several lines, an argument on each."""
        lines = [""]
        for word in (*self.environment, *self.head):
            if len(lines[-1]) + len(word) > WIDTH - 4:
                lines.append(" ")
            lines[-1] += f" {word}" if lines[-1] else word
        lines += ["  " + " ".join(one.words) for one in self.arguments]
        comment = [f"# {line}" for line in textwrap.wrap(self.comment, WIDTH, break_on_hyphens=False)]
        return "\n".join([*comment, " \\\n".join(lines)])

    def value(self, name: str) -> Any:
        """The value of an argument; None where it is not given."""
        return next((one.value for one in self.arguments if one.name == name), None)


class File(NamedTuple):
    """A file that a command reads: its name, its text, and its settings by the names of the software's table."""

    name: str
    text: str
    settings: tuple[Argument, ...]


class Launch(NamedTuple):
    """How a plan is started with a software. `not_expressed` is what the plan has and no argument says, each with the
    reason; `to_add` is what the plan does not say and the software needs.
    """

    software: str
    commands: tuple[Command, ...]
    files: tuple[File, ...] = ()
    not_expressed: tuple[str, ...] = ()
    to_add: tuple[str, ...] = ()
    title: str = ""

    @property
    def text(self) -> str:
        """All of it as a script: files as here-documents, commands, and comments."""
        parts = [_comment("", line) for line in (self.title, source_of(self.software).words) if line]
        parts = ["\n".join(parts)]
        parts += ["\n".join((f"cat > {one.name} <<'END'", one.text.rstrip("\n"), "END")) for one in self.files]
        parts += [one.text for one in self.commands]
        comments = [_comment("not expressed: ", line) for line in self.not_expressed]
        comments += [_comment("to add: ", line) for line in self.to_add]
        return "\n\n".join([*parts, "\n".join(comments)])

    @property
    def data(self) -> dict[str, Any]:
        """All of it as JSON data."""
        source = source_of(self.software)
        return {
            "software": self.software,
            "project": source.project,
            "revision": source.revision,
            "commands": [
                {
                    "environment": [*one.environment],
                    "command": [*one.head],
                    "arguments": _listed(one.arguments),
                    "comment": one.comment,
                }
                for one in self.commands
            ],
            "files": [{"name": one.name, "text": one.text, "settings": _listed(one.settings)} for one in self.files],
            "not_expressed": [*self.not_expressed],
            "to_add": [*self.to_add],
        }


def _listed(arguments: tuple[Argument, ...]) -> list[dict[str, Any]]:
    return [{"name": one.name, "value": one.value} for one in arguments]


def _comment(head: str, line: str) -> str:
    return "\n".join(
        textwrap.wrap(line, WIDTH, initial_indent=f"# {head}", subsequent_indent="#   ", break_on_hyphens=False)
    )


def written(value: Any) -> str:
    """A value as a command line has it."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, dict):
        return json.dumps(value)
    return f"[{','.join(map(str, value))}]" if isinstance(value, tuple | list) else str(value)


def shell_word(text: str) -> str:
    """A word quoted for a shell, unless a variable begins it."""
    return f'"{text}"' if text.startswith("$") else shlex.quote(text)
