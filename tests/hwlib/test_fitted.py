"""The table of fitted constants: units, sources, and what a broken entry is told."""

import math

import pytest

from hwlib.specs import SpecError, accelerators
from hwlib.specs.fitted import (
    KINDS,
    AttentionConstants,
    CollectiveConstants,
    DecodeConstants,
    GroupedConstants,
    ShareConstants,
    all_fitted,
    collective_constants,
    gemm_constants,
    read_fitted,
    share_constants,
)
from hwlib.specs.reader import quantities
from hwlib.units import scale
from tests.each import each

BOUNDS = {"AMD": (0.20, 0.24)}  # AITER's tables: of each size the quickest of many kernels, by one model
KERNELS = (AttentionConstants, DecodeConstants, GroupedConstants)
GOOD = """
[[share]]
chip = "any"
software = "x"
source = "a file"
rows = "stream-*"
count = 5
error = 0.05
held_out = nan
date = "2026-01-01"
op = "stream read"
eta = 0.9
"""


@each("entry", all_fitted())
def test_every_entry_says_where_it_is_from_and_how_good_it_is(entry):
    assert entry.source
    assert entry.rows
    if not isinstance(entry, KERNELS):  # whose constants many entries share: tests/benchmarks/fit/test_kernels.py
        typed = len(getattr(entry, "typed", ())) if entry.rows.startswith("mamf") else 0
        assert entry.count >= len(entry.constants) - typed or entry.rows.startswith("deepgemm")
        vendor = accelerators[entry.chip].vendor if entry.chip in accelerators else ""
        error, held_out = BOUNDS.get(vendor, (0.11, 0.11))
        assert 0 < entry.error < error
        assert math.isnan(entry.held_out) or entry.error / 2 < entry.held_out < held_out
    assert 1 <= len(entry.constants) <= 6
    assert entry.chip in accelerators or entry.chip == "any"
    assert all(chip in accelerators for chip in entry.like)


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_constant_has_a_unit_and_a_meaning(kind):
    for unit, meaning in quantities(kind).values():
        assert meaning
        assert scale(unit)


def test_a_chip_of_the_same_die_borrows_and_one_with_its_own_does_not():
    gemms = gemm_constants()
    assert gemms["h200-sxm", "bf16"] is gemms["h100-sxm", "bf16"]
    nccl = collective_constants()
    assert nccl["gb200-nvl72", "all_to_all", "nccl-tests"].chip == "gb200-nvl72"
    assert nccl["h200-sxm", "all_gather", "nccl-tests"].chip == "h100-sxm"
    assert 0.5 < share_constants()["best fp8"].eta < 1


def test_a_good_table_is_read():
    [entry] = read_fitted(ShareConstants, "share", "x.toml", GOOD)
    assert entry.constants == {"eta": 0.9}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("eta = 0.9", "eta = 0", "x.toml, share 1.eta: .* above 0, .* 0$"),
        ("eta = 0.9", "eta = inf", "share 1.eta: .* above 0, got inf"),
        ("eta = 0.9", "eta = nan", "share 1.eta: .* above 0, got nan"),
        ("eta = 0.9", "eta = true", "share 1.eta: .* above 0, got True"),
        ("eta = 0.9", 'eta = "0.9"', "share 1.eta: .* above 0, got '0.9'"),
        ("eta = 0.9", "", "share 1: eta missing"),
        ("count = 5", "", "share 1: count missing"),
        ("count = 5", "count = 5.5", "share 1.count: .* whole number .*, got 5.5"),
        ("error = 0.05", "error = nan", "share 1.error: .* got nan"),
        ("eta = 0.9", "eta = 0.9\nzeta = 1", "share 1: .*'zeta'"),
        ("eta = 0.9", "eta = ", "x.toml: "),
    ],
)
def test_a_broken_table_is_refused(old, new, message):
    with pytest.raises(SpecError, match=message):
        read_fitted(ShareConstants, "share", "x.toml", GOOD.replace(old, new))


@pytest.mark.parametrize("cell", ["8", "[0]", "[8.5]", "[true]", '["8"]'])
def test_ranks_are_whole_numbers(cell):
    good = "\n".join(f"{name} = {value}" for name, value in RANGED.items())
    [entry] = read_fitted(CollectiveConstants, "collective", "x.toml", f"[[collective]]\n{good}")
    assert entry.ranks == (2, 8)
    bad = good.replace("[2, 8]", cell)
    with pytest.raises(SpecError, match=r"x.toml, collective 1.ranks: .* whole numbers above 0"):
        read_fitted(CollectiveConstants, "collective", "x.toml", f"[[collective]]\n{bad}")


RANGED = {
    **dict.fromkeys(("chip", "software", "source", "rows", "date", "op"), '"x"'),
    **dict.fromkeys(("held_out", "band_latency", "band_filling", "band_wires"), "nan"),
    **dict.fromkeys(("growth_ranks", "growth_bytes"), "nan"),
    **dict.fromkeys(("count", "error", "S_least", "S_most", "plain_alpha", "plain_W"), "1"),
    **dict.fromkeys(("W_low", "alpha", "W"), "1.0"),
    "flow": '"chunks"',
    "ranks": "[2, 8]",
}
