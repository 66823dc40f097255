"""The page that a learner gets back: mathematics is drawn, nothing in it is obeyed."""

import re
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder import course
from autograder.course import feedback


def test_mathematics_is_mathml():
    html = feedback.inert_markdown(r"The ridge $I = \frac{C}{W}$." "\n\n$$\nt = \\max(a, b)\n$$\n")
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">' in html
    assert "<mfrac>" in html
    assert 'display="block"' in html
    assert "$" not in html


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (r"$$t = \begin{cases} a & n < 3 \\ b & \text{else} \end{cases}$$", ["mtable", "mtext"]),
        ("\\begin{align}\na &= b \\\\\n&= c\n\\end{align}", ["mtable"]),
        (r"$\begin{aligned} a &= b \end{aligned}$", ["mtable"]),
        (r"$\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$", ["mtable"]),
        ("$a < b > c$", ["mo"]),
        (r"$S \& W$", ["mi"]),
    ],
)
def test_an_equation_with_columns_or_a_comparison_is_drawn(text, parts):
    import bs4

    page = bs4.BeautifulSoup(feedback.inert_markdown(text), "html.parser")
    assert all(page.math.find(part) for part in parts)
    assert not {"$", "\\"} & set(page.get_text())


@pytest.mark.parametrize("text", ["$a & b$", r"$\text{a & b}$", r"$\text{a &#1; b}$"])
def test_an_ampersand_that_separates_nothing_stays_as_it_is_typed(text):
    import bs4

    page = bs4.BeautifulSoup(feedback.inert_markdown(text), "html.parser")
    assert page.math is None
    assert page.get_text().strip() == text


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        r"$\text{&lt;script&gt;alert(1)&lt;/script&gt;}$",
        r"$\color{red&quot; onclick=&quot;alert(1)}{x}$",
        "$$\n\\begin{cases} \\text{<img src=x onerror=alert(1)>} & x \\end{cases}\n$$",
        r"$\text{<script>alert(1)</script>}$",
        r"$\href{javascript:alert(1)}{x}$",
        "$$\n\\text{<img src=x onerror=alert(1)>}\n$$",
        '<a href="javascript:alert(1)" onclick="alert(1)">x</a>',
        "[x](javascript:alert(1))",
        '$x" onmouseover="alert(1)$',
        "```mermaid\n<script>alert(1)</script><meta http-equiv='refresh' content='0;url=//host'>\n```",
        "```html\n<script>alert(1)</script>\n```",
        "![x](https://host/counted.png)",
        "![x][1]\n\n[1]: //host/counted.png",
        "<script>alert(1)</script>" * 1000,
    ],
)
def test_what_a_learner_typed_is_shown_and_never_obeyed(text):
    import bs4

    page = bs4.BeautifulSoup(feedback.inert_markdown(text), "html.parser")
    assert page.find_all(["script", "img", "meta"]) == []
    for tag in page.find_all(True):
        assert not any(name.startswith("on") for name in tag.attrs), tag
        assert "javascript" not in tag.attrs.get("href", ""), tag


@pytest.mark.parametrize(
    "address", ["evil.html", "/api/shutdown", "../x", "//host/x", "files/a.png", "data:text/html,x"]
)
def test_a_link_into_the_server_that_shows_the_page_is_text(address):
    shown = feedback.inert_markdown(f"[x]({address}) ![y]({address})")
    assert "<a" not in shown
    assert shown.count(address) == 2


@pytest.mark.parametrize("address", ["https://host/x", "HTTP://host/x", "mailto:a@b.org", "#below"])
def test_a_link_to_another_host_or_place_remains(address):
    assert f'<a href="{address}"' in feedback.inert_markdown(f"[x]({address})")


def test_a_picture_that_is_in_the_text_is_shown():
    assert '<img src="data:image/png;base64,AAAA"' in feedback.inert_markdown("![x](data:image/png;base64,AAAA)")


@pytest.mark.parametrize("text", ["\\begin{a}", "\\\\(", "[a](", "**a ", "`a ``", "|a"])
def test_no_text_takes_long_to_show(text):
    started = time.process_time()
    feedback.inert_markdown((text * 100_000)[: feedback.MAX_MARKDOWN])
    feedback.inert_markdown(text * 100_000)
    assert time.process_time() - started < 3.0


@pytest.mark.parametrize("latex", ["\\frac{", "{" * 500, "x" * 3000, ""])
def test_what_is_no_latex_stays_as_it_is_typed(latex):
    assert latex in feedback.inert_markdown(f"${latex}$").replace("&amp;", "&")


def page(texts=0):
    """A page with an exercise and an answer in words, and with so many texts before and behind them."""
    from traitlets.config import Config

    def marked(cell, part, **own):
        cell.metadata.update({"gpubook": {"exercise": "t-one", "part": part}, "nbgrader": own})
        return cell

    said = new_output("display_data", data={"text/markdown": "✗ *Both* inputs are read."})
    number = new_output("execute_result", data={"text/plain": "0.0"})
    written = new_markdown_cell(
        "My own words.",
        metadata={
            "nbgrader": {
                "grade": True,
                "solution": True,
                "grade_id": "own-words",
                "score": 1.5,
                "points": 2.0,
                "comment": "<b>Good",
            }
        },
    )
    nb = new_notebook(
        cells=[
            *(new_markdown_cell("Text.") for _ in range(texts)),
            marked(new_markdown_cell("**Exercise 3.1** · First · 1 point\n\nHow long?"), "prompt", grade=False),
            marked(
                new_code_cell('grade("t-one", answer)', outputs=[said, number]),
                "grade",
                grade=True,
                solution=False,
                grade_id="t-one-grade",
                score=0.0,
                points=1.0,
            ),
            written,
            *(new_markdown_cell("Text.") for _ in range(texts)),
        ]
    )
    config = Config()
    course.configure(config)
    about = {"notebook": "t", "score": 1.5, "max_score": 3.0, "late_penalty": 0.5}
    resources = {"nbgrader": about, "inlining": {"css": []}}
    html, _ = feedback.FeedbackPage(config=config).from_notebook_node(nbformat.from_dict(nb), resources=resources)
    return html


def test_the_head_lists_every_exercise_with_its_verdict():
    import bs4

    made = bs4.BeautifulSoup(page(), "html.parser")
    rows = made.select("#verdicts tr")
    texts = [" ".join(row.get_text(" ").split()) for row in rows]
    assert texts == [
        "Exercise 3.1 · First · 1 point ✗ Both inputs are read.",
        "own-words 1.5 of 2.0 points: <b>Good",
        "Handed in late −0.5 points",
    ]
    assert [row.a["href"] for row in rows[:2]] == ["#question-t-one", "#own-words"]
    assert "Test cell" not in made.select_one("#verdicts").get_text()
    question = made.find(id="question-t-one")
    assert "How long?" in question.find_next(class_="rendered_html").get_text()
    assert "0.0" not in [one.get_text().strip() for one in made.select(".output_text")]  # the verdict has it in words


def test_a_page_fits_a_telephone_and_asks_for_no_font():
    html = page()
    assert '<meta name="viewport" content="width=device-width, initial-scale=1" />' in html
    assert "@font-face" not in html


@pytest.mark.parametrize("page", ["feedback", "formgrade"])
def test_the_columns_of_a_prompts_table_stand_apart(page):
    from jinja2 import Environment, FileSystemLoader

    pages = Environment(loader=FileSystemLoader(Path(feedback.__file__).parent / page), autoescape=True)
    head = str(pages.get_template("mathjax.html.j2").module.mathjax())
    rule = re.search(r"<style>\.rendered_html table :is\(th, td\) \{([^}]*)\}</style>", head)
    assert rule is not None
    assert {"padding", "text-align"} <= {one.split(":")[0].strip() for one in rule[1].split(";")}
