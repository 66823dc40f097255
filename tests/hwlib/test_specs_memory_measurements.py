"""The small table of measured memories: its rows, and the steps that they show where the chip's memories end."""

import csv
from itertools import pairwise

import pytest

from hwlib.specs import accelerators, measured_memory
from hwlib.specs.memory_measurements import LATENCY_CLOCK, MEMORIES
from hwlib.units import GB, KiB, MiB
from tests.conftest import ROOT

BENCHES = sorted({(row.chip, row.what) for row in MEMORIES.rows})


def test_there_are_seven_sweeps_in_order_and_of_one_source():
    assert len(BENCHES) == 7
    for bench in BENCHES:
        rows = measured_memory(*bench)
        assert all(a.at < b.at for a, b in pairwise(rows)), bench
        assert all(row.source.startswith("gpu-benches ") for row in rows), bench


def test_units_are_si():
    text = (ROOT / "hwlib/specs/measured_memory.csv").read_text("utf-8").splitlines()
    printed = {(r["chip"], r["what"], r["at"]): r["value"] for r in csv.DictReader(x for x in text if x[0] != "#")}
    assert printed["h100-pcie", "read bandwidth", "33152 kB"] == "6884.0 GB/s"
    row = next(r for r in measured_memory("h100-pcie", "read bandwidth") if r.at == 33152 * KiB)
    assert row.value == pytest.approx(6884 * GB)
    assert measured_memory("h100-pcie", "latency")[0].value == pytest.approx(34 / LATENCY_CLOCK)


@pytest.mark.parametrize("chip", [chip for chip, what in BENCHES if what == "read bandwidth"])
def test_past_the_cache_the_memory_is_below_its_sheet_and_inside_it_above(chip):
    rows, sheet = measured_memory(chip, "read bandwidth"), accelerators[chip]
    assert all(0.8 * sheet.hbm_bandwidth < r.value < sheet.hbm_bandwidth for r in rows if r.at > 2 * sheet.l2_bytes)
    assert all(r.value > 2 * sheet.hbm_bandwidth for r in rows if r.at < 25 * MiB)
