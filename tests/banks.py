"""The exercises of the book's chapters, loaded once by each process. They are shared: change nothing in them."""

import functools
from pathlib import Path

from autograder.declaration import Bank, load_bank
from autograder.declaration.bank import declared_below

SOLUTIONS = Path(__file__).resolve().parent.parent / "solutions"


@functools.cache
def banks() -> dict[str, Bank]:
    """Each chapter's, by its name."""
    return {path.relative_to(SOLUTIONS).parts[0]: load_bank(path) for path in declared_below(SOLUTIONS)}
