"""The exercises of the book's chapters, loaded once by each process. They are shared: change nothing in them."""

import functools
import importlib
import sys
from pathlib import Path
from types import ModuleType

from autograder.declaration import Bank, load_bank
from autograder.declaration.bank import declared_below

SOLUTIONS = Path(__file__).resolve().parent.parent / "solutions"


@functools.cache
def banks() -> dict[str, Bank]:
    """Each chapter's, by its name."""
    return {path.relative_to(SOLUTIONS).parts[0]: load_bank(path) for path in declared_below(SOLUTIONS)}


@functools.cache
def names_of(chapter: str, file: str) -> ModuleType:
    """One file of a chapter's exercises as a module, with the names by which the text computes its numbers."""
    sys.path.insert(0, str(SOLUTIONS / chapter))
    try:
        return importlib.import_module(f"exercises.{file}")
    finally:
        sys.path.pop(0)
        for name in [name for name in sys.modules if name.partition(".")[0] == "exercises"]:
            del sys.modules[name]
