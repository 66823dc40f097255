"""Interactive figures, in JupyterLab and in a page without a kernel.

There are two kinds: `roofline_explorer` is an anywidget, whose values Python can also read and set;
`intensity_explorer` is a vega-lite chart with bound sliders. Both compute in the browser, from the JavaScript or vega
reading of the formulas that the text uses. Neither contacts another host, and the state of both is JSON.
"""

from hwlib.widgets.charts import VegaLite, intensity_explorer
from hwlib.widgets.chips import chip_explorer, peak_explorer
from hwlib.widgets.clusters import failures_explorer, fat_tree_designer, flow_explorer
from hwlib.widgets.collectives import allreduce_explorer, destinations_explorer
from hwlib.widgets.decode_step import decode_explorer
from hwlib.widgets.decoding import drafts_explorer, fit_explorer
from hwlib.widgets.engine import engine_explorer
from hwlib.widgets.experts import expert_explorer
from hwlib.widgets.goodput import goodput_explorer
from hwlib.widgets.imbalance import expert_width_explorer, imbalance_explorer
from hwlib.widgets.kernels import kernel_explorer
from hwlib.widgets.layers import context_explorer, layer_explorer, tp_limit_explorer
from hwlib.widgets.live import roofline_explorer
from hwlib.widgets.machines import machine_explorer
from hwlib.widgets.mixtures import mixture_explorer
from hwlib.widgets.node import node_explorer, payload_explorer
from hwlib.widgets.occupancy import occupancy_explorer
from hwlib.widgets.pipelines import bubble_explorer, microbatch_explorer, schedule_editor
from hwlib.widgets.plans import plan_explorer
from hwlib.widgets.queues import wait_explorer
from hwlib.widgets.ring import ring_player
from hwlib.widgets.ring_breaker import ring_breaker
from hwlib.widgets.scale import alltoall_scale_explorer, axis_explorer
from hwlib.widgets.shardings import contracting_explorer, sharding_explorer
from hwlib.widgets.stages import stages_explorer
from hwlib.widgets.tiles import tile_explorer
from hwlib.widgets.token import latent_explorer, token_explorer
from hwlib.widgets.traces import trace_explorer
from hwlib.widgets.training import critical_batch_explorer, memory_explorer

__all__ = [
    "VegaLite",
    "allreduce_explorer",
    "alltoall_scale_explorer",
    "axis_explorer",
    "bubble_explorer",
    "chip_explorer",
    "context_explorer",
    "contracting_explorer",
    "critical_batch_explorer",
    "decode_explorer",
    "destinations_explorer",
    "drafts_explorer",
    "engine_explorer",
    "expert_explorer",
    "expert_width_explorer",
    "failures_explorer",
    "fat_tree_designer",
    "fit_explorer",
    "flow_explorer",
    "goodput_explorer",
    "imbalance_explorer",
    "intensity_explorer",
    "kernel_explorer",
    "latent_explorer",
    "layer_explorer",
    "machine_explorer",
    "memory_explorer",
    "microbatch_explorer",
    "mixture_explorer",
    "node_explorer",
    "occupancy_explorer",
    "payload_explorer",
    "peak_explorer",
    "plan_explorer",
    "ring_breaker",
    "ring_player",
    "roofline_explorer",
    "schedule_editor",
    "sharding_explorer",
    "stages_explorer",
    "tile_explorer",
    "token_explorer",
    "tp_limit_explorer",
    "trace_explorer",
    "wait_explorer",
]
