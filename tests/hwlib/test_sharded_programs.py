"""What chapter 8 says that DTensor inserts, against DTensor itself on simulated clusters."""

import runpy
import warnings

import pytest

from autograder.declaration import load_bank
from hwlib import virtual

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, empty
    from torch.nn.functional import linear, relu


@pytest.fixture(scope="module")
def bank(root):
    return load_bank(root / "solutions" / "08-sharded-matmuls" / "exercises.py")


def new(mesh, *shape, at, grad=False):
    return empty(*shape, dtype=torch.bfloat16, device_mesh=mesh, placements=at, requires_grad=grad)


@pytest.mark.parametrize("k", [2, 4, 5, 6])
def test_the_count_of_the_exercise_is_dtensors(k, bank):
    with virtual.cluster("superpod-h100-8su") as world:
        mesh = init_device_mesh("cpu", (256, 8))
        with world.shapes():
            x = new(mesh, 2**20, 8192, at=[Shard(0), Replicate()], grad=True)
            columns = [new(mesh, 8192, 28672, at=[Replicate(), Shard(1)], grad=True) for _ in range(k)]
            down = new(mesh, 28672, 8192, at=[Replicate(), Shard(0)], grad=True)

        def program():
            h = x @ columns[0]
            for weight in columns[1:]:
                h = h * (x @ weight)
            y = (h @ down).redistribute(placements=x.placements)
            arrays = [x, *columns, down]
            for array, gradient in zip(arrays, torch.autograd.grad(y, arrays, torch.zeros_like(y)), strict=True):
                gradient.redistribute(placements=array.placements)

        step = world.step(program)
    exercise = bank["sharded-matmuls-count"]
    assert sum(calls.number for calls in step.calls) == exercise.solution(k)


def mlps(first, finish=None, layers=3):
    with virtual.cluster("dgx-h100", latency=0.0) as world:
        mesh = init_device_mesh("cpu", (8,))
        with world.shapes():
            x = new(mesh, 8192, 5120, at=[Replicate()])
            pairs = [(new(mesh, 13824, 5120, at=[first]), new(mesh, 5120, 13824, at=[Shard(1)])) for _ in range(layers)]

        def program():
            y = x
            for up, down in pairs:
                h = linear(y, up)
                h = h.redistribute(placements=[finish]) if finish else h
                y = linear(relu(h), down).redistribute(placements=[Replicate()])

        return world.step(program)


def test_the_opening_question_has_its_forty_milliseconds(root):
    fast, slow = mlps(Shard(0)), mlps(Shard(1))
    assert fast.flops == slow.flops
    extra = (slow.step_time - fast.step_time) / 3
    named = runpy.run_path(str(root / "solutions" / "08-sharded-matmuls" / "exercises.py"))
    assert 40 * extra == pytest.approx(named["EXTRA"], rel=1e-3) == pytest.approx(0.040, rel=0.03)


def test_of_the_fixes_scattering_the_features_is_the_shortest():
    whole, tokens, features = (mlps(Shard(1), at).step_time for at in (Replicate(), Shard(0), Shard(1)))
    assert features < tokens < whole
    assert whole == pytest.approx(mlps(Shard(1)).step_time)
