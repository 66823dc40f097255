"""The examples in docstrings run, and give what they show."""

import doctest
from importlib import import_module

import pytest

from tests.test_layers import HWLIB, ROOT

WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in HWLIB
    if ">>> " in path.read_text("utf-8")
]


TORCH = [pytest.mark.slow]  # to import it takes two seconds


@pytest.mark.parametrize(
    "module", [pytest.param(one, marks=TORCH if "virtual" in one or "torch" in one else []) for one in WITH_EXAMPLES]
)
def test_examples(module):
    failed, tried = doctest.testmod(import_module(module))
    assert tried
    assert not failed
