"""What late work loses by the rule of this package."""

from datetime import timedelta

import pytest
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from autograder.course.gradebook import late_penalties
from autograder.course.gradebook.late_penalties import DaysToSpend, LatePerDay, late_period

DAY, MINUTE = 86400, 60


@pytest.mark.parametrize(
    ("late", "lost"),
    [(-1, 0.0), (0, 0.0), (1, 5.0), (DAY, 5.0), (DAY + 1, 10.0), (3 * DAY, 15.0), (4 * DAY, 20.0), (9 * DAY, 20.0)],
)
def test_each_day_begun_costs_a_fraction_of_the_score_and_never_more_than_all(late, lost):
    rule = LatePerDay(fraction=0.25)
    assert rule.late_submission_penalty("ann", 20.0, late) == lost


@pytest.mark.parametrize(("late", "lost"), [(10 * MINUTE, 0.0), (10 * MINUTE + 1, 1.0), (10 * MINUTE + DAY, 1.0)])
def test_minutes_of_grace_cost_nothing_and_a_tenth_is_lost_by_default(late, lost):
    assert LatePerDay(grace=10.0).late_submission_penalty("ann", 10.0, late) == lost
    assert LatePerDay().late_submission_penalty("ann", 10.0, 1) == 1.0


@pytest.mark.parametrize(
    ("fraction", "grace", "period"),
    [
        (0.25, 0.0, timedelta(days=3)),
        (0.3, 5.0, timedelta(days=3, minutes=5)),
        (1.0, 0.0, timedelta(0)),
        (0.0, 5.0, None),
    ],
)
def test_work_is_worth_something_until_all_of_it_is_lost(fraction, grace, period):
    config = Config()
    config.AssignLatePenalties.plugin_class = LatePerDay
    config.LatePerDay.fraction, config.LatePerDay.grace = fraction, grace
    assert late_period(config) == period


def test_without_the_rule_late_work_has_no_period():
    assert late_period(Config()) == timedelta()


@pytest.mark.parametrize(
    ("name", "late", "lost"), [("a", 2, 0.0), ("b", 1, 0.0), ("b", 2, 2.5), ("c", 1, 2.5), ("c", 9, 10.0)]
)
def test_days_to_spend_cost_nothing_until_they_are_used_up(monkeypatch, name, late, lost):
    """Three days; two are spent on `a`, one on `b`."""
    submitted = [("a", 2 * DAY), ("b", DAY), ("c", 0)]
    monkeypatch.setattr(late_penalties, "_seconds_late", lambda url, learner: submitted)
    parent = AssignLatePenalties()
    parent.assignment_id, parent.db_url = name, ""
    rule = DaysToSpend(days=3.0, fraction=0.25, parent=parent)
    assert rule.late_submission_penalty("ann", 10.0, late * DAY) == lost
    assert rule.late_submission_penalty("ann", 10.0, 0) == 0.0
