"""What is withheld is known by one rule, is gone while an answer runs, and is there again afterwards."""

import importlib
import subprocess
import sys

import pytest

import hwlib.algorithms
import hwlib.collectives
import hwlib.roofline
from autograder.declaration.withholding import KEPT, Withheld, withheld_in, withheld_name, without
from hwlib.algorithms import Step, blocks, ring_allreduce
from hwlib.hierarchy.cache import LRUCache
from hwlib.topology.fat_tree_design import Report


def nothing():
    pass


@pytest.mark.parametrize(
    ("thing", "withholds", "name"),
    [
        ("hwlib.roofline.ridge", ["hwlib.network", "hwlib.roofline"], "hwlib.roofline"),
        ("hwlib.rooflines", ["hwlib.roofline"], ""),
        (hwlib.roofline, ["hwlib.roofline"], "hwlib.roofline"),
        (hwlib.roofline.ridge, ["hwlib.roofline"], "hwlib.roofline"),
        (hwlib.roofline.ridge, ["hwlib.roofline.ridge"], "hwlib.roofline.ridge"),
        (ring_allreduce, ["hwlib.algorithms.ring_allreduce"], "hwlib.algorithms.ring_allreduce"),
        (ring_allreduce, ["hwlib.algorithms.ring"], "hwlib.algorithms.ring"),
        (ring_allreduce, ["hwlib.algorithms.tree"], ""),
        (Step, ["hwlib.algorithms"], ""),
        (blocks, ["hwlib.algorithms"], ""),
        (LRUCache.access, ["hwlib.hierarchy.cache"], "hwlib.hierarchy.cache"),
        (nothing, ["hwlib"], ""),
        (3, ["hwlib"], ""),
        (None, ["hwlib"], ""),
    ],
)
def test_a_thing_falls_under_a_withheld_name(thing, withholds, name):
    assert withheld_name(thing, withholds) == name


def test_what_is_kept_is_what_its_module_has_for_learners():
    for home, names in KEPT.items():
        assert all(getattr(importlib.import_module(home), name).__module__ == home for name in names), home


def ridge():
    return hwlib.roofline.ridge(6.0, 3.0)


def imports():
    return importlib.import_module("hwlib.roofline").ridge(6.0, 3.0)


def hides():
    try:
        return ridge()
    except ImportError as error:
        raise ValueError("mine") from error


def swallows():
    try:
        return ridge()
    except ImportError:
        return None


@pytest.mark.parametrize("use", [ridge, imports, hides, lambda: hwlib.roofline.ridge.function(6.0, 3.0)])
def test_a_use_is_an_error_that_has_the_name(use):
    with pytest.raises(Withheld) as raised, without(("hwlib.network", "hwlib.roofline"), use):
        use()
    assert raised.value.name == "hwlib.roofline"
    assert ridge() == 2.0


def test_the_answer_may_not_be_the_librarys_own():
    with pytest.raises(Withheld), without(["hwlib.roofline"], hwlib.roofline.ridge):
        pytest.fail("it ran")


def test_nothing_can_be_read_meanwhile_and_everything_afterwards():
    f = hwlib.roofline.ridge
    before = f.function.__code__, f.body, f.js, str(f.expr)
    with without(["hwlib.roofline"], nothing):
        assert f.body is None
        assert f.function.__code__ is not before[0]
        with pytest.raises(ImportError):
            str(f.expr)
        assert swallows() is None
        assert next(iter([Step(None, 1, None)])).to == 1
    assert (f.function.__code__, f.body, f.js, str(f.expr)) == before


def test_a_method_of_two_names_is_whole_again():
    codes = Report.__repr__.__code__, Report.__str__.__code__
    assert codes[0] is codes[1]
    with without(["hwlib.topology"], nothing):
        assert Report.__str__.__code__ is not codes[0]
    assert (Report.__repr__.__code__, Report.__str__.__code__) == codes


def test_what_a_learner_says_of_a_withheld_name_is_no_use_of_it():
    with pytest.raises(ValueError, match=r"it uses hwlib\.roofline"), without(["hwlib.roofline"], nothing):
        raise ValueError("it uses hwlib.roofline")


def test_a_chain_of_causes_without_end_is_looked_at_to_an_end():
    one, other = ValueError(), ValueError()
    one.__cause__, other.__cause__ = other, one
    assert withheld_in(one, ["hwlib"]) == ""


STRIPPED = """
import linecache
import hwlib.roofline
from autograder.declaration import withholding
linecache.getlines(hwlib.roofline.ridge.function.__code__.co_filename)
assert any("roofline" in name for name in linecache.cache)
withholding.strip(["hwlib.roofline"])
print([name for name in linecache.cache if "roofline" in name])
"""


def test_what_was_read_of_a_stripped_modules_source_is_forgotten():
    done = subprocess.run([sys.executable, "-c", STRIPPED], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
