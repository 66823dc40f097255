"""Where every text of a command leaves for a terminal: what a terminal would obey is inert."""

import unicodedata
from typing import Any

import click

KEPT = ("\n", "\t")
OBEYED = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # controls, C1 and bidi among them; half characters; new lines


def inert(text: str) -> str:
    """Without what a terminal would obey: a message may have the name of somebody's folder or field in it."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("\N{REPLACEMENT CHARACTER}" if _obeyed(c) else c for c in text)


def _obeyed(character: str) -> bool:
    return not character.isprintable() and character not in KEPT and unicodedata.category(character) in OBEYED


def echo(message: Any = "", nl: bool = True, err: bool = False) -> None:
    """Print a text, inert, to standard output or to standard error."""
    click.echo(inert(str(message)), nl=nl, err=err)
