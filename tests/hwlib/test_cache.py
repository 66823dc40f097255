"""The cache against a reference that searches lists, and against the formulas of tiled matmul."""

import random

import pytest

from hwlib.hierarchy import (
    LRUCache,
    naive_matmul_bytes,
    naive_matmul_trace,
    tiled_matmul_bytes,
    tiled_matmul_trace,
    wave_matmul_bytes,
    wave_trace,
)
from hwlib.roofline import matmul_bytes
from hwlib.specs import accelerators


class Slow:
    """The same cache by exhaustive search: every set a list, last used last."""

    def __init__(self, lines, line, ways):
        self.line, self.ways = line, ways
        self.sets = [[] for _ in range(lines // ways)]
        self.counts = {"hits": 0, "misses": 0, "write_backs": 0}

    def touch(self, address, write):
        number = address // self.line
        held = self.sets[number % len(self.sets)]
        for place, (other, dirty) in enumerate(held):
            if other == number:
                self.counts["hits"] += 1
                held.append((number, dirty or write))
                del held[place]
                return
        self.counts["misses"] += 1
        held.append((number, write))
        if len(held) > self.ways:
            self.counts["write_backs"] += held.pop(0)[1]


@pytest.mark.parametrize("seed", range(8))
def test_it_counts_as_the_reference_does(seed):
    rng = random.Random(seed)
    line, lines = rng.choice([1, 4, 64]), rng.choice([1, 4, 12, 48])
    ways = rng.choice([w for w in (1, 2, 3, 4, lines) if lines % w == 0])
    trace = [(int(rng.paretovariate(0.7)) % (6 * line * lines), rng.random() < 0.3) for _ in range(3000)]
    slow, fast = Slow(lines, line, ways), LRUCache(line * lines, line, ways)
    for access in trace:
        slow.touch(*access)
    fast.run(trace)
    assert {name: getattr(fast, name) for name in slow.counts} == slow.counts
    assert fast.hits + fast.misses == len(trace)
    assert fast.bytes_in == fast.misses * line
    again = LRUCache(line * lines, line, ways)
    assert sum(again.access(*access) for access in trace) == fast.hits


@pytest.mark.parametrize("seed", range(4))
def test_a_larger_cache_never_misses_more(seed):
    rng = random.Random(seed)
    trace = [(rng.randrange(4000), False) for _ in range(4000)]
    misses = [LRUCache(size, 16).run(trace).misses for size in (64, 256, 1024, 4096, 8192)]
    assert misses == sorted(misses, reverse=True)
    assert misses[-1] == len({address // 16 for address, _ in trace})  # each line once


def test_the_last_used_line_goes_last():
    cache = LRUCache(2, 1)
    for address, hit in [(0, False), (1, False), (0, True), (2, False), (0, True), (1, False)]:
        assert cache.access(address) is hit


def test_a_cache_of_a_chip_is_taken_from_its_table():
    cache = LRUCache(accelerators["h100-sxm"].l2_bytes)
    assert cache.capacity == 50 * 2**20
    assert cache.ways == 50 * 2**20 // 128


def test_dirty_lines_are_written_back_once():
    cache = LRUCache(2 * 64, 64)
    cache.run([(0, True), (8, True), (64, False), (128, False)])
    assert (cache.hits, cache.misses, cache.write_backs) == (1, 3, 1)
    assert cache.flush().write_backs == 1
    cache.run([(0, True)]).flush()
    assert (cache.write_backs, cache.flush().write_backs) == (2, 2)
    assert cache.bytes_moved == cache.bytes_in + 2 * 64
    assert not cache.access(0)


def test_whole_lines_need_no_fetch():
    cache = LRUCache(64, 64, fetch_on_write=False).run([(0, True), (64, True)]).flush()
    assert (cache.bytes_in, cache.bytes_out) == (0, 128)


def test_one_set_is_the_worst_place():
    far = [(8 * 64 * i, False) for i in range(4)] * 10  # all in the first of eight sets
    assert LRUCache(8 * 64, 64, ways=1).run(far).hits == 0
    assert LRUCache(8 * 64, 64).run(far).misses == 4


SHAPES = [(12, 8, 16, 4, 4, 4), (8, 12, 20, 4, 2, 5), (9, 7, 80, 4, 3, 4), (6, 6, 30, 3, 3, 5)]


def moved(trace, elements, b):
    return LRUCache(elements * b, b, fetch_on_write=False).run(trace).flush().bytes_moved


@pytest.mark.parametrize(("M", "N", "K", "b_m", "b_n", "b_k"), SHAPES)
@pytest.mark.parametrize("b", [1, 2, 4])
def test_tiles_in_a_cache_move_the_formulas_bytes(M, N, K, b_m, b_n, b_k, b):
    """Room for the sums and two steps of input: what is old goes before what is needed, and nothing is left over."""
    trace = list(tiled_matmul_trace(M, N, K, b_m, b_n, b_k, b))
    room = b_m * b_n + 2 * b_k * (b_m + b_n)
    assert moved(trace, room, b) == tiled_matmul_bytes(M, N, K, b_m, b_n, b, b)
    assert moved(trace, 2, b) > tiled_matmul_bytes(M, N, K, b_m, b_n, b, b)


@pytest.mark.parametrize(("M", "N", "K", "b_m", "b_n", "b_k"), SHAPES)
@pytest.mark.parametrize("b", [1, 4])
def test_without_room_nothing_is_reused_and_with_enough_everything(M, N, K, b_m, b_n, b_k, b):
    naive = list(naive_matmul_trace(M, N, K, b))
    assert len(naive) == (2 * K + 1) * M * N
    assert moved(naive, 3, b) == naive_matmul_bytes(M, N, K, b, b)
    for trace in (naive, tiled_matmul_trace(M, N, K, b_m, b_n, b_k, b)):
        assert moved(trace, M * K + K * N + M * N, b) == matmul_bytes(M, K, N, b)


def test_long_lines_punish_a_walk_down_a_column():
    M, N, K = 4, 64, 64
    cache = LRUCache(4096, 128)
    cache.run(naive_matmul_trace(M, N, K))
    assert cache.bytes_in > 8 * naive_matmul_bytes(M, N, K) / 2  # most of each line of 64 elements is not used
    roomy = LRUCache(2**20, 128).run(naive_matmul_trace(M, N, K)).flush()
    assert roomy.bytes_moved == matmul_bytes(M, K, N) + 2 * M * N  # the result is fetched before it is written


@pytest.mark.parametrize(("g_m", "g_n"), [(1, 1), (1, 12), (3, 4), (4, 3), (12, 1), (2, 6)])
def test_a_wave_in_the_l2_cache_moves_the_bytes_of_one_large_tile(g_m, g_n):
    rows, columns, depth, side = 12, 12, 8, 128
    cache = LRUCache(g_m + g_n, 1).run(wave_trace(rows, columns, depth, g_m, g_n))
    step = 2 * side * side  # bytes of an input tile
    M, N, K = rows * side, columns * side, depth * side
    assert cache.bytes_in * step == wave_matmul_bytes(M, N, K, side, side, g_m, g_n, 2, 0)
    assert cache.hits + cache.misses == 2 * rows * columns * depth


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LRUCache(0), "LRUCache: capacity .* 0$"),
        (lambda: LRUCache(64, 128), "capacity .*128 bytes, .* 64$"),
        (lambda: LRUCache(1024, -1), "line .* -1$"),
        (lambda: LRUCache(float("nan")), "capacity .* nan$"),
        (lambda: LRUCache(1024, 128, 3), "ways .*8 lines, .* 3$"),
        (lambda: LRUCache(1024, 128, 0), "ways .* 0$"),
        (lambda: LRUCache("1 MB"), "capacity .*'1 MB'$"),
        (lambda: LRUCache(float("inf")), "capacity .* inf$"),
        (lambda: LRUCache(1024).access(-1), "address .* -1$"),
        (lambda: naive_matmul_trace(0, 1, 1), "matmul trace: M .* 0$"),
        (lambda: tiled_matmul_trace(1, 1, 1, 1, 1, 2.5), "matmul trace: b_k .* 2.5$"),
        (lambda: wave_trace(1, 1, 1, 0, 1), "wave_trace: g_m .* 0$"),
    ],
)
def test_bad_input_is_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
