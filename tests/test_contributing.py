"""What CONTRIBUTING.md shows and lists is so."""

import re
from pkgutil import iter_modules

import pytest

import hwlib
from autograder.answers.library_overlap import library_overlap
from autograder.answers.selftest import selftest


@pytest.fixture(scope="module")
def text(root):
    return (root / "CONTRIBUTING.md").read_text("utf-8")


@pytest.fixture(scope="module")
def declared(text):
    """The names of the exercises that the text declares, in the order of its blocks."""
    scope = {}
    exec("from dataclasses import replace\nfrom autograder.answers import Distributed, Written", scope)
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        if "Exercise(" in block or "replace(" in block:
            exec(block, scope)
    return scope


@pytest.mark.parametrize(("name", "kind"), [("RING", "Algorithm"), ("TORCH", "Distributed")])
def test_the_exercise_that_it_shows_is_a_good_one(declared, name, kind):
    exercise = declared[name]
    assert exercise.kind == kind
    assert len(exercise.mistakes) == 2
    assert selftest(exercise) == []
    assert library_overlap(exercise) == []


def test_the_question_in_words_that_it_shows_is_a_good_one(declared):
    assert declared["WHY"].points == 3
    assert selftest(declared["WHY"]) == []


def test_every_module_of_the_library_is_on_its_map(text):
    rows = text.partition("## The library")[2].partition("\n## ")[0].splitlines()
    named = [name for row in rows if row.startswith("| `") for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(named) == sorted(module.name for module in iter_modules(hwlib.__path__))


def test_the_files_that_it_names_are_there(text, root):
    names = set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|toml|md|bib))`", text)) - {"NN-topic.md"}
    names = {name for name in names if not name.startswith("solutions/NN")}
    assert names >= {"links.toml", "autograder/ranks/network.py", "docs/fidelity.md"}
    for name in names:
        assert (root / name).is_file() or (root / "hwlib/specs" / name).is_file(), name
