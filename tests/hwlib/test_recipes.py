"""Recipes: what a software does with one model, by chip, release and precision; and what a plan is told of it."""

import pytest

from hwlib.footprint import MIXED_ADAM, footprint
from hwlib.planner import PlanError, SoftwareSettings
from hwlib.planner.task import task_of
from hwlib.specs import SpecError, Stack, accelerators, features, merges_tokens, models, recipes, release_of
from hwlib.specs.recipe import read_recipes
from hwlib.steptime import step_time
from hwlib.strategy import Strategy

RUN = {"B": 256 * 4096, "T": 4096, "gpus": 64}
ABLE = "[a.features]\nname = 'A'\nsource = 's'\ndegrees = []\nschedules = ['1f1b']\nzero = [0]\npiped_zero = [0]\n"
ROW = "[a.recipes.r]\nname = 'R'\nsource = 's'\nmodels = ['gpt-oss']\n"


@pytest.mark.parametrize("key", recipes)
def test_a_recipe_has_a_source_and_is_of_models_that_there_are(key, sources):
    recipe = recipes[key]
    assert recipe.source in sources
    assert recipe.note, "what does the source say?"
    assert all(any(model.startswith(name) for model in models) for name in recipe.models)


@pytest.mark.parametrize(
    ("model", "chip", "dtype", "release", "merged"),
    [
        ("gpt-oss-120b", "gb300-nvl72", "bf16", "26.08", False),
        ("gpt-oss-120b", "gb300-nvl72", "fp8", "26.06", True),
        ("gpt-oss-120b", "gb300-nvl72", "fp8", "26.04.01", False),
        ("qwen3-30b-a3b", "h100-sxm", "fp8", "26.02", False),
        ("qwen3-30b-a3b", "h100-sxm", "fp8", "26.02.01", True),
        ("qwen3-30b-a3b", "b200-sxm", "fp8", "25.11", False),
        ("qwen3-30b-a3b", "b200-sxm", "fp8", "26.02", True),
        ("qwen3-30b-a3b", "gb200-nvl72", "fp8", "25.09", True),
        ("qwen3-235b-a22b", "b300-sxm", "fp8", "26.04", False),
        ("qwen3-235b-a22b", "b300-sxm", "fp8", "26.04.01", True),
        ("qwen3-235b-a22b", "b300-sxm", "fp8", "26.08", True),
        ("qwen3-235b-a22b", "b200-sxm", "fp8", "26.08", False),
        ("gpt-oss-120b", "b300-sxm", "fp8", "26.04", False),
        ("gpt-oss-120b", "b300-sxm", "fp8", "26.06", True),
        ("deepseek-v3", "b300-sxm", "fp8", "26.06", True),
        ("qwen3-235b-a22b", "gb300-nvl72", "fp8", "25.09", True),
        ("deepseek-v3", "h100-sxm", "fp8", "25.09", True),
        ("llama3-70b", "h100-sxm", "fp8", "26.04", False),
    ],
)
def test_recipes_by_model_chip_and_release(model, chip, dtype, release, merged):
    run = {"chip": chip, "dtype": dtype, "release": release_of(release)}
    assert merges_tokens(features["megatron-core"], models[model], **run) is merged
    assert SoftwareSettings(dtype=dtype, release=release).on(accelerators[chip], models[model]).dedup_dispatch is merged


@pytest.mark.parametrize(
    ("model", "chip", "release", "stack"),
    [
        ("deepseek-v3", "b300-sxm", "26.02", "megatron-core-b300"),
        ("deepseek-v3", "b300-sxm", "26.06", "megatron-core-b300"),
        ("deepseek-v3", "b300-sxm", "26.06.01", "megatron-core-2606-b300"),
        ("deepseek-v3", "b300-sxm", None, "megatron-core-2606-b300"),
        ("deepseek-v3", "gb300-nvl72", "26.06", "megatron-core-2606-gb300"),
        ("qwen3-235b-a22b", "b300-sxm", "26.06", "megatron-core-b300"),
        ("qwen3-235b-a22b", "b300-sxm", "26.06.01", "megatron-core-2606-b300"),
        ("qwen3-30b-a3b", "b300-sxm", "26.06", "megatron-core-2606-b300"),
        ("gpt-oss-120b", "b300-sxm", "26.08", "megatron-core-b300"),
        ("gpt-oss-120b", "b300-sxm", None, "megatron-core-b300"),
        ("gpt-oss-120b", "gb200-nvl72", "26.06", "megatron-core-2606-gb200"),
    ],
)
def test_a_recipe_that_lags_behind_has_the_constants_of_an_earlier_release(model, chip, release, stack):
    on = (accelerators[chip], models[model])
    run = SoftwareSettings(dtype="fp8", release=release).on(*on)
    assert run.stack.key == stack
    assert str(run.release) == (release or "26.06")
    named = SoftwareSettings(dtype="fp8", release=release, stack="megatron-core-2606-" + chip.split("-")[0]).on(*on)
    assert named.stack.key.startswith("megatron-core-2606-")


def test_without_a_software_and_in_software_without_it_copies_travel():
    deepseek = models["deepseek-v3"]
    assert not merges_tokens(None, deepseek, chip="h100-sxm", dtype="fp8")
    assert not merges_tokens(features["torchtitan"], deepseek, chip="h100-sxm", dtype="fp8")
    ideal = SoftwareSettings(stack=Stack.ideal("h100-sxm")).on(accelerators["h100-sxm"], deepseek)
    assert (ideal.dedup_dispatch, ideal.mtp, ideal.release) == (False, False, None)


def test_the_default_is_what_the_newest_release_does_and_can_be_told_otherwise():
    usual, told, copies = (
        task_of("qwen3-30b-a3b", "8xdgx-h100", software=SoftwareSettings(dtype="fp8", dedup_dispatch=choice), **RUN)
        for choice in (None, True, False)
    )
    plan = Strategy.of(gpus=64, ep=16, zero=1)
    assert usual.software.dedup_dispatch is True
    assert step_time(usual, plan).total == step_time(told, plan).total < step_time(copies, plan).total
    assert "April 2026" in usual.title
    assert usual.choices == told.choices != copies.choices


def test_modules_for_multi_token_prediction_are_trained_where_the_software_does():
    usual = task_of("deepseek-v3", "8xdgx-h100", **RUN)
    without = task_of("deepseek-v3", "8xdgx-h100", software=SoftwareSettings(mtp=False), **RUN)
    torch = task_of("deepseek-v3", "8xdgx-h100", software=SoftwareSettings(stack="torchtitan-h100"), **RUN)
    assert (usual.software.mtp, without.software.mtp, torch.software.mtp) == (True, False, False)
    assert usual.choices[-1] != without.choices[-1]
    dense = task_of("llama3-8b", "8xdgx-h100", **RUN)
    assert (dense.software.mtp, dense.software.dedup_dispatch, dense.choices) == (False, False, ())


def test_what_a_parameter_costs_can_be_named():
    plan = Strategy.of(gpus=64, tp=8, zero=1)
    usual, mixed = (
        task_of("llama3-8b", "8xdgx-h100", software=SoftwareSettings(states=x), **RUN) for x in (None, "mixed")
    )
    assert (usual.states.gradient, mixed.states) == (4, MIXED_ADAM)
    assert footprint(usual, plan, m=32).gradients == 2 * footprint(mixed, plan, m=32).gradients
    assert any("16 bytes" in words for words in mixed.choices)
    with pytest.raises(PlanError) as error:
        SoftwareSettings(states="adam")
    assert error.value.field == "states"


@pytest.mark.parametrize("release", ["26", "26.13", "26.00", "2026-04", "latest", 26.04])
def test_a_release_that_is_none_is_refused(release):
    with pytest.raises(PlanError) as error:
        SoftwareSettings(release=release)
    assert error.value.field == "release"
    assert str(SoftwareSettings(release="26.04.01").release) == "26.04.01"


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ("before = '26.13'", "before"),
        ("as_of = 'June'", "as_of"),
        ("chips = ['h1000']", "chips"),
        ("features = 'x'", "features"),
    ],
)
def test_what_no_recipe_can_be_is_refused(more, field):
    with pytest.raises(SpecError, match=rf"f, a\.recipes\.r\.{field}: "):
        list(read_recipes("f", ABLE + ROW + more))
    assert [(recipe.key, recipe.features) for recipe in read_recipes("f", ABLE + ROW)] == [("r", "a")]
    with pytest.raises(SpecError, match=r"f, a\.recipes\.r\.models: "):
        list(read_recipes("f", ABLE + ROW.replace("['gpt-oss']", "[]")))
    with pytest.raises(SpecError, match=r"f, a\.recipes\.r: "):
        list(read_recipes("f", ROW))
