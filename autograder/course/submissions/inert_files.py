"""Files that a learner submitted beside a notebook, under names by which no browser obeys them.

formgrader serves what lies in autograded/ from its own origin, where a page or a picture with a program in it would act
with the rights of the teacher who opened it.
"""

from mimetypes import guess_type
from pathlib import Path

from .submission_folders import printable

SUFFIX = ".txt"
ACTIVE = frozenset(
    (".htm", ".html", ".xhtml", ".xht", ".shtml", ".mht", ".mhtml", ".svg", ".svgz", ".xml", ".xsl", ".xslt", ".rdf",
     ".js", ".mjs", ".cjs")
)  # fmt: skip
KINDS = ("html", "xml", "script", "rfc822", "multipart")  # in the types that a server derives from other names


def stored_as(file: Path) -> Path:
    """The path under which a learner's file is kept: with `.txt` behind it where a browser would obey what it holds."""
    kind = guess_type(file.name, strict=False)[0] or ""
    active = bool(ACTIVE & {suffix.lower() for suffix in file.suffixes}) or any(one in kind for one in KINDS)
    return file.with_name(file.name + SUFFIX) if active and file.suffix.lower() != SUFFIX else file


def renamed_in(folder: Path) -> list[str]:
    """The names below `folder` that were made so, in order."""
    files = (path.relative_to(folder) for path in sorted(folder.rglob(f"*{SUFFIX}")) if path.is_file())
    return [printable(str(file)) for file in files if stored_as(file.with_suffix("")) == file]


def neutralise(folder: Path, trusted: Path) -> None:
    """Rename what a learner submitted below `folder`; what is in `trusted`, the teacher's, stays as it is."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not (trusted / inside).is_file():
            path.rename(folder / stored_as(inside))
