"""A serving benchmark beside the model of `gpubook serve`: against NVIDIA's measured users, and at every boundary."""

import json
from functools import cache

import pytest

from hwlib.run_logs import read_run_log
from hwlib.run_logs.explain import explain_run, run_log_record
from hwlib.run_logs.facts import value_of
from hwlib.run_logs.health import benchmark_findings
from hwlib.run_logs.run_text import run_log_text
from hwlib.run_logs.served_facts import at_once, load_of, served_facts
from hwlib.run_logs.served_model import ModelledServer, engine_of
from hwlib.specs import measured_users, models

USERS = measured_users("llama3-70b")
HEAD = "============ Serving Benchmark Result ============"
LLAMA = {"model": "llama3-8b", "on": "h100-sxm", "gpus": 1}


def table(program="sglang", **rows):
    backend = [f"Backend: {program}"] if program == "sglang" else []
    return "\n".join([HEAD, *backend, *(f"{name}: {value}" for name, value in rows.items())])


def measured(row, count=10):
    """The table of a benchmark of `count` requests a user, by a measured row."""
    requests = row.users * count
    seconds = requests * row.output / row.rate
    return table(
        **{
            "Traffic request rate": "inf",
            "Max request concurrency": row.users,
            "Successful requests": requests,
            "Benchmark duration (s)": f"{seconds:.2f}",
            "Total input tokens": requests * row.input,
            "Total generated tokens": requests * row.output,
            "Request throughput (req/s)": f"{requests / seconds:.4f}",
            "Output token throughput (tok/s)": row.rate,
            "Mean TTFT (ms)": row.ttft * 1e3,
            "Mean TPOT (ms)": row.tbt * 1e3,
        }
    )


@cache
def explained(users):
    row = next(row for row in USERS if row.users == users)
    options = {"model": row.model, "on": row.chip, "gpus": row.tp, "dtype": row.dtype, "stack": "tensorrt-llm-1.1"}
    return row, explain_run(measured(row), **options)


def small(**rows):
    usual = {
        "Successful requests": 100,
        "Total input tokens": 51200,
        "Total generated tokens": 12800,
        "Request throughput (req/s)": 4.0,
    }
    return table(**{name: value for name, value in {**usual, **rows}.items() if value is not None})


@pytest.mark.parametrize("users", [row.users for row in USERS])
def test_measured_users_are_met_with_their_queue(users):
    row, answer = explained(users)
    assert isinstance(answer.model, ModelledServer)
    assert answer.model.tokens_per_second == pytest.approx(row.rate, rel=0.06)
    assert answer.model.times.tpot == pytest.approx(row.tbt, rel=0.1)
    if users >= 150:  # more than the cache holds: the first token is mostly waiting
        assert answer.model.times.ttft == pytest.approx(row.ttft, rel=0.1)
        assert answer.model.times.wait > 0.8 * answer.model.times.ttft
    assert answer.gap.explained
    assert answer.fine


@pytest.mark.parametrize("users", [25, 250])
def test_the_parts_of_a_request_are_its_measured_seconds(users):
    row, answer = explained(users)
    gap = answer.gap
    assert gap.measured == pytest.approx(row.users * row.output / row.rate, rel=1e-3)
    assert sum(part.seconds for part in gap.parts) + gap.unknown == pytest.approx(gap.measured)
    modelled = sum(part.seconds for part in gap.parts if part.source == "model")
    assert modelled == pytest.approx(answer.model.seconds, rel=0.01)
    assert ("waiting for a place" in {part.name for part in gap.parts}) is (users == 250)


def test_what_is_asked_for_is_what_is_missing():
    answer = explain_run(small(**{"Total input tokens": None}))
    assert answer.model.missing == ("--model", "--gpus", "--on", "--prompt", "--concurrency")
    assert "--concurrency (requests at once)" in run_log_text(answer)
    full = explain_run(small(), users=8, **LLAMA)
    assert isinstance(full.model, ModelledServer)
    assert full.model.load.users == 8


def test_a_load_is_closed_open_or_all_at_once():
    def kind(**options):
        return load_of(served_facts(read_run_log(small()), options)).kind

    assert [kind(users=8), kind(users=99), kind(users=100), kind(rate=2.0)] == ["closed", "closed", "burst", "open"]


def test_requests_that_come_slowly_are_answered_at_their_rate_and_too_many_wait():
    rows = {"Successful requests": 1000, "Total input tokens": 512_000, "Total generated tokens": 128_000}
    slow, quick = (explain_run(small(**rows), rate=rate, **LLAMA).model for rate in (1.0, 1000.0))
    assert slow.times.requests == pytest.approx(1.0, rel=0.01)
    assert slow.times.wait == 0
    assert 10 < quick.times.requests < 200
    assert quick.times.wait > 0
    assert quick.times.tpot > slow.times.tpot


def test_a_client_that_lets_in_few_makes_an_open_load_a_closed_one():
    open_load = explain_run(small(), rate=50.0, **LLAMA).model
    held_back = explain_run(small(), rate=50.0, users=4, **LLAMA).model
    assert (open_load.times.closed, held_back.times.closed) == (False, True)
    assert held_back.times.batch == 4
    assert "lets in 4 at once" in run_log_text(explain_run(small(), rate=50.0, users=4, **LLAMA))


def test_all_at_once_wait_only_where_the_memory_holds_fewer():
    long = {"prompt": 8192, "output": 1024, "rate": float("inf")}
    few = explain_run(small(), **long, **LLAMA).model
    many = explain_run(small(**{"Successful requests": 400}), **long, **LLAMA).model
    assert few.load.kind == many.load.kind == "burst"
    assert few.times.wait > 0  # an H100 holds some 50 of such requests in 16 bits
    assert many.times.wait > 3 * few.times.wait
    short = explain_run(small(), rate=float("inf"), **LLAMA).model
    assert short.times.wait == 0
    assert short.times.batch == 100


def test_the_server_is_read_from_its_arguments():
    line = (
        "server_args=ServerArgs(model_path='deepseek-ai/DeepSeek-R1', tp_size=8, dp_size=8, enable_dp_attention=True, "
    )
    facts = served_facts(read_run_log(f"{line}quantization='fp8', kv_cache_dtype='fp8_e4m3')\n{small()}"), {})
    names = ("tp", "attention_dp", "gpus", "dtype", "kv_dtype")
    assert [value_of(facts, name) for name in names] == [1, 8, 8, "fp8", "fp8"]
    line = "server_args=ServerArgs(model_path='x', tp_size=8, dp_size=2, enable_dp_attention=False)"
    assert value_of(served_facts(read_run_log(f"{line}\n{small()}"), {}), "tp") == 8


def test_the_server_is_read_from_its_command():
    line = "vllm serve meta-llama/Llama-3.3-70B-Instruct-FP8 --tensor-parallel-size 4 --kv-cache-dtype fp8"
    answer = explain_run(f"{line}\n{small().replace('Backend: sglang', '')}", users=8, on="dgx-h100")
    assert answer.log.program == "vllm"
    assert answer.model.question.model is models["llama3-70b"]
    assert (answer.model.layout.tp, answer.model.question.dtype, answer.model.question.kv_dtype) == (4, "fp8", "fp8")
    assert answer.model.question.stack.key.startswith("vllm")


@pytest.mark.parametrize(("backend", "engine"), [("sglang", "sglang"), ("sglang-oai-chat", "sglang"), ("vllm", "vllm")])
def test_sglangs_client_says_whose_server_it_measured(backend, engine):
    log = read_run_log(small().replace("Backend: sglang", f"Backend: {backend}"))
    assert (log.program, engine_of(log)) == ("sglang", engine)


def test_without_a_declared_load_the_mean_at_once_is_littles():
    text = small(**{"Mean TTFT (ms)": 500, "Mean TPOT (ms)": 10})
    log = read_run_log(text)
    assert at_once(log, served_facts(log, {})) == pytest.approx(4.0 * (0.5 + 127 * 0.01))
    assert load_of(served_facts(log, {})).users == pytest.approx(7.08)
    log = read_run_log(small(**{"Concurrency": 6.5}))
    assert load_of(served_facts(log, {})).users == 6.5


def test_what_a_request_takes_longer_is_placed_in_its_tokens():
    rows = {"Mean TTFT (ms)": 900, "Mean TPOT (ms)": 30, "Median ITL (ms)": 20, "Max request concurrency": 16}
    answer = explain_run(small(**rows), **LLAMA)
    assert not answer.gap.explained
    within = {part.name: part.seconds for part in answer.gap.within}
    times = answer.model.times
    assert within["in the first token"] == pytest.approx(0.9 - times.ttft)
    assert within["in steps without prompts"] == pytest.approx(127 * (0.02 - times.decode))
    tokens = within["in steps without prompts"] + within["in steps that read prompts"]
    assert tokens == pytest.approx(127 * (0.03 - times.tpot))
    del rows["Median ITL (ms)"]
    again = explain_run(small(**rows), **LLAMA).gap
    assert {part.name for part in again.within} == {"in the first token", "in the further tokens"}


def test_changes_are_three_at_most_the_dearest_first_and_none_that_is_there():
    answer = explain_run(small(**{"Max request concurrency": 16}), **LLAMA)
    gains = [change.gain for change in answer.changes]
    assert 1 <= len(gains) <= 3
    assert gains == sorted(gains, reverse=True)
    assert all(change.low < change.gain < change.high for change in answer.changes)
    assert any("in fp8" in change.sentence for change in answer.changes)
    narrow = explain_run(small(**{"Max request concurrency": 16}), dtype="fp8", **LLAMA)
    assert not any("in fp8" in change.sentence for change in narrow.changes)


def test_more_at_once_is_worth_trying_only_where_there_are_more():
    def wider(requests):
        rows = {"Max request concurrency": 16, "Successful requests": requests, "Total input tokens": 512 * requests}
        answer = explain_run(small(**rows, **{"Total generated tokens": 128 * requests}), **LLAMA)
        return [change.sentence for change in answer.changes if "at once instead of 16" in change.sentence]

    assert wider(31) == []
    assert wider(32)[0].startswith("32 requests")
    assert wider(64)[0].startswith("64 requests")


def test_places_that_stand_empty_are_a_part_and_a_change():
    rows = {"Mean E2E Latency (ms)": 3000, "Max request concurrency": 16, "Concurrency": 12.0}
    answer = explain_run(small(**rows), **LLAMA)
    parts = {part.name: part.seconds for part in answer.gap.parts}
    assert parts["places that stand empty"] == pytest.approx(16 / 4.0 - 3.0)
    assert any(change.sentence.startswith("measure more requests") for change in answer.changes)


def kinds(**rows):
    log = read_run_log(small(**rows))
    return [finding.kind for finding in benchmark_findings(log, served_facts(log, {}))]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"Traffic request rate": 4.44}, []),
        ({"Traffic request rate": 4.45}, ["saturated"]),
        ({"Max request concurrency": 16, "Concurrency": 13.6}, []),
        ({"Max request concurrency": 16, "Concurrency": 13.5}, ["empty_places"]),
        ({"Max request concurrency": 16, "Concurrency": 4, "Traffic request rate": 4}, []),
        ({"Mean TPOT (ms)": 10, "Median ITL (ms)": 8}, []),
        ({"Mean TPOT (ms)": 10, "Median ITL (ms)": 7.9}, ["long_gaps"]),
        ({"Mean ITL (ms)": 10, "Median ITL (ms)": 7.9}, ["long_gaps"]),
        ({"Total generated tokens (retokenized)": 12800 * 0.975}, []),
        ({"Total generated tokens (retokenized)": 12800 * 0.965}, ["retokenized"]),
        ({"Failed requests": 0}, []),
        ({"Failed requests": 1}, ["failed"]),
    ],
)
def test_what_a_benchmark_shows_by_itself(rows, expected):
    assert kinds(**rows) == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gpus": 8, "tp": 3}, "a multiple of the 3 GPUs"),
        ({"gpus": 8, "tp": 8, "pp": 2}, "pipeline"),
        ({"gpus": 8, "tp": 4, "attention_dp": 2}, "not modelled"),
        ({"gpus": 1, "model": "llama3-405b"}, "fit"),
        ({"gpus": 1, "prompt": 200_000}, "131,072"),
    ],
)
def test_a_server_that_cannot_be_is_a_sentence(options, words):
    answer = explain_run(small(), users=8, **{**LLAMA, "on": "dgx-h100", **options})
    assert words in answer.model.sentence
    assert words in run_log_text(answer)
    assert answer.changes == ()


def test_the_answer_is_json_and_names_what_was_assumed():
    answer = explain_run(small(**{"Traffic request rate": "inf"}), **{**LLAMA, "on": "dgx-h100", "gpus": 8})
    record = json.loads(json.dumps(run_log_record(answer), allow_nan=False))
    assert record["model"]["assumed"] == ["tp"]
    assert {row["name"] for row in record["model"]["compared"]} >= {"first token (mean TTFT)", "whole request"}
    assert record["ran"]["rate"]["value"] is None
    assert "Not said, and assumed" in run_log_text(answer)
