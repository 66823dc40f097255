"""The labs of chapter 14 against what they stand for: one process, the planner's columns, the published times."""

import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.declaration import load_bank
from hwlib.planner import Allowed, SoftwareSettings, machine_of
from hwlib.planner.search import search
from hwlib.planner.task import task_of
from hwlib.strategy import RECOMPUTED


@pytest.fixture(scope="module")
def bank(root):
    return load_bank(root / "solutions" / "14-mixed-strategies")


@pytest.fixture(scope="module")
def names(root):
    """The names of the files of exercises, as the text reads them."""
    sys.path.insert(0, str(root / "solutions" / "14-mixed-strategies"))
    try:
        found = {file: importlib.import_module(f"exercises.{file}") for file in ("beat", "cube", "published")}
    finally:
        sys.path.pop(0)
        for name in [name for name in sys.modules if name.partition(".")[0] == "exercises"]:
            del sys.modules[name]
    return SimpleNamespace(**found)


@pytest.mark.slow
def test_the_cube_computes_what_one_process_does(names):
    torch = pytest.importorskip("torch")
    from hwlib.labs import run_ranks

    case = next(iter(names.cube.LAB_CUBE.answer.cases))
    parts = names.cube.cube_inputs(case, np.random.default_rng(1))
    tensors = [{name: torch.from_numpy(np.ascontiguousarray(x)) for name, x in part.items()} for part in parts]
    cube = names.cube.run_cube
    given = [tuple(part.values()) for part in tensors]
    run = run_ranks(lambda rank, n: cube(rank, n, *given[rank]), 8)

    def whole(stage):
        """A layer's two matrices, from the shares of replica 0."""
        left, right = tensors[4 * stage], tensors[4 * stage + 1]
        A, B = torch.cat([left["A"], right["A"]], 1), torch.cat([left["B"], right["B"]])
        return A.requires_grad_(), B.requires_grad_()

    layers = [whole(0), whole(1)]
    loss = 0.0
    for replica in (0, 1):
        y = tensors[2 * replica]["x"]
        for A, B in layers:
            y = y + torch.relu(y @ A) @ B
        loss = loss + ((y - tensors[4 + 2 * replica]["t"]) ** 2).sum() / 2 / 2
    loss.backward()
    half = case["f"] // 2
    for rank, (dA, dB) in enumerate(run.results):
        A, B = layers[rank // 4]
        own = slice(rank % 2 * half, (rank % 2 + 1) * half)
        torch.testing.assert_close(dA, A.grad[:, own])
        torch.testing.assert_close(dB, B.grad[own])


@pytest.mark.parametrize("number", range(3))
def test_a_plan_of_the_design_lab_costs_what_the_planner_says(names, number):
    """Every hundredth of its valid plans: the record is accepted, and takes the same time and memory."""
    beat = names.beat
    given = beat.BEAT_TASKS[number]
    software = SoftwareSettings(stack=beat.STACK.key)
    task = task_of(
        beat.KEYS[given["model"]], beat.cluster_of(given["gpus"]), B=given["B"], T=given["T"], software=software
    )
    costed = search(task, Allowed(schedule="1f1b")).costed
    assert costed.memory.size > 1000
    for place in range(0, costed.memory.size, 100):
        strategy = costed.strategy[place]
        if strategy.shards is not None:  # HSDP, which the lab does not ask about
            continue
        record = beat.record_of(strategy) | {"recompute": RECOMPUTED[strategy.recompute_code]}
        if np.isnan(costed.seconds[place]):
            assert beat.plan_bytes(**given, **record).total > beat.ROOM
            continue
        assert beat.plan_time(**given, **record).total == pytest.approx(costed.seconds[place])
        assert beat.plan_bytes(**given, **record).total == pytest.approx(costed.memory[place])
    assert beat.LEVELS[given["gpus"]] == machine_of(beat.cluster_of(given["gpus"])).levels


def test_the_terms_of_a_plan_add_up(names):
    beat = names.beat
    for given in beat.BEAT_TASKS:
        record = beat.planned_record(given["model"])
        for found in (beat.plan_time(**given, **record), beat.plan_bytes(**given, **record)):
            assert sum(found.terms.values()) == pytest.approx(found.total)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"dp": 5}, "and there are 1,024 GPUs"),
        ({"zero": 3}, "ZeRO-3 with a pipeline"),
        ({"micro": 3}, "does not divide the batch"),
        ({"pp": 1, "dp": 64}, "need a pipeline"),
        ({"v": 5}, "equal chunks"),
        ({"dp": 64, "pp": 16, "tp": 1, "cp": 1}, "multiples of pp"),
        ({"tp": 64, "dp": 1, "cp": 1, "v": 1}, ""),
    ],
)
def test_a_plan_that_cannot_be_says_why(names, changed, said):
    beat = names.beat
    given = beat.BEAT_TASKS[0]
    record = beat.planned_record(given["model"]) | changed
    if not said:
        assert beat.plan_time(**given, **record).total > beat.rule_time(**given)
        return
    with pytest.raises(ValueError, match=said):
        beat.plan_time(**given, **record)


def test_no_published_time_stands_where_learners_read(names, bank):
    exercise = bank["mixed-strategies-predict-runs"]
    text = "\n".join([str(exercise.public(variants=True)), exercise.prompt_text(), exercise.stub(), *exercise.hints])
    for run, time in zip(names.published.RUNS, names.published.published_times(), strict=True):
        assert f"{time:.4g}" not in text
        assert f"{run.value:g} " not in text


def test_one_share_of_the_peak_is_worse_than_the_model(names):
    published = names.published
    assert published.MEDIAN_ERROR < 0.025 < 0.05 < published.share_error(published.BEST_SHARE)
    for share in (0.3, 0.4, 0.5):
        assert published.share_error(share) > published.share_error(published.BEST_SHARE)
