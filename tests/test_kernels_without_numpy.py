"""Kernels and ranks where numpy is missing, as in a page: equal counts and verdicts, values to rounding."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import ROOT

HIDE = "import sys\nsys.modules['numpy'] = None\n"
PLAY = """
import json, random
from hwlib import tl
from tests.hwlib import kernels

rng = random.Random(0)
draw = lambda m, n=0: [rng.gauss(0, 1) for _ in range(m)] if not n else [draw(n) for _ in range(m)]
CASES = {
    "add": (4, draw(100), draw(100), tl.empty(100), 100, 32),
    "transpose": ((2, 3), draw(11, 20), tl.empty((20, 11)), 11, 20, 8, 8),
    "softmax": (11, draw(11, 20), tl.empty((11, 20)), 20, 32),
    "online_softmax": (11, draw(11, 20), tl.empty((11, 20)), 20, 8),
    "matmul": ((2, 3), draw(12, 20), draw(20, 20), tl.empty((12, 20)), 12, 20, 20, 8, 8, 8),
    "grouped_matmul": (9, draw(24, 16), draw(16, 24), tl.empty((24, 24)), 24, 24, 16, 8, 8, 8, 2),
    "attention": (3, draw(20, 8), draw(20, 8), draw(20, 8), tl.empty((20, 8)), 20, 8**-0.5, 8, 8, 8),
}
told = {}
for name, (grid, *given) in CASES.items():
    run = tl.launch(getattr(kernels, name), grid, *given, l2=tl.L2(1024, 4), touches=True)
    counts = [vars(one) for one in (*run.traffic.values(), run.hbm)] + [run.flops, run.tile_bytes, run.work]
    counts += [one.elements.tolist() for one in run.touches] + [one.tolist() for one in run.unwritten.values()]
    arrays = {key: [list(one.shape), one.reshape(-1).tolist(), one.dtype.name] for key, one in run.arrays.items()}
    told[name] = counts, arrays
print(json.dumps(told))
"""
ODD = """
import json
from hwlib import tl


def odd(x_ptr, i_ptr, out_ptr, half_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    i = tl.load(i_ptr + at).to(tl.int32)
    values = [
        tl.log(x), tl.sqrt(x), tl.exp(100*x), x/0.0, 1/x, i/3, i*x, i//3 % 2, -i, tl.minimum(x, i),
        tl.where(x > 0, i, x), x.to(tl.float16)*1000, (x > 0).to(tl.int32), tl.maximum(x, 0.0), tl.max(x),
        tl.min(x), tl.sum(i), tl.sum(x), tl.sum(tl.where(x > 1, x, 0.0)),
        (~(x > 0) | (i == 2)).to(tl.float32), x.to(tl.float64)/3,
        tl.exp2(x), tl.log2(x), tl.abs(x), tl.cumsum(x), tl.cumsum(i), tl.rsqrt(x), tl.sigmoid(x),
    ]
    for row, value in enumerate(values):
        tl.store(out_ptr + row*N + at, value + tl.zeros((N,), tl.float32))
    tl.store(half_ptr + at, x*1e5)


x = [0.0, -1.0, 2.0, float("inf"), -float("inf"), float("nan"), 1e-3, 7.25]
run = tl.launch(odd, 1, x, [0, 1, 2, 3, 4, 5, 6, 7], tl.empty(28*8), tl.empty(8, tl.float16), 8)
print(json.dumps([run.arrays[name].tolist() for name in ("out_ptr", "half_ptr")] + [run.flops, run.tile_bytes]))
"""
CHECK = """
import json
from pathlib import Path
from autograder.declaration import load_bank
from autograder.values import encoding
from hwlib import tl

exercise = load_bank(Path("solutions/02-memory-hierarchy"))["memory-hierarchy-NAME"]
told = []
for kernel in (exercise.solution, *(mistake.value for mistake in exercise.mistakes), lambda **given: None):
    verdict = exercise.judge_message(encoding.encode(kernel), {}, exercise.answer.local_call(kernel))
    told.append([verdict.score, verdict.kind, verdict.reason, verdict.kind == "mistake" and verdict.say])
print(json.dumps(told))
"""

INSTALL = "from hwlib.plain import as_numpy\nassert as_numpy.install()\n"
RING = """
import json
from pathlib import Path
from autograder.declaration import load_bank
from autograder.values import encoding

exercise = load_bank(Path("solutions/06-collectives"))["collectives-ring-reduce-scatter"]
told = []
for value in (exercise.solution, *(mistake.value for mistake in exercise.mistakes)):
    got = exercise.answer.as_learner(exercise, value, exercise.variant())
    verdict = exercise.judge_message(encoding.encode(got), {}, exercise.answer.local_call(got, exercise.withholds))
    told.append([verdict.score, verdict.kind, verdict.reason, verdict.say])
print(json.dumps(told))
"""


def said(script):
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_counts_are_equal_and_values_to_rounding():
    with_numpy, without = said(PLAY), said(HIDE + PLAY)
    assert len(with_numpy) == 7
    for name, (counts, arrays) in with_numpy.items():
        assert without[name][0] == counts, name
        for key, (shape, values, kind) in arrays.items():
            found = without[name][1][key]
            assert (found[0], found[2]) == (shape, kind)
            np.testing.assert_allclose(found[1], values, rtol=1e-4, atol=1e-6, err_msg=f"{name} {key}")


def test_every_operation_rounds_and_overflows_as_numpys():
    with_numpy, without = said(ODD), said(HIDE + ODD)
    for found, want in zip(without, with_numpy, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-6, equal_nan=True)
    assert not np.isfinite(with_numpy[0]).all()
    assert np.isinf(with_numpy[1]).sum() > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["transpose", "softmax", pytest.param("tiled-matmul", marks=pytest.mark.nightly)])
def test_verdicts_are_equal(name):
    check = CHECK.replace("NAME", name)
    with_numpy, without = said(check), said(HIDE + check)
    assert without == with_numpy
    assert [one[1] for one in without] == ["right", *["mistake"] * (len(without) - 2), "empty"]


@pytest.mark.slow
def test_ranks_exchange_arrays_of_the_small_numpy_and_are_judged_as_with_numpys():
    with_numpy, without = said(RING), said(HIDE + INSTALL + RING)
    assert without == with_numpy
    assert [one[1] for one in without] == ["right", *["mistake"] * (len(without) - 1)]


@pytest.mark.parametrize("name", ["add", "less_equal", "floor_divide", "where", "sum", "isclose"])
def test_an_array_is_what_numpy_would_make_of_shapes_that_stretch(name):
    from hwlib import plain

    a, b = np.arange(1, 7).reshape(2, 3) % 4, np.array([[2], [3]])
    mine = [plain.array(one.tolist()) for one in (a, b)]
    call = {"where": lambda of, x, y: of.where(x > y, x, y), "sum": lambda of, x, _: of.sum(x, axis=1)}
    call = call.get(name, lambda of, x, y: getattr(of, name)(x, y))
    want, found = call(np, a, b), call(plain, *mine)
    assert (found.shape, found.dtype.name) == (want.shape, want.dtype.name)
    assert found.tolist() == want.tolist()
