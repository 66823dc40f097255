"""Figures of pipelines: a schedule that is edited by hand, and the step against the size of a microbatch."""

from functools import cache
from typing import Any

from hwlib.pipeline import (
    Schedule,
    bubble_overhead,
    dualpipe,
    gpipe,
    interleaved,
    interleaved_bubble_fraction,
    one_f_one_b,
    zb_h1,
    zbv,
)
from hwlib.widgets.charts import COLOURS, VegaLite, chart_style
from hwlib.widgets.live import _text, module_source

STAGES, MICROBATCHES = 4, 8
PRESETS = {
    "gpipe": ("GPipe", gpipe),
    "1f1b": ("1F1B", one_f_one_b),
    "interleaved": ("interleaved, 2 chunks", interleaved),
    "zb_h1": ("ZB-H1", zb_h1),
    "zbv": ("ZB-V", zbv),
    "dualpipe": ("DualPipe", dualpipe),
}


def letters(schedule: Schedule) -> list[str]:
    """The order of each rank: a letter for each pass, a small one in a rank's second chunk.

    >>> letters(one_f_one_b(2, 3))
    ['FFBFBB', 'FBFBFB']
    """
    return ["".join(op.kind.lower() if op.chunk else op.kind for op in ops) for ops in schedule.ops]


def schedule_editor(preset: str = "1f1b", t_F: float = 1.0, t_I: float = 1.0, t_W: float = 1.0) -> Any:
    """A pipeline's schedule of four ranks and eight microbatches, with passes to be moved by hand.

    Drag a pass along its rank's row, or choose it and press an arrow key. The bubble and the most microbatches that
    each rank keeps follow; a move after which a pass would come before what it needs is refused. `.rows` are the
    orders in letters, which Python can read and set, and t_F, t_I, t_W the times of the passes. Raises KeyError for an
    unknown preset.
    """
    made = {}
    for key, (name, schedule) in PRESETS.items():
        schedule_shown = schedule(STAGES, MICROBATCHES)
        made[key] = {
            "name": name,
            "rows": letters(schedule_shown),
            "route": schedule_shown.route,
            "v": schedule_shown.v,
            "m": MICROBATCHES,
        }
    if preset not in made:
        raise KeyError(f"no preset {preset!r}; known: {', '.join(made)}")
    return _editor()(presets=made, preset=preset, rows=made[preset]["rows"], t_F=t_F, t_I=t_I, t_W=t_W)


@cache
def _editor() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class ScheduleEditor(AnyWidget):
        _esm = module_source("schedule_editor", ())
        _css = _text("figure.css")
        presets = traitlets.Dict().tag(sync=True)
        preset = traitlets.Unicode().tag(sync=True)
        rows = traitlets.List(traitlets.Unicode()).tag(sync=True)
        t_F = traitlets.Float(min=0.1).tag(sync=True)
        t_I = traitlets.Float(min=0.1).tag(sync=True)
        t_W = traitlets.Float(min=0.1).tag(sync=True)

        @traitlets.validate("preset")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.presets:
                raise traitlets.TraitError(f"unknown preset {proposal['value']!r}; known: {', '.join(self.presets)}")
            return proposal["value"]

    return ScheduleEditor


CONVENTIONS = {"of the step": interleaved_bubble_fraction, "of the work": bubble_overhead}


def bubble_explorer(pp: int = 8, v: int = 1) -> VegaLite:
    """The bubble against the microbatches, relative to the step and to the work, for pp ranks of v chunks.

    Sliders set both. Raises ValueError for fewer than 2 or more than 64 ranks, or more than 8 chunks.
    """
    if not (2 <= pp <= 64 and 1 <= v <= 8):
        raise ValueError(f"bubble_explorer: 2 to 64 ranks of 1 to 8 chunks, got {pp} and {v}")
    readings = {name: f.vega_with({"pp": "pp", "v": "v", "m": "datum.m"}) for name, f in CONVENTIONS.items()}
    step, work = readings.values()
    names = [*CONVENTIONS]
    colour = {
        "field": "convention",
        "type": "nominal",
        "title": None,
        "legend": {"orient": "bottom"},
        "scale": {"domain": names, "range": [*COLOURS[:2]]},
    }
    curve = {
        "transform": [
            {"calculate": "sequence(0, 8.01, 0.125)", "as": "doubled"},
            {"flatten": ["doubled"]},
            {"calculate": "pow(2, datum.doubled)", "as": "m"},
            {"calculate": f"datum.convention == {names[0]!r} ? {step} : {work}", "as": "bubble"},
            {"filter": "datum.bubble <= 1.5"},
        ],
        "mark": {"type": "line", "strokeWidth": 2.5, "point": {"size": 60, "opacity": 0}, "tooltip": True},
        "encoding": {
            "x": {
                "field": "m",
                "type": "quantitative",
                "scale": {"type": "log", "base": 2, "domain": [1, 256]},
                "title": "microbatches m",
                "axis": {"values": [2**k for k in range(9)]},
            },
            "y": {
                "field": "bubble",
                "type": "quantitative",
                "scale": {"domain": [0, 1.5]},
                "title": "bubble",
                "axis": {"format": ".0%"},
            },
            "color": colour,
            "strokeDash": {**colour, "scale": {"domain": names, "range": [[1, 0], [6, 3]]}},
            "tooltip": [{"field": "convention"}, {"field": "m", "format": ".1f"}, {"field": "bubble", "format": ".1%"}],
        },
    }
    rule = {
        "data": {"values": [{}]},
        "transform": [{"calculate": "pp", "as": "m"}],
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "currentColor"},
        "encoding": {"x": {"field": "m", "type": "quantitative"}},
    }
    at = {name: reading.replace("datum.m", "pp") for name, reading in readings.items()}
    title = "'as many microbatches as ranks: ' + " + " + ', ' + ".join(
        f"format({reading}, '.0%') + ' {name}'" for name, reading in at.items()
    )
    return VegaLite(
        {
            "description": "Bubble of a pipeline against its microbatches, by two definitions",
            "title": {"text": {"expr": title}, "anchor": "start"},
            "params": [
                {"name": "pp", "value": pp, "bind": _slider("pipeline ranks ", 2, 64, 1)},
                {"name": "v", "value": v, "bind": _slider("chunks of a rank v ", 1, 8, 1)},
            ],
            "data": {"values": [{"convention": name} for name in names]},
            "width": 520,
            "height": 260,
            "layer": [curve, rule],
            "config": chart_style(),
        }
    )


def _slider(name: str, low: float, high: float, step: float) -> dict[str, Any]:
    return {"input": "range", "min": low, "max": high, "step": step, "name": name}


def microbatch_explorer(pp: int = 12, N: int = 512, share: float = 0.25) -> VegaLite:
    """A step against the size of its microbatches, relative to one that only computes, and the two parts of the rest.

    N sequences are a replica's step. A stage takes 1 for each sequence and `share` for each microbatch besides;
    sliders set the ranks, the sequences and that share. Raises ValueError for fewer than 2 ranks or 16 sequences.
    """
    if pp < 2 or N < 16 or not 0 < share <= 1:
        raise ValueError(f"microbatch_explorer: 2 ranks, 16 sequences, a share up to 1, got {pp}, {N} and {share}")
    parts = {
        "step": "(N/datum.b + pp - 1)*(share + datum.b)/N",
        "fixed time of each microbatch": "share/datum.b",
        "bubble": "(pp - 1)*(share + datum.b)/N",
    }
    names = [*parts]
    colour = {
        "field": "part",
        "type": "nominal",
        "title": None,
        "sort": names,
        "legend": {"orient": "bottom", "columns": 1},
        "scale": {"domain": names, "range": [*COLOURS]},
    }
    first, second, third = parts.values()
    lines = {
        "transform": [
            {"calculate": "sequence(-1, 6.01, 0.0625)", "as": "doubled"},
            {"flatten": ["doubled"]},
            {"calculate": "pow(2, datum.doubled)", "as": "b"},
            {
                "calculate": f"datum.part == {names[0]!r} ? {first} : datum.part == {names[1]!r} ? {second} : {third}",
                "as": "time",
            },
            {"filter": "datum.time <= 3"},
        ],
        "mark": {"type": "line", "strokeWidth": 2.5, "point": {"size": 60, "opacity": 0}, "tooltip": True},
        "encoding": {
            "x": {
                "field": "b",
                "type": "quantitative",
                "scale": {"type": "log", "base": 2},
                "title": "sequences of a microbatch",
                "axis": {"values": [0.5, *(2**k for k in range(7))]},
            },
            "y": {
                "field": "time",
                "type": "quantitative",
                "scale": {"domain": [0, 3]},
                "title": "over the time of the sequences alone",
            },
            "color": colour,
            "strokeDash": {**colour, "scale": {"domain": names, "range": [[1, 0], [6, 3], [2, 2]]}},
            "tooltip": [
                {"field": "part"},
                {"field": "b", "format": ".2f", "title": "sequences"},
                {"field": "time", "format": ".2f"},
            ],
        },
    }
    title = "' ranks, ' + N + ' sequences a replica, fixed time '"
    return VegaLite(
        {
            "description": "Time of a step against the size of a microbatch, with its two losses",
            "title": {"text": {"expr": f"pp + {title} + share"}, "anchor": "start"},
            "params": [
                {"name": "pp", "value": pp, "bind": _slider("pipeline ranks ", 2, 64, 1)},
                {"name": "N", "value": N, "bind": _slider("sequences of a replica ", 16, 1024, 16)},
                {"name": "share", "value": share, "bind": _slider("fixed time of a microbatch ", 0.05, 1, 0.05)},
            ],
            "data": {"values": [{"part": name} for name in names]},
            "width": 520,
            "height": 260,
            "layer": [lines],
            "config": chart_style(),
        }
    )
