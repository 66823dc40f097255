"""Sharded arrays and matmuls: the notation, what a device holds, and which collectives a matmul needs."""

import itertools
import re

import numpy as np
import pytest

from hwlib.sharding import (
    Mesh,
    Sharded,
    ShardingError,
    gradient_plans,
    matmul_case,
    matmul_plans,
    moves_between,
    sharded,
)
from hwlib.units import GB, KiB, us

MESH = Mesh(X=4, Y=2)
SHAPE = {"I": 1024, "J": 4096, "K": 8192}


@pytest.mark.parametrize("text", ["A[I_X, J]", "A[I_XY, J]{U_Z}", "[I, J]", "B[]", "A[B_X, T, K, G, H]"])
def test_the_notation_reads_back(text):
    assert str(sharded(text)) == text


def test_a_notebook_shows_the_notation():
    mesh, shape = Mesh(X=4, Y=2), {"I": 8, "J": 4, "K": 2}
    assert repr(sharded("A[I_XY,J]{U_Z}")) == "sharded('A[I_XY, J]{U_Z}')"
    assert repr(moves_between("A[I_X, J]", "A[I, J]", mesh, shape)) == (
        "[<all_gather_X: A[I_X, J] -> A[I, J], 4 devices, 64 B>]"
    )
    plan = matmul_plans("A[I_X, J]", "B[J, K_Y]", "C[I_X, K_Y]", mesh, shape)[0]
    assert repr(plan) == "<A[I_X, J] . B[J, K_Y] -> C[I_X, K_Y]: 16 FLOP and 0 B sent a device>"


def test_the_notation_may_have_braces_and_no_spaces():
    assert sharded("A[I_{XY},J]{U_{Z}}") == sharded("A[I_XY, J]{U_Z}")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("A(I)", "A(I)"),
        ("A[I-X]", "I-X"),
        ("A[I, J]{V_X}", "V_X"),
        ("A[I_X, J_X]", "X .*twice"),
        ("A[I_X, J]{U_X}", "X .*twice"),
        ("A[I, I]", "I .*twice"),
        (7, "7"),
    ],
)
def test_what_is_no_sharding_is_named(text, part):
    with pytest.raises(ShardingError, match=part.replace("(", r"\(").replace(")", r"\)")):
        sharded(text)


@pytest.mark.parametrize(("axes", "part"), [({"X": 0}, "0"), ({"X": 2.5}, "2.5"), ({"dp": 2}, "dp")])
def test_a_mesh_has_whole_axes_of_one_letter(axes, part):
    with pytest.raises(ShardingError, match=part):
        Mesh(**axes)


def test_an_axis_that_the_mesh_lacks_is_named():
    with pytest.raises(ShardingError, match=r"axis Z; Mesh\(X=4, Y=2\) .*X, Y"):
        sharded("A[I_Z]").local_shape({"I": 8}, MESH)


@pytest.mark.parametrize("size", [None, -1, 2.0])
def test_a_dimension_has_a_whole_size(size):
    with pytest.raises(ShardingError, match=r"size of J .* (None|-1|2\.0)$"):
        sharded("A[I, J]").local_shape({"I": 8} | ({} if size is None else {"J": size}), MESH)


# What a device holds


def test_bytes_of_a_device_and_of_the_mesh():
    """Scaling-book, chapter 3: int8[128, 2048] as A[I_XY, J] on a 2 x 8 x 2 mesh."""
    array, mesh, shape = sharded("A[I_XY, J]"), Mesh(X=2, Y=8, Z=2), {"I": 128, "J": 2048}
    assert array.local_bytes(shape, mesh, b=1) == 16 * KiB
    assert array.total_bytes(shape, mesh, b=1) == 512 * KiB
    assert array.copies(mesh) == 2


def test_an_array_split_by_one_axis_of_three_is_copied_along_the_others():
    """Scaling-book, chapter 3, question 1: sharded over X only, of a 4 x 8 x 2 mesh."""
    assert sharded("A[I_X, J, K]").copies(Mesh(X=4, Y=8, Z=2)) == 16


@pytest.mark.parametrize("size", [0, 1, 5, 7, 8, 17])
@pytest.mark.parametrize("text", ["A[I_X]", "A[I_Y]", "A[I_XY]", "A[I_YX]"])
def test_parts_are_those_of_torch_chunk(text, size):
    array = sharded(text)
    torch = pytest.importorskip("torch")
    for x, y in itertools.product(range(4), range(2)):
        part, at = torch.arange(size), {"X": x, "Y": y}
        for axis in array.axes("I"):
            chunks = part.chunk(MESH[axis]) if len(part) else ()
            part = chunks[at[axis]] if at[axis] < len(chunks) else part[:0]
        assert array.local_shape({"I": size}, MESH, at) == (len(part),)


# Between shardings


@pytest.mark.parametrize(
    ("before", "after", "ops"),
    [
        ("A[I_X, J]", "A[I_X, J]", []),
        ("A[I_X, J]", "A[I, J]", ["all_gather_X"]),
        ("A[I, J]", "A[I_X, J]", ["slice_X"]),
        ("A[I_X, J]", "A[I, J_X]", ["all_to_all_X"]),
        ("A[I, J]{U_X}", "A[I, J]", ["all_reduce_X"]),
        ("A[I, J]{U_X}", "A[I, J_X]", ["reduce_scatter_X"]),
        ("A[I_XY, J]", "A[I_X, J]", ["all_gather_Y"]),
        ("A[I_XY, J]", "A[I, J]", ["all_gather_XY"]),
        ("A[I_XY, J]", "A[I_Y, J]", ["all_gather_XY", "slice_Y"]),
        ("A[I_X, J]{U_Y}", "A[I, J_Y]", ["reduce_scatter_Y", "all_gather_X"]),
        ("A[I_X, J_Y]", "A[I_Y, J_X]", ["all_gather_X", "all_to_all_Y", "slice_X"]),
    ],
)
def test_moves(before, after, ops):
    moves = moves_between(sharded(before), sharded(after), MESH, SHAPE)
    named = [f"{move.op}_{''.join(move.axes)}" for move in moves]
    assert named == ops
    assert not moves or moves[-1].after == sharded(after)


def all_shardings(labels, axes):
    """Every array of these labels on these axes, each axis idle, an unreduced sum, or splitting one label."""
    for roles in itertools.product([None, "", *labels], repeat=len(axes)):
        split = {label: tuple(a for a, role in zip(axes, roles, strict=True) if role == label) for label in labels}
        sums = tuple(a for a, role in zip(axes, roles, strict=True) if role == "")
        yield Sharded("A", tuple(split.items()), sums)


PAIRS = list(itertools.product(all_shardings("IJ", "XY"), repeat=2))


def parts_of(array, x, mesh, rng):
    """The parts of x that each device of the mesh holds: slices, and random terms that add up to an unreduced sum."""
    devices = list(itertools.product(*(range(size) for size in mesh.values())))
    terms = {}
    for place in itertools.product(*(range(mesh[axis]) for axis in array.sums)):
        terms[place] = rng.integers(-9, 9, x.shape)
    if array.sums:
        last = next(reversed(terms))
        terms[last] = x - sum(term for place, term in terms.items() if place != last)
    held = {}
    for device in devices:
        at = dict(zip(mesh, device, strict=True))
        part = terms[tuple(at[axis] for axis in array.sums)] if array.sums else x
        for dim, (_, axes) in enumerate(array.dims):
            for axis in axes:
                step = -(-part.shape[dim] // mesh[axis])
                part = np.take(part, range(at[axis] * step, (at[axis] + 1) * step), axis=dim)
        held[device] = part
    return held


def carried_out(move, held, mesh):
    """What each device holds after a move: computed from the parts of its group alone."""
    order, label_of = list(mesh), move.before.labels
    after = {}
    for device in held:
        at = dict(zip(order, device, strict=True))
        places = itertools.product(*(range(mesh[axis]) for axis in move.axes))
        coordinates = [at | dict(zip(move.axes, place, strict=True)) for place in places]
        group = [tuple(other[axis] for axis in order) for other in coordinates]
        mine = [at[axis] for axis in move.axes]
        part = held[device]
        if move.op in ("all_reduce", "reduce_scatter"):
            part = sum(held[other] for other in group)
        if move.op == "all_gather":
            dim = next(d for d, l in enumerate(label_of) if move.before.axes(l) != move.after.axes(l))
            part = np.concatenate([held[other] for other in group], axis=dim)
        if move.op == "all_to_all":
            lost = next(d for d, l in enumerate(label_of) if len(move.before.axes(l)) > len(move.after.axes(l)))
            part = np.concatenate([held[other] for other in group], axis=lost)
        if move.op in ("slice", "reduce_scatter", "all_to_all"):
            dim = next(d for d, l in enumerate(label_of) if len(move.before.axes(l)) < len(move.after.axes(l)))
            for axis, place in zip(move.axes, mine, strict=True):
                step = part.shape[dim] // mesh[axis]
                part = np.take(part, range(place * step, (place + 1) * step), axis=dim)
        after[device] = part
    return after


def test_every_move_arrives_with_the_right_numbers():
    """All 256 pairs of shardings of a matrix on a mesh of two axes, carried out on real numbers."""
    rng, mesh = np.random.default_rng(5), Mesh(X=2, Y=3)
    x = rng.integers(-9, 9, (6, 12))
    tried = 0
    for before, after in PAIRS:
        if any(axis not in before.sums for axis in after.sums):
            (lost, *_) = (axis for axis in after.sums if axis not in before.sums)
            with pytest.raises(ShardingError, match=rf"\b{lost}\b") as error:
                moves_between(before, after, mesh, {"I": 6, "J": 12})
            assert {str(before), str(after)} <= {*re.findall(r"A\[[^]]*\](?:\{\w+\})?", str(error.value))}
            continue
        held = parts_of(before, x, mesh, rng)
        now = before
        for move in moves_between(before, after, mesh, {"I": 6, "J": 12}, b=8):
            assert move.before == now
            held, now = carried_out(move, held, mesh), move.after
        assert now.dims == after.dims
        assert set(now.sums) == set(after.sums)
        if not after.sums:
            want = parts_of(after, x, mesh, rng)
            assert all(np.array_equal(held[device], want[device]) for device in held), f"{before} -> {after}"
        tried += 1
    assert tried > 100


def test_the_cost_of_a_move_counts_the_full_buffer_of_its_group():
    (gather,) = moves_between(sharded("A[I_X, J_Y]"), sharded("A[I, J_Y]"), MESH, SHAPE)
    assert gather.bytes == 1024 * 2048 * 2
    assert gather.sent_bytes == gather.bytes * 3 / 4
    assert gather.time(W=50 * GB) == pytest.approx(gather.sent_bytes / (50 * GB))
    assert gather.time(W={"X": 50 * GB, "Y": 1.0}, alpha=1 * us) == pytest.approx(gather.time(50 * GB) + 3 * us)


def test_arrays_of_other_dimensions_are_not_the_same_array():
    with pytest.raises(ShardingError, match=r"A\[I\] .*A\[J\]"):
        moves_between(sharded("A[I]"), sharded("A[J]"), MESH, SHAPE)


# Matmuls


@pytest.mark.parametrize(
    ("A", "B", "case"),
    [
        ("A[I_X, J]", "B[J, K_Y]", 1),
        ("A[I, J_X]", "B[J, K]", 2),
        ("A[I, J]", "B[J_X, K]", 2),
        ("A[I, J_X]", "B[J_X, K]", 3),
        ("A[I_X, J]", "B[J, K_X]", 4),
        ("A[I, J_X]", "B[J, K_X]", 4),
    ],
)
def test_the_four_cases(A, B, case):
    assert matmul_case(A, B) == case


def plan_of(plans, **split):
    return next(plan for plan in plans if plan.split == split)


def test_case_1_needs_nothing():
    plan = matmul_plans("A[I_X, J]", "B[J, K_Y]", "C[I_X, K_Y]", MESH, SHAPE)[0]
    assert plan.moves == ()
    assert plan.flops == 2 * 1024 * 4096 * 8192 / 8


def test_case_2_gathers_or_slices_the_other_and_adds():
    plans = matmul_plans("A[I, J_X]", "B[J, K]", "C[I, K]", Mesh(X=4), SHAPE)
    gathered, summed = plan_of(plans, X=""), plan_of(plans, X="J")
    assert [str(move) for move in gathered.moves] == ["all_gather_X: A[I, J_X] -> A[I, J]"]
    assert [str(move) for move in summed.moves] == ["all_reduce_X: C[I, K]{U_X} -> C[I, K]"]
    assert gathered.flops == 4 * summed.flops


def test_case_3_adds_up_its_result():
    plans = matmul_plans("A[I, J_X]", "B[J_X, K]", "C[I, K_X]", Mesh(X=4), SHAPE)
    assert [str(m) for m in plan_of(plans, X="J").moves] == ["reduce_scatter_X: C[I, K]{U_X} -> C[I, K_X]"]


def test_case_4_gathers_one_first():
    plans = matmul_plans("A[I_X, J]", "B[J, K_X]", "C[I_X, K]", Mesh(X=4), SHAPE)
    assert [str(m) for m in plan_of(plans, X="I").moves] == ["all_gather_X: B[J, K_X] -> B[J, K]"]


def test_gather_then_multiply_against_multiply_then_add():
    """Scaling-book, chapter 3, question 4, to first order: weights D x F are split along D over X.

    Gathering moves 2DF/W bytes; multiplying parts and adding moves 4BF/W: fewer if D > 2B, and with (n - 1)/n
    on both sides the comparison stays.
    """
    mesh = Mesh(X=16)
    for B, D in ((512, 1000), (512, 1100)):
        shape = {"B": B, "D": D * 16, "F": 4096}
        plans = matmul_plans("A[B, D]", "W[D_X, F]", "C[B, F]", mesh, shape | {"D": D})
        gathered, summed = plan_of(plans, X=""), plan_of(plans, X="D")
        assert (summed.comm_time(90 * GB) < gathered.comm_time(90 * GB)) == (D > 2 * B)


def test_an_outer_product_splits_into_sums():
    """Scaling-book, chapter 3, question 9: A[I, J_X] . B[J_X, K] leaves a sum, added up over X."""
    plan = plan_of(matmul_plans("A[I, J_X]", "B[J_X, K]", "C[I, K]", Mesh(X=8), SHAPE), X="J")
    assert str(plan.product) == "C[I, K]{U_X}"
    assert plan.sent_bytes == 2 * 1024 * 8192 * 2 * 7 / 8


def test_an_open_sum_passes_through_a_product():
    plans = matmul_plans("A[I, J]{U_X}", "B[J, K]", "C[I, K]", Mesh(X=4), SHAPE)
    assert any(str(plan.product) == "C[I, K]{U_X}" and len(plan.moves) == 1 for plan in plans)


def test_gradients_of_data_and_tensor_parallel_layers():
    mesh, shape = Mesh(X=4, Y=2), {"B": 64, "D": 128, "F": 256}
    dA, dW = gradient_plans("A[B_X, D]", "W[D, F_Y]", "C[B_X, F_Y]", mesh, shape)
    assert [str(m) for m in plan_of(dA, X="B", Y="F").moves] == ["all_reduce_Y: dA[B_X, D]{U_Y} -> dA[B_X, D]"]
    assert [str(m) for m in plan_of(dW, X="B", Y="F").moves] == ["all_reduce_X: dW[D, F_Y]{U_X} -> dW[D, F_Y]"]


def test_the_gradient_of_gathered_weights_is_scattered():
    """Fully sharded weights: gathered before the product, their gradient reduce-scattered over the same axis."""
    mesh, shape = Mesh(X=4), {"B": 64, "D": 128, "F": 256}
    forward = plan_of(matmul_plans("A[B_X, D]", "W[D_X, F]", "C[B_X, F]", mesh, shape), X="B")
    backward = plan_of(gradient_plans("A[B_X, D]", "W[D_X, F]", "C[B_X, F]", mesh, shape)[1], X="B")
    assert [m.op for m in forward.moves] == ["all_gather"]
    assert [m.op for m in backward.moves] == ["reduce_scatter"]
    assert forward.moves[0].bytes == backward.moves[0].bytes


def test_every_plan_gives_the_product():
    """Each plan of a case-4 matmul, carried out on whole numbers on six devices."""
    rng, mesh = np.random.default_rng(3), Mesh(X=2, Y=3)
    a, b = rng.integers(-9, 9, (6, 12)), rng.integers(-9, 9, (12, 6))
    shape = {"I": 6, "J": 12, "K": 6}
    A, B, C = sharded("A[I_X, J_Y]"), sharded("B[J_X, K]"), sharded("C[I, K_Y]")
    plans = matmul_plans(A, B, C, mesh, shape)
    assert len(plans) > 8
    for plan in plans:
        left, right = parts_of(A, a, mesh, rng), parts_of(B, b, mesh, rng)
        for move in plan.before:
            if move.before.name == "A":
                left = carried_out(move, left, mesh)
            else:
                right = carried_out(move, right, mesh)
        held = {device: left[device] @ right[device] for device in left}
        assert 2 * max(left[d].size * right[d].shape[1] for d in held) == plan.flops
        for move in plan.after:
            held = carried_out(move, held, mesh)
        want = parts_of(C, a @ b, mesh, rng)
        assert all(np.array_equal(held[device], want[device]) for device in held), str(plan)


@pytest.mark.parametrize(
    ("A", "B", "C", "part"),
    [
        ("A[I, J]", "B[J, K]", "C[I, L]", "L"),
        ("A[I, J]", "B[K]", "C[I, K]", "J "),
        ("A[I, J]", "B[J, K]", "C[I, K_Z]", "axis Z; "),
        ("A[I, L]", "B[L, K]", "C[I, K]", "size of L .*-1$"),
    ],
)
def test_what_is_no_matmul_is_named(A, B, C, part):
    with pytest.raises(ShardingError, match=part):
        matmul_plans(A, B, C, MESH, SHAPE)
