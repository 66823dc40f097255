"""Passes of a schedule are moved with keys, with a mouse and with a finger, in a page without a kernel."""

import pytest

from hwlib import widgets
from tests.browser.test_chip_figures import figure
from tests.browser.test_figures import no_kernel_page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def editor(page, tmp_path):
    page.goto(no_kernel_page(tmp_path, [figure(widgets.schedule_editor())]))
    page.wait_for_selector(".gpubook-figure svg.schedule .pass")
    return page


def told(page):
    data = page.locator(".gpubook-readout").evaluate("(el) => ({...el.dataset})")
    return float(data["time"]), [float(x) for x in data["high"].split(",")]


def at(page, rank, place):
    return page.locator(f'.pass[data-rank="{rank}"][data-place="{place}"]')


def middle(page, rank, place):
    box = at(page, rank, place).locator("rect").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_an_arrow_key_moves_a_pass_and_the_pass_keeps_the_focus(editor, watch):
    assert told(editor) == (33, [4, 3, 2, 1])
    at(editor, 0, 4).focus()  # the first backward pass of rank 0, behind four forward ones
    editor.keyboard.press("ArrowRight")
    assert told(editor)[1] == [5, 3, 2, 1]
    assert editor.evaluate("document.activeElement.dataset.place") == "5"
    editor.keyboard.press("ArrowLeft")
    assert told(editor) == (33, [4, 3, 2, 1])
    at(editor, 3, 1).focus()
    editor.keyboard.press("ArrowLeft")  # before its own forward pass
    assert "cannot come before F0" in editor.locator(".refused").inner_text()
    assert told(editor) == (33, [4, 3, 2, 1])
    assert watch.errors == []
    assert watch.foreign == []


def test_a_pass_is_dragged_along_its_row(editor, watch):
    x, y = middle(editor, 0, 4)
    to, _ = middle(editor, 0, 6)
    editor.mouse.move(x, y)
    editor.mouse.down()
    editor.mouse.move((x + to) / 2, y)
    editor.mouse.move(to + 4, y)
    editor.mouse.up()
    assert told(editor)[1][0] > 4
    editor.get_by_role("button", name="undo all moves").click()
    assert told(editor) == (33, [4, 3, 2, 1])
    editor.locator("select[name=preset]").select_option("zbv")
    assert told(editor)[0] == 25.5
    assert watch.errors == []


def test_a_finger_drags_too(editor, watch):
    x, y = middle(editor, 0, 4)
    to, _ = middle(editor, 0, 6)
    look = {"pointerId": 7, "pointerType": "touch", "isPrimary": True, "bubbles": True, "clientY": y}
    send = """([kind, look]) => {
        const svg = document.querySelector('svg.schedule');
        svg.setPointerCapture = () => {};
        const target = kind === 'pointerdown' ? document.elementFromPoint(look.clientX, look.clientY) : svg;
        target.dispatchEvent(new PointerEvent(kind, look));
    }"""
    for kind, where in (("pointerdown", x), ("pointermove", to), ("pointerup", to + 4)):
        editor.evaluate(send, [kind, look | {"clientX": where}])
    assert told(editor)[1][0] > 4
    style = at(editor, 0, 0).evaluate("(el) => getComputedStyle(el).touchAction")
    assert style == "none"  # so that the page does not scroll away under the finger
    assert watch.errors == []
