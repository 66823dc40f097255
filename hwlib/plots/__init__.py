"""Static figures: functions that take records and numbers, and return a matplotlib Figure.

The numbers are computed elsewhere in hwlib; this package only draws. A figure shows itself in a notebook as SVG and
touches no global state: no pyplot, no backend. Series differ in marker and in colour, from the Okabe-Ito palette,
which colour-blind readers can tell apart.
"""

from hwlib.plots.asynchrony import clock_series, issuers, kernel_timeline
from hwlib.plots.chips import anatomy, growth
from hwlib.plots.clusters import switches_per_gpu
from hwlib.plots.collectives import before_and_after, blocks_by_step, times_against_size
from hwlib.plots.fabrics import pod, rack_exits, rails_and_racks
from hwlib.plots.formats import block_scales
from hwlib.plots.fused import fused_attention
from hwlib.plots.groups import against_ranks, beside_a_matmul
from hwlib.plots.kernels import touched
from hwlib.plots.machines import rack, ways_to_the_network
from hwlib.plots.memories import memory_pyramid, size_sweep, tile_traffic, warp_sweep
from hwlib.plots.pipelines import pipeline
from hwlib.plots.rooflines import model_against_measured, overlap, ridge_bars, roofline
from hwlib.plots.runs import rounds_grid, timeline
from hwlib.plots.scale import allreduce_scale, blame, levels
from hwlib.plots.shared_memory import banks, cta_pair, rasters
from hwlib.plots.stages import model_on_stages, stage_memory, steps_against_micro, time_and_memory
from hwlib.plots.topologies import node_bandwidths, topology
from hwlib.plots.warps import divergence, threads, warp

__all__ = [
    "against_ranks", "allreduce_scale", "anatomy", "banks", "before_and_after", "beside_a_matmul", "blame",
    "block_scales", "blocks_by_step", "clock_series", "cta_pair", "divergence", "fused_attention", "growth",
    "issuers", "kernel_timeline", "levels", "memory_pyramid", "model_against_measured", "model_on_stages",
    "node_bandwidths", "overlap", "pipeline", "pod", "rack", "rack_exits", "rails_and_racks", "rasters", "ridge_bars",
    "roofline", "rounds_grid", "size_sweep", "stage_memory", "steps_against_micro", "switches_per_gpu", "threads",
    "tile_traffic", "time_and_memory", "timeline", "times_against_size", "topology", "touched", "warp", "warp_sweep",
    "ways_to_the_network",
]  # fmt: skip
