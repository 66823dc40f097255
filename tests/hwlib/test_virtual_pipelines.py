"""The pipelines of torch.distributed, unchanged, under the virtual clock: their bubbles are those of played schedules.

Every matrix product takes as long as every other, so a backward takes twice a forward, and each half of it as long.
"""

from typing import Any

import pytest
import torch
from torch import nn

from hwlib.pipeline import (
    Op,
    Schedule,
    dualpipev,
    gpipe,
    interleaved,
    interleaved_bubble_fraction,
    one_f_one_b,
    pipeline_bubble_fraction,
    play,
    zb_h1,
    zbv,
    zbv_bubble_fraction,
)
from hwlib.virtual import ThreadedRun, play_ranks

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
D = 8
V_SHAPED = ("ScheduleZBVZeroBubble", "ScheduleDualPipeV")


def layer(i: int) -> nn.Linear:
    """Layer i of every rank's model: threads draw random numbers in turn, so the weights are given."""
    made = nn.Linear(D, D, bias=False)
    with torch.no_grad():
        made.weight.copy_(torch.eye(D) + 0.1 * torch.cos(torch.arange(float(D * D)) * (i + 1)).view(D, D))
    return made


def run(name: str, pp: int, m: int, v: int = 1, kernel: Any = None, where: Any = None, **more: Any) -> ThreadedRun:
    """A schedule of torch over one layer a stage, v of them a rank; a product takes 1/v, unless `kernel` says else."""
    from torch.distributed import pipelining
    from torch.distributed.pipelining import schedules

    def program(rank: int) -> list[Any]:
        layers = [layer(i) for i in range(pp * v)]
        mine = [rank + pp * i for i in range(v)] if name not in V_SHAPED else [rank, 2 * pp - 1 - rank]
        stages = [
            pipelining.PipelineStage(
                layers[i],
                i,
                pp * v,
                torch.device("cpu"),
                input_args=(torch.zeros(2, D, requires_grad=i > 0),),
                output_args=(torch.zeros(2, D, requires_grad=True),),
            )
            for i in mine
        ]
        schedule = getattr(schedules, name)(
            stages if v > 1 else stages[0], m, loss_fn=lambda y, target: ((y - target) ** 2).sum(), scale_grads=False
        )
        given = (torch.ones(2 * m, D, requires_grad=True),) if 0 in mine else ()
        schedule.step(*given, **({"target": torch.zeros(2 * m, D)} if pp * v - 1 in mine else {}))
        return [layers[i].weight.grad for i in mine]

    def unit(_name: str, flops: float, _bytes: float) -> float:
        return (flops > 0) / v

    return play_ranks(program, where or pp, kernel_time=kernel or unit, **({"call_time": lambda *_: 0.0} | more))


def looped_bfs(pp: int, m: int, v: int) -> Schedule:
    """Breadth first (Lamy-Poirier 2022): every chunk for all microbatches, and back in the reverse order."""
    forward = [Op("F", i, chunk) for chunk in range(v) for i in range(m)]
    return Schedule("looped_bfs", pp, m, v, ((*forward, *(op._replace(kind="B") for op in reversed(forward))),) * pp)


SCHEDULES = [
    ("ScheduleGPipe", gpipe, 1),
    ("Schedule1F1B", one_f_one_b, 1),
    ("ScheduleLoopedBFS", looped_bfs, 2),
    ("ScheduleInterleaved1F1B", interleaved, 2),
    ("ScheduleInterleaved1F1B", interleaved, 3),
    ("ScheduleInterleavedZeroBubble", zb_h1, 2),
    ("ScheduleZBVZeroBubble", zbv, 2),
    ("ScheduleDualPipeV", dualpipev, 2),
]
PP, M = 4, 8


def ours_of(make: Any, pp: int, m: int, v: int) -> Schedule:
    return make(pp, m, v) if make in (looped_bfs, interleaved, zb_h1) else make(pp, m)


@pytest.mark.parametrize(("name", "make", "v"), SCHEDULES)
@pytest.mark.parametrize(("pp", "m"), [(2, 4), (4, 8), (3, 6)])
def test_torchs_schedules_have_our_bubbles(name, make, v, pp, m):
    taken = run(name, pp, m, v)
    played = play(ours_of(make, pp, m, v), t_F=1, t_B=2, t_W=1)
    assert [step.compute for step in taken.steps] == pytest.approx(list(played.busy))
    assert taken.step_time == pytest.approx(played.time)
    assert taken.idle_fraction == pytest.approx(played.bubble_fraction)


@pytest.mark.parametrize(
    ("name", "v", "fraction"),
    [
        ("ScheduleGPipe", 1, pipeline_bubble_fraction(PP, M)),
        ("Schedule1F1B", 1, pipeline_bubble_fraction(PP, M)),
        ("ScheduleLoopedBFS", 2, interleaved_bubble_fraction(PP, M, 2)),
        ("ScheduleInterleaved1F1B", 2, interleaved_bubble_fraction(PP, M, 2)),
        ("ScheduleZBVZeroBubble", 2, zbv_bubble_fraction(PP, M)),
    ],
)
def test_and_those_of_the_closed_forms(name, v, fraction):
    assert run(name, PP, M, v).idle_fraction == pytest.approx(fraction)


@pytest.mark.parametrize(("name", "make", "v"), SCHEDULES)
@pytest.mark.parametrize("send", [0.125, 0.5])
def test_messages_are_hidden_by_all_but_1f1b_which_waits_for_each(name, make, v, send):
    """`Schedule1F1B` of torch 2.13 sends and receives in one batch and waits for both; the others wait when they use
    what came. A first message of 4 bytes only tries the way.
    """
    taken = run(name, PP, M, v, call_time=lambda _call, S, _ranks: send * (S > 4))
    blocking = name == "Schedule1F1B"
    played = play(ours_of(make, PP, M, v), 1, 2, 1, t_comm=send, blocking=blocking)
    assert taken.step_time == pytest.approx(played.time)


@pytest.mark.parametrize(("name", "make", "v"), SCHEDULES)
def test_a_slow_rank_slows_a_pipeline_as_it_does_when_played(name, make, v):
    taken = run(name, PP, M, v, slow={1: 2.0})
    forward = [1.0, 2.0, 1.0, 1.0]
    played = play(ours_of(make, PP, M, v), forward, [2 * t for t in forward], forward)
    assert taken.step_time == pytest.approx(played.time)
    assert taken.steps[1].compute == pytest.approx(2 * taken.steps[0].compute)


def test_a_slow_network_is_waited_for_between_nodes_only():
    """Two nodes of two stages: a slow leaf makes the one message in the middle slow, forward and backward."""
    levels = (("node", 2, 1e9), ("leaf", 2, 1e9))
    more: dict[str, Any] = {"kernel": lambda *_: 0.0, "call_time": None, "latency": 0.0, "where": levels}
    cases: tuple[dict[str, Any], ...] = ({}, {"slow_levels": {"leaf": 100.0}})
    fast, slow = (run("ScheduleGPipe", 4, 8, **more, **given) for given in cases)
    message = 2 * D * 4
    assert slow.step_time / fast.step_time > 10
    sent = {span.row: span.end - span.start for step in slow.steps for span in step.spans if span.bytes == message}
    inside, across = message / 1e9, 100 * message / 0.5e9  # a rank has half of its node's way out
    assert [sent["group 0 to 1"], sent["group 3 to 2"]] == pytest.approx([inside] * 2)
    assert [sent["group 1 to 2"], sent["group 2 to 1"]] == pytest.approx([across] * 2)


@pytest.mark.parametrize(("name", "make", "v"), SCHEDULES)
def test_their_gradients_are_those_of_one_process(name, make, v):
    taken = run(name, PP, M, v)
    layers = [layer(i) for i in range(PP * v)]
    (nn.Sequential(*layers)(torch.ones(2 * M, D)) ** 2).sum().backward()
    for rank, gradients in enumerate(taken.results):
        mine = [2 * PP - 1 - rank if i and name in V_SHAPED else rank + PP * i for i in range(v)]
        for i, gradient in zip(mine, gradients, strict=True):
            torch.testing.assert_close(gradient, layers[i].weight.grad, rtol=1e-4, atol=1e-4)
