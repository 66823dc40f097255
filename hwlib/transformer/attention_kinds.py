"""The kinds of attention of a model: layers with a window, and those without, which may have other heads."""

from typing import NamedTuple

from hwlib.specs import Model


class AttentionKind(NamedTuple):
    """So many layers of one kind: their heads are those of `model`, and `window` the keys that a token sees at most,
    0 where it sees all.
    """

    model: Model
    layers: int
    window: int


def attention_kinds(model: Model) -> tuple[AttentionKind, ...]:
    """The kinds that the model has, those with a window first; none of a model without attention."""
    kinds = (
        AttentionKind(model, model.window_layers, model.window),
        AttentionKind(model.full_view, model.attention_layers - model.window_layers, 0),
    )
    return tuple(kind for kind in kinds if kind.layers)
