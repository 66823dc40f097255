"""Collectives across nodes, as interactive charts: an axis with others inside it, and an all-to-all that grows."""

from collections.abc import Mapping
from typing import Any

from hwlib.collectives import nodes_alltoall_time, outer_axis_allgather_time
from hwlib.specs import nodes
from hwlib.widgets.charts import COLOURS, VegaLite, chart_style

NODES = ("dgx-h100", "dgx-b200", "gb200-nvl72")
GROUPS = (1, 2, 4, 32, 128)  # nodes, one curve each
MOST = 1024  # nodes up to which the all-to-all grows
RATE = "format(datum.value/1e9, ',.4~r') + ' GB/s'"


def axis_explorer(node: str = "dgx-h100") -> VegaLite:
    """S/t of an all-gather along an axis that has Y ranks of other axes inside it, against Y, for several sizes.

    Choose the node; S is the array before the inner axes split it. Raises KeyError for a node that it does not have.
    """
    computed = [
        {"calculate": "sequence(0, 12.01, 0.125)", "as": "log_Y"},
        {"flatten": ["log_Y"]},
        {"calculate": "pow(2, datum.log_Y)", "as": "Y"},
        {"filter": "datum.Y <= n_in*datum.n_out/2"},
        {"calculate": _by_row(outer_axis_allgather_time, S="1"), "as": "time"},
        {"filter": "datum.time > 0"},
        {"calculate": "1/datum.time", "as": "rate"},
        {"calculate": "datum.n_out + (datum.n_out > 1 ? ' nodes' : ' node')", "as": "size"},
    ]
    order = [f"{n} node{'s' * (n > 1)}" for n in GROUPS]
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2]]

    def style(values: list[Any]) -> dict[str, Any]:  # with one domain, colours and dashes share a legend
        return {"field": "size", "type": "nominal", "title": "together", "scale": {"domain": order, "range": values}}

    line = {
        "transform": computed,
        "mark": {"type": "line", "strokeWidth": 2.5, "point": {"size": 60, "opacity": 0}, "tooltip": True},
        "encoding": {
            "x": {
                "field": "Y",
                "type": "quantitative",
                "scale": {"type": "log", "base": 2},
                "title": "Y, ranks of other axes inside",
                "axis": {"values": [2**k for k in range(13)]},
            },
            "y": {
                "field": "rate",
                "type": "quantitative",
                "scale": {"type": "log"},
                "title": "S/t of the all-gather",
                "axis": {"labelExpr": RATE},
            },
            "color": style([*COLOURS, "#cc79a7", "#7f7f7f"]),
            "strokeDash": style(dashes),
            "tooltip": [
                {"field": "size", "title": "together"},
                {"field": "Y", "format": ",.1f"},
                {"field": "rate", "format": ".4s", "title": "S/t [B/s]"},
            ],
        },
    }
    rule = {
        "data": {"values": [{}]},
        "transform": [{"calculate": "n_in", "as": "Y"}],
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "currentColor"},
        "encoding": {"x": {"field": "Y", "type": "quantitative"}},
    }
    title = (
        "'up to Y = ' + n_in + ', one node, inner ranks do not make the network faster; from then on it gains "
        "in proportion'"
    )
    return VegaLite(
        {
            "description": "Bandwidth of an all-gather along an axis against the ranks of other axes inside it",
            "title": {"text": {"expr": title}, "anchor": "start"},
            "params": [*_machine(node), {"name": "W_out", "expr": "egress/n_in"}],
            "data": {"values": [{"n_out": n} for n in GROUPS]},
            "width": 520,
            "height": 280,
            "layer": [line, rule],
            "config": chart_style(),
        }
    )


def alltoall_scale_explorer(node: str = "dgx-h100") -> VegaLite:
    """Bytes per second of each GPU in an all-to-all, and S/t of an all-gather, against the number of nodes.

    Choose the node, and an oversubscription of the network above the nodes, which applies from two nodes on.
    Raises KeyError for a node that it does not have.
    """
    what = ("all-gather: S/t", "all-to-all: per GPU")
    gather = _by_row(outer_axis_allgather_time, S="1", Y="1")
    exchange = _by_row(nodes_alltoall_time, S="1")
    computed = [
        {"calculate": "sequence(0, 10.01, 0.125)", "as": "log_nodes"},
        {"flatten": ["log_nodes"]},
        {"calculate": "pow(2, datum.log_nodes)", "as": "n_out"},
        {"calculate": f"datum.exchange ? n_in*datum.n_out*({exchange}) : {gather}", "as": "time"},
        {"calculate": "1/datum.time", "as": "rate"},
    ]

    def style(values: list[Any]) -> dict[str, Any]:
        return {"field": "what", "type": "nominal", "title": None, "scale": {"domain": [*what], "range": values}}

    scale = {"type": "log", "base": 2}
    title = (
        "2*egress/omega >= W_in*n_in/(n_in - 1) ? 'from one node to two, only the all-to-all falls' : "
        "'so narrow a network slows both down from the second node on'"
    )
    return VegaLite(
        {
            "description": "Bandwidth of an all-gather, and of each GPU in an all-to-all, against the number of nodes",
            "title": {"text": {"expr": title}, "anchor": "start"},
            "params": [
                *_machine(node),
                {
                    "name": "omega",
                    "value": 1,
                    "bind": {"input": "range", "min": 1, "max": 8, "step": 1, "name": "oversubscription "},
                },
                {"name": "W_out", "expr": "egress/n_in/omega"},
            ],
            "data": {"values": [{"what": name, "exchange": i} for i, name in enumerate(what)]},
            "transform": computed,
            "width": 520,
            "height": 280,
            "mark": {"type": "line", "strokeWidth": 2.5, "point": {"size": 60, "opacity": 0}, "tooltip": True},
            "encoding": {
                "x": {
                    "field": "n_out",
                    "type": "quantitative",
                    "scale": scale,
                    "title": "nodes",
                    "axis": {"values": [2**k for k in range(11)]},
                },
                "y": {
                    "field": "rate",
                    "type": "quantitative",
                    "scale": {"type": "log"},
                    "title": "bandwidth",
                    "axis": {"labelExpr": RATE},
                },
                "color": style([*COLOURS[:2]]),
                "strokeDash": style([[1, 0], [6, 3]]),
                "tooltip": [
                    {"field": "what", "title": "of"},
                    {"field": "n_out", "format": ",.1f", "title": "nodes"},
                    {"field": "rate", "format": ".4s", "title": "B/s"},
                ],
            },
            "config": chart_style(),
        }
    )


def _machine(node: str) -> list[dict[str, Any]]:
    """The parameters of a node: its GPUs, the bandwidth of each inside it, and of all together to the network."""
    if node not in NODES:
        raise KeyError(f"no node {node!r} in this chart; known: {', '.join(NODES)}")
    rows = {key: nodes[key] for key in NODES}
    choice = {"input": "select", "options": [*rows], "labels": [one.name for one in rows.values()], "name": "node "}

    def table(values: Mapping[str, float | None]) -> str:
        return f"({dict(values)})[node]"

    return [
        {"name": "node", "value": node, "bind": choice},
        {"name": "n_in", "expr": table({key: one.chips for key, one in rows.items()})},
        {"name": "W_in", "expr": table({key: one.scaleup_bandwidth for key, one in rows.items()})},
        {"name": "egress", "expr": table({key: one.network_bandwidth for key, one in rows.items()})},
    ]


def _by_row(f: Any, **parts: str) -> str:
    """A formula over a row's nodes and inner ranks; other symbols are parameters."""
    letters = {"n_out": "datum.n_out", "Y": "datum.Y", **parts}
    return f.vega_with({letter: text for letter, text in letters.items() if letter in f.args})
