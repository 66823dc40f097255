"""Write a file whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a file that is there whole or, after a kill or on a full disk, as it was before."""
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(made, mode)
        os.replace(made, path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
