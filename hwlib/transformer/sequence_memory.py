"""What one sequence keeps in all layers while it is generated: keys and values, keys of indexers, and states."""

from typing import Any, NamedTuple

from hwlib.specs import Model, models
from hwlib.transformer.layer_counts import index_bytes_per_token, mixer_state_bytes, sequence_state_bytes
from hwlib.transformer.model_counts import kv_bytes_per_token, kv_cache_bytes
from hwlib.transformer.state_layers import state_equal_tokens


class SequenceMemory(NamedTuple):
    """Bytes of one sequence: its cache of keys and values, the keys of indexers beside it, and its states, which do not
    grow with its length.
    """

    cache: Any
    index: Any
    state: Any

    @property
    def total(self) -> Any:
        return self.cache + self.index + self.state


def sequence_memory(model: Model | str, tokens: Any, b: float = 2) -> SequenceMemory:
    """The bytes of one sequence of so many tokens, with b bytes an element of the cache.

    >>> [int(size) for size in sequence_memory("llama3-8b", 1024)]
    [134217728, 0, 0]
    """
    model = models.of(model)
    index = tokens * index_bytes_per_token(model)
    return SequenceMemory(kv_cache_bytes(model, tokens, b) - index, index, sequence_state_bytes(model))


def state_tokens(model: Model | str, b: float = 2) -> float:
    """Tokens whose keys and values in a layer of attention take as many bytes as the state of a layer that keeps one: a
    longer sequence gains by the state. 0 of a model in which no layer keeps a state, or all do.
    """
    model = models.of(model)
    if not model.mixer or not model.attention_layers:
        return 0.0
    a_token = (kv_bytes_per_token(model, b) - index_bytes_per_token(model)) / model.attention_layers
    return float(state_equal_tokens(mixer_state_bytes(model.mixer), a_token))
