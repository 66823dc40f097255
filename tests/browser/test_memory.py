"""What a browser remembers of a small book: it outlives a reload, two tabs share it, a notebook's file carries it."""

import functools
import http.server
import json
import re
import threading

import pytest
from playwright.sync_api import Page, expect

from autograder.book.site import html, vendor
from autograder.learner import record
from autograder.learner.progress import Progress
from tests.autograder.small_book import EXERCISES, lay_out_site
from tests.browser.served import LOOKS

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TIME, COUNT, GUESS, HALF, WHY = (f"links-{name}" for name in ("time", "count", "guess", "half", "why"))
PYTHON = """gpubook.python = {
    isRunning: () => true,
    echo: async () => ({}),
    variant: async (chapter, id, k) => ({title: "", prompt: `<p>The question of ${id} with numbers ${k}</p>`}),
    check: async (chapter, id, entered, variant) => ({printed: "", error: "", message: entered, verdict: {
        say: `${chapter} ${variant}`, kind: entered === "6 ms" ? "right" : "wrong", reason: "", sign: "",
        score: Number(entered === "6 ms"), points: 0, mistakes: []}}),
};"""
FULL = """const native = Storage.prototype.WHAT;
Storage.prototype.WHAT = function (key, ...more) {
    if (key.startsWith("gpubook")) throw new DOMException("full", "QuotaExceededError");
    return native.call(this, key, ...more);
};"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def translate_path(self, path):  # of a page without an icon of its own, the browser asks for that of the host
        return super().translate_path("/_static/mark.svg" if path == "/favicon.ico" else path)


def named(exercises):
    """Two of the exercises with a mistake of the same name."""
    for sentence in ("mistake-sentence-one.", "mistake-sentence-three."):
        exercises = exercises.replace(f'{sentence}")', f'{sentence}", name="bits-for-bytes")')
    return exercises


@pytest.fixture(scope="module")
def small(tmp_path_factory, root):
    folder = lay_out_site(tmp_path_factory.mktemp("book"), root, exercises=named(EXERCISES))
    return html.build(folder, folder / "html")


@pytest.fixture(scope="module")
def served(small):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=small)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(params=["http", "file"])
def url(small, request):
    return small.as_uri() if request.param == "file" else request.getfixturevalue("served")


@pytest.fixture
def chapter(page, url, watch):
    """A chapter's page, and beside it one of the site's files, where none of its scripts runs: what is stored outlives
    a reload of the only page, under load, in a window that a context opens only if another has it open."""
    page.context.new_page().goto(f"{url}/_static/mark.svg")
    page.bring_to_front()
    page.goto(f"{url}/07-links.html")
    yield page
    assert watch.foreign == []
    assert watch.errors == []


def attempt(page, exercise, source, *, score=0.0, kind="wrong", mistakes=(), say="Not <em>yet</em>.", **more):
    """What a card does with a verdict."""
    verdict = {"say": say, "kind": kind, "reason": "", "score": score, "points": score, "mistakes": list(mistakes)}
    verdict |= {name: more.pop(name) for name in ("reason", "wants_hint") if name in more}
    arguments = [exercise, {"source": source, "verdict": verdict, **more}]
    page.evaluate("([id, answer]) => gpubook.progress.attempt(id, answer)", arguments)


def entry(page, exercise):
    return page.evaluate("(id) => gpubook.progress.exercise(id)", exercise)


def predict(page, source="half"):
    attempt(page, GUESS, source, score=1, kind="predicted", message=source, predict=True)


def right(page, exercise, source="1", **more):
    attempt(page, exercise, source, score=1, kind="right", say="Right.", **more)


def variants(place):
    """The exercises with other numbers that are offered there."""
    return place.locator(".mistakes-variant").evaluate_all("cards => cards.map((card) => card.dataset.variant)")


def wait_until(page, condition, arg=None):
    """As `wait_for_function`, which makes its condition out of a text again: the pages' policy forbids that."""
    for _ in range(100):
        if page.evaluate(condition, arg):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{condition} never held")


def reload(page):
    """Load it again when what it has stored is there for others."""
    kept = page.evaluate("Object.entries(localStorage).sort()")
    beside = next(other for other in page.context.pages if other.url.endswith(".svg"))
    wait_until(beside, "(kept) => `${Object.entries(localStorage).sort()}` === `${kept}`", kept)
    page.reload()


# The record


def test_what_was_done_is_there_after_a_reload(chapter):
    attempt(chapter, TIME, "1 ms", mistakes=["bits-for-bytes"])
    right(chapter, TIME, "2 ms")
    chapter.evaluate("gpubook.progress.hint('links-why', 1); gpubook.progress.solution('links-why')")
    predict(chapter)
    predict(chapter, "twice")
    reload(chapter)
    done = entry(chapter, TIME)
    assert done["answer"]["source"] == "2 ms"
    assert done["answer"]["verdict"]["say"] == "Right."
    assert done["best"]["score"] == 1
    assert [one["mistakes"] for _, one in sorted(done["attempts"].items())] == [["bits-for-bytes"], []]
    assert entry(chapter, WHY)["hints"] == 1
    assert "solution" in entry(chapter, WHY)
    assert entry(chapter, GUESS)["prediction"]["source"] == "half"
    assert len(entry(chapter, GUESS)["attempts"]) == 1


def test_a_reload_shows_the_verdicts_as_they_were_and_offers_hints_where_they_help(chapter):
    cards = {name: chapter.locator(f"form[data-exercise={name}]") for name in (TIME, COUNT, GUESS)}
    attempt(chapter, TIME, "1 ms", wants_hint=True)
    attempt(chapter, GUESS, "twice", score=1, kind="predicted", reason="as-predicted", message="twice", predict=True)
    reload(chapter)
    offered = cards[TIME].get_by_text("A hint is at hand.")
    expect(offered).to_be_visible()
    expect(cards[TIME].locator("button.hint")).to_be_visible()
    expect(cards[GUESS]).to_have_attribute("data-verdict", "right")
    expect(cards[GUESS].locator(".sign")).to_have_text("✓")
    right(chapter, TIME, "2 ms")
    chapter.evaluate("gpubook.progress.erase('links-guess')")
    predict(chapter)  # otherwise than it comes out
    reload(chapter)
    expect(cards[TIME]).to_have_attribute("data-verdict", "right")
    expect(cards[TIME].locator("button.hint")).to_be_hidden()
    expect(offered).to_have_count(0)
    expect(cards[GUESS]).to_have_attribute("data-verdict", "otherwise")
    expect(cards[GUESS].locator(".sign")).to_have_text("→")


def test_a_browser_has_an_order_of_its_own_for_the_options_which_no_record_has(chapter, small):
    form = chapter.locator(f"form[data-exercise={GUESS}]")
    options = "e => [...e.querySelectorAll('input')].map((one) => one.value)"
    built = re.findall(r'name="box-links-guess" value="(\w+)"', (small / "07-links.html").read_text())
    reload(chapter)  # what the first page of a browser stores a loaded machine may lose
    own = chapter.evaluate("localStorage.getItem('gpubook-reader')")
    assert own not in chapter.evaluate("gpubook.progress.exported()")
    predict(chapter)
    orders = {own: form.evaluate(options)}
    reload(chapter)
    assert form.evaluate(options) == orders[own]
    for number in range(6):
        chapter.evaluate("(id) => localStorage.setItem('gpubook-reader', id)", f"0.{7919 * number}")
        reload(chapter)
        orders[number] = form.evaluate(options)
        assert form.locator("input:checked").input_value() == "half"
        assert form.locator("label", has_text="It halves.").locator("input").is_checked()
    assert len({tuple(order) for order in orders.values()}) > 2
    assert {tuple(sorted(order)) for order in orders.values()} == {tuple(sorted(built))}
    form.evaluate("e => { e.toggleAttribute('data-ordered', true); delete e.dataset.ready; }")
    for number in range(6):
        chapter.evaluate("(id) => localStorage.setItem('gpubook-reader', id)", f"0.{7919 * number}")
        form.evaluate("e => gpubook.exercise.mount(e)")
        assert form.evaluate(options) == orders[5]


def test_on_a_phone_a_card_that_answers_has_no_way_to_jupyterlab(chapter):
    links = {name: chapter.locator(f"#exercise-{name} .card-link") for name in (TIME, WHY)}
    expect(links[TIME]).to_be_visible()
    chapter.set_viewport_size({"width": 390, "height": 800})
    expect(links[TIME]).to_be_hidden()
    expect(links[WHY]).to_be_visible()  # a text is written there alone


def test_an_answer_to_other_numbers_is_an_attempt_and_no_more(chapter):
    right(chapter, TIME, "6 ms", variant=1)
    done = entry(chapter, TIME)
    assert "answer" not in done
    assert "best" not in done
    assert [one["variant"] for one in done["attempts"].values()] == [1]


def test_two_tabs_lose_nothing_of_each_other(page, served, watch):
    other = watch.attach(page.context.new_page())
    for tab in (page, other):
        tab.goto(f"{served}/07-links.html")
    right(page, TIME)
    right(other, COUNT)
    attempt(page, HALF, "x")
    for tab in (page, other):
        wait_until(tab, "Object.keys(gpubook.progress.record().exercises).length === 3")
        expect(tab.locator(f"#exercise-{TIME} .exercise-done")).to_have_text("✓ done")
        expect(tab.locator(f"#exercise-{COUNT} .exercise-done")).to_have_text("✓ done")
    # what the other stored over it in the same moment comes back
    right(page, WHY)
    without = other.evaluate(
        "() => { const data = gpubook.progress.record(); delete data.exercises['links-why'];"
        " localStorage.setItem('gpubook-progress', JSON.stringify(data)); return data; }"
    )
    assert WHY not in without["exercises"]
    wait_until(other, "'links-why' in gpubook.progress.record().exercises")
    assert watch.errors == []


def left_by_another(page, text, then=Page.go_back):
    """Let a page find that stored: written from one of the site's files, where none of its scripts runs. Under load a
    window that a context opens may forget what it had stored, and it is written again.
    """
    for _ in range(5):
        page.goto(re.sub(r"[^/]+$", "_static/mark.svg", page.url))
        page.evaluate("(text) => localStorage.setItem('gpubook-progress', text)", text)
        then(page)
        if page.evaluate("Object.keys(localStorage).some((key) => key.startsWith('gpubook-progress'))"):
            return


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 2, "exercises": {"a": {"hints": "no"}}}'])
def test_a_damaged_record_is_set_aside_and_said(chapter, text):
    left_by_another(chapter, text)
    expect(chapter.locator(".progress-trouble")).to_contain_text("set aside as gpubook-progress.unreadable-1")
    assert chapter.evaluate("localStorage.getItem('gpubook-progress.unreadable-1')") == text
    right(chapter, TIME)
    assert entry(chapter, TIME)["best"]["score"] == 1
    chapter.get_by_role("button", name="Understood").click()
    reload(chapter)
    expect(chapter.locator(".progress-trouble")).to_have_count(0)
    assert entry(chapter, TIME).get("best", {}).get("score") == 1, chapter.evaluate("({...localStorage})")


def test_a_record_of_a_newer_edition_is_left_as_it_is(chapter):
    newer = '{"format": 3, "secret": 1}'
    left_by_another(chapter, newer)
    expect(chapter.locator(".progress-trouble")).to_contain_text("format 3 of a newer edition")
    right(chapter, TIME)
    assert entry(chapter, TIME)["best"]["score"] == 1
    assert chapter.evaluate("localStorage.getItem('gpubook-progress')") == newer


@pytest.mark.parametrize("what", ["getItem", "setItem"])
def test_without_a_storage_it_is_said_once_and_kept_while_the_page_is_open(page, served, watch, what):
    page.add_init_script(FULL.replace("WHAT", what))
    page.goto(f"{served}/07-links.html")
    right(page, TIME)
    right(page, COUNT)
    expect(page.locator(".progress-trouble")).to_have_count(1)
    expect(page.locator(".progress-trouble")).to_contain_text("until you close it")
    assert entry(page, TIME)["best"]["score"] == 1
    assert entry(page, COUNT)["best"]["score"] == 1
    assert watch.errors == []


def test_the_file_of_the_page_is_the_notebooks_and_back(chapter, tmp_path):
    right(chapter, TIME, "2 ms")
    predict(chapter)
    chapter.get_by_role("button", name="Progress", exact=False).first.click()
    with chapter.expect_download() as download:
        chapter.get_by_role("button", name="Export progress.json").click()
    assert download.value.suggested_filename == "progress.json"
    exported = record.read(download.value.path().read_bytes())
    notebook = Progress(tmp_path / "progress.json")
    notebook.attempt(
        COUNT,
        "answer = 24",
        {"say": "Right.", "kind": "right", "reason": "", "score": 1.0, "points": 1.0, "mistakes": []},
    )
    notebook.predict(GUESS, "twice")  # later than the page's
    notebook.merge(exported)
    assert notebook.prediction(GUESS).answer == "half"
    assert notebook.entry(TIME)["answer"]["source"] == "2 ms"

    chapter.locator("input[type=file]").set_input_files(notebook.path)
    status = chapter.locator(".progress-said")
    expect(status).to_have_text("Imported: of 3 exercises in the file, 1 new.")
    assert entry(chapter, COUNT)["answer"]["source"] == "answer = 24"
    chapter.locator("input[type=file]").set_input_files(notebook.path)
    expect(status).to_have_text("Imported: of 3 exercises in the file, nothing that was not here.")
    assert json.loads(chapter.evaluate("gpubook.progress.exported()")) == notebook.data()


@pytest.mark.parametrize(
    ("text", "part"), [("no", "not JSON"), ('{"format": 3}', "newer edition"), ('{"a": 1}', "was expected")]
)
def test_what_is_no_record_is_not_imported(chapter, tmp_path, text, part):
    right(chapter, TIME)
    before = chapter.evaluate("gpubook.progress.exported()")
    (tmp_path / "p.json").write_text(text)
    chapter.locator(".progress-open").click()
    chapter.locator("input[type=file]").set_input_files(tmp_path / "p.json")
    expect(chapter.locator(".progress-said")).to_contain_text(part)
    expect(chapter.locator(".progress-said")).to_contain_text("Nothing was changed.")
    assert chapter.evaluate("gpubook.progress.exported()") == before


def test_markup_in_an_imported_file_runs_nothing(chapter, watch):
    evil = "<img src=x onerror='window.evil = 1'><a href='javascript:window.evil = 1'>x</a><code>fine</code>"
    verdict = {"say": evil, "kind": "wrong", "reason": "", "score": 0, "points": 0, "mistakes": []}
    data = {
        "format": 2,
        "exercises": {TIME: {"answer": {"source": "", "time": "2026-01-01T00:00:00.000Z", "verdict": verdict}}},
    }
    chapter.evaluate("(text) => gpubook.progress.imported(text)", json.dumps(data))
    say = entry(chapter, TIME)["answer"]["verdict"]["say"]
    assert "<code>fine</code>" in say
    assert "onerror" not in say
    assert "javascript:" not in say
    assert chapter.evaluate("window.evil") is None
    assert all("inline event handler" in error for error in watch.errors)  # Chromium tells of what the policy blocks
    watch.errors.clear()


def test_a_chapter_or_all_is_erased_after_a_question(chapter):
    right(chapter, TIME)
    right(chapter, "other-exercise")
    chapter.locator(".progress-open").click()
    chapter.get_by_role("button", name="Erase chapter 7").click()
    chapter.get_by_role("button", name="Keep it").click()
    assert entry(chapter, TIME)
    chapter.get_by_role("button", name="Erase chapter 7").click()
    chapter.get_by_role("button", name="Erase", exact=True).click()
    assert chapter.evaluate("Object.keys(gpubook.progress.record().exercises)") == ["other-exercise"]
    expect(chapter.locator(f"#exercise-{TIME} .exercise-points")).to_have_text("2 points")
    chapter.get_by_role("button", name="Erase everything").click()
    chapter.get_by_role("button", name="Erase", exact=True).click()
    assert chapter.evaluate("Object.keys(gpubook.progress.record().exercises)") == []


# What shows it


def test_the_marks_say_how_far_one_is(chapter):
    right(chapter, TIME)
    attempt(chapter, COUNT, "20", score=0.5, kind="partial")
    predict(chapter)
    expect(chapter.locator(f"#exercise-{TIME} .exercise-points")).to_have_text("✓ done, 2 of 2 points")
    expect(chapter.locator(f"#exercise-{COUNT} .exercise-points")).to_have_text("0.5 of 1 point")
    expect(chapter.locator(f"#exercise-{GUESS} .exercise-points")).to_have_text("✓ predicted, 1 of 1 point")
    expect(chapter.locator(f"#exercise-{HALF} .exercise-points")).to_have_text("1 point")
    expect(chapter.locator(".bd-links a.current .progress-mark")).to_have_text(" (2 of 5 exercises done)")
    chapter.locator(".progress-open").click()
    expect(chapter.locator("dialog [data-book-progress]")).to_have_text(
        "2 of 5 exercises done, 3.5 of 5 points judged by machine"
    )
    chapter.keyboard.press("Escape")
    expect(chapter.locator("dialog.progress-dialog")).to_be_hidden()
    assert chapter.evaluate("document.activeElement.className") == "progress-open"


def test_the_front_page_leads_back_to_where_one_was(page, url, watch):
    page.goto(f"{url}/index.html")
    expect(page.locator("[data-continue]")).to_be_hidden()
    expect(page.locator("p[data-chapter-progress]")).to_have_text("5 exercises")
    page.goto(f"{url}/07-links.html")
    card = page.locator(f"#exercise-{HALF}")
    card.evaluate("(card) => scrollTo({top: card.getBoundingClientRect().top + scrollY - 60, behavior: 'instant'})")
    right(page, COUNT)
    wait_until(page, "JSON.parse(localStorage['gpubook-place'] ?? '{}').anchor === 'exercise-links-half'")
    was = card.bounding_box()["y"]
    page.goto(f"{url}/index.html")
    link = page.locator("[data-continue]")
    expect(link).to_have_text("Continue with 7. Links, last at exercise 7.2")
    expect(page.locator("p[data-chapter-progress]")).to_contain_text("1 of 5 exercises done")
    expect(page.locator(".front-progress[data-book-progress]")).to_contain_text("1 of 5 exercises done")
    link.click()
    wait_until(
        page,
        "(y) => Math.abs((document.getElementById('exercise-links-half')?.getBoundingClientRect().top ?? 1e9) - y) < 4",
        arg=was,
    )
    assert watch.errors == []


# Locks


def test_what_follows_a_prediction_unfolds_when_it_is_made(chapter):
    reveal, line = chapter.locator("details.reveal"), chapter.locator(".prediction-lock")
    expect(line).to_contain_text("Predict first; what follows unfolds then.")
    assert reveal.get_attribute("hidden") == "until-found"
    assert reveal.bounding_box()["height"] < 5
    assert chapter.locator(f"#exercise-{GUESS} details.solution").get_attribute("hidden") == "until-found"
    expect(chapter.locator(f"#exercise-{GUESS} button.solution")).to_be_hidden()
    predict(chapter)
    expect(line).to_be_hidden()
    expect(reveal).to_be_visible()
    expect(chapter.locator(f"#exercise-{GUESS} details.solution")).to_be_visible()
    assert reveal.get_attribute("open") is not None
    reload(chapter)
    expect(line).to_be_hidden()
    assert reveal.get_attribute("open") is not None
    chapter.evaluate("gpubook.progress.erase('all')")
    expect(line).to_be_visible()
    assert reveal.get_attribute("hidden") == "until-found"


def test_it_can_be_skipped_by_the_keyboard_and_that_is_recorded(chapter):
    chapter.get_by_role("button", name="Show it without a prediction").focus()
    chapter.keyboard.press("Enter")
    expect(chapter.locator("details.reveal")).to_be_visible()
    assert "skipped" in entry(chapter, GUESS)
    assert "prediction" not in entry(chapter, GUESS)
    assert chapter.evaluate("document.activeElement.tagName") == "SUMMARY"
    reload(chapter)
    expect(chapter.locator(".prediction-lock")).to_be_hidden()


def test_an_anchor_inside_unfolds_it(page, url):
    page.goto(f"{url}/07-links.html")
    page.evaluate("document.querySelector('details.reveal p').id = 'inside'")
    page.evaluate("location.hash = 'inside'")
    expect(page.locator("details.reveal")).to_be_visible()
    assert page.locator("details.reveal").get_attribute("open") is not None
    assert entry(page, GUESS) == {}


def test_print_shows_all_and_folds_it_again(chapter):
    chapter.emulate_media(media="print")
    expect(chapter.locator("details.reveal p").first).to_be_visible()
    expect(chapter.locator(".prediction-lock")).to_be_hidden()
    chapter.emulate_media(media="screen")
    expect(chapter.locator(".prediction-lock")).to_be_visible()
    assert chapter.locator("details.reveal").get_attribute("hidden") == "until-found"


def test_without_javascript_nothing_is_folded(chromium, small):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{small.as_uri()}/07-links.html")
    expect(page.locator("details.reveal summary")).to_be_visible()
    expect(page.locator(".prediction-lock")).to_have_count(0)
    context.close()


# Mistakes


def test_the_end_of_a_chapter_says_what_came_again_and_offers_what_would_catch_it(page, url, watch):
    page.goto(f"{url}/07-links.html")
    end = page.locator("[data-chapter-end]")
    expect(end).to_be_empty()
    attempt(page, TIME, "8", mistakes=["bits-for-bytes"], kind="mistake")
    attempt(page, TIME, "8", mistakes=["bits-for-bytes"], kind="mistake")
    expect(end.locator("li")).to_have_text(
        "Once you took bits for bytes, or bytes for bits (exercise 7.1): see Numbers and units."
    )
    attempt(page, COUNT, "20", mistakes=["bits-for-bytes"], kind="mistake")
    expect(end.locator("li")).to_have_text(
        "Twice you took bits for bytes, or bytes for bits (exercise 7.1 and exercise 7.2): see Numbers and units."
    )
    assert (
        end.get_by_role("link", name="Numbers and units")
        .get_attribute("href")
        .endswith("answers.html#numbers-and-units")
    )
    assert variants(end) == [f"{TIME}:1"]
    expect(end).to_contain_text("Try exercise 7.2")  # it has no other numbers
    page.evaluate(PYTHON)
    end.get_by_role("button", name="Show the question of exercise 7.1").press("Enter")
    expect(end).to_contain_text(f"The question of {TIME} with numbers 1")
    field = end.get_by_label("Your answer")
    expect(field).to_be_focused()
    for entered, kind in (("5 ms", "wrong"), ("6 ms", "right")):
        field.fill(entered)
        field.press("Enter")
        expect(end.locator("form")).to_have_attribute("data-verdict", kind)
        expect(end.locator(".verdict")).to_contain_text("07-links 1")
    expect(end.locator("form")).to_be_visible()  # until the reader goes on
    page.locator(".progress-open").focus()
    expect(end.locator("li")).to_contain_text("A later answer was right.")
    expect(end.locator(".mistakes-variant")).to_have_count(0)
    page.reload()
    expect(end.locator("li")).to_contain_text("Twice")
    assert watch.errors == []


def test_a_mistake_without_a_name_counts_by_its_exercise(page, served):
    page.goto(f"{served}/07-links.html")
    for source, mistakes in (("1", [f"{TIME}#2"]), ("2", []), ("1", [f"{TIME}#2"])):
        attempt(page, TIME, source, mistakes=mistakes)
    end = page.locator("[data-chapter-end]")
    expect(end.locator("li")).to_have_text("Twice you made the same mistake in exercise 7.1.")
    assert variants(end) == [f"{TIME}:1"]


def test_a_slip_is_caught_where_it_was_made(page, served):
    page.goto(f"{served}/07-links.html")
    attempt(page, TIME, "1", mistakes=["prefix"], kind="slip")
    end = page.locator("[data-chapter-end]")
    expect(end.locator("li")).to_have_text("Once you lost a prefix of a unit (exercise 7.1): see Numbers and units.")
    assert variants(end) == [f"{TIME}:1"]


def test_days_later_the_front_page_asks_again(page, served, watch):
    page.clock.install(time="2026-03-01T12:00:00Z")
    page.goto(f"{served}/07-links.html")
    attempt(page, TIME, "8", mistakes=["bits-for-bytes"])
    attempt(page, HALF, "x", mistakes=[f"{HALF}#1"])
    repeat = page.locator("[data-repeat]")
    page.goto(f"{served}/index.html")
    expect(repeat).to_be_empty()
    page.clock.set_system_time("2026-03-04T11:00:00Z")
    page.reload()
    expect(repeat).to_be_empty()
    page.clock.set_system_time("2026-03-04T12:05:00Z")
    page.reload()
    expect(repeat.get_by_role("heading")).to_have_text("Once more")
    assert variants(repeat) == [f"{TIME}:1"]
    expect(repeat).to_contain_text("Try exercise 7.4")
    assert (
        repeat.get_by_role("link", name="exercise 7.4")
        .first.get_attribute("href")
        .endswith(f"07-links.html#exercise-{HALF}")
    )
    right(page, TIME, variant=1)
    right(page, HALF)
    expect(repeat).to_be_empty()
    assert watch.errors == []


# For all


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_all_of_it_is_accessible_and_fits(page, small, watch, root, width, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    axe = (
        vendor.fetch(root / "docs" / "vendor.json", root / ".build" / "vendor", ["axe-core"])
        / "axe-core"
        / "axe.min.js"
    )

    def look():
        assert watch.errors == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(axe.read_text())  # the page has a policy, which refuses the tag
        found = page.evaluate(
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'], preload: false})"
        )
        assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]] == []
        watch.errors.clear()  # of axe, which may not read the styles of a file

    page.goto(f"{small.as_uri()}/07-links.html")
    right(page, TIME)
    attempt(page, COUNT, "20", mistakes=["bits-for-bytes"])
    page.wait_for_load_state("networkidle")
    look()
    if width < 500:
        page.locator("button.primary-toggle").click()
    page.locator(".progress-open").click()
    page.get_by_role("button", name="Erase everything").click()
    look()
    page.clock.install(time="2036-03-01T12:00:00Z")
    left_by_another(page, "{", then=lambda page: page.goto(f"{small.as_uri()}/index.html"))
    attempt(page, COUNT, "20", mistakes=["bits-for-bytes"])
    page.clock.set_system_time("2036-03-09T12:00:00Z")
    page.evaluate("gpubook.mistakes.show()")
    expect(page.locator("[data-repeat] h2")).to_be_visible()
    expect(page.locator(".progress-trouble")).to_be_visible()
    look()
