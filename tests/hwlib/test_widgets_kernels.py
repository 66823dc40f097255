"""The figure that steps through a kernel, by its own script under node, against what `tl` counted."""

import numpy as np
import pytest

from hwlib import tl, widgets
from hwlib.widgets.live import module_source
from tests.hwlib import kernels
from tests.hwlib.test_widgets import node, state_of
from tests.hwlib.under_triton import CASES


def explorer(body, given):
    return node(module_source("kernel_explorer", ()) + f"\nprocess.stdout.write(JSON.stringify({body}));", given)


def run_of(name):
    grid, given = CASES[name]
    given = {key: tl.empty(value) if type(value) is tuple else value for key, value in given.items()}
    return tl.launch(getattr(kernels, name), grid, **given, touches=True)


def copied(step, stride, n=16):
    def copy(x_ptr, out_ptr, N: tl.constexpr):
        at = tl.program_id(0) * stride + step * tl.arange(0, N)
        tl.store(out_ptr + at, tl.load(x_ptr + at))

    return tl.launch(copy, n, np.zeros((n, n), np.float32), tl.empty((n, n)), n, touches=True)


def test_the_last_program_has_the_bytes_and_sectors_of_the_run():
    runs = {name: run_of(name) for name in CASES}
    states = [{**state_of(widgets.kernel_explorer(runs)), "run": name, "program": 10**6} for name in runs]
    for run, now in zip(runs.values(), explorer("given.map(compute)", states), strict=True):
        assert (now["asked"], now["moved"]) == (run.bytes, tl.SECTOR * run.sectors)
        assert now["now"] == now["all"] == run.programs
        for array, grid in zip(run.arrays, now["grids"], strict=True):
            times = np.zeros(run.arrays[array].size, int)
            for touch in run.touches:
                if touch.array == array and touch.program != run.touches[-1].program:
                    times[np.unique(touch.elements)] += 1
            assert grid["times"] == times.tolist()


def test_a_column_fetches_its_neighbours_along():
    state = state_of(widgets.kernel_explorer({"rows": copied(1, 16), "columns": copied(16, 1)}))
    rows, columns = explorer("given.map(compute)", [state | {"program": 2}, state | {"program": 2, "run": "columns"}])
    x, out = (grid["looks"] for grid in columns["grids"])
    assert [x.count(word) for word in ("load", "load-along", "seen", "")] == [16, 16 * 7, 0, 16 * 8]
    assert out[0:9] == ["store-along", "store", *["store-along"] * 6, ""]
    assert (columns["asked"], columns["moved"]) == (2 * 128, 2 * 128 * 8)
    x, out = (grid["looks"] for grid in rows["grids"])
    assert [x.count(word) for word in ("load", "load-along", "seen", "")] == [16, 0, 16, 16 * 14]
    assert out.index("store") == 16


def test_it_says_what_the_program_does():
    state = state_of(widgets.kernel_explorer(copied(16, 1), 3))
    said = explorer("given.map(compute).map(tell)", [state])[0]
    assert said == [
        "Program 2, 3 of 16, loads 16 elements of x_ptr in 16 sectors, stores 16 elements of out_ptr in 16 sectors.",
        "Up to here: 384 B asked for, 3,072 B moved in sectors, 8 times as many.",
    ]
    state = state_of(widgets.kernel_explorer(run_of("matmul"), 5))
    assert explorer("given.map(compute).map(tell)", [state])[0][0].startswith("Program (1, 1), 5 of 12, loads")


def test_python_and_the_reader_share_the_state():
    widget = widgets.kernel_explorer({"rows": copied(1, 16), "columns": copied(16, 1)})
    widget.set_state({"run": "columns", "program": 7})
    assert (widget.run, widget.program) == ("columns", 7)
    with pytest.raises(Exception, match=r"'tiles'; known: rows, columns"):
        widget.run = "tiles"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: {}, "one run"),
        (lambda: tl.launch(kernels.add, 1, *[np.zeros(4, np.float32)] * 2, tl.empty(4), 4, 4), "touches=True"),
        (lambda: copied(1, 128, 128), "16,384 elements"),
        (lambda: run_of_many(), "300 programs"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        widgets.kernel_explorer(call())


def run_of_many():
    x = np.zeros(300, np.float32)
    return tl.launch(kernels.add, 300, x, x, tl.empty(300), 300, 1, touches=True)


def test_the_script_needs_nothing_from_elsewhere():
    source = module_source("kernel_explorer", ())
    assert "eval(" not in source
    assert {part.split('"')[0] for part in source.split("http")[1:]} == {"://www.w3.org/2000/svg"}
