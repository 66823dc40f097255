"""How soon a page of the built book gives its first verdict, and the next ones.

    python -m benchmarks.speed.first_verdict build/html

Each run opens a chapter in a browser that has seen none of it, types an answer and checks it, and then another: the
first verdict waits for Python to load, the next for Python alone. Over http from a server on this machine that
compresses nothing, and from the disk; with the snapshot of Python's memory, and without, as where it does not load.
Ways take turns, so that a machine which gets slower slows all of them; times are in seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from autograder.book.print.chromium import find_chromium
from benchmarks.speed.page_weight import FLAGS, served

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


CHECK = """async ([exercise, text]) => {
    const form = document.querySelector(`form[data-exercise="${exercise}"]`);
    form.querySelector("input").value = text;
    form.dataset.verdict = "";
    const before = performance.now();
    form.requestSubmit();
    while (["", "busy"].includes(form.dataset.verdict) || form.hasAttribute("data-busy"))
        await new Promise((again) => setTimeout(again, 4));
    return (performance.now() - before)/1e3;
}"""


def verdicts(page: Any, address: str) -> Verdicts:
    """Open the chapter and check the answers."""
    page.goto(f"{address}/{CHAPTER}.html")
    return Verdicts(
        page.evaluate(CHECK, [EXERCISE, FIRST]), tuple(page.evaluate(CHECK, [EXERCISE, one]) for one in NEXT)
    )


@contextlib.contextmanager
def _chromium(playwright: Any, snapshot: bool) -> Iterator[Any]:
    browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    if not snapshot:
        page.route("**/snapshot.gz*", lambda route: route.abort())
    try:
        yield page
    finally:
        browser.close()


@contextlib.contextmanager
def _firefox(program: str) -> Iterator[Any]:
    from tests.browser.firefox import Firefox

    with tempfile.TemporaryDirectory(prefix="gpubook-page-") as profile:
        page = Firefox(program, Path(profile))
        try:
            yield page
        finally:
            page.close()


def ways(firefox: bool) -> list[Way]:
    """All that are compared."""
    chrome = [Way("Chromium", http, snapshot) for http in (True, False) for snapshot in (True, False)]
    return chrome + [Way("Firefox", http, True) for http in (True, False) if firefox]


def _spread(values: list[float]) -> str:
    return " / ".join(f"{x:.2f}" for x in (min(values), statistics.median(values), max(values)))


def measured(folder: Path, runs: int) -> Iterator[str]:
    """The rows of the table: a way each."""
    from playwright.sync_api import sync_playwright

    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    found: dict[Way, list[Verdicts]] = {way: [] for way in ways(firefox is not None)}
    with served(folder) as address, sync_playwright() as playwright:
        for _ in range(runs):
            for way, seen in found.items():
                opened = (
                    _firefox(firefox) if firefox and way.browser == "Firefox" else _chromium(playwright, way.snapshot)
                )
                with opened as page:
                    seen.append(verdicts(page, address if way.http else folder.resolve().as_uri()))
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
