import math
from itertools import pairwise

import numpy as np
import pytest

from hwlib.algorithms import ALGORITHMS, Step, ring_allreduce
from hwlib.collectives import hierarchical_allreduce_time
from hwlib.simulate import SimulationError, lockstep
from hwlib.simulate.events import play, simulate_events
from hwlib.simulate.fabric import UnreachableError
from hwlib.simulate.size_only_array import Phantom
from hwlib.topology import LinkRate, crossbar, fat_tree, ring, route, torus
from hwlib.topology.graph import finish, new_graph, wire
from hwlib.units import GB, KB, MB, us
from tests.each import each

W = 50 * GB
CROSSING = {"double_tree_allreduce"}  # a rank's two trees meet at its port, so the order in which they come counts


def all_to_all(n, bandwidth):
    """A cable between any two ranks: what `wires="link"` is about."""
    graph = new_graph()
    for i in range(n):
        graph.add_node(f"gpu{i}", kind="gpu", tier=0, place=(i,))
        for j in range(i):
            wire(graph, f"gpu{i}", f"gpu{j}", LinkRate(bandwidth))
    return finish(f"full mesh of {n}", graph, [f"gpu{i}" for i in range(n)])


def shift(rank, n, x):
    """Everyone sends to the next rank, once."""
    return (yield Step(x, (rank + 1) % n, (rank - 1) % n))


def sends(*pairs):
    """An algorithm in which each pair (src, dst) is one message, all sent at once."""

    def program(rank, n, x):
        out = [Step(x, to=dst) for src, dst in pairs if src == rank]
        yield out + [Step(frm=src) for src, dst in pairs if dst == rank]

    return program


# The same as lockstep, exactly


@pytest.mark.parametrize("name", sorted(set(ALGORITHMS) - CROSSING))
@each("n", [2, 3, 4, 7, 8])
def test_without_contention_it_is_lockstep(name, n):
    record, count = ALGORITHMS[name], 5040
    network = all_to_all(n, W) if record.wires == "link" else crossbar(n, W)
    rounds = lockstep(record, [Phantom(count, 4)] * n, alpha=2 * us, W=W)
    run = simulate_events(record, network, count=count, itemsize=4, alpha=2 * us, eager_bytes=0)
    assert run.time == pytest.approx(rounds.time, rel=1e-12)
    assert run.sent_bytes == rounds.sent_bytes
    assert run.received_bytes == rounds.received_bytes
    assert len(run.messages) == len(rounds.messages)


@pytest.mark.parametrize("chunk", [None, 10 * KB, 7 * KB])
@pytest.mark.parametrize("network", [ring(5, W, latency=1 * us), crossbar(5, W, latency=1 * us)], ids=repr)
def test_a_ring_on_a_ring_is_lockstep_with_its_latency_whatever_the_chunks(network, chunk):
    run = simulate_events(ring_allreduce, network, count=123_455, chunk_bytes=chunk, alpha=1 * us)
    rounds = lockstep(ring_allreduce, [Phantom(123_455)] * 5, alpha=2 * us, W=W)
    assert run.time == pytest.approx(rounds.time, rel=1e-12)
    assert max(map(abs, run.contention)) < 1e-15
    assert run.waits == {}


def test_hierarchical_on_a_fat_tree_is_its_formula_with_two_bandwidths():
    network = fat_tree(nodes=4, latency=1 * us)
    hops = {dst: list(pairwise(route(network, 0, dst))) for dst in (1, 8)}
    delay = {dst: 2 * us + sum(network.edge(*hop)["latency"] for hop in way) for dst, way in hops.items()}
    width = {dst: min(network.edge(*hop)["bandwidth"] for hop in way) for dst, way in hops.items()}
    assert width[1] > width[8]
    run = simulate_events("hierarchical_allreduce", network, count=32_000, itemsize=4, alpha=2 * us, inner=8)
    assert run.time == pytest.approx(
        hierarchical_allreduce_time(8, 4, 128_000, delay[1], width[1], delay[8], width[8]), rel=1e-12
    )
    assert max(run.contention) < 1e-15


@pytest.mark.parametrize("chunk", [None, 100])
@pytest.mark.parametrize("name", ["ring_allreduce", "halving_doubling_allreduce", "double_tree_allreduce"])
def test_results_do_not_depend_on_time(name, chunk):
    rng = np.random.default_rng(3)
    inputs = [rng.integers(0, 100, 97).astype(float) for _ in range(6)]
    hard = {"chunk_bytes": chunk, "slow": {0: 7}, "dead": {(1, 2): 1e-9}, "delays": {4: 1e-6}, "start_times": {1: 3e-6}}
    run = simulate_events(name, torus((2, 3), W, latency=1 * us), inputs, **hard)
    for out in run.outputs:
        np.testing.assert_array_equal(out, sum(inputs))
    again = simulate_events(name, torus((2, 3), W, latency=1 * us), inputs, **hard)
    assert list(again.messages) == list(run.messages)
    assert again.time == run.time


# Contention


def test_two_that_send_to_one_take_turns_at_its_port():
    run = simulate_events(sends((0, 2), (1, 2)), crossbar(3, 1.0), count=10)
    assert [m.end for m in run.messages] == [10, 20]
    assert [m.left for m in run.messages] == [10, 10]
    assert run.contention == [0, 10]
    assert run.busiest[0][:4] == ("switch", "gpu2", 20, 20)
    fair = simulate_events(sends((0, 2), (1, 2)), crossbar(3, 1.0), count=10, chunk_bytes=1)
    assert [m.end for m in fair.messages] == [19, 20]


def test_messages_over_the_same_links_of_a_ring_queue():
    # 0 to 2 and 1 to 2 share the cable between 1 and 2, at 1 B/s; 1's is there at once.
    run = simulate_events(sends((0, 2), (1, 2)), ring(5, 1.0, latency=0.5), count=10)
    assert [m.end for m in run.messages] == [20 + 0.5, 10.5]
    assert run.links["gpu1", "gpu2"].bytes == 20


def test_a_tree_with_few_spines_is_slower_by_its_oversubscription():
    # 4 leaves of 4 hosts. Everyone sends to the leaf after its own: 4 cables down and `spines` cables up.
    plain = {"nodes": 16, "gpus_per_node": 1, "nodes_per_group": 4, "rails": False, "links": 1}
    times = {}
    for spines in (4, 2, 1):
        network = fat_tree(plain, spines=spines)
        across = sends(*((rank, (rank + 4) % 16) for rank in range(16)))
        times[spines] = simulate_events(across, network, count=10**6, chunk_bytes=10**4).time
    assert times[4] == pytest.approx(10**6 / W)
    assert times[2] / times[4] == pytest.approx(2, rel=0.02)
    assert times[1] / times[4] == pytest.approx(4, rel=0.02)


def test_a_slow_hop_in_the_middle_sets_the_pace_and_no_other():
    # Cut-through over 4, 1, 8 and 2 B/s: 12 bytes take 12 s; store-and-forward takes the sum.
    graph = new_graph()
    names = ["gpu0", "a", "b", "c", "gpu1"]
    for i, name in enumerate(names):
        graph.add_node(name, kind="gpu" if name.startswith("gpu") else "switch", tier=0, place=(i,))
    for (u, v), rate in zip(pairwise(names), (4, 1, 8, 2), strict=True):
        wire(graph, u, v, LinkRate(float(rate)))
    line = finish("line", graph, ["gpu0", "gpu1"])
    assert simulate_events(sends((0, 1)), line, count=12).time == 12
    assert simulate_events(sends((0, 1)), line, count=12, store_and_forward=True).time == 3 + 12 + 1.5 + 6
    # In chunks of 3 the slow hop is busy all the time: the first chunk's way to it, and the last one's from it.
    assert simulate_events(sends((0, 1)), line, count=12, chunk_bytes=3, store_and_forward=True).time == (
        0.75 + 12 + 0.375 + 1.5
    )


def test_large_messages_wait_until_they_are_asked_for():
    def program(rank, n, x):
        if rank == 0:
            yield Step(x, to=1)
        else:
            yield Step(frm=0)

    late = {"count": 10, "start_times": {1: 100.0}}
    eager = simulate_events(program, crossbar(2, 1.0), **late)
    assert eager.finish == [10, 100]
    asked = simulate_events(program, crossbar(2, 1.0), eager_bytes=9, **late)
    assert asked.finish == [110, 110]
    assert asked.contention == [0]

    def unsafe(rank, n, x):
        yield Step(x, to=1 - rank)
        yield Step(frm=1 - rank)

    assert simulate_events(unsafe, crossbar(2, 1.0), count=10).time == 10
    with pytest.raises(SimulationError, match=r"rank 0 .*rank 1\b") as error:
        simulate_events(unsafe, crossbar(2, 1.0), count=10, eager_bytes=9)
    assert error.value.reason == "deadlock"


# Who is slow


@pytest.mark.parametrize("slow", [(3, 4), ("gpu3", "gpu4")])
def test_a_slow_link_is_the_busiest(slow):
    run = simulate_events(ring_allreduce, ring(8, W), count=8000, slow={slow: 5})
    healthy = simulate_events(ring_allreduce, ring(8, W), count=8000)
    first, second = run.busiest[:2]
    assert (first.src, first.dst) == ("gpu3", "gpu4")
    assert first.busy == pytest.approx(5 * second.busy)
    assert run.time == pytest.approx(5 * healthy.time)
    assert first.share == pytest.approx(1)


def test_a_straggler_is_whom_others_wait_for():
    run = simulate_events(ring_allreduce, crossbar(6, W), count=6000, delays={2: 10 * us})
    assert max(range(6), key=run.lateness.__getitem__) == 2
    assert run.lateness[2] > 0
    assert run.lateness[2] == pytest.approx(run.waits[3, 2], rel=0.01)
    assert not any(rank == 2 for rank, _ in run.waits)
    healthy = simulate_events(ring_allreduce, crossbar(6, W), count=6000)
    assert run.time == pytest.approx(healthy.time + 10 * 10 * us)  # once in each of 10 steps


def test_who_starts_late_is_waited_for_once():
    run = simulate_events(shift, crossbar(4, 1.0), count=10, start_times=[0, 0, 7, 0])
    assert run.waits == {(3, 2): 7}
    assert run.finish == [10, 10, 17, 17]
    assert [s[2:] for s in run.steps] == [(0, 10), (0, 10), (7, 17), (0, 17)]


def test_a_delay_may_depend_on_the_step():
    run = simulate_events(ring_allreduce, ring(4, 1.0), count=4, delays=lambda rank, step: 3 * (rank == step == 1))
    assert run.time == 6 + 3


# Conservation


@pytest.mark.parametrize("chunk", [None, 999])
@pytest.mark.parametrize("name", ["pairwise_alltoall", "double_tree_allreduce", "nvls_allreduce"])
def test_bytes_in_are_bytes_out(name, chunk):
    run = simulate_events(name, crossbar(7, W), count=7003, itemsize=2, chunk_bytes=chunk)
    assert sum(m.bytes for m in run.messages) == sum(s for _, _, s, _, _ in run.busiest) / 2 * (
        2 if name == "nvls_allreduce" else 1
    )
    out = {f"gpu{rank}": size for rank, size in enumerate(run.sent_bytes)}
    into = {f"gpu{rank}": size for rank, size in enumerate(run.received_bytes)}
    assert {u: run.links[u, "switch"].bytes for u in out} == out
    assert {u: run.links["switch", u].bytes for u in into} == into
    assert sum(p.bytes for p in run.passages) == sum(use.bytes for use in run.links.values())
    for use in run.links.values():
        assert 0 < use.share <= 1 + 1e-12


def test_what_a_link_carries_never_overlaps():
    run = simulate_events("pairwise_alltoall", torus((3, 3), W, latency=1 * us), count=90_000, chunk_bytes=1 * KB)
    rows = {}
    for p in run.passages:
        if p.bytes:
            rows.setdefault((p.src, p.dst), []).append((p.start, p.end))
    assert len(rows) == 36
    for spans in rows.values():
        spans.sort()
        assert all(b[0] >= a[1] - 1e-15 for a, b in pairwise(spans))


# Failures


def test_a_dead_cable_is_gone_round():
    network = ring(6, W, latency=1 * us)
    healthy = simulate_events(ring_allreduce, network, count=6000)
    run = simulate_events(ring_allreduce, network, count=6000, dead=[(0, 1)])
    assert ("gpu0", "gpu1") not in run.links
    assert run.links["gpu0", "gpu5"].bytes == healthy.links["gpu0", "gpu1"].bytes
    assert run.resent_bytes == 0
    # The other direction of the cables was free, so it costs latency only, 5 hops instead of 1. A chain of 10
    # messages, each sent on by who received the one before, passes from rank 0 to 1 at most twice.
    assert run.time == pytest.approx(healthy.time + 2 * 4 * us)


@pytest.mark.parametrize(("chunk", "resent", "end"), [(None, 10, 6.5 + 4 + 10), (1, 4, 6.5 + 4 + 4)])
def test_what_was_under_way_when_a_cable_died_is_sent_again(chunk, resent, end):
    # 10 bytes at 1 B/s; the cable dies after 6.5 s, 4 s pass until that is seen. The other way has 3 cables.
    dies = {"dead": {(0, 1): 6.5}, "timeout": 4.0}
    run = simulate_events(sends((0, 1)), ring(4, 1.0), count=10, chunk_bytes=chunk, **dies)
    assert run.resent_bytes == resent
    assert run.time == end
    assert run.links["gpu3", "gpu2"].bytes == resent
    assert run.sent_bytes[0] == run.received_bytes[1] == 10


def test_a_dead_rank_is_named_with_whom_it_cannot_reach():
    with pytest.raises(UnreachableError, match=r"rank 0 \(gpu0\) .*rank 1 \(gpu1\) .*; dead: ") as error:
        simulate_events(shift, crossbar(3, W), count=10, dead=[1])
    assert (error.value.src, error.value.dst, error.value.time) == (0, 1, 0)
    with pytest.raises(UnreachableError, match=" 5 s ") as error:
        simulate_events(shift, crossbar(3, 1.0), count=10, dead={"switch": 5.0})
    assert error.value.time == 5
    run = simulate_events(shift, crossbar(3, 1.0), count=10, dead={"switch": 11.0})
    assert run.time == 10


def test_one_schedule_serves_many_networks():
    run = simulate_events(ring_allreduce, crossbar(4, W), count=1000)
    assert play(run.schedule, ring(4, W)).time == run.time
    assert play(run.schedule, ring(4, W), slow={0: 2}).time > run.time
    assert play(run.schedule, crossbar(8, W), places=[7, 5, 3, 1]).time == run.time


def test_ranks_can_sit_anywhere():
    network = fat_tree(nodes=8, gpus_per_node=1, nodes_per_group=4, rails=False, links=1, spines=1)
    near = simulate_events(shift, network, count=10**6, places=[0, 1, 2, 3])
    far = simulate_events(shift, network, count=10**6, places=[0, 4, 1, 5])
    assert far.time > 1.9 * near.time


@pytest.mark.slow
def test_a_thousand_ranks_hold_no_data():
    run = simulate_events("doubling_allreduce", crossbar(1024, 450 * GB), count=10**12, chunk_bytes=1 * MB)
    assert run.time == pytest.approx(10 * 10**12 / (450 * GB))
    assert run.chunks == 1024 * 10 * 10**6


# What says nothing

NAN = math.nan
BAD = {
    "no rank": ({"inputs": []}, ValueError, "inputs: .* 0$"),
    "too few ranks": ({"inputs": [Phantom(1)]}, ValueError, "inputs: .* 4 ranks .* 1;"),
    "nothing to send": ({}, ValueError, "inputs or count: "),
    "both": ({"inputs": [Phantom(1)] * 4, "count": 1}, ValueError, "inputs or count: "),
    "inputs of places": ({"inputs": [Phantom(1)] * 3, "places": [0, 1]}, ValueError, "inputs: .* 2 places, got 3$"),
    "negative count": ({"count": -1}, ValueError, "count: .* -1$"),
    "negative alpha": ({"count": 1, "alpha": -1e-6}, ValueError, "alpha: .* -1e-06$"),
    "nan alpha": ({"count": 1, "alpha": NAN}, ValueError, "alpha: .* nan$"),
    "timeout": ({"count": 1, "timeout": "1 s"}, ValueError, "timeout: .*'1 s'$"),
    "chunk": ({"count": 1, "chunk_bytes": 0}, ValueError, "chunk_bytes: .* 0$"),
    "nan chunk": ({"count": 1, "chunk_bytes": NAN}, ValueError, "chunk_bytes: .* nan$"),
    "little chunk": ({"count": 1, "chunk_bytes": 0.9}, ValueError, "chunk_bytes: .* 0.9$"),
    "endless chunk": ({"count": 1, "chunk_bytes": math.inf}, ValueError, "chunk_bytes: .* inf$"),
    "negative eager": ({"count": 1, "eager_bytes": -0.5}, ValueError, "eager_bytes: .* -0.5$"),
    "eager": ({"count": 1, "eager_bytes": NAN}, ValueError, "eager_bytes: .* nan$"),
    "slow": ({"count": 1, "slow": {0: 0.5}}, ValueError, "slow: .* 0 .* 0.5$"),
    "endlessly slow": ({"count": 1, "slow": {0: math.inf}}, ValueError, "slow: .* 0 .* inf$"),
    "slow word": ({"count": 1, "slow": {0: "2"}}, ValueError, "slow: .* 0 .*'2'$"),
    "slow rank": ({"count": 1, "slow": {-1: 2}}, KeyError, r"crossbar of 4 .* -1.*\(0 to 3\)"),
    "a yes": ({"count": 1, "slow": {True: 2}}, KeyError, r"crossbar of 4 .* True"),
    "no mapping": ({"count": 1, "slow": [0]}, ValueError, r"slow: .*mapping.*\[0\]$"),
    "where": ({"count": 1, "slow": {"gpu9": 2}}, KeyError, "crossbar of 4 .*'gpu9'"),
    "no cable": ({"count": 1, "dead": [(0, 1)]}, KeyError, "gpu0 .*'gpu1'"),
    "dead rank": ({"count": 1, "dead": [4]}, KeyError, r"crossbar of 4 .* 4.*\(0 to 3\)"),
    "dead word": ({"count": 1, "dead": "gpu0"}, ValueError, "dead: .*'gpu0'"),
    "dead when": ({"count": 1, "dead": {0: -1}}, ValueError, "dead: .* 0 .* -1$"),
    "starts": ({"count": 1, "start_times": [0, 0]}, ValueError, "start_times: .* 4 ranks"),
    "start word": ({"count": 1, "start_times": "0000"}, ValueError, "start_times: .* 4 ranks, got '0000'$"),
    "negative start": ({"count": 1, "start_times": {3: -0.5}}, ValueError, "start_times: .* -0.5$"),
    "endless start": ({"count": 1, "start_times": math.inf}, ValueError, "start_times: .* 4 ranks, got inf$"),
    "whose start": ({"count": 1, "start_times": {4: 1}}, ValueError, "start_times: .*0 to 3, .* 4$"),
    "delays": ({"count": 1, "delays": [0, 0, NAN, 0]}, ValueError, "delays: .* nan$"),
    "delay": ({"count": 1, "delays": lambda r, s: -1}, ValueError, "delays: .*rank 0, step 0, .* -1$"),
    "endless delay": ({"count": 1, "delays": lambda r, s: math.inf}, ValueError, "delays: .*rank 0, step 0, .* inf$"),
    "no places": ({"count": 1, "places": []}, ValueError, r"places: .*0 to 3, .* \[\]$"),
    "place before": ({"count": 1, "places": [0, -1]}, ValueError, r"places: .*0 to 3, .* \[0, -1\]$"),
    "place word": ({"count": 1, "places": [0, "1"]}, ValueError, r"places: .*0 to 3, .* \[0, '1'\]$"),
    "place yes": ({"count": 1, "places": [0, True]}, ValueError, r"places: .*0 to 3, .* \[0, True\]$"),
    "places": ({"count": 1, "places": [0, 0]}, ValueError, r"places: .*0 to 3, .* \[0, 0\]$"),
    "far places": ({"count": 1, "places": [0, 4]}, ValueError, r"places: .*0 to 3, .* \[0, 4\]$"),
    "switch": ({"count": 1, "switch_at": "switch"}, ValueError, "switch_at: 'switch' "),
}


@pytest.mark.parametrize(("arguments", "error", "message"), BAD.values(), ids=BAD)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        simulate_events(shift, crossbar(4, W), **arguments)


def test_an_algorithm_that_cannot_go_on_is_explained():
    def waits(rank, n, x):
        yield Step(frm=(rank + 1) % n)

    with pytest.raises(SimulationError, match=r"rank 0, step 0, .*rank 1\b") as error:
        simulate_events(waits, crossbar(2, W), count=1)
    assert error.value.reason == "deadlock"
    with pytest.raises(TypeError, match=r"topology: .*hwlib.topology, .*'dgx-h100'$"):
        simulate_events("ring_allreduce", "dgx-h100", count=8)
    with pytest.raises(KeyError, match="'ring_of_fire'"):
        simulate_events("ring_of_fire", crossbar(2, W), count=1)
    with pytest.raises(ValueError, match=r"ring of 4 .*switch"):
        simulate_events("switch_allreduce", ring(4, W), count=1)


def test_what_is_just_allowed_is_allowed():
    healthy = simulate_events(shift, crossbar(4, 1.0), count=8)
    edges = {"chunk_bytes": 1, "eager_bytes": 0, "alpha": 0, "timeout": 0, "slow": {0: 1}, "dead": {0: 8.0}}
    run = simulate_events(shift, crossbar(4, 1.0), count=8, start_times=0, delays={0: 0}, **edges)
    assert run.finish == healthy.finish == [8] * 4
    assert (healthy.chunks, run.chunks) == (4, 32)
    assert simulate_events(shift, crossbar(4, 1.0), count=0).time == 0
    assert simulate_events(shift, crossbar(4, 1.0), [Phantom(3), Phantom(5)], places=[3, 1]).sent_bytes == [3, 5]


def test_a_schedule_is_played_by_as_many_programs_as_it_has():
    schedule = simulate_events(shift, crossbar(3, 1.0), count=8).schedule
    with pytest.raises(ValueError, match=r"^places: the schedule has 3 programs, got places for 4$"):
        play(schedule, crossbar(4, 1.0))
    with pytest.raises(ValueError, match=r"^places: every rank has a vertex of its own, got \['gpu0', 0, 1\]$"):
        play(schedule, crossbar(4, 1.0), places=["gpu0", 0, 1])
    assert play(schedule, crossbar(4, 1.0), places=["gpu2", 0, 1]).time == 8


def test_a_place_that_is_not_there_is_told_a_few_that_are():
    with pytest.raises(KeyError, match=r"vertex \(switch, gpu0, gpu1, \.\.\.\)|vertex \(gpu0, gpu1, gpu2, \.\.\.\)"):
        simulate_events(shift, crossbar(4, W), count=1, slow={"gpu9": 2})


def test_failures_one_after_the_other_leave_the_ways_of_their_time():
    """Around a ring of four: by the short way, by the long one, and by none."""
    network, late = ring(4, 1.0), {"count": 1, "dead": {(0, 1): 2.0, (2, 3): 6.0}}
    for start, links in ((0.0, {("gpu0", "gpu1")}), (2.0, {("gpu0", "gpu3"), ("gpu3", "gpu2"), ("gpu2", "gpu1")})):
        run = simulate_events(sends((0, 1)), network, start_times=start, **late)
        assert run.links.keys() == links
    with pytest.raises(UnreachableError, match=r"; dead: gpu0 to gpu1, .*") as caught:
        simulate_events(sends((0, 1)), network, start_times=6.0, **late)
    named = {f"gpu{a} to gpu{b}" for a, b in ((0, 1), (1, 0), (2, 3), (3, 2))}
    assert set(str(caught.value).partition("dead: ")[2].split(", ")) == named


@pytest.mark.parametrize(("ranks", "more"), [(3, ""), (4, " and 2 more links"), (6, " and 6 more links")])
def test_six_dead_links_are_named(ranks, more):
    with pytest.raises(UnreachableError) as caught:
        simulate_events(shift, ring(ranks, W), count=1, dead=[(i, (i + 1) % ranks) for i in range(ranks)])
    dead = str(caught.value).partition("; dead: ")[2]
    assert dead.count(" to ") == 6
    assert dead.endswith(more)
    assert (" more links" in dead) == bool(more)


def test_a_run_is_told_in_a_line_and_its_rows_by_the_first_three():
    run = simulate_events(sends((0, 1), (1, 2), (2, 3), (3, 0)), crossbar(4, 1.0), count=10)
    assert repr(run) == "<4 messages among 4 ranks of crossbar of 4: 10 s>"
    rows = run.messages
    assert repr(rows) == f"[{rows[0]!r}, {rows[1]!r}, {rows[2]!r}, ...] (4 rows)"
    three = simulate_events(sends((0, 1), (1, 2), (2, 3)), crossbar(4, 1.0), count=10).messages
    assert repr(three) == f"[{three[0]!r}, {three[1]!r}, {three[2]!r}] (3 rows)"
    assert list(rows)[1:3] == rows[1:3] == [rows[1], rows[-2]]
    assert rows[2] == (0, 2, 3, 10, 0, 10, 10)
    assert simulate_events(sends((0, 1)), crossbar(2, 1.0), count=10).links["gpu0", "switch"] == (
        "gpu0",
        "switch",
        10,
        10,
        1,
    )


def test_who_is_waited_for_is_the_last_to_send():
    run = simulate_events(sends((0, 2), (1, 2)), crossbar(3, 1.0), count=10, start_times=[3, 5, 1])
    assert run.waits == {(2, 1): 4}
    assert run.lateness == [0, 4, -4]
    assert simulate_events(sends((0, 2)), crossbar(3, 1.0), count=10, start_times=[3, 0, 3]).waits == {}


def test_a_switch_that_computes_is_the_nearest_to_all_unless_it_is_named():
    network = fat_tree(nodes=4, gpus_per_node=2, nodes_per_group=2, rails=False, links=1, spines=2)
    nearest = simulate_events("switch_allreduce", network, count=80, places=[4, 5]).fabric.vertices[-1]
    assert all(network.graph.has_edge(nearest, rank) for rank in network.ranks[4:6])
    run = simulate_events("switch_allreduce", network, count=80, switch_at="spine1")
    assert run.fabric.vertices[-1] == "spine1"
    assert (len(run.outputs), len(run.finish), len(run.sent_bytes)) == (8, 8, 8)
    with pytest.raises(ValueError, match=r"^ring of 4 has no switch"):
        simulate_events("switch_allreduce", ring(4, W), count=80)


def test_a_switch_starts_at_once_and_knows_the_buffer_of_rank_0():
    def up_and_down(rank, n, x):
        return (yield [Step(x, to=n), Step(frm=n)])[1]

    def switch(rank, n, x):
        yield [Step(frm=peer) for peer in range(n)]
        yield [Step(x, to=peer) for peer in range(n)]

    sizes = [Phantom(9), Phantom(1), Phantom(2)]
    run = simulate_events(up_and_down, crossbar(3, 1.0), sizes, switch=switch, start_times=2.0, delays=1.0)
    assert [len(x) for x in run.outputs] == [9, 9, 9]
    assert next(step.start for step in run.steps if step.rank == 3) == 0
    assert [step.start for step in run.steps if step.rank < 3] == [3.0] * 3


def test_a_partner_that_is_no_number_is_refused():
    def odd(rank, n, x):
        yield Step(frm="0")

    with pytest.raises(SimulationError) as caught:
        simulate_events(odd, crossbar(2, 1.0), count=1)
    assert caught.value.reason == "no-such-rank"
