"""The bounds of a plan on machines of several kinds, against the step's own model, formulas, and the book on TPUs."""

import pytest

from hwlib.collectives import bidirectional_ring_alltoall_limit, torus_allgather_limit
from hwlib.parallel.transfers import Transfer
from hwlib.specs import Level, Stack
from hwlib.steptime import (
    critical_batches,
    demand_of,
    machine_bounds,
    machine_sheet,
    plan_demand,
    six_machines,
    step_time,
)
from hwlib.strategy import Strategy
from hwlib.transformer import parameter_count

V5P = machine_sheet("tpu-v5p-pod")


def gather(ranks, collective="all_gather", inner=1):
    return Transfer("tp", "test", collective, ranks, inner, 8e9, 1)


@pytest.mark.parametrize("key", ["dgx-h100", "gb200-nvl72"])
def test_waits_of_a_step_that_hides_nothing_are_the_bounds(key):
    plan = Strategy.of(dp=4, tp=16, pp=4, zero=1)
    sheet = machine_sheet(key)
    levels = (
        Level("node", sheet.domain, sheet.scaleup_bandwidth),
        Level("net", 64, sheet.domain * sheet.network_bandwidth),
    )
    bare = Stack.ideal(sheet.key.replace("dgx-", "") + "-sxm" if key == "dgx-h100" else key).replace(hide_dp=0.0)
    step = step_time("llama3-70b", bare, levels, plan, B=2**19, T=8192)
    found = machine_bounds(sheet, demand_of("llama3-70b", plan, B=2**19, T=8192))
    assert found.tp == pytest.approx(step.tp, rel=1e-9)
    assert found.dp == pytest.approx(step.dp, rel=0.02)
    assert found.math == pytest.approx(step.compute, rel=0.05)  # of the mean rank, not of the one with logits


@pytest.mark.parametrize(("ranks", "paths"), [(8, 2), (16, 4), (64, 6), (512, 6)])
def test_a_group_of_a_torus_has_the_links_of_its_axes(ranks, paths):
    assert V5P.time(gather(ranks)) == pytest.approx(
        torus_allgather_limit(8e9, V5P.scaleup_bandwidth / 6, paths) * (ranks - 1) / ranks
    )


def test_an_exchange_on_a_ring_is_that_of_the_book():
    ring = V5P._replace(axes=1, scaleup_bandwidth=180e9)
    t = ring.time(gather(64, "all_to_all"))
    assert t == pytest.approx(bidirectional_ring_alltoall_limit(8e9, 90e9) * 63 / 64)


def test_two_of_a_mesh_have_a_seventh_of_the_links():
    assert machine_sheet("mi300x-node").share(2) == pytest.approx(1 / 7)  # 47.7 against 312.9 GB/s were measured
    assert machine_sheet("mi300x-node").share(8) == machine_sheet("dgx-h100").share(2) == 1


def test_critical_batches_of_the_books():
    v5p = critical_batches("tpu-v5p-pod")
    assert v5p.scaleup == pytest.approx(2550 / 3, rel=0.01)  # 2,550 an axis of three (scaling-book)
    assert critical_batches("dgx-h100").network == pytest.approx(2475, rel=0.01)


def test_the_same_plan_is_held_by_different_parts():
    asked = plan_demand("moe-ep64")
    held = {key: machine_bounds(sheet, asked).holds for key, sheet in six_machines().items()}
    assert held["dgx-h100"] == held["dgx-b200"] == held["mi355x-node"] == "ep"
    assert held["gb200-nvl72"] == held["tpu-v5p-pod"] == "math"
    assert machine_bounds(machine_sheet("dgx-h100")._replace(domain=64), asked).holds == "math"


def test_few_tokens_move_weights_gradients_and_states_alone():
    """Weights twice, 2 bytes each; a gradient read and written in 32 bits; 30 bytes of Adam."""
    asked = demand_of("llama3-70b", Strategy.of(), B=1, T=1)
    assert asked.hbm_bytes == pytest.approx(42 * parameter_count("llama3-70b"), rel=0.05)  # not all of them are read
    assert asked.flops == pytest.approx(6 * parameter_count("llama3-70b"), rel=0.05)


def test_what_a_plan_needs_is_the_footprint():
    assert plan_demand("dense-tp8").needs < 40e9 < 80e9 < plan_demand("moe-ep64").needs


def test_a_machine_without_numbers_is_rejected():
    with pytest.raises(KeyError):
        machine_sheet("abacus")
