"""What the zygote imports ahead: a name that a renamed module has left behind would be skipped without a word."""

import importlib.util

from autograder.sandbox.zygote import CORE, PRELOADED


def test_every_module_of_ours_that_is_preloaded_is_there():
    ours = [name for name in PRELOADED if name.partition(".")[0] in ("hwlib", "autograder")]
    assert len(ours) > 10
    assert [name for name in ours if importlib.util.find_spec(name) is None] == []


def test_the_core_is_part_of_what_is_preloaded():
    assert set(PRELOADED) >= CORE >= {"numpy", "sympy", "autograder"}
