"""What `gpubook bandwidth` answers to logs as people paste them, by kinds of verdicts and causes."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from hwlib.calibrated.nccl_answer import answer
from hwlib.calibrated.nccl_bound import bound_time
from hwlib.calibrated.nccl_machine import described_machine, partly_full
from hwlib.calibrated.nccl_settings import settings_of
from hwlib.calibrated.nccl_table import LogError
from hwlib.collectives import bus_factor
from hwlib.specs import nodes
from tests.hostile import damaged, reads

LOGS = {path.stem: path.read_text("utf-8") for path in (Path(__file__).parent / "data/nccl_logs").glob("*.txt")}
GiB = 2**30


def kinds(record):
    return {cause["kind"] for cause in record["causes"]}


def verdicts(record):
    return {row["verdict"] for row in record["rows"]}


@pytest.mark.parametrize(
    ("name", "certified", "n", "rows", "causes"),
    [
        ("tagged_a100", True, 8, {"ok"}, set()),
        ("old_long_time", True, 8, {"ok"}, set()),
        ("nompi_two_rank0", False, 1, {"unknown"}, {"no-mpi"}),
        ("wrong_inplace", False, 8, {"wrong", "ok"}, {"wrong-results"}),
        ("h100nvl", False, 8, {"unknown"}, {"no-machine"}),
        ("b200_2nodes_ib", False, 16, {"unknown"}, {"unmeasured"}),
        ("two_nodes_one_gpu", False, 2, {"unknown"}, {"unmeasured", "one-nic"}),
        ("rtx4090_8", False, 8, {"unknown"}, {"unmeasured", "tree-forced"}),
        ("rccl_broadcast", False, 0, {"unknown"}, {"no-machine"}),
        ("hdr_96", False, 24, {"unknown"}, {"no-machine", "cards"}),
    ],
)
def test_logs_of_the_field_have_their_answer(name, certified, n, rows, causes):
    found = answer(LOGS[name])
    assert (found.certified, found.record["n"]) == (certified, n)
    assert verdicts(found.record) == rows
    assert causes <= kinds(found.record)
    json.dumps(found.record, allow_nan=False)


def test_bandwidths_of_the_field_are_as_printed():
    tagged, old = (answer(LOGS[name]).record["rows"] for name in ("tagged_a100", "old_long_time"))
    assert [(row["S"], row["busbw"]) for row in tagged] == [(GiB // 4, 225.80e9), (GiB, 229.43e9)]
    assert [(row["S"], row["busbw"]) for row in old] == [(GiB, 229.43e9), (4 * GiB, 231.91e9)]


def test_the_first_line_says_what_was_not_measured():
    assert "over EFA" in answer(LOGS["b200_2nodes_ib"]).text.splitlines()[0]
    assert "over InfiniBand" in answer(LOGS["b200_2nodes_ib"]).text.splitlines()[0]
    assert "bridges" in answer(LOGS["h100nvl"]).text


@pytest.mark.parametrize(
    ("name", "machine", "hosts", "busbw"),
    [
        ("rtx4090_8", "1x8 rtx-4090, node 25 GB/s", 1, 25e9),
        ("two_nodes_one_gpu", "2x1 h100-sxm, network 400 Gbit/s", 2, 50e9),
        ("h100nvl", "1x8 h100-nvl, node 200 GB/s", 1, 200e9),
        ("hdr_96", "3x8 a100-80gb-sxm, network 800 Gbit/s", 3, 100e9 * 23 / 24 / (2 / 3)),
    ],
)
def test_a_described_machine_bounds_a_log(name, machine, hosts, busbw):
    record = answer(LOGS[name], machine).record
    assert (record["hosts"], record["judged"]) == (hosts, False)
    assert record["rows"][-1]["expected_busbw"] == pytest.approx(busbw, rel=0.07)


@pytest.mark.parametrize(
    ("line", "n", "hosts", "chips"),
    [
        ("2x1 rtx-5090, network 200 Gbit/s", 2, 2, 1),
        ("4xdgx-h100", 32, 4, 8),
        ("2x4 h100-sxm", 8, 2, 4),
        ("1x4 h100-sxm", 4, 1, 8),
        ("2x8 b200-sxm, network 100 GB/s", 16, 2, 8),
        ("1x16 trainium3, node 300 GB/s", 16, 1, 16),
        ("9x gb200-nvl72", 648, 9, 72),
        ("dgx-h100", None, None, 8),
    ],
)
def test_machines_are_described_as_to_the_planner(line, n, hosts, chips):
    machine = described_machine(line)
    assert (machine.n, machine.hosts, machine.node.chips) == (n, hosts, chips)


def test_rates_of_a_line_come_before_those_of_the_tables():
    node = described_machine("2x8 h100-sxm, node 100 GB/s, network 200 GB/s").node
    assert (node.scaleup_bandwidth, node.egress_bandwidth) == (100e9, 200e9)
    assert described_machine("2x8 h100-sxm, network 400 GB/s").node is nodes["dgx-h100"]
    assert described_machine("2x1 rtx-5090").node.egress_bandwidth == nodes["rtx-5090-server"].pcie_bandwidth


def test_a_part_of_a_node_has_a_part_of_its_links():
    mesh = partly_full(nodes["mi300x-node"], 4)
    assert mesh.scaleup_bandwidth == pytest.approx(3 / 7 * nodes["mi300x-node"].scaleup_bandwidth)
    few = partly_full(nodes["dgx-h100"], 2)
    assert few.egress_bandwidth == pytest.approx(2 * nodes["dgx-h100"].pcie_bandwidth)
    assert partly_full(nodes["dgx-h100"], 8) is nodes["dgx-h100"]
    pair = nodes["h100-nvl-pair"]
    assert partly_full(pair, 2).egress_bandwidth == pytest.approx(2 * pair.pcie_bandwidth)  # whatever cards there are


@pytest.mark.parametrize(
    "line", ["abacus", "2xabacus", "1x8 h100-nvl", "1x16 trainium3", "trainium3", "2 x", "1x8 abacus"]
)
def test_machines_that_nobody_knows_are_refused(line):
    with pytest.raises(ValueError, match=line.split()[-1].removeprefix("2x")):
        described_machine(line)


def table(n, collective, times, test="", redop="sum", before=""):
    name = test or collective
    lines = [f"$ {before}{name}_perf -b 8"]
    for S, time in times:
        rate = S / time / 1e9
        half = f"{time * 1e6:.3f} {rate:.4f} {bus_factor(collective, n) * rate:.4f} 0"
        lines.append(f"{S} {S // 4} float {redop} -1 {half} {half}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("test", "collective", "inside", "between"),
    [
        ("broadcast", "broadcast", 1, 1),
        ("reduce", "reduce", 1, 1),
        ("gather", "gather", 7 / 8, 1 / 2),
        ("scatter", "scatter", 7 / 8, 1 / 2),
        ("sendrecv", "send", 1, 1),
        ("alltoall", "all_to_all", 7 / 8, 4),
        ("alltoallv", "all_to_all", 7 / 8, 4),
        ("hypercube", "all_gather", 7 / 8, 1 / 2),
    ],
)
def test_every_test_is_held_against_its_wires(test, collective, inside, between):
    a100 = nodes["dgx-a100"]
    assert bound_time(a100, collective, 8, GiB) == pytest.approx(inside * GiB / 300e9)
    near = inside * GiB / 300e9
    assert bound_time(a100, collective, 16, GiB) == pytest.approx(max(near, between * GiB / 200e9), rel=1e-6)
    slow = table(8, collective, [(GiB, GiB / 100e9)], test)
    record = answer(slow, "dgx-a100", 8).record
    assert record["collective"] == collective
    if test != "alltoall":
        assert (record["judged"], verdicts(record)) == (False, {"unknown"})
    fast = answer(table(8, collective, [(GiB, GiB / 900e9)], test), "dgx-a100", 8)
    assert "impossible" in kinds(fast.record)
    assert not fast.certified


def test_some_of_each_node_are_no_full_nodes():
    text = table(8, "all_reduce", [(GiB, GiB / 60e9)])
    part, full = answer(text, "2x4 h100-sxm").record, answer(text, "1x8 h100-sxm").record
    assert (part["hosts"], part["judged"]) == (2, False)
    assert (full["hosts"], full["judged"]) == (1, True)


@pytest.mark.parametrize(
    ("rates", "falls"), [([100, 110, 90], True), ([100, 110, 95], False), ([100, 90, 110], False), ([110], False)]
)
def test_a_bandwidth_that_falls_is_named(rates, falls):
    times = [(GiB << i, (GiB << i) / rate / 1e9) for i, rate in enumerate(rates)]
    assert ("falls" in kinds(answer(table(8, "all_reduce", times)).record)) == falls


@pytest.mark.parametrize(
    ("text", "hosts", "kind"),
    [
        ("NCCL_ALGO=Ring all_reduce_perf", 4, "ring-forced"),
        ("NCCL INFO NCCL_ALGO set by environment to RING", 4, "ring-forced"),
        ("NCCL_ALGO=Ring", 1, None),
        ("NCCL_ALGO=Tree", 1, "tree-forced"),
        ("NCCL_ALGO=Tree", 4, None),
        ("-x NCCL_PXN_DISABLE=1", 2, "pxn-off"),
        ("-x NCCL_PXN_DISABLE=0", 2, None),
        ("NCCL_P2P_DISABLE=1", 1, "p2p-off"),
        ("NCCL_IB_HCA=mlx5_0", 2, "one-nic"),
        ("NCCL_IB_HCA==mlx5_0:1", 2, "one-nic"),
        ("NCCL_IB_HCA=mlx5", 2, None),
        ("NCCL_IB_HCA=^mlx5_0", 2, None),
        ("NCCL_IB_HCA=mlx5_0,mlx5_1", 2, None),
        ("NCCL_IB_HCA=mlx5_0", 1, None),
        ("NCCL_IB_DISABLE=1", 2, "sockets"),
        ("NCCL_PROTO=LL", 2, "protocol-forced"),
        ("NCCL_PROTO=Simple", 2, None),
        ("NCCL_NVLS_ENABLE=0", 1, "nvls-off"),
    ],
)
def test_settings_that_cost_are_named(text, hosts, kind):
    assert [cause.kind for cause in settings_of(text, hosts, 8 * hosts)] == [kind] * (kind is not None)


def test_one_card_is_named_where_the_description_allows_it():
    for network, named in (("400 GB/s", True), ("200 Gbit/s", False)):
        record = answer(LOGS["two_nodes_one_gpu"], f"2x1 h100-sxm, network {network}").record
        assert ("one-nic" in kinds(record)) == named


def test_answers_to_damaged_logs_end_in_an_answer_or_a_sentence():
    for text in LOGS.values():
        for cut in (text[: len(text) // 2], text.replace("0", "9"), "-" * 100_000 + text, text.replace(" ", "  ")):
            reads(lambda log: answer(log).text, cut)


FILES = ['{"results": [{"size": 8, "out_of_place": {"time": 1}}]}', '[{"size": 8, "time": 1, "algBw": 1, "busBw": 0}]']


@settings(max_examples=30, deadline=None)
@given(damaged([*LOGS.values(), *FILES]))
def test_any_text_ends_in_an_answer_or_a_sentence(text):
    reads(lambda log: answer(log).text, text)
    reads(lambda log: json.dumps(answer(log, "2x1 rtx-5090, network 200 Gbit/s").record, allow_nan=False), text)


@pytest.mark.nightly
@settings(max_examples=10_000, deadline=None)
@given(damaged([*LOGS.values(), *FILES]))
def test_any_of_ten_thousand_texts_ends_in_an_answer_or_a_sentence(text):
    reads(lambda log: answer(log).text, text)


def test_errors_are_those_of_logs():
    with pytest.raises(LogError, match="row of nccl-tests"):
        answer("not a log")
