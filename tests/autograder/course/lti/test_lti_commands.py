"""The teacher's commands around a learning platform, from the key to the last grade."""

import json

import click
import pytest
from click.testing import CliRunner

from autograder.cli import commands, lti
from autograder.course.lti import keys
from tests.autograder.course.lti.loopback_platform import CLIENT, DROP, EXPIRE


def run(*words):
    return CliRunner().invoke(commands.main, ["course", "lti", *map(str, words)])


def test_the_whole_way(platform, folder, key, tmp_path):
    done = run("keys", folder, "--form", "jwk", "--output", tmp_path / "jwk.json")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "jwk.json").read_text()) == key.public
    url = platform.url
    words = ["--token-url", f"{url}/token", "--roster-url", f"{url}/members", "--items-url", f"{url}/items"]
    done = run("register", folder, "--platform", "other", "--client-id", CLIENT, *words)
    assert done.exit_code == 0, done.output
    assert platform.asked == []
    for user, address in (("u-ann", "ann@x.org"), ("u-bob", "+1@x.org"), ("u-new", "new@x.org")):
        platform.member(user, email=address)
    done = run("roster", folder, "--dry-run")
    assert "Nothing was written. Would be: 1 new, 2 known." in done.output
    assert run("roster", folder).output.startswith("new@x.org: new")
    done = run("send", folder, "week1", "--dry-run")
    assert "ann: " in done.output
    assert "Would be: 1 new." in done.output
    assert platform.items == {}
    done = run("send", folder, "week1", "--partial")
    assert done.exit_code == 0, done.output
    assert "Sent 2 grades" in done.output
    assert set(platform.scores["items/1"]) == {"u-ann", "u-bob"}
    done = run("send", folder, "week1", "--partial")
    assert "Sent 0 grades" in done.output
    platform.items["items/1"]["scoreMaximum"] = 50
    assert "the course's 10" in run("send", folder, "week1", "--dry-run").output
    assert run("send", folder, "week1", "--set-maximum").exit_code == 0
    assert platform.items["items/1"]["scoreMaximum"] == 10.0


def test_a_send_that_ends_early_says_how_many_have_arrived(platform, folder):
    for user, address in (("u-ann", "ann@x.org"), ("u-bob", "+1@x.org")):
        platform.member(user, email=address)
    assert run("roster", folder).exit_code == 0
    platform.faults["POST", "scores"] = [None, *[DROP] * 9]
    done = run("send", folder, "week1", "--partial")
    assert done.exit_code == 1
    assert "1 of 2 grades have arrived" in done.output
    assert "Traceback" not in done.output
    platform.faults.clear()
    assert "Sent 1 grades" in run("send", folder, "week1", "--partial").output


def test_rights_that_are_gone_are_one_sentence(platform, folder):
    platform.faults["GET", "members"] = [EXPIRE, EXPIRE]
    done = run("roster", folder)
    assert done.exit_code == 1
    assert len(done.output.splitlines()) == 1
    assert "administrator" in done.output


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (["--platform", "canvas", "--host", "x.org"], "--course"),
        (["--platform", "moodle", "--course", "1"], "--host"),
        (["--platform", "moodle", "--host", "x.org", "--course", "1"], "--tool"),
        (["--platform", "other", "--token-url", "https://x.org"], "--roster-url and --items-url"),
    ],
)
def test_what_a_platform_needs_is_named(folder, words, missing):
    done = run("register", folder, "--client-id", "c", *words)
    assert done.exit_code == 2
    assert missing in done.output


def test_canvas_and_moodle_are_registered_by_numbers_and_addresses_may_be_others(folder):
    words = ["--client-id", "c", "--host", "https://lms.example.org", "--course", "7"]
    assert "/api/lti/courses/7/line_items" in run("register", folder, "--platform", "canvas", *words).output
    done = run(
        "register", folder, "--platform", "moodle", *words, "--tool", "3", "--token-url", "https://t.example.org/t"
    )
    assert "CourseSection/7/bindings/3" in done.output
    assert "Tokens: https://t.example.org/t" in done.output


def test_a_key_is_made_once_and_anew_when_asked_for(folder, key, monkeypatch):
    monkeypatch.setattr(keys, "BITS", 1024)
    first = json.loads(run("keys", folder).output)["keys"][0]
    assert first == key.public
    new = json.loads(run("keys", folder, "--new", "--form", "jwk").output)
    assert new["kid"] != first["kid"]
    assert "PUBLIC KEY" in run("keys", folder, "--form", "pem").output
    (folder / ".gpubook" / keys.FILE).unlink()
    assert "lti keys" in run("roster", folder).output


@pytest.mark.parametrize("words", [["keys"], ["roster"], ["register", "--platform", "other", "--client-id", "c"]])
def test_a_folder_that_is_no_course_is_named(tmp_path, words):
    done = run(words[0], tmp_path, *words[1:])
    assert done.exit_code == 1
    assert "not a course" in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["jwt", "cryptography.hazmat", "requests.adapters", "urllib3"])
def test_without_the_extra_the_commands_name_it(name):
    with pytest.raises(click.ClickException, match=r"gpubook\[lti\]"), lti._installed():
        raise ModuleNotFoundError(name=name)
    with pytest.raises(ModuleNotFoundError), lti._installed():
        raise ModuleNotFoundError(name="another")
