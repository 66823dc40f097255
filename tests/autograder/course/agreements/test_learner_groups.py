"""Groups in the gradebook: who is in one, whose grades by hand are passed on, and what is taken back."""

import shutil
import warnings
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from nbgrader import api

from autograder.book.course_error import CourseError
from autograder.course import gradebook
from autograder.course.agreements import learner_groups
from autograder.course.agreements.learner_groups import GradebookRow, form, pass_on, share_out, take_back
from autograder.course.class_results.class_result import ClassResult
from autograder.course.gradebook_url import opened
from autograder.course.terms import agreed_terms, group_shares
from autograder.course.terms.group_shares import GroupShare
from autograder.grading.restore import SubmissionError

MEMBERS = ("ann", "bob", "cy")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course in which ann has submitted for bob and cy an answer in words, which waits; and dan for himself."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "nbgrader_config.py").write_text("c = get_config()\n")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(api, "get_alembic_version", lambda: "any")
        with opened(gradebook.url_of(folder)) as book:
            book.add_assignment("hw")
            book.add_notebook("hw", "hw")
            book.add_grade_cell("why", "hw", "hw", max_score=4, cell_type="markdown")
            book.add_solution_cell("why", "hw", "hw")
            book.add_solution_cell("code", "hw", "hw")
            for who in (*MEMBERS, "dan"):
                book.add_student(who)
                with book.db.no_autoflush:
                    book.add_submission("hw", who)
                book.find_grade("why", "hw", "hw", who).needs_manual_grade = True
            book.db.commit()
    group_shares.write(folder, "hw", {who: GroupShare("ann") for who in ("bob", "cy")})
    return folder


@pytest.fixture
def course(made, tmp_path):
    return shutil.copytree(made, tmp_path / "course")


def give(course, who, score=None, comment=None, extra=None, code=None):
    with opened(gradebook.url_of(course)) as book:
        grade = book.find_grade("why", "hw", "hw", who)
        grade.manual_score, grade.extra_credit = score, extra
        grade.needs_manual_grade = score is None
        book.find_comment("why", "hw", "hw", who).manual_comment = comment
        book.find_comment("code", "hw", "hw", who).manual_comment = code
        book.db.commit()


def given(course):
    """By learner, what a teacher gave and said of the answer in words, and said of the code."""
    with opened(gradebook.url_of(course)) as book:
        rows = {}
        for who in (*MEMBERS, "dan"):
            grade = book.find_grade("why", "hw", "hw", who)
            words = [book.find_comment(cell, "hw", "hw", who).manual_comment for cell in ("why", "code")]
            rows[who] = (grade.manual_score, grade.extra_credit, bool(grade.needs_manual_grade), *words)
        return rows


NOTHING = (None, None, True, None, None)


def test_what_was_given_to_who_submitted_is_passed_on(course):
    give(course, "ann", 3.0, "Good.", 0.5, "Nice code.")
    assert pass_on(course, "hw") == ["bob", "cy"]
    same = (3.0, 0.5, False, "Good.", "Nice code.")
    assert given(course) == {"ann": same, "bob": same, "cy": same, "dan": NOTHING}
    assert pass_on(course, "hw") == []


def test_what_was_given_to_a_mate_alone_is_the_groups_while_the_submitters_waits(course):
    give(course, "cy", 2.0, "So.")
    assert pass_on(course, "hw") == ["ann", "bob"]
    assert {row[0] for who, row in given(course).items() if who in MEMBERS} == {2.0}


def test_a_later_decision_for_the_group_follows_and_one_for_a_mate_alone_stays(course):
    give(course, "ann", 3.0)
    pass_on(course, "hw")
    give(course, "bob", 1.0, "Not yours.")
    assert pass_on(course, "hw") == []
    give(course, "ann", 4.0)
    assert pass_on(course, "hw") == ["cy"]
    assert [given(course)[who][0] for who in MEMBERS] == [4.0, 1.0, 4.0]


def test_a_grade_that_was_taken_back_is_taken_back_from_all_who_follow(course):
    give(course, "ann", 3.0)
    pass_on(course, "hw")
    give(course, "ann")
    pass_on(course, "hw")
    assert len({given(course)[who] for who in MEMBERS}) == 1


def test_a_comment_alone_is_passed_on(course):
    give(course, "ann", code="Shorter.")
    assert pass_on(course, "hw") == ["bob", "cy"]
    assert [given(course)[who][4] for who in MEMBERS] == ["Shorter."] * 3


def test_a_mates_grade_does_not_replace_the_submitters(course):
    give(course, "ann", 3.0)
    give(course, "bob", 1.0)
    assert pass_on(course, "hw") == ["cy"]
    assert [given(course)[who][0] for who in MEMBERS] == [3.0, 1.0, 3.0]


def test_what_was_passed_on_is_kept_by_cell(course):
    give(course, "ann", 3.0, "Good.")
    pass_on(course, "hw")
    shares = group_shares.read(course, "hw")
    assert shares["bob"].given == {"why": (3.0, None, "Good.")}
    assert shares["bob"].by == "ann"


def test_without_groups_nothing_is_passed_on(course):
    group_shares.write(course, "hw", {})
    give(course, "ann", 3.0)
    assert pass_on(course, "hw") == []
    assert given(course)["bob"] == NOTHING


def row(score=None, extra=None, words=None, has_grade=True, has_comment=True):
    grade = SimpleNamespace(manual_score=score, extra_credit=extra, needs_manual_grade=score is None)
    comment = SimpleNamespace(manual_comment=words)
    return GradebookRow(grade if has_grade else None, comment if has_comment else None)


@pytest.mark.parametrize(
    ("made_row", "what", "is_given"),
    [
        (row(), (None, None, ""), False),
        (row(0.0), (0.0, None, ""), True),
        (row(extra=0.5), (None, 0.5, ""), True),
        (row(extra=0.0), (None, 0.0, ""), False),
        (row(words="So."), (None, None, "So."), True),
        (row(1.0, words="So.", has_comment=False), (1.0, None, ""), True),
        (row(1.0, words="So.", has_grade=False), (None, None, "So."), True),
        (row(has_grade=False, has_comment=False), (None, None, ""), False),
    ],
)
def test_a_row_is_given_where_a_teacher_gave_or_said_anything(made_row, what, is_given):
    assert (made_row.given, made_row.is_given) == (what, is_given)


@pytest.mark.parametrize(
    ("made_row", "passed", "follows"),
    [
        (row(), None, True),
        (row(), (1.0, None, ""), True),
        (row(1.0), (1.0, None, ""), True),
        (row(1.0), (2.0, None, ""), False),
        (row(1.0), None, False),
    ],
)
def test_a_row_follows_unless_a_teacher_decided_otherwise(made_row, passed, follows):
    assert made_row.follows(passed) is follows


@pytest.mark.parametrize("has_grade", [True, False])
@pytest.mark.parametrize("has_comment", [True, False])
@pytest.mark.parametrize("other_has", [True, False])
def test_a_row_takes_over_what_both_have(has_grade, has_comment, other_has):
    mine = row(has_grade=has_grade, has_comment=has_comment)
    mine.copy(row(1.0, 0.5, "So.", has_grade=other_has, has_comment=other_has))
    assert mine.given == (
        1.0 if has_grade and other_has else None,
        0.5 if has_grade and other_has else None,
        "So." if has_comment and other_has else "",
    )
    if has_grade:
        assert mine.grade.needs_manual_grade == (not other_has)


def test_groups_are_formed_of_learners_who_are_in_one_each_and_known(course):
    assert form(course, "hw", {"red": ["ann", "bob"], "blue": ["cy"]})
    assert agreed_terms.read(course, "hw").groups == {"red": ["ann", "bob"], "blue": ["cy"]}
    for groups in ({"red": ["ann", "bob"], "blue": ["bob"]}, {"red": ["bob", "bob"]}):
        with pytest.raises(CourseError, match=r"^bob: in more than one group"):
            form(course, "hw", groups)
    with pytest.raises(CourseError, match="zoe: not in the roster"):
        form(course, "hw", {"red": ["ann", "zoe"]})
    with pytest.raises(CourseError, match="not a learner's id"):
        form(course, "hw", {"red": ["../ann"]})
    assert form(course, "hw", {})
    assert agreed_terms.read(course, "hw").groups == {}


def page(course, part, who):
    path = course / part / who / "hw" / "hw.html"
    path.parent.mkdir(parents=True)
    path.write_text("")
    return path


def test_who_no_longer_shares_a_submission_has_nothing_of_it(course):
    files = [page(course, part, who) for part in ("autograded", "feedback") for who in ("bob", "cy")]
    shares = group_shares.read(course, "hw") | {"zed": GroupShare("ann")}
    notes = take_back(course, "hw", shares, ["ann", "cy"])
    assert [note.split()[0] for note in notes] == ["bob", "zed"]
    assert "of ann" in notes[0]
    assert set(shares) == set(group_shares.read(course, "hw")) == {"cy"}
    assert [file.exists() for file in files] == [False, True, False, True]
    with opened(gradebook.url_of(course)) as book:
        assert {row.student_id for row in book.assignment_submissions("hw")} == {"ann", "cy", "dan"}
    assert take_back(course, "hw", shares, ["cy"]) == []
    assert set(shares) == {"cy"}


@pytest.fixture
def share(tmp_path):
    """What becomes of these files of the group "red" of ann, bob and cy, which were submitted at these times."""

    def share(files, times, members=MEMBERS):
        result = ClassResult("hw", {})
        homes = {who: tmp_path / who for who in files}
        shares = share_out(homes, {"red": list(members)}, times, result)
        return (
            shares,
            sorted(homes),
            {learner.name: (learner.submitted_by, learner.problem) for learner in result.learners},
            result,
        )

    return share


NOON = datetime(2030, 1, 1, 12)


def test_a_folder_that_is_not_there_is_no_submission_and_a_link_is(share, tmp_path):
    (tmp_path / "bob").symlink_to(tmp_path / "nowhere")
    shares, left, learners, result = share(["ann", "bob"], {}.get)
    assert (shares, left) == ({"bob": ["ann", "cy"]}, ["bob"])
    assert learners["ann"] == ("bob", "")
    assert result.problems == []
    assert share(["ann"], {}.get)[0] == {}


@pytest.mark.parametrize(
    ("times", "counts"),
    [
        ({"ann": NOON, "bob": NOON + timedelta(seconds=1)}, "bob"),
        ({"ann": NOON + timedelta(seconds=1), "bob": NOON}, "ann"),
        ({"ann": NOON, "bob": NOON}, None),
        ({"ann": NOON}, None),
        ({}, None),
        ({"ann": NOON, "bob": NOON, "cy": NOON + timedelta(seconds=1)}, "cy"),
        ({"ann": NOON + timedelta(seconds=1), "bob": NOON + timedelta(seconds=1), "cy": NOON}, None),
    ],
)
def test_of_several_submissions_the_latest_counts_if_it_is_known_and_one(share, tmp_path, times, counts):
    files = MEMBERS if "cy" in times else ("ann", "bob")
    for who in files:
        (tmp_path / who).mkdir()
    shares, left, learners, result = share(files, times.get)
    assert list(shares) == ([counts] if counts else [])
    assert left == ([counts] if counts else [])
    assert len(result.problems) == bool(counts)
    for who, (by, problem) in learners.items():
        assert by == ("" if who == counts else counts or "")
        assert bool(problem) == (counts is None)


def test_a_time_that_cannot_be_read_is_everybodys_problem(share, tmp_path):
    def unreadable(who):
        raise SubmissionError("no time")

    for who in ("ann", "bob"):
        (tmp_path / who).mkdir()
    shares, left, learners, result = share(["ann", "bob"], unreadable)
    assert (shares, left, result.problems) == ({}, [], [])
    assert {problem for _, problem in learners.values()} == {"no time"}


def test_a_share_keeps_what_else_it_holds(course):
    before = group_shares.read(course, "hw")
    group_shares.write(course, "hw", {who: replace(share, notebook="n.ipynb") for who, share in before.items()})
    give(course, "ann", 3.0)
    learner_groups.pass_on(course, "hw")
    assert group_shares.read(course, "hw")["bob"].notebook == "n.ipynb"
