"""Whose a hub's token is: a person's who may reach this service, by the hub's own word."""

import asyncio
import sys
import types

import pytest

from autograder.course import CourseError
from autograder.course.service import hub
from autograder.course.service.limits import Later
from tests.loops import awaited

SCOPE = "access:services!service=check"


class HubAuth:
    """Answers as jupyterhub's does, for a hub of few."""

    access_scopes = {SCOPE}  # noqa: RUF012
    models = {  # noqa: RUF012
        "anns": {"kind": "user", "name": "ann", "scopes": [SCOPE]},
        "limited": {"kind": "user", "name": "bob", "scopes": ["access:servers!server=bob/"]},
        "a service's": {"kind": "service", "name": "cull", "scopes": [SCOPE]},
        "strange": {"name": "eve", "scopes": [SCOPE]},
    }

    def __init__(self):
        self.asked = []

    async def user_for_token(self, token, use_cache, *, sync):
        assert (use_cache, sync) == (False, False)
        self.asked.append(token)
        await asyncio.sleep(0)
        if token == "fails":
            raise ConnectionError
        return self.models.get(token)

    def check_scopes(self, required, model):
        return required & set(model["scopes"])


@pytest.fixture
def tokens(monkeypatch):
    module = types.ModuleType("jupyterhub.services.auth")
    module.HubAuth = HubAuth
    for name in ("jupyterhub", "jupyterhub.services"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "jupyterhub.services.auth", module)
    return hub.HubTokens()


def who(tokens, token):
    return awaited(tokens.learner, token)


def test_a_token_is_a_persons_who_may_reach_the_service(tokens):
    assert who(tokens, "anns") == "ann"
    assert [who(tokens, token) for token in ("limited", "a service's", "strange", "forged", "", "x" * 1000)] == [
        None
    ] * 6


def test_the_hub_is_asked_once_in_a_while(tokens, monkeypatch):
    for _ in range(3):
        who(tokens, "anns")
        who(tokens, "forged")
    assert sorted(tokens._hub.asked) == ["anns", "forged"]
    monkeypatch.setattr(hub, "FRESH", 0.0)
    monkeypatch.setitem(HubAuth.models, "anns", None)
    assert who(tokens, "anns") is None


def test_a_hub_that_does_not_answer_says_who_nobody_is(tokens):
    with pytest.raises(Later):
        who(tokens, "fails")


def test_a_flood_of_forged_tokens_neither_fills_the_memory_nor_the_hub(tokens, monkeypatch):
    monkeypatch.setattr(hub, "KNOWN", 20)
    monkeypatch.setattr(hub, "WAITING", 30)

    async def flood():
        asked = (tokens.learner(f"forged-{number}") for number in range(100))
        return await asyncio.gather(*asked, return_exceptions=True)

    got = awaited(flood)
    assert sum(isinstance(one, Later) for one in got) == 70
    assert len(tokens._known) == 20
    assert who(tokens, "anns") == "ann"


def test_without_a_name_in_the_hub_every_token_would_do(tokens, monkeypatch):
    monkeypatch.setattr(HubAuth, "access_scopes", set())
    with pytest.raises(CourseError, match="JUPYTERHUB_SERVICE_NAME"):
        hub.HubTokens()


def test_the_package_is_asked_for_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "jupyterhub", None)
    with pytest.raises(CourseError, match="hub"):
        hub.HubTokens()


@pytest.mark.parametrize(("length", "looked_up"), [(1, True), (200, True), (201, False)])
def test_what_is_longer_than_a_token_is_not_looked_up(tokens, length, looked_up):
    who(tokens, "x" * length)
    assert bool(tokens._hub.asked) == looked_up


@pytest.mark.parametrize(("later", "asked"), [(59.9, 1), (60.0, 2), (60.1, 2)])
def test_the_hubs_word_holds_for_a_minute(tokens, monkeypatch, later, asked):
    now = [100.0]
    monkeypatch.setattr(hub, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    for seconds in (0.0, later):
        now[0] = 100.0 + seconds
        assert who(tokens, "anns") == "ann"
    assert len(tokens._hub.asked) == asked
    assert (hub.KNOWN, hub.WAITING, hub.LOOKS) == (5_000, 200, 16)


def test_a_hub_that_fails_or_is_asked_too_much_says_when_to_come_back(tokens, monkeypatch):
    with pytest.raises(Later) as later:
        who(tokens, "fails")
    assert (later.value.status, later.value.seconds) == (503, 10)
    assert tokens._waiting == 0
    monkeypatch.setattr(hub, "WAITING", 0)
    with pytest.raises(Later) as later:
        who(tokens, "anns")
    assert (later.value.status, later.value.seconds) == (503, 5)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"kind": "user", "name": "ann", "scopes": [SCOPE]}, "ann"),
        ({"kind": "user", "name": "", "scopes": [SCOPE]}, None),
        ({"kind": "user", "scopes": [SCOPE]}, None),
        ({"kind": "service", "name": "ann", "scopes": [SCOPE]}, None),
        (["user"], None),
        (None, None),
    ],
)
def test_a_person_is_a_user_with_a_name(tokens, model, expected):
    assert tokens._person(model) == expected


@pytest.mark.parametrize(("token", "name", "configured"), [("t", "n", True), ("t", "", False), ("", "n", False)])
def test_a_hub_names_its_service_and_gives_it_a_token(monkeypatch, token, name, configured):
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", token)
    monkeypatch.setenv("JUPYTERHUB_SERVICE_NAME", name)
    assert hub.configured() is configured
