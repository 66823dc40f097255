"""Published training steps whose plans mix kinds of parallelism: the table measured_plans.csv.

`hwlib.steptime.published` converts what was printed to seconds, and predicts them.
"""

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from hwlib.specs.accelerator import accelerators
from hwlib.specs.cluster import Level
from hwlib.specs.measured import Cells, Measurements, of
from hwlib.specs.model import Model, models
from hwlib.specs.stack import stacks
from hwlib.units import GB


class MeasuredPlan(NamedTuple):
    """A published step of `sequences` of T tokens on `gpus` chips, with software of the `stack` (a key of `stacks`).

    `model` is a key of `models`, or empty: then the model is a GPT of so many `layers` of `width`, `heads` and rows of
    `vocab`, with learned `positions` or none. `domain` chips share NVLink, and send `network` B/s out of it together,
    one way. `dtype` is that of the layers' products; attention is `fused` or keeps its scores; `recompute` is a word
    of `hwlib.strategy`. What was printed is `value` in `unit` ("s", "ms", "tokens/s" or "TFLOP/s" of a GPU, "% of the
    peak"); `counts` says which operations a rate counts: "model", "unmasked" (attention over all keys) or "recomputed"
    (unmasked, and the forward pass twice). `memory` (B) is a GPU's, as printed, or 0. `asked` are the runs that the
    book asks to be predicted. `source` begins with a key of docs/references.bib.
    """

    key: str
    stack: str
    model: str
    layers: int
    width: int
    heads: int
    vocab: int
    positions: bool
    gpus: int
    domain: int
    network: float
    tp: int
    pp: int
    cp: int
    dp: int
    v: int
    micro: int
    zero: int
    sp: bool
    recompute: str
    fused: bool
    sequences: int
    T: int
    dtype: str
    value: float
    unit: str
    counts: str
    memory: float
    asked: bool
    source: str

    @property
    def paper(self) -> str:
        """The key of its reference."""
        return self.source.split()[0]

    @property
    def chip(self) -> str:
        """The key of its accelerator."""
        return stacks[self.stack].chip

    @property
    def B(self) -> int:
        """Tokens of a step."""
        return self.sequences * self.T

    @property
    def m(self) -> int:
        """Microbatches of a replica."""
        return self.sequences // (self.dp * self.micro)

    @property
    def shape(self) -> Model:
        """The model."""
        if self.model:
            return models[self.model]
        name = f"GPT of {self.layers} layers of width {self.width:,}"
        return Model.small(
            key=self.key,
            name=name,
            layers=self.layers,
            width=self.width,
            heads=self.heads,
            vocab=self.vocab,
            context=self.T,
            gated=False,
            tied=True,
            biases="all",
            norm="layer",
            dropout=True,
            positions=self.T if self.positions else 0,
        )

    @property
    def levels(self) -> tuple[Level, ...]:
        """Domains of NVLink, and a network that passes on all that they send."""
        inner = Level("node", self.domain, float(accelerators[self.chip].scaleup_bandwidth or 0))
        return inner, Level("network", ceil(self.gpus / self.domain), self.network)


def _whole(column: str) -> Callable[[Cells], int]:
    return lambda cells: int(cells[column] or 0)


def _switch(column: str) -> Callable[[Cells], bool]:
    return lambda cells: cells[column] == "yes"


PLANS = Measurements(
    "plan",
    "measured_plans.csv",
    MeasuredPlan,
    network=of("network", GB),
    memory=of("memory", GB),
    **{name: _whole(name) for name in ("layers", "width", "heads", "vocab")},
    **{name: _switch(name) for name in ("positions", "sp", "fused", "asked")},
)


def measured_plans(asked: bool | None = None, source: str | None = None) -> tuple[MeasuredPlan, ...]:
    """The published plans, in the order of the table: all, those that are asked for or the others, or those of a source
    (the key of a reference). Raises ValueError, listing the known ones, if the table has none.
    """
    return PLANS.where(asked=asked, paper=source)
