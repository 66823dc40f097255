"""The chart of two axes, evaluated as vega does, against the Python library."""

import json

import pytest

from hwlib import widgets
from hwlib.parallel import (
    best_dp,
    dp_critical_batch,
    mixed_critical_batch,
    mixed_dp_time,
    mixed_serial_critical_batch,
    mixed_tp_time,
)
from hwlib.widgets.mixtures import CURVES, D, machines
from tests.hwlib.test_widgets_collectives import evaluated


def numbers(spec):
    """The rows of the curves, without the last step, which folds them into one column; and the title."""
    lines = spec["layer"][0]
    steps = [dict(step) for step in lines["transform"][:-1]]
    for step in steps:
        step["as"] = {name: f"curve{k}" for k, name in enumerate(CURVES)}.get(str(step.get("as")), step.get("as"))
    return evaluated({**spec, "data": lines["data"]}, steps)


@pytest.mark.parametrize("machine", machines())
def test_curves_are_the_formulas(machine):
    spec = json.loads(json.dumps(widgets.mixture_explorer(machine, 1024, 16384).spec))
    rows, title = numbers(spec)
    _, C, W, W_tp, n, most, node, port = machines()[machine]
    B = 1024 * n
    assert (rows[0]["dp"], rows[-1]["dp"]) == (pytest.approx(n / most), pytest.approx(n))
    for row in rows[::5]:
        tp = n / row["dp"]
        weights = mixed_dp_time(D, 16384, tp, W / tp if node else W)
        moved = mixed_tp_time(B, D, row["dp"], W_tp)
        assert [row[f"curve{k}"] for k in range(4)] == pytest.approx(
            [weights, moved, max(weights, moved), weights + moved]
        )
    mixed = mixed_serial_critical_batch if port else mixed_critical_batch
    least = dp_critical_batch(C, W) if node else mixed(16384, C, W, W_tp)
    assert float(title[1].split(" from ")[1].split()[0].replace(",", "")) == pytest.approx(least, rel=5e-3)


def test_the_best_split_of_a_torus_is_the_rule():
    _, title = numbers(widgets.mixture_explorer("v5p", 512, 28672).spec)
    _, _, W, W_tp, n, *_ = machines()["v5p"]
    said = float(title[0].split("best split: ")[1].split()[0].replace(",", ""))
    assert said == pytest.approx(best_dp(512 * n, 28672, n, W, W_tp), rel=5e-3)


def test_a_machine_that_there_is_not_is_named():
    with pytest.raises(KeyError, match=r"'a100' .*h100"):
        widgets.mixture_explorer("a100")
