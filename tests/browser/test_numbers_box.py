"""A prediction of several numbers on a page: typed once, then shown beside what came out."""

import pytest

from autograder.book import answerbox
from autograder.book.page import folded
from tests.autograder.answers.test_estimates import make
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_numbers_are_kept_and_stand_in_the_table_with_their_errors(page, watch, tmp_path):
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    exercise = make(predict=True)
    table = Markup(MarkdownIt("gfm-like", {"linkify": False}).render(exercise.answer.compared(exercise, None, {})))
    reveal = folded("reveal", "What comes out", table, reveals=exercise.id)
    (tmp_path / "units.js").write_text(answerbox.units_js())
    (tmp_path / "box.js").write_text((ROOT / "docs" / "_static" / "answerbox.js").read_text())
    html = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>{answerbox.form(exercise)}{reveal}'
    target = tmp_path / "page.html"
    target.write_text(f'{html}<script src="units.js"></script><script src="box.js"></script>')
    page.goto(target.as_uri())
    box, say = page.locator("textarea"), page.locator(".verdict")

    box.fill("1; 2")
    page.get_by_role("button").first.click()
    assert "3 numbers were expected" in say.inner_text()
    assert page.locator("details.reveal").get_attribute("open") is None

    box.fill("2\n40 s\n150")
    page.get_by_role("button").first.click()
    assert "Predicted." in say.inner_text()
    assert box.is_disabled()
    rows = [row.locator("td, th").all_inner_texts() for row in page.locator("table tr").all()]
    assert rows[0] == ["name", "yours", "off", "a model", "off", "measured"]
    assert [row[1:3] for row in rows[1:]] == [["2 s", "+100 %"], ["40 s", "+100 %"], ["150 s", "−25 %"], ["", "100 %"]]
    assert watch.errors == []
