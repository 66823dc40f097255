"""A built page as a part of one book: without what belongs to a page only, its exercises' solutions taken out."""

import pytest

from autograder.book.print import assembly
from autograder.book.site.html import BookError

PAGE = """<html><head><link rel="stylesheet" href="_static/book.css"></head><body>
<nav class="bd-links"><a class="reference internal" href="01-one.html">One</a>
<a class="reference internal" href="02-two.html#there">Two</a>
<a class="reference internal" href="licences.html">L</a>
<a class="reference internal" href="contribute.html">C</a>
<a class="reference internal" href="authors/chapter.html">A</a></nav>
<article class="bd-article"><section id="top"><h1>1. One<a class="headerlink" href="#top">#</a></h1>
<p class="notebook-link">x</p><!-- a -- comment --><p>See <a href="02-two.html#there">two</a>, <a href="#top">top</a>,
<a href="notebooks/x.ipynb">a file</a>, <a href="https://example.org/">elsewhere</a>.</p>
<div class="exercise" id="exercise-a"><p class="exercise-head"><span class="exercise-number">Exercise 1.1</span>
<span class="exercise-name">A name</span></p>
<form class="answer-box"><fieldset><label><input type="radio" value="a"> <span>One <b>option</b></span></label>
<label><input type="radio" value="b"> <span>Another</span></label></fieldset><button>Check</button></form>
<details class="hint"><summary>Hint</summary><p>A hint.</p></details>
<details class="solution"><summary>Solution</summary><p>The solution.</p></details></div>
<div class="exercise" id="exercise-b"><form class="answer-box"><label for="box-b">Ask</label>
<textarea class="code" id="box-b">def f(x):
    ...</textarea></form></div>
<details class="reveal" data-reveals="a"><summary>What comes out</summary><p>It.</p></details>
<figure class="live"><script type="application/json">{}</script></figure><script>alert()</script>
</section></article></body></html>"""


@pytest.fixture
def site(tmp_path):
    for name in ("index", "01-one", "02-two"):
        (tmp_path / f"{name}.html").write_text(PAGE)
    (tmp_path / "searchindex.js").touch()
    return tmp_path


def test_the_parts_come_in_the_order_of_the_contents(site):
    assert assembly.names(site) == ["01-one", "02-two"]


def test_what_belongs_to_a_page_only_is_left_out(site):
    part = assembly.part(site, "01-one")
    text = part.article.get_text()
    assert part.title == "1. One"
    assert [
        word for word in ("A hint", "The solution", "What comes out", "Check", "Ask", "comment") if word in text
    ] == []
    assert part.article.select("form, script:not(figure.live > script), .headerlink, .notebook-link") == []
    assert [str(item) for item in part.article.select("ul.options li")] == [
        "<li>One <b>option</b></li>",
        "<li>Another</li>",
    ]
    assert part.article.select_one("#exercise-b pre").get_text() == "def f(x):\n    ..."
    (first, second) = part.worked
    assert (first.label, first.title, len(first.hints), first.solution is None) == ("Exercise 1.1", "A name", 1, False)
    assert (second.hints, second.solution) == ([], None)


def test_solutions_are_collected_with_or_without_hints(site):
    part = assembly.part(site, "01-one")
    without = assembly.worked_section(part, hints=False, title="Solutions")
    assert [h.get_text() for h in without.select("h3")] == ["Exercise 1.1 A name"]
    assert ("A hint." in without.get_text(), "The solution." in without.get_text()) == (False, True)
    part = assembly.part(site, "01-one")
    assert "A hint." in assembly.worked_section(part, hints=True, title="Solutions").get_text()


def test_links_lead_within_the_book_and_files_outside_it_are_text(site):
    part = assembly.part(site, "01-one")
    assembly.link(part, {"01-one", "02-two"}, lambda name, place: f"#{assembly.joined(name, place)}")
    assembly.prefix_ids(part)
    links = [a["href"] for a in part.article.select("p a")]
    assert links == ["#02-two--there", "#01-one--top", "https://example.org/"]
    assert part.article.find(id="01-one--top") is not None
    assert "a file" in part.article.get_text()


def test_a_folder_without_a_book_is_said_to_be_one(tmp_path):
    with pytest.raises(BookError, match="gpubook book"):
        assembly.parts(tmp_path)
