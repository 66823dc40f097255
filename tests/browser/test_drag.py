"""Numbers of a page that are dragged, by mouse, finger and keyboard, and what opens behind a computed one."""

import pytest

from autograder.book.site import html, vendor
from tests.autograder.small_book import EXERCISES, MADE_BY, SOURCE, lay_out_site
from tests.browser.served import LOOKS
from tests.conftest import ROOT
from tests.kept import kept, makes_pages

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TEXT = """\
A buffer of
{drag}`size = 100*MB in 1*MB..100*GB by log "B" -> k = minimum(9, floor(size/100e6))`
takes {n}`show(size/W, "s")` by {n}`W/GB`, which is {n}`f"{size/(1*GB):.0%}"` of a GB,
on a {drag}`chip = h100 in [a100, h100]` of {n}`show(chip.hbm_bytes, "B")`.

Twice {drag}`half = 21 in 0..50 -> x` is {n}`2*half`, which is
{n}`"much" if half > 30 else "little"`, and {n}`7` is typed.

Its memory gives {n}`show(memory_time(100*GB, h100.hbm_bandwidth), "s")`.

To read it takes {n}`show(memory_time(size, h100.hbm_bandwidth), "s")`.
"""
NAMES = """
from hwlib.specs import accelerators
h100, a100 = accelerators["h100-sxm"], accelerators["a100-80gb-sxm"]
"""
AXE = """async () => (await axe.run(".bd-article", {runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}))
    .violations.map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 120))])"""


def _make(folder):
    at = SOURCE.index("Or $S =")
    root = lay_out_site(folder / "root", ROOT, SOURCE[:at] + "\n" + TEXT + "\n" + SOURCE[at:], EXERCISES + NAMES)
    bibliography = root / "docs" / "references.bib"
    entry = "author = {A. Vendor}, title = {The sheet}, year = {2024}, url = {https://example.org/sheet}"
    known = bibliography.read_text()
    more = [f"@misc{{{key}, {entry}}}" for key in sorted(_sources()) if f"{{{key}," not in known]
    bibliography.write_text("\n".join([known, *more]))
    html.build(root, folder / "html")


def _sources():
    from hwlib.roofline import memory_time
    from hwlib.specs import accelerators

    return {d.source for k in ("h100-sxm", "a100-80gb-sxm") for d in accelerators[k].data.values()} | {memory_time.cite}


@pytest.fixture(scope="module")
def address():
    return (
        kept("drag-book", (*makes_pages(), *MADE_BY, "tests/browser/test_drag.py"), _make) / "html" / "07-links.html"
    ).as_uri()


@pytest.fixture
def opened(page, watch, address):
    page.goto(address)
    page.evaluate("gpubook.mountAll()")  # a chart waits until it comes near
    page.wait_for_function("() => !document.querySelector('figure.live:not([data-ready])')", timeout=60_000)
    yield page
    assert watch.foreign == []
    assert watch.errors == []


def quantity(page, name):
    return page.locator(f"span.drag[data-drag={name}]")


def sentence(page, words):
    return page.locator(".bd-article p", has_text=words).first


def test_the_keyboard_turns_a_number_and_its_sentence_follows(opened):
    size = quantity(opened, "size")
    assert (size.get_attribute("role"), size.get_attribute("aria-label")) == ("slider", "size")
    text = sentence(opened, "A buffer of")
    assert (
        "100 MB↺ takes 2 ms by 50. That is 10% of" in text.inner_text().replace("\n", " ")
        or "takes 2 ms" in text.inner_text()
    )
    size.focus()
    opened.keyboard.press("ArrowRight")
    assert "takes 2.4 ms" in text.inner_text()
    assert "is 12% of" in text.inner_text()
    assert size.get_attribute("aria-valuetext") == "120 MB"
    opened.keyboard.press("End")
    assert "takes 2 s" in text.inner_text()
    assert "is 10000% of" in text.inner_text()
    opened.keyboard.press("PageDown")
    assert size.inner_text() not in ("100 GB", "100 MB")
    opened.keyboard.press("Home")
    assert "takes 20 us" in text.inner_text()
    opened.keyboard.press("Escape")
    assert "takes 2 ms" in text.inner_text()
    assert size.inner_text() == "100 MB"


def test_a_chip_is_turned_by_its_name(opened):
    chip = quantity(opened, "chip")
    text = sentence(opened, "A buffer of")
    assert chip.inner_text() == "H100 SXM5"
    chip.focus()
    opened.keyboard.press("ArrowLeft")
    assert chip.inner_text() == "A100 80GB SXM"
    assert "of 80 GB" in text.inner_text()


def test_the_mouse_drags_and_the_reset_button_brings_the_value_back(opened):
    size = quantity(opened, "size")
    size.scroll_into_view_if_needed()
    box = size.bounding_box()
    x, y = box["x"] + 8, box["y"] + box["height"] / 2
    opened.mouse.move(x, y)
    opened.mouse.down()
    opened.mouse.move(x + 90, y, steps=6)
    opened.mouse.up()
    assert size.inner_text() != "100 MB"
    assert "takes 2 ms" not in sentence(opened, "A buffer of").inner_text()
    reset = opened.get_by_role("button", name="size: back to 100 MB")
    reset.click()
    assert size.inner_text() == "100 MB"
    assert not reset.is_visible()
    assert "takes 2 ms" in sentence(opened, "A buffer of").inner_text()


def test_a_finger_drags(chromium, address):
    context = chromium.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(address)
    size = quantity(page, "size")
    size.scroll_into_view_if_needed()
    box = size.bounding_box()
    x, y = box["x"] + 10, box["y"] + box["height"] / 2
    touch = context.new_cdp_session(page)

    def send(kind, at):
        points = [] if kind == "touchEnd" else [{"x": at, "y": y}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", x)
    for step in range(1, 10):
        send("touchMove", x + 10 * step)
    send("touchEnd", x)
    assert size.inner_text() != "100 MB"
    context.close()


def test_the_figures_that_have_the_parameter_follow(opened):
    half = quantity(opened, "half")
    half.focus()
    for _ in range(12):
        opened.keyboard.press("ArrowRight")
    assert "is 66, which is much" in sentence(opened, "Twice").inner_text()
    assert opened.locator("figure.live output", has_text="twice is").inner_text() == "twice is 66"
    quantity(opened, "size").focus()
    opened.keyboard.press("End")
    opened.wait_for_function("() => document.querySelector('figure.live[data-live=vega]').view.signal('k') === 9")
    assert opened.locator("figure.live[data-live=vega] input[name=k]").input_value() == "9"


def open_box(page):
    return page.get_by_role("dialog", name="Where this number comes from")


def test_a_click_opens_where_a_number_comes_from_and_escape_closes_it(opened):
    number = sentence(opened, "Its memory gives").locator("span.n")
    assert (number.last.get_attribute("role"), number.last.get_attribute("aria-expanded")) == ("button", "false")
    last = number.last
    last.click()
    box = open_box(opened)
    assert box.is_visible()
    said = box.inner_text()
    for words in ("memory_time", "bandwidth of the high-bandwidth memory", "3.35 TB/s", "printed", "seen", "The sheet"):
        assert words in said
    links = box.locator("a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    assert "formulas.html#memory_time" in links
    assert "specs.html#h100-sxm" in links
    assert any(href.startswith("https://") for href in links)
    assert any(href.startswith("bibliography.html#") for href in links)
    assert last.get_attribute("aria-expanded") == "true"
    opened.keyboard.press("Escape")
    opened.wait_for_function("() => document.activeElement.matches('span.n')")
    assert not box.is_visible()
    assert last.get_attribute("aria-expanded") == "false"


def test_what_stands_behind_a_number_is_for_the_dragged_values(opened):
    number, box = sentence(opened, "To read it takes").locator("span.n"), open_box(opened)
    number.click()
    book = box.inner_text()
    assert "for the book's size = 100 MB" in book
    assert f"gives {number.inner_text()}" in book
    opened.keyboard.press("Escape")
    quantity(opened, "size").focus()
    opened.keyboard.press("PageUp")
    size = quantity(opened, "size").inner_text()
    number.click()
    said = box.inner_text()
    assert f"for your size = {size}" in said
    assert f"gives {number.inner_text()}" in said
    assert said.count(size) == 2  # the letter of the formula too
    opened.keyboard.press("Escape")
    memory = sentence(opened, "A buffer of").locator("span.n").last
    quantity(opened, "chip").focus()
    opened.keyboard.press("Home")
    memory.click()
    assert f"{quantity(opened, 'chip').inner_text()}, " in box.inner_text()
    assert f": {memory.inner_text()}" in box.inner_text()


def test_enter_opens_it_and_one_is_open_at_a_time(opened):
    first, other = opened.locator("span.n.explained").nth(0), opened.locator("span.n.explained").nth(1)
    first.focus()
    opened.keyboard.press("Enter")
    assert open_box(opened).is_visible()
    assert "50 GB/s comes from" in open_box(opened).inner_text()
    other.click()
    opened.wait_for_function(
        "(text) => document.querySelector('.origins').innerText.startsWith(text)", arg=other.inner_text()
    )
    assert opened.locator(".origins:popover-open").count() == 1
    other.click()
    opened.wait_for_function("() => !document.querySelector('.origins:popover-open')")


def test_a_tap_opens_it_and_it_fits_a_telephone(chromium, address):
    context = chromium.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(address)
    number = sentence(page, "Its memory gives").locator("span.n").last
    number.scroll_into_view_if_needed()
    number.tap()
    box = open_box(page).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 800
    context.close()


def test_a_typed_number_has_nothing_to_open(opened):
    text = sentence(opened, "Twice")
    assert "and 7 is typed" in text.inner_text()
    assert "7" not in text.locator("span.n").all_inner_texts()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_numbers_are_accessible(chromium, address, width, scheme):
    axe = vendor.fetch(ROOT / "docs" / "vendor.json", ROOT / ".build" / "vendor", ["axe-core"])
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    page.evaluate((axe / "axe-core" / "axe.min.js").read_text())  # the page has a policy, which refuses the tag
    quantity(page, "size").focus()
    page.keyboard.press("ArrowRight")
    page.locator("span.n.explained").first.click()
    page.wait_for_timeout(1200)
    found = page.evaluate(AXE)
    ours = [one for one in found if any(word in str(one) for word in ("drag", "origin", 'class="n'))]
    assert ours == []
    context.close()


def test_without_scripts_the_page_reads(chromium, address):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert "A buffer of 100 MB takes 2 ms" in " ".join(page.locator(".bd-article").inner_text().split())
    context.close()
