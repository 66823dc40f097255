"""What the search's index takes from a finished page: what a reader sees of it, section by section."""

import json

import pytest

from autograder.book.site import search

PAGE = """<html><body><article class="bd-article"><section id="links"><h1>7. Links<a class="headerlink">#</a></h1>
<p>Before all.</p>
<section id="hops"><h2>Hops and <code>all_reduce</code><a class="headerlink">#</a></h2>
<p>A <strong>hop</strong>, of \\(\\mathrm{W}_{in}\\) bytes .</p><div class="cell_input">secret_code()</div>
<section id="deep"><h3>Deeper</h3><p>Down here.</p></section>
<div class="exercise" id="exercise-links-time">
<p class="exercise-head"><span class="exercise-number">Exercise 7.1</span>
<span class="exercise-name">One buffer</span></p><p>How long?</p><form class="answer-box">digest</form>
<details class="solution"><summary>Solution</summary>hidden-solution</details></div>
<details class="reveal"><summary>What comes out</summary>hidden-result</details>
</section></section></article></body></html>"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "07-links.html").write_text(PAGE)
    (tmp_path / "search.html").write_text(PAGE)
    (tmp_path / "_static").mkdir()
    return tmp_path


def test_a_section_has_its_own_text_and_an_exercise_its_prompt(site):
    found = {entry.href: entry for entry in search.entries(site)}
    assert set(found) == {
        "07-links.html",
        "07-links.html#hops",
        "07-links.html#deep",
        "07-links.html#exercise-links-time",
    }
    hops = found["07-links.html#hops"]
    assert hops == ("Hops and all_reduce", "section", hops.href, "7. Links", "A hop, of W_in bytes.", "hop")
    assert found["07-links.html#deep"].text == "Down here."
    assert found["07-links.html"][:2] == ("7. Links", "page")
    exercise = found["07-links.html#exercise-links-time"]
    assert exercise[:2] == ("Exercise 7.1 One buffer", "exercise")
    assert exercise.text == "How long?"


def test_a_page_in_a_folder_is_found_where_it_is_and_a_notebook_is_no_page(site, tmp_path):
    for folder in ("authors", "_static/licences", "notebooks/07-links"):
        (site / folder).mkdir(parents=True)
        (site / folder / "07-links.html").write_text(PAGE)
    hrefs = {entry.href for entry in search.entries(site)}
    assert {href.partition("#")[0] for href in hrefs} == {"07-links.html", "authors/07-links.html"}
    assert "authors/07-links.html#deep" in hrefs
    search.write(site, tmp_path)
    search.write(site, tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 2, "pages of one name in two folders are kept beside each other"


def test_what_is_folded_is_left_out_and_the_file_is_a_script(site, tmp_path):
    search.write(site, tmp_path)
    text = (site / search.FILE).read_text()
    for folded in ("hidden-solution", "hidden-result", "secret_code", "digest"):
        assert folded not in text
    rows = json.loads(text.split("gpubook.searchData = ")[1].rstrip(";\n"))
    assert len(rows) == 4
    assert "</" not in text, "it may stand in a page"
