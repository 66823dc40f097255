"""Kernels under hwlib.tl: right values, and bytes, sectors, FLOPs and tiles counted by hand."""

import math

import numpy as np
import pytest

from hwlib import tl
from hwlib.hierarchy import tiled_matmul_bytes, wave_matmul_bytes
from hwlib.tl import counting
from hwlib.tl.memory import OPERANDS
from tests.hwlib import kernels


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def rows_of_softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# Six kernels


@pytest.mark.parametrize(("n", "block"), [(1000, 256), (1024, 256), (1, 1), (5, 8)])
def test_a_vector_is_added_and_each_element_crosses_once(n, block):
    x, y = draw(n), draw(n, seed=1)
    run = tl.launch(kernels.add, tl.cdiv(n, block), x, y, tl.empty(n), n, block)
    np.testing.assert_array_equal(run.arrays["out_ptr"], x + y)
    assert run.programs == tl.cdiv(n, block)
    assert run.bytes == 3 * 4 * n
    assert run.sectors == 3 * math.ceil(4 * n / 32)
    assert run.flops == run.programs * block  # masked lanes compute, too
    assert run.tile_bytes == 3 * 4 * block
    assert (run.traffic["x_ptr"].loaded_bytes, run.traffic["out_ptr"].stored_bytes) == (4 * n, 4 * n)


def test_what_it_is_given_stays_as_it_was():
    x = np.zeros(8, np.float32)

    def fill(x_ptr):
        tl.store(x_ptr + tl.arange(0, 8), 1.0)

    run = tl.launch(fill, 1, x)
    assert run.arrays["x_ptr"].tolist() == [1.0] * 8
    assert not x.any()


def test_nested_lists_are_arrays_of_float32():
    run = tl.launch(kernels.transpose, (1, 1), [[1, 2.5, 3], [4, 5, 6]], tl.empty((3, 2)), 2, 3, 2, 4)
    assert run.arrays["out_ptr"].tolist() == [[1, 4], [2.5, 5], [3, 6]]
    assert run.bytes == 2 * 4 * 6


@pytest.mark.parametrize(("M", "N"), [(37, 50), (32, 64)])
def test_a_matrix_is_turned(M, N):
    x = draw(M, N)
    run = tl.launch(kernels.transpose, (tl.cdiv(M, 16), tl.cdiv(N, 16)), x, tl.empty((N, M)), M, N, 16, 16)
    np.testing.assert_array_equal(run.arrays["out_ptr"], x.T)
    assert run.bytes == 2 * 4 * M * N
    assert run.flops == 0


def test_a_copy_across_the_rows_touches_a_sector_for_every_element():
    def by_columns(x_ptr, out_ptr, N: tl.constexpr):
        at = tl.program_id(0) + tl.arange(0, N) * N
        tl.store(out_ptr + at, tl.load(x_ptr + at))

    run = tl.launch(by_columns, 32, draw(32, 32), tl.empty((32, 32)), 32)
    assert run.bytes == 2 * 4 * 32 * 32
    assert run.sectors == 2 * 32 * 32


@pytest.mark.parametrize(("kernel", "block", "reads"), [(kernels.softmax, 64, 1), (kernels.online_softmax, 16, 2)])
def test_rows_of_softmax_with_a_long_and_with_short_tiles(kernel, block, reads):
    x = draw(37, 50)
    run = tl.launch(kernel, 37, x, tl.empty((37, 50)), 50, block)
    np.testing.assert_allclose(run.arrays["out_ptr"], rows_of_softmax(x), rtol=5e-6)
    assert run.traffic["x_ptr"].loaded_bytes == reads * x.nbytes
    assert run.traffic["out_ptr"].stored_bytes == x.nbytes
    assert run.tile_bytes < 3 * 4 * block


def test_a_tiled_product_reads_what_the_formula_says():
    M, N, K, tile = 64, 96, 128, 32
    a, b = draw(M, K), draw(K, N)
    run = tl.launch(kernels.matmul, (M // tile, N // tile), a, b, tl.empty((M, N)), M, N, K, tile, tile, 16)
    np.testing.assert_allclose(run.arrays["c_ptr"], a @ b, rtol=1e-4, atol=1e-4)
    assert run.bytes == tiled_matmul_bytes(M, N, K, tile, tile, 4, 4)
    assert run.flops == 2 * M * N * K + (K // 16) * M * N  # the products, and adding each onto the sum


def test_attention_reads_keys_and_values_once_for_each_tile_of_queries():
    T, D, tile = 70, 32, 16
    q, k, v = (draw(T, D, seed=seed) for seed in range(3))
    run = tl.launch(kernels.attention, tl.cdiv(T, tile), q, k, v, tl.empty((T, D)), T, D**-0.5, D, tile, tile)
    np.testing.assert_allclose(run.arrays["out_ptr"], rows_of_softmax(q @ k.T * D**-0.5) @ v, rtol=1e-4, atol=1e-5)
    assert run.traffic["q_ptr"].bytes == run.traffic["out_ptr"].bytes == q.nbytes
    assert run.traffic["k_ptr"].bytes == run.traffic["v_ptr"].bytes == tl.cdiv(T, tile) * k.nbytes
    assert run.bytes < 2 * 4 * T * T * 5  # less than a matrix of scores written and read takes in all


# The L2 cache


def grouped(group, blocks, side, programs, l2):
    """hbm traffic, in blocks of side x side, of the first programs of a product of blocks x blocks of them."""
    n = blocks * side
    a, b = draw(n, n), draw(n, n, seed=1)
    run = tl.launch(kernels.grouped_matmul, programs, a, b, tl.empty((n, n)), n, n, n, side, side, side, group, l2=l2)
    assert run.bytes == programs * (2 * blocks + 1) * 4 * side**2  # what programs ask for does not depend on the order
    return run.hbm.loaded_bytes / (4 * side**2), run.hbm.stored_bytes / (4 * side**2)


@pytest.mark.parametrize(("group", "blocks"), [(1, 90), (3, 54)])
@pytest.mark.parametrize("wave", [1, 9])
def test_grouped_tiles_load_as_few_blocks_as_tritons_tutorial_says(group, blocks, wave):
    """Nine of 9 x 9 tiles: "in row-major ordering, we need to load 90 blocks", grouped "only 54 blocks"."""
    assert grouped(group, 9, 8, 9, tl.L2(2**20, wave)) == (blocks, 9)


@pytest.mark.parametrize(("g_m", "g_n"), [(1, 8), (2, 4), (4, 2)])
def test_a_wave_moves_the_bytes_of_one_large_tile(g_m, g_n):
    """The cache holds the input blocks of one step of the wave and no more: the formula's case."""
    blocks, side = 8, 8
    n = blocks * side
    moved = grouped(g_m, blocks, side, blocks**2, tl.L2((g_m + g_n) * 4 * side**2, g_m * g_n))
    want = wave_matmul_bytes(n, n, n, side, side, g_m, g_n, 4, 4)
    assert sum(moved) * 4 * side**2 == want


def test_without_room_for_a_step_every_program_reads_for_itself():
    assert grouped(1, 8, 8, 64, tl.L2(tl.SECTOR)) == (2 * 8 * 64, 64)


def test_what_stays_in_the_cache_is_written_once():
    def back_and_forth(x_ptr):
        at = tl.arange(0, 16)
        for _ in range(3):
            tl.store(x_ptr + at, tl.load(x_ptr + at) + 1.0)

    run = tl.launch(back_and_forth, 1, draw(16), l2=tl.L2(64))
    assert (run.bytes, run.hbm) == (6 * 64, tl.Traffic(64, 64, 2, 2))
    run = tl.launch(back_and_forth, 1, draw(16), l2=tl.L2(32))
    assert run.hbm == tl.Traffic(3 * 64, 3 * 64, 6, 6)
    assert tl.launch(back_and_forth, 1, draw(16)).hbm is None


def test_programs_of_a_wave_take_turns():
    """Two programs walk along one array: together they read it once, one after the other twice."""

    def walk(x_ptr, out_ptr, N: tl.constexpr):
        total = tl.zeros((8,), tl.float32)
        for start in range(0, N, 8):
            total += tl.load(x_ptr + start + tl.arange(0, 8))
        tl.store(out_ptr + 8 * tl.program_id(0) + tl.arange(0, 8), total)

    for wave, times in ((1, 3), (2, 2), (3, 1)):
        run = tl.launch(walk, 3, draw(64), tl.empty(24), 64, l2=tl.L2(128, wave))
        assert run.hbm.loaded_bytes == times * 4 * 64


def test_sets_of_few_lines_overflow_while_others_have_room():
    def strided(x_ptr, out_ptr):
        at = 64 * tl.arange(0, 4)
        tl.store(out_ptr + tl.arange(0, 4), tl.load(x_ptr + at) + tl.load(x_ptr + at))

    for ways, times in ((None, 1), (16, 1), (2, 2)):
        run = tl.launch(strided, 1, draw(256), tl.empty(4), l2=tl.L2(16 * tl.SECTOR, ways=ways))
        assert run.hbm.loaded_sectors == 4 * times


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"capacity": 31}, "capacity"),
        ({"capacity": 96, "ways": 2}, "ways"),
        ({"capacity": 64, "wave": 0}, "wave"),
    ],
)
def test_a_cache_that_cannot_be_is_refused(given, field):
    with pytest.raises(ValueError, match=field):
        tl.L2(**given)


def test_too_many_sectors_are_refused_before_they_take_memory(monkeypatch):
    monkeypatch.setattr("hwlib.tl.l2.MOST_SECTORS", 11)
    with pytest.raises(tl.KernelError) as caught:
        tl.launch(kernels.add, 1, draw(32), draw(32), tl.empty(32), 32, 32, l2=tl.L2(1024))
    assert caught.value.reason == "too-large"


# What goes wrong, with the program and the element


def wrong(kernel, grid, *args):
    with pytest.raises(tl.KernelError) as caught:
        tl.launch(kernel, grid, *args)
    return caught.value


def test_an_element_outside_is_named():
    def unmasked(x_ptr, out_ptr, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.load(x_ptr + at))

    error = wrong(unmasked, 2, draw(10), tl.empty(16), 8)
    assert (error.reason, error.program, error.array, error.element) == ("out-of-bounds", (1, 0, 0), "x_ptr", 10)


def test_what_nobody_wrote_is_not_read():
    def both(out_ptr):
        tl.store(out_ptr + tl.arange(0, 4), tl.load(out_ptr + tl.arange(0, 4)))

    error = wrong(both, 1, tl.empty(4))
    assert (error.reason, error.array, error.element) == ("unwritten", "out_ptr", 0)


def test_what_a_program_wrote_it_may_read():
    def twice(out_ptr):
        at = tl.arange(0, 4)
        tl.store(out_ptr + at, at.to(tl.float32))
        tl.store(out_ptr + at, 2 * tl.load(out_ptr + at))

    assert tl.launch(twice, 1, tl.empty(4)).arrays["out_ptr"].tolist() == [0, 2, 4, 6]


def test_two_programs_that_store_one_element_race():
    def everywhere(out_ptr):
        tl.store(out_ptr + tl.arange(0, 4), 1.0)

    error = wrong(everywhere, 3, tl.empty(4))
    assert (error.reason, error.program, error.element) == ("race", (1, 0, 0), 0)


@pytest.mark.parametrize("step", [1, -1])
def test_what_another_program_stores_is_not_loaded_whoever_comes_first(step):
    def shifted(x_ptr, STEP: tl.constexpr):
        at = tl.program_id(0)
        tl.store(x_ptr + at + 1, tl.load(x_ptr + at + 1 + STEP))

    error = wrong(shifted, 4, draw(8), step)
    assert error.reason == "race"
    assert error.array == "x_ptr"


def test_one_store_does_not_write_an_element_twice():
    def folded(out_ptr):
        tl.store(out_ptr + tl.arange(0, 8) // 2, 1.0)

    assert wrong(folded, 1, tl.empty(8)).reason == "element-twice"


def test_a_sum_of_everything_by_many_programs_races():
    def total(x_ptr, out_ptr, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr, tl.load(out_ptr) + tl.sum(tl.load(x_ptr + at)))

    assert wrong(total, 2, draw(8), np.zeros(1, np.float32), 4).reason == "race"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (lambda p: tl.arange(0, 6), "no-power-of-two"),
        (lambda p: tl.arange(0, 4) + tl.arange(0, 8), "other-shape"),
        (lambda p: tl.load(p + tl.arange(0, 4)) % 2, "other-type"),
        (lambda p: tl.load(3), "no-pointer"),
        (lambda p: tl.load(p, mask=True), "other-type"),
        (lambda p: p + 1.5, "other-type"),
        (lambda p: bool(tl.arange(0, 2) < 1), "decides-in-python"),
        (lambda p: tl.arange(0, 2) + "a", "no-tile"),
        (lambda p: tl.dot(tl.zeros((2, 4), tl.float32), tl.zeros((2, 4), tl.float32)), "other-shape"),
        (lambda p: tl.exp(tl.arange(0, 4)), "other-type"),
        (lambda p: tl.zeros((1024, 1024), tl.float32), "too-large"),
        (lambda p: tl.sum(tl.zeros((4,), tl.float32), axis=1), "other-shape"),
        (lambda p: tl.zeros((4,), tl.float32)[0], "other-shape"),
        (lambda p: [tl.arange(0, 1) for _ in range(10**6)], "endless"),
        (lambda p: tl.store(p, tl.zeros((4,), tl.float32)), "other-shape"),
    ],
)
def test_what_triton_does_not_take_is_refused(body, reason):
    assert wrong(lambda x_ptr: body(x_ptr), 1, draw(4)).reason == reason


def test_outside_a_kernel_there_is_no_program():
    with pytest.raises(tl.KernelError) as caught:
        tl.program_id(0)
    assert caught.value.reason == "outside-a-kernel"


@pytest.mark.parametrize("grid", [0, (1, 0), (2, 2, 2, 2), 1.5, (128, 128)])
def test_a_grid_that_cannot_be_is_refused(grid):
    assert wrong(kernels.add, grid, draw(4), draw(4), tl.empty(4), 4, 4).reason in ("bad-argument", "too-large")


def test_arguments_that_do_not_fit_are_named():
    assert wrong(kernels.add, 1, draw(4)).reason == "bad-argument"
    assert wrong(kernels.add, 1, draw(4).astype(complex), draw(4), tl.empty(4), 4, 4).reason == "other-type"


def test_the_elements_of_each_request_are_kept_where_asked_for():
    run = tl.launch(kernels.add, 2, draw(6), draw(6), tl.empty(6), 6, 4, touches=True)
    assert [(t.program[0], t.array, t.stores, t.elements.tolist()) for t in run.touches] == [
        (0, "x_ptr", False, [0, 1, 2, 3]),
        (0, "y_ptr", False, [0, 1, 2, 3]),
        (0, "out_ptr", True, [0, 1, 2, 3]),
        (1, "x_ptr", False, [4, 5]),
        (1, "y_ptr", False, [4, 5]),
        (1, "out_ptr", True, [4, 5]),
    ]
    assert tl.launch(kernels.add, 2, draw(6), draw(6), tl.empty(6), 6, 4).touches == []


def test_half_precision_is_stored_in_two_bytes_and_summed_in_four():
    a, b = draw(16, 32).astype(np.float16), draw(32, 16).astype(np.float16)
    run = tl.launch(kernels.matmul, (1, 1), a, b, tl.empty((16, 16)), 16, 16, 32, 16, 16, 32)
    np.testing.assert_allclose(run.arrays["c_ptr"], a.astype(np.float32) @ b.astype(np.float32), rtol=1e-5, atol=1e-5)
    assert run.bytes == 2 * (a.size + b.size) + 4 * 16 * 16


# Records that no kernel has written


def forged(*operations):
    program = tl.Program((0, 0, 0), (1, 1, 1))
    program.operations.extend(operations)
    return program


WIDE = ("arange", (), {"start": 0, "end": 2**16})
X = ("arange", (), {"start": 0, "end": 4})


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ([("full", (), {"shape": [2**20, 2**20], "value": 0, "dtype": "float32"})], "too-large"),
        ([("arange", (), {"start": 0, "end": 2**40})], "too-large"),
        ([("arange", (), {"start": 5, "end": 0})], "too-large"),
        ([WIDE, ("reshape", (0,), {"shape": [2**16, 1]}), ("add", (0, 1), {})], "too-large"),
        ([WIDE, ("reshape", (0,), {"shape": [3]})], "no-record"),
        ([("full", (), {"shape": [0] * 40, "value": 0, "dtype": "float32"})], "too-large"),
        ([("full", (), {"shape": [0, -1, 10**5000], "value": 0, "dtype": "float32"})], "too-large"),
        ([("__class__", ([1],), {})], "no-record"),
        ([("<b>" * 10**5, ([1],), {})], "no-record"),
        ([("load", ([0],), {"array": "<b>" * 10**5, "other": 0})], "no-record"),
        ([("load", ([0],), {"array": ["x"], "other": 0})], "no-record"),
        ([("load", ([0],), {"array": "x", "other": 10**400})], "no-record"),
        ([("full", (), {"shape": [4], "value": 10**400, "dtype": "float32"})], "no-record"),
        ([("full", (), {"shape": [4], "value": 0, "dtype": "<b>" * 10**5})], "other-type"),
        ([WIDE, ("add", (0, [10**30]), {})], "no-record"),
        ([("add", ([2**70], [0]), {})], "no-record"),  # an object: any size, and no FLOPs
        ([("arange", (), {"start": 10**30, "end": 10**30 + 4})], "no-record"),
        ([("arange", (), {"start": 0.5, "end": 4.5})], "no-record"),
        ([WIDE, ("where", (0,), {})], "no-record"),  # a tuple
        ([WIDE, ("add", (0, 0, 0), {})], "no-record"),  # into its third operand
        ([X, ("load", (0,), {"array": "x", "other": 0}), ("floor_divide", (1, [1e-6]), {})], "no-record"),
        ([X, ("equal", (0, 0), {}), ("load", (1,), {"array": "x", "other": 0})], "no-record"),  # all in one sector
        ([X, ("reshape", (0,), {"shape": [1, 4]}), ("load", (1, 1), {"array": "x", "other": 0})], "no-record"),
        ([("exp", (7,), {})], "no-record"),
        ([("exp", (["x"],), {})], "no-record"),
        ([("load", ([0],), {"array": "y", "other": 0})], "no-record"),
        ([("load", ([0.5],), {"array": "x", "other": 0})], "no-record"),
        ([("full", (), {"shape": [4], "value": 0, "dtype": "object"})], "other-type"),
        ([("dot", ([1], [2]), {})], "no-record"),
    ],
)
def test_a_forged_record_is_refused_before_it_takes_memory(operations, reason):
    with pytest.raises(tl.KernelError) as caught:
        tl.play([forged(*operations)], {"x": draw(4)})
    assert caught.value.reason == reason
    assert len(str(caught.value)) < 200
    assert "<b>" not in str(caught.value)


def test_work_has_an_end():
    with pytest.raises(tl.KernelError) as caught:
        tl.play([forged(*[WIDE] * 100)], {}, most_work=10 * 2**16)
    assert caught.value.reason == "endless"


def test_operations_on_nothing_have_an_end():
    nothing = ("full", (), {"shape": [0], "value": 0, "dtype": "float32"})
    with pytest.raises(tl.KernelError) as caught:
        tl.play([forged(*[nothing] * 100)], {}, most_work=50)
    assert caught.value.reason == "endless"


def test_fixed_point_saves_neither_flops_nor_bytes():
    def squares(x_ptr, out_ptr):
        at = tl.arange(0, 8)
        x = tl.load(x_ptr + at).to(tl.int64)
        tl.store(out_ptr + at, x * x)

    run = tl.launch(squares, 1, np.arange(8, dtype=np.float32), tl.empty(8))
    assert run.flops == 8
    assert run.tile_bytes == 2 * 8 * 8


EIGHT = np.arange(8, dtype=np.float32)
LAUNDERED = {
    "bits by truth values": lambda x, at: sum(tl.where((x.to(tl.int64) & 2**k) != 0, 2**k, 0) for k in range(3)),
    "steps by comparisons": lambda x, at: sum(tl.where(x >= k, 1, 0) for k in range(1, 8)),
    "a product by truth values": lambda x, at: (x > 0) & (x < 9) & ~(x == 5),
    "truth values by another type": lambda x, at: x.to(tl.int1).to(tl.int32) + x.to(tl.int64).to(tl.int1),
    "sums of truth values": lambda x, at: tl.sum(x > 3).to(tl.int32) + at,
    "an index that is made of data": lambda x, at: tl.maximum(x.to(tl.int32), 1) % 5,
    "the larger by a choice": lambda x, at: tl.where(x > 3, x, 3.0),
}


@pytest.mark.parametrize("way", LAUNDERED)
def test_what_is_made_of_data_counts_whatever_its_type(way):
    """One operation an element at least for each that it takes, and its tiles beside those of the data."""

    def kernel(x_ptr, out_ptr):
        at = tl.arange(0, 8)
        tl.store(out_ptr + at, LAUNDERED[way](tl.load(x_ptr + at), at))

    run = tl.launch(kernel, 1, EIGHT, tl.empty(8))
    assert run.flops >= 15
    assert run.tile_bytes > EIGHT.nbytes


@pytest.mark.parametrize("written", [False, True])
def test_a_table_of_integers_is_an_address_until_a_program_writes_it(written):
    def kernel(table_ptr, x_ptr, out_ptr):
        at = tl.arange(0, 8)
        if written:
            tl.store(table_ptr + at, tl.load(x_ptr + at))
        row = tl.load(table_ptr + at) * 2 % 8
        tl.store(out_ptr + at, tl.load(x_ptr + row))

    run = tl.launch(kernel, 1, np.arange(8, dtype=np.int64), EIGHT, tl.empty(8))
    assert run.flops == 24 * written  # times, modulo, and the sum with the pointer
    assert run.tile_bytes == (64 + 32 + 32 if written else 32)


def test_addresses_and_masks_are_free_and_what_they_choose_is_not_computed():
    def kernel(x_ptr, out_ptr, n):
        at = tl.program_id(0) * 8 + tl.arange(0, 8)
        mask = (at >= 0) & (at < n) & ~(at == 99)
        where = tl.minimum(tl.maximum(at, 0), tl.max(at)) // 1 + tl.sum(tl.where(mask, 0, 0))
        x = tl.where(mask, tl.load(x_ptr + where, mask=mask), 0.0)
        tl.store(out_ptr + at, x, mask=mask)

    run = tl.launch(kernel, 1, EIGHT, tl.empty(8), 8)
    assert (run.flops, run.tile_bytes) == (0, 64)


def test_an_operation_without_a_name_here_counts():
    at, truth = np.arange(8), np.arange(8) > 3
    assert counting.is_free("add", at, False, False)
    assert not counting.is_free("new_operation", at, False, False)
    assert counting.flops("new_operation", [at], truth, [True]) == 8
    assert set(OPERANDS) - {"store"} >= counting.OF_ADDRESSES


@pytest.mark.parametrize(("numbers", "tile_bytes"), [(64, 32), (65, 36), (80, 96)])
def test_many_single_numbers_are_tiles(numbers, tile_bytes):
    def kernel(x_ptr, out_ptr):
        held = [tl.load(x_ptr + k % 8) for k in range(numbers)]
        tile = tl.load(x_ptr + tl.arange(0, 8))
        for number in held:
            tl.store(out_ptr, number)
        tl.store(out_ptr + tl.arange(0, 8), tile)

    assert tl.launch(kernel, 1, EIGHT, tl.empty(8)).tile_bytes == tile_bytes


def test_truth_values_are_counted_as_numbers():
    def count(out_ptr):
        at = tl.arange(0, 4)
        tl.store(out_ptr + at, (at < 2) + (at < 3))

    assert tl.launch(count, 1, tl.empty(4)).arrays["out_ptr"].tolist() == [2, 2, 1, 0]


def published(x_ptr, out_ptr, N: tl.constexpr):
    """What published kernels use, a row of results each."""
    tl.static_assert(N > 0)
    at = tl.max_contiguous(tl.multiple_of(tl.arange(0, N), N), N)
    x = tl.load(x_ptr + at, eviction_policy="evict_last")
    size = tl.abs(x)
    rows = [tl.exp2(x), tl.log2(size), tl.rsqrt(size), tl.sigmoid(x), size, tl.cumsum(x, axis=0), tl.math.exp2(x)]
    for row in tl.static_range(len(rows)):
        for step in tl.range(0, 1, num_stages=3):
            tl.store(out_ptr + (row + step) * N + at, rows[row])


def test_what_published_kernels_use_is_there_and_counted_as_if_it_were_written_out():
    x = np.linspace(-2, 3, 8, dtype=np.float32)
    run = tl.launch(published, 1, x, tl.empty((7, 8)), 8)
    size = np.abs(x)
    rows = [np.exp2(x), np.log2(size), size**-0.5, 1 / (1 + np.exp(-x)), size, np.cumsum(x), np.exp2(x)]
    np.testing.assert_allclose(run.arrays["out_ptr"], rows, rtol=1e-5)
    once, rsqrt, sigmoid, cumsum = 4 * 8, 2 * 8, 4 * 8, 7
    assert run.flops == once + rsqrt + sigmoid + cumsum


def test_sums_along_each_axis_are_counted_line_by_line():
    def sums(x_ptr, out_ptr, axis):
        at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
        tl.store(out_ptr + at, tl.cumsum(tl.load(x_ptr + at), axis=axis))

    x = draw(4, 8)
    for axis, flops in ((0, 3 * 8), (1, 4 * 7), (-1, 4 * 7)):
        run = tl.launch(sums, 1, x, tl.empty((4, 8)), axis)
        np.testing.assert_allclose(run.arrays["out_ptr"], np.cumsum(x, axis=axis), rtol=1e-5)
        assert run.flops == flops
    with pytest.raises(tl.KernelError) as error:
        tl.launch(sums, 1, x, tl.empty((4, 8)), 2)
    assert error.value.reason == "other-shape"


def test_a_false_static_assert_and_halves_are_refused():
    with pytest.raises(tl.KernelError) as error:
        tl.static_assert(False, "N is odd")
    assert error.value.reason == "bad-argument"

    def half(x_ptr):
        tl.exp2(tl.load(x_ptr + tl.arange(0, 2)).to(tl.float16))

    with pytest.raises(tl.KernelError) as error:
        tl.launch(half, 1, draw(2))
    assert error.value.reason == "other-type"


@pytest.mark.parametrize("name", [*tl.INSTEAD, "softmax", "tensor"])
def test_what_there_is_not_is_told_what_to_take_instead(name):
    with pytest.raises(AttributeError) as error:
        getattr(tl, name)
    assert name in str(error.value)
    assert tl.INSTEAD.get(name, "cumsum, range, static_range") in str(error.value)


def test_all_that_a_kernel_may_use_is_listed():
    listed = {name for names in tl.OPERATIONS.values() for name in names}
    ours = {"launch", "empty", "trace", "record", "play", "places", "dtype_of", "math"}  # around a kernel
    assert listed == {name for name in tl.__all__ if name.islower() and name not in {*tl.DTYPES, *ours}}
