"""Published memory of training against footprints, and what of it Calculon says."""

import csv
import json
import math

import pytest

from benchmarks.rows.published import COLUMNS, case_of, read_rows
from benchmarks.rows.training_memory import MemoryUse
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.calculon import calculon
from benchmarks.score.predictions import predict
from hwlib.units import GiB

ROW = {
    "id": "kor-f1-22B-act-ss",
    "kind": "memory",
    "system": "A100-80GB",
    "gpus": "8",
    "config": {"model": "22B", "what": "activations, SP+selective"},
    "measured_value": "9.5625",
    "unit": "GiB",
    "source": "s",
    "confidence": "seen",
    "use": "visible",
}


@pytest.fixture
def case(tmp_path):
    def read(**changes):
        path = tmp_path / "rows.csv"
        row = ROW | changes
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerow({**row, "config": json.dumps(row["config"])})
        return case_of(read_rows(path)[0][0], path)

    return read


def test_activations_and_states_of_the_figure(case):
    found = case()
    assert (found.group, found.part, found.mode) == ("kor-f1-activations", "activations", "sp+selective")
    assert found.predicted == pytest.approx(9.5625 * GiB)
    states = case(config={"model": "1T", "what": "params+grads+optimizer per GPU"}, measured_value="32.958984375")
    assert states.group == "kor-f1-states"
    assert predict(states).error < 0.001
    assert case(config={"model": "530B", "what": "activations, no recompute"}, unit="GB").mode == "none"
    assert case(measured_value="9792", unit=" mib").measured == pytest.approx(9.5625 * GiB)


@pytest.mark.parametrize("mode", ["none", "sp", "selective", "sp+selective", "seqsel", "full"])
def test_shares_of_figure_7(case, mode):
    found = case(id=f"kor-f7-22B-{mode}", config={"model": "22B", "mode": mode}, unit="% of none")
    assert (found.group, found.relative) == ("kor-f7", True)
    assert 0 < found.predicted <= 1
    assert 0 < found.simple <= 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"config": {"model": "9B", "what": "activations, none"}}, "'9b'"),
        ({"unit": "furlong"}, "'furlong'"),
        ({"config": {"model": "22B", "what": "activations"}}, "'activations'"),
        ({"id": "new-1"}, "no reader"),
        ({"config": {"model": "22B", "what": "optimizer alone"}}, "'optimizer alone'"),
        ({"unit": "% of none", "config": {"model": "22B", "mode": "half"}}, "mode 'half'"),
        ({"unit": "% of none", "measured_value": "0.66", "config": {"model": "22B", "mode": "sp"}}, "a share?"),
        ({"config": {"model": "22B", "what": "activations, SP", "tp": 4}}, "tp is 4, and 8 in "),
    ],
)
def test_what_cannot_be_modelled_says_why(case, changes, reason):
    found = case(**changes)
    assert isinstance(found, Unmodelled)
    assert reason in found.reason


def test_calculon_is_as_it_printed_itself():
    modes = ("none", "sp", "selective", "sp+selective", "full")
    printed = {"22b": 66.84, "175b": 62.04, "530b": 58.31, "1t": 58.31}
    shares = [calculon(MemoryUse("kor-f7", size, "activations", "sp", True, m / 100)) for size, m in printed.items()]
    assert shares == pytest.approx([0.6692, 0.6203, 0.5841, 0.5841])
    assert len(modes) * len(printed) == 20
    states = {"22b": 45.5625, "175b": 45.5625, "530b": 31.640625, "1t": 32.958984375}
    errors = [abs(calculon(MemoryUse("", s, "states", "none", False, 1)) / (g * GiB) - 1) for s, g in states.items()]
    assert sum(errors) / 4 == pytest.approx(0.0849, abs=2e-4)  # "Ave 8.49%"
    assert math.isnan(calculon(MemoryUse("", "22b", "activations", "full", False, 1)))
    assert math.isnan(calculon(None))
