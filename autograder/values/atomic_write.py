"""Write a file atomically: completely or not at all."""

import os
import shutil
from pathlib import Path


def write_whole(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a file atomically: after a kill or on a full disk it has its old content.

    A kill may leave a temporary file of a fixed name beside it, which the next write reuses.
    """
    made = path.with_name(f".{path.name}.new")
    if made.is_dir() and not made.is_symlink():  # a learner's, who may call a folder so
        shutil.rmtree(made)
    try:
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(made, mode)
        os.replace(made, path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
