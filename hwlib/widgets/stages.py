"""Copies and products of a staged kernel against time, as a chart whose stages and times the reader turns."""

from typing import Any

from hwlib.hierarchy import stage_interval
from hwlib.widgets.charts import VegaLite, chart_style

STEPS, MOST = 24, 8  # steps that are drawn, and stages at most
SHOWN = 9000  # ns
COLOURS = {"copy on the way": "#56b4e9", "products": "#d55e00"}


def stages_explorer(stages: int = 2, t_copy: int = 600, t_mma: int = 130) -> VegaLite:
    """The slots of a ring of operands and the tensor cores against time, for 1 to 8 stages.

    Slide the stages, the time from asking for a step's operands to their arrival, and the time of its products, in ns.
    The title says which part of the time the tensor cores are busy once the kernel has started. Raises ValueError for
    fewer than 1 or more than 8 stages.
    """
    if not 1 <= stages <= MOST:
        raise ValueError(f"stages_explorer: 1 to {MOST} stages can be drawn, got {stages!r}")
    params: list[dict[str, Any]] = [
        {"name": "stages", "value": stages, "bind": _slider("stages ", 1, MOST, 1)},
        {"name": "t_copy", "value": t_copy, "bind": _slider("copy [ns] ", 100, 1500, 50)},
        {"name": "t_mma", "value": t_mma, "bind": _slider("products [ns] ", 50, 1000, 10)},
        {"name": "interval", "expr": stage_interval.vega},
    ]
    # A slot's round is a copy and its products, or the products of all slots: so the k-th start has a closed form.
    start = "t_copy + floor(datum.k/stages)*max(t_copy + t_mma, stages*t_mma) + (datum.k % stages)*t_mma"
    before = start.replace("datum.k", "(datum.k - stages)")  # the step that had the slot
    common: list[dict[str, Any]] = [
        {"calculate": f"sequence(0, {STEPS}, 1)", "as": "k"},
        {"flatten": ["k"]},
        {"calculate": start, "as": "start"},
        {"calculate": before, "as": "before"},
    ]
    copies = [
        *common,
        {"calculate": "'slot ' + (datum.k % stages + 1)", "as": "row"},
        {"calculate": "datum.k < stages ? 0 : datum.before + t_mma", "as": "from"},
        {"calculate": "datum.from + t_copy", "as": "to"},
        {"calculate": "'copy on the way'", "as": "what"},
        {"filter": f"datum.from < {SHOWN}"},
    ]
    products = [
        *common,
        {"calculate": "'tensor cores'", "as": "row"},
        {"calculate": "datum.start", "as": "from"},
        {"calculate": "datum.start + t_mma", "as": "to"},
        {"calculate": "'products'", "as": "what"},
        {"filter": f"datum.from < {SHOWN}"},
    ]
    return VegaLite(
        {
            "description": "Copies on the way in each slot, and the tensor cores, against time",
            "title": {"text": {"expr": _title()}, "anchor": "start"},
            "params": params,
            "data": {"values": [{}]},
            "width": 520,
            "height": {"step": 26},
            "layer": [_bars(copies), _bars(products)],
            "config": chart_style(),
        }
    )


def _slider(name: str, low: int, high: int, step: int) -> dict[str, Any]:
    return {"input": "range", "min": low, "max": high, "step": step, "name": name}


def _title() -> str:
    return "'a step every ' + format(interval, '.0f') + ' ns: tensor cores busy ' + format(t_mma/interval, '.0%')"


def _bars(transform: list[dict[str, Any]]) -> dict[str, Any]:
    rows = ["tensor cores", *(f"slot {k}" for k in range(1, MOST + 1))]
    time = {"type": "quantitative", "scale": {"domain": [0, SHOWN], "clamp": True, "nice": False}}
    colour = {
        "field": "what",
        "type": "nominal",
        "title": None,
        "legend": {"orient": "bottom"},
        "scale": {"domain": [*COLOURS], "range": [*COLOURS.values()]},
    }
    tooltip = [
        {"field": "row", "title": "where"},
        {"field": "k", "title": "step"},
        {"field": "from", "title": "from [ns]", "format": ".0f"},
        {"field": "to", "title": "to [ns]", "format": ".0f"},
    ]
    return {
        "transform": transform,
        "mark": {"type": "bar", "stroke": "white", "strokeWidth": 0.6, "clip": True},
        "encoding": {
            "x": {"field": "from", **time, "axis": {"title": "time [ns]"}},
            "x2": {"field": "to"},
            "y": {"field": "row", "type": "nominal", "sort": rows, "axis": {"title": None, "grid": False}},
            "color": colour,
            "tooltip": tooltip,
        },
    }
