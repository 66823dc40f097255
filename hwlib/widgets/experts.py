"""The interactive figure of expert parallelism: tokens on their way to experts, bytes on every network card."""

from functools import cache
from typing import Any

from hwlib.parallel import drawn_imbalance
from hwlib.parallel.expert_traffic import COPIES
from hwlib.specs import accelerators, models, nodes
from hwlib.widgets.live import _text, module_source

MODELS = ("deepseek-v3", "qwen3-235b-a22b", "gpt-oss-120b")
NODE, CHIP = "dgx-h100", "h100-sxm"
NODES, LIMITS = (2, 4, 8), (1, 2, 4, 8)


def expert_explorer(
    model: str = "deepseek-v3",
    nodes: int = 8,
    tokens: int = 32,
    skew: float = 0.0,
    copies: str = "expert",
    limit: int = 8,
    fp8: bool = False,
    redundant: bool = False,
) -> Any:
    """One layer of experts over `nodes` of eight H100: a router is drawn, and its tokens travel.

    Choose for what a token is copied, to how many nodes it may go, whether it is dispatched in FP8, and whether each
    rank holds one of its node's busiest experts more. The figure follows one token after another, and draws the load of
    every rank and the bytes of every network card; the numbers are those of `hwlib.parallel.expert_traffic`. `skew`
    says how much the router likes some experts better, from 0 to 2. Raises KeyError for a model that it does not have,
    ValueError for another number of nodes, a limit or copies that it does not know.
    """
    if model not in MODELS:
        raise KeyError(f"no model {model!r} in this figure; known: {', '.join(MODELS)}")
    for name, value, known in (("nodes", nodes, NODES), ("limit", limit, LIMITS), ("copies", copies, COPIES)):
        if value not in known:
            raise ValueError(f"expert_explorer: {name} is one of {', '.join(map(str, known))}, got {value!r}")
    return _explorer()(
        models={key: _model(key) for key in MODELS},
        machine=_machine(),
        model=model,
        nodes=nodes,
        tokens=tokens,
        skew=skew,
        copies=copies,
        limit=limit,
        fp8=fp8,
        redundant=redundant,
        rank=_machine()["inner"] * nodes // 2 - 5,
    )


def _model(key: str) -> dict[str, Any]:
    """The numbers of a layer that the figure needs, as JSON."""
    model = models[key]
    return {
        "name": model.name,
        "E": model.experts,
        "k": model.experts_per_token,
        "D": model.width,
        "F": model.expert_ffn,
    }


def _machine() -> dict[str, Any]:
    node, chip = nodes[NODE], accelerators[CHIP]
    assert node.network_bandwidth is not None
    return {
        "name": node.name,
        "inner": node.chips,
        "W_in": node.scaleup_bandwidth,
        "W_out": node.network_bandwidth / node.chips,
        "C": chip.bf16_flops,
        "W": chip.hbm_bandwidth,
    }


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class ExpertExplorer(AnyWidget):
        _esm = module_source("expert_explorer", (drawn_imbalance,))
        _css = _text("figure.css")
        models = traitlets.Dict().tag(sync=True)
        machine = traitlets.Dict().tag(sync=True)
        model = traitlets.Unicode().tag(sync=True)
        nodes = traitlets.Int(min=1).tag(sync=True)
        tokens = traitlets.Int(min=1, max=128).tag(sync=True)
        skew = traitlets.Float(min=0, max=4).tag(sync=True)
        copies = traitlets.Enum([*COPIES]).tag(sync=True)
        limit = traitlets.Int(min=1).tag(sync=True)
        fp8 = traitlets.Bool().tag(sync=True)
        redundant = traitlets.Bool().tag(sync=True)
        rank = traitlets.Int(0, min=0).tag(sync=True)
        draw = traitlets.Int(0).tag(sync=True)

        @traitlets.validate("model")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.models:
                raise traitlets.TraitError(f"unknown model {proposal['value']!r}; known: {', '.join(self.models)}")
            return proposal["value"]

    return ExpertExplorer
