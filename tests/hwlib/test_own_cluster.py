"""Clusters of one's own: five that are described by hand, and what a description may not say."""

import pickle
import re
from pathlib import Path

import pytest

from hwlib.planner import Allowed, PlanError, SoftwareSettings, machine_of, plan
from hwlib.planner.task import task_of
from hwlib.serving_planner import plan_serving
from hwlib.serving_planner.layouts import Layout, server_of
from hwlib.specs import Level, SpecError, Stack, described, levels_of, nodes, read_cluster, stack_for
from hwlib.specs.serving_stack import USUAL, serving_stacks
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.units import GB
from tests.conftest import ROOT
from tests.each import each

FILES = Path(__file__).parent / "data" / "clusters"
LAB = (FILES / "lab.toml").read_text("utf-8")
CHIP = "name = 'Mine', memory = '80 GB', memory_bandwidth = '2 TB/s', bf16 = '300 TFLOP/s'"
SIMPLE = Allowed(cp=1, pp=1, micro=1, zero=1, schedule="1f1b", recompute="none")


@each(
    "case",
    [
        ("lab", 32, [(8, 300), (4, 12.5)]),
        ("nvl72", 144, [(72, 900), (2, 3600)]),
        ("h800", 64, [(8, 200), (4, 400), (2, 800)]),
        ("mi300x", 16, [(8, 448), (2, 400)]),
    ],
)
def test_a_cluster_described_by_hand_has_its_levels_and_a_plan(case):
    name, gpus, levels = case
    machine = machine_of(str(FILES / f"{name}.toml"))
    assert machine.gpus == gpus
    assert [(one.size, one.bandwidth / GB) for one in machine.levels] == levels
    few = 64 if gpus == 144 else gpus
    found = plan("llama3-8b", str(FILES / f"{name}.toml"), B=2**20, gpus=few, allowed=SIMPLE, count=1)
    assert 0.1 < found[0].mfu < 1
    served = plan_serving("llama3-8b", str(FILES / f"{name}.toml"), prompt=1024, output=256, gpus=few, apart=False)
    best = served[0]
    server = server_of(served.question, Layout(*best.plan.decode[:3]))
    assert best.tpot > server.weight_bytes() / machine.chip.hbm_bandwidth
    assert bool(served.question.caveat) == (name == "mi300x")


@each(
    "case",
    [
        (str(FILES / "tpu-v5p.toml"), [(128, 540)]),
        ("tpu-v5p-pod", [(8960, 540)]),
        ("32 x tpu-v5p-host", [(128, 540)]),
        ("4x8 tpu-v5e", [(32, 180)]),
        ("1x256 tpu-v5e", [(256, 180)]),
        ("32x4 tpu-v5p, network 200 Gbit/s", [(4, 540), (32, 25)]),
        ("4 x trn2-instance", [(16, 512), (4, 400)]),
    ],
)
def test_a_slice_of_a_torus_is_one_node_with_all_links_of_a_chip(case):
    where, levels = case
    machine = machine_of(where)
    assert [(one.size, one.bandwidth / GB) for one in machine.levels] == levels
    assert machine.torus
    assert not machine_of("dgx-h100").torus


def test_a_torus_is_planned_on_and_said_to_be_timed_by_a_bound():
    found = plan("llama3-8b", "32 x tpu-v5p-host", B=2**20, allowed=SIMPLE, count=1)
    assert found[0].gpus == 128
    as_switch = plan("llama3-8b", "1x128 tpu-v5p, node 540 GB/s", B=2**20, allowed=SIMPLE, count=1)
    assert found[0].seconds == as_switch[0].seconds
    served = plan_serving("llama3-8b", "1x128 tpu-v5p", prompt=1024, output=256, fixed={"tp": (1,)}, apart=False)
    assert served[0].plan.gpus == 128
    assert all("torus" in caveat for caveat in (found.task.caveat, served.question.caveat))
    assert "torus" not in as_switch.task.caveat


@each("where", ["1x512 tpu-v5e", "64 x tpu-v5e-host", "3x256 tpu-v5e"])
def test_a_torus_has_no_more_chips_than_its_pod_and_several_need_a_network(where):
    with pytest.raises(PlanError, match=r"at most 256 chips|network missing") as caught:
        machine_of(where)
    assert caught.value.field == "cluster"
    assert machine_of("3x256 tpu-v5e, network 400 Gbit/s").gpus == 768


H100 = """nodes = 1
chips = 8
node_bandwidth = "450 GB/s"
[chip]
name = "Mine"
memory = "80 GB"
memory_bandwidth = "3.35 TB/s"
bf16 = "989.4 TFLOP/s"
fp8 = "1978.9 TFLOP/s"
"""


def test_a_chip_without_a_fit_is_served_as_an_h100_that_had_its_rates(tmp_path):
    """Of one with the H100's own figures the same is said, to the last digit, as of an H100 by the same typical
    constants; with half of its memory's rate, less.
    """
    asked = {"prompt": 1024, "output": 256, "fixed": {"tp": (1, 4)}, "apart": False, "dtype": "fp8"}
    typical = serving_stacks[USUAL].typical("h100-sxm")
    found = [plan_serving("llama3-8b", "dgx-h100", **asked, stack=typical)]
    for text in (H100, H100.replace("3.35", "1.675"), H100.replace('"450', '"45')):
        (tmp_path / "own.toml").write_text(text, "utf-8")
        found.append(plan_serving("llama3-8b", str(tmp_path / "own.toml"), **asked))
    theirs, same, slower, apart = found
    assert [(point.tpot, point.requests) for point in same.found.points] == [
        (point.tpot, point.requests) for point in theirs.found.points
    ]
    assert slower[0].gpu_rate < theirs[0].gpu_rate
    fours = [next(point for point in one if point.plan.decode.tp == 4) for one in (theirs, apart)]
    assert fours[1].gpu_rate < 0.9 * fours[0].gpu_rate
    usual = plan_serving("llama3-8b", "dgx-h100", **asked)
    assert [one.question.stack.key for one in (usual, same)] == ["tensorrt-llm-1.1", "typical-own-mine"]
    for said in (same.table(), same.explain(), same.json()["caveat"], same.json()["stack"]):
        assert "typical" in said
    assert same.json()["fitted"] == []
    assert usual.json()["caveat"] is None


def test_a_line_says_what_a_file_says():
    line = machine_of("4x8 a100-sxm-80gb, node 300 GB/s, network 100 Gbit/s, price 1.8")
    assert line._replace(name="") == machine_of(str(FILES / "lab.toml"))._replace(name="")
    assert line.price == pytest.approx(1.8 / 3600)
    assert (
        line.levels
        == levels_of("4x8 a100-80gb-sxm, network 100Gbps")
        == machine_of("4 x 8 A100 SXM 80GB, network 12.5 GB/s").levels
    )
    assert machine_of("2 x gb200-nvl72, network 72x400 Gbit/s").levels == machine_of("2 x gb200-nvl72").levels
    node = nodes["dgx-h100"]
    two = machine_of("2 x dgx-h100, oversubscription 2, host 50 GB/s")
    assert two.levels == (Level("node", 8, 450 * GB), Level("network", 2, 200 * GB))
    assert (two.host, machine_of("2xdgx-h100").host) == (50 * GB, node.to_host_bandwidth)
    assert machine_of(read_cluster(FILES / "lab.toml")) == machine_of(str(FILES / "lab.toml"))
    assert machine_of("1x8 h100-sxm").levels == machine_of("dgx-h100").levels


def test_an_upper_level_carries_its_nodes_share_over_the_oversubscription(tmp_path):
    network = (
        '[[network]]\nsize = 4\nbandwidth = "400 GB/s"\n[[network]]\nname = "hall"\nsize = 4\noversubscription = 4\n'
    )
    file = tmp_path / "halls.toml"
    file.write_text('nodes = 16\nnode = "dgx-h100"\n' + network, "utf-8")
    assert read_cluster(file).levels[1:] == (Level("leaf", 4, 400 * GB), Level("hall", 4, 400 * GB))
    assert machine_of(str(file)).name == "halls"


@each(
    "broken",
    [
        ('nodes = "four"', "nodes = 4", r"lab\.toml\.nodes: expected a finite whole number above 0, got 'four'"),
        ("nodes = 0", "nodes = 4", r"nodes: expected .* above 0, got 0"),
        ("", "nodes = 4", "nodes missing"),
        ("node_s = 4", "nodes = 4", "unknown field 'node_s'.*nodes"),
        ("nodes = 9999999", "nodes = 4", "expected 1 to 1,048,576 nodes, got 9,999,999"),
        ("", "chips = 8", "chips missing"),
        ('chip = "a100"', 'chip = "a100-80gb-sxm"', "'a100' is one of several chips: a100-40gb-sxm, "),
        ('chip = "z9"', 'chip = "a100-80gb-sxm"', "chip: unknown chip 'z9'"),
        (f"chip = {{{CHIP}}}", 'chip = "a100-80gb-sxm"\nnode_bandwidth = "300 GB/s"', "node_bandwidth missing"),
        ("chip = {name = 'Mine'}", 'chip = "a100-80gb-sxm"', "chip: memory, memory_bandwidth missing"),
        ("chip = {" + CHIP.replace("bf16", "fp8") + "}", 'chip = "a100-80gb-sxm"', "chip: bf16 missing"),
        ('node_bandwidth = "600 GB/s"', 'node_bandwidth = "300 GB/s"', "at most the 300 GB/s .* got 600 GB/s"),
        ("node_bandwidth = 300", 'node_bandwidth = "300 GB/s"', "with its unit, such as '300 GB/s', got 300"),
        ('node_bandwidth = "300 GB"', 'node_bandwidth = "300 GB/s"', "got '300 GB', which is in 'B'"),
        ("", 'network = "100 Gbit/s"', "network missing; expected what a node sends"),
        ('network = "fast"', 'network = "100 Gbit/s"', "network.bandwidth: expected a number above 0"),
        ('network = {bandwidth = "1 GB/s", size = 3}', 'network = "100 Gbit/s"', "join 4 nodes, got sizes that join 3"),
        ('network = [{bandwidth = "1 GB/s"}, {size = 2}]', 'network = "100 Gbit/s"', r"network\[0\]\.size missing"),
        ('network = {bandwidth = "1 GB/s", wide = 3}', 'network = "100 Gbit/s"', "network: unknown field 'wide'"),
        ("network = {oversubscription = 0}", 'network = "100 Gbit/s"', "oversubscription: expected .* above 0, got 0"),
        ("price = -1", "price = 1.80", "price: expected .* at least 0, got -1"),
        ("torus = [4, 0]", "price = 1.80", r"torus: expected the chips along each axis, .* got \[4, 0\]"),
        ('node = "dgx-z9"', "chips = 8", "unknown node 'dgx-z9'"),
        ("nodes = 4 4", "nodes = 4", r"lab\.toml: "),
    ],
)
def test_a_file_that_cannot_be_is_refused_by_its_field(broken, tmp_path):
    new, old, says = broken
    file = tmp_path / "lab.toml"
    assert old in LAB
    file.write_text(LAB.replace(old, new), "utf-8")
    with pytest.raises(SpecError, match=says):
        read_cluster(file)


@each(
    "line",
    [
        ("4x8 a100-80gb-sxm, foo 3", "expected one of node, network, .*, got 'foo 3'"),
        ("4x8 a100-80gb-sxm, network", "got 'network'"),
        ("4x8 a100-80gb-sxm,", "got ''"),
        ("4x8 a100-80gb-sxm, node 1 GB/s, node 2 GB/s", "node is said twice"),
        ("4x8 h800, network 1 GB/s, price much", "price: expected a number, got 'much'"),
        ("1x8 h800, network 1 GB/s", "one node has nothing to join"),
        ("4x8 h800", "network missing"),
        ("nowhere.toml", r"nowhere\.toml: No such file"),
    ],
)
def test_a_line_that_cannot_be_says_what_was_expected(line):
    text, says = line
    with pytest.raises(PlanError, match=f"^cluster: .*{says}"):
        machine_of(text)


@each(
    "line",
    [
        ("1x2 h100-nvl", "1x3 h100-nvl", "h100-nvl-pair"),
        ("1x2 h100-pcie", "1x8 h100-pcie", "h100-pcie-pair"),
        ("1x4 h200-nvl", "1x5 h200-nvl", "h200-nvl-quad"),
        ("1x4 gh200", "1x8 gh200", "gh200-quad"),
        ("1x2 gb10", "1x4 gb10", "gb10-pair"),
        ("1x8 mi300x", "1x16 mi300x", "mi300x-node"),
    ],
)
def test_the_links_of_a_mesh_join_no_more_chips_than_it_has(line):
    mesh, more, node = line
    assert machine_of(mesh).levels[0].bandwidth == nodes[node].scaleup_bandwidth
    with pytest.raises(PlanError, match=f"node_bandwidth missing: .* {node};") as error:
        machine_of(more)
    (way,) = re.findall(r"'(node [^']*)'", error.value.problem)
    assert machine_of(f"{more}, {way}").levels[0].bandwidth <= nodes[node].scaleup_bandwidth


def test_the_link_to_the_host_is_that_of_the_chips_nodes_unless_it_is_said():
    """Said, or of a node that is named, nothing is assumed; of a chip in no node of the tables, nothing is known."""
    lab = machine_of("4x8 a100-sxm-80gb, network 100 Gbit/s")
    assert (lab.host, lab.host_as) == (nodes["dgx-a100"].to_host_bandwidth, "DGX A100")
    assert lab.to_host == "31.5 GB/s from a GPU to its host, as in DGX A100: assumed"
    assert machine_of("2xdgx-a100").host_as == machine_of("2x8 h800, network 1 GB/s, host 9 GB/s").host_as == ""
    offload, one = ("optimizer",), Strategy.of(gpus=32, zero=1)
    bare = "4x8 trainium3, node 20 GB/s, network 100 Gbit/s"
    with pytest.raises(PlanError, match=r"^offload: .* host_bandwidth .* 'host 50 GB/s'"):
        task_of("llama3-8b", bare, B=2**20, software=SoftwareSettings(offload=offload))
    where = [f"{bare}, host {GB_S} GB/s" for GB_S in (20, 40)]
    slow, fast = (
        step_time("llama3-8b", Stack.ideal("h100-pcie"), w, one, B=2**20, T=8192, offload=offload) for w in where
    )
    assert slow.offload + slow.optimizer == pytest.approx(2 * (fast.offload + fast.optimizer))
    with pytest.raises(ValueError, match="says none"):
        step_time("llama3-8b", Stack.ideal("h100-pcie"), bare, one, B=2**20, T=8192, offload=offload)


def test_what_is_no_description_is_left_to_the_tables():
    assert described("dgx-h100") is described("h100-superpod-16k") is None


def test_the_file_on_the_page_is_one_that_is_read(tmp_path):
    (text,) = re.findall(r"```toml\n(name = .*?)```", (ROOT / "docs" / "planning.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "lab.toml").write_text(text, "utf-8")
    found = read_cluster(tmp_path / "lab.toml")
    assert (found.gpus, found.chip.fp8_flops, found.price) == (128, 1000e12, 1.8)
    assert found.levels[2] == Level("spine", 2, 200 * GB)


def test_the_price_of_a_file_is_the_one_where_none_is_given():
    where = str(FILES / "lab.toml")
    assert task_of("llama3-8b", where, B=2**20, gpus=8).price == pytest.approx(1.8 / 3600)
    assert task_of("llama3-8b", where, B=2**20, price=0.0).price == 0
    assert task_of("llama3-8b", "dgx-h100", B=2**20).price == 0


def test_a_chip_of_ones_own_is_timed_by_its_own_figures():
    chip = machine_of(str(FILES / "mi300x.toml")).chip
    stack = stack_for(chip)
    assert (stack.accelerator, stack.software, stack.eta_C) == (chip, "typical", stack_for("h100-sxm").eta_C)
    assert stack.replace(eta_C=0.1).accelerator is chip
    assert pickle.loads(pickle.dumps(stack)) == stack
    one = Strategy.of(gpus=8, tp=8, zero=1)  # on all links of a mesh
    typical = stack_for("h100-sxm").replace(chip="mi300x")
    ours, table = (step_time("llama3-8b", of, "mi300x-node", one, B=2**20, T=8192).total for of in (stack, typical))
    assert ours == pytest.approx(table, rel=1e-3)
    assert Stack.ideal(chip).accelerator == chip


def test_constants_that_no_step_of_the_chip_was_fitted_to_are_said_to_be_so():
    own = task_of("llama3-8b", str(FILES / "mi300x.toml"), B=2**20)
    assert "typical, not fitted to MI300X: they are those of megatron-core-h100" in own.caveat
    ideal = task_of("llama3-8b", "dgx-h100", B=2**20, software=SoftwareSettings(stack=Stack.ideal("h100-sxm")))
    assert "ideal, not fitted" in ideal.caveat
    assert task_of("llama3-8b", "dgx-h100", B=2**20).caveat == ""
    found = plan("llama3-8b", str(FILES / "mi300x.toml"), B=2**20, allowed=SIMPLE, count=1)
    assert own.caveat in found.table()
    assert found.json()["fitted"] is False


@each(
    "line",
    [
        "8 x l40s",
        "8xh100",
        "4x h100-sxm",
        "128 x a100-80gb-sxm",
        "12 x mi300x",
        "8 x b100-sxm",
        "8xh100, network 400 Gbit/s",
        "l40s",
        "h100-pcie",
        "h200-nvl",
        "gh200",
        "gb10",
        "2 x h100-nvl",
        "16 x gb10",
    ],
)
def test_gpus_by_their_chip_are_offered_in_a_line_that_is_read(line):
    with pytest.raises(PlanError) as error:
        machine_of(line)
    assert error.value.field == "cluster"
    (way,) = re.findall(r"'([0-9]+x[0-9]+ [^']*)'", error.value.problem.partition("is a chip")[2].partition(";")[0])
    assert machine_of(way).gpus == int(re.match(r"\d*", line)[0] or 8)


@each("line", ["4 x nowhere", "nowhere", "dgx-h10", "h", "", "80gb", "0 x h100", "sxm"])
def test_other_names_that_are_not_known_are_no_chips(line):
    with pytest.raises(PlanError) as error:
        machine_of(line)
    assert "is a chip" not in error.value.problem
