"""Each misconception of the table is made and explained somewhere, and a verdict names those that it tells."""

import functools
import json
import re

import pytest

from autograder.answers import Count, Quantity
from autograder.book.site import script_data
from autograder.book.site.misconceptions import FILE, caught, misconceptions
from autograder.book.source import chapters
from autograder.declaration import Exercise, Mistake
from autograder.declaration.verdict import DeclarationError
from autograder.values.slips import NAMES, SLIPS, slip_name
from tests.conftest import ROOT
from tests.each import each
from tests.kept import loaded

TABLE = misconceptions(ROOT)
TENSES = (
    r"(added|counted|did|forgot|had|joined|left|let|lost|miscounted|missed|mistook|multiplied|returned|rounded|scaled|"
)
TENSES += r"sent|shared|took|turned)\b"
TIME = Exercise(
    id="names-time",
    prompt="How long do {S:B} take at {W:B/s}?",
    given={"S": [1e9, 3e9], "W": [5e10]},
    answer=Quantity("s"),
    solution=lambda S, W: S / W,
    mistakes=(
        Mistake(lambda S, W: S / (3 * W), "You counted both directions.", name="both-directions"),
        Mistake(lambda S, W: 7 * S / W, "Seven times {S:B}."),
    ),
)


@functools.cache
def bank():
    """Every exercise of the book."""
    return [
        loaded(ROOT, name).bank[key] for name in chapters.chapter_names(ROOT) for key in loaded(ROOT, name).exercises
    ]


@pytest.mark.slow
def test_the_names_in_use_are_those_of_the_table():
    declared = {mistake.name for exercise in bank() for mistake in exercise.mistakes if mistake.name}
    slips = {slip_name(slip.reason) for slip in SLIPS} | {"off-by-one"}
    assert declared | slips == set(TABLE)
    assert {slip.reason for slip in SLIPS} >= NAMES.keys()


@each("name", TABLE)
def test_a_misconception_is_said_in_a_phrase_and_explained_in_a_section(name):
    one = TABLE[name]
    assert re.match(TENSES, one.did)
    assert one.did[-1] not in ".,;:"
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    source = ROOT / "solutions" / one.page / f"{one.page}.md"
    source = source if source.is_file() else ROOT / "docs" / f"{one.page}.md"
    assert f"\n## {one.section}\n" in source.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_declared_misconception_recurs():
    catches = caught(bank())
    slips = {slip_name(slip.reason) for slip in SLIPS}
    alone = [name for name, ids in catches.items() if len(ids) < 2 and name not in slips]
    assert alone == ["kept-microbatches"]  # the other exercise of it is a prediction, which counts no mistakes


def test_a_verdict_names_the_mistakes_that_it_tells():
    for given in TIME.variants():
        right = given["S"] / given["W"]
        assert TIME.judge(right / 3, given).mistakes == ("both-directions",)
        assert TIME.judge(7 * right, given).mistakes == ("names-time#2",)
        assert TIME.judge(1000 * right, given).mistakes == ("prefix",)
        assert TIME.judge(1024**3 * right, given).mistakes == ("prefix",)
        assert TIME.judge(right, given).mistakes == ()
        assert TIME.judge(1.9 * right, given).mistakes == ()


def test_a_sentence_inside_of_another_is_not_told():
    count = Exercise(
        id="names-count",
        prompt="?",
        answer=Count(),
        solution=10,
        mistakes=(Mistake(7, "That is one link."), Mistake(5, "That is one link. And the other?")),
    )
    assert count.judge(5).mistakes == ("names-count#2",)
    assert count.judge(7).mistakes == ("names-count#1",)
    assert count.judge(11).mistakes == ("off-by-one",)


def test_a_prediction_makes_no_mistake():
    guess = Exercise(
        id="names-guess",
        prompt="?",
        answer=Quantity("s"),
        predict=True,
        solution=1.0,
        mistakes=(Mistake(3.0, "No.", name="both-directions"),),
    )
    assert guess.judge(3.0).kind == "predicted"
    assert guess.judge(3.0).mistakes == ()


@pytest.mark.slow
def test_every_declared_mistake_of_the_book_that_is_a_value_is_named_by_its_verdict():
    missed = []
    for exercise in bank():
        if exercise.predict or exercise.kind not in ("Quantity", "Count", "Choice"):
            continue
        given = exercise.variant()
        for number, mistake in enumerate(exercise.mistakes):
            verdict = exercise.judge(exercise.answer.as_learner(exercise, mistake.value, given), given)
            if verdict.kind == "mistake" and exercise.mistake_key(number) not in verdict.mistakes:
                missed.append((exercise.id, mistake.say, verdict.mistakes))
    assert missed == []


def test_the_script_says_what_catches_what_and_how_many_variants_there_are():
    script = script_data.mistakes_js(ROOT, [loaded(ROOT, "04-node-networking")])
    data = json.loads(script[script.index("misconceptions: ") + len("misconceptions: ") :].removesuffix(" });\n"))
    assert data["names"].keys() == TABLE.keys()
    both = data["names"]["both-directions"]
    assert both["address"] == "04-node-networking.html#one-way-and-both"
    assert both["did"] == TABLE["both-directions"].did
    bank = loaded(ROOT, "04-node-networking").bank
    assert both["exercises"]
    assert all(any(m.name == "both-directions" for m in bank[key].mistakes) for key in both["exercises"])
    assert data["names"]["times-added"]["address"] == ""  # of a chapter that this book has not
    assert data["variants"]
    for key, one in data["variants"].items():
        assert one == {"count": len(bank[key].drawn()), "ask": bank[key].answer.box(bank[key]).ask}


def test_a_row_that_lacks_a_field_is_rejected(tmp_path):
    assert misconceptions(tmp_path) == {}
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / FILE).write_text('[x]\ndid = "y"\n')
    with pytest.raises(DeclarationError, match=r"\[x\]"):
        misconceptions(tmp_path)
