"""What makes drafts for speculative decoding: a module of the model's own, or a head beside it; one layer each.

A module for multi-token prediction has a layer like the model's last, and its two tables (deepseek-v3). EAGLE-3's head
has a dense layer of 16 bits, an output layer of fewer tokens, and reads states of three layers of the model (eagle3).
Drafts come one after another, each in a pass of that layer; the first pass also takes what the last step accepted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hwlib.inference import speculative_tokens
from hwlib.specs import Model
from hwlib.specs.draft_measurements import METHODS
from hwlib.specs.table import unknown

MOST_DRAFTS = 16
HEAD_VOCAB = 32_000  # rows of the output layer of EAGLE-3's heads (draft_vocab_size of the published ones)
JOINED = {"mtp": 2, "eagle3": 3}
"""Vectors that a pass joins by a matrix: a state and an embedding; of a head, states of three layers."""


@dataclass(frozen=True)
class Drafting:
    """So many drafts in a chain by a method, of which each is accepted with the same chance if all before it are.

    >>> round(Drafting("mtp", 1, 0.85).tokens, 2)
    1.85

    Raises ValueError.
    """

    method: str
    drafts: int
    accept: float

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(unknown("method of speculation", self.method, METHODS))
        if not 1 <= self.drafts <= MOST_DRAFTS:
            raise ValueError(f"drafts: expected 1 to {MOST_DRAFTS}, got {self.drafts!r}")
        if not 0 <= self.accept <= 1:
            raise ValueError(f"accepted drafts: expected a share from 0 to 1, got {self.accept!r}")

    @property
    def tokens(self) -> float:
        """Tokens that a step gives on average, the model's own included."""
        return self.drafts + 1.0 if self.accept == 1 else float(speculative_tokens(self.accept, self.drafts))

    @property
    def joined(self) -> int:
        """Vectors of the model's width that a pass joins."""
        return JOINED[self.method]


def draft_model(model: Model, method: str) -> Model:
    """The layer that makes drafts, as a model of one layer: with attention on every key, or on those that an indexer
    picks in a model's own module.

    >>> draft_model(Model.small(layers=4), "eagle3").layers
    1
    """
    none = {"pattern": "", "mixer": None, "indexer": None, "compression": None, "hashed_layers": 0}
    plain = model.replace(layers=1, dense_layers=0, window_layers=0, mtp_layers=0, **none)
    if method == "mtp" and (x := model.compression):
        return plain.replace(window_layers=1, compression=replace(x, strides=(0,)))
    if method == "mtp":
        return plain.replace(indexer=replace(model.indexer, layers=1)) if model.indexer else plain
    dense = {"experts": 1, "experts_per_token": 1, "shared_experts": 0, "expert_width": 0, "expert_ffn": 0}
    flags = {"shared_gate": False, "router_bias": False, "streams": 0}
    return plain.replace(**dense, **flags, vocab=min(model.vocab, HEAD_VOCAB))
