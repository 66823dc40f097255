"""Reading published training runs: what each table's rows become, what is assumed, and what cannot be modelled."""

import csv
import json
import math
import re
from dataclasses import replace

import pytest

from benchmarks.rows.published import COLUMNS, case_of, read_rows, steps
from benchmarks.rows.row_words import divided_among
from benchmarks.rows.training_models import gpt, model_named, mpt
from benchmarks.rows.training_rows import SC21, training_case
from benchmarks.rows.training_step import TrainingStep, Unmodelled, chip_of, number
from benchmarks.score.predictions import predict, predict_step
from benchmarks.score.scores import report
from hwlib.specs import Stack, models, stacks
from hwlib.transformer import gpt_recompute_training_flops, parameter_count, step_flops

PLAIN = {
    "id": "kor-t5-175B-full", "kind": "train-step", "system": "A100-80GB SXM (Selene)", "gpus": "64",
    "config": {"hidden": 12288, "layers": 96, "heads": 96, "seq": 2048, "vocab": 51200, "tp": 8, "pp": 8, "dp": 1,
               "vp": 3, "gbs": 64, "mbs": 1, "recompute": "full", "sp": 0},
    "measured_value": "18.13", "unit": "s/iter", "source": "s", "confidence": "seen", "use": "visible",
}  # fmt: skip
MEG21 = PLAIN | {
    "id": "meg21-apr-145B", "gpus": "1536", "measured_value": "148", "unit": "TFLOP/s/GPU",
    "config": {"hidden": 12288, "layers": 80, "seq": 2048, "vocab": 51200, "tp": 8, "pp": 8, "dp": 24, "gbs": 2304,
               "recompute": "full", "flops": "96BslH^2(1+s/6h+V/16lh)"},
}  # fmt: skip
BRIDGE = PLAIN | {
    "id": "mbridge-02257", "system": "DGX-GB200", "gpus": "64", "measured_value": "1791", "unit": "model TFLOP/s/GPU",
    "config": {"gbs": "128", "mbs": "2", "sequence_length": "8192", "fsdp": "64 (0)", "tp": "1 (2)", "pp": "1 (4)",
               "cp": "1", "vp": "1 (5)", "ep": "1", "ga": "1 (16)", "model": "LLAMA3_70B", "tokens_s_gpu": 3986.0},
}  # fmt: skip
EXPERTS = BRIDGE | {
    "id": "mbridge-02255", "system": "DGX-H100", "gpus": "256", "measured_value": "233",
    "config": {"precision": "FP8-CS", "gbs": "2048", "mbs": "1", "sequence_length": "4096", "fsdp": "0", "tp": "2",
               "pp": "8", "cp": "1", "vp": "4", "ep": "32", "model": "Qwen3_235B_a22B", "tokens_s_gpu": 1575.0},
}  # fmt: skip
MOSAIC = PLAIN | {
    "id": "mosaic-036", "system": "h100_80gb", "gpus": "8", "measured_value": "6935", "unit": "tokens/s/GPU",
    "config": {"model": "mpt-7b", "seq": 8192, "mbs": 8.0, "ga": 2.0, "gbs": 128, "precision": "amp_bf16",
               "strategy": "FULL_SHARD", "act_ckpt": "True"},
}  # fmt: skip
BLOOM = PLAIN | {
    "id": "bloom-034", "gpus": "384", "measured_value": "134.02",
    "config": {"seq": 2048, "vocab": 250880, "recompute": "full", "zero": 1, "hidden": 14336, "layers": 72,
               "heads": 64, "dp": 4, "tp": 8, "pp": 12, "mbs": 2, "gbs": 2048, "tflops_logged": "120.29"},
}  # fmt: skip
NEMO = PLAIN | {
    "id": "nemo2407-LLAMA3-8B-8",
    "system": "DGX-H100 (FP8)",
    "gpus": "8",
    "measured_value": "711",
    "unit": "model TFLOP/s/GPU",
    "config": {"model": "LLAMA3-8B", "gbs": 128, "mbs": 1, "seq": 8192, "tp": 1, "pp": 1, "cp": 2, "vp": 1},
}
VTRAIN = PLAIN | {
    "id": "vtrain-single-0001",
    "system": "A100",
    "gpus": "8",
    "measured_value": "219.7",
    "unit": "ms/iter",
    "config": {"hidden": 1024, "heads": 16, "layers": 24, "seq": 1024, "tp": 2, "pp": 2, "dp": 2, "gbs": 32, "mbs": 4},
}
OF_2024 = MOSAIC | {
    "id": "meg24-177B", "gpus": "2304", "system": "H100-80GB SXM", "measured_value": "432.8", "unit": "TFLOP/s/GPU",
    "config": {"hidden": 12288, "heads": 96, "layers": 96, "tp": 8, "pp": 6, "dp": 48, "gbs": 1152, "seq": 4096,
               "vocab": 131072},
}  # fmt: skip
EVERY = [PLAIN, MEG21, BRIDGE, EXPERTS, MOSAIC, BLOOM, NEMO, VTRAIN, OF_2024]


def write(path, *rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows({**row, "config": json.dumps(row["config"])} for row in rows)
    return path


@pytest.fixture
def case(tmp_path):
    def read(row, **config):
        path = write(tmp_path / "rows.csv", row | {"config": row["config"] | config})
        return case_of(read_rows(path)[0][0], path)

    return read


def test_a_step_in_seconds(case):
    step = case(PLAIN)
    assert (step.group, step.stack, step.chip, step.seconds) == ("kor-t5", "megatron-2022-a100", "a100-80gb-sxm", 18.13)
    degrees = {"tp": 8, "pp": 8, "dp": 1, "v": 3, "micro": 1, "B": 64 * 2048, "recompute": "full", "sp": False}
    assert degrees.items() <= step.plan.items()
    assert parameter_count(step.model) == parameter_count(models["korthikanti-175b"])
    assert [level.bandwidth for level in step.levels] == [300e9, 8 * 25e9]
    assert case(VTRAIN).seconds == pytest.approx(0.2197)
    assert case(VTRAIN).levels[1].bandwidth == 100e9


def test_a_rate_of_operations_goes_by_the_sources_count(case):
    step = case(MEG21)
    flops = gpt_recompute_training_flops(2304 * 2048, 2048, 80, 12288, 51200)
    assert step.seconds == pytest.approx(flops / (148e12 * 1536))
    assert (step.plan["micro"], step.plan["v"]) == SC21[12288] == (2, 2)
    assert step.model.heads == 96  # of the same model in another table
    assert case(OF_2024).plan["v"] == 8


def test_a_rate_of_tokens_needs_no_count(case):
    assert case(MOSAIC).seconds == pytest.approx(128 * 8192 / (6935 * 8))
    ours = step_flops(models["llama3-70b"], 128 * 8192, 8192)
    assert case(BRIDGE).seconds == pytest.approx(ours / (1791e12 * 64))  # our count is theirs: more digits
    assert case(BRIDGE, tokens_s_gpu=3000.0).seconds == pytest.approx(128 * 8192 / (3000 * 64))
    assert case(BRIDGE, tokens_s_gpu="n/a").seconds == pytest.approx(ours / (1791e12 * 64))
    whole = step_flops(models["llama3-8b"], 128 * 8192, 8192, causal=False)
    assert case(NEMO).seconds == pytest.approx(whole / (711e12 * 8))  # this release counts no mask


def test_a_share_of_the_peak_may_be_printed_as_a_percentage(case):
    percent, share = (
        case(PLAIN | {"measured_value": value, "unit": unit}) for value, unit in (("54.2", "MFU %"), ("0.542", "MFU"))
    )
    assert percent.seconds == pytest.approx(share.seconds)


def test_a_logged_rate_is_held_against_the_time_whatever_its_unit(case):
    assert case(BLOOM | {"measured_value": "134020", "unit": "ms/iter"}).seconds == pytest.approx(case(BLOOM).seconds)


def test_a_logged_rate_says_which_of_the_logs_models_it_was(case):
    def shape(value, rate, **config):
        model = case(BLOOM | {"measured_value": value}, tflops_logged=rate, **config).model
        return model.width, model.layers, model.heads

    assert shape("134.02", "120.29") == (14336, 72, 64)
    assert shape("102.03", "153.68", hidden=13824, layers=None, dp=8, tp=4) == (14336, 70, 64)  # BLOOM
    assert shape("123.71", "128.10", hidden=13824, layers=78, heads=104, dp=8, tp=4) == (13312, 82, 104)
    assert shape("112.69", "154.86", hidden=13824, layers=None, heads=96, dp=8, tp=4) == (12288, 106, 96)
    assert shape("137.34", "113.02") == (14336, 72, 64)  # by the count of the first days


def test_recomputation_in_other_words(case):
    both = case(PLAIN, recompute="seqsel", sp=None).plan
    assert (both["recompute"], both["sp"]) == ("selective", False)
    row = PLAIN | {"config": {key: x for key, x in PLAIN["config"].items() if key != "sp"}}
    assert case(row, recompute="seqsel").plan["sp"]
    assert not case(row, recompute="selective").plan["sp"]
    assert [case(PLAIN, recompute=word).plan["recompute"] for word in (True, False)] == ["full", "none"]


def test_cells_with_two_settings_and_with_none(case):
    step = case(BRIDGE)
    assert {"tp": 1, "pp": 1, "v": 1, "dp": 64, "zero": 3, "dtype": "fp8"}.items() <= step.plan.items()
    step = case(BRIDGE, fsdp="0", vp="n/a", ep=None, cp="", precision="NVFP4", tp="2", pp="4")
    assert {"tp": 2, "pp": 4, "cp": 1, "v": 1, "ep": 1, "dp": 8, "zero": 1, "dtype": "fp4"}.items() <= step.plan.items()
    for precision, dtype in {"FP8-CS (FP8-MX)": "fp8", "MXFP8": "fp8", "BF16": "bf16", "FP8-MX": "fp8"}.items():
        assert case(BRIDGE, precision=precision).plan["dtype"] == dtype
    assert number({"x": "4 (8)"}, "x") == 4
    assert number({"x": "4k"}, "x") == 4096
    assert number({"x": "n/a", "y": 8.0}, "x", "y") == 8


def test_experts_over_more_ranks_than_replicas_and_chunks_beyond_the_layers(case):
    assert case(EXPERTS).plan["ep"] == 32
    row = BRIDGE | {"measured_value": "900"}
    assert case(row, model="LLAMA3.1_405B", fsdp="0", tp="2", pp="16", vp="8", tokens_s_gpu="").plan["v"] == 8
    assert case(row, model="LLAMA3.1_405B", fsdp="0", tp="2", pp="16", vp="9", tokens_s_gpu="").plan["v"] == 7


def test_microbatches_may_be_uneven(case):
    assert case(MOSAIC, gbs=48 * 8, mbs=11).plan["micro"] == 48 / 5


@pytest.mark.parametrize(
    ("name", "key"),
    [("LLAMA3_8B", "llama3-8b"), ("LLAMA3.1_405B", "llama3-405b"), ("LLAMA3-70B", "llama3-70b"),
     ("Qwen3_30B_a3B", "qwen3-30b-a3b"), ("Qwen3_235B_a22B", "qwen3-235b-a22b"), ("DeepSeekV3", "deepseek-v3"),
     ("GPT OSS 120B", "gpt-oss-120b"), ("GPT_OSS_20B", "gpt-oss-20b"), ("LLAMA2-7B FP8", "llama2-7b"),
     ("GPT3-175B", "gpt3-175b"), ("Mixtral 8x7B", "mixtral-8x7b"), ("Nemotron_3_Nano", "nemotron-3-nano")],
)  # fmt: skip
def test_names_of_models(name, key):
    assert model_named(name) is models[key]


def test_models_of_the_tables_own():
    assert model_named("DeepSeekV3 (w/o MTP)") is models["deepseek-v3"]  # the row's software does not train them
    assert parameter_count(model_named("Nemotron-340B")) == pytest.approx(341e9, rel=0.01)
    assert parameter_count(mpt("mpt-7b", 2048)) == 6658859008  # as llm-foundry prints it
    assert parameter_count(mpt("mpt-125m", 512)) == 124131840
    assert gpt({"hidden": 4096, "layers": 36}).heads == 32
    faults = {"Nemotron_3_5_Lightning": "Mamba", "": " model$", "LLAMA9_1B": "'LLAMA9", "mpt-7b": "'mpt-7b'"}
    for name, named in faults.items():
        with pytest.raises(ValueError, match=named):
            model_named(name)


@pytest.mark.parametrize(
    ("row", "config", "reason"),
    [
        (EXPERTS, {"model": "Nemotron_3_5_Lightning"}, "Mamba"),
        (EXPERTS, {"precision": "INT3"}, "precision 'INT3'"),
        (EXPERTS, {"stage": "RLHF"}, "rlhf, .*pre-training"),
        (EXPERTS, {"tp": "many"}, "tp .*'many'.*number"),
        (EXPERTS, {"tp": "0.5"}, "tp .* 0.5.* whole"),
        (EXPERTS, {"gbs": None}, "gbs"),
        (EXPERTS, {"ep": "48"}, "ep = 48"),
        (BRIDGE, {"tp": "128"}, "tp .*, .*divide .*64 GPUs"),
        (NEMO, {"tp": 3, "cp": 1}, "tp .*, .*divide .*8 GPUs"),
        (PLAIN, {"gbs": 3, "mbs": 2}, "microbatches of 2$"),
        (PLAIN, {"gbs": 2**20}, "2,147,483,648 tokens: gbs .*sequences"),
        (PLAIN, {"dp": 2}, "dp x tp x pp x cp is 128, .* 64 GPUs"),
        (PLAIN, {"layers": 4}, "pp = 8 .* 4 layers"),
        (PLAIN, {"heads": 12}, "tp = .* 12 heads"),
        (PLAIN, {"hidden": 96, "layers": 12288}, "12288 layers .*width 96: "),
        (PLAIN, {"heads": 999}, "999 heads .*width"),
        (PLAIN, {"hidden": math.nan}, "hidden .*'nan', .*number"),
        (PLAIN, {"layers": math.inf}, "layers .*'inf', .*number"),
        (PLAIN, {"gbs": -64}, "gbs .*'-64', .*number"),
        (PLAIN, {"seq": 64, "gbs": 2048}, "sequences of 64 tokens"),
        (PLAIN, {"dp": None, "pp": None}, "plan: .* dp, .*tp and pp"),
        (PLAIN, {"model_parallel": 32}, "tp x pp is 64, model_parallel 32"),
        (PLAIN, {"precision": "fp8"}, "products in fp8"),
        (PLAIN, {"experts": 8}, "experts, .*model"),
        (PLAIN, {"sp": "maybe"}, "sp .*'maybe'.*true or false"),
        (MOSAIC, {"act_ckpt": "some"}, "act_ckpt .*'some'.*true or false"),
        (MOSAIC, {"cpu_offload": "True"}, "cpu_offload "),
        (PLAIN, {"recompute": "some"}, "recompute .*'some', .*none, selective or full"),
        (BLOOM, {"hidden": None}, "does not give hidden"),
        (BLOOM, {"layers": None, "tflops_logged": None}, "does not give layers"),
        (BLOOM, {"note": "layer count ambiguous in the log", "tflops_logged": ""}, "ambiguous"),
        (BLOOM, {"tflops_logged": "60"}, "contradicts itself: tflops_logged"),
        (MOSAIC, {"strategy": "HYBRID"}, "strategy HYBRID"),
        (MOSAIC, {"model": "mpt-2t"}, "'mpt-2t'; MPT .* 7b"),
        (MOSAIC, {"gbs": 129}, "129 .* 8 replicas"),
    ],
)
def test_what_cannot_be_modelled_says_why(case, row, config, reason):
    found = case(row, **config)
    assert isinstance(found, Unmodelled)
    assert re.search(reason, found.reason), found.reason


def test_other_rows_that_cannot_be_modelled(case, tmp_path):
    for change, reason in (
        ({"unit": "furlongs"}, "'furlongs'.*time"),
        ({"system": "TPU v4"}, "dtype: TPU v4"),
        ({"measured_value": "0.1"}, "contradicts itself: .* peak"),
        ({"measured_value": "18130"}, "contradicts itself: .* peak"),
        ({"system": "Ascend 910B"}, "'Ascend 910B'"),
        ({"id": "new-1", "config": {}}, " model$"),
        ({"id": "megascale-12288"}, "MegaScale"),
    ):
        found = case(PLAIN | change)
        assert isinstance(found, Unmodelled)
        assert re.search(reason, found.reason), found.reason
    path = write(tmp_path / "rows.csv", *EVERY, PLAIN | {"id": "new-1", "config": {}}, EXPERTS | {"config": {}})
    result = report(path)
    assert len(steps(path)) == len(EVERY)
    assert sum(s.rows for s in result.training) + sum(result.unmodelled.values()) == len(EVERY) + 2
    assert [n for text, n in result.unmodelled.items() if re.search("^new: .* model$", text)] == [1]


@pytest.mark.parametrize("junk", [None, "", "n/a", -1, 0, 1e30, "x", [], {}, True, "4 (8)", "1e3"], ids=repr)
def test_no_cell_stops_the_report(tmp_path, junk):
    for row in read_rows(write(tmp_path / "rows.csv", *EVERY))[0]:
        for name in row.config:
            assert isinstance(training_case(replace(row, config=row.config | {name: junk})), TrainingStep | Unmodelled)


def test_the_group_tells_chip_and_kind(case):
    assert case(BRIDGE).group == "mbridge-gb200-llama3"
    assert case(EXPERTS).group == "mbridge-h100-others"
    assert case(MOSAIC).group == "mosaic-h100"
    assert case(MOSAIC, precision="amp_fp8").group == "mosaic-h100-fp8"
    assert case(MOSAIC | {"system": "a100_40gb", "measured_value": "2000"}).chip == "a100-40gb-sxm"
    chips = {"DGX-B200": "b200-sxm", "DGX-GB300": "gb300-nvl72", "H800 (2048)": "h800-sxm"}
    assert {name: chip_of(name) for name in chips} == chips


def test_a_prediction_beside_the_simple_model_and_calculon(case):
    found = predict_step(case(PLAIN), Stack.ideal("a100-80gb-sxm"))
    assert found.peer == 18.03
    assert found.plain < found.time < found.measured
    assert found.plain == pytest.approx(4 / 3 * step_flops(case(PLAIN).model, 64 * 2048, 2048) / (64 * 312e12))


def test_a_stack_without_a_constant_for_small_types_predicts_none(case):
    ideal = Stack.ideal("gb200-nvl72")
    found = predict_step(case(BRIDGE), ideal)
    assert isinstance(found, Unmodelled)
    assert "fp8" in found.reason
    assert not isinstance(predict_step(case(BRIDGE, precision="BF16", tokens_s_gpu=900.0), ideal), Unmodelled)
    assert isinstance(predict(Unmodelled("why")), Unmodelled)


def test_experts_that_are_folded_keep_their_degree(case):
    """With etp = 1, ep goes over tensor-parallel ranks too; so it does in a row that does not print etp and whose ep is
    more than its replicas.
    """
    folded = case(EXPERTS, etp="1", ep="8")
    assert (folded.plan["ep"], folded.plan["etp"], folded.plan["dp"]) == (8, 1, 16)
    assert (case(EXPERTS).plan["ep"], case(EXPERTS).plan.get("etp")) == (32, 1)
    assert (case(EXPERTS, ep=16).plan["ep"], case(EXPERTS, ep=16).plan.get("etp")) == (16, None)
    assert "etp" not in case(EXPERTS, etp=2, ep=16).plan
    assert folded.time(stacks["megatron-core-h100"]) > 0
    assert "etp x ep" in case(EXPERTS, etp="2").reason


@pytest.mark.parametrize(
    ("group", "ranks", "field"), [(0, 8, {}), (1, 8, {"shards": 1}), (7, 8, {"shards": 7}), (8, 8, {}), (9, 8, {})]
)
def test_states_that_all_ranks_divide_are_not_hsdps(group, ranks, field):
    assert divided_among(group, ranks) == field


def test_what_a_recipe_does_otherwise_is_scored_apart(case):
    """Tokens over an expert's capacity are dropped; Kimi K2 is trained by Muon."""
    plain, dropped = (case(EXPERTS, model=name) for name in ("Qwen3_30B_a3B", "Qwen3_30B_a3B (tokendrop)"))
    assert (plain.open, dropped.open) == (False, True)
    assert dropped.time() == plain.time()
    kimi = case(EXPERTS, model="Kimi_K2", pp=1, tp=1, ep=8)
    assert kimi.open
    assert parameter_count(kimi.model) == pytest.approx(1.026e12, rel=0.001)
