"""How the `gpubook` command reports an error: in one clear line."""

import traceback

import click


def error_text(error: Exception) -> str:
    """The message of an error; for a KeyError that names only a key, also where it was raised."""
    if not isinstance(error, KeyError):
        return _inert(str(error))
    text = str(error.args[0]) if error.args else ""
    if " " in text:
        return _inert(text)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{place.filename}:{place.lineno}: unknown key {error} in `{place.line}`; --debug shows the traceback"


def _inert(text: str) -> str:
    """Without what a terminal would obey: a message may have the name of a learner's folder in it."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


class Gpubook(click.Group):
    """A group whose commands report invalid input in one clear line instead of a traceback."""

    def invoke(self, ctx):
        """Run the command; turn the package's own errors into click's."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, BrokenPipeError):  # of --help: a RuntimeError to click; of `| head`
            raise
        except (ValueError, LookupError, OSError, RuntimeError) as error:
            if ctx.params.get("debug"):
                raise
            raise click.ClickException(error_text(error)) from error
