"""docs/virtual.md prints what its examples print."""

import doctest

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"),
]


def test_its_examples_print_what_it_says(root):
    done = doctest.testfile(str(root / "docs" / "virtual.md"), module_relative=False, optionflags=doctest.FAIL_FAST)
    assert done.attempted > 10
    assert not done.failed
