"""Times of submission from Canvas's lists come to the right learner, or to nobody, with a reason."""

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from autograder.book.course_error import CourseError
from autograder.course.gradebook import GradebookLearner
from autograder.course.intake import submission_list

ADA = GradebookLearner("ada", "Ada", "Lovelace", "ada@x.org", "4711")
BOB = GradebookLearner("bob", "Bob", "Ota", "bob@x.org", "4712")
KIMS = [GradebookLearner(f"kim{n}", "Kim", "Lee") for n in (1, 2)]
PEOPLE = [ADA, BOB, *KIMS]
NINE = datetime(2027, 2, 1, 9, tzinfo=UTC)


def read(tmp_path, *texts, zone=None):
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"list{number}")
        paths[-1].write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
    return submission_list.read(paths, PEOPLE, zone)


@pytest.mark.parametrize(
    "text",
    [
        [{"user_id": 4711, "submitted_at": "2027-02-01T09:00:00Z", "late": True}],
        [{"user_id": 9, "submitted_at": "2027-02-01T10:00:00+01:00", "user": {"id": 9, "login_id": "ada"}}],
        {"user_id": 4711, "submitted_at": "2027-02-01T09:00:00Z"},
        'ID,Student,Submitted At\n4711,"Lovelace, Ada",2027-02-01T09:00:00Z\n',
        "sis login id;submitted_at\nada;2027-02-01 09:00 UTC\n",
        "\ufeffEmail\tSubmission Date\nADA@x.org\t2027-02-01 10:00 Europe/Berlin\n",
        "name,submitted_at\nada lovelace,2027-02-01T09:00:00Z\nBob Ota,-\n",
    ],
    ids=str,
)
def test_a_time_is_read_in_utc(tmp_path, text):
    made = read(tmp_path, text)
    assert made.by_learner == {"ada": NINE}
    assert made.notes == []


def test_pages_of_the_api_may_follow_one_another_and_the_latest_time_counts(tmp_path):
    page = [{"user_id": 4711, "submitted_at": "2027-02-01T08:00:00Z"}]
    other = [{"user_id": 4711, "submitted_at": "2027-02-01T09:00:00Z"}, {"user_id": 4712, "submitted_at": None}]
    assert read(tmp_path, json.dumps(page) + "\n" + json.dumps(other)).by_learner == {"ada": NINE}
    assert read(tmp_path, other, page).by_learner == {"ada": NINE}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("99,,2027-02-01T09:00:00Z", "nobody"),
        (",Kim Lee,2027-02-01T09:00:00Z", "the roster has it for each"),  # two have that name
        ("4711,Bob Ota,2027-02-01T09:00:00Z", "ada or bob"),
        ("4711,,yesterday", "yesterday"),
        ("4711,,2027-02-01T09:00:00", "--time-zone"),
    ],
)
def test_what_is_not_one_learners_time_counts_for_nobody_and_is_told(tmp_path, row, words):
    made = read(tmp_path, f"id,name,submitted_at\n{row}\n4712,,2027-02-01T09:00:00Z\n")
    assert made.by_learner == {"bob": NINE}
    assert len(made.notes) == 1
    assert words in made.notes[0]


def test_a_time_without_a_zone_is_one_of_the_zone_that_is_named(tmp_path):
    text = "id,submitted_at\n4711,2027-02-01T10:00:00\n"
    assert read(tmp_path, text, zone=ZoneInfo("Europe/Berlin")).by_learner == {"ada": NINE}


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "[1]", "[{", "\x00", '{"errors": "unauthorized"}', "[]"], ids=repr)
def test_what_is_no_list_of_submissions_is_refused_by_its_name(tmp_path, text):
    with pytest.raises(CourseError, match="list0"):
        read(tmp_path, text)
