"""The policy of a page: it stands before all that it holds for, and allows the page's own scripts and no other."""

import base64
import hashlib
import re

import pytest

from autograder.book.finishing.policy import with_policy
from autograder.book.print.printing import in_site
from tests.conftest import ROOT

PAGE = """<!DOCTYPE html>
<html><head>
    <meta charset="utf-8" />
    <script data-a="b">first("ü")</script>
    <script src="_static/second.js"></script>
    <script type="application/json" id="data">{"third": 3}</script>
</head><body><script>
fourth()
</script></body></html>"""


def parts(page):
    (content,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    return {name: sources for name, *sources in (part.split() for part in content.split(";"))}


def digest(source):
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def test_it_stands_before_all_that_loads_or_runs():
    made = with_policy(PAGE)
    assert made.index("Content-Security-Policy") < made.index("<script")
    assert re.sub(r"\n *<meta http-equiv=.*", "", made) == PAGE


def test_of_scripts_in_the_page_those_that_run_are_allowed_by_their_digests():
    allowed = parts(with_policy(PAGE))["script-src"]
    assert {one for one in allowed if one.startswith("'sha256-")} == {digest('first("ü")'), digest("\nfourth()\n")}
    assert not {"'unsafe-inline'", "'unsafe-eval'", "'unsafe-hashes'", "*", "https:", "data:"} & set(allowed)


def test_what_the_book_does_not_have_nothing_may_bring():
    found = parts(with_policy(PAGE))
    for name in ("object-src", "frame-src", "base-uri", "form-action"):
        assert found[name] == ["'none'"]
    for name in ("default-src", "connect-src"):
        assert found[name] == ["'self'"]


def test_a_page_where_it_cannot_stand_is_rejected():
    with pytest.raises(ValueError, match="charset"):
        with_policy("<html></html>")


def test_it_stands_once_and_behind_the_first_charset():
    made = with_policy(PAGE + '<p>&lt;head&gt;</p><meta charset="utf-8" />')
    assert made.count("Content-Security-Policy") == 1
    assert made.index("Content-Security-Policy") < made.index("first(")


HEADERS = ("course/by_hand/base.html.j2", "course/course_page/course_page.html.j2")  # their server sends the policy
BOOKS = ("book/templates/drawing.html.j2", "book/templates/whole_book.html.j2")  # written by `in_site`
READERS = ("book/templates/epub_page.xhtml.j2",)  # without a script; a reading system has addresses of its own


def test_each_other_page_that_a_template_makes_runs_nothing_and_sends_nothing():
    templates = ROOT / "autograder"
    pages = {path.relative_to(templates).as_posix(): path.read_text("utf-8") for path in templates.rglob("*.j2")}
    pages = {name: text for name, text in pages.items() if "<html" in text or "Content-Security-Policy" in text}
    assert {*HEADERS, *BOOKS, *READERS} < pages.keys()
    for name in pages.keys() - {*HEADERS, *BOOKS, *READERS}:
        policy = parts(pages[name])
        assert policy["base-uri"] == ["'none'"], name
        assert policy["form-action"] in (["'none'"], ["'self'"]), name
        assert policy["default-src"] == ["'none'"] or name == "course/feedback/formgrade/mathjax.html.j2", name


def test_a_page_that_is_printed_has_the_policy_of_the_book(tmp_path):
    with in_site(tmp_path, PAGE) as page:
        assert page.read_text("utf-8") == with_policy(PAGE)
    assert not page.exists()
