"""Interactive figures of a node: whether links or ports limit it, and the payload's fraction of a packet."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from hwlib.network import HEADERS, payload_fraction, wire_bytes
from hwlib.specs import Node, nodes
from hwlib.specs import links as all_links
from hwlib.topology.counts import crossbar_bisection_bandwidth, node_switch_bandwidth
from hwlib.widgets.charts import VegaLite, chart_style
from hwlib.widgets.live import _text, module_source

NODE_FORMULAS = (node_switch_bandwidth, crossbar_bisection_bandwidth)
PACKETS = {"NVLink": "nvlink", "PCIe": "pcie-64", "InfiniBand": "infiniband", "RoCE v2": "roce-v2"}
COLOURS = ("#2f83c9", "#d55e00", "#009e73", "#b0639a")
BYTES = "replace(format(datum.value, '.3~s'), 'k', 'K') + 'B'"


def node_explorer(node: str = "dgx-h100", choices: Iterable[Node] | None = None) -> Any:
    """The bandwidth of the links of all GPUs and of the switches' ports; the smaller one limits the node.

    Choose a node of the tables, then vary its GPUs, links per GPU and switch chips. `.n`, `.paths`, `.switches` and
    `.node` follow the reader, and can be set. `choices` defaults to every node of the tables that has switches.
    Raises KeyError for a node that is not among them.
    """
    rows = {one.key: _row(one) for one in (nodes.values() if choices is None else choices) if one.switches}
    if node not in rows:
        raise KeyError(f"no node {node!r} with switches; known: {', '.join(rows)}")
    row = rows[node]
    return _explorer()(rows=rows, node=node, n=row["n"], paths=row["paths"], switches=row["switches"])


def _row(one: Node) -> dict[str, Any]:
    """The numbers of a node that the figure needs, as JSON."""
    link = all_links[one.link]
    return {
        "name": one.name,
        "link": link.name,
        "W_link": link.bandwidth,
        "n": one.chips,
        "paths": one.links_per_chip,
        "switches": one.switches,
        "ports": one.switch_ports,
    }


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class NodeExplorer(AnyWidget):
        _esm = module_source("node_explorer", NODE_FORMULAS)
        _css = _text("figure.css")
        rows = traitlets.Dict().tag(sync=True)
        node = traitlets.Unicode().tag(sync=True)
        n = traitlets.Int(min=1).tag(sync=True)
        paths = traitlets.Int(min=1).tag(sync=True)
        switches = traitlets.Int(min=1).tag(sync=True)

        @traitlets.validate("node")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.rows:
                raise traitlets.TraitError(f"unknown node {proposal['value']!r}; known: {', '.join(self.rows)}")
            return proposal["value"]

    return NodeExplorer


def payload_explorer(p: int = 256) -> VegaLite:
    """The payload's fraction of the bytes on four kinds of wire, against the size of a packet and of a message.

    The upper chart has full packets; the lower one messages of any size in packets of p bytes, with a shorter last
    packet. A slider sets p, a power of two from 16 to 4,096. Raises ValueError for any other p.
    """
    steps = p.bit_length() - 1
    if p != 2**steps or not 4 <= steps <= 12:
        raise ValueError(f"payload_explorer: p is a power of two, 16 to 4096 bytes, got {p}")
    rows = [{"wire": name, "h": HEADERS[key].bytes} for name, key in PACKETS.items()]
    whole = payload_fraction.vega_with({"p": "datum.size", "h": "datum.h"})
    part = "datum.size/(" + wire_bytes.vega_with({"S": "datum.size", "p": "p", "h": "datum.h"}) + ")"
    colour = {
        "field": "wire",
        "type": "nominal",
        "title": None,
        "sort": [*PACKETS],
        "scale": {"domain": [*PACKETS], "range": [*COLOURS]},
    }
    dash = {**colour, "scale": {"domain": [*PACKETS], "range": [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]]}}

    def panel(share: str, least: int, most: int, step: float, title: str, height: int) -> dict[str, Any]:
        log = {"type": "log", "base": 2, "domain": [2**least, 2**most]}
        ticks = {"values": [2**k for k in range(least, most + 1, 2)], "labelExpr": BYTES, "title": title}
        x = {"field": "size", "type": "quantitative", "scale": log, "axis": ticks}
        y = {
            "field": "share",
            "type": "quantitative",
            "scale": {"domain": [0, 1]},
            "title": "payload of the wire",
            "axis": {"format": ".0%"},
        }
        return {
            "width": 520,
            "height": height,
            "transform": [
                {"calculate": f"sequence({least}, {most + step / 2}, {step})", "as": "doubled"},
                {"flatten": ["doubled"]},
                {"calculate": "round(pow(2, datum.doubled))", "as": "size"},
                {"calculate": share, "as": "share"},
            ],
            "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 60, "opacity": 0}, "tooltip": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": colour,
                "strokeDash": dash,
                "tooltip": [
                    {"field": "wire"},
                    {"field": "size", "format": ",d", "title": "bytes"},
                    {"field": "share", "format": ".1%", "title": "payload"},
                ],
            },
        }

    rule = {
        "data": {"values": [{}]},
        "transform": [{"calculate": "p", "as": "size"}],
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "currentColor"},
        "encoding": {"x": {"field": "size", "type": "quantitative"}},
    }
    dial = {"input": "range", "min": 4, "max": 12, "step": 1, "name": "payload p of a packet, as a power of two "}
    shares = " + ', ' + ".join(
        f"'{row['wire']} ' + format({payload_fraction.vega_with({'p': 'p', 'h': str(row['h'])})}, '.1%')"
        for row in rows
    )
    return VegaLite(
        {
            "description": (
                "Share of the bytes on a wire that are payload, against the size of a packet and of a message"
            ),
            "title": {
                "text": {"expr": f"['full packets of ' + format(p, ',d') + ' B: ' + {shares}]"},
                "anchor": "start",
            },
            "params": [
                {"name": "power", "value": steps, "bind": dial},
                {"name": "p", "expr": "pow(2, power)"},
            ],
            "data": {"values": rows},
            "spacing": 12,
            "vconcat": [
                {"layer": [panel(whole, 4, 12, 0.25, "payload of a packet", 190), rule]},
                panel(part, 4, 20, 0.0625, "message, in packets of p", 150),
            ],
            "config": chart_style(),
        }
    )
