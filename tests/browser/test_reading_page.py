"""The page that reads what somebody holds, from the disk: pasted and dropped, by a link, hostile, on a telephone."""

import gzip
import json
import re
from html import unescape

import pytest
from playwright.sync_api import expect

from autograder.reading import KINDS, HeldFile, answered
from tests.autograder import small_book
from tests.autograder.reading.held import CONFIG, HELD, OPTIONS
from tests.browser.firefox import Firefox
from tests.browser.served import LOOKS, checked
from tests.browser.test_live_cells import firefox

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ANSWER = 120_000  # milliseconds until it is there, the start of Python included
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
UNLIKELY = json.dumps({HOSTILE: 1, **json.loads(CONFIG)})


@pytest.fixture(scope="module")
def address():
    return (small_book.built(course=False) / "read.html").as_uri()


def words(html):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def expected(kind):
    return words(answered([HeldFile.of_text(HELD[kind])], "", OPTIONS.get(kind))["html"])


def open_page(page, address):
    page.goto(address)
    page.locator("form.reading[data-ready]").wait_for()


def type_options(page, options):
    page.evaluate("document.querySelectorAll('form.reading details').forEach((one) => { one.open = true; })")
    for field in page.locator("form.reading details input").all():
        field.fill(options.get(field.get_attribute("name"), ""))


def paste(page, text):
    page.get_by_label("A log, a matrix or a configuration").fill(text)
    page.get_by_role("button", name="Read", exact=True).click()


def shown(page):
    return page.locator("#answer-of-read")


def test_each_kind_is_read_in_the_page_and_its_link_opens_the_same(page, watch, address):
    open_page(page, address)
    for kind in KINDS:
        type_options(page, OPTIONS.get(kind, {}))
        paste(page, HELD[kind])
        expect(shown(page)).to_contain_text(f"Read as {KINDS[kind].title}", timeout=ANSWER)
        assert words(shown(page).inner_html()) == expected(kind), "as plain Python has it"
    assert "#" not in page.url, "a text is in the address only where a link is asked for"
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".planned-status")).to_contain_text("it holds the text")
    link = page.url
    page.goto("about:blank")
    open_page(page, link)
    expect(shown(page)).to_contain_text(f"Read as {KINDS[kind].title}", timeout=ANSWER)
    assert words(shown(page).inner_html()) == expected(kind)
    assert page.get_by_label("A log, a matrix or a configuration").input_value() == HELD[kind]

    paste(page, HOSTILE)
    expect(page.locator(".planned-error")).to_contain_text("nothing in it is known", timeout=ANSWER)
    paste(page, UNLIKELY)
    expect(page.locator(".planned-error, #answer-of-read").filter(has_text="config.json")).to_have_count(
        1, timeout=ANSWER
    )
    assert page.locator("#answer-of-read img, #answer-of-read script, .planned-error img").count() == 0
    assert page.evaluate("window.hacked") is None
    page.goto(link[:-9])
    page.reload()
    expect(page.locator(".planned-error")).to_contain_text("The link is cut or changed")
    assert (watch.foreign, watch.errors) == ([], [])


def test_files_are_opened_dropped_and_refused(page, watch, address):
    open_page(page, address)
    opened, wrong = page.get_by_label("Or files, which may also be dropped here"), page.locator(".planned-error")
    packed = {"name": f"{HOSTILE}.gz", "mimeType": "application/gzip", "buffer": gzip.compress(CONFIG.encode())}
    opened.set_input_files([packed])
    expect(shown(page)).to_contain_text("124,439,808", timeout=ANSWER)
    expect(page.locator(".reading-files")).to_contain_text("onerror")
    opened.set_input_files([packed, packed])
    expect(wrong).to_contain_text("one file was expected, got 2", timeout=ANSWER)
    page.get_by_role("button", name="Copy link").click()
    expect(wrong).to_contain_text("A link holds a text")
    page.get_by_role("button", name="Take away").click()
    expect(page.locator(".reading-files")).to_have_text("")
    drop = """(form, text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "config.json"));
      form.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    page.locator("form.reading").evaluate(drop, CONFIG)
    expect(page.get_by_label("A log, a matrix or a configuration")).to_have_value(CONFIG)
    expect(shown(page)).to_contain_text("124,439,808", timeout=ANSWER)
    too_large = """(form) => {
      const data = new DataTransfer(), file = new File([], "trace.json");
      Object.defineProperty(file, "size", { value: 2 ** 40 });
      const event = new DragEvent("drop", { bubbles: true, cancelable: true });
      Object.defineProperty(event, "dataTransfer", { value: { files: [file] } });
      form.dispatchEvent(event);
    }"""
    page.locator("form.reading").evaluate(too_large)
    expect(wrong).to_contain_text("use the command")
    assert page.evaluate("window.hacked") is None
    assert (watch.foreign, watch.errors) == ([], [])


READ_IN_FIREFOX = """async ([text, options]) => {
    const form = document.querySelector("form.reading"), resting = () => !form.hasAttribute("aria-busy");
    for (const field of form.elements) if (field.name && field.type !== "file") field.value = options[field.name] ?? "";
    form.elements.text.value = text;
    form.requestSubmit();
    while (!resting()) await new Promise((done) => setTimeout(done, 20));
    const wrong = [...form.querySelectorAll("[aria-invalid]")].map(({ name }) => name);
    const answer = document.getElementById("answer-of-read"), fits = document.documentElement.scrollWidth <= innerWidth;
    return [answer.innerHTML, form.querySelector(".planned-error").textContent, wrong, fits];
}"""


def test_firefox_reads_the_same_and_marks_the_field_at_fault(tmp_path, address):
    page = Firefox(firefox(), tmp_path)
    try:
        page.goto(address)
        for kind in ("explain-run", "bandwidth"):
            html, error, wrong, fits = page.evaluate(READ_IN_FIREFOX, [HELD[kind], OPTIONS[kind]])
            assert (words(html), error, wrong, fits) == (expected(kind), "", [], True)
        html, error, wrong, _ = page.evaluate(READ_IN_FIREFOX, [HELD["explain-run"], {"lora": "16@nonsense"}])
        assert (html, wrong) == ("", ["lora"])
        assert error.startswith("lora: expected matrices of")
        assert (page.watch.foreign, page.watch.errors) == ([], [])
    finally:
        page.close()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_page_and_an_answer_are_accessible(page, watch, width, scheme, address):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, address)
    type_options(page, {})
    html = answered([HeldFile.of_text(HELD["config"])])["html"] + "<div class='wide-table' role='region' tabindex='0' "
    html += "aria-label='Table'><pre>" + "12345678 " * 40 + "</pre></div>"
    page.evaluate(
        "(html) => document.getElementById('answer-of-read').replaceChildren(gpubook.markup.answer(html))", html
    )
    page.evaluate("document.querySelector('.planned-error').textContent = 'The text is not known.'")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    checked(page, "article.bd-article")
    assert (watch.foreign, watch.errors) == ([], [])
