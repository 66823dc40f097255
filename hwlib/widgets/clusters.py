"""Interactive figures of clusters: design a fat tree; hash flows; see what is lost when switches fail."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from hwlib.specs import links
from hwlib.topology import (
    allreduce_left_fraction,
    allreduce_spare_switches,
    alltoall_left_fraction,
    alltoall_spare_switches,
    down_ports,
    idle_cable_fraction,
    spines_left_fraction,
    tree_bisection_bandwidth,
    tree_core_switches,
    tree_leaf_switches,
    tree_spine_switches,
    tree_tiers,
    up_ports,
)
from hwlib.widgets.charts import VegaLite, chart_style
from hwlib.widgets.live import _text, module_source

DESIGN_FORMULAS = (
    up_ports,
    down_ports,
    tree_tiers,
    tree_leaf_switches,
    tree_spine_switches,
    tree_core_switches,
    tree_bisection_bandwidth,
)
CABLES = ("hdr", "ndr", "xdr", "ethernet-100g", "ethernet-400g", "ethernet-800g")
LEFT = {
    "bisection": spines_left_fraction,
    "all-to-all": alltoall_left_fraction,
    "all-reduce": allreduce_left_fraction,
}
COLOURS = ("#2f83c9", "#d55e00", "#009e73")
DASHES = ([1, 0], [6, 3], [2, 2])


def fat_tree_designer(hosts: int = 1024, ports: int = 64, omega: int = 1, link: str = "ndr") -> Any:
    """Tiers, switches, cables and bisection of a fat tree of equal switches, for a number of GPUs with a card each.

    `omega` is the oversubscription of the highest tier below the top. Counts are the fewest that the ports allow;
    they equal those of `plan` wherever cables can be distributed evenly. In a notebook `.hosts`, `.ports`, `.omega` and
    `.link` follow the reader, and can be set. Raises KeyError for a cable that the figure does not have.
    """
    rows = {key: {"name": links[key].name.partition(",")[0], "W": links[key].bandwidth} for key in CABLES}
    if link not in rows:
        raise KeyError(f"no cable {link!r} in this figure; known: {', '.join(rows)}")
    return _designer()(links=rows, hosts=hosts, ports=ports, omega=omega, link=link)


@cache
def _designer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class FatTreeDesigner(AnyWidget):
        _esm = module_source("fat_tree_designer", DESIGN_FORMULAS)
        _css = _text("figure.css")
        links = traitlets.Dict().tag(sync=True)
        hosts = traitlets.Int(min=2).tag(sync=True)
        ports = traitlets.Int(min=4).tag(sync=True)
        omega = traitlets.Int(min=1).tag(sync=True)
        link = traitlets.Unicode().tag(sync=True)

        @traitlets.validate("link")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.links:
                raise traitlets.TraitError(f"unknown cable {proposal['value']!r}; known: {', '.join(self.links)}")
            return proposal["value"]

    return FatTreeDesigner


def flow_explorer(cards: int = 32, cables: int = 32, each: int = 1, how: str = "hash", draw: int = 1) -> Any:
    """The connections of a leaf's cards on its cables up: where a hash puts them, and how slow the fullest cable is.

    Choose hashing or spraying, slide the connections `each` card opens, and draw again: *Play* does so every second.
    `draw` fixes the random numbers. In a notebook all of them follow the reader, and can be set. Raises ValueError
    for a way to pick that the figure does not have, or without cards or cables.
    """
    if how not in ("hash", "spray"):
        raise ValueError(f"flow_explorer: how is 'hash' or 'spray', got {how!r}")
    if cards < 1 or cables < 1:
        raise ValueError(f"flow_explorer: at least one card and one cable, got {cards} and {cables}")
    return _flows()(cards=cards, cables=cables, each=each, how=how, draw=draw)


@cache
def _flows() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class FlowExplorer(AnyWidget):
        _esm = module_source("flow_explorer", (idle_cable_fraction,))
        _css = _text("figure.css")
        cards = traitlets.Int(min=1).tag(sync=True)
        cables = traitlets.Int(min=1).tag(sync=True)
        each = traitlets.Int(min=1).tag(sync=True)
        how = traitlets.Enum(["hash", "spray"]).tag(sync=True)
        draw = traitlets.Int(min=0).tag(sync=True)

    return FlowExplorer


def failures_explorer(
    spines: int = 16, groups: int = 4, nodes: int = 32, omega: int = 1, of: Iterable[str] = tuple(LEFT)
) -> VegaLite:
    """The remaining bandwidth of the bisection and of two collectives as spines of a two-tier tree fail.

    Slide the spines, the groups of nodes below them, the nodes of a group and the oversubscription. The collectives
    are relative to the bandwidth of the network cards, so an oversubscribed tree begins below 1; routing is ideal.
    `of` says which curves to draw. Raises KeyError for one that there is not.
    """
    left = {name: LEFT[name] for name in of}
    params = [
        {"name": "switches", "value": spines, "bind": _slider("spines ", 2, 64, 1)},
        {"name": "d", "value": groups, "bind": _slider("groups of nodes ", 2, 16, 1)},
        *(
            [{"name": "n_out", "value": nodes, "bind": _slider("nodes in a group ", 2, 64, 1)}]
            if "all-reduce" in left
            else []
        ),
        {"name": "omega", "value": omega, "bind": _slider("oversubscription ", 1, 8, 1)},
    ]
    computed = [
        {"calculate": "sequence(0, switches + 1, 1)", "as": "dead"},
        {"flatten": ["dead"]},
        *({"calculate": f.vega_with({"dead": "datum.dead"}), "as": name} for name, f in left.items()),
        {"calculate": "datum.bisection / omega", "as": "bisection"},
        {"fold": [*left], "as": ["what", "left"]},
    ]
    scale = {"domain": [*left]}
    colours, dashes = COLOURS[: len(left)], DASHES[: len(left)]
    curves = {
        "mark": {"type": "line", "strokeWidth": 2.5, "point": {"size": 45}, "tooltip": True},
        "encoding": {
            "x": {
                "field": "dead",
                "type": "quantitative",
                "title": "spines that have failed",
                "axis": {"tickMinStep": 1},
            },
            "y": {
                "field": "left",
                "type": "quantitative",
                "title": "left, of what the cards could send",
                "scale": {"domain": [0, 1.02]},
                "axis": {"format": ".0%"},
            },
            "color": {"field": "what", "type": "nominal", "title": None, "scale": {**scale, "range": [*colours]}},
            "strokeDash": {"field": "what", "type": "nominal", "title": None, "scale": {**scale, "range": [*dashes]}},
            "tooltip": [
                {"field": "what", "title": "of"},
                {"field": "dead", "title": "dead spines"},
                {"field": "left", "format": ".1%", "title": "left"},
            ],
        },
    }
    return VegaLite(
        {
            "description": f"What is left of {', '.join(left)} as spines fail",
            "title": {"text": {"expr": _free(left)}, "anchor": "start"},
            "params": params,
            "data": {"values": [{}]},
            "transform": computed,
            "width": 520,
            "height": 260,
            **curves,
            "config": chart_style(),
        }
    )


def _free(of: Iterable[str]) -> str:
    """The vega expression of the title: how many spines may fail before each collective slows down."""
    spare = {"all-to-all": alltoall_spare_switches.vega, "all-reduce": allreduce_spare_switches.vega}
    lines = [
        f"'{name}: ' + ({spare[name]}) + ' of ' + switches + ' spines may fail unnoticed'"
        for name in of
        if name in spare
    ]
    return f"[{', '.join(lines)}]"


def _slider(label: str, low: int, high: int, step: int) -> dict[str, Any]:
    return {"input": "range", "min": low, "max": high, "step": step, "name": label}
