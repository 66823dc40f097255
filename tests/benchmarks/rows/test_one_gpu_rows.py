"""Rows of one GPU, of any software on PyTorch: their question is read; time and memory are those of the command."""

import csv
import json
from statistics import fmean

import pytest

from benchmarks.rows.memory_rows import Peak
from benchmarks.rows.one_gpu_rows import asked_question
from benchmarks.rows.published import COLUMNS, ROWS, case_of, read_rows
from benchmarks.rows.reader_names import reader_of
from benchmarks.rows.training_models import memory_model
from benchmarks.rows.training_step import TrainingStep, Unmodelled
from benchmarks.score.predictions import Prediction, predict
from hwlib.footprint import BFLOAT16_ADAM, FULL_ADAM, HALF_ADAM, Adapters
from hwlib.planner import SoftwareSettings
from hwlib.planner.task import task_of
from hwlib.specs import frameworks, nodes
from hwlib.steptime import step_time
from hwlib.strategy import Strategy

STEP = {
    "id": "somelab-llama3-8b",
    "reader": "one-gpu",
    "kind": "train-step",
    "system": "H200-141GB SXM",
    "gpus": "1",
    "measured_value": "1.2",
    "unit": "s/iter",
    "source": "-",
    "confidence": "seen verbatim",
    "use": "test",
}
PLAN = {"model": "llama3-8b", "mbs": 2, "gbs": 4, "seq": 4096, "ac": "full", "dtype": "bf16"}
LORA = PLAN | {"stage": "QLoRA", "rank": 16, "targets": "q+v", "base_weights": "nf4-dq", "amp": 1}
PEAK = STEP | {"reader": "memory-one-gpu", "kind": "train-memory", "unit": "GB a GPU", "measured_value": "40"}


@pytest.fixture
def case(tmp_path):
    def read(cells, config, **changes):
        path = tmp_path / "rows.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, [*COLUMNS, "reader"])
            writer.writeheader()
            writer.writerow(cells | {"config": json.dumps(config)} | changes)
        return case_of(read_rows(path)[0][-1], path)

    return read


@pytest.fixture(scope="module")
def kept():
    """The kept rows of one GPU with what is predicted of them, by their set."""
    found = {}
    for row in read_rows(ROWS)[0]:
        if row.gpus == 1 and row.kind in ("train-step", "train-memory"):
            found.setdefault(row.set, []).append(predict(case_of(row, ROWS)))
    return found


def test_a_step_of_adapters_is_that_of_the_command(case):
    found = case(STEP, LORA)
    assert isinstance(found, TrainingStep)
    assert (found.stack, found.plan["micro"], found.plan["B"]) == ("pytorch-h200", 2, 4 * 4096)
    software = SoftwareSettings(stack="pytorch-h200", states="full", lora="16@q+v", base="nf4")
    task = task_of("llama3-8b", "dgx-h200", B=4 * 4096, T=4096, gpus=1, software=software)
    ours = float(step_time(task, Strategy(micro=2, recompute="full")).total)
    assert found.time() == pytest.approx(ours, rel=1e-6)
    compiled = case(STEP, PLAN | {"compile": 1})
    assert compiled.stack == "pytorch-compiled-h200"


@pytest.mark.parametrize(
    ("config", "states", "loss"),
    [
        ({}, BFLOAT16_ADAM, "full"),
        ({"states": "full"}, FULL_ADAM, "full"),
        ({"states": "half", "loss": "fused"}, HALF_ADAM, "fused"),
        ({"stage": "LoRA", "rank": 8}, FULL_ADAM, "full"),
        ({"optimizer_in_backward": 1, "loss": "chunked"}, BFLOAT16_ADAM._replace(gradient=0), "chunked"),
        ({"loss": "in place"}, BFLOAT16_ADAM, "in place"),
    ],
)
def test_what_is_trained_is_what_a_row_says(config, states, loss):
    asked = asked_question(PLAN | config)
    assert (asked.trained.states, asked.loss) == (states, loss)
    assert asked.settings["loss"] == ("fused" if loss == "in place" else loss)


def test_adapters_are_those_of_the_row():
    assert asked_question(LORA).trained.adapters == Adapters(16, ("q", "v"), "nf4")
    every = asked_question({"stage": "LoRA", "rank": 8}).trained.adapters
    assert every == Adapters(8)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"stage": "DPO"}, "stage"),
        ({"loss": "liger"}, "loss"),
        ({"stage": "LoRA"}, "rank"),
        ({"stage": "LoRA", "rank": 8, "base_weights": "fp4"}, "base_weights"),
        ({"states": "narrow"}, "states"),
    ],
)
def test_a_word_that_is_not_known_is_refused(case, config, named):
    with pytest.raises(ValueError, match=named):
        asked_question(PLAN | config)
    found = case(STEP, PLAN | config)
    assert isinstance(found, Unmodelled)
    assert named in found.reason


def test_a_table_without_readers_names_them_by_what_a_row_says():
    assert reader_of("train-step", "somelab-7b", LORA) == "one-gpu"
    assert reader_of("train-step", "somelab-7b", PLAN) == "unknown"
    assert reader_of("train-memory", "somelab-7b", LORA | {"measure": "monitor"}) == "memory-one-gpu"
    assert reader_of("train-memory", "somelab-7b", LORA) == "memory-one-gpu"
    assert reader_of("train-memory", "somelab-7b", PLAN) == "memory-unknown"


def test_a_row_of_several_gpus_is_not_of_one(case):
    assert isinstance(case(STEP, PLAN, gpus="2"), Unmodelled)


def test_a_peak_counts_what_the_row_measures(case):
    def peak(**changes):
        found = case(PEAK, LORA | {"measure": "monitor"} | changes)
        assert isinstance(found, Peak)
        return found

    monitor, reserved, allocated = (peak(measure=word) for word in ("monitor", "reserved", "allocated"))
    assert monitor.predicted() - reserved.predicted() == pytest.approx(frameworks["pytorch"].reserve)
    assert reserved.framework.logit_hole > allocated.framework.logit_hole == allocated.framework.fragmentation == 0
    varied = peak(lengths="vary")
    assert varied.predicted() > monitor.predicted()
    assert peak(loss="in place").predicted() < peak(loss="chunked").predicted() < monitor.predicted()
    assert peak(loss="fused", activation_offload=1).predicted() < peak(loss="fused").predicted()
    assert peak(attention="eager", ac="none").predicted() > peak(ac="none").predicted()
    assert (monitor.m, peak(grad_accum=4).m) == (1, 4)
    assert case(PEAK, LORA).predicted() == monitor.predicted()  # which is all that is in use, unless a unit says less
    assert case(PEAK, LORA, unit="GiB allocated").predicted() == allocated.predicted()
    assert isinstance(case(PEAK, LORA | {"measure": "peak"}), Unmodelled)
    assert isinstance(case(PEAK, LORA, gpus="2"), Unmodelled)
    assert peak(ac="full (the script turns it on)").predicted() == monitor.predicted()


def test_norms_and_updates_are_apart_unless_the_row_says_otherwise(case):
    apart, fused = (
        case(PEAK, PLAN | {"measure": "reserved"} | more) for more in ({}, {"norms": "fused", "update": "fused"})
    )
    assert (apart.framework.fused_norms, apart.framework.moments) == (False, 1)
    assert (fused.framework.fused_norms, fused.framework.moments) == (True, 0)
    assert apart.predicted() > fused.predicted()


def test_a_model_of_fewer_layers_and_a_gpt2():
    assert memory_model({"model": "llama3-8b-8layers"}).layers == 8
    gpt2 = memory_model({"model": "gpt2-124m"})
    assert (gpt2.layers, gpt2.positions, gpt2.biases, gpt2.tied) == (12, 1024, "all", True)
    assert memory_model({"model": "phi-1.5"}).layer_norms == 1
    shape = {"model": "row", "hidden": 512, "layers": 2, "heads": 8, "ff": 1024, "vocab": 100, "seq": 128}
    assert [memory_model(shape | more).kv_heads for more in ({}, {"kv": 2})] == [8, 2]


@pytest.mark.parametrize(
    ("name", "count", "error"),
    [
        ("memory-own", 17, 0.04),
        ("memory-qwen", 39, 0.06),
        ("memory-torchtune", 9, 0.05),
        ("memory-litgpt", 29, 0.06),
        ("memory-llamafactory", 14, 0.12),
        ("memory-unsloth", 16, 0.1),
        ("memory-swift", 71, 0.13),
        ("own-h200", 17, 0.05),
    ],
)
def test_the_rows_of_one_gpu_are_met(kept, name, count, error):
    assert len(kept[name]) == count
    assert all(isinstance(p, Prediction) for p in kept[name])
    assert fmean(p.error for p in kept[name]) < error


@pytest.mark.parametrize(("name", "count"), [("qwen-tuned", 39), ("torchtune", 9), ("one-gpu", 16)])
def test_published_steps_of_one_gpu_are_all_read(kept, name, count):
    assert len(kept[name]) == count
    assert all(isinstance(p, Prediction) for p in kept[name])


@pytest.mark.parametrize("more", [{}, {"states": "full"}, {"compile": 1}, {"loss": "chunked"}])
def test_a_peak_is_what_the_command_counts_for_the_same_question(case, more):
    config = PLAN | {"gbs": 2} | more
    ours = case(STEP, config).memory()
    peak = case(PEAK, config | {"measure": "monitor", "norms": "fused", "update": "fused"})
    assert peak.predicted() == pytest.approx(ours, rel=1e-9)


@pytest.mark.parametrize(
    ("stage", "elements"), [("LoRA", 1.5 * 4096), ("adapter-v2", 5 * 4096 + 2 * 11008), ("adapter", 0)]
)
def test_what_adapters_of_litgpt_keep(case, stage, elements):
    """Of LoRA the input behind dropout, in two bytes, and its mask in one; scaled outputs of all seven matrices."""
    config = {"model": "llama2-7b", "stage": stage, "trainable": 10**6, "mbs": 2, "seq": 512, "base_weights": "bf16"}
    found = case(PEAK, config, reader="memory-litgpt")
    assert found.beside == 32 * 1024 * 2 * elements


def test_what_lengths_waste_ends_where_the_card_does(case):
    """Blocks of the loss and of a layer are reserved again and again; blocks of kept layers serve again."""
    config = LORA | {"measure": "reserved", "lengths": "vary"}
    small = {"measured_value": "20"}
    loose, tight = (case(PEAK | small, config, system=system) for system in ("H200", "H200-24GB"))
    same = case(PEAK, LORA | {"measure": "reserved"})
    assert loose.predicted() > tight.predicted() >= same.predicted()
    assert tight.predicted() <= max(same.predicted(), 24 * 2**30)
    kept = [case(PEAK, LORA | {"measure": "reserved", "ac": "none"} | more) for more in ({"lengths": "vary"}, {})]
    recomputed = loose.predicted() - same.predicted()
    assert kept[0].predicted() - kept[1].predicted() == pytest.approx(recomputed, rel=0.2)


def test_what_the_host_keeps_needs_no_memory_of_a_step(case):
    """A row names no link to the host: that of the first node with such a chip, which moves beside the work."""
    kept, offloaded = (case(STEP, LORA | more) for more in ({}, {"activation_offload": 1}))
    assert (kept.software.offload, offloaded.software.offload) == ((), ("activations",))
    assert kept.task().machine.host is None
    assert offloaded.task().machine.host == nodes["dgx-h200"].to_host_bandwidth
    assert kept.time() == pytest.approx(offloaded.time())
    assert kept.memory() - offloaded.memory() > 0.9 * 30 * 2 * 4096 * 2 * 4096


def test_logits_that_accelerate_gives_back_are_in_32_bits(case):
    config = LORA | {"measure": "monitor", "loss": "in place"}
    assert [case(PEAK, config | more).framework.logit for more in ({"amp": 1}, {"amp": 0})] == [6, 2]
    assert case(PEAK, config | {"amp": 1, "loss": "fused"}).framework.logit == 2
