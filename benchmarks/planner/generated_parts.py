"""The parts of a page that a program writes, each between two lines that name it."""

from collections.abc import Callable, Iterable


def made_anew(text: str, names: Iterable[str], block: Callable[[str], str], begin: str, end: str) -> str:
    """A page's text with its parts by these names made anew; `begin` and `end` are the lines, with {} for the name."""
    for name in names:
        head, _, rest = text.partition(begin.format(name))
        text = head + block(name) + rest.partition(end.format(name))[2]
    return text
