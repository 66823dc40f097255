"""A live figure of one decode step: its parts against the batch, what the roofline allows, what was published."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from hwlib.calibrated.decode_parts import FUSED, LAUNCHED, step_constants
from hwlib.inference import (
    batch_limit,
    cache_copies,
    cache_time,
    decode_time,
    host_step_time,
    launched_step_time,
    scaled_weight_bytes,
    step_bytes,
    tensor_decode_time,
    weight_bytes,
    weight_time,
)
from hwlib.roofline import compute_time
from hwlib.specs import Model, accelerators, measured_decodes, measured_requests, models
from hwlib.transformer import forward_flops, kv_bytes_per_token, matmul_parameters
from hwlib.widgets.live import _text, module_source

STEP_FORMULAS = (
    weight_time,
    compute_time,
    forward_flops,
    cache_copies,
    cache_time,
    tensor_decode_time,
    host_step_time,
    launched_step_time,
    batch_limit,
    decode_time,
)
CHIPS = ("a100-80gb-sxm", "h100-sxm", "h200-sxm", "b200-sxm")
DEGREES = (1, 2, 4, 8)
GPT = Model.small(
    layers=44,
    width=6144,
    heads=48,
    vocab=51200,
    gated=False,
    key="gpt-20b",
    name="GPT 20B",
    source="fastertransformer",
    confidence="seen",
)
SHAPES: Mapping[str, Model] = {key: models[key] for key in ("llama3-8b", "llama3-70b", "llama2-70b")} | {GPT.key: GPT}
WEIGHTS = {16: 2.0, 8: 1.0, 4: float(scaled_weight_bytes(0.5, 4, 32))}  # B; a scale and a zero for 32 of 4 bits
CACHE = {16: 2.0, 8: 1.0}
BITS = {"bf16": 16, "int8w": 8, "int4w": 4}
PROMPT, ANSWER = 5, 200  # tokens of gpt-fast's requests
LONG, SHORT = (80, 200), (60, 20)  # tokens in and out of the two requests whose difference is so many steps
READ = LONG[1] - SHORT[1]


def decode_explorer(
    model: str = "llama3-70b",
    chip: str = "h100-sxm",
    tp: int = 8,
    B: int = 1,
    T: int = 8192,
    weights: int = 16,
    kv: int = 16,
    graph: bool = True,
    launch: float = 24.0,
) -> Any:
    """A decode step of B sequences of T tokens: cut into its parts, and against the batch.

    Parts are those of `hwlib.calibrated.decode_parts`, the roofline is `decode_time` at the data sheet's rates, and the
    line at which the caches are full is `batch_limit`. `weights` and `kv` are bits of a weight and of the cache;
    without `graph` the host launches each kernel, `launch` microseconds apart. Published steps are diamonds, and a list
    of them sets everything as it was published. In a notebook all of these follow the reader, and can be set.
    Raises KeyError for a model or a chip that the figure does not have, ValueError for another degree or format.
    """
    for name, value, known in (("model", model, SHAPES), ("chip", chip, CHIPS)):
        if value not in known:
            raise KeyError(f"no {name} {value!r} in this figure; known: {', '.join(known)}")
    for name, number, allowed in (("tp", tp, DEGREES), ("weights", weights, WEIGHTS), ("kv", kv, CACHE)):
        if number not in allowed:
            raise ValueError(f"decode_explorer: {name} is one of {', '.join(map(str, allowed))}, got {number}")
    return _explorer()(
        shapes={key: _shape(one) for key, one in SHAPES.items()},
        chips={key: _chip(key) for key in CHIPS},
        rows=published(),
        model=model,
        chip=chip,
        tp=tp,
        B=B,
        T=T,
        weights=str(weights),
        kv=str(kv),
        host="graph" if graph else "eager",
        launch=launch,
    )


@cache
def published() -> list[dict[str, Any]]:
    """The published steps of the figure's models, as JSON: gpt-fast's of one sequence, and FasterTransformer's of up
    to 256, read from two requests.
    """
    rows: list[dict[str, Any]] = [
        {
            "who": "gpt-fast",
            "model": r.model,
            "chip": r.chip,
            "tp": r.tp,
            "weights": str(BITS[r.dtype]),
            "kv": "16",
            "B": 1,
            "T": PROMPT + ANSWER // 2,
            "time": r.time,
        }
        for r in measured_decodes()
        if r.model in SHAPES and r.chip in CHIPS
    ]
    times = {(r.tp, r.batch, r.input, r.output): r.time for r in measured_requests()}
    for tp, batch in sorted({key[:2] for key in times}):
        pair = [times.get((tp, batch, *load)) for load in (LONG, SHORT)]
        if pair[0] is not None and pair[1] is not None:
            rows.append(
                {
                    "who": "FasterTransformer",
                    "model": GPT.key,
                    "chip": "a100-80gb-sxm",
                    "tp": tp,
                    "weights": "16",
                    "kv": "16",
                    "B": batch,
                    "T": (SHORT[0] + SHORT[1] + sum(LONG)) // 2,
                    "time": (pair[0] - pair[1]) / READ,
                }
            )
    return [row for row in rows if row["tp"] in DEGREES]


def _shape(one: Model) -> dict[str, Any]:
    """The numbers of a model that the figure needs, as JSON: P_read are the weights that a step reads."""
    return {
        "name": one.name,
        "L": one.layers,
        "D": one.width,
        "K": one.kv_heads,
        "P": weight_bytes(one, 1.0),
        "P_read": step_bytes(one, 1, 1.0),
        "P_mul": float(matmul_parameters(one)),
        "kv": kv_bytes_per_token(one, 1.0),
    }


@cache
def _chip(key: str) -> dict[str, Any]:
    """A chip's data sheet and what it reaches, as JSON."""
    sheet = accelerators[key]
    sums = {tp: step_constants(key, tp) for tp in DEGREES if tp > 1}
    constants = step_constants(key)
    return {
        "name": sheet.name,
        "W": sheet.hbm_bandwidth,
        "C": sheet.bf16_flops,
        "S": sheet.hbm_bytes,
        "W_got": constants.W,
        "C_got": constants.C,
        "t0": constants.t0,
        "sums": {str(tp): {"alpha": c.alpha, "W": c.W_sum} for tp, c in sums.items()},
    }


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class DecodeExplorer(AnyWidget):
        _esm = module_source("decode_explorer", STEP_FORMULAS)
        _css = _text("figure.css")
        shapes = traitlets.Dict().tag(sync=True)
        chips = traitlets.Dict().tag(sync=True)
        rows: Any = traitlets.List().tag(sync=True)
        bytes = traitlets.Dict({str(bits): b for bits, b in WEIGHTS.items()}).tag(sync=True)
        kernels = traitlets.Dict({"graph": FUSED, "eager": LAUNCHED}).tag(sync=True)
        model = traitlets.Unicode().tag(sync=True)
        chip = traitlets.Unicode().tag(sync=True)
        tp = traitlets.Int(min=1, max=8).tag(sync=True)
        B = traitlets.Int(min=1, max=1024).tag(sync=True)
        T = traitlets.Int(min=1, max=2**20).tag(sync=True)
        weights = traitlets.Enum([str(bits) for bits in WEIGHTS]).tag(sync=True)
        kv = traitlets.Enum([str(bits) for bits in CACHE]).tag(sync=True)
        host = traitlets.Enum(["graph", "eager"]).tag(sync=True)
        launch = traitlets.Float(min=0.1).tag(sync=True)

        @traitlets.validate("model")
        def _model(self, proposal: Any) -> str:
            return _known("model", proposal["value"], self.shapes)

        @traitlets.validate("chip")
        def _of_chips(self, proposal: Any) -> str:
            return _known("chip", proposal["value"], self.chips)

    def _known(name: str, value: str, table: Mapping[str, Any]) -> str:
        if value not in table:
            raise traitlets.TraitError(f"unknown {name} {value!r}; known: {', '.join(table)}")
        return value

    return DecodeExplorer
