"""The small table of runs that differ in their plan alone: its rows, and what it refuses."""

import pytest

from hwlib.specs import measured_mixtures


def test_every_job_has_several_plans():
    plans = {}
    for run in measured_mixtures():
        plans.setdefault(run.job, set()).add(run.plan)
    assert min(map(len, plans.values())) >= 2
    assert max(map(len, plans.values())) == 47


def test_printed_times_come_in_seconds():
    paper, ours = (r for r in measured_mixtures("vtrain") if r.run in ("vtrain-multi-0051", "vtrain-multi-0061"))
    assert (paper.tp, paper.pp, paper.micro, paper.time) == (4, 8, 4, pytest.approx(17.4136))
    assert (ours.tp, ours.pp, ours.micro, ours.time) == (8, 4, 2, pytest.approx(14.7134))
    bloom = next(r for r in measured_mixtures("bloom-chronicles") if r.run == "bloom-033")
    assert (bloom.time, bloom.W_out) == (143.31, 50e9)
