"""Exercises answered in the page, with Python in the page: in Chromium and Firefox, over http and from the disk.

Chromium is asked for every kind of input, over http; the other three ways for what could differ there, Firefox over
http every night: from the disk it is asked each time. A page is opened once for each, and Python starts once in it, and
again after what ends it.
"""

import contextlib
import os
import re
import shutil
import time

import pytest

from autograder.book.in_page.python_folder import CORE
from autograder.declaration import load_bank
from hwlib.units import show
from tests.browser.conftest import Watch
from tests.browser.firefox import Firefox
from tests.browser.served import LOOKS, checked, served
from tests.conftest import ROOT
from tests.kept import built

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHAPTER, RINGS = "02-memory-hierarchy", "06-collectives"
TIME, WARPS, LINK, PAIR = (
    f"memory-hierarchy-{name}" for name in ("erratum-b200", "in-flight", "erratum-c2c", "pair-feed")
)
REQUEST, TRANSPOSE, SCHEDULE = (f"memory-hierarchy-{name}" for name in ("warp-request", "transpose", "schedule"))
RASTER, TILE, GATHER = "memory-hierarchy-raster", "memory-hierarchy-largest-tile", "collectives-ring-allgather"
STEP, ON_CHIP = "memory-hierarchy-predict-step", "memory-hierarchy-predict-on-chip"
NEEDS = (*(f"pyodide/{name}" for name in CORE), "library.zip", "book.zip", "snapshot.gz")
FORM = "const form = document.querySelector(`form[data-exercise='${id}']`);"
ENTER = f"""([id, value]) => {{
    {FORM}
    const type = (field, text) => {{
        field.focus();
        field.select();
        document.execCommand(text ? "insertText" : "delete", false, text);
    }};
    if (form.dataset.input === "options") form.querySelector(`input[value="${{value}}"]`).click();
    else if (form.dataset.input === "fields")
        for (const [name, text] of Object.entries(value)) type(form.querySelector(`[name=${{name}}]`), text);
    else type(form.querySelector("code-input")?.textareaElement ?? form.querySelector("textarea, input"), value);
}}"""
PRESS = f"([id, button]) => {{ {FORM} form.querySelector(`button${{button}}`).click(); }}"
RESTS = f"(id) => {{ {FORM} return !form.hasAttribute('data-busy') && form.dataset.verdict !== 'busy'; }}"
SAID = f"""(id) => {{
    {FORM}
    const field = form.querySelector("code-input")?.textareaElement ?? form.querySelector("textarea, input[type=text]");
    return {{
        looks: form.dataset.verdict ?? "", text: form.querySelector(".verdict").innerText.trim(),
        printed: form.querySelector(".printed").textContent,
        source: field?.value, chosen: form.querySelector("input:checked")?.value,
        hints: form.closest(".exercise").querySelectorAll(":scope > details.hint:not([hidden])").length,
        solution: !form.closest(".exercise").querySelector(":scope > details.solution").hidden,
        offered: !form.querySelector("button.solution").hidden, hint: form.querySelector("button.hint")?.innerText,
    }};
}}"""
RUNS_REQUEST = """def request(addresses):
    words = {a // 4 for a in addresses}
    banks = [sum(word % 32 == bank for word in words) for bank in range(32)]
    return len({a // LINE for a in addresses}), max(banks)
"""
TURNS_TILES = """def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=(rows[:, None] < M) & (columns[None, :] < N))
    there = (columns[:, None] < N) & (rows[None, :] < M)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=there)
"""
PASSES_ON = """def ring_allgather(rank, n, x):
    block = blocks(x, n)
    for k in range(n - 1):
        got = yield Step(block[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
        block[(rank - k - 1) % n][:] = got
    return x
"""
PASSES_ALL = """def ring_allgather(rank, n, x):
    for _ in range(n - 1):
        got = yield Step(x, (rank + 1) % n, (rank - 1) % n)
        for i in range(len(x)):
            if x[i] != x[i]:
                x[i] = got[i]
    return x
"""


class Reader:
    """Someone who answers the cards of a page, in either browser."""

    def __init__(self, page, base, python):
        self.page, self.base, self.python = page, base, python

    def opens(self, chapter):
        self.page.goto(f"{self.base}/{chapter}.html")

    def until(self, function, value=None, seconds=120):
        end = time.monotonic() + seconds
        while not self.page.evaluate(function, value):
            assert time.monotonic() < end, f"not within {seconds} s: {function} {value}"
            time.sleep(0.05)

    def enters(self, exercise, value):
        self.page.evaluate(ENTER, [exercise, value])

    def presses(self, exercise, button="[type=submit]"):
        self.page.evaluate(PRESS, [exercise, button])
        self.until(RESTS, exercise)
        return self.sees(exercise)

    def sees(self, exercise):
        return self.page.evaluate(SAID, exercise)

    def answers(self, exercise, value):
        if value is not None:
            self.enters(exercise, value)
        return self.presses(exercise)


def firefox():
    """The program; where there is none the test is left out, or fails with REQUIRE_BROWSER=1."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        (pytest.fail if os.environ.get("REQUIRE_BROWSER") == "1" else pytest.skip)("no Firefox found")
    return program


@pytest.fixture(scope="module")
def book():
    return built(ROOT)


NIGHTLY = pytest.param("firefox-http", marks=pytest.mark.nightly)


@pytest.fixture(scope="module", params=["chromium-http", "chromium-file", NIGHTLY, "firefox-file"])
def reader(request, book, tmp_path_factory):
    name, protocol = request.param.split("-")
    with contextlib.ExitStack() as ends:
        base = book.as_uri() if protocol == "file" else ends.enter_context(served(book))
        if name == "firefox":
            page = Firefox(firefox(), tmp_path_factory.mktemp("firefox"))
            ends.callback(page.close)
            watch = page.watch
        else:
            context = request.getfixturevalue("chromium").new_context(viewport={"width": 1280, "height": 1000})
            ends.callback(context.close)
            watch = Watch()
            page = watch.attach(context.new_page())
        reader = Reader(page, base, book / "_static" / "python")
        reader.opens(CHAPTER)
        yield reader
        assert watch.foreign == []
        assert watch.errors == []


in_chromium = pytest.mark.parametrize("reader", ["chromium-http"], indirect=True)


def declared(exercise, chapter=CHAPTER):
    return load_bank(ROOT / "solutions" / chapter)[exercise]


def sentence(exercise, at=0, chapter=CHAPTER):
    """The beginning of a declared mistake's sentence, as far as it is plain text."""
    return re.split(r"[`*{$]", declared(exercise, chapter).mistakes[at].say)[0].strip()


def number(exercise, mistake=None):
    """The declared answer as a reader types it, or that of a mistake."""
    one = declared(exercise)
    given = one.variant()
    value = one.expected(given) if mistake is None else _called(one.mistakes[mistake].value, given)
    return str(value) if one.kind == "Count" else show(value, one.answer.unit, digits=6)


def _called(function, given):
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return function(**{name: given[name] for name in names})


def all_three(reader, exercise, *, malformed, mistake, right, chapter=CHAPTER, at=0):
    told = reader.answers(exercise, malformed)
    assert told["looks"] == "unread", told
    assert told["text"]
    told = reader.answers(exercise, mistake)
    assert told["looks"] == "wrong", told
    assert sentence(exercise, at, chapter) in told["text"]
    told = reader.answers(exercise, right)
    assert told["looks"] == "right", told
    assert told["text"].startswith("✓")


def test_a_quantity(reader):
    all_three(reader, TIME, malformed="24 parsecs", mistake=number(TIME, 0), right=number(TIME))
    assert reader.page.evaluate("() => gpubook.python.usesSnapshot()")


def test_a_function_and_its_error(reader):
    all_three(
        reader,
        REQUEST,
        malformed="def request(addresses:\n    pass",
        mistake=RUNS_REQUEST.replace("LINE", "128"),
        at=1,
        right=RUNS_REQUEST.replace("LINE", "32"),
    )
    told = reader.answers(REQUEST, "1/0\n")
    assert told["looks"] == "unread"
    assert "Your code, line 1" in told["printed"]
    assert "ZeroDivisionError" in told["printed"]


def test_an_endless_loop_is_stopped_and_the_next_answer_is_judged(reader):
    assert reader.answers(TILE, number(TILE))["looks"] == "right"  # Python runs
    reader.enters(RASTER, "while True:\n    pass")
    reader.page.evaluate(PRESS, [RASTER, ".run"])
    reader.until(f"(id) => {{ {FORM} return form.querySelector('button.stop') !== null; }}", RASTER)
    time.sleep(0.5)
    assert reader.sees(RASTER)["text"] == "Running …"
    before = time.monotonic()
    told = reader.presses(RASTER, ".stop")
    assert time.monotonic() - before < 10
    assert told["text"].endswith("Stopped.")
    assert sentence(TILE, 2) in reader.answers(TILE, number(TILE, 2))["text"]


def test_a_reload_keeps_answers_verdicts_hints_and_the_solution(reader):
    assert not reader.sees(PAIR)["offered"]  # before a try
    assert reader.sees(PAIR)["hint"].startswith("Hint 1 of 2")
    assert reader.presses(PAIR, ".hint")["hints"] == 1
    assert reader.sees(PAIR)["hint"].startswith("Hint 2 of 2")
    told = reader.answers(PAIR, "b*o/m")
    assert told["looks"] == "wrong"
    assert told["offered"]
    assert not told["solution"]
    assert reader.presses(PAIR, ".solution")["solution"]
    reader.answers(WARPS, number(WARPS))
    reader.answers(REQUEST, RUNS_REQUEST)  # an error is no answer
    code = RUNS_REQUEST.replace("LINE", "32")
    reader.answers(REQUEST, code)
    before = {one: reader.sees(one) for one in (PAIR, WARPS, REQUEST)}
    reader.page.reload()
    reader.until("() => document.querySelectorAll('form[data-verdict]').length > 2")
    for one, seen in before.items():
        kept = reader.sees(one)
        for name in ("looks", "source", "hints"):
            assert kept[name] == seen[name]
        assert kept["text"] == seen["text"]
        assert kept["solution"] == (one == PAIR)
    assert reader.sees(REQUEST)["source"] == code


@in_chromium
def test_a_count(reader):
    all_three(reader, WARPS, malformed="many", mistake=number(WARPS, 0), right=number(WARPS))


@in_chromium
def test_a_choice(reader):
    told = reader.presses(LINK)
    assert (told["looks"], told["text"]) == ("unread", "… Choose one of them.")
    all_three_of = [("both", "wrong", sentence(LINK)), ("gh200", "right", "✓")]
    for option, looks, text in all_three_of:
        told = reader.answers(LINK, option)
        assert told["looks"] == looks
        assert text in told["text"]


@in_chromium
def test_an_expression_is_typeset_while_it_is_typed(reader):
    right = "b*o*(2*m + n)/(4*m*n)"
    all_three(reader, PAIR, malformed="b*o*(m +", mistake="b*o*(m + n)/(2*m*n)", right=right)
    reader.enters(PAIR, "b*o/m**2")
    shown = f"(id) => {{ {FORM} return form.querySelector('.echo math mfrac') !== null; }}"
    reader.until(shown, PAIR, seconds=20)
    assert reader.sees(PAIR)["looks"] == "right"  # what is typed is not judged


@in_chromium
def test_a_kernel(reader):
    slip = TURNS_TILES.replace("tl.trans(tile)", "tile")
    all_three(reader, TRANSPOSE, malformed="transpose = 3", mistake=slip, at=3, right=TURNS_TILES)


@in_chromium
def test_a_design(reader):
    right, slip = (
        {name: str(value) for name, value in one.items()}
        for one in (declared(SCHEDULE).solution, declared(SCHEDULE).mistakes[0].value)
    )
    told = reader.answers(SCHEDULE, right | {"rows": "wide"})
    assert told["looks"] == "unread"
    told = reader.answers(SCHEDULE, slip)
    assert told["looks"] in ("wrong", "told")
    assert sentence(SCHEDULE) in told["text"]
    assert reader.answers(SCHEDULE, right)["looks"] == "right"


@in_chromium
@pytest.mark.parametrize("exercise", [STEP, ON_CHIP])
def test_a_prediction_is_made_once(reader, exercise):
    one = declared(exercise)
    option = one.solution if exercise == ON_CHIP else one.mistakes[0].value
    assert reader.presses(exercise)["text"] == "… Choose one of them."
    told = reader.answers(exercise, option() if callable(option) else option)
    assert told["looks"] == ("otherwise" if exercise == STEP else "right")
    if exercise == STEP:
        assert sentence(exercise) in told["text"]
    locked = f"(id) => {{ {FORM} return [...form.querySelectorAll('input, [type=submit]')].every((x) => x.disabled); }}"
    assert reader.page.evaluate(locked, exercise)
    assert reader.page.evaluate("(id) => document.querySelector(`[data-reveals='${id}']`).open", exercise)


@in_chromium
def test_an_algorithm_and_a_cell_of_the_section(reader):
    reader.opens(RINGS)
    try:
        scratch = reader.page.locator("details.scratch").first
        scratch.locator("summary").click()
        field = scratch.locator("textarea").last
        for source, printed in (("a = 6\nprint(7)\na*7", "7\n42"), ("a + 1", "7"), ("a = ", "SyntaxError")):
            field.fill(source)
            scratch.get_by_role("button", name="Run").click()
            reader.until("() => !document.querySelector('details.scratch form').hasAttribute('data-busy')")
            assert printed in scratch.locator(".printed").inner_text()
        no_steps = "def ring_allgather(rank, n, x):\n    return x"
        told = reader.answers(GATHER, no_steps)
        assert told["looks"] in ("unread", "wrong")
        all_three(
            reader, GATHER, malformed="ring_allgather = 3", mistake=PASSES_ALL, at=1, right=PASSES_ON, chapter=RINGS
        )
    finally:
        reader.opens(CHAPTER)


@in_chromium
def test_while_python_loads_its_size_is_said_once(reader):
    reader.opens(CHAPTER)
    reader.page.evaluate(
        f"""(id) => {{
        {FORM}
        const said = form.querySelector(".verdict"), loud = [];
        const spoken = () => [...said.childNodes].filter((one) => !one.ariaHidden);
        const heard = () => spoken().map((one) => one.textContent).join("");
        const watch = () => {{ if (form.dataset.verdict === "busy" && loud.at(-1) !== heard()) loud.push(heard()); }};
        new MutationObserver(watch).observe(said, {{childList: true, subtree: true, characterData: true}});
        window.loud = loud;
    }}""",
        TILE,
    )
    assert reader.answers(TILE, number(TILE))["looks"] == "right"
    loud = [re.sub(r"\s*…\s*", " …", text) for text in reader.page.evaluate("loud")]
    size = round(sum(path.stat().st_size for name in NEEDS for path in [reader.python / name]) / 1e6)
    assert loud == ["Loading Python, once …", f"Loading Python, once, about {size} MB …"]


@in_chromium
def test_on_a_phone_the_lines_of_an_editor_wrap_in_both_layers(reader):
    page = reader.page
    reader.enters(RASTER, "x = " + " + ".join(["some_number"] * 20))
    wide = f"""(id) => {{ {FORM}
        const box = form.querySelector("code-input"), of = (one) => parseFloat(getComputedStyle(one).height);
        return [box.scrollWidth > box.clientWidth, Math.abs(of(box.textareaElement) - of(box.preElement)) < 1]; }}"""
    for width, scrolls in ((390, False), (1280, True)):
        page.set_viewport_size({"width": width, "height": 1000})
        reader.until(f"(args) => ({wide})(args[0]).join() === args[1]", [RASTER, f"{str(scrolls).lower()},true"], 10)


@in_chromium
def test_by_keyboard_alone(reader):
    page, keyboard = reader.page, reader.page.keyboard

    def focused():
        return page.evaluate(
            "() => [document.activeElement.closest('form')?.dataset.exercise, document.activeElement.className]"
        )

    page.locator(f"form[data-exercise={TILE}] input").focus()
    keyboard.press("ControlOrMeta+a")
    keyboard.type(number(TILE, 2))
    keyboard.press("Enter")
    reader.until(RESTS, TILE)
    assert sentence(TILE, 2) in reader.sees(TILE)["text"]
    keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "submit"
    keyboard.press("Tab")
    assert focused() == [TILE, "hint"]
    keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.className") == "hint"

    page.locator(f"form[data-exercise={LINK}] input").first.focus()
    keyboard.press("ArrowDown")
    chosen = reader.sees(LINK)["chosen"]
    keyboard.press("ArrowDown")
    assert chosen != reader.sees(LINK)["chosen"]
    keyboard.press("Enter")
    reader.until(RESTS, LINK)
    assert reader.sees(LINK)["looks"] in ("right", "wrong")

    area = page.locator(f"form[data-exercise={RASTER}] textarea").last
    area.focus()
    keyboard.press("ControlOrMeta+a")
    keyboard.type("if 6:  # a colon indents\n")
    keyboard.type("print(6*7)\nprint(")  # as far as the line before
    keyboard.press("Tab")  # indents
    keyboard.type("7)")
    keyboard.press("Shift+Enter")
    typed = "if 6:  # a colon indents\n    print(6*7)\n    print(    7)"
    assert area.input_value() == typed  # which begins no line
    reader.until(RESTS, RASTER)
    assert reader.sees(RASTER)["printed"].split() == ["42", "7"]
    keyboard.press("ControlOrMeta+a")
    keyboard.type("grouped = '#:'\n# not a block:\n  grouped = 3")
    keyboard.press("Enter")
    assert area.input_value().endswith("\n  grouped = 3\n  ")
    keyboard.press("ControlOrMeta+a")
    keyboard.type("grouped = 3")
    assert focused()[0] == RASTER
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    keyboard.press("ControlOrMeta+Enter")
    reader.until(RESTS, RASTER)
    assert reader.sees(RASTER)["looks"] == "unread"
    keyboard.press("Escape")
    keyboard.press("Tab")
    assert focused() == [RASTER, "run"]


@in_chromium
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_a_page_with_verdicts_is_accessible_and_fits(reader, width, scheme):
    page = reader.page
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("(scheme) => { document.documentElement.dataset.theme = scheme; }", scheme)
    for exercise, value in ((TIME, number(TIME, 0)), (WARPS, number(WARPS)), (REQUEST, "1/0")):
        if not reader.sees(exercise)["text"]:
            reader.answers(exercise, value)
    page.evaluate("() => { for (const one of document.querySelectorAll('details')) one.open = true; }")
    page.locator("details.scratch textarea").last.wait_for()
    assert page.locator("form[data-exercise] code-input textarea").count() > 3
    checked(page, "main")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
