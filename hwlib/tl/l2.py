"""The L2 cache between the programs of a kernel and HBM, and the order in which it sees their loads and stores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from hwlib.tl.tile import KernelError

if TYPE_CHECKING:
    from hwlib.hierarchy import LRUCache

SECTOR = 32  # bytes, the piece in which L2 and HBM exchange them
ALIGNED = 256  # bytes: every array begins at a multiple of these, as an allocator places it
MOST_SECTORS = 2**22  # that pass: two seconds

Request = tuple[list[int], bool]  # sectors in ascending order, and whether they are stored


@dataclass(frozen=True)
class L2:
    """A cache of `capacity` bytes between all programs and HBM, and how many programs run at a time.

    Programs run in waves of `wave`, in the order of the grid (its first axis fastest): each of a wave does its first
    load or store, in turn, then each its second, until the last has ended; then comes the next wave. `wave=1` is one
    program after another. A GPU promises no order: it starts a program where another has ended, and those that run
    together drift apart. So the count is that of a model, exact for its order, and near a GPU's where its programs
    keep step.

    The cache is `hwlib.hierarchy.LRUCache` with lines of one sector, fully associative or with `ways` lines a set. A
    sector that is stored is not fetched first, whether all of it is stored or not; it goes to HBM when it is evicted,
    or at the end. Raises ValueError for a capacity below one sector, `ways` that do not divide it, or an empty wave.
    """

    capacity: int
    wave: int = 1
    ways: int | None = None

    def __post_init__(self):
        self.cache()
        if self.wave < 1:
            raise ValueError(f"L2: wave is at least one program, got {self.wave!r}")

    def cache(self) -> LRUCache:
        """The cache, empty."""
        from hwlib.hierarchy import LRUCache

        return LRUCache(self.capacity, SECTOR, self.ways, fetch_on_write=False)


class Waves:
    """The loads and stores of programs, told one program after another, as the cache sees them."""

    def __init__(self, l2: L2, sizes: Mapping[str, int]):
        """`sizes`: bytes of each array; they lie one after another in memory."""
        self.cache, self._wave = l2.cache(), l2.wave
        self._first: dict[str, int] = {}
        self._running: list[list[Request]] = []
        self._passed = begin = 0
        for name, size in sizes.items():
            self._first[name] = begin // SECTOR
            begin += -(-size // ALIGNED) * ALIGNED

    def begin(self) -> None:
        """Another program begins."""
        if len(self._running) == self._wave:
            self._run()
        self._running.append([])

    def request(self, array: str, sectors: Iterable[int], stores: bool) -> None:
        """That program loads or stores these sectors of an array. Raises KernelError for too many in all."""
        first = self._first[array]
        touched = [first + one for one in sectors]
        self._passed += len(touched)
        if self._passed > MOST_SECTORS:
            raise KernelError(f"more than {MOST_SECTORS:,} sectors pass the L2 cache", "too-large")
        self._running[-1].append((touched, stores))

    def end(self) -> LRUCache:
        """The cache after the last program, with everything written back."""
        self._run()
        return self.cache.flush()

    def _run(self) -> None:
        self.cache.run(self._accesses())
        self._running = []

    def _accesses(self) -> Iterator[tuple[int, bool]]:
        nothing: Request = ([], False)
        for step in zip_longest(*self._running, fillvalue=nothing):
            for sectors, stores in step:
                yield from ((SECTOR * one, stores) for one in sectors)
