"""The book's own pages, built once a test run and edition, for every test that reads them."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from autograder.book import html


@cache
def built(root: Path, course: bool = False) -> Path:
    """The folder of the HTML; the chapters' run is kept in .build, Sphinx takes a few seconds."""
    folder = Path(tempfile.mkdtemp(prefix="gpubook-html-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return html.build(root, folder / ("course" if course else "open"), course=course)
