"""The page, the tables and the terminal show everything, and obey nothing that a learner wrote."""

import csv
import io
import re
import stat
from html.parser import HTMLParser

import pytest
from rich.console import Console

from autograder.book.course_error import CourseError
from autograder.course.report import page, tables, terminal_report
from autograder.course.report.beliefs import beliefs, borrowed, unexplained
from autograder.course.report.copies import copies
from autograder.course.report.items import items
from autograder.course.report.of_class import AssignmentReport, Term, histogram, summary
from autograder.grading.results import Result
from tests.autograder.course.report.made import COPY, MEAN, STEPS, TERM, WHY, Class
from tests.autograder.course.report.test_likeness import LONG, RENAMED

EVIL = "<script>alert(1)</script>"
FORMULA = "=HYPERLINK(1)"


@pytest.fixture(scope="module")
def report() -> AssignmentReport:
    made = Class(variants=True, asked=(COPY.id, STEPS.id, TERM.id, MEAN.id, WHY.id))
    owner = COPY.variant("ann")
    copycat = next(who for who in map("l{}".format, range(99)) if COPY.variant(who)["W"] != owner["W"])
    for who in ("ann", "bob", copycat, EVIL):
        made.enrolled(
            who,
            EVIL if who == "ann" else "Bo",
            FORMULA if who == "ann" else "",
            graded=True,
            raw=3.0,
            late_penalty=1.5 if who == "bob" else 0.0,
        )
        given = COPY.variant(who)
        made.answer(
            who, COPY, {"ann": COPY.expected(owner), copycat: COPY.expected(owner)}.get(who, 1 / COPY.expected(given))
        )
        made.answer(who, STEPS, 99)
        made.answer(who, TERM, "2*S/W")
        made.wrote(who, MEAN, LONG if who == "ann" else RENAMED, Result(MEAN.id, 0.0, 3.0, f"`{EVIL}` {EVIL} fails."))
        made.wrote(who, WHY, "*Your answer*", Result(WHY.id, 0.0, 4.0, "", kind="waiting"))
    made.enrolled("zoe", "Zoe", "\x1b[2J")
    found = made.gathered()
    found.result.learners[-1].problem = ""
    return AssignmentReport(
        "hw",
        found.result,
        found.scores,
        found.names,
        items(found),
        beliefs(found),
        unexplained(found),
        borrowed(found),
        copies(found),
        found.missing,
        {WHY.id: 4},
        0,
    )


def read(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.seen, self.addresses, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "action", "data", "xlink:href")]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("whole_term", [False, True])
def test_the_page_is_one_file_without_a_script_and_shows_what_learners_wrote_as_text(report, whole_term):
    text = page.of(Term("course", [report, report]) if whole_term else report)
    found = Tags(text)
    assert not {"script", "iframe", "img", "object", "form", "embed", "base"} & set(found.seen)
    assert {"svg", "table", "details"} <= set(found.seen)
    assert all(address.startswith(("#", "data:,")) for address in found.addresses)
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", text)
    said = "".join(found.words)
    assert EVIL in said
    assert "Turn the quotient over." in said
    assert "Mistake(lambda n: 99" in said
    assert "width=device-width" in text
    assert "prefers-color-scheme: dark" in text


def test_the_terminal_shows_all_of_it_and_obeys_nothing(report):
    out = io.StringIO()
    terminal_report.show(report, Console(file=out, width=160))
    said = out.getvalue()
    assert "\x1b" not in said
    for words in ("Turn the quotient over.", "gave 99", "right for the numbers of", "mean: the same (4): ", "mean %",
                  "Nothing submitted by 1 of 5", "4 answers to be graded by hand", "-1.5"):  # fmt: skip
        assert words in said


def test_the_terminal_shows_a_term(report):
    out = io.StringIO()
    terminal_report.show(Term("course", [report, report]), Console(file=out, width=160))
    said = out.getvalue()
    assert "course: 2 assignments" in said
    assert "upside-down: You turned a ratio upside down." in said
    assert "2 pieces of work in common" in said


def test_the_tables_are_written_and_hold_no_formula(report, tmp_path):
    paths = tables.write(tables.of(report), tmp_path / "tables")
    assert {path.stem for path in paths} >= {"exercises", "points", "mistakes", "unexplained", "alike"}
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"))):
            assert not [c for c in row if c.startswith(("=", "+", "@", "-")) and not re.fullmatch(r"-?[\d.]+", c)]
    rows = {row["learner"]: row for row in read(tmp_path / "tables" / "points.csv")}
    assert (rows["bob"]["late_penalty"], rows["bob"]["grade"]) == ("1.5", "1.5")
    assert rows["ann"][COPY.id] == "2"
    assert rows["zoe"]["problem"] == "nothing submitted"


def test_one_file_has_the_exercises_and_a_term_says_of_which_assignment(report, tmp_path):
    (path,) = tables.write(tables.of(Term("course", [report])), tmp_path / "all.csv")
    rows = read(path)
    assert [row["exercise"] for row in rows] == [COPY.id, STEPS.id, TERM.id, MEAN.id, WHY.id]
    assert {row["assignment"] for row in rows} == {"hw"}
    assert (rows[0]["right_share"], rows[0]["n_mistake"]) == ("0.2500", "2")


def test_a_table_goes_neither_over_a_file_nor_below_a_missing_folder(report, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CourseError, match="folder"):
        tables.write(tables.of(report), tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        tables.write(tables.of(report), tmp_path / "none" / "tables")
    with pytest.raises(CourseError, match="none"):
        page.write("page", tmp_path / "none" / "page.html")
    assert (tmp_path / "file").read_text() == "mine"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_every_score_is_in_one_bin_of_the_histogram():
    points = [0, 0.5, 3.999, 4, 12.5, 39.99, 40]
    bins = histogram(points, 40)
    assert sum(number for _, _, number in bins) == len(points)
    assert (bins[0][0], bins[-1][1]) == (0, 40)
    for start, end, number in bins:
        last = end == 40
        assert number == sum(start <= one < end or (last and one == end) for one in points)
    assert sum(number for _, _, number in histogram([3, 45], 40)) == 2  # extra credit
    assert histogram([], 0) == []


def test_a_summary_says_so_where_nobody_is_graded():
    assert summary([], 10) == "nobody is graded"
    assert summary([5, 10], 10).startswith("mean 7.5 of 10 (75 %), median 7.5")
