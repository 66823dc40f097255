"""Static figures: functions that take records and numbers, and return a matplotlib Figure.

What is drawn is computed elsewhere in hwlib; nothing is computed here but where ink goes. A figure shows
itself in a notebook as SVG and touches no global state: no pyplot, no backend. Series differ in marker and in
colour, of the Okabe-Ito set, which colour-blind readers can tell apart.
"""

from hwlib.plots.rooflines import model_against_measured, overlap, ridge_bars, roofline
from hwlib.plots.runs import rounds_grid, timeline
from hwlib.plots.topologies import node_bandwidths, topology

__all__ = [
    "model_against_measured", "node_bandwidths", "overlap", "ridge_bars", "roofline", "rounds_grid", "timeline",
    "topology",
]  # fmt: skip
