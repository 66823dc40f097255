import pytest
from click.testing import CliRunner

from benchmarks.speed import simulator
from benchmarks.speed.simulator import ScheduleCase, main, on_simpy
from hwlib.simulate import simulate_events
from hwlib.topology import crossbar
from hwlib.units import GB, us

SMALL = ScheduleCase(
    "small", "pairwise_alltoall", lambda: crossbar(4, 50 * GB, latency=1 * us), {"count": 4000}, 100, "switch"
)


def test_a_case_prints_its_rates_and_its_ratio_to_the_peer(monkeypatch):
    monkeypatch.setattr(simulator, "CASES", (SMALL,))
    done = CliRunner().invoke(main, ["--repeats", "2", "--only", "small"])
    assert done.exit_code == 0, done.output
    assert "small: pairwise_alltoall, 12 messages, 120 chunks" in done.output
    assert "ours / ASTRA-sim's 1,600,000 chunks/s, reported, not run here: " in done.output


@pytest.mark.parametrize("algorithm", ["pairwise_alltoall", "direct_gather", "ring_allreduce"])
def test_the_peer_gives_the_same_time(algorithm):
    pytest.importorskip("simpy", reason="the peer of a benchmark, not needed otherwise")
    network = crossbar(4, 50 * GB, latency=1 * us)
    run = simulate_events(algorithm, network, count=4321, chunk_bytes=100, alpha=1 * us, store_and_forward=True)
    assert on_simpy(run) == pytest.approx(run.time)
