"""What a serving benchmark measured: the server, its requests and its load, as far as its log and its reader say."""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

from hwlib.run_logs.facts import DERIVED, OPTION, USUALLY, Facts, RunFact, is_true, value_of
from hwlib.run_logs.machine import dtype_in_name
from hwlib.run_logs.records import RunLog

LOGGED = "log"
OFFLINE_REQUESTS = 1000
"""Requests of `vllm bench throughput` where nobody says another number (vllm/benchmarks/throughput.py)."""
BITS: Mapping[str, str] = {
    **dict.fromkeys(("fp8", "fbgemm_fp8", "modelopt", "w8a8_fp8"), "fp8"),
    **dict.fromkeys(("modelopt_fp4", "nvfp4", "petit_nvfp4"), "fp4"),
    **dict.fromkeys(("awq", "awq_marlin", "gptq", "gptq_marlin", "marlin"), "int4w"),
    "mxfp4": "mxfp4",
}
"""The precision of weights and products by the engines' words for a quantisation."""


class ServedLoad(NamedTuple):
    """How requests come: at most `users` at once, `rate` a second (infinite: all that may be there at once), and
    `requests` of them in all.
    """

    users: float
    rate: float
    requests: float

    @property
    def kind(self) -> str:
        """In words: "closed", with so many at once; "open", at a rate; "burst", all together."""
        if self.rate < inf:
            return "open"
        return "closed" if self.users < self.requests else "burst"


def served_facts(log: RunLog, options: Mapping[str, Any]) -> dict[str, RunFact]:
    """Everything that is known of a measured server by name: model, on, gpus, tp, ep, attention_dp, dtype, kv_dtype,
    prompt and output (the means of a request), users, rate, requests. What the reader tells counts more than the log.

    >>> from hwlib.run_logs import read_run_log
    >>> rows = "Successful requests: 10\\nTotal input tokens: 10240\\nRequest throughput (req/s): 2.0"
    >>> served_facts(read_run_log(rows), {})["prompt"].value
    1024.0
    """
    facts = {setting.name: RunFact(setting.value, setting.line) for setting in reversed(log.settings)}
    facts |= {name: RunFact(value, OPTION) for name, value in options.items() if value is not None}
    for name, value, origin in (*_requests(log), *_lengths(log), *_load(log), *_words(facts), *_groups(facts)):
        if value is not None:
            facts.setdefault(name, RunFact(value, origin))
    for name, value, origin in (*_latest(log, facts), *_machine(facts)):
        if value is not None:
            facts.setdefault(name, RunFact(value, origin))
    return facts


Known = Iterator[tuple[str, Any, int | str]]


def _requests(log: RunLog) -> Known:
    numbers = log.benchmark
    yield "requests", numbers.get("completed"), LOGGED
    rate, seconds = numbers.get("request_rate"), numbers.get("seconds")
    yield "requests", float(round(rate * seconds)) if rate and seconds else None, DERIVED


def _lengths(log: RunLog) -> Known:
    """Tokens of a request: from their sums, or from rates of tokens by the rate of requests."""
    numbers = log.benchmark
    count, rate = numbers.get("completed") or log.number("requests"), numbers.get("request_rate")
    for name, total, of_rate in (("prompt", "input_tokens", "input_rate"), ("output", "output_tokens", "output_rate")):
        if count and numbers.get(total):
            yield name, numbers[total] / count, DERIVED
        if rate and numbers.get(of_rate):
            yield name, numbers[of_rate] / rate, DERIVED
    every, output = numbers.get("token_rate"), numbers.get("output_rate")
    if rate and every and output and every > output:
        yield "prompt", (every - output) / rate, DERIVED


def _load(log: RunLog) -> Known:
    numbers = log.benchmark
    yield "users", numbers.get("concurrency_limit"), LOGGED
    yield "rate", numbers.get("offered_rate"), LOGGED


def _words(facts: Facts) -> Known:
    """Precisions in the words of the planner."""
    quantised = str(value_of(facts, "quantization") or "").lower()
    yield "dtype", BITS.get(quantised), _origin(facts, "quantization")
    yield "dtype", dtype_in_name(str(value_of(facts, "model") or "")), _origin(facts, "model")
    cache = str(value_of(facts, "cache_dtype") or "").lower()
    yield "kv_dtype", "fp8" if cache.startswith("fp8") else None, _origin(facts, "cache_dtype")


def _origin(facts: Facts, name: str) -> int | str:
    return facts[name].origin if name in facts else DERIVED


def _groups(facts: Facts) -> Known:
    """SGLang's tensor-parallel degree is that of the whole server: with attention of their own its ranks have one."""
    whole, groups = value_of(facts, "server_tp"), value_of(facts, "dp")
    if not whole:
        return
    apart = groups and is_true(value_of(facts, "dp_attention"))
    origin = _origin(facts, "server_tp")
    yield "tp", whole / groups if apart else whole, origin
    yield "attention_dp", groups if apart else None, origin
    if is_true(value_of(facts, "expert_parallel")):
        yield "ep", whole, origin


def _latest(log: RunLog, facts: Facts) -> Known:
    """What follows where a table has no row for it."""
    offline = "mean_ttft" not in log.benchmark and "completed" not in log.benchmark
    if offline and "rate" not in facts:
        yield "requests", float(OFFLINE_REQUESTS), USUALLY
        yield "rate", inf, USUALLY
    if not {"users", "rate"} & facts.keys():
        yield "users", at_once(log, facts), DERIVED


def at_once(log: RunLog, facts: Facts) -> float | None:
    """Requests that were there at once in the mean: as the log says, or by Little's law from their rate and what one
    takes.
    """
    rate, seconds = log.benchmark.get("request_rate"), request_seconds(log, facts)
    return log.benchmark.get("concurrency") or (rate * seconds if rate and seconds else None)


def request_seconds(log: RunLog, facts: Facts) -> float | None:
    """Seconds of a request from its arrival to its last token, in the mean; None where the log says neither that nor
    its parts.
    """
    numbers, output = log.benchmark, value_of(facts, "output")
    if "mean_latency" in numbers:
        return numbers["mean_latency"]
    first, token = numbers.get("mean_ttft"), numbers.get("mean_tpot")
    return first + max(output - 1, 0) * token if first and token is not None and output else None


def _machine(facts: Facts) -> Known:
    tp, groups, replicas = (value_of(facts, name) or 1 for name in ("tp", "attention_dp", "replicas"))
    yield "gpus", tp * groups * replicas if "tp" in facts else None, DERIVED


def load_of(facts: Facts) -> ServedLoad | None:
    """The load of a benchmark; None where nobody says it."""
    users, rate = value_of(facts, "users"), value_of(facts, "rate")
    if not users and not rate:
        return None
    requests = value_of(facts, "requests") or 10 * (users or 1)
    return ServedLoad(float(users or inf), float(rate or inf), float(requests))
