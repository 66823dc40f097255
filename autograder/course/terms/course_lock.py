"""One at a time: a lock in `.gpubook` of a course, for files that several commands change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...values.own_folder import opened, own


@contextmanager
def alone(folder: Path, name: str) -> Iterator[int]:
    """Nobody else holds the file `name` of the course until the block ends; a second command waits. Gives the file,
    open to be appended to."""
    path = own(folder, name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND), "ab") as file:
        with suppress(ImportError):  # Windows: files are replaced as a whole all the same
            from fcntl import LOCK_EX, flock

            flock(file, LOCK_EX)
        yield file.fileno()
