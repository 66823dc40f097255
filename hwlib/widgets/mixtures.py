"""FSDP and tensor parallelism together, as a chart: both axes and the arithmetic against the split of the ranks."""

from typing import Any

from hwlib.parallel import (
    best_dp,
    dp_critical_batch,
    mixed_critical_batch,
    mixed_dp_time,
    mixed_math_time,
    mixed_serial_critical_batch,
    mixed_tp_time,
)
from hwlib.specs import accelerators, nodes
from hwlib.widgets.charts import COLOURS, SECONDS, VegaLite, chart_style

D = 8192  # width of the model: all three times go with it, so that no crossing depends on it
CURVES = ("weights", "activations", "both at once", "one after the other")


def machines() -> dict[str, tuple[str, float, float, float, int, int, int, int]]:
    """By key: name, arithmetic rate, the bandwidths of a rank on its data and on its tensor axis, the ranks, those of
    the longest tensor axis, whether data ranks share a node's way out with the tensor ranks, and whether both axes have
    one port, over which their bytes add up.

    On H100s weights leave the node, all of whose cards carry them whatever the split inside: the data axis has the
    node's bandwidth, divided by the tensor ranks. In an NVL72 both axes share NVLink; on a TPU v5p two of the torus's
    three axes gather weights, and one activations.
    """
    h100: Any = nodes["dgx-h100"]
    rack: Any = accelerators["gb200-nvl72"]
    v5p: Any = accelerators["tpu-v5p"]
    link = v5p.scaleup_link_bandwidth * 2  # both ways around a ring
    return {
        "h100": (
            "4,096 H100s in nodes",
            accelerators["h100-sxm"].flops("bf16"),
            h100.egress_bandwidth,
            h100.scaleup_bandwidth,
            4096,
            h100.chips,
            1,
            0,
        ),
        "nvl72": ("64 GPUs of an NVL72", rack.bf16_flops, rack.scaleup_bandwidth, rack.scaleup_bandwidth, 64, 64, 0, 1),
        "v5p": ("4,096 TPU v5p", v5p.bf16_flops, 2 * link, link, 4096, 256, 0, 0),
    }


def mixture_explorer(machine: str = "v5p", tokens: int = 512, F: int = 28672) -> VegaLite:
    """Seconds of a forward pass of one MLP against the ranks of the data axis; the others are tensor ranks.

    Choose the machine, slide the tokens of a rank and the MLP's width: the crossing of the two axes, the best split,
    moves with both, and the arithmetic is above or below it. Raises KeyError for a machine that it does not have.
    """
    rows = machines()
    if machine not in rows:
        raise KeyError(f"no machine {machine!r} in this chart; known: {', '.join(rows)}")
    number = lambda place: f"({ {key: row[place] for key, row in rows.items()} })[machine]"
    letters = {
        "B": "B",
        "D": str(D),
        "F": "F",
        "n": "n",
        "dp": "datum.dp",
        "tp": "(n/datum.dp)",
        "b": "2",
        "matrices": "2",
        "W_dp": "(node ? W_out*datum.dp/n : W_out)",
    }
    in_chart = lambda f: f.vega_with({name: text for name, text in letters.items() if name in f.args})
    wires = {"F": "F", "C": "C", "W_dp": "W_out", "W_tp": "W_tp", "b": "2", "matrices": "2"}
    mixed, serial = mixed_critical_batch.vega_with(wires), mixed_serial_critical_batch.vega_with(wires)
    split = best_dp.vega_with({"B": "B", "F": "F", "n": "n", "W_dp": "W_out", "W_tp": "W_tp", "matrices": "2"})
    node_batch = dp_critical_batch.vega_with({"C": "C", "W": "W_out", "b_g": "2"})
    params = [
        {
            "name": "machine",
            "value": machine,
            "bind": {
                "input": "select",
                "options": [*rows],
                "labels": [row[0] for row in rows.values()],
                "name": "machine ",
            },
        },
        {
            "name": "power",
            "value": tokens.bit_length() - 1,
            "bind": {"input": "range", "min": 4, "max": 15, "step": 1, "name": "tokens of a rank 2^ "},
        },
        {
            "name": "F",
            "value": F,
            "bind": {"input": "range", "min": 2048, "max": 65536, "step": 2048, "name": "width F of the MLP "},
        },
        {"name": "tokens", "expr": "pow(2, power)"},
        {"name": "n", "expr": number(4)},
        {"name": "most", "expr": number(5)},
        {"name": "B", "expr": "tokens*n"},
        {"name": "C", "expr": number(1)},
        {"name": "W_out", "expr": number(2)},
        {"name": "W_tp", "expr": number(3)},
        {"name": "node", "expr": number(6)},
        {"name": "port", "expr": number(7)},
        {"name": "crossing", "expr": f"node ? B*W_out/(F*W_tp) : {split}"},
        {"name": "best", "expr": "min(n, max(n/most, crossing))"},
        {"name": "least", "expr": f"node ? {node_batch} : (port ? {serial} : {mixed})"},
    ]
    weights, activations = in_chart(mixed_dp_time), in_chart(mixed_tp_time)
    both = dict(
        zip(CURVES, (weights, activations, f"max({weights}, {activations})", f"{weights} + {activations}"), strict=True)
    )
    computed = [
        {"calculate": "sequence(log(n/most)/LN2, log(n)/LN2 + 0.01, 0.125)", "as": "log_dp"},
        {"flatten": ["log_dp"]},
        {"calculate": "pow(2, datum.log_dp)", "as": "dp"},
        *({"calculate": expression, "as": name} for name, expression in both.items()),
        {"fold": [*reversed(CURVES)], "as": ["what", "time"]},
    ]
    style = lambda values: {
        "field": "what",
        "type": "nominal",
        "title": None,
        "legend": {"orient": "bottom", "columns": 2, "labelLimit": 220},
        "scale": {"domain": [*CURVES], "range": values},
    }
    x: dict[str, Any] = {
        "field": "dp",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2},
        "title": "ranks of the data axis",
        "axis": {"format": ",d", "values": [2**k for k in range(13)]},
    }
    seconds = {"labelExpr": SECONDS, "values": [10.0**k for k in range(-9, 3)]}
    y = {"field": "time", "type": "quantitative", "scale": {"type": "log"}, "title": "time of a pass", "axis": seconds}
    lines = {
        "data": {"values": [{}]},
        "transform": computed,
        "mark": {"type": "line", "point": {"size": 60, "opacity": 0}, "tooltip": True},
        "encoding": {
            "x": x,
            "y": y,
            "color": style([COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[2]]),
            "strokeDash": style([[1, 0], [1, 0], [1, 0], [6, 3]]),
            "strokeWidth": style([2.2, 2.2, 4.5, 2.2]),  # weights are drawn over the maximum, which they may be
            "tooltip": [
                {"field": "what"},
                {"field": "dp", "format": ",.0f", "title": "ranks of the data axis"},
                {"field": "time", "format": ".3~s", "title": "time [s]"},
            ],
        },
    }
    math = {
        "data": {"values": [{}]},
        "transform": [{"calculate": in_chart(mixed_math_time), "as": "time"}],
        "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 2, "color": "currentColor"},
        "encoding": {"y": {"field": "time", "type": "quantitative"}},
    }
    crossing = {
        "data": {"values": [{}]},
        "transform": [{"calculate": "best", "as": "dp"}],
        "mark": {"type": "rule", "strokeWidth": 1.5, "color": "currentColor", "opacity": 0.6},
        "encoding": {"x": {"field": "dp", "type": "quantitative"}},
    }
    title = (
        "[(node ? 'best split: ' + format(n, ',d') + ' x 1 (level from ' + format(best, ',.0f') + ')' : "
        "'best split: ' + format(best, ',.0f') + ' x ' + format(n/best, ',.1f')) + ', ' + format(tokens, ',d') + "
        "' tokens of a rank', 'the transfers hide from ' + format(least, ',.0f') + ' tokens of a rank on' + "
        "(port ? ', over one port' : '')]"
    )
    return VegaLite(
        {
            "description": (
                "Transfers of FSDP and of tensor parallelism, and arithmetic, against the split of the ranks"
            ),
            "title": {"text": {"expr": title}, "anchor": "start"},
            "params": params,
            "width": 500,
            "height": 280,
            "layer": [lines, math, crossing],
            "config": chart_style(),
        }
    )
