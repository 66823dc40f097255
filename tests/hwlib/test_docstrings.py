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


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples(module):
    failed, tried = doctest.testmod(import_module(module))
    assert tried
    assert not failed
