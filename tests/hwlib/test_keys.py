"""What takes a model, a chip or a machine takes its key too, and says of an unknown one what there is."""

from functools import partial
from typing import Any

import pytest

from hwlib import inference, parallel, virtual
from hwlib.footprint import footprint
from hwlib.pipeline import interleaved, one_f_one_b, play
from hwlib.planner import PlanError, decide, machine_of, plan
from hwlib.specs import Stack, accelerators, clusters, levels_of, models, nodes, stacks
from hwlib.specs.table import unknown
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.training import training_run
from hwlib.virtual.network import network

LLAMA, H100, POD = "llama3-70b", "h100-sxm", "superpod-h100-4su"
PLAN: dict[str, Any] = {"strategy": Strategy.of(dp=64, tp=8, zero=3), "B": 2**22}
SERVED: dict[str, Any] = {"n": 8, "T_kv": 8192}
SENT = parallel.transfers(models[LLAMA], **PLAN)
OF_MODEL: tuple[Any, ...] = (
    partial(parallel.transfers, **PLAN),
    partial(parallel.hiding_times, C=989e12, T=8192, **PLAN),
    partial(parallel.critical_points, levels=POD, C=989e12),
    partial(footprint, strategy=Strategy.of(dp=8), T=8192),
    partial(step_time, stack="megatron-core-h100", machine=POD, T=8192, **PLAN),
    partial(inference.network_time, B=8, tp=8, W_in=450e9),
    partial(inference.step_bytes, B=8),
    partial(inference.expert_share, B=8),
    inference.weight_bytes,
)
OF_BOTH: tuple[Any, ...] = (
    partial(inference.largest_batch, **SERVED),
    partial(inference.decode_point, B=4, **SERVED),
    partial(inference.decode_points, ranks=[8], T_kv=8192),
    partial(inference.prompt_time, n=8, T_in=8192),
    partial(training_run, B_run=1e12, n=1024, mfu=0.4),
)
OF_LEVELS: tuple[Any, ...] = (
    partial(parallel.axis_times, SENT),
    partial(parallel.critical_points, LLAMA, C=989e12),
)


@pytest.mark.parametrize("what", OF_MODEL, ids=lambda f: getattr(f, "func", f).__name__)
def test_a_model_may_be_a_key(what):
    assert what(LLAMA) == what(models[LLAMA])
    with pytest.raises(KeyError, match=r"'llama3-7b'; .*llama3-70b"):
        what("llama3-7b")
    with pytest.raises(TypeError, match=r"model: .*Model\b.* 70$"):
        what(70)


@pytest.mark.parametrize("what", OF_BOTH, ids=lambda f: f.func.__name__)
def test_so_may_a_chip(what):
    assert what(LLAMA, H100) == what(models[LLAMA], accelerators[H100])
    with pytest.raises(KeyError, match=r"'h100'; .*h100-sxm"):
        what(LLAMA, "h100")


@pytest.mark.parametrize("what", OF_LEVELS, ids=lambda f: f.func.__name__)
def test_levels_may_be_a_cluster_or_its_key(what):
    assert what(levels=POD) == what(levels=clusters[POD]) == what(levels=clusters[POD].levels)


@pytest.mark.slow  # imports torch
@pytest.mark.parametrize("key", ["dgx-h100", "dgx-b200", "gb200-nvl72"])
def test_a_node_is_a_virtual_cluster_with_its_own_chip(key):
    with virtual.cluster(key) as world:
        assert (world.network.levels, world.chip) == (levels_of(key), nodes[key].chip)
        assert repr(world).startswith(f"<World of {nodes[key].chips} x {nodes[key].chip.name}, as rank 0: node")
    with pytest.raises(KeyError, match=r"'dgx-h300'; .* dgx-"), virtual.cluster("dgx-h300"):
        pass


@pytest.mark.parametrize("more", [{"latency": -1.0}, {"latency": {"node": -1.0}}, {"slow_levels": {"node": 0.0}}])
def test_a_virtual_network_takes_no_time_below_nothing(more):
    with pytest.raises(ValueError, match=r"cluster: (latency|slow_levels)\b"):
        network(POD, None, accelerators[H100], **more)


def test_an_unknown_name_among_few_lists_all_and_among_many_the_close_ones():
    assert unknown("dtype", "int3", ["bf16", "int8", "fp8"]) == "unknown dtype 'int3'; known: int8, bf16, fp8"
    many = [f"cluster-{i}" for i in range(20)]
    assert unknown("cluster", "cluster-7x", many).count(" or cluster-") == 2
    assert unknown("cluster", "nothing", many).endswith(", ".join(many)), "none is close: all of them"


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (stacks["llm-foundry-a100"], "<LLM Foundry (FSDP) on A100: eta_C "),
        (Stack.ideal(H100), "<ideal H100 SXM5: nothing lost>"),
        (one_f_one_b(4, 8), "<1f1b: 8 microbatches on 4 stages>"),
        (play(interleaved(4, 8)), "<Played interleaved: 8 microbatches on 4 stages, 2 chunks a rank; time "),
        (inference.decode_point(LLAMA, H100, n=8, B=2, T_kv=8192, price=1e-3), "dollars a million tokens; bound by w"),
        (machine_of("dgx-h100"), "<8 x H100 SXM5 of DGX H100: 8 a node, 450 GB/s each>"),
        (decide(LLAMA, "superpod-h100-1su", B=2**22), "Llama 3.1 70B on 256 x H100 SXM5: a GPU has 16,384 tokens"),
        (training_run(LLAMA, H100, B_run=1e12, n=1024, mfu=0.4, t_node=1e8, t_save=60, price=1e-3), "goodput 9"),
    ],
)
def test_records_print_in_one_line_with_units(record, shown):
    assert shown in repr(record)
    assert "\n" not in repr(record)


@pytest.mark.parametrize(
    ("asked", "field", "message"),
    [
        ({"model": 70}, "model", "Model .* 70$"),
        ({"cluster": None}, "cluster", "Cluster, .*Node .* None$"),
        ({"cluster": "nowhere"}, "cluster", "'nowhere'; .*superpod-h100-1su, .*, dgx-h100, "),
        ({"count": 0}, "count", ".* 0$"),
    ],
)
def test_the_planner_says_what_it_takes(asked, field, message):
    with pytest.raises(PlanError, match=message) as error:
        plan(**{"model": "llama3-8b", "cluster": "dgx-h100", "B": 2**20} | asked)
    assert error.value.field == field
