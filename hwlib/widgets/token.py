"""Interactive figures of a decoder's layer: what one token costs in it, and latent attention computed in two ways."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from hwlib.specs import Model, models
from hwlib.transformer import (
    attention_forward_flops,
    attention_params,
    forward_flops,
    kv_token_bytes,
    mla_folded_flops,
    mla_unfolded_flops,
    mlp_params,
)
from hwlib.widgets.charts import VegaLite, chart_style
from hwlib.widgets.live import _text, module_source

TOKEN_FORMULAS = (attention_params, mlp_params, forward_flops, attention_forward_flops, kv_token_bytes)
SHAPES = ("llama3-8b", "llama3-70b", "llama3-405b", "qwen3-32b")
WAYS = {"unfolded": mla_unfolded_flops, "folded": mla_folded_flops}
COLOURS = ("#2f83c9", "#d55e00")


def token_explorer(
    model: str = "llama3-8b",
    T: int = 8192,
    G: int = 4,
    E: int = 1,
    B: int = 256,
    choices: Iterable[Model] | None = None,
) -> Any:
    """One token through one layer: the FLOPs and the bytes of each operation as areas, each row one whole.

    T keys are in the token's context, G query heads share a key, B tokens share the weights that a step reads. With
    E > 1 the MLP is cut into experts an eighth as wide, of which the token visits eight, so that its FLOPs stay.
    `.model`, `.T`, `.G`, `.E` and `.B` follow the reader, and can be set. `choices` defaults to four dense models.
    Raises KeyError for a model that is not among them.
    """
    rows = {one.key: _row(one) for one in ([models[key] for key in SHAPES] if choices is None else choices)}
    if model not in rows:
        raise KeyError(f"no model {model!r} in this figure; known: {', '.join(rows)}")
    return _explorer()(shapes=rows, model=model, T=T, G=G, E=E, B=B)


def _row(one: Model) -> dict[str, Any]:
    """The numbers of a model that the figure needs, as JSON."""
    return {"name": one.name, "D": one.width, "F": one.ffn, "n_q": one.heads, "H": one.head_dim}


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class TokenExplorer(AnyWidget):
        _esm = module_source("token_explorer", TOKEN_FORMULAS)
        _css = _text("figure.css")
        shapes = traitlets.Dict().tag(sync=True)
        model = traitlets.Unicode().tag(sync=True)
        T = traitlets.Int(min=1).tag(sync=True)
        G = traitlets.Int(min=1).tag(sync=True)
        E = traitlets.Int(min=1).tag(sync=True)
        B = traitlets.Int(min=1).tag(sync=True)

        @traitlets.validate("model")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.shapes:
                raise traitlets.TraitError(f"unknown model {proposal['value']!r}; known: {', '.join(self.shapes)}")
            return proposal["value"]

    return TokenExplorer


def latent_explorer(T_kv: int = 4096, model: str = "deepseek-v3") -> VegaLite:
    """FLOPs of one query token in a layer of latent attention, unfolded and folded, against the queries of the step.

    A slider sets T_kv, a power of two from 256 to 131,072. Raises ValueError for another, or a model without MLA.
    """
    latent, steps = models.of(model), T_kv.bit_length() - 1
    if T_kv != 2**steps or not 8 <= steps <= 17:
        raise ValueError(f"latent_explorer: T_kv is a power of two, 256 to 131072 tokens, got {T_kv}")
    if not latent.mla:
        raise ValueError(f"latent_explorer: a model with latent attention, got {latent.name}")
    sizes = {
        "n_q": latent.heads,
        "r_kv": latent.kv_lora,
        "d_nope": latent.nope_dim,
        "d_rope": latent.rope_dim,
        "d_v": latent.v_dim,
    }
    letters = {"T": "datum.queries", "T_kv": "T_kv", **{name: str(size) for name, size in sizes.items()}}
    unfolded, folded = (way.vega_with(letters) for way in WAYS.values())
    colour = {
        "field": "way",
        "type": "nominal",
        "title": None,
        "sort": [*WAYS],
        "scale": {"domain": [*WAYS], "range": [*COLOURS]},
    }
    dash = {**colour, "scale": {"domain": [*WAYS], "range": [[1, 0], [6, 3]]}}
    powers = {"values": [4**k for k in range(8)], "format": ",d", "title": "tokens of the step, T"}
    return VegaLite(
        {
            "description": (
                "Operations of one query token in latent attention, computed in two ways, against the queries"
            ),
            "title": {"text": {"expr": "[format(T_kv, ',d') + ' tokens of context']"}, "anchor": "start"},
            "params": [
                {
                    "name": "power",
                    "value": steps,
                    "bind": {"input": "range", "min": 8, "max": 17, "step": 1, "name": "context, as a power of two "},
                },
                {"name": "T_kv", "expr": "pow(2, power)"},
            ],
            "data": {"values": [{"way": name} for name in WAYS]},
            "width": 520,
            "height": 260,
            "transform": [
                {"calculate": "sequence(0, 14.01, 0.25)", "as": "doubled"},
                {"flatten": ["doubled"]},
                {"calculate": "pow(2, datum.doubled)", "as": "queries"},
                {"calculate": f"(datum.way == 'unfolded' ? ({unfolded}) : ({folded}))/datum.queries", "as": "flops"},
            ],
            "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 60, "opacity": 0}, "tooltip": True},
            "encoding": {
                "x": {
                    "field": "queries",
                    "type": "quantitative",
                    "axis": powers,
                    "scale": {"type": "log", "base": 2, "domain": [1, 16384]},
                },
                "y": {
                    "field": "flops",
                    "type": "quantitative",
                    "scale": {"type": "log"},
                    "title": "FLOPs of one token",
                    "axis": {"format": "~s", "values": [10**k for k in range(6, 15)]},
                },
                "color": colour,
                "strokeDash": dash,
                "tooltip": [
                    {"field": "way"},
                    {"field": "queries", "format": ",.0f"},
                    {"field": "flops", "format": ".3~s", "title": "FLOPs"},
                ],
            },
            "config": chart_style(),
        }
    )
