"""Schedules: each op once, in an order that runs, with the bubble and the memory that their papers print."""

import random
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest

from hwlib.footprint import footprint
from hwlib.pipeline import (
    SCHEDULES,
    Deadlock,
    Op,
    Schedule,
    blocking_pipeline_time,
    bubble_overhead,
    dualpipe,
    dualpipe_bubble_time,
    dualpipe_in_flight,
    dualpipe_played_bubble_time,
    dualpipev,
    dualpipev_in_flight,
    dualpipev_played_bubble_time,
    gpipe,
    gpipe_in_flight,
    interleaved,
    interleaved_bubble_fraction,
    interleaved_in_flight,
    one_f_one_b,
    one_f_one_b_bubble_time,
    one_f_one_b_in_flight,
    pipeline_bubble_fraction,
    play,
    time_bubble_fraction,
    zb_h1,
    zb_h1_bubble_time,
    zb_h1_played_bubble_time,
    zbv,
    zbv_bubble_fraction,
    zbv_in_flight,
)
from hwlib.specs import models
from hwlib.strategy import SCHEDULES as FOOTPRINT_SCHEDULES
from tests.each import each


def some(rng):
    """A random schedule of any kind."""
    name = rng.choice(list(SCHEDULES))
    stages, m = rng.randint(1, 9), rng.randint(1, 24)
    if name == "dualpipe":
        stages *= 2
        m = 2 * stages + 2 * rng.randint(0, 6)
    elif name == "dualpipev":
        m += 2 * stages
    elif name == "interleaved":
        rounds = rng.randint(1, 3)
        return interleaved(stages, rounds * (stages + rng.randint(0, stages // 3)), rng.randint(2, 4))
    elif name == "zb_h1" and rng.random() < 0.5:
        return zb_h1(stages, rng.randint(1, 3) * stages, rng.randint(1, 3))
    return SCHEDULES[name](stages, m)


@cache
def drawn():
    return [some(random.Random(seed)) for seed in range(150)]


any_schedule = each("schedule", drawn)


@any_schedule
def test_every_op_comes_once_and_every_part_is_passed_both_ways(schedule):
    ops = [(r, op.chunk, op.microbatch, op.kind) for r, ops in enumerate(schedule.ops) for op in ops]
    assert len(ops) == len(set(ops))
    seen = {kind: set() for kind in "FBIW"}
    for rank, chunk, microbatch, kind in ops:
        seen[kind].add((schedule.part(rank, chunk), microbatch))
    everything = {(part, i) for part in range(schedule.depth) for i in range(schedule.microbatches)}
    assert seen["F"] == everything
    assert seen["B"] | seen["I"] == everything
    assert not seen["B"] & seen["I"]
    assert seen["I"] == seen["W"]


@any_schedule
def test_it_runs_and_nothing_starts_before_what_it_needs(schedule):
    rng = random.Random(schedule.name)
    each = lambda low: [rng.uniform(low, 2) for _ in range(schedule.stages)]
    t_W, t_comm = [x / 3 for x in each(0.1)], rng.choice([0, 0.3])
    run = play(schedule, each(0.1), [w + x for w, x in zip(t_W, each(0.1), strict=True)], t_W, t_comm=t_comm)
    when = {
        (span.op.kind.replace("I", "B"), schedule.part(rank, span.op.chunk), span.op.microbatch): (rank, span)
        for rank, spans in enumerate(run.spans)
        for span in spans
    }
    for (kind, part, i), (rank, span) in when.items():
        if kind == "W":
            needed = ("B", part, i)
        elif kind == "F":
            needed = ("F", part - 1, i)
        else:
            needed = ("B", part + 1, i) if part < schedule.depth - 1 else ("F", part, i)
        if needed in when:
            other, before = when[needed]
            assert span.start >= before.end + (t_comm if other != rank else 0)
    for rank, spans in enumerate(run.spans):
        assert [span.op for span in spans] == list(schedule.ops[rank])
        for a, b in pairwise(spans):
            assert b.start == a.start if a.op.paired else b.start >= a.end
    assert all(gap > -1e-9 for gap in run.gaps)


# The bubble


@pytest.mark.parametrize(
    ("pp", "m", "percent"),
    [(16, 64, 19.0), (8, 32, 17.9), (4, 8, 27.27), (64, 128, 32.98)],
)
def test_the_bubble_of_gpipe_and_1f1b(pp, m, percent):
    assert 100 * pipeline_bubble_fraction(pp, m) == pytest.approx(percent, abs=0.05)
    for order in (gpipe, one_f_one_b):
        run = play(order(pp, m))
        assert run.bubble_fraction == pytest.approx(pipeline_bubble_fraction(pp, m), rel=1e-12)
        assert run.bubbles == pytest.approx([one_f_one_b_bubble_time(pp, 1, 2)] * pp)


@pytest.mark.parametrize("order", [gpipe, one_f_one_b])
def test_the_bubble_does_not_depend_on_how_long_the_backward_is(order):
    for pp in range(1, 8):
        for m in range(1, 12):
            fraction = play(order(pp, m), 3, 1, 0.5).bubble_fraction
            assert fraction == pytest.approx(pipeline_bubble_fraction(pp, m), abs=1e-12)


def test_what_measured_programs_of_torch_give():
    """torch.distributed.pipelining on a virtual clock, 4 ranks and 8 microbatches, every matrix product one unit."""
    assert round(play(gpipe(4, 8)).bubble_fraction, 4) == 0.2727
    assert round(play(interleaved(4, 8)).bubble_fraction, 4) == 0.1579 == round(interleaved_bubble_fraction(4, 8, 2), 4)
    assert round(play(zbv(4, 8)).bubble_fraction, 4) == 0.0588 == round(zbv_bubble_fraction(4, 8), 4)
    assert round(play(one_f_one_b(16, 64)).bubble_fraction, 4) == 0.1899
    assert round(play(one_f_one_b(64, 128)).bubble_fraction, 4) == 0.3298


@pytest.mark.parametrize("v", [2, 3, 4])
def test_interleaving_divides_the_bubble(v):
    for pp in range(2, 7):
        for m in (pp, 2 * pp, 5 * pp, 2 * pp + 2 * (pp // 3)):
            run = play(interleaved(pp, m, v), 2, 5)
            assert run.bubble_fraction == pytest.approx(interleaved_bubble_fraction(pp, m, v), rel=1e-12)
            assert run.bubbles[0] == pytest.approx(one_f_one_b_bubble_time(pp, 2, 5) / v)
            assert bubble_overhead(pp, m, v) == pytest.approx(run.bubbles[0] / run.busy[0])


def test_fewer_microbatches_than_ranks_cannot_interleave():
    """The closed form needs pp of them: with less, ranks wait for the first microbatch to come around."""
    assert play(interleaved(4, 2)).bubble_fraction == pytest.approx(5 / 9)
    assert interleaved_bubble_fraction(4, 2, 2) == pytest.approx(3 / 7)


def test_zb_h1_has_a_third_of_the_bubble_if_the_three_passes_are_equal():
    """Qi et al. 2024, section 2.2; their Table: (p - 1)(T_F + T_B - T_W), with T_B our t_I."""
    assert one_f_one_b_bubble_time(8, 1, 2) / zb_h1_bubble_time(8, 1, 1, 1) == 3
    rng = random.Random(1)
    for _ in range(80):
        pp, t_F, t_I, t_W = rng.randint(1, 8), *(rng.randint(1, 9) for _ in "FIW")
        run = play(zb_h1(pp, pp + rng.randint(0, 8)), t_F, t_I + t_W, t_W)
        assert run.bubbles == pytest.approx([zb_h1_played_bubble_time(pp, t_F, t_I, t_W)] * pp)
        if t_W <= min(t_F, t_I):
            assert run.bubbles[0] == pytest.approx(zb_h1_bubble_time(pp, t_F, t_I, t_W))


def test_the_printed_bubble_of_zb_h1_is_too_small_for_long_gradients_of_weights():
    run = play(zb_h1(4, 8), t_F=1, t_B=4, t_W=3)
    assert zb_h1_bubble_time(4, 1, 1, 3) == -3
    assert run.bubbles[0] == zb_h1_played_bubble_time(4, 1, 1, 3) == 3


@pytest.mark.parametrize("pp", [1, 2, 4, 7])
def test_zbv_has_no_bubble_inside_a_rank_and_one_between_steps(pp):
    for m in (2 * pp - 1, 2 * pp, 5 * pp):
        run = play(zbv(pp, m), 1, 2)
        assert run.gaps == pytest.approx([0] * pp)
        assert run.bubble_fraction == pytest.approx(zbv_bubble_fraction(pp, m), abs=1e-12)
        assert max(run.in_flight) == pp
    unequal = play(zbv(pp, 4 * pp), 1, 3, 1)
    assert unequal.gaps[0] > 0 or pp == 1


def test_dualpipe_against_what_its_readme_prints():
    """(PP/2 - 1)(F&B + B - 3W) holds for F = I >= W; for a longer I the order does better, by up to F."""
    rng = random.Random(2)
    for _ in range(80):
        pp, t_F, t_I, t_W = 2 * rng.randint(1, 6), *(rng.randint(1, 9) for _ in "FIW")
        run = play(dualpipe(pp, 2 * pp + 2 * rng.randint(0, 5)), t_F, t_I + t_W, t_W)
        printed = dualpipe_bubble_time(pp, t_F + t_I + t_W, t_I + t_W, t_W)
        assert run.bubbles == pytest.approx([dualpipe_played_bubble_time(pp, t_F, t_I, t_W)] * pp)
        if t_W <= t_I == t_F:
            assert run.bubbles[0] == pytest.approx(printed)
        if t_W <= t_I > t_F:
            assert printed - t_F <= run.bubbles[0] < printed or pp == 2
    assert dualpipe_bubble_time(8, 3, 2, 1) == 6 == play(dualpipe(8, 20)).bubbles[0]
    assert dualpipe_played_bubble_time(8, 1, 2, 1) == 11 == dualpipe_bubble_time(8, 4, 3, 1) - 1


def test_the_eight_phases_of_deepseeks_program():
    """Their step() for 8 ranks and 20 microbatches, by hand: on the first rank, and on one of the middle."""
    words = lambda rank: "".join(op.kind + "&" * op.paired for op in dualpipe(8, 20).ops[rank])
    assert words(0) == "F" * 6 + "FF" + "IWF" * 3 + "F&BF&B" * 3 + "BF&B" * 3 + "BI" + "WI" * 3 + "W"
    assert words(3) == words(4) == "FF" * 4 + "FBF&B" + "F&BF&B" * 5 + "BB" * 2 + "II" * 2 + "W" * 4
    first, last = dualpipe(8, 20).ops[0], dualpipe(8, 20).ops[7]
    assert [(op.kind, op.microbatch, 1 - op.chunk) for op in first] == [
        (op.kind, (op.microbatch + 10) % 20, op.chunk) for op in last
    ]


def test_a_pair_that_hides_something_is_shorter():
    """A pair of 2.4 instead of 3: the printed bubble, and the paired passes save the rest."""
    apart, together = play(dualpipe(8, 20)), play(dualpipe(8, 20), t_FB=2.4)
    assert together.time < apart.time
    assert max(together.bubbles) == pytest.approx(dualpipe_bubble_time(8, 2.4, 2, 1))


def test_a_bubble_in_seconds_is_a_share_of_the_step():
    run = play(zb_h1(8, 32), 2, 5, 2)
    assert time_bubble_fraction(zb_h1_bubble_time(8, 2, 3, 2), 32, 2, 5) == pytest.approx(run.bubble_fraction)


# Memory


def test_what_ranks_keep():
    for pp in (1, 2, 4, 6):
        for m in (1, pp, 3 * pp):
            assert gpipe(pp, m).in_flight() == (gpipe_in_flight(m),) * pp
            assert one_f_one_b(pp, m).in_flight() == tuple(min(pp - rank, m) for rank in range(pp))
            assert one_f_one_b(pp, m).in_flight()[0] == one_f_one_b_in_flight(pp, m)
            assert zb_h1(pp, m).in_flight() == (one_f_one_b_in_flight(pp, m),) * pp
            assert max(zbv(pp, m).in_flight()) == zbv_in_flight(pp, m)
        for v in (2, 4):
            assert interleaved(pp, 3 * pp, v).in_flight()[0] == interleaved_in_flight(pp, v)
            assert interleaved(pp, pp, v).in_flight()[0] == pp
        assert zbv(pp, 2 * pp).in_flight() == (zbv_in_flight(pp, 2 * pp),) * pp
        assert dualpipe(2 * pp, 4 * pp + 2).in_flight() == (dualpipe_in_flight(2 * pp),) * 2 * pp
        assert dualpipev(pp, 2 * pp + 1).in_flight() == (dualpipev_in_flight(pp),) * pp


def test_dualpipev_keeps_what_its_readme_prints():
    """PP + 1 stages' worth on each of PP/2 ranks, which hold two stages each; DualPipe keeps PP + 1 on each of PP."""
    for ranks in (1, 3, 4):
        stages = 2 * ranks
        assert 2 * dualpipev_in_flight(ranks) == stages + 1 == dualpipe_in_flight(stages)


def test_dualpipev_has_the_bubble_of_dualpipe_over_twice_the_ranks():
    """As its README prints it, for F = I >= W: (PP/2 - 1)(F&B + B - 3W) of PP stages, two on a rank."""
    rng = random.Random(4)
    for _ in range(40):
        ranks, t_F, t_I, t_W = rng.randint(1, 5), *(rng.randint(1, 9) for _ in "FIW")
        run = play(dualpipev(ranks, 2 * ranks + rng.randint(0, 5)), t_F, t_I + t_W, t_W)
        assert run.bubbles == pytest.approx([dualpipev_played_bubble_time(ranks, t_F, t_I, t_W)] * ranks)
        if t_W <= t_I == t_F:
            printed = dualpipe_bubble_time(2 * ranks, (t_F + t_I + t_W) / 2, (t_I + t_W) / 2, t_W / 2)
            assert run.bubbles[0] == pytest.approx(printed)


def test_puzzles_on_pipelines():
    """LLM Training Puzzles 5 and 6: eight layers on four ranks, four batches, a handoff 0.2 for each side: 66 steps in
    one piece, 33 in four. In 7 ranks gather and scatter (0.3) beside a pipeline of four layers: 15 steps, which here
    are 14 before the four updates and 16 after them.
    """
    assert blocking_pipeline_time(4, 1, 8, 8, 0.4) == pytest.approx(66, abs=0.5)
    assert blocking_pipeline_time(4, 4, 2, 2, 0.4) == pytest.approx(33, abs=0.5)
    together = blocking_pipeline_time(4, 1, 1, 1, 0.4) + 8 * 0.3 + 4 * 0.3
    assert together == pytest.approx(14)
    assert together < 15 < together + 4 * 0.5


def test_interleaving_keeps_more_by_korthikantis_factor():
    """1 + (p - 1)/(p v), of Korthikanti et al. 2022, section 4.2.3."""
    assert interleaved_in_flight(8, 3) / one_f_one_b_in_flight(8, 64) == pytest.approx(float(1 + Fraction(7, 8 * 3)))


@pytest.mark.parametrize("name", FOOTPRINT_SCHEDULES)
def test_a_footprint_counts_the_microbatches_that_a_played_schedule_keeps(name):
    """On every stage, by the activations of `footprint`, which are so many microbatches' worth."""
    v, pp, m = (2 if name == "1f1b" else 1), 4, 16
    kept = lambda m, stage, v, name: (
        footprint(models["gpt3-175b"], dp=1, pp=pp, v=v, m=m, T=2048, schedule=name, stage=stage).activations
    )
    for chunks in {1, v}:
        played = interleaved(pp, m, 2) if chunks == 2 else SCHEDULES[name](pp, m)
        for stage in (1, 2):
            one = kept(1, stage, 1, "gpipe")
            assert kept(m, stage, chunks, name) / one == pytest.approx(played.in_flight()[stage])


def test_between_the_halves_of_the_backward_only_a_share_may_be_kept():
    whole, share = zb_h1(4, 8).in_flight(), zb_h1(4, 8).in_flight(weight_share=0.5)
    assert share[0] == whole[0] == 4
    assert share[-1] == pytest.approx(2.5)


# Messages


def test_messages_delay_the_first_and_the_last_or_every_pass():
    pp, m, t = 5, 12, 0.25
    hidden = play(gpipe(pp, m), t_comm=t)
    assert hidden.time == (m + pp - 1) * 3 + 2 * (pp - 1) * t
    assert play(gpipe(pp, m), t_comm=t, blocking=True).time == blocking_pipeline_time(pp, m, 1, 2, t)
    assert blocking_pipeline_time(pp, m, 1, 2, 0) == play(gpipe(pp, m)).time


def test_1f1b_waits_for_messages_in_every_round_and_gpipe_does_not():
    late = lambda order: play(order(4, 64), t_comm=0.25).time - play(order(4, 64)).time
    assert late(gpipe) == 6 * 0.25
    assert late(one_f_one_b) > 10 * late(gpipe)


def test_a_slow_rank_sets_the_pace():
    run = play(one_f_one_b(4, 64), [1, 1, 1.5, 1], [2, 2, 3, 2])
    assert run.time >= 64 * 4.5
    assert run.busy == (192, 192, 288, 192)


# What cannot be


def test_one_part_of_the_v_is_on_the_same_rank():
    bend = zbv(4, 8)
    assert [bend.part(rank, 1) for rank in range(4)] == [7, 6, 5, 4]
    assert play(zbv(1, 4), t_comm=5).time == 12


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: interleaved(4, 10, 1), "v: .* 2 chunks.* 1; "),
        (lambda: interleaved(4, 9, 2), "microbatches: .* 2 .* 4 ranks, .* 9$"),
        (lambda: dualpipe(3, 8), "dualpipe: .* 3 and 8$"),
        (lambda: dualpipe(4, 6), "dualpipe: .* 4 and 6$"),
        (lambda: dualpipev(4, 7), "dualpipev: .* 7 .* 4 ranks"),
        (lambda: gpipe(0, 3), "stages: .* 0$"),
        (lambda: gpipe(2, 1.5), "microbatches: .* 1.5$"),
        (lambda: play(gpipe(2, 2), t_W=3), "t_W: .*t_B"),
        (lambda: play(gpipe(2, 2), -1), "t_F: .* -1$"),
        (lambda: play(gpipe(2, 2), [1, 2, 3]), "t_F: .*2 ranks, .* 3$"),
        (lambda: play(gpipe(2, 2), t_comm=-1), "t_comm: .* -1$"),
        (lambda: play(gpipe(2, 2), 0, 0), "t_F and t_B: .* 0 "),
        (lambda: Schedule("x", 1, 1, 1, ((Op("F", 0),),)), "rank 0: F0 .*backward"),
        (lambda: Schedule("x", 1, 1, 1, ((Op("B", 0),),)), "rank 0: B0 .*before F0"),
        (lambda: Schedule("x", 1, 1, 1, ((Op("F", 0), Op("F", 0), Op("B", 0)),)), "rank 0: F0 .*twice"),
        (lambda: Schedule("x", 1, 1, 1, ((Op("F", 0), Op("B", 0), Op("I", 0)),)), "rank 0: I0 .*twice"),
        (lambda: Schedule("x", 1, 1, 1, ((Op("F", 0), Op("I", 0)),)), "rank 0: I0 .*weights"),
        (lambda: Schedule("x", 1, 1, 1, ((Op("F", 0, 1), Op("B", 0)),)), "rank 0: F0 of chunk 1 "),
        (lambda: Schedule("x", 1, 1, 1, ((Op("X", 0),),)), "rank 0: .* F, B, I, W, .*'X'"),
        (lambda: Schedule("x", 1, 1, 1, ((Op("F", 0), Op("B", 0, 0, True)),)), "rank 0: B0 .*paired"),
        (lambda: Schedule("x", 1, 2, 1, ((Op("F", 0), Op("B", 0)),)), "1 parts x 2 microbatches = 2, got 1"),
        (lambda: Schedule("x", 2, 1, 1, ((Op("F", 0), Op("B", 0)),)), "ops: .* 2 ranks, .* 1$"),
        (lambda: Schedule("x", 1, 1, 3, (), "v"), "v: 2 .*'v', .* 3$"),
        (lambda: Schedule("x", 1, 1, 1, (), "round"), "route: .*loop, v, both, .*'round'"),
    ],
)
def test_an_error_says_what_came(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_a_deadlock_names_where_each_rank_stands():
    first = (Op("F", 0), Op("B", 0), Op("F", 1), Op("B", 1))
    second = (Op("F", 1), Op("B", 1), Op("F", 0), Op("B", 0))
    with pytest.raises(Deadlock, match=r"mine: .*: rank 0 at B0, rank 1 at F1"):
        play(Schedule("mine", 2, 2, 1, (first, second)))
