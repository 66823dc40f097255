"""Reading and judging logs of nccl-tests: those that ship with chapter 6, damaged ones, and machines with one fault."""

from pathlib import Path

import pytest

from hwlib.calibrated import nccl_time, nodes_allreduce_time
from hwlib.calibrated.nccl_log import LogError, read_log
from hwlib.calibrated.nccl_verdict import judge_log
from hwlib.collectives import bus_factor
from hwlib.specs import nodes

FILES = Path(__file__).resolve().parents[2] / "solutions" / "06-collectives" / "files"
H100, A100 = nodes["dgx-h100"], nodes["dgx-a100"]
SIZES = [2**k for k in range(13, 34)]
HEADER = """\
# nThread 1 nGpus 1 minBytes 8192 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20
# Using devices
"""


def shipped(name):
    return (FILES / f"{name}.txt").read_text("utf-8")


def line(S, t, n, op="all_reduce", redop="sum", wrong="0"):
    half = f"{t * 1e6:.2f} {S / t / 1e9:.2f} {bus_factor(op, n) * S / t / 1e9:.2f} {wrong}"
    return f"{S:>12} {S // 4:>12} float {redop} -1 {half} {half}"


def typeset(time, n, sizes=SIZES, **more):
    return "\n".join(line(S, time(S), n, **more) for S in sizes)


def ring(S, n=8):
    return nccl_time("h100-sxm", "all_reduce", n, S, switch=False)


def kinds(verdict):
    return {cause.kind for cause in verdict.causes}


def test_a_published_log_of_one_node():
    log = read_log(shipped("a100-one-node"))
    assert (log.collective, log.n, len(log.rows)) == ("all_reduce", 8, 20)
    assert log.rows[-1].busbw == pytest.approx(234.89e9)
    found = judge_log(log, A100)
    assert {row.verdict for row in found.rows if row.S >= 2**26} == {"ok"}
    assert {row.verdict for row in found.rows if row.S <= 2**20} == {"slow"}
    assert {"slow-calls", "settings"} <= kinds(found)


def test_the_same_machine_well_and_badly_set():
    """Two published logs of two nodes of H100: one as the model has it, one up to twice as slow below 2 GiB."""
    good = judge_log(read_log(shipped("h100-two-nodes")), H100)
    bad = judge_log(read_log(shipped("h100-two-nodes-kubernetes")), H100)
    assert (good.n, good.hosts, good.network) == (16, 2, "EFA")
    assert len(good.slow) <= 1
    assert not kinds(good) & {"settings", "rails", "sockets"}
    assert len(bad.slow) >= 4
    assert "settings" in kinds(bad)


def test_a_machine_as_modelled_has_no_fault():
    found = judge_log(read_log(typeset(lambda S: nccl_time("h100-sxm", "all_reduce", 8, S), 8)), H100)
    assert not found.slow
    assert kinds(found) == {"algbw", "latency", "above-line-rate"}
    assert {row.regime for row in found.rows} == {"latency", "switch"}


def test_more_than_the_line_rate_is_the_switch():
    """The opening question of chapter 6: 480 GB/s printed over ports of 450."""
    found = judge_log(read_log(typeset(lambda S: nccl_time("h100-sxm", "all_reduce", 8, S), 8)), H100)
    assert all(row.busbw > 450e9 for row in found.rows for c in found.causes if row.S in c.sizes and "line" in c.kind)


@pytest.mark.parametrize(
    ("time", "n", "kind"),
    [
        (ring, 8, "no-nvls"),
        (lambda S: 3e-5 + 1.75 * S / 22e9, 8, "pcie"),
        (lambda S: 3e-5 + 1.75 * S / 120e9, 8, "unknown"),
        (lambda S: nodes_allreduce_time("h100-sxm", 32, S, "NVLSTree") / (7 / 8), 32, None),
        (lambda S: nodes_allreduce_time("h100-sxm", 32, S, "NVLSTree") / (6 / 8), 32, "rails"),
        (lambda S: nodes_allreduce_time("h100-sxm", 32, S, "NVLSTree") / (4 / 8), 32, "rails"),
        (lambda S: nodes_allreduce_time("h100-sxm", 32, S, "NVLSTree") / 0.05, 32, "sockets"),
    ],
    ids=["no NVLS", "PCIe", "neither", "7 of 8 NICs?", "6 of 8 NICs", "4 of 8 NICs", "TCP"],
)
def test_one_fault_is_named(time, n, kind):
    found = judge_log(read_log(typeset(time, n)), H100)
    named = kinds(found) & {"no-nvls", "pcie", "unknown", "rails", "sockets"}
    assert named == ({kind} if kind else named)


def test_one_slow_size_is_a_dip():
    def time(S):
        return nccl_time("h100-sxm", "all_reduce", 8, S) * (1.6 if S == 2**28 else 1)

    found = judge_log(read_log(typeset(time, 8)), H100)
    assert [cause.sizes for cause in found.causes if cause.kind == "dip"] == [(2**28,)]


def test_sizes_that_show_no_bandwidth():
    found = judge_log(read_log(typeset(ring, 8, SIZES[:4])), H100)
    assert "too-small" in kinds(found)


def test_false_results_are_told_first():
    found = judge_log(read_log(typeset(ring, 8, wrong="12")), H100)
    assert found.causes[0].kind == "wrong-results"


def test_columns_of_another_number_of_ranks():
    found = judge_log(read_log(typeset(ring, 8)), H100)
    assert "columns" not in kinds(found)
    log = read_log(typeset(ring, 4))._replace(n=8)
    assert "columns" in kinds(judge_log(log, H100))


def test_header_launcher_and_average():
    devices = "\n".join(
        f"#  Rank {r:2} Group  0 Pid  77{r} on  node{r // 8} device  {r % 8} [0x1b] NVIDIA H100 80GB HBM3"
        for r in range(16)
    )
    table = typeset(lambda S: nodes_allreduce_time("h100-sxm", 16, S, "NVLSTree"), 16)
    text = "\n".join(f"[1,0]<stdout>:{one}" for one in f"{table}\n# Avg bus bandwidth    : 120.5".splitlines())
    log = read_log(f"{HEADER}{devices}\n{text}")
    assert (log.n, log.hosts, log.gpu, log.average) == (16, 2, "NVIDIA H100 80GB HBM3", 120.5e9)
    assert [row.S for row in log.rows] == SIZES
    assert "average" in kinds(judge_log(log, H100))


def test_old_columns_without_a_root():
    row = "1073741824 268435456 float sum 3859.0 278.24 486.92 4e-07 3859.0 278.24 486.92 4e-07"
    assert read_log(row).rows[0].time == pytest.approx(3.859e-3)


def test_other_collectives_are_named_by_the_command():
    table = typeset(lambda S: nccl_time("h100-sxm", "all_gather", 8, S), 8, op="all_gather", redop="none")
    assert read_log(table).collective is None
    with pytest.raises(LogError, match="collective"):
        judge_log(read_log(table), H100, n=8)
    found = judge_log(read_log(f"# all_gather_perf -b 8K -e 8G\n{table}"), H100, n=8)
    assert found.collective == "all_gather"
    assert not found.slow


@pytest.mark.parametrize(
    "text",
    ["", "hello\nworld", shipped("a100-one-node").replace("float", "12"), "0 0 float", "# only a header"],
    ids=["nothing", "prose", "a column changed", "cut off", "header"],
)
def test_text_that_is_no_table(text):
    with pytest.raises(LogError, match="row of nccl-tests"):
        read_log(text)


def test_a_row_that_contradicts_itself():
    damaged = shipped("a100-one-node").replace("127997", "12799")
    with pytest.raises(LogError, match=r"line \d+: 17179869184 bytes"):
        read_log(damaged)
    with pytest.raises(LogError, match="above 0 us"):
        read_log("1024 256 float sum -1 0.00 0.00 0.00 0")
    with pytest.raises(LogError, match="several"):
        read_log(f"# all_reduce_perf\n# all_gather_perf\n{typeset(ring, 8)}")


@pytest.mark.parametrize(
    ("node", "more", "message"),
    [
        ("dgx-h100", {"n": 4}, "the log says 8"),
        ("mi300x-node", {}, "mi300x"),
        ("dgx-h100", {"collective": "all_gather"}, "the log says all_reduce"),
    ],
)
def test_what_does_not_fit_the_machine(node, more, message):
    with pytest.raises(LogError, match=message):
        judge_log(read_log(typeset(ring, 8)), nodes[node], **more)


def test_unknown_networks_and_ranks_that_fill_no_node():
    text = typeset(lambda S: nodes_allreduce_time("h100-sxm", 16, S, "EFA"), 16)
    with pytest.raises(LogError, match="network"):
        judge_log(read_log(text), H100, network="carrier pigeons")
    with pytest.raises(LogError, match="several nodes"):
        judge_log(read_log(text), A100)
    with pytest.raises(LogError, match="fill"):
        judge_log(read_log(typeset(ring, 12)), H100)
    with pytest.raises(LogError, match="at least 2"):
        judge_log(read_log(typeset(ring, 8))._replace(n=1), H100)
    with pytest.raises(LogError, match="hosts"):
        judge_log(read_log(typeset(ring, 2))._replace(n=2, hosts=2), H100)
