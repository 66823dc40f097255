"""Tokens: kept as digests, replaced at once, and for a time."""

from datetime import timedelta

import pytest

from autograder.course import CourseError
from autograder.course.service import tokens
from autograder.course.service.tokens import CourseTokens


@pytest.fixture
def kept(tmp_path):
    return CourseTokens(tmp_path)


def test_a_token_is_its_learners_and_is_kept_as_a_digest(kept, tmp_path):
    made = kept.issue(["ann", "bob"], days=1)
    assert {kept.learner(token): learner for learner, token in made.items()} == {"ann": "ann", "bob": "bob"}
    text = (tmp_path / ".gpubook" / "tokens.json").read_text()
    assert not any(token.removeprefix(tokens.BEGINS) in text for token in made.values())
    assert (tmp_path / ".gpubook" / "tokens.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("forged", ["", "gpubook-", "gpubook-" + "A" * 43, "x" * 10_000, "gpubook-\udc80\0'\"", "ann"])
def test_a_forged_token_is_nobodys(kept, forged):
    kept.issue(["ann"], days=1)
    assert kept.learner(forged) is None


def test_a_learner_with_a_token_keeps_it_unless_it_is_renewed(kept):
    first = kept.issue(["ann"], days=1)["ann"]
    assert list(kept.issue(["ann", "bob"], days=1)) == ["bob"]
    second = kept.issue(["ann"], days=1, renew=True)["ann"]
    assert (kept.learner(first), kept.learner(second)) == (None, "ann")


def test_a_token_that_was_replaced_elsewhere_holds_no_longer(kept, tmp_path):
    first = kept.issue(["ann"], days=1)["ann"]
    assert kept.learner(first) == "ann"
    other = CourseTokens(tmp_path)
    other.issue(["ann"], days=1, renew=True)
    assert kept.learner(first) is None
    second = other.issue(["ann"], days=1, renew=True)["ann"]
    assert kept.learner(second) == "ann"
    other.revoke("ann")
    assert kept.learner(second) is None


def test_a_token_expires_and_can_be_had_anew(kept, monkeypatch):
    first = kept.issue(["ann"], days=2)["ann"]
    later = tokens._now() + timedelta(days=2, seconds=1)
    monkeypatch.setattr(tokens, "_now", lambda: later)
    assert kept.learner(first) is None
    assert list(kept.issue(["ann"], days=2)) == ["ann"]


def test_a_file_that_is_not_one_is_named(kept, tmp_path):
    (tmp_path / ".gpubook").mkdir()
    (tmp_path / ".gpubook" / "tokens.json").write_text('["x"]')
    with pytest.raises(CourseError, match=r"tokens\.json"):
        kept.learner("gpubook-x")
