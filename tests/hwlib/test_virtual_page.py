"""docs/virtual.md prints what its examples print."""

import doctest

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"),
]


def test_its_examples_print_what_it_says(root):
    text = (root / "docs" / "virtual.md").read_text("utf-8")
    assert "\n\n```\n" not in text, "an empty line ends a block, and shows in its frame"
    unfenced = text.replace("\n```", "\n")  # an empty line ends what an example prints
    examples = doctest.DocTestParser().get_doctest(unfenced, {}, "virtual.md", "docs/virtual.md", 0)
    done = doctest.DocTestRunner(optionflags=doctest.FAIL_FAST).run(examples)
    assert done.attempted > 10
    assert not done.failed
