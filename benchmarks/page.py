"""How soon a page of the built book gives its first verdict, and the next ones.

    python -m benchmarks.page build/html

Each run opens a chapter in a browser that has seen none of it, types an answer and checks it, and then another: the
first verdict waits for Python to load, the next for Python alone. Over http from a server on this machine that
compresses nothing, and from the disk; with the snapshot of Python's memory, and without, as where it does not load.
Ways take turns, so that a machine which gets slower slows all of them; times are in seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from autograder.book.chromium import find_chromium
from tests.browser.firefox import find_firefox, firefox_page

from .page_weight import FLAGS, served

RUNS = 5
CHAPTER, EXERCISE = "03-rooflines", "rooflines-vector-add"
FIRST, NEXT = "0.5 ms", ("0.6 ms", "2*2*2^30/8e12 s", "3*2*2^30/8e12 s")
"""The answers that are checked: a wrong one first, then others, the right one last."""


class Way(NamedTuple):
    """How the book is opened: the browser, over http or from the disk, with the snapshot or without."""

    browser: str
    http: bool
    snapshot: bool

    def __str__(self) -> str:
        return f"{self.browser}, {'http' if self.http else 'disk'}, {'snapshot' if self.snapshot else 'plain'}"


class Verdicts(NamedTuple):
    """Seconds from the click to the first verdict, and to each of the next."""

    first: float
    next: tuple[float, ...]


def verdicts(page: Any, address: str) -> Verdicts:
    """Open the chapter and check the answers."""
    page.goto(f"{address}/{CHAPTER}.html")
    form = page.locator(f"form[data-exercise={EXERCISE}]")

    def check(text: str) -> float:
        form.locator("input[type=text]").fill(text)
        before = form.evaluate("form => { form.dataset.verdict = ''; return performance.now(); }")
        form.locator("button[type=submit]").click()
        done = "f => !['', 'busy'].includes(f.dataset.verdict) && !f.hasAttribute('data-busy')"
        page.wait_for_function(done, arg=form.element_handle(), timeout=120_000, polling=5)
        return float(form.evaluate("() => performance.now()") - before) / 1e3

    return Verdicts(check(FIRST), tuple(map(check, NEXT)))


@contextlib.contextmanager
def _opened(playwright: Any, way: Way, chromium: str | None) -> Iterator[Any]:
    browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    if not way.snapshot:
        page.route("**/snapshot.gz*", lambda route: route.abort())
    try:
        yield page
    finally:
        browser.close()


def ways(firefox: bool) -> list[Way]:
    """All that are compared."""
    chrome = [Way("Chromium", http, snapshot) for http in (True, False) for snapshot in (True, False)]
    return chrome + [Way("Firefox", http, True) for http in (True, False) if firefox]


def _spread(values: list[float]) -> str:
    return " / ".join(f"{x:.2f}" for x in (min(values), statistics.median(values), max(values)))


def measured(folder: Path, runs: int) -> Iterator[str]:
    """The rows of the table: a way each."""
    from playwright.sync_api import sync_playwright

    asked = ways(bool(find_firefox()))
    found: dict[Way, list[Verdicts]] = {way: [] for way in asked}
    with served(folder) as address, sync_playwright() as playwright:
        for _ in range(runs):
            for way in asked:
                start = time.monotonic()
                where = address if way.http else folder.resolve().as_uri()
                opened = firefox_page() if way.browser == "Firefox" else _opened(playwright, way, find_chromium())
                with opened as page:
                    found[way].append(verdicts(page, where))
                print(f"# {way}: {time.monotonic() - start:.1f} s", flush=True)
    yield f"| way | first verdict (s, min / median / max of {runs}) | next |"
    yield "|---|---:|---:|"
    for way, all_runs in found.items():
        later = [seconds for one in all_runs for seconds in one.next]
        yield f"| {way} | {_spread([one.first for one in all_runs])} | {_spread(later)} |"


def main() -> None:
    """The table."""
    asked = argparse.ArgumentParser(description="How soon a page of a built book gives verdicts.")
    asked.add_argument("folder", type=Path, help="a built book, such as build/html")
    asked.add_argument("--runs", type=int, default=RUNS, help=f"of each way  [default: {RUNS}]")
    given = asked.parse_args()
    for line in measured(given.folder, given.runs):
        print(line)


if __name__ == "__main__":
    main()
