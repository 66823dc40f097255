"""The package's names load on demand: what looks at a course's folder only waits for none of nbgrader."""

import subprocess
import sys

import pytest

from autograder import course

LIGHT = """
import sys
from autograder.course import banks, layout
from autograder.course.assigning import instructor_notebook
print({"nbgrader", "nbformat"} & {*sys.modules})
"""


def test_a_name_and_a_layout_do_not_load_nbgrader():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "set()"


def test_every_public_name_is_there():
    assert [name for name in course.__all__ if not hasattr(course, name)] == []
    with pytest.raises(AttributeError, match="no 'nothing'"):
        _ = course.nothing
