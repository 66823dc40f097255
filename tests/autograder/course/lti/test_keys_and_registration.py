"""The course's key, which nobody else reads, and where its platform is."""

import json
import os

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from autograder.book.course_error import CourseError
from autograder.course.lti import keys, registration
from autograder.course.lti.registration import CANVAS_TOKENS, Registration


@pytest.fixture
def kept(folder):
    return folder / ".gpubook" / keys.FILE


def test_a_key_is_kept_for_its_owner_and_its_public_half_is_shown(folder, kept, key, monkeypatch):
    monkeypatch.setattr(keys, "BITS", 1024)
    made = keys.make(folder)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert keys.load(folder).kid == made.kid != key.kid
    assert json.loads(made.shown("jwks"))["keys"] == [json.loads(made.shown("jwk"))]
    assert set(made.public) == {"kty", "n", "e", "alg", "use", "kid"}  # and no private number
    assert made.shown("pem").startswith("-----BEGIN PUBLIC KEY-----")
    assert "PRIVATE" not in "".join(map(made.shown, ("jwks", "jwk", "pem"))) + repr(made)


def test_a_course_without_a_key_has_none(folder, kept):
    kept.unlink()
    assert keys.load(folder) is None


@pytest.mark.skipif(os.name != "posix", reason="rights of files are POSIX's")
@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_key_that_others_can_read_is_refused(folder, kept, mode):
    kept.chmod(mode)
    with pytest.raises(CourseError, match="others"):
        keys.load(folder)


def test_what_is_no_key_is_refused(folder, kept):
    kept.write_text("-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n")
    with pytest.raises(CourseError, match="not a private key"):
        keys.load(folder)
    pem, form = keys.serialization.Encoding.PEM, keys.serialization.PrivateFormat.PKCS8
    curve = ec.generate_private_key(ec.SECP256R1())
    kept.write_bytes(curve.private_bytes(pem, form, keys.serialization.NoEncryption()))
    with pytest.raises(CourseError, match="not an RSA key"):
        keys.load(folder)


def test_the_addresses_of_canvas_and_moodle_follow_from_their_numbers():
    made = registration.of_canvas("https://school.instructure.com/", "c1", "42")
    assert made.token_url == made.audience == CANVAS_TOKENS
    assert made.roster_url == "https://school.instructure.com/api/lti/courses/42/names_and_roles"
    assert made.items_url == "https://school.instructure.com/api/lti/courses/42/line_items"
    assert registration.of_canvas("canvas.school.org", "c1", "42").token_url.startswith(
        "https://canvas.school.org/login"
    )
    made = registration.of_moodle("moodle.school.org/m", "c1", "5", "3")
    services = "https://moodle.school.org/m/mod/lti/services.php"
    assert made.roster_url == f"{services}/CourseSection/5/bindings/3/memberships"
    assert made.items_url == f"{services}/5/lineitems?type_id=3"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("token_url", "http://platform.example.org/token"),
        ("roster_url", "https://user@platform.example.org/m"),
        ("items_url", "ftp://platform.example.org/i"),
        ("items_url", "https://another.example.org/i"),
        ("items_url", "https://platform.example.org:x/i"),
        ("client_id", ""),
        ("client_id", "a\x1b"),
    ],
)
def test_an_address_to_which_no_token_may_go_is_refused(field, value):
    url = "https://platform.example.org"
    plain = {"kind": "other", "client_id": "c", "token_url": f"{url}/t", "audience": "a"}
    plain |= {"roster_url": f"{url}/m", "items_url": f"{url}/i"}
    assert registration.checked(Registration(**plain))
    with pytest.raises(CourseError):
        registration.checked(Registration(**plain | {field: value}))


@pytest.mark.parametrize(("course", "tool"), [("x", "1"), ("4/2", "1"), ("1", ""), ("1", "٣")])
def test_a_number_of_the_platforms_is_a_number(course, tool):
    with pytest.raises(CourseError, match="number"):
        registration.of_moodle("moodle.school.org", "c1", course, tool)


@pytest.mark.parametrize("text", ["{}", "[", '{"kind": "other"}'])
def test_a_broken_registration_is_named_and_an_absent_one_too(folder, text):
    path = folder / ".gpubook" / registration.FILE
    assert registration.load(folder).host.startswith("127.0.0.1")
    path.write_text(text)
    with pytest.raises(CourseError, match=registration.FILE):
        registration.load(folder)
    path.unlink()
    with pytest.raises(CourseError, match="register"):
        registration.load(folder)
