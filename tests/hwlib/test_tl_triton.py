"""The same source under Triton's own interpreter: equal values, and as many bytes loaded and stored."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

from hwlib import tl
from tests.hwlib import kernels
from tests.hwlib.under_triton import CASES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="Triton is for Linux only"),
]


@pytest.fixture(scope="module")
def theirs(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("triton")
    env = {**os.environ, "TRITON_INTERPRET": "1", "TRITON_HOME": str(folder)}
    command = [sys.executable, "-W", "ignore", "-m", "tests.hwlib.under_triton", str(folder)]
    subprocess.run(command, cwd=root, env=env, check=True)
    return {name: dict(np.load(folder / f"{name}.npz")) for name in CASES}


@pytest.mark.parametrize("name", CASES)
def test_values_and_bytes_are_those_of_tritons_interpreter(theirs, name):
    grid, given = CASES[name]
    given = {key: tl.empty(value) if type(value) is tuple else value for key, value in given.items()}
    run = tl.launch(getattr(kernels, name), grid, **given)
    assert set(theirs[name]) == {*run.arrays, "loaded", "stored"}
    for key, array in run.arrays.items():
        np.testing.assert_allclose(array, theirs[name][key], rtol=1e-5, atol=1e-6)
    assert theirs[name]["loaded"] == sum(one.loaded_bytes for one in run.traffic.values())
    assert theirs[name]["stored"] == sum(one.stored_bytes for one in run.traffic.values())
