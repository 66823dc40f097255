"""Experts with a tensor degree of their own, folded over that of other matrices: memory, transfers, time, plans."""

import numpy as np
import pytest

from hwlib.constraints import lacking
from hwlib.footprint import footprint
from hwlib.parallel import axis_bytes, transfers
from hwlib.planner import PlanError, plan
from hwlib.specs import Stack, clusters, features, models
from hwlib.steptime import step_time
from hwlib.strategy import Strategy, StrategyError
from hwlib.transformer import parameter_groups

MIXTRAL = models["mixtral-8x7b"]
LEVELS = clusters["superpod-h100-4su"].levels
IDEAL = Stack.ideal("h100-sxm")
T = 4096


def test_ranks_that_share_experts_are_those_of_a_stage():
    """megatron-core-moe: world = etp x ep x edp x pp. Of 64 ranks of a stage 8 share the experts whole, 8 times."""
    one = Strategy.of(dp=16, tp=4, ep=8, etp=1)
    assert one.gpus == 64
    assert one.expert_ranks == 8
    assert Strategy.of(dp=16, tp=4, ep=8).expert_ranks == 2
    assert str(one) == "tp 4 ep 8 etp 1 dp 16"
    assert str(Strategy.of(dp=16, tp=4, ep=8, pp=2, etp=1)) == "tp 4 ep 8 etp 1 pp 2 dp 16, 1f1b"


@pytest.mark.parametrize("tp", [1, 2, 8])
def test_the_degree_of_the_other_matrices_changes_nothing(tp):
    degrees = {"tp": tp, "dp": 8, "ep": 4, "zero": 1, "T": T}
    assert footprint(MIXTRAL, m=8, etp=tp, **degrees) == footprint(MIXTRAL, m=8, **degrees)
    folded, plain = (
        step_time(MIXTRAL, "megatron-core-h100", LEVELS, B=64 * T, **degrees | more) for more in ({"etp": tp}, {})
    )
    assert folded.total == pytest.approx(plain.total, rel=1e-12)
    sent = [
        sum(x.sent_bytes for x in transfers(MIXTRAL, B=64 * T, m=8, dp=8, tp=tp, ep=4, zero=1, **more))
        for more in ({"etp": tp}, {})
    ]
    assert sent[0] == pytest.approx(sent[1], rel=1e-12)


def test_whole_experts_take_the_memory_of_their_share():
    """Of 8 experts a rank with ep = 8 has one, whole, whatever tp is: 45.1B parameters over 8, 2 bytes each."""
    experts = parameter_groups(MIXTRAL).experts
    dense = parameter_groups(MIXTRAL).total - experts
    whole, cut = (footprint(MIXTRAL, dp=8, tp=4, ep=8, etp=etp, T=T).weights for etp in (1, 4))
    assert whole - cut == pytest.approx(2 * (experts / 8 - experts / 32), rel=1e-9)
    assert whole == pytest.approx(2 * (dense / 4 + experts / 8), rel=0.01)  # norms and router are whole
    shards = footprint(MIXTRAL, dp=8, tp=4, ep=8, etp=1, zero=1, T=T).optimizer
    assert shards == pytest.approx(12 * (dense / 4 / 8 + experts / 8 / 4), rel=0.01)  # four ranks have the same expert


def test_tokens_reach_experts_without_the_sums_of_tensor_parallelism():
    """Half of a layer's collectives over tp are those of its MLP, and are gone; its tokens are sent as before, but to
    neighbours.
    """
    degrees = {"B": 64 * T, "m": 8, "dp": 8, "tp": 4, "ep": 8}
    cut, whole = (transfers(MIXTRAL, etp=etp, **degrees) for etp in (4, 1))
    sent = [axis_bytes(found) for found in (cut, whole)]
    assert sent[1]["tp"] == pytest.approx(sent[0]["tp"] / 2, rel=1e-12)
    assert sent[1]["ep"] == pytest.approx(sent[0]["ep"], rel=1e-12)
    assert {x.inner for x in whole if x.axis == "ep"} == {1}
    found = [step_time(MIXTRAL, IDEAL, LEVELS, B=64 * T, T=T, dp=8, tp=4, ep=8, etp=etp) for etp in (4, 1)]
    assert found[1].tp == pytest.approx(found[0].tp / 2, rel=1e-9)
    assert found[1].ep < found[0].ep
    assert found[1].compute == pytest.approx(found[0].compute, rel=1e-9)


def test_a_whole_expert_sees_fewer_tokens_and_is_as_wide_as_it_is():
    """With constants of either alone: half the rate with as many tokens, or as much width, as an expert has."""
    degrees = {"B": 64 * T, "T": T, "dp": 8, "tp": 4, "ep": 8}
    seen = T * 8 * 2 / 8  # of a microbatch of 4,096 tokens on each of 8 ranks two experts of 8 take each
    for more, factors in (({"n_E": seen}, {4: 2, 1: 5}), ({"w_E": 14336.0}, {4: 5, 1: 2})):
        stack = IDEAL.replace(**more)
        experts = 3 * 2 * T / 4 * 2 * 3 * 4096 * 14336 * 32 * 8 / stack.accelerator.bf16_flops  # seconds at full rate
        for etp, factor in factors.items():
            slow, full = (step_time(MIXTRAL, one, LEVELS, etp=etp, **degrees).compute for one in (stack, IDEAL))
            assert slow - full == pytest.approx((factor - 1) * experts, rel=1e-6)


def test_columns_are_each_of_their_plans():
    etp, ep = np.array([1, 2, 4, 1]), np.array([8, 4, 2, 2])
    found = step_time(MIXTRAL, "megatron-core-h100", LEVELS, B=64 * T, T=T, dp=8, tp=4, ep=ep, etp=etp)
    memory = footprint(MIXTRAL, T=T, m=8, dp=8, tp=4, ep=ep, etp=etp, zero=1)
    for i in range(4):
        one = {"dp": 8, "tp": 4, "ep": int(ep[i]), "etp": int(etp[i])}
        expected = step_time(MIXTRAL, "megatron-core-h100", LEVELS, B=64 * T, T=T, **one).total
        assert found.total[i] == pytest.approx(expected, rel=1e-12)
        assert memory.total[i] == pytest.approx(footprint(MIXTRAL, T=T, m=8, zero=1, **one).total, rel=1e-12)


def test_the_planner_folds_where_it_is_asked_and_the_software_can():
    asked = {"B": 2**20, "T": T, "gpus": 64, "tp": 4, "pp": 2, "cp": 1}
    found = plan("mixtral-8x7b", "superpod-h100-1su", etp=(1, 4), **asked)
    assert {one.strategy.etp for one in found} == {None, 1}
    assert sum(found.rejected.values()) + found.timed == found.considered
    assert "etp" in str(found)
    assert found.json()["plans"][0]["etp"] in (None, 1)
    assert not features["torchtitan"].folded
    with pytest.raises(PlanError, match="torchtitan has no tensor degree"):
        plan("mixtral-8x7b", "superpod-h100-1su", etp=1, features="torchtitan", **asked)
    with pytest.raises(PlanError, match="is dense"):
        plan("llama3-8b", "dgx-h100", B=2**20, etp=1)


def test_what_cannot_be_is_refused():
    with pytest.raises(StrategyError, match="etp"):
        Strategy.of(etp=0)
    with pytest.raises(StrategyError, match="divisor of dp\\*cp\\*tp/etp = 2"):
        transfers(MIXTRAL, B=64 * T, dp=2, tp=4, ep=8, etp=4)
    folded = Strategy.of(dp=8, tp=4, ep=8, etp=1, sp=False)
    assert lacking(features["megatron-core"], folded) == ()
    assert any("tensor degree of experts" in what for what in lacking(features["megatron-2022"], folded))
