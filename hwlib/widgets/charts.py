"""Charts in vega-lite: a specification that computes its own data, from the vega reading of the formulas.

JupyterLab 4.6 renders the mime type of version 5 and no later one; a specification here names no schema and
uses only what versions 5 and 6 share, so the page's newer vega-lite renders it as well. It is rendered as SVG in
`currentColor`, so its text has the page's colour, light or dark.
"""

from collections.abc import Mapping
from typing import Any

from hwlib import roofline
from hwlib.formula import Formula
from hwlib.specs import accelerators

MIME = "application/vnd.vegalite.v5+json"
WEIGHTS = {"bf16": 2.0, "int8": 1.0, "int4": 0.5}  # bytes per weight
WIDTHS = {"input": "range", "min": 512, "max": 32768, "step": 512}
COUNT = "format(datum.value, ',.4~r')"
SECONDS = "replace(format(datum.value, '~s'), 'µ', 'u') + 's'"
COLOURS = ("#2f83c9", "#d55e00", "#009e73")
CHART_CHIPS = (
    "v100-sxm2",
    "a100-80gb-sxm",
    "h100-sxm",
    "h200-sxm",
    "b200-sxm",
    "b300-sxm",
    "mi300x",
    "mi355x",
    "tpu-v5e",
    "tpu-v5p",
    "tpu-v6e",
)


class VegaLite:
    """A vega-lite chart that shows itself in a notebook; `spec` is its specification as plain data."""

    def __init__(self, spec: Mapping[str, Any]):
        self.spec = dict(spec)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data = {MIME: self.spec, "text/plain": repr(self)}
        return data, {MIME: {"embed_options": {"renderer": "svg", "actions": False}}}

    def __repr__(self) -> str:
        return f"<vega-lite chart: {self.spec.get('description', 'no description')}>"


def intensity_explorer(chip: str = "h100-sxm", D: int = 8192, F: int = 28672) -> VegaLite:
    """Intensity and roofline time of a matmul against its batch, with weights of 16, 8 and 4 bits.

    Activations and the arithmetic stay bfloat16 (float16 on a V100), as in W8A16 and W4A16. Choose the chip,
    slide D and F; a dashed rule marks the batch, if any, from which on each matmul is compute-bound.
    Raises KeyError for a chip that the chart does not have.
    """
    if chip not in CHART_CHIPS:
        raise KeyError(f"no chip {chip!r} in this chart; known: {', '.join(CHART_CHIPS)}")
    names = {key: accelerators[key].name for key in CHART_CHIPS}
    rates = {key: accelerators[key].flops("fp16" if key == "v100-sxm2" else "bf16") for key in CHART_CHIPS}
    bandwidths = {key: accelerators[key].hbm_bandwidth for key in CHART_CHIPS}
    params = [
        {"name": "chip", "value": chip, "bind": _choice("chip ", names)},
        {"name": "D", "value": D, "bind": {**WIDTHS, "name": "width D "}},
        {"name": "F", "value": F, "bind": {**WIDTHS, "name": "width F "}},
        {"name": "C", "expr": f"({rates})[chip]"},
        {"name": "W", "expr": f"({bandwidths})[chip]"},
        {"name": "ridge", "expr": roofline.ridge.vega},
    ]
    colour = {
        "field": "weights",
        "type": "nominal",
        "title": "weights",
        "sort": [*WEIGHTS],
        "scale": {"domain": [*WEIGHTS], "range": [*COLOURS]},
    }
    rows = [{"weights": name, "b_w": b_w} for name, b_w in WEIGHTS.items()]
    traffic = _in_chart(roofline.mixed_matmul_bytes)
    work = _in_chart(roofline.matmul_flops)
    computed = [
        {"calculate": "sequence(0, 14.01, 0.25)", "as": "log_batch"},
        {"flatten": ["log_batch"]},
        {"calculate": "pow(2, datum.log_batch)", "as": "batch"},
        {"calculate": _in_chart(roofline.mixed_matmul_intensity), "as": "intensity"},
        {"calculate": _in_chart(roofline.roofline_time, flops=work, bytes=traffic), "as": "time"},
    ]
    critical = [
        {"calculate": _in_chart(roofline.exact_critical_batch), "as": "critical"},
        {"filter": "datum.critical > 0 && datum.critical < 16384"},
    ]
    log = {"type": "log", "base": 2, "domain": [1, 16384]}
    batch = {"field": "batch", "type": "quantitative", "scale": log}
    ticks = {"values": [4**k for k in range(8)], "format": ",d"}
    tooltip = [
        {"field": "weights", "title": "weights"},
        {"field": "batch", "format": ",.0f", "title": "batch"},
        {"field": "intensity", "format": ".3~s", "title": "FLOP/B"},
        {"field": "time", "format": ".3~s", "title": "time [s]"},
    ]

    def curve(field: str, title: str, batch_title: str | None, label: str) -> dict[str, Any]:
        x = {**batch, "axis": {**ticks, "title": batch_title}}
        decades = {"values": [10.0**k for k in range(-9, 6)], "labelExpr": label}
        y = {"field": field, "type": "quantitative", "scale": {"type": "log"}, "title": title}
        return {
            "transform": computed,
            "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 60, "opacity": 0}, "tooltip": True},
            "encoding": {"x": x, "y": {**y, "axis": decades}, "color": colour, "tooltip": tooltip},
        }

    rule = {
        "transform": critical,
        "mark": {"type": "rule", "strokeDash": [4, 3]},
        "encoding": {"x": {"field": "critical", "type": "quantitative"}, "color": colour},
    }
    roof = {
        "data": {"values": [{}]},
        "transform": [{"calculate": "ridge", "as": "ridge"}],
        "layer": [
            {"mark": {"type": "rule", "color": "currentColor"}},
            {
                "mark": {
                    "type": "text",
                    "align": "left",
                    "dx": 4,
                    "dy": -6,
                    "x": 0,
                    "color": "currentColor",
                    "text": {"expr": "'ridge ' + format(ridge, '.3~r') + ' FLOP/B'"},
                }
            },
        ],
        "encoding": {"y": {"field": "ridge", "type": "quantitative"}},
    }
    above = curve("intensity", "intensity [FLOP/B]", None, COUNT)
    below = curve("time", "time", "batch B [tokens]", SECONDS)
    return VegaLite(
        {
            "description": "Intensity and time of a matmul against its batch, for weights of 16, 8 and 4 bits",
            "title": {"text": {"expr": _headline()}, "anchor": "start"},
            "params": params,
            "data": {"values": rows},
            "spacing": 12,
            "vconcat": [
                {"width": 520, "height": 210, "layer": [above, rule, roof]},
                {"width": 520, "height": 140, "layer": [below, rule]},
            ],
            "config": chart_style(),
        }
    )


def _in_chart(f: Formula, **parts: str) -> str:
    """A formula over a row's batch and bytes per weight; any other symbol is a parameter, or 2 bytes."""
    letters = {"B": "datum.batch", "b_w": "datum.b_w", "b": "2", "b_out": "2", **parts}
    return f.vega_with({letter: text for letter, text in letters.items() if letter in f.args})


def _headline() -> str:
    """The vega expression of the title's two lines: the sizes, and the first compute-bound batch for each weight."""

    def critical(b_w: float) -> str:
        return roofline.exact_critical_batch.vega_with({"b": "2", "b_w": str(b_w), "b_out": "2"})

    batches = [
        f"'{name}: ' + ({critical(b_w)} > 0 ? format(ceil({critical(b_w)}), ',d') : 'none')"
        for name, b_w in WEIGHTS.items()
    ]
    sizes = "'D = ' + format(D, ',d') + ', F = ' + format(F, ',d')"
    return f"[{sizes}, 'compute-bound from a batch of ' + " + " + ', ' + ".join(batches) + "]"


def _choice(label: str, names: Mapping[str, str]) -> dict[str, Any]:
    return {"input": "select", "options": [*names], "labels": [*names.values()], "name": label}


def dashed(colour: Mapping[str, Any]) -> dict[str, Any]:
    """The dashes of lines that `colour` tells apart, over the same domain: else JupyterLab draws two legends."""
    names, dashes = colour["scale"]["domain"], [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]]
    return {**colour, "scale": {"domain": names, "range": dashes[: len(names)]}}


def chart_style() -> dict[str, Any]:
    """Text and axes in the page's colour, no frame and no background."""
    ink = "currentColor"
    return {
        "background": "transparent",
        "font": "sans-serif",  # vega measures its texts, and cannot measure "inherit"
        "view": {"stroke": None},
        "title": {"color": ink, "fontSize": 13, "fontWeight": "normal"},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "domainColor": ink,
            "tickColor": ink,
            "gridColor": ink,
            "gridOpacity": 0.15,
            "titleFontWeight": "normal",
            "labelFontSize": 11,
            "titleFontSize": 12,
        },
        "legend": {"labelColor": ink, "titleColor": ink, "titleFontWeight": "normal"},
    }
