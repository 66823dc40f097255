"""Data parallelism, as interactive charts: the memory that ZeRO divides, and the batch that hides the gradients."""

from typing import Any

from hwlib.footprint import replicated_state_bytes, zero1_state_bytes, zero2_state_bytes, zero3_state_bytes
from hwlib.parallel import dp_exact_critical_batch
from hwlib.specs import accelerators, measured_steps, models, nodes
from hwlib.transformer import full_activation_bytes, logit_bytes, parameter_count, swiglu_layer_activation_bytes
from hwlib.widgets.charts import COLOURS, VegaLite, chart_style, dashed

MODELS = ("qwen2.5-3b", "llama3-8b", "qwen2.5-14b", "llama3-70b", "llama3-405b")
T = 8192  # tokens of a sequence in the chart of memory
STAGES = {
    "DDP": replicated_state_bytes,
    "ZeRO-1": zero1_state_bytes,
    "ZeRO-2": zero2_state_bytes,
    "ZeRO-3": zero3_state_bytes,
}
PARTS = {  # bytes of a parameter as weight, as gradient and in the optimizer
    "weights": (2, 0, 0),
    "gradients": (0, 2, 0),
    "optimizer": (0, 0, 12),
    "activations": (0, 0, 0),
    "logits": (0, 0, 0),
}
INKS = (*COLOURS, "#cc79a7", "#7f7f7f")
MACHINES = ("dgx-h100", "dgx-b200", "gb200-nvl72")
CARDS = 50e9  # B/s of a GPU's network card on the nodes of runs whose source prints none
MOST = 14  # the largest cluster is 2**MOST GPUs


def memory_explorer(model: str = "llama3-8b", room: float = 80e9) -> VegaLite:
    """A rank's memory with each stage of ZeRO: states of 2 + 2 + 12 bytes, activations and logits of 8,192 tokens.

    Choose the model, slide the ranks and the sequences, recompute; a line marks `room`, a GPU's memory in bytes.
    Raises KeyError for a model that it does not have.
    """
    if model not in MODELS:
        raise KeyError(f"no model {model!r} in this chart; known: {', '.join(MODELS)}")
    rows = {key: models[key] for key in MODELS}
    choice = {"input": "select", "options": [*rows], "labels": [one.name for one in rows.values()], "name": "model "}

    def table(values: dict[str, Any]) -> str:
        return f"({values})[model]"

    letters = {"D": "width", "F": "ffn", "n_q": "heads", "K": "kv_heads", "H": "head_dim", "V": "vocab", "L": "layers"}
    params = [
        {"name": "model", "value": model, "bind": choice},
        {
            "name": "log_dp",
            "value": 3,
            "bind": {"input": "range", "min": 0, "max": 10, "step": 1, "name": "ranks, as a power of two "},
        },
        {"name": "micro", "value": 1, "bind": {"input": "range", "min": 1, "max": 8, "step": 1, "name": "sequences "}},
        {
            "name": "again",
            "value": "none",
            "bind": {"input": "select", "options": ["none", "full"], "name": "recomputation "},
        },
        {"name": "dp", "expr": "pow(2, log_dp)"},
        {"name": "P", "expr": table({key: parameter_count(one) for key, one in rows.items()})},
        *(
            {"name": letter, "expr": table({key: getattr(one, field) for key, one in rows.items()})}
            for letter, field in letters.items()
        ),
    ]
    fixed = {"T": str(T), "tp": "1", "b": "2"}
    states = " : ".join(
        f"datum.stage === '{name}' ? {_of(f, b_w='datum.b_w', b_g='datum.b_g', b_opt='datum.b_opt')}"
        for name, f in STAGES.items()
    )
    layer = f"again === 'full' ? {_of(full_activation_bytes, **fixed)} : {_of(swiglu_layer_activation_bytes, **fixed)}"
    held = (
        f"datum.part === 'activations' ? L*({layer}) : datum.part === 'logits' ? {_of(logit_bytes, **fixed)} : "
        f"({states} : 0)"
    )
    title = (
        "'on ' + format(dp, ',d') + (dp > 1 ? ' ranks, ' : ' rank, ') + micro + (micro > 1 ? ' sequences' : "
        f"' sequence') + ' of {T:,} tokens each'"
    )
    colour = {
        "field": "part",
        "type": "nominal",
        "title": None,
        "sort": [*PARTS],
        "scale": {"domain": [*PARTS], "range": [*INKS]},
        "legend": {"orient": "bottom", "columns": 3},
    }
    bars = {
        "transform": [{"calculate": held, "as": "held"}],
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "y": {"field": "stage", "type": "nominal", "sort": [*STAGES], "title": None},
            "x": {
                "field": "held",
                "type": "quantitative",
                "stack": "zero",
                "title": "a rank holds",
                "axis": {"labelExpr": "format(datum.value/1e9, ',.4~r') + ' GB'", "tickCount": 5},
            },
            "color": colour,
            "order": {"field": "place"},
            "tooltip": [{"field": "stage"}, {"field": "part"}, {"field": "held", "format": ".3s", "title": "B"}],
        },
    }
    wall = {
        "data": {"values": [{"room": room}]},
        "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 2, "color": "currentColor"},
        "encoding": {"x": {"field": "room", "type": "quantitative"}},
    }
    return VegaLite(
        {
            "description": "Memory of a rank with DDP and with each stage of ZeRO, by what it holds",
            "title": {"text": {"expr": title}, "anchor": "start"},
            "params": params,
            "data": {
                "values": [
                    {"stage": stage, "part": part, "place": place, "b_w": b_w, "b_g": b_g, "b_opt": b_opt}
                    for stage in STAGES
                    for place, (part, (b_w, b_g, b_opt)) in enumerate(PARTS.items())
                ]
            },
            "width": 460,
            "height": 170,
            "layer": [bars, wall],
            "config": chart_style(),
        }
    )


def critical_batch_explorer() -> VegaLite:
    """Tokens of a rank from which the backward pass hides the gradients, against the cluster's size, by machine.

    Slide the bytes of a gradient and the share of the peak that is reached. Points are published runs, small and filled
    where their microbatch is larger than the bound of their own machine and number of nodes.
    """
    inside = _critical(dp="min(datum.n, datum.n_in)", W="datum.W_in")
    across = _critical(dp="datum.n/datum.n_in", W="datum.W_node")
    computed = [
        {"calculate": f"sequence(1, {MOST}.01, 0.125)", "as": "log_n"},
        {"flatten": ["log_n"]},
        {"calculate": "pow(2, datum.log_n)", "as": "n"},
        {"calculate": f"datum.n > datum.n_in ? max({inside}, {across}) : {inside}", "as": "critical"},
    ]
    machines = {key: nodes[key] for key in MACHINES}
    names = [one.name for one in machines.values()]
    values = [
        {
            "machine": one.name,
            "n_in": one.chips,
            "W_in": one.scaleup_bandwidth,
            "W_node": one.egress_bandwidth,
            "C": accelerators[one.accelerator].bf16_flops,
        }
        for one in machines.values()
    ]
    colour = {
        "field": "machine",
        "type": "nominal",
        "title": None,
        "sort": names,
        "scale": {"domain": names, "range": [*COLOURS]},
        "legend": {"orient": "bottom"},
    }
    x = {
        "field": "n",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "domain": [2, 2**MOST]},
        "title": "GPUs",
        "axis": {"values": [2, 8, 64, 512, 4096, 16384], "format": ",d"},
    }
    y = {
        "type": "quantitative",
        "scale": {"type": "log", "domain": [100, 40000]},
        "title": "tokens of a GPU",
        "axis": {"values": [100, 300, 1000, 3000, 10000, 30000], "format": ",d"},
    }
    line = {
        "data": {"values": values},
        "transform": computed,
        "mark": {"type": "line", "strokeWidth": 2.5, "clip": True},
        "encoding": {"x": x, "y": {**y, "field": "critical"}, "color": colour, "strokeDash": dashed(colour)},
    }
    points = {
        "data": {"values": published_points()},
        "transform": [
            {
                "calculate": _of(dp_exact_critical_batch, dp="(datum.n/8)", C="(eta*datum.C)", W="datum.W", b_g="b_g"),
                "as": "bound",
            },
            {"calculate": "datum.tokens >= datum.bound ? 1 : 0", "as": "hidden"},
        ],
        "mark": {
            "type": "point",
            "strokeWidth": 1.5,
            "stroke": "currentColor",
            "fill": "currentColor",
            "tooltip": True,
        },
        "encoding": {
            "x": x,
            "y": {**y, "field": "tokens"},
            "fillOpacity": {
                "field": "hidden",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "range": [0, 0.8]},
                "legend": None,
            },
            "size": {
                "field": "hidden",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "range": [150, 40]},
                "legend": None,
            },
            "tooltip": [
                {"field": "name", "title": "run"},
                {"field": "n", "format": ",d", "title": "GPUs"},
                {"field": "tokens", "format": ",d", "title": "tokens of a microbatch"},
                {"field": "bound", "format": ",.0f", "title": "its machine's bound"},
            ],
        },
    }
    return VegaLite(
        {
            "description": "Critical batch of a GPU against the size of the cluster, with published runs",
            "title": {
                "text": {"expr": "'gradients of ' + b_g + ' bytes, ' + format(eta, '.0%') + ' of the peak'"},
                "anchor": "start",
            },
            "params": [
                {
                    "name": "b_g",
                    "value": 2,
                    "bind": {"input": "range", "min": 1, "max": 4, "step": 1, "name": "bytes of a gradient "},
                },
                {
                    "name": "eta",
                    "value": 1,
                    "bind": {"input": "range", "min": 0.2, "max": 1, "step": 0.05, "name": "share of the peak "},
                },
            ],
            "width": 460,
            "height": 280,
            "layer": [line, points],
            "config": chart_style(),
        }
    )


def published_points() -> list[dict[str, Any]]:
    """Runs of several nodes: GPUs, tokens of a GPU's microbatch, and what bounds them, rate and a node's network."""
    points: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in measured_steps():
        if row.rate and row.gpus > 8:
            tokens = row.micro * row.T
            name = f"{row.model}, {row.gpus} {accelerators[row.chip].name}"
            points[row.model, row.chip, row.gpus, tokens] = {
                "name": name,
                "n": row.gpus,
                "tokens": tokens,
                "C": accelerators[row.chip].bf16_flops,
                "W": row.network or 8 * CARDS,
            }
    return list(points.values())


def _critical(dp: str, W: str) -> str:
    return _of(dp_exact_critical_batch, dp=dp, W=W, C="(eta*datum.C)", b_g="b_g")


def _of(f: Any, **letters: str) -> str:
    """A formula with some letters replaced; others are parameters."""
    return "(" + f.vega_with({letter: text for letter, text in letters.items() if letter in f.args}) + ")"
