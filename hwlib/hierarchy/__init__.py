"""A chip's memories: the capacity of each, what fits, the traffic, and what a cache saves.

`capacity` lists the memories of a chip and the bytes in flight that hide their latency, `occupancy` counts the warps
that fit on a multiprocessor, `requests` what one load of a warp moves, `tiling` gives the traffic of a tiled matmul,
`stages` the time of one whose copies run ahead, `systolic` its cycles on a square of multipliers, and `cache`
simulates an LRU cache on the addresses of the same loops, so that each formula can be compared with an experiment.
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
from hwlib.hierarchy.requests import bank_cycles, feed_bytes, warp_sectors
from hwlib.hierarchy.stages import TileStep, Timeline, kernel_timeline, stage_interval
from hwlib.hierarchy.systolic import systolic_cycles, systolic_fraction, systolic_tile_cycles
from hwlib.hierarchy.systolic_array import SystolicRun, play_systolic
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
    "LIMITS",
    "LRUCache",
    "Memory",
    "Occupancy",
    "OccupancyLimits",
    "SystolicRun",
    "TileStep",
    "Timeline",
    "bank_cycles",
    "chip_bytes",
    "feed_bytes",
    "flight_bytes",
    "kernel_timeline",
    "largest_square_tile",
    "largest_tile",
    "latency_bandwidth",
    "latency_warps",
    "memories",
    "naive_matmul_bytes",
    "naive_matmul_trace",
    "occupancy",
    "output_tiles",
    "play_systolic",
    "register_blocks",
    "register_warps",
    "slot_blocks",
    "smem_blocks",
    "stage_interval",
    "systolic_cycles",
    "systolic_fraction",
    "systolic_tile_cycles",
    "tile_bytes",
    "tile_intensity",
    "tiled_matmul_bytes",
    "tiled_matmul_intensity",
    "tiled_matmul_trace",
    "warp_sectors",
    "wave_fraction",
    "wave_matmul_bytes",
    "wave_rounds",
    "wave_trace",
]
