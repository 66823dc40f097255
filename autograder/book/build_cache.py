"""Files that a build makes once: each carries in its name a digest of all that it depends on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path


def kept(folder: Path, name: str, key: str, suffix: str, make: Callable[[Path], object]) -> Path:
    """The file of that name for this key, which `make(path)` writes where it is missing; those of other keys go."""
    file = folder / f"{name}-{key}{suffix}"
    if not file.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f".{os.getpid()}.{file.name}"  # another process may be at it too
        make(fresh)
        for old in folder.glob(f"{name}-{'?' * len(key)}{suffix}"):
            old.unlink(missing_ok=True)
        fresh.replace(file)
    return file


def key_of(*parts: str | bytes) -> str:
    """A digest of the parts, for the name of a file."""
    whole = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(whole).hexdigest()[:20]


def contents_of(paths: Iterable[Path]) -> list[str]:
    """Each file's name and digest, as parts of a key."""
    return [f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in paths]


def files_below(*folders: Path) -> list[Path]:
    """All files of the folders, in order, without what Python compiles."""
    paths = [path for folder in folders for path in sorted(folder.rglob("*"))]
    return [path for path in paths if path.is_file() and "__pycache__" not in path.parts]
