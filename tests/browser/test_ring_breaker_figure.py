"""The ring that a reader breaks, in a page without a kernel and in JupyterLab: played, stepped, moved by keyboard."""

import pytest

from autograder.ranks.network import carry
from autograder.ranks.network_error import NetworkError
from hwlib import widgets
from hwlib.widgets.ring_breaker import RANKS
from tests.browser.jupyterlab import open_notebook, run_all
from tests.browser.test_chip_figures import figure
from tests.browser.test_figures import no_kernel_page, press, vendor  # noqa: F401  a fixture
from tests.hwlib.test_widgets import state_of
from tests.hwlib.test_widgets_ring_breaker import judged, simulated

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SAID, ARROWS, STATE = (
    ".gpubook-readout .first",
    "svg.ring .wait",
    "() => document.querySelector('.gpubook-readout').dataset",
)
LIGHT, DARK = "background:#fff;color:#222", "background:#121212;color:#ced6dd"


def opened(page, folder, style=LIGHT, **how):
    page.goto(no_kernel_page(folder, [figure(widgets.ring_breaker(**how))], style))
    page.wait_for_selector("figure.live[data-ready=true]")
    return page.locator(".gpubook-readout")


def until(page, state):
    page.wait_for_function(f"({STATE})().state === '{state}'", timeout=30_000)


def said_by_the_judge(**how):
    state = state_of(widgets.ring_breaker(**how))
    with pytest.raises(NetworkError) as refused:
        carry([judged(rank, state) for rank in range(state["n"])])
    return str(refused.value)


def test_a_deadlock_closes_into_a_circle_and_is_named_as_the_judge_names_it(page, watch, tmp_path):
    told = opened(page, tmp_path)
    assert page.locator(ARROWS).count() == 0
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the first button: all send before they receive
    until(page, "deadlock")
    page.get_by_role("button", name="Play again").wait_for()
    assert page.locator(ARROWS).count() == 6
    assert said_by_the_judge(calls="sends") in page.locator(SAID).inner_text().replace("No rank", "no rank")
    assert told.get_attribute("role") == "status"
    assert "wait" in page.locator("svg.ring").get_attribute("aria-label")

    page.locator("select[name=calls]").focus()
    page.keyboard.press("ArrowDown")  # rank 0 receives first, and the circle is open
    page.locator("input[name=time]").focus()
    page.keyboard.press("End")
    until(page, "done")
    assert page.locator(ARROWS).count() == 0
    assert float(told.get_attribute("data-takes")) == pytest.approx(
        simulated(state_of(widgets.ring_breaker(calls="zero"))).time
    )
    assert watch.errors == []
    assert watch.foreign == []


def test_who_leaves_out_a_turn_is_waited_for_by_both_neighbours(page, watch, tmp_path):
    opened(page, tmp_path, n=5, skips=3)
    page.locator("input[name=time]").focus()
    page.keyboard.press("End")
    until(page, "hang")
    assert said_by_the_judge(n=5, skips=3) in page.locator(SAID).inner_text().replace("No rank", "no rank")
    assert page.locator(ARROWS).count() == 2
    page.locator("svg.ring [data-rank='3'] rect").first.click()  # which takes its turn again
    assert page.locator("select[name=skips]").input_value() == "-1"
    page.locator("input[name=time]").press("End")
    until(page, "done")
    assert watch.errors == []


def test_a_slow_link_delays_all_and_every_step_counts_bytes_and_rounds(page, watch, tmp_path):
    told = opened(page, tmp_path, n=RANKS[0])
    whole = float(told.get_attribute("data-takes"))
    for messages in (4, 8, 12):  # in each round a message on every link
        page.get_by_role("button", name="Step").press("Enter")
        assert told.get_attribute("data-messages") == str(messages)
    page.get_by_role("button", name="One slow link").click()
    assert page.locator("select[name=slow]").input_value() == "3"
    page.locator("input[name=time]").press("End")
    until(page, "done")
    slow = simulated(state_of(widgets.ring_breaker(RANKS[0], slow=3)))
    assert float(told.get_attribute("data-takes")) == pytest.approx(slow.time)
    assert slow.time > 3.9 * whole
    assert float(told.get_attribute("data-bytes")) == pytest.approx(sum(slow.sent_bytes))
    assert told.get_attribute("data-rounds") == "3"
    assert watch.errors == []


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_it_plays_pauses_and_moves_only_as_the_reader_likes(chromium, tmp_path, motion):
    context = chromium.new_context(reduced_motion=motion)
    page = context.new_page()
    opened(page, tmp_path, n=4)
    page.evaluate("""() => {
        window.seen = new Set();
        const time = () => { window.seen.add(Number(document.querySelector('.gpubook-readout').dataset.time)); };
        new MutationObserver(time).observe(document.querySelector('.gpubook-readout'), { attributes: true });
    }""")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.wait_for_function("window.seen.size > 2")
    assert page.locator(".gpubook-readout").get_attribute("aria-live") == "off"
    page.get_by_role("button", name="Pause").press("Enter")
    assert page.locator(".gpubook-readout").get_attribute("aria-live") == "polite"
    rests = page.evaluate(f"({STATE})().time")
    page.wait_for_timeout(300)
    assert page.evaluate(f"({STATE})().time") == rests
    page.get_by_role("button", name="Play").press("Enter")
    until(page, "done")
    moments = page.evaluate("[...window.seen]")
    run = simulated(state_of(widgets.ring_breaker(4)))
    starts = {0.0, *(m.start for m in run.messages), *(m.end for m in run.messages)}
    between = [at for at in moments if min(abs(at - one) for one in starts) > 1e-9]
    assert bool(between) == (motion == "no-preference")
    context.close()


@pytest.mark.parametrize("style", [LIGHT, DARK])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(page, tmp_path, style, width, vendor):  # noqa: F811
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, tmp_path, style, calls="sends", n=8)
    press(page, "input[name=time]", "End", 1)
    page.add_script_tag(path=str(vendor / "axe-core" / "axe.min.js"))
    found = page.evaluate("axe.run('figure.live')")
    assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    heights = page.locator("svg.ring text").evaluate_all("all => all.map(e => e.getBoundingClientRect().height)")
    assert min(height for height in heights if height) >= 9


def test_it_runs_in_jupyterlab_and_python_follows_the_reader(page, watch, lab):
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    url, study = lab
    cells = ["from hwlib import widgets\nw = widgets.ring_breaker(5)\nw", "print('skips', w.skips, 'time', w.time > 0)"]
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=[new_code_cell(c) for c in cells], metadata=python), study / "ring.ipynb")
    open_notebook(page, url, "ring.ipynb")
    run_all(page, "svg.ring")
    page.get_by_role("button", name="Rank 2 skips").click()
    page.locator("input[name=time]").focus()
    page.keyboard.press("End")
    until(page, "hang")
    page.locator(".jp-NotebookPanel .jp-Cell").last.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.body.innerText.includes('skips 2 time True')", timeout=20_000)
    assert watch.foreign == []
