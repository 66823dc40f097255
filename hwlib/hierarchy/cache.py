"""An LRU cache, and the addresses that a matmul's loops touch.

The cache only counts; it stores no data. A trace is an iterable of (address in bytes, whether it is written). With
lines of one element the bytes agree exactly with the formulas; longer lines show what is fetched and not used.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from hwlib.arguments import as_int

Access = tuple[int, bool]


class LRUCache:
    """A write-back cache of `capacity` bytes in lines of `line` bytes that evicts the least recently used line.

    Fully associative, or with `ways` lines per set; a line's set is its number modulo the number of sets.
    `fetch_on_write=False` suits lines that are written completely: they are not read first. Counts `hits`,
    `misses`, `bytes_in`, `write_backs` (of evicted or flushed dirty lines), `bytes_out` and `bytes_moved`.
    """

    def __init__(self, capacity: float, line: float = 128, ways: int | None = None, fetch_on_write: bool = True):
        line = as_int("LRUCache: line", line)
        lines = as_int("LRUCache: capacity", capacity) // line
        if not lines:
            raise ValueError(f"LRUCache: capacity is at least one line of {line} bytes, got {capacity!r}")
        if ways is not None and lines % as_int("LRUCache: ways", ways):
            raise ValueError(f"LRUCache: ways divides the {lines} lines, got {ways!r}")
        self.capacity, self.line, self.fetch_on_write = lines * line, line, fetch_on_write
        self.ways = lines if ways is None else int(ways)
        self._sets: list[OrderedDict[int, bool]] = [OrderedDict() for _ in range(lines // self.ways)]
        self.hits = self.misses = self.fetches = self.write_backs = 0

    @property
    def bytes_in(self) -> int:
        """Bytes read from the memory behind the cache."""
        return self.fetches * self.line

    @property
    def bytes_out(self) -> int:
        """Bytes written to the memory behind the cache."""
        return self.write_backs * self.line

    @property
    def bytes_moved(self) -> int:
        """Traffic with the memory behind the cache, both directions together."""
        return self.bytes_in + self.bytes_out

    def access(self, address: int, write: bool = False) -> bool:
        """Touch one address, and return whether it was a hit."""
        before = self.hits
        self.run(((address, write),))
        return self.hits > before

    def run(self, trace: Iterable[Access]) -> "LRUCache":
        """Touch every address of a trace in order, and return the cache for its counts.

        Raises ValueError for a negative address.
        """
        sets, line, ways, count = self._sets, self.line, self.ways, len(self._sets)
        for address, write in trace:
            if address < 0:
                raise ValueError(f"LRUCache: an address is at least 0, got {address!r}")
            number = address // line
            held = sets[number % count]
            if number in held:
                self.hits += 1
                held.move_to_end(number)
                if write:
                    held[number] = True
                continue
            self.misses += 1
            if self.fetch_on_write or not write:
                self.fetches += 1
            if len(held) == ways:
                self.write_backs += held.popitem(last=False)[1]
            held[number] = write
        return self

    def flush(self) -> "LRUCache":
        """Write back dirty lines and empty the cache; the counts are kept."""
        for held in self._sets:
            self.write_backs += sum(held.values())
            held.clear()
        return self

    def __repr__(self) -> str:
        return (
            f"<LRUCache of {self.capacity} B: {self.hits} hits, {self.misses} misses, "
            f"{self.bytes_in} B in, {self.bytes_out} B out>"
        )


def naive_matmul_trace(M: int, N: int, K: int, b: int = 2) -> Iterator[Access]:
    """Three loops over row-major arrays A[M, K], B[K, N], C[M, N], one after another in memory."""
    return tiled_matmul_trace(M, N, K, 1, 1, K, b)


def tiled_matmul_trace(M: int, N: int, K: int, b_m: int, b_n: int, b_k: int, b: int = 2) -> Iterator[Access]:
    """The same product tile by tile: for each tile of C and each step along the sum, all its elements of A and B.

    An element of C is written once per step, like a sum in fast memory. Raises ValueError for a size below 1.
    """
    sizes = {"M": M, "N": N, "K": K, "b_m": b_m, "b_n": b_n, "b_k": b_k, "b": b}
    return _tiles(*(as_int(f"matmul trace: {name}", size) for name, size in sizes.items()))


def _tiles(M: int, N: int, K: int, b_m: int, b_n: int, b_k: int, b: int) -> Iterator[Access]:
    start_b, start_c = M * K, M * K + K * N
    for i0 in range(0, M, b_m):
        for j0 in range(0, N, b_n):
            for k0 in range(0, K, b_k):
                for i in range(i0, min(i0 + b_m, M)):
                    for j in range(j0, min(j0 + b_n, N)):
                        for k in range(k0, min(k0 + b_k, K)):
                            yield b * (i * K + k), False
                            yield b * (start_b + k * N + j), False
                        yield b * (start_c + i * N + j), True


def wave_trace(rows: int, columns: int, depth: int, g_m: int, g_n: int) -> Iterator[Access]:
    """The L2 cache's accesses of waves of g_m x g_n output tiles, in units of one input tile.

    The product has rows x columns output tiles and `depth` steps along the sum; all tiles of a wave take a step
    together. An address counts input tiles, so the cache's line is 1 and its capacity a number of tiles. The
    output, written once, is left out. Raises ValueError for a size below 1.
    """
    sizes = {"rows": rows, "columns": columns, "depth": depth, "g_m": g_m, "g_n": g_n}
    return _waves(*(as_int(f"wave_trace: {name}", size) for name, size in sizes.items()))


def _waves(rows: int, columns: int, depth: int, g_m: int, g_n: int) -> Iterator[Access]:
    for i0 in range(0, rows, g_m):
        for j0 in range(0, columns, g_n):
            for k in range(depth):
                for i in range(i0, min(i0 + g_m, rows)):
                    for j in range(j0, min(j0 + g_n, columns)):
                        yield i * depth + k, False
                        yield rows * depth + k * columns + j, False
