"""A log beside the model: what ran, the utilisation by the book and by the log, the gap in parts, and what to try.

megatron_arguments has the argument dump of Megatron-LM (its arguments.py) and typed steps; torchtitan_whole the lines
that torchtitan prints before training, and steps of pytorch/torchtitan#1287.
"""

import json
from pathlib import Path

import pytest

from hwlib.planner import plan
from hwlib.run_logs import RunLogError
from hwlib.run_logs.explain import explain_run, run_log_record
from hwlib.run_logs.run_text import run_log_text
from hwlib.specs import models
from hwlib.training import model_utilization
from hwlib.transformer import parameter_count, step_flops

FOLDER = Path(__file__).parent / "data" / "run_logs"


def text(name):
    return (FOLDER / f"{name}.log").read_text("utf-8")


@pytest.fixture(scope="module")
def megatron():
    return explain_run(text("megatron_arguments"), on="dgx-h100")


@pytest.fixture(scope="module")
def torchtitan():
    return explain_run(text("torchtitan_whole"))


def test_what_ran_is_read_from_the_arguments(megatron):
    values = {name: fact.value for name, fact in megatron.facts.items()}
    expected = {"gpus": 64, "tp": 8, "pp": 4, "cp": 1, "dp": 2, "v": 5, "micro": 1, "batch": 128, "sequence": 8192}
    assert {name: values[name] for name in expected} == expected
    assert values["batch_tokens"] == 128 * 8192
    assert (values["dtype"], values["zero"]) == ("bf16", 1)


def test_a_model_of_the_arguments_sizes_is_that_of_the_table(megatron):
    assert parameter_count(megatron.model.task.model) == parameter_count(models["llama3-70b"])


def test_the_model_is_asked_as_the_planner_is(megatron):
    found = plan(
        "llama3-70b",
        "8xdgx-h100",
        B=128 * 8192,
        T=8192,
        gpus=64,
        tp=8,
        pp=4,
        cp=1,
        v=5,
        micro=1,
        zero=1,
        recompute="none",
        dtype="bf16",
        count=1,
    )
    assert megatron.model.plan.strategy == found[0].strategy
    assert megatron.model.plan.seconds == pytest.approx(found[0].seconds)
    assert megatron.model.low < found[0].seconds < megatron.model.high


def test_what_is_printed_before_training_is_read(torchtitan):
    values = {name: fact.value for name, fact in torchtitan.facts.items()}
    assert (values["gpus"], values["micro"], values["batch_tokens"]) == (8, 1, 65536)
    assert torchtitan.model.task.model.key == "llama3-8b"
    assert torchtitan.model.task.stack.key == "torchtitan-h100"
    assert torchtitan.model.plan.strategy.recompute == "op"


def test_the_time_of_a_step_follows_from_the_rate_of_a_gpu(torchtitan):
    assert torchtitan.pace.seconds[0] == pytest.approx(65536 / 8 / 5856)


def test_the_utilisation_is_the_books(torchtitan):
    used = torchtitan.utilisation
    flops = step_flops(models["llama3-8b"], 65536, 8192)
    assert used.mfu == pytest.approx(model_utilization(flops, torchtitan.pace.mean, 8, used.peak))
    assert used.log_mfu == pytest.approx(0.3433, abs=1e-3)


def test_a_log_that_counts_attention_without_its_mask_is_told_from_the_book(torchtitan):
    ratio = step_flops(models["llama3-8b"], 65536, 8192, causal=False) / step_flops(models["llama3-8b"], 65536, 8192)
    assert torchtitan.utilisation.log_flops / torchtitan.utilisation.flops == pytest.approx(ratio, rel=0.01)
    assert "attention without its mask" in torchtitan.utilisation.why[0]


def test_another_peak_than_the_chips_is_told():
    answer = explain_run("iter 10: loss 3.2, time 893.76ms, mfu 16.68%\n" * 2, on="h100-sxm")
    assert any("312" in reason for reason in answer.utilisation.why)


def test_flops_that_fit_another_batch_are_told():
    short = text("torchtitan_whole").replace("sequence length 8192", "sequence length 2048")
    assert any("tokens has" in reason for reason in explain_run(short).utilisation.why)


def test_the_parts_of_a_gap_make_the_measured_step(megatron):
    gap = megatron.gap
    assert sum(part.seconds for part in gap.parts) + gap.unknown == pytest.approx(gap.measured)
    assert sum(part.seconds for part in gap.parts if part.source == "model") == pytest.approx(gap.predicted)
    assert [part.seconds for part in gap.parts if part.source == "log"] == [pytest.approx(0.6, rel=0.05)]


def test_a_step_within_the_models_error_is_fine_and_one_beyond_is_not(megatron, torchtitan):
    assert (torchtitan.gap.explained, torchtitan.fine) == (True, True)
    assert (megatron.gap.explained, megatron.fine) == (False, False)
    slow = text("torchtitan_whole").replace("tps: 5,", "tps: 2,")
    assert not explain_run(slow).fine


def test_changes_are_predicted_to_help_and_say_how_sure(megatron):
    assert 1 <= len(megatron.changes) <= 3
    for change in megatron.changes:
        assert change.low <= change.gain <= change.high
        assert change.gain >= 0.01
        assert change.sure in ("shown", "likely", "possible")


def test_what_is_missing_is_asked_for():
    answer = explain_run("iter 10: loss 3.2, time 893.76ms, mfu 16.68%")
    assert answer.model.missing == ("--model", "--on", "--gpus", "--batch")
    assert answer.gap is None
    assert answer.changes == ()


@pytest.mark.parametrize(
    ("on", "gpus", "missing"),
    [
        ("h100-sxm", None, ("--model", "--gpus", "--batch")),
        ("dgx-a100", None, ("--model", "--gpus", "--batch")),
        ("dgx-a100", 8, ("--model", "--batch")),
        (None, 8, ("--model", "--on", "--batch")),
    ],
)
def test_a_machine_that_is_known_is_not_asked_for_with_its_gpus(on, gpus, missing):
    answer = explain_run(
        "iter 10: loss 3.2, time 893.76ms, mfu 16.68%",
        **{name: value for name, value in {"on": on, "gpus": gpus}.items() if value},
    )
    assert answer.model.missing == missing


def test_what_the_reader_says_counts_more_than_the_log():
    answer = explain_run(text("torchtitan_whole"), micro=2, gpus=4)
    assert answer.facts["micro"].value == 2
    assert answer.facts["gpus"].value == 4


@pytest.mark.parametrize("options", [{"model": "nonsense"}, {"on": "nonsense"}])
def test_a_model_or_machine_that_is_none_is_refused(options):
    with pytest.raises(RunLogError):
        explain_run(text("torchtitan_whole"), **options)


def test_a_plan_that_cannot_be_is_a_sentence(torchtitan):
    answer = explain_run(text("torchtitan_whole"), tp=3)
    assert answer.gap is None
    assert answer.model.sentence


def test_degrees_of_experts_are_nothing_to_a_dense_model(megatron):
    dumped = (
        "  expert_model_parallel_size ...................... 1\n  expert_tensor_parallel_size ..................... 8\n"
    )
    answer = explain_run(dumped + text("megatron_arguments"), on="dgx-h100")
    assert answer.model.plan.strategy == megatron.model.plan.strategy


@pytest.mark.parametrize(("words", "zero"), [("True", 1), ("False", 0)])
def test_states_are_divided_as_the_arguments_say(words, zero):
    log = text("megatron_arguments").replace("  use_distributed_optimizer ....................... True", "")
    log = f"  use_distributed_optimizer .... {words}\n{log}"
    assert explain_run(log, on="dgx-h100").model.pinned["zero"] == zero


def test_torchtitan_divides_weights_too_where_it_has_no_pipeline(torchtitan):
    assert torchtitan.model.plan.strategy.zero == 3


def test_the_record_is_json_and_the_text_has_its_numbers(megatron, torchtitan):
    for answer in (megatron, torchtitan):
        record = json.loads(json.dumps(run_log_record(answer), allow_nan=False))
        assert record["program"] == answer.log.program
        assert record["model"]["seconds"] == answer.model.plan.seconds
        assert f"{answer.utilisation.mfu:.1%}" in run_log_text(answer)


def test_a_saturated_server_is_said():
    saturated = explain_run(text("public/sglang_serving"))
    assert {finding.kind for finding in saturated.findings} == {"saturated"}
    assert explain_run(text("public/vllm_serve")).fine


def test_programs_of_replicas_are_modelled_as_replicas():
    log = "\n".join(f"iter {step}: loss 3.2, time 500.00ms, mfu 16.68%" for step in range(5))
    options = {"model": "llama2-7b", "on": "dgx-h100", "gpus": 8, "batch_tokens": 2**16, "sequence": 2048, "zero": 3}
    answer = explain_run(log, **options)
    strategy = answer.model.plan.strategy
    assert (strategy.dp, strategy.tp, strategy.pp, strategy.zero) == (8, 1, 1, 3)
    assert explain_run(log, **options, tp=2).model.plan.strategy.tp == 2


def test_a_microbatch_longer_than_a_devices_batch_is_cut():
    log = "\n".join(
        ["max_seq_len: 2048", "global_train_batch_size: 64", "device_train_microbatch_size: 16", "n_gpus: 8"]
        + [f"[batch={step}/9]:\n\t Train throughput/batches_per_sec: 0.5" for step in range(1, 5)]
    )
    assert explain_run(log).facts["micro"].value == 8
    assert explain_run(log.replace("size: 64", "size: 256")).facts["micro"].value == 16


def test_a_run_that_does_not_fit_by_the_model_is_timed_all_the_same():
    log = "\n".join(f"iter {step}: loss 3.2, time 2000.00ms, mfu 16.68%" for step in range(5))
    options = {"model": "llama3-8b", "on": "dgx-h100", "gpus": 8, "batch_tokens": 2**16, "sequence": 1024, "micro": 8}
    answer = explain_run(log, **options)
    assert (answer.model.fits, answer.model.plan.strategy.dp) == (False, 8)
    assert "does not fit" in run_log_text(answer)


def test_a_plan_saves_a_share_of_what_the_model_explains():
    log = text("torchtitan_whole")
    slow = explain_run(log.replace("tps: 5,", "tps: 2,"))
    as_predicted = {change.sentence: change for change in explain_run(log).changes}
    for change in slow.changes:
        if change.sentence in as_predicted:
            assert change.gain < as_predicted[change.sentence].gain
            assert change.sure == "possible"


STEP = "[titan] 2025-06-16 22:30:{0}0,000 - root - INFO - step: {0}  loss:  6.1  memory: 49.66GiB(52.28%)  tps: 5,856"
TABLE = """
============ Serving Benchmark Result ============
Successful requests:                     1
Benchmark duration (s):                  2.87
Total input tokens:                      128
Request throughput (req/s):              0.35
Output token throughput (tok/s):         44.60
Mean TTFT (ms):                          45.00
"""


def test_every_rate_has_its_unit():
    steps = "\n".join(STEP.format(i) for i in range(1, 5))
    assert "\n5,856 tokens/s of each GPU." in run_log_text(explain_run(steps))
    served = run_log_text(explain_run(TABLE))
    assert "output rate: 44.60 tokens/s" in served
    assert "request rate: 0.35 requests/s" in served
    assert "1 request answered" in served


MEGATRON = (
    " iteration {:>8}/     100 | elapsed time per iteration (ms): {:.1f} | global batch size:   64 | lm loss: 9.1E+00 |"
)


def megatron_steps(numbers, *seconds):
    return "\n".join(MEGATRON.format(number, 1e3 * time) for number, time in zip(numbers, seconds, strict=True))


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((1, 2, 3), "3 steps read, 1 to 3."),
        ((25, 26, 27, 1, 2, 3), "6 steps read, 25 to 27 and 1 to 3."),
        ((1, 2, 1, 2, 1, 2, 1, 2), "8 steps read, 1 to 2, 1 to 2 and 2 more runs of numbers."),
        ((5, 4), "2 steps read, 5 and 4."),
    ],
)
def test_steps_whose_numbers_begin_anew_are_listed_so(numbers, words):
    text = megatron_steps(numbers, *[1.0] * len(numbers))
    assert words in run_log_text(explain_run(text)).splitlines()[0]


def test_a_first_step_that_is_longer_may_be_warming_up():
    """Where it is not so much longer that it is left out as warm-up, this is among what would make it longer."""
    first = explain_run(megatron_steps((1, 2, 3, 4), 1.2, 1.0, 1.0, 1.0))
    later = explain_run(megatron_steps((1, 2, 3, 4, 5, 6, 7), 1.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0))
    sentences = [next(f.sentence for f in run.findings if f.kind in ("irregular", "warmup")) for run in (first, later)]
    assert "compiled" in sentences[0]
    assert "compiled" not in sentences[1]
