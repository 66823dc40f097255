"""A Python that does not find some packages, although they are installed: an environment without an extra."""

from collections.abc import Iterable
from pathlib import Path

EXTRAS = ("torch", "cloudpickle", "triton")  # what no package of a reader's environment brings
SOURCE = """
import sys


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Blocked())
"""


def block(folder: Path, packages: Iterable[str] = EXTRAS) -> Path:
    """Fill a new folder that, first in PYTHONPATH, hides these packages from a Python and those that it starts."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SOURCE.format(packages=tuple(packages)))
    return folder
