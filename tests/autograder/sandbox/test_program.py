import os

import pytest

from autograder.sandbox import program
from autograder.sandbox.program import SandboxedProgram, beginning

ECHO = "tests.autograder.saying"


def test_what_was_begun_is_the_next_one():
    with beginning(ECHO, os.environ):
        process, _ = program._begun[ECHO]
        with SandboxedProgram(ECHO, os.environ) as first, SandboxedProgram(ECHO, os.environ) as second:
            assert first.said == {"pid": process.pid}
            assert second.said != first.said
    assert process.returncode == 0


@pytest.mark.parametrize("fails", [False, True])
def test_what_nobody_asks_for_is_ended(fails):
    try:
        with beginning(ECHO, os.environ):
            process, _ = program._begun[ECHO]
            if fails:
                raise ValueError
    except ValueError:
        pass
    assert process.returncode is not None
    assert ECHO not in program._begun
