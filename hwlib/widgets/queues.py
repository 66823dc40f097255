"""Waiting in a queue, as an interactive chart: load, variation and the number of servers."""

from hwlib.inference import pooled_wait
from hwlib.widgets.charts import COLOURS, VegaLite, chart_style, dashed

SERVERS = (1, 2, 8)


def wait_explorer() -> VegaLite:
    """Time in the queue against the load, for one, two and eight servers with one queue, by `pooled_wait`.

    Slide the mean time of a request, the squared variation of that time, and that of the gaps between arrivals. A
    dashed rule marks the load that is chosen; the title says the wait there.
    """
    wait = "(" + pooled_wait.vega_with({"load": "datum.load", "n_srv": "datum.n_srv"}) + ")"
    at = "(" + pooled_wait.vega_with({"load": "chosen", "n_srv": "1"}) + ")"
    lines = [{"n_srv": n, "name": f"{n} server{'s' if n > 1 else ''}"} for n in SERVERS]
    names = [one["name"] for one in lines]
    colour = {
        "field": "name",
        "type": "nominal",
        "title": "one queue for",
        "sort": names,
        "scale": {"domain": names, "range": [*COLOURS]},
        "legend": {"orient": "bottom"},
    }
    line = {
        "data": {"values": lines},
        "transform": [
            {"calculate": "sequence(0.02, 0.985, 0.005)", "as": "load"},
            {"flatten": ["load"]},
            {"calculate": wait, "as": "wait"},
        ],
        "mark": {"type": "line", "strokeWidth": 2.5, "clip": True},
        "encoding": {
            "x": {
                "field": "load",
                "type": "quantitative",
                "title": "load",
                "scale": {"domain": [0, 1]},
                "axis": {"format": "%", "values": [k / 5 for k in range(6)]},
            },
            "y": {
                "field": "wait",
                "type": "quantitative",
                "title": "time in the queue, in s",
                "scale": {"domain": [0, 6]},
            },
            "color": colour,
            "strokeDash": dashed(colour),
        },
    }
    rule = {
        "data": {"values": [{}]},
        "transform": [{"calculate": "chosen", "as": "load"}],
        "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5, "color": "currentColor"},
        "encoding": {"x": {"field": "load", "type": "quantitative"}},
    }

    def slider(name: str, label: str, value: float, low: float, high: float, step: float) -> dict[str, object]:
        return {
            "name": name,
            "value": value,
            "bind": {"input": "range", "min": low, "max": high, "step": step, "name": f"{label} "},
        }

    title = f"'one server at ' + format(chosen, '.0%') + ': ' + format({at}, '.2f') + ' s in the queue'"
    return VegaLite(
        {
            "description": "Time in the queue against the load",
            "title": {"text": {"expr": title}, "anchor": "start"},
            "params": [
                slider("t_srv", "time of a request, in s", 0.35, 0.05, 2, 0.05),
                slider("cv2", "variation of it", 3, 0, 8, 0.5),
                slider("cv2_gap", "variation of the gaps", 1, 0, 8, 0.5),
                slider("chosen", "load", 0.6, 0.05, 0.95, 0.05),
            ],
            "layer": [line, rule],
            "width": 460,
            "height": 260,
            "config": chart_style(),
        }
    )
