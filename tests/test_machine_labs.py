"""The labs of the chapter on machines against the library: the bounds of islands, and the torus's own formula."""

import random
from pathlib import Path

import pytest

from autograder.declaration import load_bank
from hwlib.algorithms import Step
from hwlib.collectives import torus_allgather_limit
from hwlib.steptime import Demand, Sheet, machine_bounds, six_machines

LABS = Path(__file__).resolve().parent.parent / "solutions" / "17-machines" / "exercises"
SIX = next(iter(load_bank(LABS / "lab_six.py").values()))
TORUS = next(iter(load_bank(LABS / "lab_torus.py").values()))


def test_the_lab_of_six_machines_is_the_library_on_switches():
    from hwlib.parallel.transfers import Transfer

    for machine, plan in SIX.answer.cases(random.Random(7)):
        sent = tuple(Transfer(axis, "", "all_gather", *rest) for axis, *rest in plan["collectives"])
        asked = Demand(0, plan["flops"], plan["hbm_bytes"], sent, plan["bubble"])
        found = machine_bounds(Sheet("", "", hbm_bytes=0, **machine), asked)
        name, seconds = SIX.solution(machine, plan)
        assert name == found.holds
        assert seconds == pytest.approx(getattr(found, name), rel=1e-12)
    assert len(six_machines()) == 6


def test_the_busiest_link_of_the_torus_takes_a_sixth_of_the_bytes():
    """On cubes of an odd side, where both ways are alike, every link carries the same."""
    import numpy as np

    side, n = 3, 27
    x = np.zeros(3 * n)
    sent = {}
    player = TORUS.solution(0, n, x, side)
    step = next(player)
    while True:
        for one in step:
            assert isinstance(one, Step)
            sent[one.to] = sent.get(one.to, 0) + one.send.nbytes
        try:
            step = player.send([np.zeros(one.send.size) for one in step])
        except StopIteration:
            break
    assert sorted(sent) == [1, 2, 3, 6, 9, 18]  # both neighbours on three axes
    assert set(sent.values()) == {torus_allgather_limit(x.nbytes, 1.0, 6) * (n - 1) / n}
