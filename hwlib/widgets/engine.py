"""A live figure of a serving engine: each request's row, and how long its users wait, as policy and load change."""

from functools import cache
from random import Random
from typing import Any

from hwlib.engine import POLICIES, Request, cache_room, step_cost
from hwlib.widgets.live import _text, module_source

MODEL, CHIP, GPUS = "llama3-70b", "h100-sxm", 8
REQUESTS, SHORT, ANSWER, SEATS = 240, 500, (60, 240), 256  # an answer's length is drawn evenly between two
SEED = 16


def engine_explorer(
    policy: str = "chunked",
    budget: int = 512,
    rate: float = 4.0,
    share: float = 0.1,
    long: int = 8000,
    price: float = 2.0,
    row: int = 20,
) -> Any:
    """A server of Llama 3.1 70B on eight H100, played step by step: which request is read or generates, and when.

    `rate` requests arrive a second, of which a `share` have prompts of `long` tokens and the others of 500; `policy`
    and `budget` say what goes into a step, as in `hwlib.engine`, and `price` is in dollars for a GPU and hour. The rows
    begin with request `row`. Quantiles are those of the whole run. In a notebook all of these follow the reader, and
    can be set. Raises KeyError for an unknown policy, ValueError for a number out of range.
    """
    if policy not in POLICIES:
        raise KeyError(f"no policy {policy!r} in this figure; known: {', '.join(POLICIES)}")
    if not (budget >= 1 and rate > 0 and 0 <= share <= 1 and long >= 1 and price >= 0 and 0 <= row < REQUESTS):
        raise ValueError(
            f"engine_explorer: {budget=}, {rate=}, {share=}, {long=}, {price=}, {row=}: one is out of range"
        )
    return _explorer()(policy=policy, budget=budget, rate=rate, share=share, long=long, price=price, row=row)


@cache
def drawn() -> dict[str, list[Any]]:
    """What chance decides of the figure's requests: times between them in units of their mean, a number from 0 to 1
    that says which prompts are long, and the lengths of the answers.
    """
    rng = Random(SEED)
    numbers = range(REQUESTS)
    return {
        "gaps": [rng.expovariate(1.0) for _ in numbers],
        "draws": [rng.random() for _ in numbers],
        "outputs": [rng.randint(*ANSWER) for _ in numbers],
    }


def explored_requests(rate: float, share: float, long: int) -> tuple[Request, ...]:
    """The figure's requests, for `hwlib.engine.run_engine`."""
    known, at, requests = drawn(), 0.0, []
    for gap, draw, output in zip(known["gaps"], known["draws"], known["outputs"], strict=True):
        at += gap / rate
        requests.append(Request(at, long if draw < share else SHORT, output))
    return tuple(requests)


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class EngineExplorer(AnyWidget):
        _esm = module_source("engine_explorer", ())
        _css = _text("figure.css")
        cost = traitlets.Dict(step_cost(MODEL, CHIP, tp=GPUS)._asdict()).tag(sync=True)
        gaps: Any = traitlets.List(drawn()["gaps"]).tag(sync=True)
        draws: Any = traitlets.List(drawn()["draws"]).tag(sync=True)
        outputs: Any = traitlets.List(drawn()["outputs"]).tag(sync=True)
        short = traitlets.Int(SHORT).tag(sync=True)
        seats = traitlets.Int(SEATS).tag(sync=True)
        room = traitlets.Int(cache_room(MODEL, CHIP, tp=GPUS)).tag(sync=True)
        gpus = traitlets.Int(GPUS).tag(sync=True)
        policy = traitlets.Enum([*POLICIES]).tag(sync=True)
        budget = traitlets.Int(min=1).tag(sync=True)
        rate = traitlets.Float(min=0.01).tag(sync=True)
        share = traitlets.Float(min=0, max=1).tag(sync=True)
        long = traitlets.Int(min=1).tag(sync=True)
        price = traitlets.Float(min=0).tag(sync=True)
        row = traitlets.Int(min=0, max=REQUESTS - 1).tag(sync=True)

    return EngineExplorer
