"""Write a file atomically: completely or not at all."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from .own_folder import UNFOLLOWED, folder_of


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError of this block names the file: that of a write to a full disk knows no name, and that in an open folder
    only half of one."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_whole(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a file atomically: after a kill or on a full disk it has its old content. An OSError names it.

    A kill may leave a temporary file of a fixed name beside it, which the next write reuses.
    """
    made = path.with_name(f".{path.name}.new")
    if made.is_dir() and not made.is_symlink():  # a learner's, who may call a folder so
        shutil.rmtree(made)
    with naming(path), folder_of(path) as (folder, name):
        beside = os.path.join(os.path.dirname(name), made.name)
        try:
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | UNFOLLOWED, 0o600, dir_fd=folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(beside, mode, dir_fd=folder)
            os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside, dir_fd=folder)
            raise
