"""What the configuration allows, and what of it a release says."""

import pytest
from traitlets import TraitError
from traitlets.config import Config

from autograder.answers import Choice
from autograder.book.course_error import CourseError
from autograder.course.service.settings import CheckService, checked_url
from autograder.declaration import Exercise, Mistake, load_bank
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


def test_what_is_not_set_is_the_default():
    service = made()
    assert (service.attempts, service.code_attempts, service.total_limit, service.url) == (5, 5, 120.0, "")
    assert service.path == ""


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        ({"attempts": 0}, True),
        ({"attempts": -1}, False),
        ({"code_attempts": 0}, True),
        ({"code_attempts": -1}, False),
        ({"by_exercise": {"q": 0}}, True),
        ({"by_exercise": {"q": -1}}, False),
    ],
)
def test_attempts_are_none_or_more(options, taken):
    if taken:
        assert made(**options)
    else:
        with pytest.raises(TraitError):
            made(**options)
        with pytest.raises(CourseError):
            CheckService.of(Config({"CheckService": options}))


@pytest.mark.parametrize(
    ("options", "attempts", "allowed"), [(2, 5, 1), (3, 5, 1), (4, 5, 2), (7, 5, 5), (9, 5, 5), (9, 3, 3)]
)
def test_of_a_choice_two_options_are_left_at_least(options, attempts, allowed):
    which = Exercise(
        id="mine-many",
        prompt="Which?",
        solution="a",
        answer=Choice(tuple(f"option {n}" for n in range(options))),
        mistakes=(Mistake("b", "Not this."),),
    )
    assert made(attempts=attempts).allowed(which) == allowed


def test_neither_a_prediction_nor_words_have_a_verdict_here(bank):
    service = made(by_exercise={"mine-guess": 3, "mine-words": 3})
    assert [service.allowed(bank[name]) for name in ("mine-guess", "mine-words")] == [0, 0]
    assert made(code_attempts=2, attempts=7).allowed(bank["mine-double"]) == 2
    assert made(code_attempts=2, attempts=7).allowed(bank["mine-time"]) == 7


@pytest.mark.parametrize(
    ("url", "path"), [("https://h", "/"), ("https://h/c/d", "/c/d/"), ("/services/c", "/services/c/")]
)
def test_the_path_of_an_address(url, path):
    assert made(url=url).path == path


def test_a_release_says_nothing_where_nothing_is_allowed(bank):
    assert made(url="https://h/c", attempts=0, code_attempts=0).public(bank) == {}


@pytest.mark.parametrize("url", ["http://[::1]:1/", "https://localhost/"])
def test_this_machine_goes_by_its_address_too(url):
    assert made(url=url).url == url


@pytest.mark.parametrize("url", ["https://h/#f", "https://u@h/", "http://localhost/?q", "//h/c"])
def test_an_address_has_neither_query_nor_fragment_nor_user(url):
    with pytest.raises(CourseError, match=r"CheckService\.url"):
        checked_url(url)
