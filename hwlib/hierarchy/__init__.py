"""A chip's memories: the capacity of each, what fits, the traffic, and what a cache saves.

`capacity` lists the memories of a chip and the bytes in flight that hide their latency, `occupancy` counts the warps
that fit on a multiprocessor, `tiling` gives the traffic of a tiled matmul, and `cache` simulates an LRU cache on the
addresses of the same loops, so that each formula can be compared with an experiment.
"""

from hwlib.hierarchy.cache import LRUCache, naive_matmul_trace, tiled_matmul_trace, wave_trace
from hwlib.hierarchy.capacity import (
    Memory,
    chip_bytes,
    flight_bytes,
    latency_bandwidth,
    latency_warps,
    memories,
)
from hwlib.hierarchy.occupancy import (
    LIMITS,
    Occupancy,
    OccupancyLimits,
    occupancy,
    register_blocks,
    register_warps,
    slot_blocks,
    smem_blocks,
)
from hwlib.hierarchy.tiling import (
    largest_square_tile,
    largest_tile,
    naive_matmul_bytes,
    output_tiles,
    tile_bytes,
    tile_intensity,
    tiled_matmul_bytes,
    tiled_matmul_intensity,
    wave_fraction,
    wave_matmul_bytes,
    wave_rounds,
)

__all__ = [
    "LIMITS", "LRUCache", "Memory", "Occupancy", "OccupancyLimits", "chip_bytes", "flight_bytes", "largest_square_tile",
    "largest_tile", "latency_bandwidth", "latency_warps", "memories", "naive_matmul_bytes", "naive_matmul_trace",
    "occupancy", "output_tiles", "register_blocks", "register_warps", "slot_blocks", "smem_blocks", "tile_bytes",
    "tile_intensity", "tiled_matmul_bytes", "tiled_matmul_intensity", "tiled_matmul_trace", "wave_fraction",
    "wave_matmul_bytes", "wave_rounds", "wave_trace",
]  # fmt: skip
