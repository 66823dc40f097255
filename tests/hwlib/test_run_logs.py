"""Public training logs, a file each in data/run_logs/public, re-typed: lines cut, hosts and people removed.

Sources (issues and pull requests of GitHub; the date is that of the log): megatron_moe NVIDIA/Megatron-LM#756;
megatron_fork epfLLM/Megatron-LLM#22; megatron_slow epfLLM/Megatron-LLM#11; bridge_wrapped
NVIDIA-NeMo/Megatron-Bridge#841; neox deepspeedai/DeepSpeed#3742; torchtitan_2026 pytorch/torchtitan#3393,
torchtitan_eight_ranks #2389, torchtitan_profiled #1287, torchtitan_small #950, torchtitan_compiled #1349;
deepspeed_mean deepspeedai/DeepSpeed#1825, deepspeed_2022 #2629, deepspeed_2020 #255; nanogpt_without_mfu
karpathy/nanoGPT#110, nanogpt_a100 #178, nanogpt_nan #215, nanogpt_titan #466; composer_shearing
princeton-nlp/LLM-Shearing#24; composer_2023 mosaicml/examples#414; torchtune_2024 meta-pytorch/torchtune#1358,
torchtune_early #640; trainer_liger linkedin/Liger-Kernel#110; trainer_tensorflow huggingface/transformers#9613;
nemo_2025 NVIDIA-BioNeMo/bionemo-recipes#740; vllm_serve vllm-project/vllm#18566, vllm_throughput #7117, vllm_2023 #359;
sglang_serving sgl-project/sglang#6681, sglang_vision #9812.
"""

from dataclasses import asdict, fields
from math import isnan, nan
from pathlib import Path

import pytest

from hwlib.run_logs import LoggedStep, RunLogError, log_fields, read_run_log
from hwlib.run_logs.facts import facts_of
from hwlib.run_logs.fields import HOLDERS, UNITS
from hwlib.run_logs.finding import SHOWN
from hwlib.run_logs.findings import findings_of
from hwlib.run_logs.pace import pace_of
from hwlib.run_logs.reader import BEGINNING, TITLES
from hwlib.units import GB, GiB, ms

FOLDER = Path(__file__).parent / "data" / "run_logs" / "public"
TFLOP, MiB = 1e12, 2.0**20
MEGATRON = {"loss_scale": 1, "skipped": 0, "nans": 0}
READ = {
    "megatron_moe": (
        "megatron",
        3,
        -1,
        MEGATRON
        | {
            "step": 73,
            "seconds": 5829.9 * ms,
            "flops_rate": 224 * TFLOP,
            "batch": 128,
            "samples": 9344,
            "loss": 1.798953,
            "grad_norm": 1.539,
        },
    ),
    "megatron_fork": (
        "megatron",
        2,
        1,
        MEGATRON
        | {
            "step": 10,
            "seconds": 14642.7 * ms,
            "batch": 64,
            "samples": 640,
            "loss": 2.20503,
            "grad_norm": 12.834,
        },
    ),
    "megatron_slow": (
        "megatron",
        3,
        0,
        MEGATRON
        | {
            "step": 142,
            "seconds": 100863.4 * ms,
            "batch": 1024,
            "samples": 145408,
            "loss": 2.466446,
            "grad_norm": 0.687,
        },
    ),
    "bridge_wrapped": (
        "megatron",
        2,
        0,
        MEGATRON
        | {
            "step": 10,
            "seconds": 13212.7 * ms,
            "batch": 512,
            "samples": 5120,
            "loss": 4.474437,
            "grad_norm": 0.704,
            "allocated": 12712.43603515625 * MiB,
            "memory": 12954 * MiB,
        },
    ),
    "neox": (
        "megatron",
        1,
        0,
        {
            "step": 34,
            "seconds": 4103.1 * ms,
            "sample_rate": 7.799,
            "flops_rate": 112.9 * TFLOP,
            "loss": 11.18665,
            "skipped": 0,
            "nans": 0,
        },
    ),
    "torchtitan_2026": (
        "torchtitan",
        3,
        0,
        {
            "step": 14,
            "loss": 3.24405,
            "grad_norm": 0.8319,
            "memory": 9.46 * GiB,
            "gpu_token_rate": 7282,
            "flops_rate": 0.52 * TFLOP,
            "mfu": 0.0017,
        },
    ),
    "torchtitan_eight_ranks": (
        "torchtitan",
        2,
        1,
        {
            "step": 5,
            "loss": 7.07623,
            "grad_norm": 46.5,
            "memory": 66.91 * GiB,
            "gpu_token_rate": 10007,
            "flops_rate": 313.36 * TFLOP,
            "mfu": 0.1393,
        },
    ),
    "torchtitan_profiled": (
        "torchtitan",
        5,
        1,
        {
            "step": 210,
            "loss": 6.0388,
            "memory": 49.66 * GiB,
            "gpu_token_rate": 5593,
            "flops_rate": 323.92 * TFLOP,
            "mfu": 0.3275,
        },
    ),
    "torchtitan_small": (
        "torchtitan",
        3,
        1,
        {
            "step": 23,
            "loss": 6.2236,
            "memory": 1.41 * GiB,
            "gpu_token_rate": 212462,
            "flops_rate": 20.12 * TFLOP,
            "mfu": 0.0203,
        },
    ),
    "torchtitan_compiled": (
        "torchtitan",
        3,
        0,
        {
            "step": 1,
            "loss": 8.1996,
            "memory": 2.65 * GiB,
            "gpu_token_rate": 1772,
            "flops_rate": 0.13 * TFLOP,
            "mfu": 0.0001,
        },
    ),
    "deepspeed_mean": (
        "deepspeed",
        3,
        1,
        {
            "step": 50,
            "mean_sample_rate": 83.73838805358588,
            "allocated": 9.02 * GiB,
            "skipped": 0,
        },
    ),
    "deepspeed_2022": (
        "deepspeed",
        3,
        1,
        {
            "step": 18,
            "mean_sample_rate": 157.41495682912333,
            "sample_rate": 145.0889530760849,
            "allocated": 2.6 * GiB,
        },
    ),
    "deepspeed_2020": ("deepspeed", 2, 0, {"step": 2650, "mean_sample_rate": 13.19749106827976}),
    "nanogpt_without_mfu": ("nanogpt", 3, 0, {"step": 1631, "loss": 4.0863, "seconds": 561.94 * ms}),
    "nanogpt_a100": ("nanogpt", 6, 1, {"step": 10, "loss": 3.2202, "seconds": 893.76 * ms, "mfu": 0.1668}),
    "nanogpt_nan": ("nanogpt", 5, 3, {"step": 3010, "loss": nan, "seconds": 1019.95 * ms, "mfu": 0.1412}),
    "nanogpt_titan": ("nanogpt", 3, 0, {"step": 340, "loss": 5.4983, "seconds": 33785.52 * ms, "mfu": 0.0096}),
    "composer_shearing": (
        "composer",
        1,
        0,
        {
            "step": 366,
            "samples": 93440,
            "tokens": 382730240,
            "loss": 10.375,
            "allocated": 44.642 * GB,
            "memory": 51.328 * GB,
            "retries": 0,
        },
    ),
    "composer_2023": (
        "composer",
        1,
        0,
        {
            "step": 0,
            "loss": 11.6525,
            "allocated": 6.8051 * GB,
            "memory": 14.674 * GB,
            "retries": 0,
        },
    ),
    "torchtune_2024": (
        "torchtune",
        3,
        1,
        {
            "step": 2,
            "loss": 1.8718312978744507,
            "gpu_token_rate": 405.044978758513,
        },
    ),
    "torchtune_early": ("torchtune", 3, 0, {"step": 0, "loss": 1.7535516023635864, "memory": 13708965376}),
    "trainer_liger": (
        "trainer",
        3,
        0,
        {
            "step": 1,
            "loss": 75.1831,
            "grad_norm": 9.36429500579834,
            "tokens": 65536,
            "token_rate": 18801.85,
            "allocated": 26279.24 * MiB,
            "memory": 47172 * MiB,
        },
    ),
    "trainer_tensorflow": ("trainer", 2, 0, {"step": 10, "loss": 0.6347228}),
    "nemo_2025": (
        "nemo",
        2,
        0,
        {
            "step": 120,
            "seconds": 0.03146,
            "loss": 1.233,
            "batch": 1,
            "samples": 121,
        },
    ),
}
BENCHMARKS = {
    "vllm_serve": (
        "vllm",
        {
            "completed": 1000,
            "seconds": 30.85,
            "input_tokens": 229711,
            "output_tokens": 203068,
            "request_rate": 32.42,
            "output_rate": 6582.87,
            "token_rate": 14029.44,
            "mean_ttft": 9.62613,
            "median_ttft": 9.4597,
            "p99_ttft": 12.66673,
            "mean_tpot": 0.07786,
            "p99_tpot": 0.21121,
            "mean_itl": 0.03813,
        },
    ),
    "vllm_throughput": ("vllm", {"request_rate": 24.11, "token_rate": 12342.76}),
    "vllm_2023": ("vllm", {"request_rate": 5.99, "seconds": 166.88}),
    "sglang_serving": (
        "sglang",
        {
            "offered_rate": 128,
            "concurrency_limit": 512,
            "completed": 1024,
            "seconds": 287.2,
            "input_tokens": 1048576,
            "output_tokens": 131072,
            "retokenized_tokens": 131026,
            "request_rate": 3.57,
            "input_rate": 3650.98,
            "output_rate": 456.37,
            "token_rate": 4107.36,
            "concurrency": 507.99,
        },
    ),
    "sglang_vision": (
        "sglang",
        {
            "completed": 768,
            "seconds": 80.33,
            "input_tokens": 784909,
            "output_tokens": 768,
            "output_rate": 9.56,
            "token_rate": 9781.12,
            "concurrency": 507.4,
            "mean_latency": 53.0699,
            "mean_ttft": 53.06987,
        },
    ),
}
SETTINGS = {
    "torchtitan_compiled": {"shards": 8, "tp": 1, "pp": 1, "cp": 1, "copies": 1},
    "nanogpt_titan": {"micro": 4, "sequence": 512, "accumulation": 128, "batch_tokens": 262144},
    "trainer_tensorflow": {"examples": 3668, "epochs": 4, "micro": 16, "batch": 32, "accumulation": 2, "steps": 460},
}


def text(name):
    return (FOLDER / f"{name}.log").read_text("utf-8")


def test_every_public_log_is_read_here():
    names = {path.stem for path in FOLDER.glob("*.log")}
    assert names == READ.keys() | BENCHMARKS.keys()
    assert len(names) >= 20
    assert len({program for program, *_ in (*READ.values(), *BENCHMARKS.values())}) >= 7


@pytest.mark.parametrize("name", READ)
def test_every_field_of_a_step_is_read(name):
    program, count, place, expected = READ[name]
    log = read_run_log(text(name))
    assert (log.program, len(log.steps), log.unread) == (program, count, ())
    step = asdict(log.steps[place])
    said = {field: value for field, value in step.items() if value not in (None, ())}
    assert said.keys() - {"line", "clock", "others"} == expected.keys()
    assert {field: said[field] for field in expected} == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_number_of_a_benchmark_is_read(name):
    program, expected = BENCHMARKS[name]
    log = read_run_log(text(name))
    assert (log.program, log.steps) == (program, ())
    assert dict(log.benchmark) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", SETTINGS)
def test_what_a_log_says_of_the_whole_run_is_read(name):
    settings = {setting.name: setting.value for setting in read_run_log(text(name)).settings}
    assert settings == SETTINGS[name]


def test_ranks_that_print_the_same_step_are_one_step():
    assert read_run_log(text("torchtitan_eight_ranks")).copies == 3


def test_clocks_and_events_are_read():
    log = read_run_log(text("torchtitan_profiled"))
    assert log.steps[1].clock - log.steps[0].clock == pytest.approx(14.648)
    assert [(event.kind, event.step, event.seconds) for event in log.events] == [
        ("collect", None, 0.06),
        ("profile", 200, 0.22),
        ("collect", 240, 0.06),
    ]


def test_timers_of_two_programs_are_read():
    timers = {timer.name: timer.most for timer in read_run_log(text("neox")).timers}
    assert timers["batch generator"] == pytest.approx(0.83 * ms)
    assert timers["optimizer"] == pytest.approx(1172.51 * ms)
    assert read_run_log(text("neox")).others == ("deepspeed",)


def kinds(name, **options):
    log = read_run_log(text(name))
    facts = facts_of(log, options)
    return {finding.kind: finding for finding in findings_of(log, facts, pace_of(log, facts))}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("megatron_moe", set()),
        ("nanogpt_nan", {"nan", "evaluate"}),
        ("torchtitan_compiled", {"warmup"}),
        ("nanogpt_without_mfu", set()),
        ("deepspeed_mean", {"skipped"}),
    ],
)
def test_what_public_logs_show(name, expected):
    assert kinds(name).keys() == expected


def test_what_happens_together_is_said_together():
    assert "the model is evaluated and a checkpoint is written" in kinds("nanogpt_nan")["evaluate"].sentence


def test_a_loss_that_is_no_number_is_said_from_where():
    assert kinds("nanogpt_nan")["nan"].steps == (3010, 3020)
    assert kinds("nanogpt_nan")["nan"].sure == SHOWN
    assert isnan(read_run_log(text("nanogpt_nan")).steps[-1].loss)


def test_samples_of_a_running_mean_are_held_against_the_clock():
    """Its 13.2 samples a second are of four GPUs' 4 sequences: the lines are 15 s apart, for 50 steps."""
    log = read_run_log(text("deepspeed_2020"))
    pace = pace_of(log, facts_of(log, {}))
    assert (pace.source, pace.usual) == ("clock", pytest.approx(0.3))


def test_the_table_has_units_holders_and_programs_that_are_known():
    assert {field.unit for field in log_fields()} <= UNITS.keys()
    assert {field.holder for field in log_fields()} == set(HOLDERS)
    assert {field.program for field in log_fields()} == TITLES.keys()
    assert all(field.meaning and field.source for field in log_fields())
    of_steps = {field.quantity for field in log_fields() if field.holder == "step"}
    assert {attribute.name for attribute in fields(LoggedStep)} - of_steps == {"line", "clock", "others"}


@pytest.mark.parametrize("nothing", ["", "   \n\n", "hello", "step 3 of 7", "Traceback (most recent call last):"])
def test_what_is_no_log_is_said(nothing):
    with pytest.raises(RunLogError):
        read_run_log(nothing)


def test_the_documentation_has_the_table_of_fields():
    from benchmarks.planted.fields_page import PAGE, fields_page

    assert PAGE.read_text("utf-8") == fields_page()


def stepped(count, words="iter {}: loss 3.2202, time 893.76ms, mfu 16.68%"):
    return "\n".join(words.format(number) for number in range(1, count + 1))


@pytest.mark.parametrize("count", [BEGINNING, BEGINNING + 1])
def test_a_long_log_is_read_as_a_short_one(count):
    log = read_run_log(stepped(count))
    assert (log.program, len(log.steps), log.others) == ("nanogpt", count, ())
    assert log.steps[-1].line == count


def test_the_beginning_of_a_long_log_does_not_decide_alone():
    titan = "step: {}  loss:  6.1384  memory: 49.66GiB(52.28%)  tps: 5,856  tflops: 339.16  mfu: 34.29%"
    log = read_run_log(f"{stepped(5)}\n{stepped(BEGINNING + 5, titan)}")
    assert (log.program, len(log.steps), log.others) == ("torchtitan", BEGINNING + 5, ("nanogpt",))
    late = "\n" + "no step\n" * BEGINNING + stepped(9, titan)
    assert read_run_log(late).program == "torchtitan"
