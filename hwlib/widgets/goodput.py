"""Goodput against the interval between checkpoints, as an interactive chart."""

from hwlib.training import cluster_mtbf, goodput_fraction
from hwlib.units import day
from hwlib.widgets.charts import COLOURS, VegaLite, chart_style, dashed

SAVES = {"10 s": 10.0, "1 min": 60.0, "5 min": 300.0}
YEAR = 365 * day


def goodput_explorer() -> VegaLite:
    """The share of the time that is training against the interval between checkpoints, by `goodput_fraction`.

    A line for each time that a checkpoint stops the run; slide the GPUs, the mean years between failures of one of
    them, and the minutes of a restart. The title says how often the whole machine fails.
    """
    good = "(" + goodput_fraction.vega_with({"tau": "datum.tau", "t_save": "datum.t_save"}) + ")"
    colour = {
        "field": "save",
        "type": "nominal",
        "title": "a checkpoint takes",
        "sort": [*SAVES],
        "scale": {"domain": [*SAVES], "range": [*COLOURS]},
        "legend": {"orient": "bottom"},
    }
    title = (
        "format(n_out, ',d') + ' GPUs fail every ' + format(t_mtbf/3600, '.2f') + ' h; a restart takes ' + "
        "format(t_back/60, '.0f') + ' min'"
    )
    return VegaLite(
        {
            "description": "Goodput against the interval between checkpoints",
            "title": {"text": {"expr": title}, "anchor": "start"},
            "params": [
                {
                    "name": "log_n",
                    "value": 14,
                    "bind": {"input": "range", "min": 6, "max": 17, "step": 1, "name": "GPUs 2^ "},
                },
                {
                    "name": "years",
                    "value": 5.8,
                    "bind": {
                        "input": "range",
                        "min": 0.5,
                        "max": 50,
                        "step": 0.1,
                        "name": "years between failures of one ",
                    },
                },
                {
                    "name": "minutes",
                    "value": 10,
                    "bind": {"input": "range", "min": 0, "max": 60, "step": 1, "name": "minutes of a restart "},
                },
                {"name": "n_out", "expr": "pow(2, log_n)"},
                {"name": "t_node", "expr": f"years*{YEAR}"},
                {"name": "t_back", "expr": "minutes*60"},
                {"name": "t_mtbf", "expr": cluster_mtbf.vega},
            ],
            "data": {"values": [{"save": name, "t_save": t} for name, t in SAVES.items()]},
            "transform": [
                {"calculate": "sequence(5, 16.01, 0.125)", "as": "log_tau"},
                {"flatten": ["log_tau"]},
                {"calculate": "pow(2, datum.log_tau)", "as": "tau"},
                {"calculate": good, "as": "good"},
                {"calculate": "datum.tau/60", "as": "interval"},
                {"filter": "datum.good > 0"},
            ],
            "mark": {"type": "line", "strokeWidth": 2.5, "clip": True},
            "width": 460,
            "height": 260,
            "encoding": {
                "x": {
                    "field": "interval",
                    "type": "quantitative",
                    "title": "minutes between two checkpoints",
                    "scale": {"type": "log", "domain": [0.5, 1100]},
                    "axis": {"values": [1, 3, 10, 30, 100, 300, 1000], "format": ",d"},
                },
                "y": {
                    "field": "good",
                    "type": "quantitative",
                    "title": "share of the time that is training",
                    "scale": {"domain": [0, 1]},
                    "axis": {"format": ".0%"},
                },
                "color": colour,
                "strokeDash": dashed(colour),
            },
            "config": chart_style(),
        }
    )
