"""Decoding, as interactive charts: the sequences that fit beside the weights, and what drafts gain at a batch."""

from typing import Any

from hwlib.inference import batch_limit, drafted_speedup
from hwlib.specs import accelerators, models
from hwlib.transformer import kv_bytes_per_token, parameter_count
from hwlib.widgets.charts import COLOURS, VegaLite, chart_style, dashed

MODELS = ("llama3-8b", "llama3-70b", "llama3-405b", "deepseek-v3")
CHIPS = ("a100-80gb-sxm", "h100-sxm", "h200-sxm", "b200-sxm")
FORMATS = {"16 bits": 2.0, "8 bits": 1.0, "4 bits": 0.53}  # bytes of a weight, with the scales of groups of 32
DRAFTS = (1, 3, 5, 7)
MOST_BATCH = 512
REACHED = 0.9  # of a GPU's memory that weights and caches may fill


def fit_explorer(model: str = "llama3-70b") -> VegaLite:
    """Sequences that fit on some GPUs against the tokens of each, for caches of 16, 8 and 4 bits, by `batch_limit`.

    Choose model, chip, GPUs and the format of the weights; a tenth of the memory is left free. The title
    says what is left for caches. Raises KeyError for a model that the chart does not have.
    """
    if model not in MODELS:
        raise KeyError(f"no model {model!r} in this chart; known: {', '.join(MODELS)}")
    rows = {key: models[key] for key in MODELS}
    chips = {key: accelerators[key] for key in CHIPS}

    def choice(name: str, label: str, value: Any, names: dict[Any, str]) -> dict[str, Any]:
        bind = {"input": "select", "options": [*names], "labels": [*names.values()], "name": f"{label} "}
        return {"name": name, "value": value, "bind": bind}

    params = [
        choice("model", "model", model, {key: one.name for key, one in rows.items()}),
        choice("chip", "GPU", "h100-sxm", {key: one.name for key, one in chips.items()}),
        choice("weights", "weights", "16 bits", {name: name for name in FORMATS}),
        {"name": "log_n", "value": 3, "bind": {"input": "range", "min": 0, "max": 6, "step": 1, "name": "GPUs 2^ "}},
        {"name": "n", "expr": "pow(2, log_n)"},
        {"name": "b_w", "expr": f"({FORMATS})[weights]"},
        {"name": "P", "expr": f"({ {key: parameter_count(one) for key, one in rows.items()} })[model]"},
        {"name": "S_two", "expr": f"({ {key: kv_bytes_per_token(one, 2) for key, one in rows.items()} })[model]"},
        {"name": "S_hbm", "expr": f"{REACHED}*({ {key: one.hbm_bytes for key, one in chips.items()} })[chip]"},
        {"name": "weight_bytes", "expr": "P*b_w"},
    ]
    held = "(" + batch_limit.vega_with({"T_kv": "datum.T_kv", "S_kv": "(S_two*datum.b_kv/2)"}) + ")"
    title = (
        "weight_bytes > n*S_hbm ? 'the weights do not fit' : format(weight_bytes/1e9, ',.0f') + ' GB of weights, ' + "
        "format((n*S_hbm - weight_bytes)/1e9, ',.0f') + ' GB for caches'"
    )
    formats = [{"cache": name, "b_kv": b} for name, b in (("16 bits", 2), ("8 bits", 1), ("4 bits", 0.5))]
    names = [one["cache"] for one in formats]
    colour = {
        "field": "cache",
        "type": "nominal",
        "title": "cache in",
        "sort": names,
        "scale": {"domain": names, "range": [*COLOURS]},
        "legend": {"orient": "bottom"},
    }
    return VegaLite(
        {
            "description": "Sequences that fit beside the weights, against the tokens of each sequence",
            "title": {"text": {"expr": title}, "anchor": "start"},
            "params": params,
            "data": {"values": formats},
            "transform": [
                {"calculate": "sequence(9, 17.01, 0.125)", "as": "log_T"},
                {"flatten": ["log_T"]},
                {"calculate": "pow(2, datum.log_T)", "as": "T_kv"},
                {"calculate": held, "as": "fit"},
                {"filter": "datum.fit >= 1"},
            ],
            "mark": {"type": "line", "strokeWidth": 2.5, "clip": True},
            "width": 460,
            "height": 260,
            "encoding": {
                "x": {
                    "field": "T_kv",
                    "type": "quantitative",
                    "title": "tokens of each sequence",
                    "scale": {"type": "log", "base": 2, "domain": [512, 131072]},
                    "axis": {"values": [512, 2048, 8192, 32768, 131072], "format": ",d"},
                },
                "y": {
                    "field": "fit",
                    "type": "quantitative",
                    "title": "sequences that fit",
                    "scale": {"type": "log", "domain": [1, 100000]},
                    "axis": {"values": [1, 10, 100, 1000, 10000, 100000], "format": ",d"},
                },
                "color": colour,
                "strokeDash": dashed(colour),
            },
            "config": chart_style(),
        }
    )


def drafts_explorer() -> VegaLite:
    """What drafts gain against the batch, a line for each number of them, by `drafted_speedup`.

    Slide the probability that a draft is accepted, what a draft costs, and the critical batch of the chip.
    """
    gain = "(" + drafted_speedup.vega_with({"drafts": "datum.drafts", "B": "datum.B"}) + ")"
    lines = [{"drafts": k, "name": f"{k}"} for k in DRAFTS]
    names = [rule["name"] for rule in lines]
    colour = {
        "field": "name",
        "type": "nominal",
        "title": "drafts a step",
        "sort": names,
        "scale": {"domain": names, "range": [*COLOURS]},
        "legend": {"orient": "bottom"},
    }
    line = {
        "data": {"values": lines},
        "transform": [
            {"calculate": "sequence(0, 9.01, 0.0625)", "as": "log_B"},
            {"flatten": ["log_B"]},
            {"calculate": "pow(2, datum.log_B)", "as": "B"},
            {"calculate": gain, "as": "gain"},
        ],
        "mark": {"type": "line", "strokeWidth": 2.5, "clip": True},
        "encoding": {
            "x": {
                "field": "B",
                "type": "quantitative",
                "title": "sequences of the batch",
                "scale": {"type": "log", "base": 2, "domain": [1, MOST_BATCH]},
                "axis": {"values": [1, 4, 16, 64, 256], "format": ",d"},
            },
            "y": {
                "field": "gain",
                "type": "quantitative",
                "title": "tokens, over those without drafts",
                "scale": {"domain": [0, 5]},
            },
            "color": colour,
            "strokeDash": dashed(colour),
        },
    }
    rule = {
        "data": {"values": [{"gain": 1}]},
        "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5, "color": "currentColor"},
        "encoding": {"y": {"field": "gain", "type": "quantitative"}},
    }
    title = "format(accept, '.0%') + ' accepted, a draft costs ' + format(c_draft, '.0%') + ' of a step'"
    return VegaLite(
        {
            "description": "Gain of drafted tokens against the batch",
            "title": {"text": {"expr": title}, "anchor": "start"},
            "params": [
                {
                    "name": "accept",
                    "value": 0.7,
                    "bind": {"input": "range", "min": 0.05, "max": 0.95, "step": 0.05, "name": "accepted "},
                },
                {
                    "name": "c_draft",
                    "value": 0.05,
                    "bind": {"input": "range", "min": 0, "max": 0.3, "step": 0.01, "name": "cost of a draft "},
                },
                {
                    "name": "B_crit",
                    "value": 295,
                    "bind": {"input": "range", "min": 50, "max": 600, "step": 5, "name": "critical batch "},
                },
            ],
            "width": 460,
            "height": 260,
            "layer": [line, rule],
            "config": chart_style(),
        }
    )
