"""Figures of a layer that several GPUs share: its timeline, its bound, and a sequence in pieces."""

from functools import cache
from math import log2
from typing import Any

from hwlib.calibrated import fit_kernel_model, gemm_samples, nccl_latency, nccl_time
from hwlib.collectives import direct_allgather_time
from hwlib.parallel import (
    ring_causal_critical_tokens,
    ring_step_comm_time,
    ring_step_math_time,
    tp_block_time,
    tp_exact_limit,
    tp_math_time,
    ulysses_math_time,
    ulysses_time,
)
from hwlib.roofline import kernel_time, matmul_bytes, matmul_flops
from hwlib.specs import accelerators, measured_gemms, models
from hwlib.specs.fitted import tree_constants
from hwlib.transformer import causal_attention_forward_flops
from hwlib.units import GiB
from hwlib.widgets.charts import COLOURS, SECONDS, VegaLite, chart_style
from hwlib.widgets.live import _text, module_source

LAYER_FORMULAS = (
    matmul_flops,
    matmul_bytes,
    kernel_time,
    causal_attention_forward_flops,
    direct_allgather_time,
)
MACHINES = {  # key: name, chip, chip whose products were timed, GPUs that NVLink joins
    "h100": ("H100s", "h100-sxm", "h100-sxm", 8),
    "a100": ("A100s", "a100-80gb-sxm", "a100-80gb-sxm", 8),
    "b200": ("B200s", "b200-sxm", "b200-sxm", 8),
    "gb200": ("GB200 NVL72", "gb200-nvl72", "b200-sxm", 72),
}
MODELS = ("llama3-8b", "llama3-70b", "llama3-405b")
DEGREES = tuple(2**k for k in range(7))
WAYS = ("wait", "halves", "pieces")
LEVEL = "h100-sxm", "NVLSTree"  # whose latency of a doubling of the nodes is taken for all machines


def layer_explorer(
    machine: str = "h100",
    model: str = "llama3-70b",
    tokens: int = 8192,
    tp: int = 8,
    how: str = "wait",
    pieces: int = 8,
) -> Any:
    """The forward pass of one layer on tp GPUs against time: products above, collectives below.

    Collectives wait ("wait"), run beside another half batch ("halves") or in pieces beside their product ("pieces").
    Products have the constants fitted to measured ones of the chip, collectives the latency and the bandwidth of the
    model of NCCL, and beyond the NVLink domain the cables and the latency of a tree of H100s. In a notebook all of them
    follow the reader, and can be set. Raises KeyError for a machine or a model that the figure does not have, and
    ValueError for another degree.
    """
    if machine not in MACHINES:
        raise KeyError(f"no machine {machine!r} in this figure; known: {', '.join(MACHINES)}")
    if model not in MODELS:
        raise KeyError(f"no model {model!r} in this figure; known: {', '.join(MODELS)}")
    if tp not in DEGREES:
        raise ValueError(f"layer_explorer: tp is one of {', '.join(map(str, DEGREES))}, got {tp}")
    rows = {key: _machine(*row) for key, row in MACHINES.items()}
    return _explorer()(
        machines=rows,
        models={key: _shape(key) for key in MODELS},
        machine=machine,
        model=model,
        tokens=tokens,
        tp=tp,
        how=how,
        pieces=pieces,
    )


@cache
def _machine(name: str, key: str, timed: str, n_in: int) -> dict[str, Any]:
    """The numbers of a machine, as JSON: rates and constants of products, bandwidths and latencies of gathers."""
    chip = accelerators[key]
    fit = fit_kernel_model(
        gemm_samples(measured_gemms(timed, "bf16")), accelerators[timed].bf16_flops, accelerators[timed].hbm_bandwidth
    )
    level = tree_constants()[LEVEL].alpha_level / 2  # a gather goes one way, an all-reduce up and down
    alpha = {
        tp: float(nccl_latency(key, "all_gather", min(tp, n_in))) + level * log2(max(tp / n_in, 1))
        for tp in DEGREES
        if tp > 1
    }
    reached = 7 / 8 * GiB / float(nccl_time(key, "all_gather", 8, GiB))
    return {
        "name": name,
        "C": chip.bf16_flops,
        "W": chip.hbm_bandwidth,
        "eta_C": fit.eta_C,
        "eta_W": fit.eta_W,
        "t0": fit.t0,
        "n_in": n_in,
        "W_in": reached,
        "W_out": chip.nic_bandwidth,
        "alpha": alpha,
    }


def _shape(key: str) -> dict[str, Any]:
    model = models[key]
    return {
        "name": model.name,
        "D": model.width,
        "F": model.ffn,
        "heads": model.heads,
        "kv": model.kv_heads,
        "H": model.head_dim,
    }


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class LayerExplorer(AnyWidget):
        _esm = module_source("layer_explorer", LAYER_FORMULAS)
        _css = _text("figure.css")
        machines = traitlets.Dict().tag(sync=True)
        models = traitlets.Dict().tag(sync=True)
        machine = traitlets.Unicode().tag(sync=True)
        model = traitlets.Unicode().tag(sync=True)
        tokens = traitlets.Int(min=1, max=2**20).tag(sync=True)
        tp = traitlets.Int(min=1).tag(sync=True)
        how = traitlets.Enum([*WAYS]).tag(sync=True)
        pieces = traitlets.Int(min=1).tag(sync=True)

        @traitlets.validate("machine")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.machines:
                raise traitlets.TraitError(f"unknown machine {proposal['value']!r}; known: {', '.join(self.machines)}")
            return proposal["value"]

    return LayerExplorer


def _choice(label: str, names: dict[str, str]) -> dict[str, Any]:
    return {"input": "select", "options": [*names], "labels": [*names.values()], "name": label}


def _chips() -> dict[str, str]:
    return {key: name for key, (name, *_) in MACHINES.items()}


def _rate(name: str) -> str:
    """The vega expression of a number of the chosen chip."""
    values = {key: float(getattr(accelerators[chip], name)) for key, (_, chip, *_) in MACHINES.items()}
    return f"({values})[machine]"


def tp_limit_explorer(machine: str = "h100", F: int = 28672, tokens: int = 8192) -> VegaLite:
    """Arithmetic and collectives of an MLP's forward pass against the degree, by the data sheet, within NVLink.

    Choose the chip, slide the hidden width and the tokens: both curves move with the tokens, their crossing does not.
    Raises KeyError for a machine that the chart does not have.
    """
    if machine not in MACHINES:
        raise KeyError(f"no machine {machine!r} in this chart; known: {', '.join(MACHINES)}")
    names = ("arithmetic", "collectives")
    letters = {"B": "tokens", "D": "8192", "tp": "datum.tp", "b": "2", "matrices": "2"}
    in_chart = lambda f: f.vega_with({name: text for name, text in letters.items() if name in f.args})
    widths = {"input": "range", "min": 1024, "max": 65536, "step": 1024, "name": "hidden width F "}
    params = [
        {"name": "machine", "value": machine, "bind": _choice("GPUs ", _chips())},
        {"name": "F", "value": F, "bind": widths},
        {
            "name": "power",
            "value": tokens.bit_length() - 1,
            "bind": {"input": "range", "min": 0, "max": 20, "step": 1, "name": "tokens, a power of two "},
        },
        {"name": "tokens", "expr": "pow(2, power)"},
        {"name": "C", "expr": _rate("bf16_flops")},
        {"name": "W", "expr": _rate("scaleup_bandwidth")},
        {"name": "limit", "expr": tp_exact_limit.vega_with({"b": "2", "matrices": "2"})},
    ]
    computed = [
        {"calculate": "sequence(0.25, 6.01, 0.125)", "as": "log_tp"},
        {"flatten": ["log_tp"]},
        {"calculate": "pow(2, datum.log_tp)", "as": "tp"},
        {"calculate": f"datum.wire ? {in_chart(tp_block_time)} : {in_chart(tp_math_time)}", "as": "time"},
    ]
    style = lambda values: {
        "field": "what",
        "type": "nominal",
        "title": None,
        "legend": {"orient": "bottom"},
        "scale": {"domain": [*names], "range": values},
    }
    log = {"type": "log", "base": 2, "domain": [1, 64]}
    x = {
        "field": "tp",
        "type": "quantitative",
        "scale": log,
        "title": "GPUs that share the MLP",
        "axis": {"values": [*DEGREES]},
    }
    curves = {
        "data": {"values": [{"what": name, "wire": i} for i, name in enumerate(names)]},
        "transform": computed,
        "mark": {"type": "line", "strokeWidth": 2.5, "point": {"size": 60, "opacity": 0}, "tooltip": True},
        "encoding": {
            "x": x,
            "y": {
                "field": "time",
                "type": "quantitative",
                "scale": {"type": "log"},
                "title": "time",
                "axis": {"labelExpr": SECONDS, "tickCount": 6},
            },
            "color": style([*COLOURS[:2]]),
            "strokeDash": style([[1, 0], [6, 3]]),
            "tooltip": [
                {"field": "what", "title": "of"},
                {"field": "tp", "format": ",.1f", "title": "GPUs"},
                {"field": "time", "format": ".3~s", "title": "time [s]"},
            ],
        },
    }
    rule = {
        "data": {"values": [{}]},
        "transform": [{"calculate": "limit", "as": "tp"}, {"filter": "limit < 64"}],
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "currentColor"},
        "encoding": {"x": {"field": "tp", "type": "quantitative"}},
    }
    return VegaLite(
        {
            "description": "Arithmetic and collectives of an MLP against its tensor-parallel degree",
            "title": {
                "text": {"expr": "'the network is the longer one from ' + format(limit, '.1f') + ' GPUs on'"},
                "anchor": "start",
            },
            "params": params,
            "width": 520,
            "height": 260,
            "layer": [curves, rule],
            "config": chart_style(),
        }
    )


def context_explorer(model: str = "llama3-70b", cp: int = 8, between: bool = False) -> VegaLite:
    """A step of ring attention, its next block, and the exchanges of Ulysses in a layer, against the sequence's length.

    Choose the model and the wires (NVLink of an H100, or a cable of 50 GB/s), slide the ranks. A causal mask whose work
    is spread evenly halves the arithmetic. Raises KeyError for a model that the chart does not have.
    """
    if model not in MODELS:
        raise KeyError(f"no model {model!r} in this chart; known: {', '.join(MODELS)}")
    rows = {key: models[key] for key in MODELS}
    chip = accelerators["h100-sxm"]
    number = lambda name: f"({ {key: getattr(one, name) for key, one in rows.items()} })[model]"
    wires = {"nvlink": "NVLink", "card": "a network card"}
    params = [
        {"name": "model", "value": model, "bind": _choice("model ", {key: one.name for key, one in rows.items()})},
        {"name": "wire", "value": "card" if between else "nvlink", "bind": _choice("wires ", wires)},
        {
            "name": "rings",
            "value": cp.bit_length() - 1,
            "bind": {"input": "range", "min": 1, "max": 6, "step": 1, "name": "ranks, a power of two "},
        },
        {"name": "cp", "expr": "pow(2, rings)"},
        {"name": "C", "value": chip.bf16_flops},
        {"name": "W", "expr": f"wire == 'card' ? {chip.nic_bandwidth} : {chip.scaleup_bandwidth}"},
        {"name": "n_q", "expr": number("heads")},
        {"name": "K", "expr": number("kv_heads")},
        {"name": "H", "expr": number("head_dim")},
        {"name": "G", "expr": "n_q/K"},
        {"name": "own", "expr": ring_causal_critical_tokens.vega_with({"b": "2"})},
    ]
    whole = {"T": "datum.T", "B": "datum.T", "b": "2"}
    in_chart = lambda f: f.vega_with({name: text for name, text in whole.items() if name in f.args})
    curves = {
        "ring: attention of a step": f"({in_chart(ring_step_math_time)})/2",
        "ring: the next block": in_chart(ring_step_comm_time),
        "Ulysses: attention": f"({in_chart(ulysses_math_time)})/2",
        "Ulysses: exchanges": in_chart(ulysses_time),
    }
    computed = [
        {"calculate": "sequence(10, 20.01, 0.25)", "as": "log_T"},
        {"flatten": ["log_T"]},
        {"calculate": "pow(2, datum.log_T)", "as": "T"},
        *({"calculate": expression, "as": name} for name, expression in curves.items()),
        {"fold": [*curves], "as": ["what", "time"]},
    ]
    style = lambda values: {
        "field": "what",
        "type": "nominal",
        "title": None,
        "legend": {"orient": "bottom", "columns": 2, "labelLimit": 220},
        "scale": {"domain": [*curves], "range": values},
    }
    blue, orange = COLOURS[:2]
    x = {
        "field": "T",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2},
        "title": "tokens of the sequence",
        "axis": {"values": [2**k for k in range(10, 21, 2)], "format": ",d"},
    }
    lines = {
        "data": {"values": [{}]},
        "transform": computed,
        "mark": {"type": "line", "strokeWidth": 2.2, "point": {"size": 60, "opacity": 0}, "tooltip": True},
        "encoding": {
            "x": x,
            "y": {
                "field": "time",
                "type": "quantitative",
                "scale": {"type": "log"},
                "title": "time",
                "axis": {"labelExpr": SECONDS, "tickCount": 6},
            },
            "color": style([blue, blue, orange, orange]),
            "strokeDash": style([[1, 0], [6, 3], [1, 0], [6, 3]]),
            "tooltip": [
                {"field": "what"},
                {"field": "T", "format": ",.0f", "title": "tokens"},
                {"field": "time", "format": ".3~s", "title": "time [s]"},
            ],
        },
    }
    rule = {
        "data": {"values": [{}]},
        "transform": [{"calculate": "own*cp", "as": "T"}, {"filter": "datum.T > 1024 && datum.T < 1048576"}],
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "currentColor"},
        "encoding": {"x": {"field": "T", "type": "quantitative"}},
    }
    title = (
        "'a ring hides its blocks from ' + format(own, ',.0f') + ' tokens of a rank on, ' + format(own*cp, ',.0f')"
        " + ' in all'"
    )
    return VegaLite(
        {
            "description": (
                "Arithmetic and communication of ring attention and of Ulysses against the length of a sequence"
            ),
            "title": {"text": {"expr": title}, "anchor": "start"},
            "params": params,
            "width": 520,
            "height": 280,
            "layer": [lines, rule],
            "config": chart_style(),
        }
    )
