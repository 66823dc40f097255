"""Figures of experts: how far the busiest rank is off, and how wide an expert has to be for its messages to hide."""

from typing import Any

from hwlib.parallel import drawn_spread, ep_critical_width
from hwlib.specs import models
from hwlib.widgets.charts import COLOURS, VegaLite, chart_style

SHOWN = ("mixtral-8x7b", "gpt-oss-120b", "deepseek-v3", "qwen3-235b-a22b", "qwen3-30b-a3b")


def _slider(name: str, low: float, high: float, step: float) -> dict[str, Any]:
    return {"input": "range", "min": low, "max": high, "step": step, "name": name}


def imbalance_explorer(ranks: int = 32, k: int = 8, preference: float = 0.2) -> VegaLite:
    """The ranks' spread against the tokens of a rank: by chance, by the router's preference, and both together.

    `preference` is the standard deviation over the mean that many tokens would leave. Sliders set it, the ranks and
    the experts of a token. Raises ValueError for fewer than 2 or more than 256 ranks.
    """
    if not 2 <= ranks <= 256 or not 1 <= k <= 16 or not 0 <= preference <= 1:
        raise ValueError(f"imbalance_explorer: 2 to 256 ranks, up to 16 experts, got {ranks}, {k} and {preference}")
    # k and ep are the chart's parameters, the tokens of all ranks ep times those of one.
    chance = drawn_spread.vega_with({"ep": "ep", "k": "k", "B": "ep * datum.tokens"})
    names = ["by chance", "the router's preference", "together"]
    colour = {
        "field": "part",
        "type": "nominal",
        "title": None,
        "sort": names,
        "legend": {"orient": "bottom", "columns": 1},
        "scale": {"domain": names, "range": [*COLOURS]},
    }
    lines = {
        "transform": [
            {"calculate": "sequence(0, 12.01, 0.125)", "as": "doubled"},
            {"flatten": ["doubled"]},
            {"calculate": "pow(2, datum.doubled)", "as": "tokens"},
            {
                "calculate": f"datum.part == {names[0]!r} ? {chance} : datum.part == {names[1]!r} ? preference : "
                f"sqrt(pow({chance}, 2) + pow(preference, 2))",
                "as": "spread",
            },
        ],
        "mark": {"type": "line", "strokeWidth": 2.5, "point": {"size": 60, "opacity": 0}, "tooltip": True},
        "encoding": {
            "x": {
                "field": "tokens",
                "type": "quantitative",
                "scale": {"type": "log", "base": 2},
                "title": "tokens of a rank",
                "axis": {"values": [1, 4, 16, 64, 256, 1024, 4096]},
            },
            "y": {
                "field": "spread",
                "type": "quantitative",
                "title": "spread of the ranks over their mean",
                "axis": {"format": ".0%"},
            },
            "color": colour,
            "strokeDash": {**colour, "scale": {"domain": names, "range": [[6, 3], [2, 2], [1, 0]]}},
            "tooltip": [{"field": "part"}, {"field": "tokens", "format": ".4~r"}, {"field": "spread", "format": ".1%"}],
        },
    }
    even = "(ep - 1)/(k*ep*pow(preference, 2))"
    title = (
        f"preference > 0 ? 'chance and preference weigh the same at ' + format({even}, '.3~r') + ' tokens of a rank' : "
    )
    return VegaLite(
        {
            "description": "Spread of the loads of ranks against the tokens of a rank, by chance and by preference",
            "title": {"text": {"expr": title + "'chance alone'"}, "anchor": "start"},
            "params": [
                {"name": "ep", "value": ranks, "bind": _slider("ranks ", 2, 256, 2)},
                {"name": "k", "value": k, "bind": _slider("experts of a token k ", 1, 16, 1)},
                {"name": "preference", "value": preference, "bind": _slider("the router's preference ", 0, 1, 0.02)},
            ],
            "data": {"values": [{"part": name} for name in names]},
            "width": 520,
            "height": 260,
            "layer": [lines],
            "config": chart_style(),
        }
    )


def expert_width_explorer(k: int = 8, n_lim: int = 16, C: float = 989.4e12, W_out: float = 50e9) -> VegaLite:
    """How wide an expert has to be for its products to take as long as its messages, against the nodes of the group.

    Sliders set the experts of a token, the bytes of an element each way, and the most nodes a token goes to (16 and
    more: no limit). Widths of five models are lines across. Raises ValueError for less than one expert.
    """
    if not 1 <= k <= 16 or not 1 <= n_lim <= 16:
        raise ValueError(f"expert_width_explorer: 1 to 16 experts and nodes, got {k} and {n_lim}")
    values = {
        "k": "min(k, limit)",
        "n_out": "datum.nodes",
        "C": f"{C!r}",
        "W_out": f"{W_out!r}",
        "b_disp": "dispatch",
        "b_comb": "combine",
        "matrices": "3",
    }
    # A limit acts as fewer copies for the same products: min(k, limit)/k of the width for so many experts.
    width = f"({ep_critical_width.vega_with(values)})*min(k, limit)/k"
    upward = {
        "field": "width",
        "type": "quantitative",
        "title": "width of an expert",
        "scale": {"type": "log", "domain": [500, 20000], "nice": False},
        "axis": {"values": [500, 1000, 2000, 5000, 10000, 20000]},
    }
    curve = {
        "data": {"values": [{}]},
        "transform": [
            {"calculate": "sequence(2, 65, 1)", "as": "nodes"},
            {"flatten": ["nodes"]},
            {"calculate": width, "as": "width"},
            {"filter": "datum.width >= 500"},
        ],
        "mark": {
            "type": "line",
            "strokeWidth": 2.5,
            "color": COLOURS[0],
            "point": {"size": 60, "opacity": 0},
            "tooltip": True,
        },
        "encoding": {
            "x": {
                "field": "nodes",
                "type": "quantitative",
                "scale": {"type": "log", "base": 2},
                "title": "nodes of the group",
                "axis": {"values": [2, 4, 8, 16, 32, 64]},
            },
            "y": upward,
            "tooltip": [{"field": "nodes"}, {"field": "width", "format": ".0f"}],
        },
    }
    rows = [{"model": models[key].name, "width": models[key].expert_ffn} for key in SHOWN]
    across = {
        "data": {"values": rows},
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "currentColor", "opacity": 0.6},
        "encoding": {"y": upward},
    }
    labels = {
        "data": {"values": rows},
        "mark": {"type": "text", "align": "right", "dy": -5, "dx": -3, "color": "currentColor"},
        "encoding": {"y": upward, "x": {"value": {"expr": "width"}}, "text": {"field": "model"}},
    }
    bytes_of = {"input": "range", "min": 0.5, "max": 2, "step": 0.5}
    return VegaLite(
        {
            "description": "Critical width of an expert against the nodes of its group, with the widths of five models",
            "title": {
                "text": {"expr": "k + ' experts a token, ' + dispatch + ' and ' + combine + ' bytes an element'"},
                "anchor": "start",
            },
            "params": [
                {"name": "k", "value": k, "bind": _slider("experts of a token k ", 1, 16, 1)},
                {"name": "limit", "value": n_lim, "bind": _slider("most nodes of a token ", 1, 16, 1)},
                {"name": "dispatch", "value": 2, "bind": {**bytes_of, "name": "bytes on the way out "}},
                {"name": "combine", "value": 2, "bind": {**bytes_of, "name": "bytes on the way back "}},
            ],
            "width": 520,
            "height": 300,
            "layer": [curve, across, labels],
            "config": chart_style(),
        }
    )
