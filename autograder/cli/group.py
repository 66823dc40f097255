"""How the `gpubook` command lists its commands, by reader, and reports an error, in one clear line."""

import traceback

import click

from .terminal import inert

READERS = {
    "For a learner": ("start", "lab", "check", "progress", "whoami", "token", "doctor"),
    "For planning a machine": ("plan", "serve", "mcp"),
    "For reading what you have": ("bandwidth", "topo", "trace", "hang", "explain-run"),
    "For a teacher": ("course", "collect", "grade", "report", "explain", "export"),
    "For an author": ("new", "chapters", "rules", "book", "pdf", "epub"),
}
"""The commands by who runs them, each list in the order in which one needs it."""


LONGEST = 6_000  # characters of an error: what came in may be of any length


def error_text(error: Exception) -> str:
    """The message of an error; for a KeyError that names only a key, also where it was raised."""
    if not isinstance(error, KeyError):
        return cut(inert(str(error)))
    text = str(error.args[0]) if error.args else ""
    if " " in text:
        return cut(inert(text))
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{place.filename}:{place.lineno}: unknown key {error} in `{place.line}`; --debug shows the traceback"


def cut(text: str) -> str:
    """A text without its middle, where it is long: what was expected stands at its beginning or at its end.

    >>> len(cut("a" * 100_000)), cut("a")
    (6000, 'a')
    """
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[: half - 3]} ... {text[2 - half :]}"


class Gpubook(click.Group):
    """A group that lists its commands by reader, and whose commands report invalid input in one clear line instead of a
    traceback."""

    def list_commands(self, _ctx):
        """Their names, in the order of `READERS`; those that it does not have come last."""
        ordered = [name for names in READERS.values() for name in names if name in self.commands]
        return [*ordered, *sorted(self.commands.keys() - set(ordered))]

    def format_commands(self, ctx, formatter):
        """A section for each kind of reader."""
        widest = max(map(len, self.commands), default=0)
        left = [name for name in self.list_commands(ctx) if name not in sum(READERS.values(), ())]
        for title, names in {**READERS, "Other commands": left}.items():
            commands = [(name, self.commands[name]) for name in names if name in self.commands]
            limit = formatter.width - 6 - widest
            rows = [(name.ljust(widest), one.get_short_help_str(limit)) for name, one in commands if not one.hidden]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def invoke(self, ctx):
        """Run the command; turn the package's own errors into click's."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, BrokenPipeError):  # of --help: a RuntimeError to click; of `| head`
            raise
        except click.ClickException as error:
            vars(error)["message"] = inert(error.message)
            raise
        except (ValueError, LookupError, OSError, RuntimeError) as error:
            if ctx.params.get("debug"):
                raise
            raise click.ClickException(error_text(error)) from error
