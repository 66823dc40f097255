"""Every chip that people have answers each question: how to train, how to serve, how fast its links should be.

Small questions, asked of the library as the commands ask it. What cannot be is said, and why.
"""

import re
from functools import partial

import pytest

from hwlib.calibrated.nccl_log import read_log
from hwlib.calibrated.nccl_machine import usual_node
from hwlib.calibrated.nccl_verdict import judge_log
from hwlib.collectives import bus_factor
from hwlib.options import TRAINING
from hwlib.planner import PlanError, machine_of, plan
from hwlib.serving_planner import plan_serving
from hwlib.specs import accelerators, nodes
from hwlib.specs.fitted import collective_constants

NAMES = """
rtx-4090 rtx-5090 rtx-pro-6000 rtx-pro-6000-workstation l4 l40s a10 a40 v100-sxm2 a100-40gb-sxm a100-80gb-sxm
a100-40gb-pcie a100-80gb-pcie a800-80gb-sxm h800-sxm gh200 h20-sxm h100-sxm h100-pcie h100-nvl h200-sxm
h200-nvl gb10 b200-sxm b300-sxm gb200-nvl72 gb300-nvl72 mi300x mi325x mi350x mi355x tpu-v5e tpu-v5p tpu-v6e
tpu-v7x trainium2 trainium3
"""
CHIPS = frozenset(NAMES.split())
NODES = {node.accelerator: key for key, node in reversed([*nodes.items()])}
MACHINES = {chip: NODES.get(chip, f"1x8 {chip}") for chip in sorted(CHIPS)}
FITTED = {"a100-40gb-sxm", "a100-80gb-sxm", "h100-sxm", "b200-sxm", "b300-sxm", "gb200-nvl72", "gb300-nvl72"}
"""Chips with a stack that training steps were fitted to; some come from their neighbours."""
TIMED = {"a100-40gb-sxm", "a100-80gb-sxm", "a100-80gb-pcie", "l40s", "rtx-pro-6000", "h20-sxm", "h800-sxm", "gh200"}
TIMED |= {"h100-sxm", "h100-pcie", "h200-sxm", "b200-sxm", "b300-sxm", "gb200-nvl72", "gb300-nvl72"}
"""Chips of NVIDIA's that kernels or servers were timed on."""
UNTIMED = {"rtx-4090", "rtx-5090", "rtx-pro-6000-workstation", "l4", "a10", "a40", "a100-40gb-pcie", "a800-80gb-sxm"}
UNTIMED |= {"h100-nvl", "h200-nvl", "gb10", "v100-sxm2", "tpu-v5e", "tpu-v7x", "trainium2", "trainium3"}
"""Chips that no kernel of a server was timed on, nor a whole one."""
SMALL = {"tpu-v5e"}
"""Machines whose memory an 8B model with its optimizer does not fit: 8 x 16 GB."""
OFFERED = {key for option in TRAINING if option.name == "cluster" for key, _ in option.search.pairs}
ROW = "{S} {count} float sum -1 {t:.2f} {algbw:.2f} {busbw:.2f} 0 {t:.2f} {algbw:.2f} {busbw:.2f} 0"


@pytest.mark.parametrize("chip", MACHINES)
def test_a_chip_has_its_figures_and_its_memory(chip):
    row = accelerators[chip]
    assert row.bf16_flops or row.fp16_flops
    assert None not in (row.hbm_bytes, row.hbm_bandwidth, row.scaleup_bandwidth)
    assert 0.9 * row.hbm_bytes <= row.seen_bytes <= 1.08 * row.hbm_bytes


@pytest.mark.parametrize("chip", MACHINES)
def test_a_chip_is_offered_on_the_pages(chip):
    assert {machine_of(key).chip.key for key in OFFERED if key == MACHINES[chip] or key.endswith(f" {chip}")} != set()


@pytest.mark.parametrize("chip", MACHINES)
def test_training_on_a_chip_is_planned(chip):
    machine = MACHINES[chip]
    ask = partial(plan, "llama3-8b", machine, B=2**18, T=4096, count=1, gpus=min(machine_of(machine).gpus, 8))
    if chip in SMALL:
        with pytest.raises(PlanError, match=r"^memory: .* does not fit on "):
            ask()
        return
    found = ask()
    best, task = found[0], found.task
    assert 0.15 < best.mfu < 0.7
    assert task.dtype == ("bf16" if accelerators[chip].bf16_flops else "fp16")
    assert best.memory.total <= accelerators[chip].seen_bytes
    assert task.caveat or task.stack.fitted
    assert not (task.caveat and chip in FITTED)


@pytest.mark.parametrize("chip", MACHINES)
def test_a_server_on_a_chip_is_planned_no_faster_than_its_memory(chip):
    machine = machine_of(MACHINES[chip])
    found = plan_serving("llama3-8b", MACHINES[chip], prompt=1024, output=128, gpus=min(machine.gpus, 2), apart=False)
    best, row = found[0], accelerators[chip]
    weights = 8.03e9 * 2 / best.plan.decode.tp
    assert best.tpot > weights / row.hbm_bandwidth
    assert not (found.question.caveat and chip in TIMED)
    assert found.question.caveat or chip not in UNTIMED
    assert found.question.caveat in found.table()


@pytest.mark.parametrize("chip", MACHINES)
def test_a_log_of_a_chip_is_held_against_its_links(chip):
    """Where nothing was fitted no row is called slow, or it is said of which chip; one has no machine in the tables."""
    node = usual_node(chip)
    assert (node is None) == (chip == "trainium3")
    if node is None:
        return
    S, W = 2**30, 0.8 * node.scaleup_bandwidth
    t = bus_factor("all_reduce", node.chips) * S / W
    row = ROW.format(S=S, count=S // 4, t=t * 1e6, algbw=S / t / 1e9, busbw=W / 1e9)
    kind, reason = judged(row, node)
    timed = {chip for chip, op, _ in collective_constants() if op == "all_reduce"}
    assert kind in ("ok", "unknown") or node.chip.key in timed or reason


def judged(row, node):
    """The verdict of a row, or the reason why there is none, which names the chip."""
    try:
        verdict = judge_log(read_log(row), node, node.chips, "all_reduce")
    except ValueError as error:
        return "", re.search(re.escape(node.chip.key), str(error))
    return verdict.rows[0].verdict, None


@pytest.mark.parametrize(
    ("line", "gpus"),
    [
        ("1x1 rtx-4090", 1),
        ("1x2 rtx-5090", 2),
        ("1x4 l4", 4),
        ("1x1 gb10", 1),
        ("1x2 gb10", 2),
        ("1x1 gh200", 1),
        ("4 x h100-nvl-pair, network 126 GB/s", 8),
        ("1x2 gh200", 2),
        ("1x4 tpu-v5e", 4),
        ("1x4 trainium2", 4),
    ],
)
def test_the_machines_that_people_have_are_served_on(line, gpus):
    assert machine_of(line).gpus == gpus
    assert plan_serving("llama3-8b", line, prompt=512, output=64, apart=False, dtype=None)[0].tpot > 0


def test_no_machine_of_the_tables_is_forgotten():
    every = {node.accelerator for node in nodes.values()} - {"tpu-v4"}
    assert every - CHIPS == set()


@pytest.mark.parametrize(
    ("chip", "fp8", "fp4"),
    [
        ("rtx-4090", 2, 0),
        ("rtx-5090", 2, 8),
        ("l4", 2, 0),
        ("l40s", 2, 0),
        ("a10", 0, 0),
        ("a40", 0, 0),
        ("h20-sxm", 2, 0),
        ("rtx-pro-6000", 2, 4),
        ("gb10", 2, 4),
        ("v100-sxm2", 0, 0),
        ("mi300x", 2, 0),
        ("mi350x", 2, 4),
        ("gh200", 2, 0),
    ],
)
def test_which_chips_multiply_in_few_bits(chip, fp8, fp4):
    """As a multiple of 16 bits; a GeForce sums in float32 at half the rate, but in 4 bits."""
    row = accelerators[chip]
    rate = row.bf16_flops or row.fp16_flops
    assert ((row.fp8_flops or 0) / rate, (row.fp4_flops or 0) / rate) == pytest.approx((fp8, fp4), rel=0.02)
