"""Published sweeps of all-reduces: what the sources print beside the rows, and what links allow."""

import pytest

from hwlib.collectives import nvls_port_bandwidth
from hwlib.specs import accelerators, measured_allreduces
from hwlib.units import GB, us
from tests.each import each

ROWS = measured_allreduces()


def test_there_are_many_points_and_three_ways():
    assert {row.how for row in ROWS} == {"ring", "auto", "NVLSTree"}
    assert len({(r.chip, r.n, r.S, r.how) for r in ROWS}) >= 140


def test_times_are_those_printed_beside_the_bandwidths():
    """The A100 table has a column of times: 43.83 us at 32 KiB, 127,997 us at 16 GiB."""
    sweep = measured_allreduces("a100-80gb-sxm")
    assert [row.S for row in sweep] == [2**k for k in range(15, 35)]
    assert sweep[0].time == pytest.approx(43.83 * us, rel=5e-3)
    assert sweep[-1].time == pytest.approx(127_997 * us, rel=1e-4)


@each("row", ROWS)
def test_no_port_carries_more_than_its_links(row):
    port = accelerators[row.chip].scaleup_bandwidth
    carried = (
        row.bus_bandwidth
        if row.how == "ring"
        else min(row.bus_bandwidth, nvls_port_bandwidth(row.n, row.bus_bandwidth))
    )
    assert 0 < carried < port


def test_the_printed_bandwidth_of_a_switch_exceeds_the_link():
    best = max(row.bus_bandwidth for row in measured_allreduces("h200-sxm", 8, "auto"))
    assert best > accelerators["h200-sxm"].scaleup_bandwidth == 450 * GB


def test_the_switch_helps_from_five_gpus_on():
    ring = {row.n: row.time for row in measured_allreduces("h200-sxm", how="ring")}
    auto = {row.n: row.time for row in measured_allreduces("h200-sxm", how="auto") if row.S == 2**33 and row.n in ring}
    assert [n for n in sorted(ring) if auto[n] < 0.99 * ring[n]] == [5, 6, 7, 8]
