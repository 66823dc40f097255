"""Training steps in whatever unit a source printed, tables without a reader, and chips without fitted constants."""

import csv
import json
import re

import pytest
from click.testing import CliRunner

from benchmarks.fit.stacks import rows_of
from benchmarks.rows.published import COLUMNS, case_of, read_rows, steps
from benchmarks.rows.training_step import Unmodelled
from benchmarks.rows.training_units import plain
from benchmarks.score.fidelity import main
from benchmarks.score.kept_scores import repeats
from benchmarks.score.predictions import predict
from benchmarks.score.scores import report
from hwlib.specs import models, stacks
from hwlib.transformer import gpt_recompute_training_flops

ROW = {"kind": "train-step", "source": "s", "confidence": "seen", "use": "visible"}
# llm-foundry's README: 7b, 8192 a sequence, 8 GPUs, MFU 37.14, HFU 49.52, 3.674893E+14, 55481 and 6935 tokens a second
MOSAIC = ROW | {
    "id": "mosaic-1",
    "system": "h100_80gb",
    "gpus": "8",
    "config": {"model": "mpt-7b", "seq": 8192, "mbs": 8.0, "gbs": 128, "precision": "amp_bf16", "act_ckpt": "True"},
}
MOSAIC_8 = MOSAIC | {  # and 3b, FP8: MFU 23.28, 153174 tokens a second
    "config": {"model": "mpt-3b", "seq": 8192, "mbs": 3, "gbs": 144, "precision": "amp_fp8", "act_ckpt": "False"},
}
# Korthikanti 2022, Table 5, selective recomputation and sequence parallelism: seconds, MFU, HFU
TABLE_5 = {
    "22b": (1.10, 41.5, 43.7),
    "175b": (13.75, 51.4, 52.8),
    "530b": (37.83, 56.0, 57.0),
    "1t": (71.49, 56.3, 57.0),
}
PLANS = {"22b": (8, 1, 4, 4), "175b": (64, 8, 64, 1), "530b": (280, 35, 280, 1), "1t": (512, 64, 512, 1)}
# Narayanan's table of January 2021 prints the product of tp and pp
JANUARY = ROW | {
    "id": "meg21-jan-530B", "system": "A100-80GB SXM (Selene)", "gpus": "2520", "measured_value": "152",
    "unit": "TFLOP/s/GPU",
    "config": {"hidden": 20480, "heads": 128, "layers": 105, "seq": 2048, "vocab": 51200, "model_parallel": 280,
               "gbs": 2520, "recompute": "full"},
}  # fmt: skip
# Llama 3, Table 4: 43 % and 430 TFLOP/s a GPU
LLAMA = ROW | {
    "id": "llama3-8k-8192", "system": "H100-80GB (RoCE 400G)", "gpus": "8192", "measured_value": "43",
    "unit": "BF16 MFU %",
    "config": {"model": "llama3-405b", "hidden": 16384, "layers": 126, "heads": 128, "kv": 8, "ff": 53248, "tp": 8,
               "cp": 1, "pp": 16, "dp": 64, "seq": 8192, "batch_per_dp": 32, "tokens_per_batch": "16M"},
}  # fmt: skip
# torchtitan, December 2024, Table 5: 405B on 512 GPUs, FSDP 8, TP 8, PP 8, 1F1B
TITAN = ROW | {
    "id": "torchtitan-405b", "system": "H100", "gpus": "512", "measured_value": "100", "unit": "TPS/GPU",
    "config": {"model": "Llama 3.1 405B", "seq": 8192, "fsdp": 8, "tp": 8, "pp": 8, "gbs": 256, "float8": True,
               "recompute": "full"},
}  # fmt: skip
H200 = ROW | {
    "id": "mbridge-1", "system": "DGX-H200", "gpus": "64", "measured_value": "1602", "unit": "Tokens / sec / GPU",
    "config": {"gbs": "128", "mbs": "1", "sequence_length": "8192", "fsdp": "0", "tp": "4", "pp": "8", "cp": "1",
               "vp": "5", "model": "LLAMA3_70B", "precision": "FP8-CS"},
}  # fmt: skip


def write(path, *rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in rows:
            config = row["config"]
            writer.writerow({**row, "config": config if isinstance(config, str) else json.dumps(config)})
    return path


@pytest.fixture
def case(tmp_path):
    def read(row, value=None, unit=None, **config):
        new = {"measured_value": value or row.get("measured_value"), "unit": unit or row.get("unit")}
        path = write(tmp_path / "rows.csv", row | new | {"config": row["config"] | config})
        return case_of(read_rows(path)[0][0], path)

    return read


STEP = 128 * 8192 / 55481


@pytest.mark.parametrize(
    ("value", "unit"),
    [("55481", "tokens/s"), ("55481", "Tokens per second"), ("55.481", "K tokens / sec"), ("6935", "TPS/GPU"),
     ("6935", "tok/s/chip"), ("6.7726", "samples/s"), ("0.84657", "Sequences per second per GPU"),
     ("4.7936", "billion tokens / day"), ("4793558400", "tokens/day"), ("37.14", "MFU %"), ("37.14", "% MFU"),
     ("0.3714", "mfu"), ("49.52", "HFU%"), ("49.52", "HFU (%)"), ("367.4893", "TFLOP/s/GPU"),
     ("367.4893", "Model TFLOPs per GPU"), ("2.9399", "PFLOP/s"), ("489.99", "hardware TFLOP / sec / GPU"),
     ("18.9", "s"), ("18900", " MS "), ("18.9", "seconds per iteration"), ("0.0529", "it/s"),
     ("208.6", "days for 1T tokens"), ("40056", "GPU-hours per trillion tokens"),
     ("40056", "H100 GPU-hours for 1000B tokens")],
)  # fmt: skip
def test_one_run_in_every_unit(case, value, unit):
    assert case(MOSAIC, value, unit).seconds == pytest.approx(STEP, rel=1e-3)


def test_days_for_the_tokens_that_the_row_gives(case):
    assert case(MOSAIC, "208.6", "days", train_tokens="1T").seconds == pytest.approx(STEP, rel=1e-3)
    assert case(MOSAIC, "208.6", "days", tokens="1000B tokens").seconds == pytest.approx(STEP, rel=1e-3)
    assert re.search("tokens .*'days'", case(MOSAIC, "208.6", "days").reason)
    assert "fewer than" in case(MOSAIC, "208.6", "days", tokens="1k").reason


def test_a_share_of_the_peak_in_eight_bits(case):
    assert case(MOSAIC_8, "23.28", "MFU %").seconds == pytest.approx(144 * 8192 / 153174, rel=1e-3)
    assert re.search("'MFU %'.* peak, fp8 or bf16", case(H200, "40", "MFU %").reason)
    assert case(H200, "72.7", "BF16 MFU %").seconds == pytest.approx(case(H200, "36.4", "fp8 mfu %").seconds, rel=2e-3)


@pytest.mark.parametrize("size", TABLE_5)
def test_hfu_counts_attention_as_its_source_does(case, size):
    seconds, mfu, hfu = TABLE_5[size]
    model, (gpus, pp, batch, micro) = models[f"korthikanti-{size}"], PLANS[size]
    shape = {"hidden": model.width, "layers": model.layers, "heads": model.heads, "seq": 2048, "vocab": 51200}
    plan = {"tp": 8, "pp": pp, "dp": 1, "gbs": batch, "mbs": micro, "recompute": "selective", "sp": 1}
    row = ROW | {"id": "kor-t5-x", "system": "A100-80GB SXM", "gpus": str(gpus), "config": shape | plan}
    for value, unit in ((mfu, "MFU %"), (hfu, "HFU %")):
        assert case(row, str(value), unit).seconds == pytest.approx(seconds, rel=5e-3)
    none = case(row, str(mfu), "HFU %", recompute="none")
    assert none.seconds == pytest.approx(seconds, rel=5e-3)


def test_a_rate_of_2021_has_in_it_what_is_recomputed_and_mfu_has_not(case):
    shape = 2520 * 2048, 2048, 105, 20480, 51200
    step = case(JANUARY)
    assert step.seconds == pytest.approx(gpt_recompute_training_flops(*shape) / (152e12 * 2520))
    assert (step.plan["tp"], step.plan["pp"], step.plan["dp"]) == (8, 35, 9)
    assert case(JANUARY, "383", "PFLOP/s").seconds == pytest.approx(step.seconds, rel=1e-3)
    assert case(JANUARY, "48.72", "HFU %").seconds == pytest.approx(step.seconds, rel=1e-3)
    assert case(JANUARY, "36.6", "MFU %").seconds == pytest.approx(step.seconds, rel=0.01)  # 3/4 of that, nearly


@pytest.mark.parametrize(
    ("value", "unit", "reason"),
    [
        ("0.3714", "MFU %", "0.3714 MFU %.* share"),
        ("367", "TFLOP/s", "'TFLOP/s'.* one GPU "),
        ("6935", "tokens/s", "'tokens?/s'.* one GPU "),
        ("5", "ms/token", "'ms/token'.*time"),
        ("5", "tokens/s/node", "tokens?/s/node'.*time"),
        ("5", "", "''.*time"),
        ("5", "GB/s", "'GB/s'.*time"),
        ("101", "HFU %", "contradicts itself: 101 HFU %.* peak"),
        ("6935", "tokens/s/GPU/day", "/day'.*time"),
        ("18.9", "ms", "contradicts itself: .* peak"),
        ("18900", "s", "contradicts itself: .* peak"),
    ],
)
def test_what_gives_no_time_says_why(case, value, unit, reason):
    found = case(MOSAIC, value, unit)
    assert isinstance(found, Unmodelled)
    assert re.search(reason, found.reason), found.reason


def test_units_have_one_spelling():
    words = ("TFLOP/s/GPU", "TFLOPs per GPU", "tflops / sec / device", "TFLOPS/chip", "TFLOP per second per GPU")
    assert {plain(word) for word in words} == {"tflop/s/gpu"}
    assert plain("thousand tokens per day") == "k token/day"


def test_a_table_without_a_reader_takes_typical_constants(case):
    step = case(LLAMA)
    assert step.plan["B"] == 2**24
    assert step.seconds == pytest.approx(case(LLAMA, "430", "TFLOPs/GPU").seconds, rel=0.02)
    assert predict(step).typical == "megatron-core-h100"
    assert case(LLAMA, dp=None, batch_per_dp=None).plan["B"] == 2**24
    assert "attention's mask" in case(LLAMA, dp=64, seq=131072, cp=1, batch_per_dp=2).reason
    step = case(TITAN)
    assert step.seconds == pytest.approx(256 * 8192 / (100 * 512))
    assert {"dp": 8, "tp": 8, "pp": 8, "zero": 3, "dtype": "fp8", "recompute": "full"}.items() <= step.plan.items()
    assert case(TITAN, gbs=None, mbs=1, ga=32).plan["B"] == 256 * 8192
    assert case(TITAN | {"id": "other-1"}, ac="selective by op", recompute=None, mbs=1).plan["recompute"] == "op"
    assert "drop_rate = 0.1 is not read" in case(LLAMA, drop_rate=0.1).reason
    assert "neither a known model" in case(TITAN, model="llama-9").reason
    assert "name" in case(LLAMA, model="").reason


def test_a_chip_without_fitted_constants_is_apart_from_the_scored(case, tmp_path):
    step = case(H200)
    assert step.seconds == pytest.approx(128 * 8192 / (1602 * 64))
    assert predict(step).typical == "typical-h200-sxm"
    foundry = case(MOSAIC | {"system": "h200_141gb"}, "7500", "tokens/s/GPU")
    assert foundry.typical.eta_A == stacks["llm-foundry-h100"].eta_A
    path = write(tmp_path / "rows.csv", H200, MOSAIC | {"measured_value": "6935", "unit": "TPS/GPU"}, LLAMA)
    result = report(path)
    assert [s.set for s in result.training] == ["mosaic-h100"]
    assert [s.set for s in result.typical] == ["llama3-8k: megatron-core-h100", "mbridge-h200-llama3: typical-h200-sxm"]
    printed = CliRunner().invoke(main, ["--data", str(path)]).output
    assert "Typical constants, fitted to no step of this software on this chip" in printed
    said = json.loads(CliRunner().invoke(main, ["--json", "--data", str(path)]).stdout)
    assert [(s["set"], s["kind"], s["typical"]) for s in said] == [
        ("mosaic-h100", "train-step", False),
        ("llama3-8k: megatron-core-h100", "train-step", True),
        ("mbridge-h200-llama3: typical-h200-sxm", "train-step", True),
    ]
    assert not rows_of(stacks["megatron-core-h100"], steps(path))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"measured_value": "nan"}, "measured_value .*'nan'$"),
        ({"measured_value": "-1"}, "measured_value .*'-1'$"),
        ({"measured_value": ""}, "measured_value .*''$"),
        ({"gpus": "18.9"}, "gpus .* 18.9$"),
        ({"config": "{bad"}, "Expecting property name"),
        ({"config": "[1]"}, "config .*JSON object"),
        ({"config": "[" * 100_000}, "recursion"),
        ({"kind": "memory", "config": ""}, "Expecting value"),
    ],
)
def test_a_row_that_cannot_be_read_is_listed_and_the_others_are_scored(tmp_path, change, reason):
    good = MOSAIC | {"measured_value": "6935", "unit": "TPS/GPU"}
    path = write(tmp_path / "rows.csv", good, good | change)
    result = report(path)
    assert [s.rows for s in result.training] == [1]
    [text] = result.unmodelled
    assert "line 3" in text
    assert re.search(reason, text), text
    assert len(steps(path)) == 1


# Rows of sources that no reader was written for

TUNED = {
    "hidden": 4096,
    "layers": 32,
    "heads": 32,
    "ff": 11008,
    "vocab": 151936,
    "model": "qwen-7b",
    "stage": "LoRA",
    "seq": 1024,
    "mbs": 1,
    "grad_accum": 8,
    "gbs": 8,
    "ac": "full (the script turns on gradient checkpointing)",
}
ADAPTERS = {
    "id": "some-1",
    "kind": "train-step",
    "system": "A100-80GB SXM",
    "gpus": "1",
    "config": TUNED,
    "measured_value": "2.8",
    "unit": "s/iter (8 microbatches)",
}


def test_a_shape_that_is_printed_needs_no_name(case):
    step = case(ADAPTERS)
    assert (step.model.ffn, step.model.gated, step.seconds) == (11008, True, 2.8)
    assert predict(step).typical
    assert predict(step).error < 0.15
    for name in ("hidden", "heads", "ff", "vocab", "seq"):
        assert re.search(name, case(ADAPTERS, **{name: None}).reason)


def test_adapters_are_never_read_as_training_everything(case):
    """Adapters need no gradient of the weights, and weights in 4 bits are unpacked in each pass."""
    everything, adapters = case(ADAPTERS, stage="full"), case(ADAPTERS)
    packed = case(ADAPTERS, stage="QLoRA", base_weights="int4")
    assert adapters.time() < 0.9 * everything.time()
    assert packed.time() > adapters.time()
    assert "rlhf" in case(ADAPTERS, stage="RLHF").reason
    many = {"gpus": "8"}
    shared = {"fsdp": 8, "gbs": 64, "lora_rank": 32}  # of eight microbatches each
    frozen, trained = (case(ADAPTERS | many, **shared, stage=stage) for stage in ("LoRA", "full"))
    assert frozen.time() < 0.95 * trained.time()
    assert frozen.software.lora.rank == 32
    assert "base_weights" in case(ADAPTERS | many, **shared, base_weights="int3").reason


def test_groups_of_fsdp_and_replicas_are_multiplied(case):
    row = LLAMA | {"gpus": "256", "unit": "sequences/s", "measured_value": "1600"}
    shape = {"model": "gpt-5b", "hidden": 4096, "layers": 24, "heads": 32, "ff": 16384, "vocab": 50304}
    plan = {"tp": None, "pp": None, "cp": None, "dp": 1, "fsdp": 256, "gbs": 2048, "mbs": 8, "seq": 2048}
    cells = {"tokens_per_batch": None, "batch_per_dp": None, "kv": None}
    step = case(row, **shape, **plan, **cells)
    assert (step.plan["dp"], step.plan["zero"]) == (256, 3)
    assert "not the 256 GPUs" in case(row, **shape, **{**plan, "fsdp": 128}, **cells).reason


def test_a_plan_that_cannot_be_otherwise_recomputes(case):
    row = ADAPTERS | {"gpus": "8", "measured_value": "240"}
    large = {"fsdp": 8, "gbs": 256, "mbs": 32, "seq": 8192, "ac": None, "grad_accum": None}
    assert case(row, **large).plan["recompute"] == "full"
    assert case(row, **{**large, "mbs": 1, "gbs": 2048, "seq": 1024}).plan["recompute"] == "none"
    assert "the chip's memory" in predict(case(row, **{**large, "ac": "none"})).reason


def test_cells_of_results_do_not_refuse_a_row(case):
    assert type(case(LLAMA, days_300B=84, minutes=3.7, tokens_s_gpu=500)) is type(case(LLAMA))


def test_a_batch_that_its_parts_do_not_make_is_a_contradiction(case):
    whole = {"gbs": 2688, "grad_accum": 6, "mbs": 1, "tp": 4, "pp": 6, "cp": 1, "dp": None, "seq": 2048}
    row = LLAMA | {"gpus": "10752", "unit": "tokens/s/GPU", "measured_value": "506"}
    cells = {"tokens_per_batch": None, "batch_per_dp": None}
    assert case(row, **whole, **cells, model="gpt3-175b").plan["B"] == 2688 * 2048
    assert "contradicts itself" in case(row, **{**whole, "grad_accum": 5}, **cells, model="gpt3-175b").reason


@pytest.mark.parametrize(
    ("system", "chip"), [("MI300X", "mi300x"), ("TPU v5p-128", "tpu-v5p"), ("H100 PCIe", "h100-pcie")]
)
def test_a_chip_that_no_step_was_fitted_on_is_read_by_its_data_sheet(case, system, chip):
    row = LLAMA | {"gpus": "64", "system": system, "unit": "tokens/s/GPU", "measured_value": "500"}
    step = case(row, model="llama3-8b", hidden=None, tp=1, pp=1, cp=1, dp=64, batch_per_dp=4, tokens_per_batch=None)
    assert step.chip == chip
    assert predict(step).typical


@pytest.mark.parametrize(
    ("system", "reason"),
    [("Trainium (32x trn1.32xlarge)", "rate of its links"), ("Inferentia2", "servers"), ("X1", "no chip")],
)
def test_a_chip_without_what_a_step_needs_is_named(case, system, reason):
    found = case(LLAMA | {"system": system})
    assert re.search(reason, found.reason)
    assert system.split()[0] in found.reason


def test_a_row_that_leaves_something_open_is_never_fitted_nor_a_repeat(case, tmp_path):
    """Its stack is fitted and its id begins as the rows of that do."""
    experts = {"model": "Qwen3_30B_a3B", "ep": 8, "tp": 1, "pp": 2, "vp": 24, "gbs": 512, "seq": 4096, "mbs": 2}
    row = ROW | {
        "id": "mbridge-1",
        "system": "DGX-H100",
        "gpus": "16",
        "config": experts | {"release": "25.09"},
        "measured_value": "10494",
        "unit": "tokens/s/GPU",
    }
    dropped = row | {"id": "mbridge-2", "config": {**row["config"], "model": "Qwen3_30B_a3B (tokendrop)"}}
    path = write(tmp_path / "rows.csv", row, dropped)
    pairs = steps(path)
    assert [step.open for _, step in pairs] == [False, True]
    stack = stacks["megatron-core-h100"]
    assert rows_of(stack, pairs) == [pairs[0][1]]
    assert list(repeats(path)) == []
    assert len(list(repeats(write(path, row, row | {"id": "mbridge-3"})))) == 1
    assert [s.rows for s in report(path).typical] == []
    assert [s.rows for s in report(write(path, row, dropped)).typical] == [1]
