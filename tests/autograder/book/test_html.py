"""The book of a small chapter, both editions: what is in a page, what is not, and what is refused."""

import json
import re

import pytest
from bs4 import BeautifulSoup

from autograder.book.finishing.page_files import pages_of
from autograder.book.in_page.archives import ON_DEMAND
from autograder.book.outputs import executed
from autograder.book.site import html
from autograder.book.site.html import BookError
from autograder.book.site.page import PageError
from autograder.book.source import chapters
from autograder.planned import FORMS
from tests.autograder import small_book
from tests.autograder.small_book import SOURCE, lay_out_site


@pytest.fixture(scope="module")
def built():
    return {name: small_book.built(course=name == "course") for name in ("open", "course")}


def page(built, edition, name="07-links"):
    return BeautifulSoup((built[edition] / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def words(element):
    return " ".join(element.get_text(" ").split())


@pytest.mark.slow
def test_the_page_has_the_text_with_numbers_that_name_their_expression(built):
    for edition in ("open", "course"):
        soup = page(built, edition)
        data = json.loads(soup.select_one("script#origins").string)
        numbers = {data["numbers"][n["data-n"]][0]: n.get_text() for n in soup.select("span.n[data-n]")}
        wanted = {'show(W, "B/s")': "50 GB/s", 'show(W*2, "B")': "100 GB"}
        assert numbers == (wanted | {"show(W, 'B/s')": "50 GB/s"} if edition == "open" else wanted)
        assert {said[0] for said in data["numbers"].values()} == set(numbers), "and of no other page's numbers"
        assert "Hill" in words(soup)
        assert soup.select_one("a[href^='bibliography.html#']")
        assert soup.select_one("a[href='notebooks/07-links/07-links.ipynb']")
        assert soup.select_one(".admonition.note .admonition-title").get_text() == "By the way"
        assert len(soup.select("div.math")) >= 2, "the equation in the text, and the one that a cell shows"
        assert soup.select_one("div.cell_output img")["alt"].startswith("The figure that this cell draws")


@pytest.mark.slow
def test_the_open_edition_has_boxes_hints_solutions_and_mistakes(built):
    soup = page(built, "open")
    cards = soup.select(".exercise")
    assert [words(c.select_one(".exercise-number")) for c in cards] == [
        "Exercise 7.1",
        "Exercise 7.2",
        "Prediction 7.3",
        "Exercise 7.4",
        "Exercise 7.5",
    ]
    assert [bool(c.select_one("form.answer-box")) for c in cards] == [True, True, True, True, False]
    assert [bool(c.select_one("a[href^='answers.html']")) for c in cards] == [True, False, False, False, False]
    assert words(cards[0].select_one("details.hint")).endswith("Bytes over bytes per second.")
    solution = words(cards[0].select_one("details.solution"))
    assert 'answer = hushed [ "S" ] / hushed [ "W" ]' in solution
    assert "Answer: 2 ms" in solution
    assert "6 ms: Three crossings are counted: mistake-sentence-one." in solution
    assert "def half" in words(cards[3].select_one("details.solution"))
    why = cards[4]
    assert [words(row) for row in why.select("li")] == [
        "Names what a longer link changes. (2 points)",
        "Gives one number. (1 point)",
    ]
    model = why.select_one("details.solution")
    assert words(model) == "Solution The model-answer-of-why : latency grows, 50 GB/s stay."
    assert model.strong
    assert not model.select_one("pre")
    assert "40 words" in words(why)
    assert "It doubles" in words(soup.select_one("details.reveal"))
    assert "You predicted" not in words(soup), "the instructor's own prediction is nobody's business"


@pytest.mark.slow
def test_the_course_edition_has_none_of_these(built):
    soup = page(built, "course")
    assert len(soup.select(".exercise")) == 5
    assert len(soup.select(".exercise li")) == 5, "three options and two criteria"
    assert not soup.select("form.answer-box, details.hint, details.solution, details.reveal")
    text = "".join(
        p.read_text(errors="ignore")
        for p in built["course"].rglob("*")
        if p.suffix in (".html", ".ipynb", ".json", ".txt") or p.name in ("searchindex.js", "search-data.js")
    )
    assert "gpubook.searchData" in text
    for leak in ("mistake-sentence", "explanation-of", "hushed", "It comes out as", "model-answer-of"):
        assert leak not in text
        assert leak in (built["open"] / "07-links.html").read_text().replace("</span>", "").replace(
            '<span class="n">', ""
        )


@pytest.mark.slow
def test_either_edition_has_its_index_its_data_and_notebooks_that_say_what_to_install(built):
    for edition in ("open", "course"):
        index = (built[edition] / "_static" / "search-data.js").read_text()
        for found in (
            "07-links.html#exercise-links-time",
            "specs.html#h100-sxm",
            "formulas.html#memory_time",
            "A buffer of",
        ):
            assert found in index, (edition, found)
        assert "hushed" not in index, "a solution is folded, and not found in either edition"
        assert "mistake-sentence" not in index
        assert json.loads((built[edition] / "data" / "exercises.json").read_text())["links-time"]["number"] == "7.1"
        assert "](07-links.html)" in (built[edition] / "llms.txt").read_text()
        notebook = json.loads((built[edition] / "notebooks" / "07-links" / "07-links.ipynb").read_text())
        assert [cell["id"] for cell in notebook["cells"]].index("install") == 0


@pytest.mark.slow
def test_no_page_loads_the_search_before_somebody_searches(built):
    paths = pages_of(built["open"])
    assert {path.parent.name for path in paths} >= {"authors", "developers"}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert "Content-Security-Policy" in text, path.name
        assert not re.search(r"<script[^>]+(searchindex|searchtools|search-data|minisearch)", text), path.name


@pytest.mark.slow
def test_live_figures_carry_their_code_and_state(built):
    figures = page(built, "open").select("figure.live")
    assert [f["data-live"] for f in figures] == ["anywidget", "vega"]
    widget, vega = (json.loads(f.script.get_text()) for f in figures)
    assert widget["state"] == {"x": 21}
    assert "twice is" in widget["esm"]
    assert widget["css"]
    assert vega["spec"]["mark"] == "line"
    assert figures[1]["aria-label"] == "A line that you can turn"


@pytest.mark.slow
def test_a_figure_has_its_number_its_caption_and_words_for_who_cannot_see_it(built):
    for edition in ("open", "course"):
        soup = page(built, edition)
        assert words(soup.figcaption).startswith("Figure 7.1. 3 points on a line , as ")
        drawn, live = (c.find_parent("figure") for c in soup.select("figcaption"))
        assert drawn.img["alt"] == 'A line that rises: from 1 to "three" & on.'
        assert drawn.figcaption.em.get_text() == "line"
        assert drawn.figcaption.select_one("span.n") is None, "a typed number has no origin"
        assert (live["role"], live["aria-label"]) == ("figure", "A number and its <double>.")
        assert words(live.figcaption) == "Figure 7.2. Move it, and it doubles 21; see ( Hill et al., 1990 )."
        assert live.figcaption.a["href"] == "https://doi.org/10.1000/182"
        assert "Figure 7.3" not in words(soup)


@pytest.mark.slow
def test_a_measured_cell_says_on_which_machine_and_when(built):
    for edition in ("open", "course"):
        (line,) = page(built, edition).select("p.measured")
        assert re.fullmatch(r"Measured where this page was built: .+, \d+ cores?, .*\d+ \w+ \d{4}\.", words(line))
        assert line.find_previous("table")["class"] == ["book-table"]
        assert not line.find_parents(class_="cell_output"), "a figure's caption would stand below it once more"
    notebook = (built["open"] / "notebooks" / "07-links" / "07-links.ipynb").read_text()
    assert "this page was built" not in notebook


@pytest.mark.slow
def test_no_page_loads_anything_from_another_host(built):
    for path in built["open"].rglob("*.html"):
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        loaded = [e.get("src") or e.get("href") for e in soup.select("script[src], img[src], link[href], iframe[src]")]
        assert loaded, path
        assert not [u for u in loaded if re.match(r"(https?:)?//", u)], path
    styles = "".join(p.read_text() for p in built["open"].rglob("*.css"))
    assert not re.findall(r"(?:url\(|@import )['\"]?(?:https?:)?//", styles)


@pytest.mark.slow
def test_nothing_that_is_not_for_readers_is_in_the_book(built):
    names = {p.name for p in built["open"].rglob("*")}
    assert not names & {
        "_sources",
        ".buildinfo",
        "references.bib",
        "conf.py",
        "vendor.json",
        "exercises.py",
        ".doctrees",
    }


@pytest.mark.slow
def test_a_run_is_kept_until_something_it_depends_on_changes(tmp_path, root, monkeypatch):
    folder = lay_out_site(tmp_path, root)
    runs = []
    monkeypatch.setattr(executed, "_run", lambda nb, chapter, root, scratch: runs.append(chapter.name))
    monkeypatch.setattr(executed, "_full_marks", lambda nb, chapter: None)
    text, exercises = (folder / "solutions" / "07-links" / name for name in ("07-links.md", "exercises.py"))
    expected = []
    for path, old, new, again in (
        (text, "", "", True),
        (text, "Predict before", "Guess before", False),
        (text, "Doubler(x=21)", "Doubler(x=22)", True),
        (exercises, "", "# another\n", True),
    ):
        path.write_text(path.read_text().replace(old, new, 1))
        found = executed.execute(chapters.load(folder, "07-links"), folder, folder / ".build")
        expected += ["07-links"] * again
        assert runs == expected
    assert any("Guess before" in cell.source for cell in found.cells)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "error", "says"),
    [
        ("Doubler(x=21)", "1/0", BookError, r"07-links.md:\d+: .*ZeroDivisionError"),
        ('hushed["S"] /', 'hushed["S"] *', BookError, r"'links-time' scores 0.0; 2.0 was expected"),
        (
            "Doubler(x=21)",
            "import ipywidgets\nipywidgets.IntSlider()",
            PageError,
            "IntSliderModel",
        ),
        ("Predict before you look.", "[gone](gone.md)", BookError, "Sphinx"),
    ],
    ids=["fails", "scores", "frozen", "link"],
)
def test_a_chapter_that_makes_no_page_says_why(tmp_path, root, old, new, error, says):
    folder = lay_out_site(tmp_path, root, SOURCE.replace(old, new))
    with pytest.raises(error, match=says):
        html.build(folder, folder / "out")
    assert not (folder / "out").exists()


def test_a_folder_that_holds_no_book_is_not_overwritten(tmp_path, root):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(BookError, match=re.escape(f"{tmp_path / 'out'} is not ")):
        html.build(root, tmp_path / "out")
    assert (tmp_path / "out" / "thesis.txt").read_text() == "years of work"


@pytest.mark.slow
def test_both_editions_have_the_pages_that_plan_and_the_python_that_they_need(built):
    for edition, archives in (("open", ["book.zip", "library.zip"]), ("course", ["library.zip"])):
        for name in FORMS:
            form = page(built, edition, name).select_one("form.planned")
            names = {field.name for field in FORMS[name].fields}
            assert sorted(field["name"] for field in form.select("[name]")) == sorted(names)
            assert all(form.select_one(f"label[for={field['id']}]") for field in form.select("[name]"))
        folder = built[edition] / "_static" / "python"
        there = {path.name for path in folder.glob("*.zip")} - {f"{name}.zip" for name in ON_DEMAND}
        assert sorted(there) == archives
        assert (folder / "snapshot.gz").is_file()
        assert (folder / "disk" / "library.zip.js").is_file()
