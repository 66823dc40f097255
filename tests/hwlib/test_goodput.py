"""The expected time of a whole run: its constants, limits, a simulation of every failure, and errors."""

import heapq
import random
from dataclasses import replace
from math import exp, factorial, inf
from statistics import NormalDist, mean, stdev

import pytest

from hwlib.goodput import (
    PARTS,
    Job,
    cheapest_spares,
    expected_run,
    published,
    save_time,
    saved_state_bytes,
    slowest_of,
    waiting_share,
)
from hwlib.specs import measured_checkpoint, measured_failures
from hwlib.specs.failure_measurements import CHECKPOINTS, FAILURES
from hwlib.training import daly_interval, exact_goodput
from hwlib.units import GiB, day, hour

LLAMA = Job(steps=50_000, t_step=6.0, gpus=16384, node=8, state=14 * 405e9)


def test_the_tables_have_sources_and_say_what_they_can(sources):
    rows = [*FAILURES.rows, *CHECKPOINTS.rows]
    assert {row.source.split()[0] for row in rows} <= sources
    for row in FAILURES.rows:
        assert row.rate or row.goodput or row.interruptions
    assert measured_failures("rsc-1").t_gpu / 8 == pytest.approx(day / 6.5e-3)
    with pytest.raises(ValueError, match=r"byterobust: .* does not print how often"):
        _ = measured_failures("byterobust").t_gpu


def test_a_checkpoint_of_bloom_has_the_bytes_and_takes_the_time_that_its_log_says():
    bloom = measured_checkpoint("bloom-176b")
    assert saved_state_bytes(176e9) / GiB == pytest.approx(2294.77, abs=0.01)
    assert save_time(bloom.bytes, 384, 160e6) == pytest.approx(40, rel=0.01), "160 MB/s a GPU"


def test_the_rates_of_checkpoints_give_back_the_times_that_they_were_taken_from():
    row, r = measured_checkpoint("bytecheckpoint-405b"), published()
    run = expected_run(Job(1000, 6, row.gpus, row.node, 14 * row.params), r)
    assert (run.t_save, run.t_write) == (pytest.approx(row.blocked), pytest.approx(row.save))
    assert run.t_back == pytest.approx(r.t_detect + row.load)


def test_the_slowest_of_n_is_the_expected_largest_of_n_normals():
    harter = {10: 1.53875, 100: 2.50759}  # harter1961
    assert {n: slowest_of(n) for n in harter} == pytest.approx(harter, rel=0.01)
    normal, dx = NormalDist(), 0.01  # E max = integral of 1 - F^n above 0, less that of F^n below
    for n in (8, 1024, 16384):
        by_hand = sum(1 - normal.cdf(i * dx) ** n - normal.cdf(-i * dx) ** n for i in range(800)) * dx - dx / 2
        assert slowest_of(n) == pytest.approx(by_hand, rel=0.01)
    assert slowest_of(1) == 0


def test_waiting_for_repairs_is_erlangs_loss():
    assert waiting_share(9, 5.0) == pytest.approx(0.0184, abs=5e-5), "ten lines, five erlangs: the published tables"
    assert waiting_share(0, 36 / 3) == pytest.approx(36 / (36 + 3)), "without spares: repair over repair and uptime"
    mean_broken, spares = 0.3, 3
    poisson = exp(-mean_broken) * mean_broken ** (spares + 1) / factorial(spares + 1)
    assert waiting_share(spares, mean_broken) == pytest.approx(poisson, rel=1e-3), "as chapter 18 counts, where small"


@pytest.mark.parametrize(("nodes", "broken"), [(32, 0.1), (2048, 6.6), (16, 4.0), (100_000, 300.0)])
def test_no_other_number_of_spares_is_cheaper(nodes, broken):
    held = lambda spares: (nodes + spares) / (1 - waiting_share(spares, broken))
    best = cheapest_spares(nodes, broken)
    assert best == min(range(2 * best + 20), key=held)


def simulated(run, rng):
    """One run, played failure by failure: seconds in all, in restarts and in waits for repairs, and written waits."""
    job, r = run.job, run.reliability
    clock, restarting, waiting, done = 0.0, 0.0, 0.0, 0
    cycles, cycle = int(job.steps) // run.every, run.interval + run.t_save
    repairs: list[float] = []
    fails = rng.expovariate(1 / run.mtbf)
    while True:
        left = (cycles - done) * cycle
        if fails >= clock + left:
            return clock + left, restarting, waiting
        done += max(int((fails - clock - run.t_write) // cycle), 0)  # cycles whose checkpoint is written
        clock = fails
        while True:  # a restart, which may fail too
            if rng.random() < r.broken:
                heapq.heappush(repairs, clock + rng.expovariate(1 / r.t_repair))
            while repairs and repairs[0] <= clock:
                heapq.heappop(repairs)
            if len(repairs) > run.spares:
                waiting, clock = waiting + repairs[0] - clock, heapq.heappop(repairs)
            fails = clock + rng.expovariate(1 / run.mtbf)
            restarting += min(fails - clock, run.t_back)
            if fails >= clock + run.t_back:
                clock += run.t_back
                break
            clock = fails


@pytest.mark.parametrize(
    "given",
    [
        {"t_repair": 2 * hour, "spares": 1},
        {"blocking": True, "storage": 1e11, "t_repair": hour, "spares": 0},
        {"t_gpu": 300 * day, "t_back": 900.0, "t_repair": hour, "spares": 3},
    ],
    ids=["published", "blocking", "many"],
)
def test_a_simulation_of_every_failure_agrees_within_its_standard_error(given):
    run = expected_run(LLAMA._replace(steps=36_000), published().given(spread=0.0, **given))
    run = expected_run(LLAMA._replace(steps=36_000 // run.every * run.every), run.reliability)
    rng = random.Random(5)
    seen = [simulated(run, rng) for _ in range(60)]
    expected = run.time, run.restarting, run.waiting
    for got, want in zip(zip(*seen, strict=True), expected, strict=True):
        error = stdev(got) / len(got) ** 0.5
        assert mean(got) == pytest.approx(want, abs=3 * error)
        assert error < 0.3 * want


def test_the_parts_add_up_and_vanish_with_their_causes():
    run = expected_run(LLAMA)
    assert list(run.parts) == list(PARTS)
    assert run.time == pytest.approx(sum(run.parts.values()))
    assert min(run.parts.values()) > 0
    assert run.ideal == LLAMA.steps * LLAMA.t_step
    never = expected_run(LLAMA, published().given(t_gpu=1e15, spread=0.0))
    assert never.time == pytest.approx(never.ideal, rel=1e-3)
    assert never.spares == 0
    alone = expected_run(LLAMA._replace(fitted=16384))
    assert alone.stragglers == 0, "the slowest of so many is in the step already"


def test_it_is_the_goodput_of_the_chapter_on_failures():
    r = published().given(spread=0.0, t_repair=0.0, blocking=True, storage=1e11, t_back=600.0)
    run = expected_run(LLAMA, r)
    assert run.t_save == pytest.approx(LLAMA.state / 1e11)
    assert run.interval == pytest.approx(daly_interval(run.t_save, run.mtbf), abs=LLAMA.t_step)
    assert run.goodput == pytest.approx(exact_goodput(run.interval, run.t_save, 600, run.mtbf))
    assert run.mtbf == pytest.approx(54 * day / 419)


def test_more_of_what_hurts_takes_longer():
    base = expected_run(LLAMA)
    for name in ("t_detect", "t_repair", "spread", "broken"):
        worse = base.reliability.given(
            **{name: min(2 * getattr(base.reliability, name), 1.0 if name == "broken" else inf)}
        )
        assert expected_run(LLAMA, replace(worse, spares=base.spares)).time > base.time
    for name in ("t_gpu", "copy", "write", "read"):
        worse = base.reliability.given(**{name: getattr(base.reliability, name) / 2})
        assert expected_run(LLAMA, replace(worse, spares=base.spares)).time > base.time


def test_no_other_interval_is_much_better():
    base = expected_run(LLAMA)
    for factor in (0.5, 2, 8):
        other = expected_run(LLAMA, base.reliability.given(interval=factor * base.interval))
        assert other.time > base.time * (1 - 1e-3)


def test_spares_for_time_leave_no_wait():
    few, many = (expected_run(LLAMA, published().given(spares=how)) for how in ("price", "time"))
    assert many.waiting / many.time < 1e-3
    assert many.gpu_time > few.gpu_time * (1 - 1e-9)
    none = expected_run(LLAMA, published().given(spares=0))
    assert none.time > 2 * few.time, "every breakdown waits for a day"
    assert (none.gpus, few.gpus) == (16384, 16384 + 8 * few.spares)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"t_gpu": -1}, "t_gpu: expected the seconds between two interruptions of one GPU"),
        ({"broken": 2}, "broken: expected a share, got 2"),
        ({"spares": 1.5}, "spares: expected a whole number of nodes, 'price' or 'time', got 1.5"),
        ({"spares": "most"}, "spares: .* got 'most'"),
        ({"mtbf": 3 * hour}, "mtbf: expected one of blocking, broken, copy"),
        ({"interval": 1.0}, "interval: a checkpoint is written in .*; expected at least that, got 1 s"),
        ({"t_gpu": 4e5}, "mtbf: 16,384 GPUs are interrupted every 24.4 s, and .* hardly ever fit between"),
    ],
)
def test_what_cannot_be_says_why(given, message):
    with pytest.raises(ValueError, match=message):
        expected_run(LLAMA, published().given(**given))


def test_a_number_of_ones_own_says_so_and_is_typed_no_longer():
    r = published().given(t_repair=3600.0)
    assert (r.sources["t_repair"], r.typed) == ("given", ("spread",))
    assert published().typed == ("t_repair", "spread")
