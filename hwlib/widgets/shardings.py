"""Interactive figures of sharded products: letters on the axes of two matrices, and a sum split among devices."""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

from hwlib.collectives import ring_reduce_scatter_time
from hwlib.roofline import compute_time, matmul_flops
from hwlib.sharding import Mesh, Sharded, moves_between
from hwlib.specs import accelerators, nodes
from hwlib.widgets.charts import COLOURS, VegaLite, chart_style
from hwlib.widgets.live import _text, module_source

MACHINES = {"dgx-h100": "h100-sxm", "dgx-b200": "b200-sxm", "gb200-nvl72": "b200-sxm"}
_MESH, _SHAPE = Mesh(X=2, Y=3), {"I": 36, "J": 36}  # sizes by which the axes that divide an array can be told apart


def sharding_explorer(
    AI: str = "X",
    AJ: str = "Y",
    BJ: str = "Y",
    BK: str = "",
    node: str = "dgx-h100",
    I: int = 65536,
    J: int = 8192,
    K: int = 8192,
) -> Any:
    """A product A[I, J] . B[J, K] with the letters X (across nodes) and Y (inside a node) on its dimensions.

    Drag the letters, or pick one and then a place. The figure draws one device's parts, and tells the fastest way to
    multiply, its collectives, their bytes and the time on the levels of a cluster. `.AI`, `.AJ`, `.BJ`, `.BK` are the
    letters on a dimension, and follow the reader. Raises KeyError for a node that it does not have, and ValueError for
    letters that are on two dimensions of one array.
    """
    if node not in MACHINES:
        raise KeyError(f"no node {node!r} in this figure; known: {', '.join(MACHINES)}")
    for name, (first, second) in {"A": (AI, AJ), "B": (BJ, BK)}.items():
        if set(first + second) - {"X", "Y"} or len(set(first + second)) != len(first + second):
            raise ValueError(f"{name} has each of the letters X and Y once at most, got {first!r} and {second!r}")
    known = {key: _machine(key, chip) for key, chip in MACHINES.items()}
    return _explorer()(
        clusters=known,
        moves=moves(),
        cluster=node,
        AI=AI,
        AJ=AJ,
        BJ=BJ,
        BK=BK,
        I=I,
        J=J,
        K=K,
        nodes=4,
        ends="scatter",
        device=0,
    )


def _machine(key: str, chip: str) -> dict[str, Any]:
    """The numbers of a node that the figure needs, as JSON."""
    node = nodes[key]
    return {
        "name": node.name,
        "Y": node.chips,
        "W_in": node.scaleup_bandwidth,
        "W_node": node.network_bandwidth,
        "C": accelerators[chip].bf16_flops,
    }


@cache
def moves() -> dict[str, list[list[str]]]:
    """The moves between all placements of X and Y on a matrix, "from>to" with the dimension that X and Y split: "1-".

    A move is a collective, the axes of its group, and the axes that divide the array beside those.
    """
    placements = ["".join(roles) for roles in product("-01", repeat=2)]
    return {f"{a}>{b}": [*_moves(a, b)] for a, b in product(placements, repeat=2)}


def _moves(before: str, after: str) -> Iterator[list[str]]:
    for move in moves_between(_matrix(before), _matrix(after), _MESH, _SHAPE):
        if move.op != "slice":
            rest = next(axes for axes in ("", "X", "Y", "XY") if _MESH.size(axes) * move.bytes == 2 * 36 * 36)
            yield [move.op, "".join(move.axes), rest]


def _matrix(roles: str) -> Sharded:
    """A matrix of which X and Y split the dimension of that number, or none."""
    dims = (tuple(axis for axis, role in zip(_MESH, roles, strict=True) if role == place) for place in "01")
    return Sharded("A", tuple(zip(("I", "J"), dims, strict=True)))


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class ShardingExplorer(AnyWidget):
        _esm = module_source("sharding_explorer", ())
        _css = _text("figure.css")
        clusters = traitlets.Dict().tag(sync=True)
        moves = traitlets.Dict().tag(sync=True)
        cluster = traitlets.Unicode().tag(sync=True)
        AI = traitlets.Unicode().tag(sync=True)
        AJ = traitlets.Unicode().tag(sync=True)
        BJ = traitlets.Unicode().tag(sync=True)
        BK = traitlets.Unicode().tag(sync=True)
        I = traitlets.Int(min=1).tag(sync=True)
        J = traitlets.Int(min=1).tag(sync=True)
        K = traitlets.Int(min=1).tag(sync=True)
        nodes = traitlets.Int(min=1).tag(sync=True)
        ends = traitlets.Enum(["scatter", "everywhere", "open"]).tag(sync=True)
        device = traitlets.Int(min=0).tag(sync=True)

        @traitlets.validate("cluster")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.clusters:
                raise traitlets.TraitError(f"unknown node {proposal['value']!r}; known: {', '.join(self.clusters)}")
            return proposal["value"]

    return ShardingExplorer


def contracting_explorer(node: str = "dgx-h100", n: int = 2) -> VegaLite:
    """Arithmetic and reduce-scatter of a product [B, D] x [D, F] whose sum over D is split among n devices, against D.

    The product has F = 8,192 outputs. Where more devices are chosen than a node has, the title says that its links
    are those of a larger switch.

    Choose the machine, and whether the devices are joined inside a node or through a card each; slide n and B.
    Raises KeyError for a node that it does not have, ValueError for n that is no power of two from 2 to 64.
    """
    if node not in MACHINES:
        raise KeyError(f"no node {node!r} in this chart; known: {', '.join(MACHINES)}")
    if n not in (2, 4, 8, 16, 32, 64):
        raise ValueError(f"contracting_explorer: n is a power of two, 2 to 64, got {n}")
    rows = {key: _machine(key, chip) for key, chip in MACHINES.items()}
    inside = {key: row["W_in"] for key, row in rows.items()}
    through = {key: row["W_node"] / row["Y"] for key, row in rows.items()}
    seats = {key: row["Y"] for key, row in rows.items()}
    what = ("arithmetic", "reduce-scatter")
    work = matmul_flops.vega_with({"B": "B", "D": "datum.D", "F": "8192"})
    scatter = ring_reduce_scatter_time.vega_with({"n": "n", "S": "(2*B*8192)", "alpha": "0", "W": "W"})
    arithmetic = compute_time.vega_with({"flops": f"(({work})/n)", "C": "C"})
    params = [
        {
            "name": "node",
            "value": node,
            "bind": {
                "input": "select",
                "options": [*rows],
                "labels": [row["name"] for row in rows.values()],
                "name": "node ",
            },
        },
        {
            "name": "way",
            "value": "inside",
            "bind": {
                "input": "select",
                "options": ["inside", "card"],
                "labels": ["links of the node", "a card each"],
                "name": "joined by ",
            },
        },
        {
            "name": "power",
            "value": n.bit_length() - 1,
            "bind": {"input": "range", "min": 1, "max": 6, "step": 1, "name": "devices, as a power of two "},
        },
        {
            "name": "batch",
            "value": 13,
            "bind": {"input": "range", "min": 6, "max": 18, "step": 1, "name": "tokens, as a power of two "},
        },
        {"name": "n", "expr": "pow(2, power)"},
        {"name": "B", "expr": "pow(2, batch)"},
        {"name": "C", "expr": f"({ {key: row['C'] for key, row in rows.items()} })[node]"},
        {"name": "W", "expr": f"way === 'inside' ? ({inside})[node] : ({through})[node]"},
    ]

    def style(values: list[Any]) -> dict[str, Any]:
        return {"field": "what", "type": "nominal", "title": None, "scale": {"domain": [*what], "range": values}}

    title = "n + ' devices, ' + format(B, ',') + ' tokens, F = 8,192'"
    wires = f"way === 'inside' && n > ({seats})[node] ? ', as if one node had so many' : ''"
    each = f"format(W/1e9, ',.3~r') + ' GB/s each' + ({wires})"
    return VegaLite(
        {
            "description": "Time of arithmetic and of a reduce-scatter against the width of a split sum",
            "title": {"text": {"expr": title}, "subtitle": {"expr": each}, "anchor": "start"},
            "params": params,
            "data": {"values": [{"what": name, "sum": i} for i, name in enumerate(what)]},
            "transform": [
                {"calculate": "sequence(8, 20.01, 0.25)", "as": "doubled"},
                {"flatten": ["doubled"]},
                {"calculate": "pow(2, datum.doubled)", "as": "D"},
                {"calculate": f"datum.sum ? ({scatter}) : ({arithmetic})", "as": "time"},
            ],
            "width": 520,
            "height": 260,
            "mark": {
                "type": "line",
                "strokeWidth": 2.5,
                "point": {"size": 60, "opacity": 0},
                "tooltip": True,
                "clip": True,
            },
            "encoding": {
                "x": {
                    "field": "D",
                    "type": "quantitative",
                    "scale": {"type": "log", "base": 2},
                    "title": "D, the sum",
                    "axis": {"values": [4**k for k in range(4, 11)], "format": ",d"},
                },
                "y": {
                    "field": "time",
                    "type": "quantitative",
                    "title": "time",
                    "scale": {"type": "log", "domain": [1e-7, 10]},
                    "axis": {
                        "values": [1e-7 * 10**k for k in range(9)],
                        "labelExpr": "format(datum.value*1e6, ',.4~r') + ' us'",
                    },
                },
                "color": style([*COLOURS[:2]]),
                "strokeDash": style([[1, 0], [6, 3]]),
                "tooltip": [
                    {"field": "what", "title": "of"},
                    {"field": "D", "format": ",.0f"},
                    {"field": "time", "format": ".3s", "title": "s"},
                ],
            },
            "config": chart_style(),
        }
    )
