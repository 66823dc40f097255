import re
from itertools import product
from statistics import fmean

import pytest

from hwlib import simt
from hwlib.simt import lane_fraction, warp_ways


def either(x):
    yield
    if x:
        yield
        yield
    else:
        yield
    yield


def loop(times):
    for _ in range(times):
        yield
    yield


def forever(_):
    while True:
        yield


def lockstep(traces):
    """The thread furthest behind goes first, with all that stand where it stands."""
    at = [0] * len(traces)
    schedule = []
    while waiting := [thread for thread, trace in enumerate(traces) if at[thread] < len(trace)]:
        line = min(traces[thread][at[thread]] for thread in waiting)
        together = [thread for thread in waiting if traces[thread][at[thread]] == line]
        for thread in together:
            at[thread] += 1
        schedule.append((line, together))
    return schedule


def test_a_thread_is_traced_by_the_lines_of_its_yields():
    assert simt.trace(either, [True, False]) == [[[1, 3, 4, 7], [1, 6, 7]]]
    assert simt.trace(loop, [3, 0]) == [[[2, 2, 2, 3], [3]]]


def test_threads_fill_warps_in_the_order_of_the_data():
    warps = simt.trace(loop, range(70))
    assert [len(warp) for warp in warps] == [32, 32, 6]
    assert len(warps[2][0]) == 65
    assert [len(warp) for warp in simt.trace(loop, range(70), width=64)] == [64, 6]


def test_a_warp_issues_both_ways_and_a_loop_as_often_as_its_longest_thread():
    run = simt.run(lockstep, simt.trace(either, [True, False] * 16))
    assert (run.cycles, run.note) == (5, "")
    assert run.busy == (32 + 2 * 16 + 16 + 32) / (5 * 32)
    assert simt.run(lockstep, simt.trace(either, [True] * 32)).busy == 1
    assert simt.run(lockstep, simt.trace(loop, range(32))).cycles == 32


@pytest.mark.parametrize(("ways", "width"), [(1, 4), (2, 1), (2, 2), (2, 5), (3, 4), (5, 3)])
def test_expected_ways_are_the_mean_over_all_assignments_and_what_a_machine_issues(ways, width):
    choices = list(product(range(ways), repeat=width))
    assert warp_ways(ways, width) == pytest.approx(fmean(len(set(choice)) for choice in choices), rel=1e-12)
    traces = [[[10 * way] for way in choice] for choice in choices]  # one instruction, at the line of the way
    run = simt.run(lockstep, traces, width)
    assert run.cycles / len(choices) == pytest.approx(warp_ways(ways, width), rel=1e-12)
    assert run.busy == pytest.approx(lane_fraction(ways, width), rel=1e-12)


def test_limits():
    assert warp_ways(1) == 1
    assert warp_ways(2) == pytest.approx(2)
    assert warp_ways(1000) == pytest.approx(32, rel=0.02)  # nearly every thread has a way to itself
    assert warp_ways(7, width=1) == pytest.approx(1)
    assert lane_fraction(2, 1000) == pytest.approx(1 / 2)


def test_the_machine_that_shares_nothing_issues_every_instruction_of_every_thread():
    run = simt.run(simt.one_by_one, simt.trace(loop, range(32)))
    assert run.cycles == run.thread_instructions == sum(range(33))
    assert run.busy == 1 / 32


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (lambda _: None, "nothing"),
        (lambda _: ..., "nothing"),
        (lambda _: 5, r"list of \(line, threads\)"),
        (lambda _: [5], r"list of \(line, threads\)"),
        (lambda _: [(2, [7])], r"list of \(line, threads\)"),
        (lambda _: [(3, [0])], "thread 0 .*line 3, .* 2$"),
        (lambda _: [(2, [0])], "thread 0 .* end"),
        (lambda _: [(2, [0]), (3, [0]), (3, [0])], "thread 0 .*line 3 .* end"),
    ],
)
def test_a_machine_that_makes_no_schedule_is_replaced_and_the_run_says_why(machine, words):
    run = simt.run(machine, simt.trace(loop, [1, 1]))
    assert re.search(words, run.note)
    assert run.note in repr(run)
    assert run.schedules == (([(2, [0]), (3, [0]), (2, [1]), (3, [1])]),)


def test_what_is_no_kernel_is_said():
    with pytest.raises(TypeError, match=r"kernel .*generator"):
        simt.trace(len, ["abc"])
    with pytest.raises(ValueError, match=r"trace: .*,000 "):
        simt.trace(forever, [0])
    with pytest.raises(ValueError, match="width"):
        simt.trace(loop, [1], width=0)
    assert simt.run(lockstep, []).busy == 0
