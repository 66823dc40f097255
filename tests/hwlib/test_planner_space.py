"""The grid of plans on small machines: which are left, and how many are rejected for which reason, by hand."""

import pytest

from hwlib.planner.allowed import WHOLE, Axes
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.space import space
from hwlib.planner.task import task_of
from hwlib.specs import Features, models

MODEL = models["llama3-8b"].replace(layers=8)


def task(cluster="dgx-h100", gpus=None, sequences=64, features="any"):
    return task_of(MODEL, cluster, B=sequences * 8192, gpus=gpus, software=SoftwareSettings(features=features))


def axes(**changed):
    usual = Axes(
        tp=(1,), pp=(1,), cp=(1,), ep=(1,), micro=(1,), forms=(("1f1b", 1),), zero=(0,), recompute=("none",), sp=(True,)
    )
    return usual._replace(**changed)


def left(found):
    """The plans that are left, one by one."""
    return [found.strategy[i] for i in range(found.size)]


def test_every_point_of_the_grid_is_a_plan_or_counts_as_rejected():
    grid = axes(tp=(1, 2), pp=(1, 2), forms=(("1f1b", 1), ("1f1b", 2)), zero=(0, 1), sp=(True, False))
    found = space(task(), grid)
    assert (found.considered, found.size) == (32, 18)
    assert found.rejected == {
        "a schedule without a pipeline": 2 * 2 * 2,
        "sequence parallelism without tensor parallelism": 3 * 2,
    }
    for one, m in zip(left(found), found.m, strict=True):
        assert one.gpus == 8
        assert m * one.dp * one.micro == 64
        assert one.pp == 2 or one.v == 1
        assert one.tp == 2 or not one.sp


@pytest.mark.parametrize(
    ("forms", "pp", "plans"),
    [
        ((("1f1b", 1), ("1f1b", 2)), (1, 2), [(1, "1f1b", 1), (2, "1f1b", 1), (2, "1f1b", 2)]),
        ((("zbv", 2), ("1f1b", 1)), (1, 2), [(1, "1f1b", 1), (2, "zbv", 2), (2, "1f1b", 1)]),
        ((("zb_h1", 1),), (1, 2), [(1, "1f1b", 1), (2, "zb_h1", 1)]),
        ((("1f1b", 2),), (1, 2), [(2, "1f1b", 2)]),
        ((("1f1b", 2), ("1f1b", 1)), (1,), []),
    ],
)
def test_without_a_pipeline_there_is_one_schedule(forms, pp, plans):
    found = space(task(), axes(pp=pp, forms=forms))
    assert [(one.pp, one.schedule, one.v) for one in left(found)] == plans
    assert found.size + sum(found.rejected.values()) == found.considered == len(forms) * len(pp)


def test_zero_wants_another_rank():
    alone = space(task(gpus=1), axes(zero=(0, 1, 3)))
    assert [one.zero for one in left(alone)] == [0]
    assert alone.rejected == {"ZeRO without another rank to share with": 2}
    assert [one.zero for one in left(space(task(gpus=1), axes(zero=(1,))))] == [1]
    assert [one.zero for one in left(space(task(gpus=2), axes(zero=(0, 1))))] == [0, 1]
    assert [one.zero for one in left(space(task(gpus=2), axes(cp=(2,), zero=(0, 1))))] == [0, 1]


def test_sequence_parallelism_that_was_not_left_open_is_kept():
    for sp in (True, False):
        assert [one.sp for one in left(space(task(), axes(sp=(sp,))))] == [sp]


def test_a_software_without_sequence_parallelism_has_plans_without_it():
    plain = Features(
        key="x",
        name="X",
        source="s",
        degrees=("tp",),
        schedules=("1f1b",),
        recompute=(),
        most_chunks=1,
        zero=(0,),
        piped_zero=(0,),
    )
    found = space(task(features=plain), axes(tp=(2,), sp=(True, False)))
    assert [one.sp for one in left(found)] == [False]
    assert sum(found.rejected.values()) == 1


@pytest.mark.parametrize(
    ("shards", "tp", "kept", "rejected"),
    [
        ((WHOLE,), 1, [None], {}),
        ((WHOLE, 8), 1, [None, 8], {}),
        ((WHOLE, 4), 1, [None], {"shards that fill no node": 1}),
        ((WHOLE, 4), 2, [None, 4], {}),
        ((WHOLE, 8), 2, [None], {"shards do not divide dp*cp": 1}),
        ((4,), 1, [4], {}),
        ((16,), 1, [None], {}),
        ((5,), 1, [], {"shards do not divide dp*cp": 1}),
    ],
)
def test_usual_shards_fill_a_node_and_are_fewer_than_all(shards, tp, kept, rejected):
    """On two nodes of eight."""
    found = space(task("2 x dgx-h100"), axes(tp=(tp,), zero=(3,), shards=shards))
    assert [one.shards for one in left(found)] == kept
    assert found.rejected == rejected


def test_shards_want_zero():
    found = space(task("2 x dgx-h100"), axes(zero=(0, 1), shards=(WHOLE, 8)))
    assert [(one.zero, one.shards) for one in left(found)] == [(0, None), (1, None), (1, 8)]
    assert found.rejected == {"HSDP without ZeRO": 1}


def test_a_rule_counts_all_points_that_share_what_is_wrong():
    found = space(task(), axes(tp=(1, 3), micro=(1, 2, 4), zero=(0, 1)))
    assert found.rejected == {"tp does not divide the heads": 6}
    assert found.size == 6
    found = space(task(sequences=12), axes(micro=(1, 2), zero=(0, 1)))
    assert found.rejected == {"dp does not divide the batch": 4}
    found = space(task(sequences=8), axes(micro=(1, 2), zero=(0, 1)))
    assert found.rejected == {"micro does not divide a replica's batch": 2}
    assert [(one.micro, one.zero) for one in left(found)] == [(1, 0), (1, 1)]


@pytest.mark.parametrize(
    ("narrow", "cuts", "rejected"),
    [
        ((), {(1, None), (2, None), (2, 1), (4, None), (4, 1)}, {"etp is tp, which is counted already": 1}),
        (
            (4,),
            {(1, None), (2, None), (2, 1), (4, 1)},
            {"tp cuts experts too narrow": 1, "etp is tp, which is counted already": 1},
        ),
    ],
)
def test_experts_are_folded_beside_those_that_are_cut_like_other_matrices(narrow, cuts, rejected):
    model = models["mixtral-8x7b"].replace(layers=8)
    where = task_of(model, "dgx-h100", B=64 * 8192, T=8192, software=SoftwareSettings(features="any"))
    found = space(where, axes(tp=(1, 2, 4), etp=(WHOLE, 1), narrow=narrow))
    assert {(one.tp, one.etp) for one in left(found)} == cuts
    assert found.rejected == rejected
    assert found.considered == 6
    of_whole = axes(etp=(WHOLE, 1)).first(8)
    assert of_whole.etp is None
