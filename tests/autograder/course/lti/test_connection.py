"""Requests to a platform: tokens, retries, pages, and one sentence where it refuses."""

from dataclasses import replace

import jwt
import pytest

from autograder.course.lti import columns, members
from autograder.course.lti.connection import MEMBERS, TRIES, AccessRefused, Connection, Lost
from tests.autograder.course.lti.conftest import ALL
from tests.autograder.course.lti.loopback_platform import DROP, EXPIRE, LOSE, PAGE

BUSY = (503, {"Retry-After": "0"}, {})


def people(joined):
    return members.read(joined)


def asked(platform, words):
    return sum(words in line for line in platform.asked)


def test_a_roster_is_read_to_its_last_page_with_one_token(platform, joined):
    for number in range(2 * PAGE + 1):
        platform.member(f"u{number}")
    assert len(people(joined)) == 2 * PAGE + 1
    assert asked(platform, "GET /members") == 3
    assert asked(platform, "POST /token") == 1


def test_a_token_that_holds_no_longer_is_renewed_once(platform, joined):
    platform.member("u1")
    people(joined)
    platform.faults["GET", "members"] = [EXPIRE]
    assert len(people(joined)) == 1
    assert asked(platform, "POST /token") == 2
    platform.faults["GET", "members"] = [EXPIRE, EXPIRE]
    with pytest.raises(AccessRefused, match="401"):
        people(joined)


@pytest.mark.parametrize("fault", [DROP, LOSE, BUSY, (429, {"Retry-After": "0"}, {}), (502, {}, b"<p>"), (504, {}, {})])
def test_what_is_safe_to_repeat_is_repeated(platform, joined, fault):
    platform.member("u1")
    platform.faults["GET", "members"] = [fault] * TRIES
    assert len(people(joined)) == 1
    platform.faults["GET", "members"] = [fault] * (TRIES + 1)
    with pytest.raises(Lost, match=r"127\.0\.0\.1"):
        people(joined)


@pytest.mark.parametrize(("fault", "count"), [(BUSY, 2), (LOSE, 1), (DROP, 1)])
def test_a_column_is_made_once_whatever_is_lost(platform, joined, fault, count):
    platform.faults["POST", "items"] = [fault]
    if fault == DROP:
        with pytest.raises(Lost):
            columns.made(joined, "week1", 10.0)
        assert platform.items == {}
        return
    assert columns.made(joined, "week1", 10.0).maximum == 10.0
    assert len(platform.items) == 1
    assert asked(platform, "POST /items") == count


def test_each_assertion_is_used_once(platform, at, key):
    platform.member("u1")
    platform.faults["POST", "token"] = [LOSE]
    with Connection(at, key, ALL) as made, pytest.raises(Lost, match="lost"):
        people(made)
    assert asked(platform, "POST /token") == 1
    with Connection(at, key, ALL) as made:
        assert len(people(made)) == 1


def test_rights_that_were_withdrawn_are_named(platform, at, key, joined):
    platform.member("u1")
    people(joined)
    platform.granted = platform.granted - {MEMBERS}
    with pytest.raises(AccessRefused, match=r"403.*administrator"):
        people(joined)
    with Connection(at, key, ALL) as made, pytest.raises(AccessRefused, match="read the roster"):
        people(made)


def test_a_key_that_the_platform_does_not_know_gets_no_token_and_is_not_shown(platform, joined, key):
    platform.key = {**key.public, "kid": "another"}
    with pytest.raises(AccessRefused, match="invalid_client") as caught:
        people(joined)
    assert key.kid in str(caught.value)
    assert "eyJ" not in str(caught.value)  # how an assertion begins
    assert jwt.PyJWK(key.public).key_id == key.kid


@pytest.mark.parametrize(
    ("page", "error"),
    [
        ((200, {}, b"<html>"), "JSON"),
        ((200, {}, []), "members"),
        ((404, {}, {"message": "gone"}), "404: gone"),
        ((500, {}, b"<p>"), "500"),
        ((302, {"Location": "/elsewhere"}, {}), "302"),
        ((403, {}, b"403 Forbidden (Rate Limit Exceeded)"), "busy"),
        ((200, {"Link": '</members>; rel="next"'}, {"members": []}), "circle"),
        ((200, {"Link": '<https://evil.example.org/m>; rel="next"'}, {"members": []}), "another host"),
    ],
)
def test_what_is_not_the_answer_that_was_expected_is_told(platform, joined, page, error):
    platform.faults["GET", "members"] = [page, page]
    with pytest.raises(ValueError, match=error):
        people(joined)
    assert not any("elsewhere" in line for line in platform.asked)


def test_a_platform_that_is_away_is_told(at, key):
    away = {name: f"http://127.0.0.1:1/{name}" for name in ("token_url", "roster_url", "items_url")}
    with Connection(replace(at, **away), key, ALL) as made, pytest.raises(Lost, match="refused"):
        people(made)
