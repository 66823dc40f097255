"""The algebra of shardings against DTensor's own, on a process group without processes."""

import itertools
import warnings

import pytest

from hwlib.sharding import Mesh, matmul_plans, moves_between, sharded
from tests.hwlib.test_sharding import all_shardings

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.debug import CommDebugMode
    from torch.testing._internal.distributed.fake_pg import FakeStore

MESH = Mesh(X=4, Y=2)
SHAPE = {"I": 16, "J": 32, "K": 64}
PLACEMENTS = {
    "Replicate()": Replicate(),
    "Partial()": Partial(),
    "Shard(0)": Shard(0),
    "Shard(1)": Shard(1),
}
OPS = ("all_gather", "reduce_scatter", "all_reduce")
ON_CPU = {"slice": [], "all_to_all": ["all_gather"]}  # gloo: DTensor gathers and takes its part instead


@pytest.fixture(scope="module")
def mesh():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=MESH.devices)
    yield init_device_mesh("cpu", tuple(MESH.values()), mesh_dim_names=tuple(MESH))
    dist.destroy_process_group()


def placements(array):
    """DTensor's own objects for a sharding."""
    return [PLACEMENTS[word] for word in array.placements(MESH)]


def dtensor(text, mesh):
    """A DTensor sharded as the notation says, of the local shape that it says."""
    array = sharded(text)
    local = torch.ones(array.local_shape(SHAPE, MESH))
    whole = torch.Size(SHAPE[label] for label in array.labels)
    strides = torch.empty(whole, device="meta").stride()
    return DTensor.from_local(local, mesh, placements(array), run_check=False, shape=whole, stride=strides)


def in_mesh_order(array):
    return all(list(axes) == sorted(axes) for _, axes in array.dims)


MATRICES = [a for a in all_shardings("IJ", "XY") if in_mesh_order(a)]


@pytest.mark.parametrize("array", MATRICES, ids=str)
def test_local_shapes_are_dtensors(array, mesh):
    held = [Replicate() if isinstance(p, Partial) else p for p in placements(array)]  # a sum is held in full
    whole = torch.ones([SHAPE[label] for label in array.labels])
    assert distribute_tensor(whole, mesh, held).to_local().shape == array.local_shape(SHAPE, MESH)


def one_move(before, after):
    """Whether one axis changes its role, and one move does it."""
    changed = sum(before.role(axis) != after.role(axis) for axis in MESH)
    allowed = set(after.sums) <= set(before.sums)
    return changed == 1 and allowed and len(moves_between(before, after, MESH, SHAPE)) == 1


ONE_MOVE = [pair for pair in itertools.product(MATRICES, repeat=2) if one_move(*pair)]


@pytest.mark.parametrize(("before", "after"), ONE_MOVE, ids=str)
def test_one_axis_at_a_time_dtensor_calls_the_same_collective(before, after, mesh):
    (move,) = moves_between(before, after, MESH, SHAPE)
    x = dtensor(before, mesh)
    with CommDebugMode() as seen:
        y = x.redistribute(mesh, placements(after))
    assert y.to_local().shape == after.local_shape(SHAPE, MESH)
    counts = {str(op): times for op, times in seen.get_comm_counts().items()}
    called = [name for name in OPS for op, times in counts.items() if name in op for _ in range(times)]
    assert called == ON_CPU.get(move.op, [move.op])


def forced(a, b):
    """Whether a product of these needs no move: each axis splits one letter, the same in both if both have it."""
    for axis in MESH:
        roles = {a.role(axis), b.role(axis)}
        if roles != {None} and (len(roles - {None}) > 1 or ("J" in roles and None in roles)):
            return False
    return not a.sums and not b.sums


ORDERED = [[x for x in all_shardings(labels, "XY") if in_mesh_order(x)] for labels in ("IJ", "JK")]
FREE = [(a, b) for a, b in itertools.product(*ORDERED) if forced(a, b)]


@pytest.mark.parametrize(("a", "b"), FREE, ids=str)
def test_where_nothing_need_be_moved_dtensor_gives_the_same_result(a, b, mesh):
    """Cases 1 and 3: the result's placement is forced, and an unreduced sum is Partial in PyTorch's words."""
    split = {axis: a.role(axis) or b.role(axis) or "" for axis in MESH}
    dims = {label: tuple(x for x in MESH if split[x] == label) for label in "IK"}
    sums = tuple(x for x in MESH if split[x] == "J")
    goal = sharded("C[I, K]").with_dims(dims, sums)
    plan = next(p for p in matmul_plans(a, b, goal, MESH, SHAPE) if p.split == split)
    assert plan.moves == ()
    with CommDebugMode() as seen:
        c = dtensor(a, mesh) @ dtensor(b, mesh)
    assert seen.get_total_counts() == 0
    assert [str(p) for p in c.placements] == [str(p) for p in placements(plan.product)]
    assert c.to_local().shape == plan.product.local_shape(SHAPE, MESH)


def test_two_layers_over_2048_devices_leave_one_sum():
    """X . W1 . W2 with the first weight split by columns, the second by rows: one sum at the end, nothing before."""
    mesh, shape = Mesh(X=256, Y=8), {"B": 512, "D": 64, "F": 512, "E": 64}
    up = matmul_plans("A[B_X, D]", "V[D, F_Y]", "H[B_X, F_Y]", mesh, shape)[0]
    down = next(
        p for p in matmul_plans(up.product, "W[F_Y, E]", "C[B_X, E]", mesh, shape) if p.split == {"X": "B", "Y": "F"}
    )
    assert up.moves == ()
    assert str(down.product) == "C[B_X, E]{U_Y}"
    assert down.product.local_shape(shape, mesh) == (2, 64)
    assert [move.op for move in down.moves] == ["all_reduce"]
