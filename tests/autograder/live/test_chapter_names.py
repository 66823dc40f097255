"""A name of a chapter is made when a cell first reads it, by the last statement above that gives it."""

import pytest

from autograder.live.chapter_names import ChapterNames, given_names, read_names

CELLS = [
    ("imports", "from math import ceil, sqrt\nfrom hwlib.units import *\nSIDE = 3"),
    ("figure", "figure = nowhere.draw(SIDE)"),
    ("first", ""),
    ("later", "def area(side):\n    return side*side*FACTOR\n\nFACTOR = 2\nSIDE = 5"),
    ("second", ""),
]


def names():
    return ChapterNames(CELLS)


def evaluated(source, place, known):
    known.provide(source, place)
    return eval(source, known.space)


def test_a_name_is_that_of_the_last_statement_above():
    assert evaluated("ceil(SIDE/2)", "first", names()) == 2
    assert evaluated("ceil(SIDE/2)", "second", names()) == 3
    assert evaluated("SIDE", "", names()) == 5


def test_what_a_definition_reads_is_made_too():
    assert evaluated("area(SIDE)", "second", names()) == 50


def test_a_star_gives_what_its_module_exports():
    assert evaluated("2*GB", "first", names()) == 2e9


def test_what_stands_below_is_not_there():
    known = names()
    known.provide("area(1)", "first")
    assert "area" not in known.space


def test_what_fails_leaves_its_name_undefined_and_the_others_made():
    known = names()
    known.provide("figure, SIDE", "first")
    assert "figure" not in known.space
    assert known.space["SIDE"] == 3


def test_a_readers_own_name_is_not_overwritten():
    known = names()
    known.space["SIDE"] = 100
    assert evaluated("SIDE", "second", known) == 100


@pytest.mark.parametrize(
    ("source", "found"), [("a + f(b)", ["a", "f", "b"]), ("x = 1", []), ("%matplotlib", []), ("a.b.c", ["a"])]
)
def test_the_names_that_a_source_reads(source, found):
    assert sorted(read_names(source)) == sorted(found)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import numpy as np", {"np"}),
        ("import os.path", {"os"}),
        ("from math import pi as circle", {"circle"}),
        ("a = b = 1", {"a", "b"}),
        ("x, (y, z) = 1, (2, 3)", {"x", "y", "z"}),
        ("class C: ...", {"C"}),
        ("print(1)", set()),
    ],
)
def test_the_names_that_a_statement_gives(source, found):
    import ast

    assert given_names(ast.parse(source).body[0]) == found
