"""Nodes in which each chip has a link of its own to every other: a group of few ranks has few of them."""

import numpy as np
import pytest

from hwlib.specs import accelerators
from hwlib.steptime import step_time
from hwlib.steptime.transfer_times import mesh_share
from hwlib.strategy import Strategy

MI300X, H100 = accelerators["mi300x"], accelerators["h100-sxm"]


@pytest.mark.parametrize(
    ("collective", "ranks", "inner", "share"),
    [
        ("all_gather", 2, 1, 1 / 7),
        ("all_to_all", 4, 2, 3 / 7),
        ("all_gather", 8, 1, 1),
        ("send", 4, 2, 1 / 7),
        ("all_gather", 8, 2, 1),  # sixteen GPUs: the network bounds
        ("all_gather", 1, 1, 1 / 7),  # which sends nothing
    ],
)
def test_a_group_has_the_links_to_its_own(collective, ranks, inner, share):
    assert float(mesh_share(MI300X, 8, collective, ranks, inner)) == pytest.approx(share)
    assert mesh_share(H100, 8, collective, ranks, inner) == 1


def test_half_a_node_has_less_than_half_of_the_links():
    assert float(mesh_share(MI300X, 4, "all_gather", 4)) == pytest.approx(3 / 7)
    assert mesh_share(MI300X, 16, "all_gather", 4) == 1  # more chips than links: no mesh


def test_columns_are_shared_one_by_one():
    found = mesh_share(MI300X, 8, "all_reduce", np.array([2, 8, 16]))
    assert found == pytest.approx([1 / 7, 1, 1])


def test_tensor_parallelism_of_two_takes_seven_times_the_wire_time_of_its_bytes():
    """The measured all-reduces: 47.7 GB/s on two GPUs, 312.9 on eight."""

    def sent(machine, stack, tp):
        plan = Strategy.of(gpus=8, tp=tp)
        return float(step_time("llama3-70b", stack, machine, plan, B=2**19, T=8192).tp)

    def ratio(machine, stack):
        """Of the times of a byte on two and on eight; a rank of two sends half of a sum's bytes, one of eight 7/8."""
        return sent(machine, stack, 2) / 4 / (sent(machine, stack, 8) / 7)

    mesh, switched = ratio("mi300x-node", "megatron-rocm-mi300x"), ratio("dgx-h100", "megatron-core-h100")
    assert mesh > 4 * switched
