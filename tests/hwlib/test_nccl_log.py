"""Reading and judging logs of nccl-tests: those that ship with chapter 6, damaged ones, and machines with one fault."""

import re
from pathlib import Path

import pytest

from hwlib.calibrated import nccl_time, nodes_allreduce_time
from hwlib.calibrated.nccl_log import LogError, read_log
from hwlib.calibrated.nccl_machine import logged_node
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
    assert {row.verdict for row in found.rows} == {"wrong"}
    assert "too-small" not in kinds(found)


def as_modelled(S):
    return nccl_time("h100-sxm", "all_reduce", 8, S)


@pytest.mark.parametrize("half", [0, 1])
def test_a_row_with_wrong_values_is_not_certified(half):
    good, bad = (line(2**33, as_modelled(2**33), 8, wrong=wrong).split() for wrong in ("0", "3"))
    cut = 9 if half else 5
    mixed = " ".join(good[:cut] + bad[cut : cut + 4] + good[cut + 4 :])
    text = f"{typeset(as_modelled, 8, SIZES[:-1])}\n{mixed}\n# Out of bounds values : 1 FAILED"
    found = judge_log(read_log(text), H100)
    assert {row.S for row in found.rows if row.verdict == "wrong"} == {2**33}
    assert [cause.sizes for cause in found.causes if cause.kind == "wrong-results"] == [(2**33,)]
    assert not found.passed
    assert judge_log(read_log(typeset(as_modelled, 8)), H100).passed


def test_a_failed_end_without_a_wrong_row_certifies_nothing():
    text = typeset(as_modelled, 8)
    assert judge_log(read_log(f"{text}\n# Out of bounds values : 0 OK"), H100).passed
    found = judge_log(read_log(f"{text}\n# Out of bounds values : 2 FAILED"), H100)
    assert {row.verdict for row in found.rows} == {"wrong"}
    assert not found.passed


def test_what_was_not_checked_is_said_and_no_fault():
    found = judge_log(read_log(typeset(as_modelled, 8, wrong="N/A")), H100)
    assert found.passed
    assert found.causes[0].kind == "unchecked"
    assert "unchecked" not in kinds(judge_log(read_log(typeset(as_modelled, 8)), H100))


def test_slow_and_cut_rows_do_not_pass():
    assert not judge_log(read_log(typeset(ring, 8)), H100).passed
    assert judge_log(read_log(typeset(lambda S: as_modelled(S) / 2, 8)), H100).passed  # faster than expected
    cut = judge_log(read_log(f"{typeset(as_modelled, 8)}\n  64 16 float sum -1"), H100)
    assert (cut.unread, cut.passed) == ((len(SIZES) + 1,), False)
    assert "unread" in kinds(cut)


def test_rows_of_no_bytes_are_not_judged():
    nothing = "0 0 float sum -1 4.1 0.00 0.00 0 4.1 0.00 0.00 0"
    found = judge_log(read_log(f"{nothing}\n{typeset(as_modelled, 8)}"), H100)
    assert found.passed
    assert "empty" in kinds(found)
    assert "empty" not in kinds(judge_log(read_log(typeset(as_modelled, 8)), H100))
    with pytest.raises(LogError, match="size"):
        judge_log(read_log(nothing), H100, 8, "all_reduce")


def test_two_decimals_of_little_bandwidth_tell_no_ranks():
    """1.00 GB/s is the most that is not divided by."""
    few, enough = "1000000 250000 float sum -1 1000 1.00 1.75 0", "1010000 252500 float sum -1 1000 1.01 1.77 0"
    assert (read_log(few).collective, read_log(few).n) == (None, None)
    assert read_log(enough).collective == "all_reduce"


def test_a_bandwidth_without_a_time_is_no_reason_to_divide():
    rows = "1048576 1 float sum -1 1e6 0.00 900 0\n8589934592 1 float sum -1 31320 274.26 100 0"
    assert "columns" in kinds(judge_log(read_log(rows), H100, n=8))


def devices(*names):
    return "\n".join(f"#  Rank {k} Group 0 Pid 7 on node0 device {k} [0x1b] {name}" for k, name in enumerate(names))


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("NVIDIA A100-SXM4-80GB", "dgx-a100"),
        ("A100-SXM4-40GB", "dgx-a100"),
        ("nvidia  h100 80GB  HBM3", "dgx-h100"),
        ("NVIDIA H200", "dgx-h200"),
        ("NVIDIA B200", "dgx-b200"),
        ("NVIDIA B300 SXM6 AC", "dgx-b300"),
        ("NVIDIA GB200", "gb200-nvl72"),
        ("NVIDIA GB300", "gb300-nvl72"),
        ("NVIDIA H100 NVL", "h100-nvl-pair"),
        ("NVIDIA H100 PCIe", "h100-pcie-pair"),
        ("NVIDIA H200 NVL", "h200-nvl-quad"),
        ("NVIDIA GH200 480GB", "gh200-quad"),
        ("NVIDIA GH200 120GB", "gh200-quad"),
        ("NVIDIA A100-PCIE-40GB", "a100-40gb-pcie-server"),
        ("NVIDIA H20", "hgx-h20"),
        ("NVIDIA H800", "hgx-h800"),
        ("NVIDIA A800-SXM4-80GB", "hgx-a800"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090-server"),
        ("NVIDIA GB10", "gb10-pair"),
        ("Tesla V100-SXM2-32GB", "dgx-1-v100"),
        ("AMD Instinct MI300X", "mi300x-node"),
    ],
)
def test_machines_of_names_that_logs_print(name, node):
    assert logged_node(read_log(f"{devices(name)}\n{typeset(ring, 8)}").gpu).key == node


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA H100 64GB",
        "NVIDIA H100 NVL MIG 1g.12gb",
        "NVIDIA H20-3e",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "H100 80GB HBM3 MIG 1g.10gb",
        "NVIDIA A100-SXM4-80GB MIG 3g.40gb",
        "NVIDIA A100-SXM-64GB",
        "GRID A100X-40C",
        "NVIDIA H100",
        "NVIDIA B200 NVL",
        "H100 80GB HBM",
        "NVIDIA",
    ],
)
def test_names_that_only_begin_alike_are_not_guessed(name):
    with pytest.raises(LogError, match=re.escape(repr(name))):
        logged_node(read_log(f"{devices(name)}\n{typeset(ring, 8)}").gpu)


def test_several_names_are_not_one_machine():
    log = read_log(f"{devices('NVIDIA H100 80GB HBM3', 'NVIDIA H100 NVL')}\n{typeset(ring, 2)}")
    with pytest.raises(LogError, match="NVL"):
        logged_node(log.gpu)
    with pytest.raises(LogError, match="does not name"):
        logged_node("")


@pytest.mark.parametrize(
    ("name", "node", "another"),
    [
        ("NVIDIA A100-SXM4-80GB", A100, False),
        ("NVIDIA A100-SXM4-40GB", A100, True),
        ("NVIDIA H100 80GB HBM3", H100, False),
        ("NVIDIA H100 NVL", H100, True),
        ("", H100, False),
    ],
)
def test_constants_of_another_gpu_are_named(name, node, another):
    log = read_log(typeset(ring, 8))._replace(gpu=name)
    assert ("machine" in kinds(judge_log(log, node))) == another


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
        ("mi300x-node", {"software": "torch"}, "mi300x"),
        ("dgx-h100", {"collective": "all_gather"}, "the log says all_reduce"),
    ],
)
def test_what_does_not_fit_the_machine(node, more, message):
    with pytest.raises(LogError, match=message):
        judge_log(read_log(typeset(ring, 8)), nodes[node], **more)


@pytest.mark.parametrize(("hosts", "network"), [(4, None), (4, "Ethernet"), (4, "InfiniBand"), (None, None)])
def test_nodes_without_cards_in_the_tables_are_held_against_their_links(hosts, network):
    """Nobody says what joins four pairs: the least time is that of the bridges, and no row is judged."""
    log = read_log(typeset(ring, 8))._replace(gpu="NVIDIA H100 NVL", hosts=hosts)
    found = judge_log(log, logged_node(log.gpu), network=network)
    assert (found.network, found.hosts, found.judged) == (network or "", 4, False)


@pytest.mark.parametrize(("name", "n"), [("NVIDIA H100 NVL", 8), ("NVIDIA H200 NVL", 8), ("NVIDIA L4", 16)])
def test_a_host_of_more_gpus_than_a_machine_has_is_not_several_machines(name, n):
    node = logged_node(name)
    table = typeset(lambda S: S / 1e11, n)
    with pytest.raises(LogError, match=rf"n \(ranks\): .* {n} on one host, .* {node.key} "):
        judge_log(read_log(table)._replace(gpu=name, hosts=1), node, n)
    fits = judge_log(read_log(typeset(lambda S: S / 1e11, node.chips))._replace(gpu=name, hosts=1), node, node.chips)
    assert fits.hosts == 1


def test_unknown_networks_and_ranks_that_fill_no_node():
    text = typeset(lambda S: nodes_allreduce_time("h100-sxm", 16, S, "EFA"), 16)
    with pytest.raises(LogError, match="network"):
        judge_log(read_log(text), H100, network="carrier pigeons")
    assert not judge_log(read_log(text), A100).judged
    with pytest.raises(LogError, match="fill"):
        judge_log(read_log(typeset(ring, 12)), H100)
    with pytest.raises(LogError, match="at least 2"):
        judge_log(read_log(typeset(ring, 8))._replace(n=1), H100)


def rooted(redop, root, ratio=1.0, checked="0", sizes=(2**20, 2**24, 2**28)):
    """A table of a command that is not named, with a column of roots; `checked` is #wrong in place."""
    halves = [f"{1e6 * S / 100e9:.2f} 100.00 {100 * ratio:.2f}" for S in sizes]
    rows = zip(sizes, halves, strict=True)
    return "\n".join(f"{S:>12} {S // 4:>12} float {redop} {root} {half} 0 {half} {checked}" for S, half in rows)


@pytest.mark.parametrize(
    ("redop", "root", "ratio", "checked", "collective"),
    [
        ("sum", -1, 1.75, "0", "all_reduce"),
        ("sum", -1, 1.0, "0", "all_reduce"),  # of two ranks
        ("sum", -1, 0.875, "0", "reduce_scatter"),
        ("sum", 0, 1.0, "0", "reduce"),
        ("max", 3, 1.0, "0", "reduce"),
        ("none", 0, 1.0, "0", None),  # broadcast, gather or scatter
        ("sum", -1, 1.0, "N/A", None),  # as the test of messages prints it: an all-reduce is checked in both halves
        ("sum", -1, 0.875, "N/A", None),
    ],
)
def test_a_table_without_a_command_is_named_by_what_it_shows(redop, root, ratio, checked, collective):
    assert read_log(rooted(redop, root, ratio, checked)).collective == collective


def test_a_table_with_no_result_checked_is_named_by_its_bandwidths():
    """With -c 0 neither half is checked, which tells nothing of what ran."""
    text = "\n".join(re.sub(r" 0(?= |$)", " N/A", line) for line in rooted("sum", -1, 1.75).splitlines())
    assert text.count("N/A") == 2 * len(text.splitlines())
    assert read_log(text).collective == "all_reduce"


def test_a_reduce_is_not_judged_as_an_all_reduce():
    log = read_log(rooted("sum", 0))
    assert log.n is None  # a reduce's two bandwidths are the same for any number of ranks
    verdict = judge_log(log, A100, n=8)
    assert verdict.collective == "reduce"
    assert {row.verdict for row in verdict.rows} == {"unknown"}


LISTING = "$ ls build\nall_gather_perf all_reduce_perf alltoall_perf broadcast_perf reduce_scatter_perf sendrecv_perf\n"


@pytest.mark.parametrize(
    ("before", "collective"),
    [
        (LISTING + "$ ./build/reduce_scatter_perf -b 1M -e 256M -g 8\n", "reduce_scatter"),
        (LISTING + "# Collective test starting: sendrecv_perf\n", "send"),
        ("Linking reduce_perf\nLinking all_reduce_perf\n$ mpirun -np 8 all_gather_perf -b 8\n", "all_gather"),
    ],
)
def test_the_test_that_ran_is_told_from_those_that_a_text_lists(before, collective):
    assert read_log(before + rooted("sum", -1)).collective == collective


@pytest.mark.parametrize("before", [LISTING, "$ reduce_perf -b 8\n$ all_gather_perf -b 8\n"])
def test_a_text_that_names_several_tests_and_does_not_say_which_ran_is_refused(before):
    with pytest.raises(LogError, match="several"):
        read_log(before + rooted("sum", -1))


@pytest.mark.parametrize(("text", "words"), [("a", "1 line without"), ("a\nb", "2 lines without")])
def test_lines_without_a_row_are_counted_in_words(text, words):
    with pytest.raises(LogError, match=words):
        read_log(text)
