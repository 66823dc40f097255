"""`.gpubook` in the folder of a learner or of a course: what this package keeps there for itself.

A folder may come from somebody else, with links in it that lead to the files of whoever opens it. Nothing of ours is a
link, so one that stands in the way is refused, and nothing is read, written or deleted through it.
"""

import os
from pathlib import Path

OWN = ".gpubook"


class LinkInTheWay(OSError):
    """A link stands where this package keeps files of its own; the message names it."""

    def __init__(self, link: Path):
        super().__init__(
            f"{link}: a link; a file or folder of gpubook's own was expected there, and nothing is changed"
        )
        self.link = link


def own(folder: Path, *names: str) -> Path:
    """A path below `.gpubook` of `folder`; LinkInTheWay where there is a link at it or above it in that folder."""
    if (link := first_link(folder, OWN, *names)) is not None:
        raise LinkInTheWay(link)
    return folder.joinpath(OWN, *names)


def refuse_links(folder: Path) -> None:
    """LinkInTheWay where `.gpubook` of `folder` is a link, or has one at any depth."""
    for home, folders, files in os.walk(own(folder)):
        for name in (*folders, *files):
            if is_link(path := Path(home, name)):
                raise LinkInTheWay(path)


def first_link(folder: Path, *names: str) -> Path | None:
    """The outermost link on the way from `folder` to a path below it, which itself may be one; None without any."""
    path = folder
    for part in Path(*names).parts:
        if is_link(path := path / part):
            return path
    return None


def is_link(path: Path) -> bool:
    """Whether something leads elsewhere: a symbolic link, or one of the links of Windows to a folder."""
    is_junction = getattr(os.path, "isjunction", None)  # since Python 3.12
    return path.is_symlink() or (is_junction is not None and is_junction(path))
