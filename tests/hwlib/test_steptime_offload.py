"""The time of what the host keeps: over which link, hidden behind what, and refused where no link is known."""

import pytest

from hwlib.footprint import footprint
from hwlib.planner import PlanError, plan
from hwlib.specs import Level, Stack, accelerators, links, models, nodes
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.transformer import parameter_count, step_flops

H100 = accelerators["h100-sxm"]
C = H100.bf16_flops
IDEAL = Stack.ideal("h100-sxm")
LLAMA = models["llama3-8b"]
LEVELS = (Level("node", 8, 450e9),)
T = 8192


def waits(host, offload, stack=IDEAL, m=4, **degrees):
    return step_time(LLAMA, stack, LEVELS, B=m * T, T=T, offload=offload, host=host, **degrees).offload


def test_the_link_is_the_machines_own():
    """PCIe 5.0 x16 on a DGX H100; NVLink-C2C in an NVL72, seven times as wide (nvidia-grace-hopper: 450 GB/s)."""
    assert nodes["dgx-h100"].to_host_bandwidth == links["pcie5-x16"].bandwidth
    assert nodes["gb200-nvl72"].to_host_bandwidth == links["nvlink-c2c"].bandwidth == 450e9


def test_activations_take_their_bytes_over_the_link():
    """Of a very slow link: all bytes that the layers keep, out and back for each microbatch, less the work beside."""
    kept = float(footprint(LLAMA, Strategy.of(dp=1), T=T).activations)
    layers = step_flops(LLAMA, 4 * T, T) / C - 6 * LLAMA.width * LLAMA.vocab * 4 * T / C
    assert waits(1e6, ["activations"]) == pytest.approx(2 * 4 * kept / 1e6 - layers, rel=1e-9)


def test_activations_hide_behind_work_that_takes_longer():
    """A layer's forward pass by hand: 2 x 218M parameters and attention's half of 4 T D a token, at 989 TFLOP/s, take
    4.2 ms with 8,192 tokens. What the layer keeps with full recomputation is its input, 67 MB: 1.1 ms over PCIe 5.0.
    """
    assert waits(63e9, ["activations"], recompute="full") == 0
    forward = (2 * 218.1e6 + 2 * T * 4096) * T / C
    assert forward == pytest.approx(4.2e-3, rel=0.03)
    slow = waits(67.1e6 / 5e-3, ["activations"], recompute="full")  # 5 ms each way: only the forward pass is too short
    assert slow == pytest.approx(4 * 32 * (5e-3 - forward), rel=0.05)


def test_the_optimizer_comes_in_and_goes_out_once_a_step():
    """12 bytes a parameter of the rank, each way at once; nothing but the update itself runs beside it."""
    states = 12 * parameter_count(LLAMA) / 8
    for m in (1, 4):
        found = step_time(LLAMA, IDEAL, LEVELS, B=8 * m * T, T=T, dp=8, zero=1, offload=["optimizer"], host=63e9)
        assert found.offload == pytest.approx(states / 63e9 - found.optimizer, rel=1e-9)
    assert found.total == pytest.approx(
        step_time(LLAMA, IDEAL, LEVELS, B=32 * T, T=T, dp=8, zero=1).total + found.offload, rel=1e-12
    )


def test_a_wider_link_never_waits_longer():
    found = [waits(10**i, ["activations", "optimizer"], dp=1) for i in range(6, 15)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 1e-3 < found[0]


def test_nothing_is_waited_for_unless_something_is_offloaded():
    assert step_time(LLAMA, IDEAL, "dgx-h100", B=8 * T, T=T, dp=8).offload == 0


@pytest.mark.parametrize(
    ("machine", "offload", "message"),
    [
        (LEVELS, ["optimizer"], "levels say none"),
        ("dgx-h100", ["weights"], "got 'weights'"),
        ("dgx-h100", "optimizer", "got 'optimizer'"),
    ],
)
def test_what_cannot_be_is_refused(machine, offload, message):
    with pytest.raises(ValueError, match=message):
        step_time(LLAMA, IDEAL, machine, B=8 * T, T=T, dp=8, offload=offload)


def test_the_planner_offloads_and_says_what_it_costs():
    asked = {"B": 2**20, "T": T, "tp": 1, "pp": 1, "cp": 1, "zero": 3, "recompute": "full"}
    without = plan("llama3-8b", "dgx-h100", **asked)[0]
    with_ = plan("llama3-8b", "dgx-h100", offload=("optimizer",), **asked)[0]
    assert with_.memory.optimizer == 0 < without.memory.optimizer
    assert with_.time.offload > 0
    assert "transfers to the host" in str(plan("llama3-8b", "dgx-h100", offload=("optimizer",), **asked).explain())
    with pytest.raises(PlanError, match="got 'weights'"):
        plan("llama3-8b", "dgx-h100", offload=("weights",), **asked)
    assert footprint(LLAMA, T=T, offload=["optimizer"]).optimizer == 0
