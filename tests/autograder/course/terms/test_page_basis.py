"""What stands in a learner's files beside verdicts and lateness: compared, kept as JSON, and how a change is shown."""

import json
from dataclasses import asdict

import pytest

from autograder.course.terms.lateness import Lateness
from autograder.course.terms.page_basis import PageBasis

GIVEN = PageBasis({"t-why": (1.5, None, False, "Almost.")}, "digest")


def test_it_comes_back_from_json_and_there_is_none_of_an_earlier_version():
    assert PageBasis.of(json.loads(json.dumps(asdict(GIVEN)))) == GIVEN
    assert PageBasis.of(None) is None


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (GIVEN, []),
        (
            PageBasis({"t-why": (None, None, False, "See me.")}, "digest"),
            [("t-why", "by hand: 1.5 and a comment → a comment")],
        ),
        (PageBasis({}, "digest"), [("t-why", "by hand: 1.5 and a comment → nothing")]),
        (PageBasis(GIVEN.by_hand, "other"), [("files", "other files beside the notebook")]),
        (
            PageBasis({"t-why": (1.5, 0.5, True, "")}, "digest"),
            [("t-why", "by hand: 1.5 and a comment → 1.5 and 0.5 extra to be looked at again")],
        ),
    ],
)
def test_what_is_another_than_before(now, told):
    assert now.differences(GIVEN) == told


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (Lateness("noon", False, "monday", 1.0), "late rule or points"),
        (Lateness("one", False, "monday", 1.0), "time of submission"),
        (Lateness("one", True, "monday", 1.0), "trust in its time"),
        (Lateness("noon", False, "sunday", 1.0), "deadline or extension"),
        (Lateness("one", False, "sunday", 1.0), "time of submission, deadline or extension"),
    ],
)
def test_why_another_penalty_follows(now, why):
    assert now.reasons(Lateness("noon", False, "monday", 0.5)) == why
