"""What a page shows of a stranger's sentences: no script runs, nothing is asked for, nobody is led away.

The sentences come in a file that is imported, lie in the browser's storage already, or are what the page's Python says.
"""

import json
import re

import pytest
from playwright.sync_api import expect

from autograder.declaration.bank import declared_below, load_bank
from autograder.learner.exercise_widget import ExerciseDesk
from autograder.learner.lookup import LocatedExercise
from autograder.planned import FORMS, answered
from autograder.values.inline_html import block_html, harmless, inline_html
from autograder.values.mathml import with_mathml
from hwlib import table
from tests.autograder import small_book
from tests.browser.served import served
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STATIC = ROOT / "docs" / "_static"
EXERCISE, AWAY = "links-time", "https://away.invalid"
RUN = "window.ran = 1"
STRANGE = {
    "frameset": f'<frameset></frameset><img src=x onerror="{RUN}">',
    "frameset alone": f'<frameset onload="{RUN}"><frame src="{AWAY}/frame"></frameset>',
    "body": f'<body onload="{RUN}" onpageshow="{RUN}" background="{AWAY}/body">a</body>',
    "refresh": f'<meta http-equiv="refresh" content="0;url={AWAY}/refresh">',
    "head and refresh": f'</body></html><head><meta http-equiv=refresh content="0;url={AWAY}/refresh"></head>',
    "style": f"<style>body {{ display: none; background: url({AWAY}/style) }} @import '{AWAY}/import';</style>",
    "stylesheet": f'<link rel=stylesheet href="{AWAY}/sheet.css"><link rel=prefetch href="{AWAY}/next">',
    "base": f'<base href="{AWAY}/base/">',
    "svg": f'<svg onload="{RUN}"><script>{RUN}</script><image href="{AWAY}/svg" onerror="{RUN}"/></svg>',
    "svg style": f"<svg><style>* {{ display: none; background: url({AWAY}/svg) }}</style></svg>",
    "svg animated": f'<svg><a><animate attributeName=href values="javascript:{RUN}"/><text>a</text></a></svg>',
    "math": f'<math href="javascript:{RUN}"><maction actiontype=a xlink:href="javascript:{RUN}">a</maction></math>',
    "math mistaken": f'<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror={RUN}&gt;">',  # noqa: E501
    "noscript": f'<noscript><p title="</noscript><img src=x onerror={RUN}>"></noscript>',
    "form": f'<form action="{AWAY}/form"><button>a</button><input autofocus onfocus="{RUN}"></form>',
    "frame": '<iframe srcdoc="<script>parent.ran = 1</script>"></iframe><iframe src="javascript:parent.ran = 1">',
    "object": f'<object data="{AWAY}/object"></object><embed src="{AWAY}/embed"><applet code=x></applet>',
    "template": f"<template><script>{RUN}</script><img src=x onerror='{RUN}'></template>",
    "declared template": f"<div><template shadowrootmode=open><img src=x onerror='{RUN}'></template></div>",
    "script": f"<script>{RUN}</script><script src='{AWAY}/script.js'></script>",
    "details": f'<details open ontoggle="{RUN}"><summary>a</summary>b</details>',
    "media": f'<video src="{AWAY}/video" onerror="{RUN}" autoplay></video><audio src=x onerror="{RUN}"></audio>',
    "image": f'<img src="{AWAY}/image" srcset="{AWAY}/set 1x"><picture><source srcset="{AWAY}/source"></picture>',
    "attributes": f'<em style="position:fixed;background:url({AWAY}/x)" id=main onclick="{RUN}" class=modal>a</em>',
    "link": f'<a href="java\tscript:{RUN}">a</a><a href="&#1;javascript:{RUN}">b</a><a ping="{AWAY}/ping">c</a>',
    "textarea": f"<textarea></textarea><img src=x onerror='{RUN}'></textarea><title></title><svg onload='{RUN}'>",
    "comment": f"<!--><img src=x onerror='{RUN}'>--><![CDATA[<img src=x onerror='{RUN}'>]]>",
    "cut off": f"<em><img src=x onerror='{RUN}' ",
    "deep": "<em>" * 30_000 + f"<img src=x onerror='{RUN}'>" + "<div>" * 1_000 + f"<svg onload='{RUN}'>",
    "many": f"<b>a</b><img src=x onerror='{RUN}'>" * 100_000,
    "name": f"<custom-element onclick='{RUN}'>a</custom-element><constructor>b</constructor><__proto__>c</__proto__>",
}
AGAIN = ("frameset", "svg", "many")  # imported into a page of its own each time, which is loaded again; all at night
SHOWN = """() => {
    const all = [...document.querySelectorAll("form[data-exercise=links-time] .verdict *")];
    return {
        tags: [...new Set(all.map((e) => e.localName))],
        attributes: [...new Set(all.flatMap((e) => [...e.attributes].map(({ name, value }) => `${name}=${value}`)))],
        ran: window.ran ?? null, base: document.baseURI === location.href.split("#")[0],
        seen: document.querySelector(".bd-article h1").checkVisibility(),
    };
}"""


def record(say):
    verdict = {"say": say, "kind": "wrong", "reason": "", "score": 0, "points": 0, "mistakes": []}
    answer = {"source": "1 ms", "time": "2026-01-01T00:00:00.000Z", "verdict": verdict}
    return json.dumps({"format": 2, "exercises": {EXERCISE: {"answer": answer}}})


@pytest.fixture(scope="module")
def small():
    return small_book.built()


@pytest.fixture(scope="module")
def base(small):
    with served(small) as address:
        yield address


@pytest.fixture
def page(chromium, watch):
    """A page without its policy, which would stop most of this by itself."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000}, bypass_csp=True)
    yield watch.attach(context.new_page())
    context.close()


@pytest.fixture
def chapter(page, base, watch):
    page.goto(f"{base}/07-links.html")
    yield page
    assert watch.foreign == []
    assert watch.errors == []


@pytest.fixture(scope="module")
def bare(chromium):
    """A page of nothing, with what makes nodes of HTML."""
    page = chromium.new_page()
    page.evaluate((STATIC / "markup.js").read_text())
    yield page
    page.close()


def harmless_in(page):
    """Whether what the card shows is what a sentence may have, and nothing has happened to the page."""
    address = page.url
    page.wait_for_timeout(150)  # for what would run or lead away
    assert page.url == address
    shown = page.evaluate(SHOWN)
    assert set(shown["tags"]) <= {"p", "em", "span", "math", "mtext", "table", "tbody", "tr", "td"}
    assert set(shown["attributes"]) <= {"class=sign", "aria-hidden=true", "class=offer"}
    assert (shown["ran"], shown["base"], shown["seen"]) == (None, True, True)


KEPT_OF_IT = "JSON.parse(gpubook.progress.exported()).exercises['links-time'].answer.verdict.say"
ANY_OTHER_TAG = re.compile(r"<(?!/?(?:em|p|math|mtext|table|tbody|tr|td)>)")


def imported(page, file, say):
    """Import a file in which an exercise's verdict says this."""
    file.write_text(record(say))
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".progress-said")).to_contain_text("Imported: of 1 exercise")
    page.evaluate("document.querySelector('.progress-said').textContent = ''")


def test_of_strange_files_only_harmless_words_are_stored(chapter, tmp_path):
    address = chapter.url
    chapter.locator(".progress-open").click()
    for name, say in STRANGE.items():
        imported(chapter, tmp_path / "progress.json", say)
        assert not ANY_OTHER_TAG.search(chapter.evaluate(KEPT_OF_IT)), name
        assert (chapter.url, chapter.evaluate("window.ran ?? null")) == (address, None), name
        chapter.evaluate("gpubook.progress.erase('all')")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in AGAIN else pytest.mark.nightly) for name in STRANGE]
)
def test_a_strange_file_is_imported_and_runs_nothing_now_or_later(chapter, tmp_path, name):
    chapter.locator(".progress-open").click()
    imported(chapter, tmp_path / "progress.json", STRANGE[name])
    chapter.reload()
    expect(chapter.locator(f"form[data-exercise={EXERCISE}]")).to_have_attribute("data-verdict", "wrong")
    harmless_in(chapter)
    assert not ANY_OTHER_TAG.search(chapter.evaluate(KEPT_OF_IT))


@pytest.mark.parametrize("name", STRANGE)
def test_what_an_earlier_edition_has_stored_runs_nothing(page, small, watch, name):
    stored = json.dumps(record(STRANGE[name]))  # before the page's own scripts, and in the process that runs them
    page.add_init_script(f"localStorage.setItem('gpubook-progress', {stored})")
    page.goto((small / "07-links.html").as_uri())
    expect(page.locator(f"form[data-exercise={EXERCISE}]")).to_have_attribute("data-verdict", "wrong")
    harmless_in(page)
    assert watch.foreign == []
    assert watch.errors == []


SAYS = """(html) => {
    const verdict = { say: html, offer: html, kind: "wrong", reason: "", score: 0, points: 0, mistakes: [] };
    gpubook.python = {
        isRunning: () => true, echo: async () => ({ html }), run: async () => ({ printed: "", error: "", html }),
        check: async () => ({ printed: "", error: "", message: null, verdict }),
    };
}"""
FOREIGN = (
    ":is(.verdict, .echo) :is(img, svg, iframe, frameset, style, link, meta, base, script, form, object, template)"
)


@pytest.mark.parametrize("name", ["frameset", "refresh", "svg", "math", "frame", "form", "template", "details", "link"])
def test_neither_does_what_the_pages_python_says(chapter, name):
    """As after a cell whose code came with the file."""
    chapter.evaluate(SAYS, STRANGE[name])
    form = chapter.locator(f"form[data-exercise={EXERCISE}]")
    form.locator("input").fill("1 ms")
    expect(form.locator(".echo")).to_contain_text("Read as")
    form.get_by_role("button", name="Check").click()
    expect(form).to_have_attribute("data-verdict", "wrong")
    code = chapter.locator("form[data-exercise=links-half]")
    code.get_by_role("button", name="Run").click()
    expect(code).to_have_attribute("data-verdict", "ran")
    harmless_in(chapter)
    expect(chapter.locator(FOREIGN)).to_have_count(0)


GOOD = inline_html("With `a < b` it is *once* $\\frac{S}{W}$") + block_html("| a | b |\n|:--|--:|\n| 1 | **2** |")
KEPT = r"""() => [
    ...document.querySelectorAll("[data-exercise=links-time] .verdict :is(code, em, math, mfrac, table, td, strong)"),
].map((e) => [e.localName, e.textContent.replace(/\s/g, ""), getComputedStyle(e).textAlign])"""


def test_a_verdict_with_code_a_formula_and_a_table_looks_as_before(chapter):
    chapter.evaluate("(text) => gpubook.progress.imported(text)", record(GOOD))
    assert chapter.evaluate("gpubook.progress.exercise('links-time').answer.verdict.say") == GOOD
    chapter.reload()
    chapter.wait_for_selector(f"form[data-exercise={EXERCISE}] .verdict mfrac")
    shown = chapter.evaluate(KEPT)
    assert [(name, text) for name, text, _ in shown] == [
        ("code", "a<b"),
        ("em", "once"),
        ("math", "SW"),
        ("mfrac", "SW"),
        ("table", "ab12"),
        ("td", "1"),
        ("td", "2"),
        ("strong", "2"),
    ]
    assert [how for name, _, how in shown if name == "td"] == ["left", "right"]
    assert chapter.evaluate("document.querySelector('.verdict .math').className") == "math inline"


# One call makes nodes of a text, another what the browser reads in it.
SAME = """([way, texts]) => texts.filter((html) => {
    const read = document.createElement("template"), made = document.createElement("div");
    read.innerHTML = html;
    made.append(gpubook.markup[way](html));
    return made.innerHTML !== read.innerHTML;
})"""


def exercises():
    return [one for path in declared_below(ROOT / "solutions") for one in load_bank(path).values()]


def said(exercise):
    """What the page and the notebook say of an exercise."""
    given = exercise.variant()
    texts = [exercise.fill(mistake.say, given) for mistake in exercise.mistakes]
    return [exercise.title, exercise.fill(exercise.explain, given), *map(str, exercise.hints), *texts]


def test_all_that_the_book_says_is_shown_as_it_is(bare):
    sentences = [str(inline_html(text)) for one in exercises() for text in said(one)]
    assert len(sentences) > 1000
    assert bare.evaluate(SAME, ["sentence", [*sentences, *map(with_mathml, sentences)]]) == []
    prompts = [str(block_html(one.prompt_text(one.variant()))) for one in exercises()]
    answers = [
        answered(page, {field.name: field.first for field in form.fields if field.first}, part)
        for page, form in FORMS.items()
        for part in ("answer", *(["why"] * (page != "fill")))
    ]
    shown = [table([("a", 1.5), ("b", 2)], ["case", ("time", "s")], caption="A table.")._repr_html_()]
    assert bare.evaluate(SAME, ["answer", [*prompts, *shown, *(one["html"] for one in answers)]]) == []


def test_the_cards_of_a_notebook_are_shown_as_they_are(bare, monkeypatch):
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(ROOT / "solutions"))
    desks = [ExerciseDesk(LocatedExercise(one.public(), one)) for one in exercises()]
    cards = [desk.html() for desk in desks if desk.box()]
    assert len(cards) > 200
    assert bare.evaluate(SAME, ["card", cards]) == []


def test_the_formulas_of_the_book_are_shown_as_they_are(bare):
    bare.evaluate((ROOT / ".build" / "vendor" / "temml" / "temml.min.js").read_text())
    text = "\n".join(path.read_text() for path in (ROOT / "solutions").glob("*/*.md"))
    formulas = sorted(
        {*re.findall(r"(?<!\$)\$([^$\n]{1,200})\$(?!\$)", text), *re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)}
    )
    drawn = bare.evaluate(
        """(formulas) => formulas.flatMap((tex) => {
            try {
                return [temml.renderToString(tex, { throwOnError: true, wrap: "none", xml: true })];
            } catch { return []; }
        })""",
        formulas,
    )
    assert len(drawn) > 100
    assert bare.evaluate(SAME, ["math", drawn]) == []


@pytest.mark.parametrize(
    "name", ["attributes", "details", "form", "frame", "image", "link", "media", "object", "script", "svg"]
)
def test_a_page_keeps_what_a_notebook_keeps(bare, name):
    page, notebook = bare.evaluate(
        """([html, harmless]) => {
            const made = document.createElement("div"), other = document.createElement("div");
            made.append(gpubook.markup.sentence(html));
            other.innerHTML = harmless;
            return [made.innerHTML, other.innerHTML];
        }""",
        [STRANGE[name], str(harmless(STRANGE[name]))],
    )
    assert page == notebook


ALLOWED = [
    '<a href="https://example.org/a">',
    '<a href="06-x.html#y">',
    '<a href="#y">',
    '<a href="../06-x/06-x.ipynb">',
    '<a data-address="plan.html#gpus=8">',
    '<span style="inline-size: 12.50%">',
    '<td style="text-align: left; font-weight: normal">',
    '<p class="planned-best planned-wrong">',
]
REFUSED = [
    '<a href="javascript:x">',
    '<a href="java\tscript:x">',
    '<a href=" javascript:x">',
    '<a href="&#1;javascript:x">',
    '<a href="//example.org">',
    '<a href="data:text/html,a">',
    '<a href="file:///etc">',
    '<a href="https://example.org/a b">',
    '<a data-address="javascript:x">',
    '<a data-address="//x/plan.html#">',
    '<a target="_top">',
    '<span style="inline-size: calc(9px)">',
    '<span style="position: fixed">',
    '<span style="text-align: left; background: url(x)">',
    '<p class="planned-best modal">',
    "<p onclick=x>",
    "<p id=main>",
]
NAMES = "(html) => [...gpubook.markup.answer(`${html}a`).querySelectorAll('*')].at(-1).attributes.length"


@pytest.mark.parametrize(("html", "count"), [*((one, 1) for one in ALLOWED), *((one, 0) for one in REFUSED)])
def test_an_answer_has_the_attributes_that_its_list_allows(bare, html, count):
    table = "<table><tr>" if html.startswith("<td") else ""
    assert bare.evaluate(NAMES, table + html) == count


@pytest.mark.parametrize("attribute", ["class", "style"])
def test_a_long_attribute_is_read_at_once(bare, attribute):
    value = {"class": "planned-planned-" * 20_000 + "!", "style": "text-align: left; " * 20_000 + "x: url(y)"}[
        attribute
    ]
    took = bare.evaluate(
        "(html) => { const start = performance.now(); gpubook.markup.answer(html); return performance.now() - start; }",
        f'<p {attribute}="{value}">a</p>',
    )
    assert took < 500
