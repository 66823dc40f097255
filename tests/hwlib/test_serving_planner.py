"""The serving planner: its points are those of the serving stacks and of a played engine, its search finds the best."""

import math
import subprocess
import sys
from dataclasses import replace

import pytest

from hwlib.calibrated.serving import run_of, serve, served_time
from hwlib.calibrated.serving_network import ALPHA_OUT, Nodes, exchange_time
from hwlib.calibrated.serving_step import Server
from hwlib.collectives import Routing
from hwlib.planner import PlanError
from hwlib.serving_planner import Limits, Pool, front, plan_serving, play, question_of
from hwlib.serving_planner.anatomy import memory_parts, token_parts
from hwlib.serving_planner.layouts import Layout, layouts, room, server_of
from hwlib.serving_planner.points import BUSY, Point, apart_ttft, reading, together, together_point
from hwlib.serving_planner.precision import precisions, usual_dtype
from hwlib.serving_planner.search import late
from hwlib.specs import accelerators, measured_exchanges, measured_lengths, measured_users, models
from hwlib.specs.serving_stack import serving_stacks

LOAD = {"prompt": 2048, "output": 512}
LIMIT = {"ttft": 2.0, "tpot": 0.05}


@pytest.fixture(scope="module")
def dense():
    return plan_serving("llama3-70b", "dgx-h100", **LOAD, **LIMIT, price=2 / 3600, count=10)


@pytest.fixture(scope="module")
def experts():
    return plan_serving("deepseek-v3", "2xdgx-h200", **LOAD, **LIMIT, count=20)


# One library, one answer


@pytest.mark.parametrize(
    ("model", "node", "layout", "each", "asked"),
    [
        ("llama3-70b", "dgx-h200", Layout(2, 1, 1), 64, {"dtype": "fp8"}),
        ("llama3-8b", "dgx-a100", Layout(1, 1, 1), 100, {}),
        ("qwen3-235b-a22b", "dgx-b200", Layout(1, 8, 8), 40, {"dtype": "fp4"}),
        ("mixtral-8x7b", "dgx-h100", Layout(4, 4, 1), 32, {"stack": "sglang"}),
    ],
    ids=["tp", "alone", "attention-dp", "sglang"],
)
def test_a_point_has_the_tokens_and_latency_of_the_serving_stacks(model, node, layout, each, asked):
    """`hwlib.calibrated.serve`, whose errors the page on fidelity has."""
    q = question_of(model, node, prompt=1000, output=500, **asked)
    one = together(q, server_of(q, layout), each, 8192)
    served = serve(
        model, q.chip, stack=q.stack, tp=layout.gpus, ep=layout.ep, attention_dp=layout.attention_dp > 1,
        batch=each * layout.attention_dp, input=1000, output=500, dtype=q.dtype, kv_dtype=q.kv_dtype,
    )  # fmt: skip
    assert one.tpot == pytest.approx(served.token_latency)
    assert one.requests * 500 == pytest.approx(served.tokens_per_second)
    assert one.ttft >= served.first_token


@pytest.mark.parametrize("row", [row for row in measured_users("llama3-70b") if row.users <= 50], ids=lambda r: r.users)
def test_a_measured_server_that_was_not_fitted_is_predicted(row):
    """NVIDIA's table has the mean time between tokens and the rate of so many users at once."""
    q = question_of(row.model, "dgx-h100", gpus=2, prompt=row.input, output=row.output, dtype=row.dtype)
    one = together(q, server_of(q, Layout(row.tp, 1, 1)), row.users, 8192)
    assert one.tpot == pytest.approx(row.tbt, rel=0.06)
    assert one.requests * row.output == pytest.approx(row.rate, rel=0.03)
    assert 0.6 * row.ttft < one.ttft < row.ttft


def test_the_cache_is_full_where_the_measured_server_stops():
    """By Little's law, from the rows with more users than run: the rate over 500 tokens, times a request's time."""
    q = question_of("llama3-70b", "dgx-h100", gpus=2, prompt=5000, output=500, dtype="fp8")
    full = measured_users("llama3-70b")[-1]
    assert room(q, server_of(q, Layout(2, 1, 1))) == pytest.approx(full.rate * full.tbt, rel=0.15)


def played(name, **asked):
    model, node, keep = {
        "whole prompts": ("llama3-8b", "dgx-h100", lambda p: p.plan.chunk == 2048),
        "parts": ("llama3-70b", "dgx-h100", lambda p: p.plan.chunk == 512 and p.load > 0.6),
        "experts": ("gpt-oss-120b", "dgx-h100", lambda p: p.plan.chunk == 2048 and p.plan.decode.attention_dp == 8),
        "apart": ("gpt-oss-120b", "dgx-h100", lambda p: p.plan.prefill is not None),
    }[name]
    found = plan_serving(model, node, prompt=2048, output=128, tpot=0.04, ttft=1.0, **asked)
    return found.question, next(point for point in found.found.kept if keep(point))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["whole prompts", "parts", "experts"])
def test_a_played_server_with_as_many_requests_agrees_with_the_formulas(name):
    """Within the tenth that the page states: tokens and time of a token, beginning and end of the run left out."""
    q, point = played(name)
    each = point.plan.decode.batch // point.plan.decode.attention_dp
    run = play(q, point, count=6 * each, closed=True)
    inner = run.outcomes[2 * each : 5 * each]
    assert sum(one.tpot for one in inner) / len(inner) == pytest.approx(point.tpot, rel=0.1)
    assert sorted(one.tpot for one in inner)[int(0.99 * len(inner))] < 1.08 * point.tpot
    groups = point.plan.decode.replicas * point.plan.decode.attention_dp
    ends = [one.end for one in inner]
    rate = (len(ends) - 1) / (max(ends) - min(ends))
    assert rate == pytest.approx(point.requests / groups, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["parts", "apart"])
def test_where_requests_arrive_at_random_the_played_latency_is_near(name):
    q, point = played(name)
    run = play(q, point, count=500)
    settled = run.outcomes[150:400]
    assert sum(one.tpot for one in settled) / len(settled) == pytest.approx(point.tpot, rel=0.25)
    assert 0.5 < sum(one.ttft for one in settled) / len(settled) / point.ttft < 2


def test_a_chunk_that_does_not_divide_the_prompts_is_not_played():
    q = question_of("llama3-8b", "dgx-h100", prompt=1000, output=64)
    point = together_point(q, Layout(1, 1, 1), 4, 512, together(q, server_of(q, Layout(1, 1, 1)), 4, 512))
    with pytest.raises(ValueError, match="divides"):
        play(q, point)


# Steps with parts of prompts, and experts over nodes


def test_a_chunk_of_whole_prompts_changes_nothing_and_a_shorter_one_takes_more_steps():
    server, stack = Server(models["llama3-8b"], accelerators["h100-sxm"]), serving_stacks["tensorrt-llm-1.1"]
    whole, same, parts = (
        run_of(server, stack, "closed", input=4000, output=400, batch=32, chunk=chunk) for chunk in (None, 4000, 1000)
    )
    assert same == whole
    assert sum(count for count, _ in parts.first) == pytest.approx(4)
    assert sum(count for count, _ in parts.token) == pytest.approx(1)
    assert served_time(stack, parts.token) == pytest.approx(served_time(stack, whole.token), rel=0.25)
    assert served_time(stack, parts.first) > served_time(stack, whole.first)
    with pytest.raises(ValueError, match="320 tokens"):
        run_of(server, stack, "closed", input=4000, output=400, batch=32, chunk=300)


def test_prompts_beside_no_decoding_may_take_more_steps_than_there_are_tokens():
    server, stack = Server(models["llama3-8b"], accelerators["h100-sxm"]), serving_stacks["sglang"]
    run = run_of(server, stack, "closed", input=4000, output=40, batch=40, chunk=1000)
    assert sum(count for count, _ in run.token) == pytest.approx(1 + 4)


def test_messages_between_nodes_are_those_that_deepep_measured():
    """Dispatch and combine of 128 tokens a GPU, on H800 in nodes of 8 with cards of 50 GB/s."""
    starts = []
    for ranks in (16, 32, 64):
        rows = [
            row
            for what in ("dispatch", "combine")
            for row in measured_exchanges("low latency", what)
            if row.ranks == ranks
        ]
        predicted = exchange_time(accelerators["h800-sxm"], ranks, 128, 7168, Routing(8, 256), nodes=Nodes(8, 50e9))
        assert predicted == pytest.approx(sum(row.time for row in rows), rel=0.07)
        away = 8 * (1 - 8 / ranks) * 128 * 7168 / 50e9
        starts += [row.time - away * bytes_ for row, bytes_ in zip(rows, (1 + 4 / 128, 2), strict=True)]
    assert sum(starts) / len(starts) == pytest.approx(ALPHA_OUT, rel=0.01)


def test_many_tokens_are_sent_once_to_each_node():
    chip, nodes = accelerators["h200-sxm"], Nodes(8, 25e9)
    routing = Routing(8, 256)
    few, many = (exchange_time(chip, 16, tokens, 7168, routing, nodes=nodes) - 2 * ALPHA_OUT for tokens in (1024, 4096))
    assert many == pytest.approx(few, rel=0.02)  # four times the tokens, with one copy of each in place of four
    assert exchange_time(chip, 8, 64, 7168, routing, nodes=nodes) == exchange_time(chip, 8, 64, 7168, routing)
    assert exchange_time(chip, 16, 64, 7168, routing, nodes=nodes) > 2 * exchange_time(chip, 16, 64, 7168, routing)


def test_tensor_parallelism_stays_within_a_node():
    with pytest.raises(ValueError, match="8 GPUs of a node"):
        Server(models["llama3-70b"], accelerators["h100-sxm"], tp=16, nodes=Nodes(8, 50e9))


# The search


def test_the_best_plan_keeps_the_limits_and_no_larger_batch_does(dense):
    q, best = dense.question, dense[0]
    assert not late(best, q.limits)
    assert best.gpu_rate == max(point.gpu_rate for point in dense.found.kept)
    layout = Layout(*best.plan.decode[:3])
    more = together(q, server_of(q, layout), math.ceil(1.04 * best.plan.decode.batch), best.plan.chunk)
    assert more.tpot > q.limits.tpot


@pytest.mark.parametrize("name", ["dense", "experts"])
def test_every_point_fits_and_uses_no_more_than_there_is(name, request):
    found = request.getfixturevalue(name)
    q = found.question
    for point in found.found.points:
        plan = point.plan
        assert plan.gpus <= q.gpus
        assert sum(memory_parts(q, point).values()) <= q.memory
        assert point.load <= BUSY
        assert point.gpu_rate == pytest.approx(point.requests * q.workload.output / q.gpus)
        assert (plan.prefill is None) == (plan.chunk is not None)
        for pool in (plan.decode, *([plan.prefill] if plan.prefill else [])):
            assert isinstance(pool, Pool)
            assert pool.batch % pool.attention_dp == 0
            assert pool.tp == 1 or pool.attention_dp == 1
            assert (pool.tp * pool.attention_dp) % pool.ep == 0


def test_the_parts_of_a_token_are_its_time(dense, experts):
    for found in (dense, experts):
        for point in found[:4]:
            parts = token_parts(found.question, point)
            assert sum(parts.values()) == pytest.approx(point.tpot)
            assert min(parts.values()) >= 0


def test_a_tighter_limit_never_gives_more_and_quicker_tokens_cost_more(dense):
    q = dense.question
    rates = []
    for tpot in (0.02, 0.03, 0.05, math.inf):
        kept = [p for p in dense.found.points if not late(p, Limits(ttft=2.0, tpot=tpot))]
        rates.append(max(p.gpu_rate for p in kept))
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]
    points = front(dense.found.points)
    assert [p.tpot for p in points] == sorted(p.tpot for p in points)
    assert [p.gpu_rate for p in points] == sorted(p.gpu_rate for p in points)
    assert points[-1] is dense.free
    for p in points:
        assert not any(o.tpot < p.tpot and o.gpu_rate > p.gpu_rate for o in dense.found.points)
        assert p.cost == pytest.approx(1e6 * q.price / p.gpu_rate)


def test_many_experts_are_served_apart_with_a_sequence_group_on_each_gpu(experts):
    """As DeepSeek does, and SGLang's and NVIDIA's published servers of it."""
    best = experts[0].plan
    assert best.prefill is not None
    assert best.decode.attention_dp >= 8
    assert best.decode.ep == best.decode.attention_dp


def test_the_simplest_of_nearly_equal_plans_is_advised(dense):
    stack = dense.question.stack
    best = dense[0]
    assert dense.advised is best  # together
    apart = next(point for point in dense if point.plan.prefill)
    near = replace(apart, requests=best.requests * (1 + stack.error / 4))
    assert type(dense)(dense.found, (near, best)).advised is best
    far = replace(apart, requests=best.requests * (1 + stack.error))
    assert type(dense)(dense.found, (far, best)).advised is far


def test_fixed_degrees_and_ways_are_kept():
    found = plan_serving("gpt-oss-120b", "dgx-h100", **LOAD, fixed={"tp": (2, 4), "ep": (1,)}, apart=False)
    assert {(p.plan.decode.tp, p.plan.decode.ep) for p in found.found.points} == {(2, 1), (4, 1)}
    assert all(p.plan.prefill is None for p in found.found.points)
    apart = plan_serving("llama3-8b", "dgx-h100", **LOAD, gpus=2, apart=True)
    assert all(p.plan.prefill and p.transfer > 0 for p in apart.found.points)


def test_a_queue_of_prompts_is_longer_the_busier_and_the_less_alike():
    q = question_of("llama3-8b", "dgx-h100", **LOAD)
    read = reading(q, Layout(1, 1, 1), server_of(q, Layout(1, 1, 1)), 1)
    waits = [apart_ttft(q, read, busy * read.rate) for busy in (0.01, 0.4, 0.7)]
    assert waits == sorted(waits)
    assert waits[0] == pytest.approx(read.seconds, rel=0.02)
    assert apart_ttft(q, read, 0.9 * read.rate) == math.inf
    mixed = replace(q, workload=q.workload._replace(cv2_prompt=2.0))
    queue = [apart_ttft(one, read, 0.7 * read.rate) - read.seconds for one in (q, mixed)]
    assert queue[1] == pytest.approx(3 * queue[0])


def test_a_trace_has_the_lengths_of_its_slices():
    q = question_of("llama3-8b", "dgx-h100", trace="azure-code")
    rows = measured_lengths("azure-code")
    assert q.workload.prompt == pytest.approx(sum(row.input for row in rows) / len(rows))
    assert q.workload.cv2_output > 1
    assert q.workload.full > q.workload.context > q.workload.prompt + q.workload.output


@pytest.mark.parametrize(
    ("model", "chip", "dtype"),
    [
        ("gpt-oss-120b", "h100-sxm", "mxfp4"),
        ("deepseek-v3", "h200-sxm", "fp8"),
        ("deepseek-v3", "a100-80gb-sxm", "bf16"),
        ("llama3-8b", "b200-sxm", "bf16"),
        ("gpt-oss-120b", "mi300x", "mxfp4"),
        ("deepseek-v3", "tpu-v4", "bf16"),
        ("llama3-8b", "v100-sxm2", "fp16"),
    ],
)
def test_a_model_is_served_as_it_is_published(model, chip, dtype):
    assert usual_dtype(models[model], accelerators[chip]) == dtype
    assert precisions(models[model], accelerators[chip], dtype, "bf16")["kv_dtype"] == "bf16"


def test_layouts_are_within_a_node_or_have_a_group_on_each_gpu():
    q = question_of("deepseek-v3", "8xdgx-h200", **LOAD)
    found = set(layouts(q))
    assert Layout(8, 8, 1) in found
    assert Layout(1, 64, 64) in found
    assert all(one.tp <= 8 for one in found)
    assert {one.gpus for one in layouts(q, gpus=4)} == {1, 2, 4}


@pytest.mark.parametrize(
    ("model", "cluster", "asked", "field", "words"),
    [
        ("llama3-405b", "dgx-h100", {}, "memory", "In fp8 it fits"),
        ("deepseek-v3", "dgx-h100", {}, "memory", "Fewest GPUs that hold it: 16 x"),
        ("llama3-70b", "dgx-h100", {"tpot": 0.001}, "tpot", "at least"),
        ("llama3-70b", "dgx-h100", {"ttft": 0.01}, "ttft", "at least"),
        ("llama3-70b", "dgx-h100", {"gap": 0.04, "ttft": 0.1}, "limits", "nearest is"),
        ("llama3-70b", "dgx-h100", {"fixed": {"tp": (3,)}}, "allowed", "1, 2, 4 or 8"),
        ("llama3-70b", "dgx-h100", {"fixed": {"pp": (3,)}}, "fixed", "pp"),
        ("llama3-70b", "1x8 rubin", {}, "cluster", "multiplies in 16 bits"),
        ("llama3-70b", "dgx-a100", {"dtype": "fp8"}, "dtype", "int8w"),
        ("llama3-70b", "mi300x-node", {"dtype": "fp4"}, "dtype", "MI300X has no products in fp4; expected bf16"),
        ("llama3-70b", "1x8 v100-sxm2", {"dtype": "bf16"}, "dtype", "expected fp16, int8w"),
        ("gpt-oss-20b", "1x8 tpu-v4, node 270 GB/s", {"dtype": "mxfp4"}, "dtype", "expected bf16, int8w"),
        ("llama3-70b", "1x512 tpu-v5e", {}, "cluster", "at most 256 chips"),
        ("llama3-70b", "dgx-h100", {"dtype": "mxfp4"}, "dtype", "has none"),
        ("llama3-70b", "dgx-h100", {"kv_dtype": "fp4"}, "kv_dtype", "fp8"),
        ("llama3-70b", "dgx-h100", {"stack": "vllm"}, "stack", "vllm-0.6"),
        ("llama3-70b", "dgx-h100", {"memory": 2e12}, "memory", "not 2 TB"),
        ("llama3-70b", "dgx-h100", {"prompt": 0}, "prompt", "whole number"),
        ("llama3-70b", "dgx-h100", {"prompt": 2**18}, "prompt", "131,072"),
        ("llama3-70b", "dgx-h100", {"trace": "azure-code"}, "trace", "its own lengths"),
        ("llama3-70b", "dgx-h100", {"apart": True, "gpus": 1}, "apart", "GPU each"),
        ("llama3-70b", "dgx-h100", {"gap": -1.0}, "gap", "above 0"),
        ("llama9", "dgx-h100", {}, "model", "llama"),
    ],
)
def test_what_cannot_be_is_named_with_what_could(model, cluster, asked, field, words):
    with pytest.raises(PlanError, match=words) as found:
        plan_serving(model, cluster, **LOAD | asked)
    assert found.value.field == field


def test_the_explanation_has_the_reasons(dense):
    said = dense.explain()
    best = dense[0]
    assert f"{best.plan.decode.batch:,} requests at once" in said
    for words in (
        "Between two tokens:",
        "The next plans, compared with the best:",
        "Without the limits",
        "exceed the limit of the time of a token",
        "t_layer, eta, eta_E fitted",
    ):
        assert words in said
    assert len(dense.table().splitlines()) == 4 + len(dense)
    assert all(isinstance(point, Point) for point in dense)
    reasons = dense.found.rejected
    assert any("weights" in why for why in reasons)
    assert any("limit" in why for why in reasons)


@pytest.mark.slow
def test_the_search_needs_nothing_but_python(root):
    """It also runs in a page: neither numpy nor any other package, and no thread."""
    program = (
        "import sys; sys.path.insert(0, '.'); from hwlib.serving_planner import plan_serving; import threading; "
        "found = plan_serving('llama3-8b', 'dgx-h100', prompt=100, output=100); "
        "assert found.explain() and threading.active_count() == 1; "
        "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'torch', 'click')])"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, cwd=root, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
