"""Two gradings of one submission say the same, with the numbers that ranks are asked with in the sentences."""

import stat
import sys

import pytest

from autograder.grading.judge import Judge
from autograder.grading.submission import RunSettings, grade_notebook
from autograder.ranks import seeds
from autograder.sandbox import Limits
from tests.autograder import lab
from tests.autograder.lab import judge, make

PRELOAD = "all"  # torch, before the fork


def test_a_courses_secret_is_made_once_and_for_its_owner_alone(tmp_path):
    secret = seeds.secret_of(tmp_path)
    assert seeds.secret_of(tmp_path) == secret
    assert len(secret) == 32
    path = tmp_path / ".gpubook" / "secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("")  # a full disk
    assert seeds.secret_of(tmp_path) == seeds.secret_of(tmp_path) != ""
    (tmp_path / "other").mkdir()
    assert seeds.secret_of(tmp_path / "other") != secret


def test_a_seed_follows_from_secret_owner_and_text():
    found = [
        seeds.seed_of(secret, owner, sources)
        for secret in ("s", "t")
        for owner in ("ann", "bob")
        for sources in (["ab", "c"], ["a", "bc"], ["ab"])
    ]
    assert len(set(found)) == len(found)
    assert seeds.seed_of("s", "ann", iter(["ab", "c"])) == found[0]
    assert seeds.seed_of("", "ann", ["ab"]) == ""


def test_numbers_follow_from_the_seed_and_the_exercise_and_from_nothing_without_one():
    def drawn(seed, name):
        with seeds.seeded(seed):
            return seeds.generator(name).integers(1 << 60)

    assert drawn("a", "ring") == drawn("a", "ring") != drawn("b", "ring")
    assert drawn("a", "ring") != drawn("a", "tree")
    assert drawn("", "ring") != drawn("", "ring")


@pytest.mark.parametrize("function", [lab.nothing, lab.counts_itself_twice, lab.rolls])
def test_a_sentence_with_numbers_is_the_same_again(function):
    bare = make(mistakes=())

    def say(seed):
        with seeds.seeded(seed):
            return judge(bare, function).say

    assert say("a") == say("a") != say("b")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux namespaces")
def test_ranks_that_are_graded_twice_get_the_same_sentences(tmp_path, zygotes):
    raising = "def allreduce(rank, n, x): raise ValueError(float(x[0]))"
    from tests.abuse import course

    bank = course.write_bank(tmp_path)
    said = {}
    with Judge([tmp_path / "exercises.py"]) as key:
        for name, torch, secret in (
            ("first", course.WRONG["abuse-torch"], "s"),
            ("again", course.WRONG["abuse-torch"], "s"),
            ("other secret", course.WRONG["abuse-torch"], "t"),
            ("other text", course.WRONG["abuse-torch"] + "  # once more", "s"),
            ("raises", raising, "s"),
            ("raises again", raising, "s"),
        ):
            one = course.Attack("numbers", asked=course.RANKS, answers={"abuse-torch": torch})
            nb, release = course.submission_of(bank, one)
            done = grade_notebook(
                nb, release, bank, "ann", RunSettings(Limits(cell=5.0), secret=secret), zygote=zygotes(), judge=key
            )
            said[name] = [(result.points, result.say) for result in done.results]
    assert said["first"] == said["again"]
    assert said["raises"] == said["raises again"]
    for other in ("other secret", "other text"):
        assert all(one != two for one, two in zip(said["first"], said[other], strict=True))
    assert "where " in said["first"][0][1]
    assert "ValueError: 1." in said["raises"][1][1]


def test_cases_follow_from_the_seed_and_are_the_same_for_all_without_one():
    def drawn(seed, name):
        with seeds.seeded(seed):
            return seeds.cases(name).random()

    assert drawn("a", "ring") == drawn("a", "ring") != drawn("b", "ring")
    assert drawn("a", "ring") != drawn("a", "tree")
    assert drawn("", "ring") == drawn("", "ring") != drawn("a", "ring")
    assert seeds.current() == ""
