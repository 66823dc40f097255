"""The same generators on real gloo ranks: values, bytes and rounds are those of the simulator."""

import numpy as np
import pytest

from hwlib.algorithms import Step
from hwlib.simulate import SimulationError, lockstep, run_on_group
from tests.hwlib.inputs import expected, inputs_of
from tests.hwlib.ranks import results


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4])
def test_real_ranks_do_what_the_simulator_does(n):
    got = results(n)
    assert len(got) > 150
    for case, ranks in got:
        xs = inputs_of(case.name, len(ranks), case.count, **case.options)
        run = lockstep(case.name, xs, **case.options)
        known = {key: value for key, value in case.options.items() if key in ("root", "counts")}
        for rank, want in enumerate(expected(case.name, xs, **known)):
            real, where = ranks[rank], f"rank {rank} of {case}"
            if want is None:
                assert real.output is None, where
            else:
                np.testing.assert_array_equal(real.output, want, err_msg=where)
                np.testing.assert_array_equal(run.outputs[rank], want, err_msg=where)
            assert real.sent_bytes == run.sent_bytes[rank], where
            assert real.received_bytes == run.received_bytes[rank], where
        assert max(real.rounds for real in ranks) == run.rounds, case


@pytest.fixture
def alone(monkeypatch):
    """A process group of this process only."""
    torch = pytest.importorskip("torch")
    import torch.distributed as dist

    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield torch.arange(6.0)
    dist.destroy_process_group()


def test_one_real_rank_has_all_there_is(alone):
    run = run_on_group("ring_allreduce", alone)
    assert run.output.tolist() == [0, 1, 2, 3, 4, 5]
    assert (run.rounds, run.sent_bytes, run.received_bytes) == (0, 0, 0)
    run.output[0] = 7
    assert alone[0] == 0, "an algorithm works on a copy"


def test_real_ranks_refuse_what_they_cannot_do(alone):
    def lonely(rank, n, x):
        yield []
        yield Step(x, to=0)

    with pytest.raises(ValueError, match=r"^switch_allreduce .*switch"):
        run_on_group("switch_allreduce", alone)
    with pytest.raises(SimulationError, match=r"rank 0, step 1: `to` is 0, and there is no other rank$") as error:
        run_on_group(lonely, alone)
    assert error.value.reason == "no-such-rank"
    with pytest.raises(KeyError, match="'ring'; "):
        run_on_group("ring", alone)
    with pytest.raises(ValueError, match=r"^x: .*list"):
        run_on_group("ring_allreduce", [1.0, 2.0])
