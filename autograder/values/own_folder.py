"""`.gpubook` in the folder of a learner or of a course: what this package keeps there for itself.

A folder may come from somebody else, with links in it that lead to the files of whoever opens it. Nothing of ours is a
link, so one that stands in the way is refused, and nothing is read, written or deleted through it; nor through one that
is put there meanwhile, where the system opens a file by its folder.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

OWN = ".gpubook"
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
UNFOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class LinkInTheWay(OSError):
    """A link, or what is neither a file nor a folder, stands where this package keeps files of its own; the message
    names it."""

    def __init__(self, link: Path, what: str = "a link"):
        super().__init__(
            f"{link}: {what}; a file or folder of gpubook's own was expected there, and nothing is changed; look at "
            "where it came from, then remove it"
        )
        self.link = link


def own(folder: Path, *names: str) -> Path:
    """A path below `.gpubook` of `folder`; LinkInTheWay where there is a link at it or above it in that folder."""
    return without_links(folder, OWN, *names)


def without_links(folder: Path, *names: str) -> Path:
    """A path below `folder`; LinkInTheWay where there is a link at it or above it in that folder."""
    if (link := first_link(folder, *names)) is not None:
        raise LinkInTheWay(link)
    return folder.joinpath(*names)


def refuse_links(folder: Path) -> None:
    """LinkInTheWay where `.gpubook` of `folder` is a link, or has one at any depth, or a pipe, a socket or a device."""
    for home, folders, files in os.walk(own(folder)):
        for name in (*folders, *files):
            if is_link(path := Path(home, name)):
                raise LinkInTheWay(path)
        for name in files:
            if not stat.S_ISREG(os.lstat(path := Path(home, name)).st_mode):
                raise LinkInTheWay(path, "neither a file nor a folder")


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


@contextmanager
def folder_of(path: Path, *, make: bool = False) -> Iterator[tuple[int | None, str]]:
    """The open folder of a file, and the file's name in it, for functions that take a `dir_fd`. Of a path below
    `.gpubook` each folder is opened in the one around it and no link followed; any other path is as it is, without a
    folder. With `make`, folders that are missing are made."""
    if OWN not in path.parts or os.open not in os.supports_dir_fd:
        if make:
            path.parent.mkdir(parents=True, exist_ok=True)
        yield None, str(path)
        return
    at = path.parts.index(OWN)
    home = Path(*path.parts[:at])
    if make:
        home.mkdir(parents=True, exist_ok=True)
    handle = os.open(home, FOLDER)
    try:
        for part in path.parts[at:-1]:
            home = home / part
            handle = _opened_in(handle, part, home, make)
        yield handle, path.name
    finally:
        os.close(handle)


def _opened_in(outer: int, part: str, path: Path, make: bool) -> int:
    """The folder `part` in the open folder `outer`, in whose place it is open."""
    if make:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=outer)
    try:
        inner = os.open(part, FOLDER | UNFOLLOWED, dir_fd=outer)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and is_link(path):
            raise LinkInTheWay(path) from None
        raise OSError(error.errno, error.strerror, str(path)) from None
    os.dup2(inner, outer, inheritable=False)
    os.close(inner)
    return outer


def opened(path: Path, flags: int, mode: int = 0o600) -> int:
    """A file of ours, opened with these flags, its folders made; LinkInTheWay where a link is in its place, or in
    that of a folder of ours around it."""
    with folder_of(path, make=bool(flags & os.O_CREAT)) as (folder, name):
        try:
            return os.open(name, flags | UNFOLLOWED, mode, dir_fd=folder)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise LinkInTheWay(path) from None
            raise OSError(error.errno, error.strerror, str(path)) from None


def remove(path: Path) -> None:
    """Delete a file or a whole folder of ours, and nothing through a link."""
    with folder_of(path) as (folder, name):
        if stat.S_ISDIR(os.lstat(path).st_mode):
            shutil.rmtree(name, dir_fd=folder) if folder is not None else shutil.rmtree(path)
        else:
            os.unlink(name, dir_fd=folder)
