"""Our orders are those of torch.distributed.pipelining, action by action. Nothing is started: only lists are made."""

import pytest

from hwlib.pipeline import dualpipev, gpipe, interleaved, one_f_one_b, zb_h1, zbv
from tests.each import each

schedules = pytest.importorskip("torch.distributed.pipelining.schedules")


def bare(name, pp, m, v=1):
    """A schedule of torch without its stages, which would need a process group: what its list is made from."""
    made = object.__new__(getattr(schedules, name))
    rounds = max(1, m // pp)
    made.__dict__ |= {
        "pp_group_size": pp,
        "_n_microbatches": m,
        "n_local_stages": v,
        "_num_stages": pp * v,
        "num_stages": pp * v,
        "number_of_rounds": rounds,
        "microbatches_per_round": m // rounds,
    }
    return made


def flat(actions):
    """[(kind, part, microbatch, together with the next), ...] without the waits and the sum of gradients."""
    found = []
    for action in actions:
        if action is None or action.computation_type.value == "REDUCE_GRAD":
            continue
        many = action.sub_actions or (action,)
        found += [(a.computation_type.value, a.stage_index, a.microbatch_index, a is not many[-1]) for a in many]
    return found


def ours(schedule, rank):
    return [(op.kind, schedule.part(rank, op.chunk), op.microbatch, op.paired) for op in schedule.ops[rank]]


SIZES = [(1, 1), (1, 4), (2, 4), (3, 9), (4, 4), (4, 8), (4, 10), (4, 3), (8, 32), (5, 15)]
sizes = pytest.mark.parametrize(("pp", "m"), SIZES)


@sizes
@each("v", [2, 3, 4])
def test_interleaved(pp, m, v):
    schedule, torchs = interleaved(pp, m, v), bare("ScheduleInterleaved1F1B", pp, m, v)
    for rank in range(pp):
        assert ours(schedule, rank) == flat(torchs._calculate_single_rank_operations(rank))


@sizes
@each("v", [1, 2, 3])
def test_zb_h1_which_torch_calls_zb1p(pp, m, v):
    schedule, torchs = zb_h1(pp, m, v), bare("ScheduleInterleavedZeroBubble", pp, m, v)
    for rank in range(pp):
        assert ours(schedule, rank) == flat(torchs._calculate_single_rank_operations(rank))


@sizes
def test_zbv(pp, m):
    schedule, torchs = zbv(pp, m), bare("ScheduleZBVZeroBubble", pp, m, 2)
    for rank in range(pp):
        assert ours(schedule, rank) == flat(torchs._calculate_single_rank_operations(rank))


@pytest.mark.parametrize(("pp", "m"), [(1, 2), (2, 4), (3, 7), (4, 8), (4, 13), (8, 20)])
def test_dualpipev(pp, m):
    schedule, torchs = dualpipev(pp, m), bare("ScheduleDualPipeV", pp, m, 2)
    for rank in range(pp):
        assert ours(schedule, rank) == flat(torchs._calculate_single_rank_operations(rank))


@sizes
def test_gpipe(pp, m):
    schedule, torchs = gpipe(pp, m), bare("ScheduleGPipe", pp, m)._get_pipeline_order()
    for rank in range(pp):
        assert ours(schedule, rank) == flat(torchs[rank])


class Stage:
    """What a schedule of torch asks of its stage; it notes what it is told to compute."""

    has_backward = True

    def __init__(self, rank):
        self.stage_index, self.done = rank, []

    def forward_one_chunk(self, i, *_, **__):
        self.done.append(("F", self.stage_index, i, False))

    def backward_one_chunk(self, i, **_):
        self.done.append(("B", self.stage_index, i, False))

    def perform_reduce_grad(self, _):
        pass

    get_fwd_recv_ops = get_fwd_send_ops = get_bwd_recv_ops = get_bwd_send_ops = lambda self, i: []


def run(name, pp, m, rank, monkeypatch):
    """What the schedule does when it runs, on one rank, without a neighbour."""
    made = bare(name, pp, m)
    made._stage, made.scale_grads = Stage(rank), False
    monkeypatch.setattr(made, "_check_inputs", lambda *_: ([()] * m, [{}] * m), raising=False)
    for nothing in ("_initialize_stage", "_maybe_compute_loss", "_maybe_get_loss", "_update_losses"):
        monkeypatch.setattr(made, nothing, lambda *_: None, raising=False)
    made._step_microbatches()
    return made._stage.done


@sizes
@pytest.mark.parametrize(("name", "order"), [("Schedule1F1B", one_f_one_b), ("ScheduleGPipe", gpipe)])
def test_what_the_plain_schedules_of_torch_do(name, order, pp, m, monkeypatch):
    schedule = order(pp, m)
    for rank in range(pp):
        assert ours(schedule, rank) == run(name, pp, m, rank, monkeypatch)


@sizes
def test_the_list_that_torch_gives_of_1f1b_is_wrong_on_the_last_rank(pp, m):
    """torch 2.13: it counts the microbatches from 1 there. What the schedule does (above) is right."""
    schedule, torchs = one_f_one_b(pp, m), bare("Schedule1F1B", pp, m)._get_pipeline_order()
    if m >= pp:
        for rank in range(pp - 1):
            assert ours(schedule, rank) == flat(torchs[rank])
    shifted = [(kind, part, i + (kind == "F"), _) for kind, part, i, _ in ours(schedule, pp - 1)]
    assert flat(torchs[pp - 1]) == shifted
