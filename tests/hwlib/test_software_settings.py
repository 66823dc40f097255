"""The settings of a software: each refusal beside what is taken, and what is left open until a chip is known."""

from math import inf

import pytest

from hwlib.footprint import STATES, States
from hwlib.planner.plan_error import PlanError
from hwlib.planner.software_settings import ANY, SoftwareSettings, as_bool
from hwlib.specs import Features, Release, accelerators, features, models, stacks

H100, LLAMA, MIXTRAL, DEEPSEEK = (
    accelerators["h100-sxm"],
    models["llama3-8b"],
    models["mixtral-8x7b"],
    models["deepseek-v3"],
)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dtype", "int8"),
        ("expert_imbalance", 0.99),
        ("expert_imbalance", inf),
        ("expert_imbalance", "2"),
        ("expert_imbalance", True),
        ("offload", ("weights",)),
        ("offload", ("optimizer", "weights")),
        ("states", "none-such"),
        ("fused", "yes"),
        ("fused", None),
        ("dedup_dispatch", 2),
        ("mtp", "no"),
        ("release", "soon"),
    ],
)
def test_what_is_no_setting_is_refused(field, value):
    with pytest.raises(PlanError) as caught:
        SoftwareSettings(**{field: value})
    assert caught.value.field == field


def test_settings_that_are_left_open():
    usual = SoftwareSettings()
    assert (usual.dtype, usual.fused, usual.expert_imbalance, usual.offload) == ("bf16", True, 1.0, ())
    for name in ("stack", "states", "dedup_dispatch", "features", "mtp", "release"):
        assert getattr(usual, name) is None
    assert not usual.uses_host


def test_settings_are_taken_by_their_words():
    name, states = next(iter(STATES.items()))
    assert SoftwareSettings(states=name).states == states
    own = States(1, 2, 3)
    assert SoftwareSettings(states=own).states is own
    assert SoftwareSettings(expert_imbalance=1).expert_imbalance == 1
    assert SoftwareSettings(offload=["optimizer", "activations"]).offload == ("optimizer", "activations")
    assert (SoftwareSettings(fused=0).fused, SoftwareSettings(mtp=0).mtp) == (False, False)
    release = SoftwareSettings(release="26.04").release
    assert isinstance(release, Release)
    assert SoftwareSettings(release=release).release is release


@pytest.mark.parametrize(("x", "truth"), [(True, True), (False, False), (1, True), (0, False)])
def test_a_truth_value(x, truth):
    assert as_bool("fused", x) is truth


def test_on_a_chip_nothing_is_left_open():
    on = SoftwareSettings().on(H100, LLAMA)
    assert on.stack.chip == "h100-sxm"
    assert isinstance(on.features, Features)
    assert on.features.key == on.stack.features
    assert on.release == on.stack.release
    assert (on.dedup_dispatch, on.mtp) == (False, False)


def test_what_was_asked_for_is_kept():
    asked = SoftwareSettings(stack="megatron-core-h100", features=ANY, mtp=True, dedup_dispatch=True, release="26.04")
    on = asked.on(H100, DEEPSEEK)
    assert (on.stack.key, on.features, on.mtp, on.dedup_dispatch) == ("megatron-core-h100", ANY, True, True)
    assert on.release == asked.release
    off = SoftwareSettings(mtp=False, dedup_dispatch=False).on(H100, DEEPSEEK)
    assert (off.mtp, off.dedup_dispatch) == (False, False)


@pytest.mark.parametrize(
    ("model", "trained"), [(DEEPSEEK, True), (DEEPSEEK.replace(mtp_layers=0), False), (LLAMA, False)]
)
def test_prediction_modules_are_trained_where_the_software_does_and_the_model_has_some(model, trained):
    has = SoftwareSettings().on(H100, model).features
    assert SoftwareSettings().on(H100, model).mtp is bool(trained and has.mtp)
    own = Features(
        key="x",
        name="X",
        source="s",
        degrees=(),
        schedules=(),
        recompute=(),
        most_chunks=1,
        zero=(0,),
        piped_zero=(0,),
        mtp=True,
    )
    assert SoftwareSettings(features=own).on(H100, model).mtp is trained
    assert SoftwareSettings(features=own).on(H100, model).features is own


@pytest.mark.parametrize(
    ("field", "settings"),
    [
        ("dtype", {"dtype": "fp4"}),
        ("stack", {"stack": "none-such"}),
        ("stack", {"stack": 7}),
        ("stack", {"stack": "megatron-core-gb200"}),
        ("features", {"features": "none-such"}),
        ("features", {"features": 7}),
    ],
)
def test_what_a_chip_cannot_take_is_refused(field, settings):
    with pytest.raises(PlanError) as caught:
        SoftwareSettings(**settings).on(H100, LLAMA)
    assert caught.value.field == field
    assert str(caught.value).count(f"{field}: ") == 1


def test_features_by_their_key():
    assert SoftwareSettings(features="torchtitan").on(H100, LLAMA).features is features["torchtitan"]
    assert SoftwareSettings(stack=stacks["megatron-core-h100"]).on(H100, LLAMA).stack.key == "megatron-core-h100"
