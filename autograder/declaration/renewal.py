"""What is computed once for exercises, see `Answer.build`: made anew, and kept beside their declaration.

`gpubook chapters` does it for the book, `gpubook course assign` and `check` for a teacher's own exercises. A judge only
reads it.
"""

from __future__ import annotations

import json
from pathlib import Path

from ..values.atomic_write import write_whole
from .bank import Bank, built_file, declared_files, load_bank


def renew(path: Path, *, write: bool = True) -> Path | None:
    """Compute what is kept for the bank at `path`, and return the file that keeps it if that has changed; without
    `write` it is left as it is."""
    bank = load_bank(path)
    if bank.path is None:
        return None
    file, made = built_file(bank.path), bank.build()
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n" if made else ""
    if text == (file.read_text(encoding="utf-8") if file.is_file() else ""):
        return None
    if write and made:
        write_whole(file, text, mode=0o644)
    elif write:
        file.unlink()
    return file


def renewed(path: Path) -> Bank:
    """The bank at `path`, with what is kept for it computed anew."""
    bank = load_bank(path)
    if not any(exercise.answer.builds for exercise in bank.values()):
        return bank
    renew(path)
    return load_bank(path)


def current(path: Path) -> Bank:
    """The bank at `path`, after a renewal where its declaration is younger than what is kept for it."""
    bank = load_bank(path)
    if bank.path is None or not any(exercise.answer.builds for exercise in bank.values()):
        return bank
    file = built_file(bank.path)
    changed = max(one.stat().st_mtime_ns for one in declared_files(bank.path))
    if file.is_file() and file.stat().st_mtime_ns >= changed:
        return bank
    bank = renewed(path)
    if file.is_file():
        file.touch()
    return bank
