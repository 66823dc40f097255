"""What a page of the built book weighs before its reader does anything, and how soon it is seen.

    python -m benchmarks.speed.page_weight build/html 03-rooflines index

Each page is opened in Chromium with an empty cache, from a server on this machine that compresses nothing, and left
alone until it asks for nothing more. Bytes and requests are the same in each of the RUNS; times are said as the
smallest, the middle and the largest.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import statistics
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from autograder.book.print.chromium import find_chromium

RUNS = 5
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
LOADED = """() => {
    const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    const paints = Object.fromEntries(performance.getEntriesByType("paint").map((e) => [e.name, e.startTime]));
    return {
        files: loaded.filter((e) => e.name.startsWith(location.origin)).map((e) => [e.name, e.encodedBodySize]),
        paint: paints["first-paint"], content: paints["first-contentful-paint"],
    };
}"""


class Visit(NamedTuple):
    """One first visit: the bytes of each file that came, and when something, and some content, was painted (s)."""

    files: dict[str, int]
    paint: float
    content: float


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves hangs up."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """A server of the folder's files on a free port; yields its address."""
    with _Server(("127.0.0.1", 0), functools.partial(_Silent, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def visit(browser: Any, address: str) -> Visit:
    """Open a page in a browser that has seen none of it, and wait until it asks for nothing more."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        page = context.new_page()
        page.goto(address, wait_until="networkidle")
        seen = page.evaluate(LOADED)
    finally:
        context.close()
    files: dict[str, int] = {}
    for name, size in seen["files"]:  # a file that was asked for twice came once
        files[name] = max(size, files.get(name, 0))
    return Visit(files, seen["paint"] / 1e3, seen["content"] / 1e3)


def _spread(values: list[float]) -> str:
    return " / ".join(f"{1e3 * x:.0f}" for x in (min(values), statistics.median(values), max(values)))


def measured(folder: Path, names: list[str], chromium: str | None, largest: int = 0) -> Iterator[str]:
    """The rows of the table, for each page, and under it its `largest` files."""
    from playwright.sync_api import sync_playwright

    yield f"| page | bytes | requests | first paint (ms, min / median / max of {RUNS}) | first contentful paint (ms) |"
    yield "|---|---:|---:|---:|---:|"
    with served(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name in names:
            visits = [visit(browser, f"{address}/{name}.html") for _ in range(RUNS)]
            files = visits[-1].files
            paint, content = _spread([v.paint for v in visits]), _spread([v.content for v in visits])
            yield f"| {name} | {sum(files.values()):,} | {len(files)} | {paint} | {content} |"
            for file, size in sorted(files.items(), key=lambda item: -item[1])[:largest]:
                yield f"  {size:>9,}  {file.removeprefix(address)}"
        browser.close()


def main() -> None:
    """The table of the pages that are named, or of all."""
    asked = argparse.ArgumentParser(description="What pages of a built book weigh, and when they are painted first.")
    asked.add_argument("folder", type=Path, help="a built book, such as build/html")
    asked.add_argument("pages", nargs="*", help="names of pages, such as 03-rooflines  [default: all]")
    asked.add_argument("--chromium", help="the browser  [default: the one that is installed]")
    asked.add_argument("--largest", type=int, default=0, help="list so many files of each page, the largest first")
    given = asked.parse_args()
    pages = given.pages or sorted(path.stem for path in given.folder.glob("*.html"))
    for line in measured(given.folder, pages, given.chromium or find_chromium(), given.largest):
        print(line)


if __name__ == "__main__":
    main()
