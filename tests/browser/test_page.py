"""The chapter's own page, read from the disk: its figures turn, and it asks no one for anything."""

import pytest

from tests.conftest import ROOT
from tests.kept import built

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHAPTER = "03-rooflines"


@pytest.fixture
def chapter(page, watch):
    page.goto((built(ROOT) / f"{CHAPTER}.html").as_uri())
    page.wait_for_function("() => document.querySelectorAll('figure.live').length >= 2")
    page.evaluate("gpubook.mountAll()")
    page.wait_for_function("() => !document.querySelector('figure.live:not([data-ready])')", timeout=60_000)
    yield page
    assert watch.foreign == []
    assert watch.errors == []


def test_the_same_figure_turns_without_a_kernel(chapter):
    readout = chapter.locator(".gpubook-readout").first
    assert "memory-bound" in readout.inner_text()
    batch = chapter.locator(".gpubook-figure input[name=B]").first
    batch.focus()
    for _ in range(28):
        chapter.keyboard.press("ArrowRight")
    assert "compute-bound" in readout.inner_text()


def test_the_contents_mark_the_section_that_is_read_also_on_the_way_up(chapter):
    chapter.set_viewport_size({"width": 1400, "height": 900})
    links = chapter.locator("#pst-page-toc-nav a")
    hashes = [link.get_attribute("href") for link in links.all()]
    for at, nearer in ((3, 0), (3, -400), (1, 0), (1, -400)):
        chapter.evaluate(
            "([hash, by]) => scrollTo({top: document.querySelector(hash).getBoundingClientRect().top + scrollY + by, "
            "behavior: 'instant'})",
            [hashes[at], nearer],
        )
        want = hashes[at] if nearer == 0 else hashes[at - 1]
        chapter.wait_for_selector(f"#pst-page-toc-nav a.active[href='{want}']")
        assert chapter.locator("#pst-page-toc-nav a.active").count() == 1
    chapter.evaluate("() => scrollTo({top: 1e7, behavior: 'instant'})")
    chapter.wait_for_selector(f"#pst-page-toc-nav a.active[href='{hashes[-1]}']")
