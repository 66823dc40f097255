"""The kinds of attention of a model: layers with a window, those without, which may have other heads, and those that
read entries of several tokens beside a window.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from hwlib.formula import minimum
from hwlib.specs import Model
from hwlib.transformer.compressed import entries_read


class AttentionKind(NamedTuple):
    """So many layers of one kind: their heads are those of `model`, and `window` the keys that a token sees at most,
    0 where it sees all; of these it reads so many that are `picked` by an index, 0: all of them. With a `stride` it
    reads beside its window entries of so many tokens each, and those are picked.
    """

    model: Model
    layers: int
    window: int
    picked: int = 0
    stride: int = 0

    def keys_kept(self, tokens: Any) -> Any:
        """Keys in the cache of a layer behind so many tokens."""
        seen = minimum(tokens, self.window) if self.window else tokens
        return seen + tokens / self.stride if self.stride else seen

    def keys_read(self, tokens: Any) -> Any:
        """Keys that a new token reads of them."""
        if self.stride:
            return entries_read.function(tokens, self.stride, self.picked or tokens, self.window)
        return minimum(self.keys_kept(tokens), self.picked) if self.picked else self.keys_kept(tokens)


def attention_kinds(model: Model) -> tuple[AttentionKind, ...]:
    """The kinds that the model has, those with a window first; none of a model without attention."""
    if model.compression:
        return tuple(_compressed_kinds(model))
    full, index = model.attention_layers - model.window_layers, model.indexer
    sparse = full if index and model.mla else min(index.layers, full) if index else 0
    kinds = (
        AttentionKind(model, model.window_layers, model.window),
        AttentionKind(model.full_view, sparse, 0, index.top if index else 0),
        AttentionKind(model.full_view, full - sparse, 0),
    )
    return tuple(kind for kind in kinds if kind.layers)


def _compressed_kinds(model: Model) -> Iterator[AttentionKind]:
    """Layers of each stride, those with a window alone first."""
    assert model.compression
    strides, sparse = model.compression.strides, model.compression.sparse
    for stride in sorted(set(strides)):
        picked = model.indexer.top if model.indexer and stride == sparse else 0
        yield AttentionKind(model, strides.count(stride), model.window, picked, stride)
