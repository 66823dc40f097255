"""One platform, one key and one small course for all tests of LTI."""

import shutil
from dataclasses import replace

import pytest

from autograder.course import layout
from autograder.course.lti import connection, keys, registration
from autograder.course.lti.connection import ITEMS, MEMBERS, RESULTS, SCORES, Connection
from autograder.course.lti.registration import Registration
from tests.autograder.course.lti.loopback_platform import CLIENT, LoopbackPlatform
from tests.autograder.course.test_export import make

ALL = (MEMBERS, ITEMS, RESULTS, SCORES)


@pytest.fixture(scope="package")
def key(tmp_path_factory):
    """A course's key, small since making a large one takes long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "BITS", 2048)
        folder = tmp_path_factory.mktemp("key")
        layout.init(folder / "c")
        return keys.make(folder / "c")


@pytest.fixture(scope="package")
def started():
    platform = LoopbackPlatform()
    yield platform
    platform.close()


@pytest.fixture
def platform(started, key, monkeypatch):
    monkeypatch.setattr(connection, "PAUSE", 0.0)
    started.reset(key.public)
    return started


@pytest.fixture
def at(platform):
    url = platform.url
    return Registration("other", CLIENT, f"{url}/token", f"{url}/token", f"{url}/members", f"{url}/items")


@pytest.fixture
def joined(at, key):
    """A connection with all rights."""
    with Connection(at, key, ALL) as made:
        yield made


@pytest.fixture(scope="package")
def blank(tmp_path_factory):
    return make(tmp_path_factory.mktemp("class") / "course")


@pytest.fixture
def folder(blank, tmp_path, key, at):
    """The course of the exports' tests, registered at the platform."""
    made = shutil.copytree(blank, tmp_path / "course")
    (made / ".gpubook").mkdir(exist_ok=True)
    registration.save(made, replace(at))
    (made / ".gpubook" / keys.FILE).touch(mode=0o600)
    pem, form = keys.serialization.Encoding.PEM, keys.serialization.PrivateFormat.PKCS8
    secret = key.private.private_bytes(pem, form, keys.serialization.NoEncryption())
    (made / ".gpubook" / keys.FILE).write_bytes(secret)
    return made
