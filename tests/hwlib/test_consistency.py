"""The closed form of a step equals the virtual clock of unmodified programs of torch: tensor parallelism, FSDP2, both.

The machine loses nothing (`Stack.ideal`): kernels take their operations over the peak rate, collectives their bytes
over the bandwidth. What is left between the two are transfers that the closed form does not count, and what exactly
hides.
"""

from functools import partial

import pytest
import torch

from hwlib import virtual
from hwlib.collectives import ring_allreduce_time
from hwlib.specs import Stack, accelerators, models
from hwlib.steptime import levels_of, step_time
from hwlib.strategy import Strategy
from tests.hwlib.decoders import Decoder, fully_sharded, tensor_parallel

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
LLAMA = models["llama3-8b"]
CLUSTER = "superpod-h100-4su"
nightly = partial(pytest.param, marks=pytest.mark.nightly)
RATE = accelerators["h100-sxm"].flops("bf16")


def played(model, where, n, T, tp, dp, sp=False, **more):
    """A step of one sequence a replica, on a virtual cluster, and what the closed form says of it."""
    strategy = Strategy.of(dp=dp, tp=tp, zero=3 if dp > 1 else 0, sp=sp)
    more |= {"kernel_time": lambda _name, flops, _bytes: flops / RATE, "latency": 0.0}
    with virtual.cluster(where, n, **more) as world:
        mesh = virtual.device_mesh(strategy)
        with world.shapes():
            decoder, x = Decoder(model), torch.zeros(1, T, dtype=torch.int64)
        if tp > 1:
            tensor_parallel(decoder, mesh["tp"], sp)
        if dp > 1:
            fully_sharded(decoder, mesh["dp"])
        step = world.step(lambda: decoder(x).sum().backward())
        net = world.network
    closed = step_time(model, Stack.ideal("h100-sxm"), net.levels, strategy, B=dp * T, T=T, fused=False)
    return step, closed, net


@pytest.mark.parametrize(
    ("model", "where", "n", "T", "tp", "dp"),
    [
        (LLAMA, 8, None, 4096, 8, 1),
        (LLAMA, CLUSTER, 64, 8192, 1, 64),
        (LLAMA, CLUSTER, 1024, 8192, 8, 128),
        (models["llama2-7b"].replace(layers=20), CLUSTER, 64, 8192, 4, 16),
        nightly(LLAMA, 4, None, 2048, 4, 1),
        nightly(models["llama2-7b"], 8, None, 8192, 8, 1),
        nightly(LLAMA.replace(layers=8), CLUSTER, 256, 2048, 1, 256),
        nightly(models["llama2-7b"].replace(layers=8), CLUSTER, 256, 8192, 1, 256),
    ],
    ids=lambda value: getattr(value, "key", None),
)
def test_the_closed_form_is_the_virtual_clock_within_one_percent(model, where, n, T, tp, dp):
    step, closed, _ = played(model, where, n, T, tp, dp)
    assert step.compute == pytest.approx(closed.compute)
    assert step.step_time == pytest.approx(closed.total, rel=0.01)


@pytest.mark.parametrize("model", [LLAMA, models["llama2-70b"]], ids=lambda model: model.key)
@pytest.mark.parametrize(("n", "T", "layers"), [(8, 4096, 2), nightly(4, 1024, 3), nightly(2, 512, 2)])
def test_tensor_parallelism_differs_by_the_sums_at_both_ends_alone(model, n, T, layers):
    """The rows of the embedding, which ranks share, and the gradient of what enters the output layer."""
    step, closed, _ = played(model.replace(layers=layers), n, None, T, n, 1)
    bandwidth = 450e9
    ends = 2 * ring_allreduce_time(n, 2 * T * model.width, 0, bandwidth)
    assert step.step_time == pytest.approx(closed.total + ends, rel=1e-9)


def test_with_sequence_parallelism_torch_keeps_what_megatron_gathers_again():
    """Four gathers and four scatters a layer, where Megatron gathers two inputs again for the weights' gradients."""
    L, n, T = 4, 8, 4096
    model = LLAMA.replace(layers=L)
    step, closed, _ = played(model, n, None, T, n, 1, sp=True)
    gathers = step.of("all_gather")
    one = gathers.time / gathers.number
    assert gathers.number == step.of("reduce_scatter").number == 4 * L + 2
    assert step.step_time == pytest.approx(closed.total + (4 - 2 * L) * one, rel=1e-9)


@pytest.mark.parametrize(
    ("dp", "T"), [(64, 4096), (1024, 8192), nightly(64, 8192), nightly(256, 1024), nightly(256, 512)]
)
def test_fsdp2_waits_for_what_the_closed_form_says(dp, T):
    """Exactly, whether the arithmetic decides or the network: FSDP2 gathers one layer ahead."""
    step, closed, _ = played(LLAMA.replace(layers=6, vocab=32768), CLUSTER, dp, T, 1, dp)
    assert step.exposed == pytest.approx(closed.dp, rel=1e-5)
    assert step.step_time == pytest.approx(closed.total, rel=1e-6)


@pytest.mark.parametrize(("slow", "level"), [(4.0, "leaf"), (64.0, "spine")])
def test_a_slow_level_is_a_slower_network_in_the_closed_form_too(slow, level):
    """The network decides then; the closed form is asked on levels that are as slow."""
    model, T, dp = LLAMA.replace(layers=6, vocab=32768), 2048, 1024
    step, closed, net = played(model, CLUSTER, dp, T, 1, dp, slow_levels={level: slow})
    assert [x.bandwidth for x in net.levels if x.name == level] != [
        x.bandwidth for x in levels_of(CLUSTER) if x.name == level
    ]
    assert step.exposed > step.compute / 2
    assert step.step_time == pytest.approx(closed.total, rel=1e-6)
