"""What a log is held against: constants where they hold, a wider band beyond, the wires where nothing was fitted."""

import math
import re

import pytest

from hwlib.calibrated import nccl_time, nodes_allreduce_time, rank_doublings, size_region, tree_time
from hwlib.calibrated.nccl import FILLED
from hwlib.calibrated.nccl_bound import bound_time, switch_reduces
from hwlib.calibrated.nccl_expected import UNSEEN, expected_of, known_between, network_of
from hwlib.calibrated.nccl_log import LogError, read_log
from hwlib.calibrated.nccl_verdict import judge_log
from hwlib.collectives import bus_factor
from hwlib.specs import nodes
from hwlib.specs.fitted import all_fitted, collective_constants, tree_constants, trees_over

H100, A100, B200, RACK = (nodes[key] for key in ("dgx-h100", "dgx-a100", "dgx-b200", "gb200-nvl72"))
GiB = 2.0**30
TWENTY_RACKS = tuple(zip(range(29, 35), (7108.4, 9805.7, 14980.0, 24782.0, 45004.0, 84625.0), strict=True))
"""log2 of bytes, and us: coreweave/nccl-tests README.md (GB200, 20 racks, NCCL 2.26.2)."""


def table(rows, n, op="all_reduce"):
    """Times of sizes as nccl-tests prints them."""
    lines = []
    for S, time in rows:
        half = f"{time * 1e6:.3f} {S / time / 1e9:.5f} {bus_factor(op, n) * S / time / 1e9:.5f} 0"
        lines.append(f"{S:.0f} {S / 4:.0f} float {'sum' if 'reduce' in op else 'none'} -1 {half} {half}")
    return "\n".join(lines)


def judged(node, n, time, network=None, sizes=range(20, 34), op="all_reduce", **more):
    rows = [(2.0**k, time(2.0**k)) for k in sizes]
    return judge_log(read_log(table(rows, n, op)), node, n, op, network, **more)


def kinds(verdict):
    return {cause.kind for cause in verdict.causes}


def test_twenty_racks_are_not_called_broken_and_half_as_fast_they_are():
    rows = [(2.0**k, us * 1e-6) for k, us in TWENTY_RACKS]
    sound = judge_log(read_log(table(rows, 1440)), RACK, 1440)
    assert {row.verdict for row in sound.rows} == {"ok"}
    assert sound.network == "InfiniBand SHARP"
    slow = judge_log(read_log(table([(S, 2 * time) for S, time in rows], 1440)), RACK, 1440)
    assert {row.verdict for row in slow.rows} == {"slow"}


def test_a_ring_of_twenty_racks_starts_as_the_sweep_of_four_gpus_says():
    few, ring = trees_over("gb200-nvl72", "InfiniBand SHARP")
    assert (few.ranks, ring.ranks, list(ring.constants)) == ((72, 144), (1440,), ["W"])
    step = collective_constants()["gb200-nvl72", "all_reduce", "nccl-tests"].alpha_hop
    assert tree_time(ring, 1440, 1.0) > 1439 * step
    for n, entry in ((72, few), (144, few), (1440, ring), (2880, ring)):
        assert nodes_allreduce_time("gb200-nvl72", n, GiB, "InfiniBand SHARP") == tree_time(entry, n, GiB)


def test_columns_of_ranks_take_the_constants_of_each():
    import numpy as np

    n = np.array([72.0, 144, 1440])
    each = [float(nodes_allreduce_time("gb200-nvl72", ranks, GiB, "InfiniBand SHARP")) for ranks in (72, 144, 1440)]
    assert nodes_allreduce_time("gb200-nvl72", n, GiB, "InfiniBand SHARP") == pytest.approx(each)


@pytest.mark.parametrize(("n", "doublings"), [(8, 2), (16, 1), (32, 0), (100, 0), (512, 0), (1024, 1), (4096, 3)])
def test_ranks_beyond_the_rows_are_counted_in_doublings(n, doublings):
    assert rank_doublings(tree_constants()["h100-sxm", "NVLSTree"], n) == doublings


@pytest.mark.parametrize(
    ("share", "region"), [(1.99, "latency"), (2, "filling"), (FILLED - 0.01, "filling"), (FILLED, "wires")]
)
def test_regions_go_by_the_time_of_one_byte(share, region):
    assert size_region(lambda S: 1.0 if S == 1 else share, GiB) == region


def test_between_two_and_twenty_racks_nobody_knows():
    """Constants of the nearest number of racks, with a band as wide as what happened between those two."""
    time = lambda S: nodes_allreduce_time("gb200-nvl72", 432, S, "InfiniBand SHARP")
    slower = judged(RACK, 432, lambda S: 1.4 * time(S), sizes=range(30, 34))
    assert {row.verdict for row in slower.rows} == {"unknown"}
    assert slower.passed
    assert not slower.judged
    assert "beyond" in kinds(slower)
    assert {row.verdict for row in judged(RACK, 432, time, sizes=range(30, 34)).rows} == {"ok"}
    assert {row.verdict for row in judged(RACK, 432, lambda S: 4 * time(S), sizes=range(30, 34)).rows} == {"slow"}
    expected = expected_of(RACK, 432, "all_reduce")
    wide, band = (1 + expected.wide_band(64 * GiB), 1 + expected.band(64 * GiB))
    assert math.log(wide / band) >= UNSEEN * expected.doublings


@pytest.mark.parametrize(("racks", "verdict"), [(4, "unknown"), (10, "ok"), (40, "ok")])
def test_a_ring_may_run_on_fewer_racks_than_it_was_timed_on(racks, verdict):
    ring = trees_over("gb200-nvl72", "InfiniBand SHARP")[1]
    verdicts = judged(RACK, 72 * racks, lambda S: tree_time(ring, 72 * racks, S), sizes=range(30, 35))
    assert {row.verdict for row in verdicts.rows} == {verdict}


def test_inside_a_rack_what_was_timed_among_few_is_what_there_is():
    gather, reduce = (expected_of(RACK, 36, op) for op in ("all_gather", "all_reduce"))
    assert (gather.constants.software, gather.constants.ranks) == ("nccl-tests", (2, 4))
    assert gather.doublings == pytest.approx(math.log2(9))
    assert reduce.constants.ranks == (72, 144)
    assert expected_of(RACK, 8, "all_reduce").constants.ranks == (2, 4)
    assert expected_of(RACK, 144, "all_gather").constants is None


def test_two_nodes_that_differ_from_both_rows_widen_by_doublings_alone():
    expected = expected_of(A100, 32, "all_reduce", "EFA")
    S = expected.constants.S_most
    wide, band = (1 + expected.wide_band(S), 1 + expected.band(S))
    assert (expected.doublings, math.log(wide / band)) == (1, pytest.approx(UNSEEN))


def test_bytes_beyond_the_rows_widen_the_band_until_nothing_but_bytes_decides():
    """Two nodes of A100 end at 2 GiB, where all is bytes; racks of GB200 end before, and begin with bytes too."""
    for node, n, network in ((A100, 16, "EFA"), (RACK, 1440, None), (H100, 8, None)):
        expected = expected_of(node, n, "all_reduce", network)
        c = expected.constants
        for S in (c.S_least, c.S_most):
            assert expected.wide_band(S) == pytest.approx(expected.band(S))
        assert expected.wide_band(c.S_least / 2) > expected.band(c.S_least / 2)
        far = [expected.wide_band(c.S_most * 2.0**k) - expected.band(c.S_most * 2.0**k) for k in (1, 2, 12, 13)]
        assert far[2] == pytest.approx(far[3])
        alone = expected.time(c.S_most) > FILLED**2 * expected.time(1.0)
        assert (far[0] > 0) != alone
    assert not alone or far[0] == pytest.approx(0)


def test_a_chip_by_constants_of_another_has_a_wider_band():
    own, other = (expected_of(node, 8, "all_reduce") for node in (B200, nodes["dgx-b300"]))
    assert own.constants == other.constants
    assert other.band(GiB) > own.band(GiB)
    assert own.beyond == ()
    assert "b300-sxm" in other.beyond[0]


def test_another_release_of_nccl_is_named():
    log = "NCCL version 2.18.5+cuda12.2"
    assert any("2.18.5" in words for words in expected_of(H100, 8, "all_reduce", text=log).beyond)
    [release] = expected_of(H100, 8, "all_reduce").constants.releases
    assert expected_of(H100, 8, "all_reduce", text=release.replace("NCCL", "NCCL version")).beyond == ()
    assert "2.29.7" in expected_of(H100, 8, "all_reduce", text="nccl-library=22907").beyond[0]


# What joins the nodes


def test_an_a100_has_no_switch_that_reduces():
    assert not switch_reduces(A100)
    assert switch_reduces(H100)
    expected = expected_of(A100, 64, "all_reduce")
    assert expected.constants is None
    assert judged(A100, 64, lambda S: S / 1e11).rows[0].verdict == "unknown"
    with pytest.raises(LogError, match=r"network: .*InfiniBand.*'NVLS'"):
        expected_of(A100, 64, "all_reduce", "NVLS")


@pytest.mark.parametrize(
    ("node", "text", "network", "joined"),
    [
        (B200, "", None, "NVLSTree"),
        (B200, "NCCL INFO NET/OFI Selected provider is efa, EFA", None, "EFA"),
        (B200, "EFA", "InfiniBand", "NVLSTree"),
        (nodes["grand-teton-h100"], "", None, "Ethernet"),
        (A100, "", "EFA", "EFA"),
    ],
)
def test_the_network_is_what_is_given_or_named_or_what_the_cards_are_for(node, text, network, joined):
    assert network_of(node, text, network) == joined


def test_b200_over_infiniband_is_not_held_against_efa():
    by_wires, measured = (expected_of(B200, 16, "all_reduce", network) for network in ("InfiniBand", "EFA"))
    assert by_wires.constants is None
    assert measured.constants.software == "EFA"
    assert (by_wires.network, measured.network) == ("InfiniBand", "EFA")


def test_two_nodes_of_a100_over_efa_are_known():
    assert known_between("a100-80gb-sxm", 16, "EFA").constants.ranks == (16,)
    assert known_between("a100-80gb-sxm", 16, "NVLSTree") is None


def test_a_network_that_reduces_is_like_one_that_does_not():
    """coreweave/nccl-tests README.md @cb86553328f8: 64 H100 with SHARP, 8 GiB in 43,980 us."""
    known = known_between("h100-sxm", 64, "InfiniBand SHARP")
    assert (known.like, known.other("h100-sxm")) == ("NVLSTree", True)
    assert known.time(8 * GiB) == pytest.approx(43.98e-3, rel=0.05)


# The wires


def test_no_constants_promise_more_than_the_wires_carry():
    """Of every fitted sweep inside a node, and over the nodes that the tables have."""
    for c in all_fitted():
        chips = {"a100-80gb-sxm": A100, "h100-sxm": H100, "b200-sxm": B200, "gb200-nvl72": RACK}
        if type(c).__name__ == "CollectiveConstants" and c.chip in chips and "nodes" not in c.software:
            n = max(c.ranks)
            time = nccl_time(c.chip, c.op, n, float(c.S_most), c.software)
            assert time > bound_time(chips[c.chip], c.op, n, c.S_most)


def test_a_ring_and_a_switch_bound_a_node_and_the_cards_several():
    S = 8 * GiB
    assert bound_time(A100, "all_reduce", 8, S) == pytest.approx(7 / 4 * S / A100.scaleup_bandwidth)
    assert bound_time(H100, "all_reduce", 8, S) == pytest.approx(9 / 8 * S / H100.scaleup_bandwidth)
    assert bound_time(H100, "all_reduce", 2, S) == pytest.approx(S / H100.scaleup_bandwidth)
    assert bound_time(H100, "all_reduce", 64, S) == pytest.approx(2 * 7 / 8 * S / H100.egress_bandwidth)
    assert bound_time(H100, "all_gather", 64, S) == pytest.approx(7 / 8 * S / H100.egress_bandwidth)
    assert bound_time(H100, "all_to_all", 16, S) == pytest.approx(8 / 2 * S / H100.egress_bandwidth)
    sharp = bound_time(H100, "all_reduce", 64, S, "InfiniBand SHARP")
    assert sharp == pytest.approx(9 / 8 * S / H100.scaleup_bandwidth)


def test_in_a_mesh_only_the_links_to_those_that_take_part_count():
    """Two of eight MI300X share one link; 47.671 of its 64 GB/s were measured (stas00/ml-engineering, 4 GiB)."""
    node = nodes["mi300x-node"]
    assert bound_time(node, "all_reduce", 2, 4 * GiB) == pytest.approx(4 * GiB / node.scaleup_bandwidth * 7)
    assert bound_time(node, "all_reduce", 2, 4 * GiB) < 4 * GiB / 47.671e9
    assert bound_time(node, "all_reduce", 8, 4 * GiB) == pytest.approx(7 / 4 * 4 * GiB / node.scaleup_bandwidth)


@pytest.mark.parametrize("key", ["mi300x-node", "mi355x-node", "hgx-h800", "dgx-h100"])
@pytest.mark.parametrize("op", ["all_gather", "all_to_all", "reduce_scatter"])
def test_what_was_not_measured_is_judged_by_nothing(key, op):
    node, n = nodes[key], 4 * nodes[key].chips
    verdict = judged(node, n, lambda S: 2 * bound_time(node, op, n, S), op=op)
    assert {row.verdict for row in verdict.rows} == {"unknown"}
    assert {row.regime for row in verdict.rows} == {"wires"}
    assert "unmeasured" in kinds(verdict)
    assert verdict.passed
    assert not verdict.judged


@pytest.mark.parametrize(("times", "impossible"), [(0.95, True), (1.0, False)])
def test_what_no_wire_carries_is_called_impossible(times, impossible):
    for op, node, n in (("all_to_all", H100, 32), ("all_reduce", H100, 8)):
        verdict = judged(node, n, lambda S, op=op, node=node, n=n: times * bound_time(node, op, n, S), op=op)
        assert ("impossible" in kinds(verdict)) == impossible
        assert verdict.judged != impossible or op == "all_to_all"


def test_what_timed_a_call_is_taken_from_the_log_or_given():
    time = lambda S: nccl_time("a100-80gb-sxm", "all_reduce", 8, S, "nccl-tests, one process")
    text = table([(2.0**k, time(2.0**k)) for k in range(15, 30)], 8)
    device = "#  Rank  0 Group  0 Pid {} on node0 device  0 [0x1b] NVIDIA A100-SXM4-80GB"
    one = "\n".join(device.format(7).replace("Rank  0", f"Rank  {rank}") for rank in range(8))
    many = "\n".join(device.format(7 + rank).replace("Rank  0", f"Rank  {rank}") for rank in range(8))
    assert (read_log(f"{one}\n{text}").processes, read_log(f"{many}\n{text}").processes) == (1, 8)
    assert not judge_log(read_log(f"{one}\n{text}"), A100).slow
    assert judge_log(read_log(f"{many}\n{text}"), A100).slow
    assert not judge_log(read_log(text), A100, software="nccl-tests, one process").slow
    with pytest.raises(LogError, match=re.escape("nccl-tests")):
        judge_log(read_log(text), A100, software="torch")


def test_a_collective_that_is_not_modelled_is_refused_by_its_name():
    log = read_log(table([(GiB, 0.01)], 8, "all_gather"))._replace(collective=None)
    with pytest.raises(LogError, match="'barrier'"):
        judge_log(log, H100, 8, "barrier")
    found = judge_log(log, H100, 8, "broadcast")
    assert (found.judged, {row.verdict for row in found.rows}) == (False, {"unknown"})
