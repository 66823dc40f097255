"""Traces read as streams: any form, any cut, whole nanoseconds; times and waits as the library's other reader has them,
shares of the roofline, findings by kind, and hostile files that end in a sentence.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hwlib.specs import accelerators
from hwlib.traces import CAUSES, align, draw_traces, read_trace, trace_times, waits_between
from hwlib.traces.profiles.answers import TraceJob, answer
from hwlib.traces.profiles.findings import TraceLimits
from hwlib.traces.profiles.kernels import kernel_class, op_work
from hwlib.traces.profiles.profile import profile_rank
from hwlib.traces.profiles.stream import TraceStream
from hwlib.traces.profiles.times import Busy, rank_times
from tests.hostile import damaged, reads
from tests.hwlib.test_traces import collective, kernel, launch, lines_run, products

HEAD = {
    "distributedInfo": {"rank": 3, "world_size": 8},
    "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
}
QUIET = TraceLimits(exposed=1, launch=1, idle=1, loading=1)


def text_of(*events, **head):
    return json.dumps({**HEAD, **head, "traceEvents": events})


def only(*events, **head):
    return answer({"": text_of(*events, **head)})


def times(answered):
    (own,) = answered.ranks.values()
    return {name: round(1e6 * value, 6) for name, value in own.times._asdict().items()}


def kinds(answered):
    return {finding.kind for finding in answered.findings}


def annotation(name, ts, dur):
    return {"ph": "X", "cat": "user_annotation", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 1}


def operator(name, ts, dur, number, dims, types, tid=1):
    args = {"External id": number, "Input Dims": dims, "Input type": types}
    return {"ph": "X", "cat": "cpu_op", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": tid, "args": args}


# The stream


TRACE = {"a": {"b": [1, "}"]}, "traceEvents": [{"ph": "X", "name": 'q"}]\\' * 3, "i": i} for i in range(40)], "z": 1}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("size", [1, 7, 100, 10**6])
def test_events_and_head_are_read_in_any_pieces(indent, size):
    text = json.dumps(TRACE, indent=indent)
    stream = TraceStream(text[i : i + size] for i in range(0, len(text), size))
    assert list(stream) == TRACE["traceEvents"]
    assert (stream.head, stream.cut, stream.count) == ({"a": TRACE["a"], "z": 1}, "", 40)


def test_a_text_that_is_cut_anywhere_is_read_as_far_as_it_goes():
    text, before = json.dumps(TRACE), 0
    for end in range(1, len(text)):
        stream = TraceStream([text[:end]])
        events = list(stream)
        assert events == TRACE["traceEvents"][: len(events)]
        assert len(events) >= before
        assert stream.cut
        before = len(events)


@pytest.mark.parametrize(
    ("text", "cut"), [('[{"a":1},\n{"a":2}]', ""), ('[{"a":1},\n{"a":2}\n', ""), ('[{"a":1},{"a":2},{"b', "cut")]
)
def test_a_list_alone_is_a_trace_and_may_be_left_open(text, cut):
    stream = TraceStream([text])
    assert list(stream) == [{"a": 1}, {"a": 2}]
    assert bool(stream.cut) == bool(cut)


@pytest.mark.parametrize("text", ["", "5", '"traceEvents"', "not a trace"])
def test_what_is_no_json_of_a_trace_is_refused(text):
    with pytest.raises(ValueError, match="Chrome trace"):
        list(TraceStream([text]))


# Times


def test_times_by_hand():
    """us: as in the other reader's test, and a batch that is waited for in two of the five idle ones."""
    events = [kernel(0, 10), collective(5, 20), kernel(30, 10, correlation=9), launch(26, 2, 9)]
    read = only(*events, annotation("enumerate(DataLoader)#__next__", 20, 7), annotation("ProfilerStep#7", 0, 40))
    expected = {"span": 40, "compute": 20, "communication": 20, "exposed": 15, "copies": 0, "idle": 5, "launch": 3}
    assert times(read) == expected | {"loading": 2, "pauses": 0}
    (own,) = read.ranks.values()
    step = own.steps[0]
    assert (step.number, round(step.seconds * 1e6), round(step.compute * 1e6), round(step.exposed * 1e6)) == (
        "7",
        40,
        20,
        15,
    )
    assert (own.rank, own.world, own.known_chip) == (3, 8, "h100-sxm")


@pytest.mark.parametrize("cause", CAUSES)
def test_drawn_jobs_have_the_times_and_waits_of_the_other_reader(cause):
    raw = draw_traces(cause, 2)
    read = answer({f"rank{i}": json.dumps(one) for i, one in enumerate(raw)})
    traces = [read_trace(one) for one in raw]
    for trace in traces:
        own = read.ranks[str(trace.rank)].times
        assert own[:7] == pytest.approx(trace_times(trace)[1:], abs=1e-9)
    expected = {(str(who), str(cause)): wait for (who, cause), wait in waits_between(traces).items()}
    assert read.waits.waits == pytest.approx(expected, abs=1e-8)
    assert read.waits.matched == 1


def test_the_waits_for_a_rank_are_summed_over_all_who_wait(monkeypatch):
    monkeypatch.setattr("hwlib.traces.profiles.answers.PAIRS", 1)
    read = answer({f"rank{i}": json.dumps(one) for i, one in enumerate(draw_traces("clock cap", 2))}, QUIET)
    assert len(read.record["waits"]) == 1
    expected = sum(seconds for (_, cause), seconds in read.waits.waits.items() if cause == "2")
    assert read.record["caused"]["2"] == pytest.approx(expected)
    assert kinds(read) == {"straggler"}


@pytest.mark.parametrize(("name", "matched"), [("all_to_allv", 1), ("alltoall", 1), ("allreduce", 0)])
def test_ranks_meet_in_an_exchange_of_uneven_sizes(name, matched):
    def text(rank, start, size):
        own = collective(start, 100 - start)
        own["args"] |= {"Collective name": name, "In msg nelems": size, "Out msg nelems": size}
        return text_of(kernel(0, 5), own, distributedInfo={"rank": rank, "world_size": 2})

    read = answer({"rank0": text(0, 10, 64), "rank1": text(1, 60, 96)}, QUIET)
    assert read.waits.matched == matched
    assert (("0", "1") in read.waits.waits) == bool(matched)


def test_clocks_that_differ_are_aligned():
    skewed = {f"rank{i}": json.dumps(one) for i, one in enumerate(draw_traces("clock cap", 2, skew=0.5))}
    read = answer(skewed)
    assert read.waits.shifts["5"] == pytest.approx(-0.5, abs=1e-4)
    assert next(iter(read.waits.waits))[1] == "2"
    assert len(align([read_trace(text) for text in skewed.values()])) == 8


def test_absolute_microseconds_lose_nothing():
    """Since 1970: a double holds a quarter of a microsecond, whole numbers of ns all of it."""
    base = 1682725898236567
    rows = [kernel(base + 3 * i, 2) for i in range(1000)]
    assert times(only(*rows))["compute"] == 2000
    assert times(only(*rows))["idle"] == 999


def test_several_devices_of_one_process_are_apart():
    read = only(kernel(0, 10, device=0), kernel(5, 10, device=1))
    assert [times_of.times.compute for times_of in read.ranks.values()] == pytest.approx([10e-6, 10e-6])
    assert list(read.ranks) == ["3/GPU0", "3/GPU1"]


def test_the_rank_is_that_of_the_trace_or_of_the_name_or_the_next():
    event = json.dumps([kernel(0, 10)])
    read = answer({"a/rank-12.json": event, "x.json": event, "y.json": event, "t": text_of(kernel(0, 1))})
    assert list(read.ranks) == ["0", "1", "3", "12"]
    with pytest.raises(ValueError, match="second trace of rank 3"):
        answer({"rank_3.json": event, "other": text_of(kernel(0, 1))})


def test_former_categories_and_forms_are_read():
    new = only(kernel(0, 10, correlation=9), kernel(30, 5, correlation=10), launch(26, 2, 10))
    old = only(
        {**kernel(0, 10, correlation=9), "cat": "Kernel"},
        {**kernel(30, 5, correlation=10), "cat": "Kernel"},
        {**launch(26, 2, 10), "cat": "Runtime"},
    )
    assert times(old) == times(new)


def test_a_trace_without_its_kernels_says_so():
    ranges = {"ph": "X", "cat": "cuda_profiler_range", "name": "k", "ts": 0, "dur": 5}
    read = only(ranges, launch(1, 2, 9), operator("aten::mm", 0, 5, 1, [[2, 2], [2, 2]], ["float", "float"]))
    assert (kinds(read), times(read)["span"]) == ({"no device"}, 0)
    assert "CUPTI" in read.text
    cpu = only(operator("aten::mm", 0, 5, 1, [[2, 2], [2, 2]], ["float", "float"]), annotation("gloo:all_reduce", 5, 5))
    assert (times(cpu)["compute"], times(cpu)["communication"]) == (5, 5)


# Kernels and rooflines


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_256x128>", "matmul"),
        ("nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_TNT", "matmul"),
        ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x16", "matmul"),
        ("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128>>", "attention"),
        ("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16", "attention"),
        ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>", "normalization"),
        ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>", "optimizer"),
        ("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<lambda(float)#1>>", "elementwise"),
        ("triton_poi_fused_add_cos_sin_0", "elementwise"),
        ("sm80_xmma_wgrad_implicit_gemm_indexed_tf32", "convolution"),
        ("my_kernel", "other"),
    ],
)
def test_kernels_have_a_class(name, kind):
    assert kernel_class(name) == kind


BF16 = ["c10::BFloat16"] * 3


@pytest.mark.parametrize(
    ("name", "dims", "flops", "size"),
    [
        ("aten::mm", [[4, 8], [8, 2]], 2 * 4 * 8 * 2, 2 * (32 + 16 + 8)),
        ("aten::addmm", [[2], [4, 8], [8, 2]], 2 * 4 * 8 * 2, 2 * (32 + 16 + 8)),
        ("aten::bmm", [[3, 4, 8], [3, 8, 2]], 6 * 4 * 8 * 2, 6 * (32 + 16 + 8)),
        ("aten::linear", [[5, 4, 8], [2, 8]], 2 * 20 * 8 * 2, 2 * (160 + 16 + 40)),
        (
            "aten::_scaled_dot_product_flash_attention",
            [[1, 4, 6, 8], [1, 2, 7, 8], [1, 2, 7, 8]],
            4 * 4 * 6 * 7 * 8,
            2 * 608,
        ),
        ("aten::add_", [[4, 8], [4, 8]], 0, 2 * 3 * 32),
    ],
)
def test_operators_have_their_least_work(name, dims, flops, size):
    assert op_work(name, dims, BF16) == (flops, "bf16" if flops else "", size)


@pytest.mark.parametrize(
    "dims", [None, [], [[4]], [[4, 8], [9, 2]], [["x", 1], [1, 2]], [[-4, 8], [8, 2]], [[2**40, 2**40], [1, 1]]]
)
def test_shapes_that_are_no_product_have_no_work(dims):
    assert op_work("aten::mm", dims, BF16) is None


def test_a_kernel_is_held_against_the_roofline_of_its_chip():
    """A product of 4096 that takes twice what the data sheet allows; its bias's copy does not count."""
    chip, N = accelerators["h100-sxm"], 4096
    least = 1e6 * max(2 * N**3 / chip.bf16_flops, 6 * N * N / chip.hbm_bandwidth)
    made = operator("aten::addmm", 0, 9, 5, [[N], [N, N], [N, N]], ["c10::BFloat16"] * 3)
    gemm = kernel(20, 2 * least, name="sm90_xmma_gemm_bf16", **{"External id": 5, "device": 0, "correlation": 70})
    bias = kernel(
        10, 7, name="void at::native::elementwise_kernel", **{"External id": 5, "device": 0, "correlation": 69}
    )
    rows = {row["name"]: row["share"] for row in only(made, bias, gemm).record["classes"]}
    assert rows == {"matmul": pytest.approx(0.5), "elementwise": None}
    assert only(made, gemm, deviceProperties=[{"id": 0, "name": "Unknown 9000"}]).record["classes"][0]["share"] is None
    float32 = operator("aten::mm", 0, 9, 5, [[N, N], [N, N]], ["float", "float"])
    assert only(float32, gemm).record["classes"][0]["share"] is None


def test_older_kernels_are_linked_to_the_operator_around_their_launch():
    chip, N = accelerators["h100-sxm"], 4096
    least = 1e6 * max(2 * N**3 / chip.bf16_flops, 6 * N * N / chip.hbm_bandwidth)
    outer = operator("aten::linear", 0, 30, 4, [[N, N], [N, N]], BF16)
    inner = operator("aten::mm", 5, 9, 5, [[N, N], [N, N]], BF16)
    call = {**launch(6, 2, 700), "tid": 1}
    gemm = kernel(40, 2 * least, name="gemm", **{"External id": 700, "correlation": 700, "device": 0})
    elsewhere = {**launch(6, 2, 700), "tid": 2}
    assert only(outer, inner, call, gemm).record["classes"][0]["share"] == pytest.approx(0.5)
    assert only(outer, inner, elsewhere, gemm).record["classes"][0]["share"] is None


# Findings


def test_a_healthy_job_has_no_finding_but_what_its_limits_say():
    files = {f"rank{i}": json.dumps(one) for i, one in enumerate(draw_traces(steps=3))}
    assert answer(files, QUIET).findings == ()
    assert kinds(answer(files)) == {"exposed"}


@pytest.mark.parametrize(
    ("cause", "expected", "word"),
    [
        ("slow link", {"straggler", "slow group"}, "slow group"),
        ("data stall", {"straggler"}, "DataLoader"),
        ("clock cap", {"straggler"}, "1.25 times"),
    ],
)
def test_each_sickness_is_named_with_its_rank_and_cause(cause, expected, word):
    for rank in (1, 6):
        read = answer({f"rank{i}": json.dumps(one) for i, one in enumerate(draw_traces(cause, rank, skew=0.2))}, QUIET)
        assert kinds(read) == expected
        straggler = next(finding for finding in read.findings if finding.kind == "straggler")
        assert word in straggler.sentence
        assert straggler.ranks == (str(rank),) or cause == "slow link"
        assert all(str(rank) in finding.ranks for finding in read.findings if finding.kind == "slow group")


def test_a_rank_with_an_idle_device_is_late_for_its_host():
    def rank(number, late):
        rows = [kernel(0, 10), kernel(20 + late, 10), collective(30 + late, 110 - late, Seq=1), kernel(140, 10)]
        return json.dumps({"traceEvents": rows, "distributedInfo": {"rank": number}})

    read = answer({str(number): rank(number, 60 if number == 1 else 0) for number in range(3)}, QUIET)
    (finding,) = read.findings
    assert (finding.kind, finding.ranks) == ("straggler", ("1",))
    assert "idle for 60 us more" in finding.sentence


def test_events_of_the_host_are_counted_and_are_not_the_devices_time():
    host = [annotation("x", 0, 50), launch(0, 90, 1), {**annotation("f", 0, 99), "cat": "python_function"}]
    read = only(kernel(0, 10), *host, {**annotation("x", 0, 50), "cat": "gpu_user_annotation"})
    assert times(read)["span"] == 10
    counts = read.record["ranks"][0]["counts"]
    assert counts == {"annotations": 1, "runtime": 1, "python_function": 1, "gpu_user_annotation": 1}


def test_limits_are_shares_on_both_sides():
    """20 of 40 us with a collective alone; idle for 20 of 40, of which 18 before the launch."""
    events = [kernel(0, 10), collective(10, 20), kernel(30, 10)]
    assert kinds(answer({"": text_of(*events)}, TraceLimits(exposed=0.49))) == {"exposed"}
    assert kinds(answer({"": text_of(*events)}, TraceLimits(exposed=0.51))) == set()
    late = [kernel(0, 10), kernel(30, 10, correlation=9), launch(26, 2, 9)]
    assert kinds(answer({"": text_of(*late)}, TraceLimits(launch=0.44))) == {"launch"}
    assert kinds(answer({"": text_of(*late)}, TraceLimits(launch=0.46))) == set()
    assert kinds(answer({"": text_of(*late[:2])}, TraceLimits(idle=0.49))) == {"idle"}


@pytest.mark.parametrize(("gap", "kind"), [(49_900, "launch"), (50_100, "pauses")])
def test_a_host_that_launches_nothing_for_long_is_at_something_else(gap, kind):
    """us: a start-up of seconds between two kernels is no sign of short kernels."""
    late = [kernel(0, 10), kernel(gap, 10, correlation=9), launch(gap - 12, 10, 9)]
    assert kinds(answer({"": text_of(*late)}, TraceLimits(launch=0.9))) == {kind}
    many = [kernel(30 * i, 10, correlation=i) for i in range(1, 9)]
    calls = [launch(30 * i - 4, 2, i) for i in range(1, 9)]
    assert kinds(answer({"": text_of(*many, *calls)}, TraceLimits(launch=0.3))) == {"launch"}


@pytest.mark.parametrize(
    ("device", "outside"), [((0, 1), True), ((400, 90), True), ((0, 110), False), ((10, 190), False)]
)
def test_time_of_steps_before_and_after_all_kernels_is_named(device, outside):
    """Shares are of the time between the device's first and last event, which may be a small part of the steps."""
    steps = [annotation(f"ProfilerStep#{i}", 100 * i, 100) for i in range(2)]
    assert ("outside" in kinds(only(kernel(*device), *steps))) == outside


def test_steps_that_take_longer_are_numbered():
    steps = [annotation(f"ProfilerStep#{i}", 100 * i, 150 if i in (0, 4) else 100) for i in range(6)]
    read = only(kernel(0, 600), *steps)
    (finding,) = read.findings
    assert (finding.kind, finding.value) == ("slow steps", 1.5)
    assert "steps 4 " in finding.sentence


def test_a_cut_trace_is_a_finding():
    text = text_of(*(kernel(10 * i, 10) for i in range(100)))
    read = answer({"": text[: len(text) // 2]})
    assert kinds(read) == {"cut"}
    assert 30 < times(read)["compute"] / 10 < 60


# Cost, and hostile files


def read_and_add_up(events):
    return rank_times(profile_rank([json.dumps(events)]))


def test_time_grows_with_the_events_and_not_with_their_square():
    small, large = (lines_run(read_and_add_up, list(products(steps))) for steps in (200, 800))
    assert small > 1000
    assert large < 4.5 * small


def test_matching_ranks_grows_with_the_collectives():
    def job(steps):
        return {f"rank{i}": json.dumps(one) for i, one in enumerate(draw_traces(steps=steps, layers=1))}

    small, large = (lines_run(answer, job(steps)) for steps in (1, 4))
    assert large < 4.5 * small


def test_busy_time_between_two_moments():
    busy = Busy(((0, 10), (20, 30)))
    assert [busy.between(*pair) for pair in ((0, 30), (5, 25), (10, 20), (-5, 5), (30, 40), (12, 15))] == [
        20,
        10,
        0,
        5,
        0,
        0,
    ]
    assert Busy(()).between(0, 5) == 0


HOSTILE = [
    '{"traceEvents": ' + "[" * 100_000,
    '{"a": ' + '{"a": ' * 50_000,
    '{"traceEvents": [{"ph": "X", "cat": ["kernel"], "ts": 1, "dur": 2}]}',
    json.dumps([{"ph": "X", "cat": "kernel", "name": 5, "ts": "1", "dur": None}]),
    json.dumps([{"ph": "X", "cat": "kernel", "name": ["x"], "ts": 1, "dur": 2, "args": [1], "pid": "x"}]),
    '[{"ph": "X", "cat": "kernel", "name": "x", "ts": 1e999, "dur": NaN}]',
    '[{"ph": "X", "cat": "kernel", "ts": 9e99, "dur": 1}]',
    '[{"ph": "X", "cat": "kernel", "name": "x", "ts": ' + "9" * 4000 + ', "dur": 1}]',
    json.dumps([kernel(1, 2, correlation={}, **{"External id": [], "device": "a"})]),
    json.dumps([collective(1, 2, **{"Seq": "x", "Process Group Ranks": [[[]]]}) | {"tid": {}}]),
    json.dumps([operator("aten::mm", 1, 2, 3, [[[1]], {"a": 1}], {"x": 1})]),
    json.dumps({"traceEvents": [kernel(1, 2)], "distributedInfo": [1], "deviceProperties": {"a": 1}}),
    json.dumps({"traceEvents": [kernel(1, 2)], "distributedInfo": {"rank": "3"}, "deviceProperties": [5, {"id": []}]}),
    '{"traceEvents": 5}',
    '{"traceEvents": [1, null, "x", [], {}]}',
    " " * 100_000,
    '[{"a": "' + "x" * 300_000,
    json.dumps([annotation("ProfilerStep#" + "9" * 5000, 1, 2), kernel(1, 2)]),
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_traces_end_in_an_answer_or_a_sentence(text):
    reads(whole, text, memory=True)


def whole(text):
    """An answer with its record and text, both of which must be made."""
    job = TraceJob()
    job.add("rank_0.json", [text])
    read = job.answer()
    return json.dumps(read.record), read.text


SOUND = [
    text_of(*products(5), annotation("ProfilerStep#1", 0, 60), operator("aten::mm", 0, 9, 5, [[2, 2], [2, 2]], BF16)),
    json.dumps(draw_traces(layers=1)[0]),
]


@settings(max_examples=30, deadline=None)
@given(damaged(SOUND))
def test_damaged_traces_end_in_an_answer_or_a_sentence(text):
    reads(whole, text)


@pytest.mark.nightly
@settings(max_examples=10_000, deadline=None)
@given(st.one_of(damaged(SOUND), st.text(max_size=200)))
def test_many_damaged_traces_end_in_an_answer_or_a_sentence(text):
    reads(whole, text)
