"""Traces of torch.profiler: read, added up and compared, by hand-made times, drawn jobs and one of PyTorch."""

import gzip
import json
import sys

import pytest

from hwlib.traces import (
    CAUSES,
    TraceError,
    align,
    draw_traces,
    exposed_intervals,
    job_span,
    length,
    meetings,
    minus,
    read_trace,
    trace_times,
    waits_between,
)


def kernel(ts, dur, stream=7, name="gemm", **args):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur, "args": args}


def collective(ts, dur, **args):
    about = {"Collective name": "allreduce", "Process Group Name": "0", "In msg nelems": 8, "dtype": "Float"}
    return kernel(ts, dur, 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", **about, **args)


def launch(ts, dur, correlation):
    return {
        "ph": "X",
        "cat": "cuda_runtime",
        "name": "cudaLaunchKernel",
        "ts": ts,
        "dur": dur,
        "args": {"correlation": correlation},
    }


def trace(rank, *events):
    return read_trace({"traceEvents": events, "distributedInfo": {"rank": rank}})


def test_a_trace_drawn_by_hand():
    """us: kernels 0-10 and 30-40, a collective 5-25, launched while the device idles: 25-30, of which 3 is the host."""
    one = trace(0, kernel(0, 10), collective(5, 20), kernel(30, 10, correlation=9), launch(26, 2, 9))
    times = trace_times(one)
    got = [round(1e6 * t, 6) for t in times[1:]]
    assert got == [40, 20, 20, 15, 0, 5, 3]
    assert length(exposed_intervals(one)) == pytest.approx(15e-6)
    (event,) = one.of("communication")
    assert (event.operation, event.group, event.number, event.bytes) == ("all_reduce", "0", 0, 32)


def test_who_waited_for_whom_by_hand():
    first = trace(0, collective(0, 10), collective(20, 10))
    second = trace(1, collective(6, 4), collective(15, 15))
    one, two = meetings([first, second])
    assert (one.last, two.last) == (1, 0)
    assert one.transfer == pytest.approx(4e-6)
    waits = waits_between([first, second])
    assert waits == pytest.approx({(0, 1): 6e-6, (1, 0): 5e-6})


def test_sequence_numbers_match_where_a_trace_begins_late():
    first = trace(0, collective(0, 10, Seq=7), collective(20, 10, Seq=8))
    assert [event.number for event in first.of("communication")] == [0, 1]


def test_a_trace_of_pytorch_itself(tmp_path):
    """Its operators are nested, so that their durations add up to more than the time that passed."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    x = torch.ones(64, 64)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(3):
            x = (x @ x).relu() / 64
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    got = read_trace(tmp_path / "trace.json")
    times = trace_times(got)
    assert sum(event.name == "aten::mm" for event in got.events) == 3
    assert 0 < times.compute < sum(event.duration for event in got.of("compute"))
    assert times.compute + times.idle == pytest.approx(times.span)
    assert times.communication == 0


@pytest.mark.parametrize("text", ["nothing", "{}", '{"traceEvents": [{"ph": "M"}]}'])
def test_what_is_not_a_trace_is_refused(text, tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(text, "utf-8")
    with pytest.raises(TraceError):
        read_trace(path)


def drawn(cause, rank=0, **how):
    return [read_trace(one) for one in draw_traces(cause, rank, **how)]


def test_the_parts_make_up_the_step():
    for one in drawn("clock cap", 3):
        t = trace_times(one)
        assert t.compute + t.exposed + t.copies + t.idle == pytest.approx(t.span)


def test_drawn_traces_are_json_and_the_same_again():
    once = json.dumps(draw_traces("data stall", 5, seed=3))
    assert once == json.dumps(draw_traces("data stall", 5, seed=3))
    assert once != json.dumps(draw_traces("data stall", 5, seed=4))


def seconds(traces):
    start, end = job_span(traces)
    return end - start


def test_each_sickness_shows_where_it_is_looked_for():
    healthy = drawn("healthy")
    base = {one.rank: trace_times(one, job_span(healthy)) for one in healthy}

    capped = drawn("clock cap", 3, size=1.3)
    compute = {one.rank: trace_times(one).compute for one in capped}
    assert compute[3] / base[3].compute == pytest.approx(1.3, rel=0.01)
    assert max(compute[r] / base[r].compute for r in range(8) if r != 3) == pytest.approx(1, rel=0.01)

    stalled = drawn("data stall", 5, size=20e-3)
    assert seconds(stalled) - seconds(healthy) == pytest.approx(20e-3, rel=0.02)
    host = {one.rank: trace_times(one, job_span(stalled)).host for one in stalled}
    assert max(host, key=host.get) == 5
    waits = waits_between(stalled)
    assert {for_whom for (_, for_whom), wait in waits.items() if wait > 15e-3} >= {5}
    assert waits[4, 5] == pytest.approx(20e-3, rel=0.02)

    slow = drawn("slow link", 2, size=3)
    transfers = {one.group: one.transfer for one in meetings(slow) if one.group.startswith("dp")}
    assert max(transfers, key=transfers.get) == "dp2"
    assert transfers["dp2"] / transfers["dp1"] == pytest.approx(3, rel=0.05)
    assert {one.rank for one in slow} == set(range(8))


def test_clocks_that_differ_are_aligned():
    skewed = drawn("healthy", skew=0.5)
    assert waits_between(skewed)[0, 4] > 0.4
    right = waits_between(align(skewed))
    assert max(right.values()) < 1e-3
    assert max(minus([job_span(align(skewed))], [job_span(drawn("healthy"))]), default=(0, 0))[1] < 0.1


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="cause"):
        draw_traces("tired")
    with pytest.raises(ValueError, match="rank"):
        draw_traces("clock cap", 8)
    with pytest.raises(ValueError, match="size"):
        draw_traces("slow link", 1, 0.5)
    assert next(iter(CAUSES)) == "healthy"


def lines_run(function, *arguments):
    """How many lines of Python a call runs: its time, without a clock."""
    count = 0

    def tracer(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return tracer

    former = sys.gettrace()
    sys.settrace(tracer)
    try:
        function(*arguments)
    finally:
        sys.settrace(former)
    return count


def products(steps):
    """One product after the other, every tenth kernel a collective, idle time between them."""
    for i in range(steps):
        at = 10 * (i + 1)
        yield {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": at, "dur": 4, "pid": 1, "tid": 1}
        yield launch(at, 1, i)
        yield kernel(at + 3, 5, correlation=i) if i % 10 else collective(at + 3, 5, correlation=i)


def read_and_add_up(events):
    return trace_times(trace(0, *events))


def test_time_grows_with_the_events_and_not_with_their_square():
    small, large = (lines_run(read_and_add_up, list(products(steps))) for steps in (200, 800))
    assert small > 1000
    assert large < 4.5 * small


def test_a_compressed_trace_is_read(tmp_path):
    path = tmp_path / "rank0.pt.trace.json.gz"
    text = json.dumps({"traceEvents": [kernel(0, 10)], "distributedInfo": {"rank": 5}})
    path.write_bytes(gzip.compress(text.encode()))
    assert read_trace(path) == read_trace(text)
    assert read_trace(path).rank == 5
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(TraceError, match="damaged or cut"):
        read_trace(path)


def test_former_names_of_categories_are_read():
    new = trace(0, kernel(0, 10, correlation=9), launch(26, 2, 9))
    old = trace(0, {**kernel(0, 10, correlation=9), "cat": "Kernel"}, {**launch(26, 2, 9), "cat": "Runtime"})
    assert old == new


def test_a_devices_calls_without_its_kernels_are_no_compute():
    """CUPTI's ranges take the kernels' place: the host's operators are not the device's work."""
    operator = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 4, "pid": 1, "tid": 1}
    assert {event.kind for event in trace(0, operator, launch(1, 1, 9)).events} == {"host"}
    assert {event.kind for event in trace(0, operator).events} == {"compute"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", "communication"),
        ("void cross_device_reduce_1stage<__nv_bfloat16, 8>(RankData*)", "communication"),
        ("void vllm::cross_device_reduce_2stage<half, 4>", "communication"),
        ("deep_ep::intranode::dispatch<8>", "communication"),
        ("void cutlass::Kernel2<cutlass_80_tensorop>", "compute"),
        ("void at::native::reduce_kernel<512, 1>", "compute"),
    ],
)
def test_kernels_of_communication_are_known_by_name(name, kind):
    assert trace(0, kernel(0, 1, name=name)).events[0].kind == kind
