"""What the configuration allows, and what of it a release says."""

import pytest
from traitlets import TraitError
from traitlets.config import Config

from autograder.course.service.settings import CheckService
from autograder.declaration import load_bank
from tests.autograder.course.service import small_course


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    path = tmp_path_factory.mktemp("bank") / "mine.py"
    path.write_text(small_course.EXERCISES)
    return load_bank(path)


def made(**options):
    config = Config()
    for name, value in options.items():
        config.CheckService[name] = value
    return CheckService(config=config)


def test_numbers_have_five_attempts_and_a_choice_never_all_but_one(bank):
    public = made(url="https://h/c").public(bank)
    assert public == {"url": "https://h/c/", "attempts": {"mine-time": 5, "mine-double": 5, "mine-which": 2}}


def test_the_teacher_says_how_many(bank):
    service = made(url="/services/c", attempts=3, code_attempts=1, by_exercise={"mine-which": 4, "mine-time": 0})
    assert service.public(bank) == {"url": "/services/c/", "attempts": {"mine-double": 1, "mine-which": 4}}


def test_without_an_address_a_release_says_nothing(bank):
    assert made().public(bank) == {}
    assert made(url="https://h/c").public({}) == {}


@pytest.mark.parametrize("url", ["http://h/c/", "ftp://h/", "h/c", "https:///x", "https://u:p@h/", "https://h/?q",
                                 "/user/ann/", "/services/../c", "http://[", "https://h:99999999/"])  # fmt: skip
def test_an_address_to_which_no_token_may_go_is_refused(url):
    with pytest.raises(TraitError, match="tokens"):
        made(url=url)


@pytest.mark.parametrize("url", ["https://h/c", "http://127.0.0.1:8765", "http://localhost:1/x/", "/hub/services/c/"])
def test_an_address_to_which_it_may_go_is_taken(url):
    assert made(url=url).url == url.rstrip("/") + "/"
