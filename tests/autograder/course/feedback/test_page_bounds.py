"""Up to where a page draws, colours and links what a learner wrote, on both sides of each bound."""

from types import SimpleNamespace

import pytest

from autograder.course import feedback
from autograder.course.feedback import Renderer, cell_code, cell_markdown, cell_output, illustrated, inert_markdown

PNG = {"image/png": "AAAA"}


class Context(dict):
    """What a page's template has at hand."""

    def __init__(self, **about):
        super().__init__({"resources": {}} | about)


def drawn(html):
    return "<strong>" in html


@pytest.mark.parametrize(("length", "expected"), [(9_999, True), (10_000, True), (10_001, False)])
def test_a_text_is_drawn_up_to_ten_thousand_characters(length, expected):
    text = "**a** ".ljust(length - 1, "\n") + "b"
    assert drawn(inert_markdown(text)) == expected
    assert drawn(cell_markdown(Context(), text)) == expected
    assert "**a**" not in inert_markdown(text) or not expected
    assert not drawn(illustrated("**a**", {}, typed=True))


def test_a_page_draws_three_of_the_longest_texts_and_then_none():
    context = Context()
    text = "**a** ".ljust(feedback.MAX_MARKDOWN - 1, "\n") + "b"
    assert [drawn(cell_markdown(context, text)) for _ in range(5)] == [True] * 3 + [False] * 2
    assert context["resources"]["spent"]["markdown"] > feedback.PAGE_MARKDOWN == 300_000_000
    assert not drawn(cell_markdown(context, "**a**"))
    assert drawn(cell_markdown(Context(), "**a**"))  # another page begins anew
    assert drawn(cell_markdown({}, "**a**"))


@pytest.mark.parametrize(
    ("spent", "cost", "affords"), [(0, 9, True), (0, 10, True), (0, 11, False), (4, 6, True), (5, 6, False)]
)
def test_what_a_page_has_spent_adds_up_by_kind(spent, cost, affords):
    context = Context(resources={"spent": {"code": spent, "markdown": 999}})
    assert feedback._affords(context, "code", cost, 10) is affords
    assert context["resources"]["spent"] == {"code": spent + cost, "markdown": 999}


def coloured(html):
    return '<span class="' in html


@pytest.mark.parametrize(("length", "expected"), [(9_999, True), (10_000, True), (10_001, False)])
def test_code_is_coloured_up_to_ten_thousand_characters(length, expected):
    assert coloured(cell_code(Context(), "def f(): 1 #".ljust(length, "x"))) == expected


def test_a_page_colours_a_hundred_thousand_characters():
    context = Context()
    source = "def f(): 1 #".ljust(10_000, "x")
    assert [coloured(cell_code(context, source)) for _ in range(11)] == [True] * 10 + [False]
    assert (feedback.MAX_CODE, feedback.PAGE_CODE) == (10_000, 100_000)


@pytest.mark.parametrize(("blanks", "expected"), [(100, True), (101, False)])
def test_code_with_a_long_run_of_blank_lines_is_not_coloured(blanks, expected):
    assert coloured(cell_code(Context(), "def f(): 1" + "\n" * blanks + "x = 2")) == expected


def test_code_is_read_in_the_language_of_its_cell_or_of_its_notebook(monkeypatch):
    lexers = []
    monkeypatch.setattr(feedback, "_coloured", lambda _, lexer: lexers.append(lexer) or "")

    def notebook(**info):
        return SimpleNamespace(metadata={"language_info": info})

    cell_code(Context(), "x")
    cell_code(Context(nb=notebook(pygments_lexer="ipython3", name="python")), "x")
    cell_code(Context(nb=notebook(name="python")), "x")
    cell_code(Context(nb=notebook(name="python")), "x", {"magics_language": "bash"})
    cell_code(Context(nb=notebook(name="python")), "x", {})
    assert lexers == [None, "ipython3", "python", "bash", "python"]
    monkeypatch.undo()
    assert coloured(feedback._coloured("def f(): 1", None))


def test_an_output_has_its_colours_unless_they_are_odd_or_too_many():
    assert "ansi-red-fg" in cell_output("\x1b[31mred\x1b[0m")
    most = feedback.MAX_CODES
    assert most == 20_000_000
    for length, expected in ((most // 1000, True), (most // 1000 + 1, False)):  # with a thousand codes
        text = "\x1b[31m" * 1000 + "x" * (length - 5000)
        assert len(text) == length
        assert ("ansi-red-fg" in cell_output(text)) == expected
    assert cell_output("a\x1b[" + ";" * 40 + "mb") == "ab"
    assert feedback.ODD_CODE.search("\x1b[" + ";" * 39 + "m") is None
    assert feedback.as_it_is("![a](files/b)") == "![a](files/b)"


def attached(*names):
    return dict.fromkeys(names, PNG)


def test_a_picture_of_the_cell_is_shown_once_and_those_that_the_text_has_not_below_it():
    html = illustrated("![x](attachment:a.png) ![y](attachment:a.png)", attached("a.png", "b.png"))
    assert html.count("data:image/png;base64,AAAA") == 2
    assert feedback.SHOWN in html
    assert html.rstrip().endswith("</p>")
    assert html.count("<p>") == 2
    assert feedback.LEFT_OUT in illustrated("![x](attachment:none.png)", attached("a.png"))


def test_the_pictures_are_those_of_the_cell_that_is_drawn(monkeypatch):
    monkeypatch.setattr(feedback.attachments, "accepted", lambda given: given or {})
    cell = {"source": "![x](attachment:a.png)", "attachments": attached("a.png")}
    assert "base64" in cell_markdown(Context(cell=cell), cell["source"])
    assert "base64" not in cell_markdown(Context(cell=cell), "another text")
    assert "base64" not in cell_markdown(Context(cell={"source": cell["source"]}), cell["source"])
    assert "base64" not in cell_markdown(Context(cell=None), cell["source"])


@pytest.mark.parametrize(
    ("url", "drawn_"),
    [("data:image/png;base64,AAAA", True), ("data:text/html,x", False), ("https://x.org/a.png", False)],
)
def test_a_picture_is_drawn_where_the_text_holds_it(url, drawn_):
    html = Renderer({}).image("words", url)
    assert ("<img" in html) == drawn_
    assert ("<a " in html) == url.startswith("https")


@pytest.mark.parametrize(("text", "shown"), [("words", "words (x.html)"), ("", "x.html (x.html)")])
def test_a_link_that_is_not_followed_shows_its_address(text, shown):
    assert Renderer({}).link(text, "x.html") == shown


def test_mathematics_that_cannot_be_drawn_stays_and_code_is_as_it_is_typed(monkeypatch):
    monkeypatch.setattr(
        feedback, "mathml", lambda body, kind: f"<{kind}>" if body != "odd" and "odd" not in body else ""
    )
    made = Renderer({})
    assert (made.block_math("x"), made.inline_math("x")) == ("<block>", "<inline>")
    assert made.latex_environment("align", "x") == "<block>"
    for html in (made.block_math("odd"), made.inline_math("odd"), made.latex_environment("align", "odd")):
        assert "odd" in html
    assert made.block_code("<b>", "html") == "<pre><code>&lt;b&gt;</code></pre>\n"
