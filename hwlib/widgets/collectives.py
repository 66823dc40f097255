"""Interactive charts of collectives: the fastest all-reduce at each size, and the number of ranks a token goes to."""

from collections.abc import Mapping
from typing import Any

from hwlib.collectives import (
    destination_fraction,
    destination_fraction_limit,
    direct_allreduce_time,
    halving_doubling_allreduce_time,
    one_shot_allreduce_time,
    ring_allreduce_time,
    ring_tree_crossover_bytes,
    tree_allreduce_time,
)
from hwlib.widgets.charts import VegaLite, chart_style

ALLREDUCES = {
    "ring": ring_allreduce_time,
    "tree": tree_allreduce_time,
    "halving/doubling": halving_doubling_allreduce_time,
    "direct, two shots": direct_allreduce_time,
    "direct, one shot": one_shot_allreduce_time,
}
FRACTIONS = {"exact": destination_fraction, "k copies": destination_fraction_limit}
COLOURS = ("#2f83c9", "#d55e00", "#009e73", "#b0639a", "#56b4e9")
SECONDS = "replace(format(datum.value, '~s'), 'µ', 'u') + 's'"
BYTES = "replace(format(datum.value, '.3~s'), 'k', 'K') + 'B'"
GB = 1e9


def allreduce_explorer(n: int = 8, alpha: float = 6e-6, W: float = 450 * GB) -> VegaLite:
    """The time of five all-reduces against the size, with sliders for the ranks, a step's latency and the bandwidth.

    A dashed rule marks the size from which on the ring is faster than the tree. Raises ValueError unless the number of
    ranks is a power of two from 2 to 1,024.
    """
    steps = n.bit_length() - 1
    if n != 2**steps or not 1 <= steps <= 10:
        raise ValueError(f"allreduce_explorer: n is a power of two, 2 to 1024, got {n}")
    params: list[dict[str, Any]] = [
        {"name": "doublings", "value": steps, "bind": _slider("ranks n, as a power of two ", 1, 10, 1)},
        {"name": "latency", "value": alpha * 1e6, "bind": _slider("latency α of a step, us ", 0.5, 50, 0.5)},
        {"name": "bandwidth", "value": W / GB, "bind": _slider("bandwidth W of a port, GB/s ", 10, 900, 10)},
        {"name": "n", "expr": "pow(2, doublings)"},
        {"name": "alpha", "expr": "latency * 1e-6"},
        {"name": "W", "expr": "bandwidth * 1e9"},
        {"name": "crossover", "expr": ring_tree_crossover_bytes.vega},
    ]
    computed = [
        {"calculate": "sequence(6, 32.01, 0.25)", "as": "doubled"},
        {"flatten": ["doubled"]},
        {"calculate": "pow(2, datum.doubled)", "as": "size"},
        {"calculate": _chosen("algorithm", ALLREDUCES, S="datum.size"), "as": "time"},
    ]
    size = {"type": "log", "base": 2, "domain": [64, 2**32]}
    ticks = {"values": [16.0**k / 4 for k in range(2, 9)], "labelExpr": BYTES, "title": "size S of a rank's array"}
    time = {"type": "log", "domain": [5e-7, 1]}  # fixed: what the sliders do not move stays where it is
    decades = {"values": [10.0**k for k in range(-6, 1)], "labelExpr": SECONDS, "title": "time"}
    curves = {
        "transform": computed,
        "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 60, "opacity": 0}, "tooltip": True, "clip": True},
        "encoding": {
            "x": {"field": "size", "type": "quantitative", "scale": size, "axis": ticks},
            "y": {"field": "time", "type": "quantitative", "scale": time, "axis": decades},
            "color": _colour("algorithm", ALLREDUCES),
            "strokeDash": _dashes("algorithm", ALLREDUCES),
            "tooltip": [
                {"field": "algorithm"},
                {"field": "size", "format": ".3~s", "title": "size [B]"},
                {"field": "time", "format": ".3~s", "title": "time [s]"},
            ],
        },
    }
    rule = {
        "data": {"values": [{}]},
        "transform": [{"calculate": "crossover", "as": "size"}, {"filter": "datum.size > 64"}],
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "currentColor"},
        "encoding": {"x": {"field": "size", "type": "quantitative"}},
    }
    headline = (
        "['n = ' + format(n, ',d') + ', α = ' + latency + ' us, W = ' + bandwidth + ' GB/s', "
        "crossover > 64 ? 'the ring beats the tree from ' + "
        "replace(replace(format(crossover, '.3~s'), /([a-zA-Z]?)$/, ' $1'), 'k', 'K') + 'B on' : "
        "'the ring is never slower than the tree']"
    )
    return VegaLite(
        {
            "description": "Time of five all-reduce algorithms against the size of the array",
            "title": {"text": {"expr": headline}, "anchor": "start"},
            "params": params,
            "data": {"values": [{"algorithm": name} for name in ALLREDUCES]},
            "width": 520,
            "height": 300,
            "layer": [curves, rule],
            "config": chart_style(),
        }
    )


def destinations_explorer(k: int = 8) -> VegaLite:
    """The fraction of n ranks that a token with k experts goes to, exactly and counting k copies, against n.

    A second chart shows by how much the approximation is too high. A slider sets k.
    """
    if not 1 <= k <= 16:
        raise ValueError(f"destinations_explorer: k is 1 to 16 experts, got {k}")
    exact, copies = (f.vega_with({"n": "datum.ranks"}) for f in FRACTIONS.values())
    computed = [
        {"calculate": "sequence(1, 10.01, 0.125)", "as": "doubled"},
        {"flatten": ["doubled"]},
        {"calculate": "pow(2, datum.doubled)", "as": "ranks"},
    ]
    share = {"calculate": _chosen("counting", FRACTIONS, n="datum.ranks"), "as": "share"}
    excess = {"calculate": f"({copies})/({exact}) - 1", "as": "excess"}
    ticks = {"values": [2**i for i in range(1, 11)], "format": ",d"}
    scale = {"type": "log", "base": 2, "domain": [2, 1024]}

    def panel(calculate: dict[str, str], title: str, colour: dict[str, Any], ranks: str | None, low: str) -> Any:
        field = calculate["as"]
        x = {"field": "ranks", "type": "quantitative", "scale": scale, "axis": {**ticks, "title": ranks}}
        tooltip = [{"field": "ranks", "format": ".1f"}, {"field": field, "format": low, "title": title}]
        return {
            "transform": [*computed, calculate],
            "width": 520,
            "height": 190 if ranks is None else 120,
            "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 60, "opacity": 0}, "tooltip": True},
            "encoding": {
                "x": x,
                "y": {"field": field, "type": "quantitative", "title": title, "axis": {"format": low}},
                "tooltip": tooltip,
                **colour,
            },
        }

    colour = {"color": _colour("counting", FRACTIONS), "strokeDash": _dashes("counting", FRACTIONS)}
    above = panel(share, "share of the ranks visited", colour, None, ".0%")
    below = panel(excess, "k copies are too many by", {}, "ranks n", "+.0%")
    below |= {"data": {"values": [{}]}, "mark": {**below["mark"], "color": COLOURS[1]}}
    at_eight = ", ".join(f"{name} ' + format({f.vega_with({'n': '8'})}, '.1%') + '" for name, f in FRACTIONS.items())
    return VegaLite(
        {
            "description": "Share of the ranks that a token visits, exactly and as k copies, against the ranks",
            "title": {
                "text": {"expr": f"['k = ' + k + ' experts a token; on 8 ranks: {at_eight}']"},
                "anchor": "start",
            },
            "params": [{"name": "k", "value": k, "bind": _slider("experts a token k ", 1, 16, 1)}],
            "data": {
                "values": [{"counting": name} for name in FRACTIONS]
            },  # vega counts in a field named "count" itself
            "spacing": 12,
            "vconcat": [above, below],
            "config": chart_style(),
        }
    )


def _slider(label: str, least: float, most: float, step: float) -> dict[str, Any]:
    return {"input": "range", "min": least, "max": most, "step": step, "name": label}


def _chosen(field: str, formulas: Mapping[str, Any], **letters: str) -> str:
    """The value of the formula named in a row's field, as one vega expression."""
    *first, last = [(name, f.vega_with(letters)) for name, f in formulas.items()]
    return "".join(f"datum.{field} == '{name}' ? ({text}) : " for name, text in first) + f"({last[1]})"


def _colour(field: str, names: Mapping[str, Any]) -> dict[str, Any]:
    scale = {"domain": [*names], "range": [*COLOURS[: len(names)]]}
    return {"field": field, "type": "nominal", "title": None, "sort": [*names], "scale": scale}


def _dashes(field: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """A dash pattern for each name, so that the curves differ without colours too."""
    dashes = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 2]]
    scale = {"domain": [*names], "range": dashes[: len(names)]}
    return {"field": field, "type": "nominal", "title": None, "sort": [*names], "scale": scale}
