"""Whether a chapter is a draft, from its text alone.

It needs nothing but Python: the build of the wheel runs this file by itself, before anything is installed.
"""

import re
from pathlib import Path

HEAD = re.compile(r"---\n(.*?)^---$", re.DOTALL | re.MULTILINE)
DRAFT = re.compile(r"^draft[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)


class DraftError(ValueError):
    """A chapter's `draft` is neither true nor false; the message names file and line."""


def is_draft(path: Path) -> bool:
    """Whether the front matter of a chapter's source has `draft: true`; without the line it is released."""
    text = path.read_text(encoding="utf-8")
    head = HEAD.match(text)
    match = DRAFT.search(head[1]) if head else None
    if head is None or match is None:
        return False
    if match[1] not in ("true", "false"):
        line = text.count("\n", 0, head.start(1) + match.start()) + 1
        raise DraftError(f"{path}:{line}: draft is {match[1] or 'empty'}; true or false was expected")
    return match[1] == "true"


def drafts(solutions: Path) -> list[str]:
    """The folders of `solutions/` whose chapter is a draft."""
    sources = sorted(path for path in solutions.glob("*/*.md") if path.stem == path.parent.name)
    return [path.stem for path in sources if is_draft(path)]
