"""Features: what a training software can do, as far as a plan chooses it; frozen records, from the
sections `features` of software.toml.

Schedules, chunks and stages of ZeRO are the software's to offer: a plan with a schedule that nobody has written for it
is a wish. A stack names the row of its software; one that names none, such as an ideal machine, has everything.

>>> features["megatron-core"].schedules
('1f1b',)
>>> features["megatron-core"].recomputes("layernorm+mlp"), features["megatron-core"].recomputes("op")
(True, False)
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hwlib.specs.reader import number, switch, text, texts
from hwlib.specs.software_sections import FILE, sections_of
from hwlib.specs.table import SpecError, Table, file_text

DEGREES = {
    "tp": "tensor parallelism",
    "sp": "sequence parallelism",
    "pp": "pipeline",
    "cp": "context parallelism",
    "ep": "expert parallelism",
}
"""The degrees that a software may have or lack; it always has data parallelism."""
STAGES = (0, 1, 2, 3)
NAMED = ("selective", "full", "op")  # ways of recomputation that are not a list of modules
MODULES = "modules"
FOLDED = "tensor degree of experts apart from that of other matrices"


def _stages(place: str, cell: Any) -> tuple[int, ...]:
    if not isinstance(cell, list) or any(type(one) is not int or one not in STAGES for one in cell):
        raise SpecError(f"{place}: expected a list of ZeRO's stages, 0 to 3, got {cell!r}")
    return tuple(cell)


def _degrees(place: str, cell: Any) -> tuple[str, ...]:
    if not isinstance(cell, list) or any(one not in DEGREES for one in cell):
        raise SpecError(f"{place}: expected a list of {', '.join(DEGREES)}, got {cell!r}")
    return tuple(cell)


@dataclass(frozen=True, kw_only=True)
class Features:
    """What one software has: the degrees beside data parallelism, pipeline schedules (1F1B with up to `most_chunks`
    chunks of layers on a rank), what it can recompute, stages of ZeRO without a pipeline and with one (`piped_zero`),
    whether ZeRO may divide states among fewer ranks than all (`hsdp`), and whether experts may have a tensor degree of
    their own (`folded`). It usually sends a token once to each node and rank that has one of its experts
    (`dedup_dispatch`), or in copies; `hwlib.specs.recipe` says for which models not. With `mtp` it trains a model's
    modules for multi-token prediction, unless it is told not to.
    """

    key: str
    name: str
    source: str
    degrees: tuple[str, ...] = field(metadata={"bare": _degrees})
    schedules: tuple[str, ...] = texts()
    recompute: tuple[str, ...] = texts()
    most_chunks: int = number(1, whole=True)
    zero: tuple[int, ...] = field(metadata={"bare": _stages})
    piped_zero: tuple[int, ...] = field(metadata={"bare": _stages})
    hsdp: bool = switch(False)
    folded: bool = switch(False)
    dedup_dispatch: bool = switch(False)
    mtp: bool = switch(False)
    note: str = text()

    def recomputes(self, word: str) -> bool:
        """Whether it can recompute this: a name of its own, or modules ("layernorm+mlp") where it can any."""
        return word in ("none", *self.recompute) or (MODULES in self.recompute and word not in NAMED)

    def without(self, what: str) -> str:
        """The reason for rejecting a plan that needs this."""
        return f"{self.name} has no {what}"


def read_features(file: str, content: str) -> Iterator[Features]:
    """The features of a file's text. Raises SpecError, naming file, row, section and field."""
    for section, values in sections_of(Features, file, content, "features"):
        row = Features(key=section.key, **values)
        if not row.schedules or row.most_chunks < 1:
            raise SpecError(f"{section.place}: expected at least one schedule, and one chunk")
        yield row


features: Table[Features] = Table("features", lambda file: read_features(file, file_text(file)), (FILE,))
