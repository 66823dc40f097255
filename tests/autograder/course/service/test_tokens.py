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


def test_a_token_holds_until_its_end_and_no_longer(kept):
    end = tokens._now()
    token = tokens.Token("ann", end)
    assert token.holds(end - timedelta(microseconds=1))
    assert not token.holds(end)


@pytest.mark.parametrize(("length", "known"), [(199, True), (200, True), (201, False)])
def test_what_is_longer_than_a_token_is_not_looked_up(kept, length, known):
    assert tokens.LONGEST == 200
    token = tokens.BEGINS.ljust(length, "x")
    kept.path.parent.mkdir()
    kept._write({tokens._digest(token): tokens.Token("ann", tokens._now() + timedelta(days=1))})
    assert kept.learner(token) == ("ann" if known else None)


def test_what_does_not_begin_like_one_of_ours_is_not_looked_up(kept):
    kept.path.parent.mkdir()
    kept._write({tokens._digest("hub-x"): tokens.Token("ann", tokens._now() + timedelta(days=1))})
    assert kept.learner("hub-x") is None


def test_a_token_has_thirty_two_random_bytes(kept):
    made = kept.issue(["ann", "bob", "ann"], days=1)
    assert {len(token) for token in made.values()} == {len(tokens.BEGINS) + 43}  # in base 64
    assert len(set(made.values())) == 2


def test_what_holds_no_longer_is_dropped_when_others_are_issued(kept, tmp_path, monkeypatch):
    kept.issue(["ann"], days=1)
    held = kept.issue(["bob"], days=9)["bob"]
    later = tokens._now() + timedelta(days=2)
    monkeypatch.setattr(tokens, "_now", lambda: later)
    fresh = kept.issue(["cy"], days=1)["cy"]
    assert {one.learner for one in CourseTokens(tmp_path)._known.values()} == set()
    again = CourseTokens(tmp_path)
    assert (again.learner(held), again.learner(fresh)) == ("bob", "cy")
    assert {one.learner for one in again._known.values()} == {"bob", "cy"}


def test_revoking_tells_how_many_held_and_leaves_the_others(kept):
    made = kept.issue(["ann", "bob"], days=1)
    assert kept.revoke("ann") == 1
    assert kept.revoke("ann") == 0
    assert (kept.learner(made["ann"]), kept.learner(made["bob"])) == (None, "bob")


def test_a_file_that_is_gone_knows_nobody_and_nobody_else_reads_the_lock(kept, tmp_path):
    token = kept.issue(["ann"], days=1)["ann"]
    assert (tmp_path / ".gpubook" / "tokens.lock").stat().st_mode & 0o777 == 0o600
    kept.path.unlink()
    assert kept.learner(token) is None


def test_a_file_that_has_not_changed_is_not_read_again(kept, monkeypatch):
    token = kept.issue(["ann"], days=1)["ann"]
    assert kept.learner(token) == "ann"

    def read(*_):
        raise AssertionError("read again")

    monkeypatch.setattr(tokens.json, "loads", read)
    assert kept.learner(token) == "ann"
