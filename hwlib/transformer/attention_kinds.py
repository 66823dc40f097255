"""The kinds of attention of a model: layers with a window, and those without, which may have other heads."""

from typing import NamedTuple

from hwlib.specs import Model


class AttentionKind(NamedTuple):
    """So many layers of one kind: their heads are those of `model`, and `window` the keys that a token sees at most,
    0 where it sees all; of these it reads so many that are `picked` by an index, 0: all of them.
    """

    model: Model
    layers: int
    window: int
    picked: int = 0


def attention_kinds(model: Model) -> tuple[AttentionKind, ...]:
    """The kinds that the model has, those with a window first; none of a model without attention."""
    full, index = model.attention_layers - model.window_layers, model.indexer
    sparse = full if index and model.mla else min(index.layers, full) if index else 0
    kinds = (
        AttentionKind(model, model.window_layers, model.window),
        AttentionKind(model.full_view, sparse, 0, index.top if index else 0),
        AttentionKind(model.full_view, full - sparse, 0),
    )
    return tuple(kind for kind in kinds if kind.layers)
