"""How many layers the stages of a pipeline have, where they do not divide.

Most stages have the same whole number of layers in each of their chunks. Where that is more than there are, one layer
is missing at each end, and the embedding and the output layer stand in its place, as in Llama 3 405B with its 126
layers (llama3, section 3.3.2). More are missing in the last chunk, as in NVIDIA's layouts of DeepSeek-V3, in which that
holds the output layer and little else (megatron-bridge); what it cannot be without, the stages before it lack.
"""

from typing import Any, NamedTuple

from hwlib.formula import ceil, maximum, minimum, where


class StageLayers(NamedTuple):
    """Layers of a chunk and of a full stage; how many the first stage and the last have less; and the stages before the
    last one that have one less.
    """

    chunk: Any
    full: Any
    first: Any
    last: Any
    others: Any


def stage_layers(layers: int, pp: Any, v: Any) -> StageLayers:
    """How `layers` are spread over pp stages of v chunks.

    >>> stage_layers(61, 16, 1)
    StageLayers(chunk=4, full=4, first=1, last=2, others=0)
    >>> stage_layers(126, 16, 8)
    StageLayers(chunk=1, full=8, first=1, last=1, others=0)
    """
    chunk = ceil(layers / (pp * v))
    short = chunk * pp * v - layers
    first = where((short > 1) & (pp > 2), 1, 0)
    last = minimum(short - first, where(v == 1, maximum(chunk - 1, 0), chunk))
    others = minimum(short - first - last, maximum(pp - 2, 0))
    return StageLayers(chunk, minimum(chunk * v, layers), first, last, others)
