"""A folder over http, and a check by axe, for the browser tests that read the built book both ways."""

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.book.site import vendor
from tests.conftest import ROOT

# from the disk axe may not load the page's styles anew
RULES = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'], preload: false}"

NIGHTLY = [pytest.param(1440, "dark", marks=pytest.mark.nightly), pytest.param(390, "light", marks=pytest.mark.nightly)]
LOOKS = [(1440, "light"), (390, "dark"), *NIGHTLY]
"""Widths and colour schemes in which axe checks a page: each occurs in each run, every pair of them at night."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_):
        """Nothing."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which a folder is served until the end."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def checked(page, where: str) -> None:
    """Assert that axe finds nothing in the elements of a selector."""
    folder = vendor.fetch(ROOT / "docs" / "vendor.json", ROOT / ".build" / "vendor", ["axe-core"])
    page.evaluate((folder / "axe-core" / "axe.min.js").read_text())  # a page's own policy may refuse a script's tag
    found = page.evaluate(f"where => axe.run(where, {RULES})", where)
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]][:3]) for one in found["violations"]] == []
