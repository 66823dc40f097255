"""Where the book is: beside the packages in a checkout, inside the package in an installed wheel."""

from functools import cache
from pathlib import Path


@cache
def book_root() -> Path:
    """The folder that holds `chapters/`, `solutions/` and `docs/`."""
    package = Path(__file__).resolve().parent.parent  # autograder
    for root in (package.parent, package / "_book"):
        if (root / "solutions").is_dir() and (root / "docs").is_dir():
            return root
    raise FileNotFoundError(
        f"the book's folders solutions/ and docs/ lie neither in {package.parent} nor in {package / '_book'}; "
        "reinstall gpubook, or run it from a checkout"
    )
