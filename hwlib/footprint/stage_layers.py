"""How many layers the stages of a pipeline have, where they do not divide.

Most stages have the same whole number of layers in each of their chunks. Where that is more than there are, embedding
and output layer stand in the place of a layer on the first and on the last stage, as in Llama 3 405B with its 126
layers (llama3, section 3.3.2), BLOOM (bloom-chronicles), and NVIDIA's recipe of Qwen3 235B (megatron-bridge). If more
are missing, the last stage lacks them; so it does where the first stage has dense layers of a model with experts, which
are light enough: in NVIDIA's layouts of DeepSeek-V3 the last chunk holds the output layer and little else. What it
cannot be without, the stages before it lack.
"""

from typing import Any, NamedTuple

from hwlib.formula import ceil, maximum, minimum, where
from hwlib.specs import Model


class StageLayers(NamedTuple):
    """Layers of a chunk and of a full stage; how many the first stage and the last have less; and the stages before the
    last one that have one less.
    """

    chunk: Any
    full: Any
    first: Any
    last: Any
    others: Any


def stage_layers(model: Model, pp: Any, v: Any) -> StageLayers:
    """How the layers of a model are spread over pp stages of v chunks.

    >>> from hwlib.specs import models
    >>> stage_layers(models["deepseek-v3"], 16, 1)
    StageLayers(chunk=4, full=4, first=0, last=3, others=0)
    >>> stage_layers(models["llama3-405b"], 16, 8)
    StageLayers(chunk=1, full=8, first=1, last=1, others=0)
    """
    chunk = ceil(model.layers / (pp * v))
    short = chunk * pp * v - model.layers
    first = where((short > 1) & (pp > 2), 1, 0) if not model.dense_layers else 0
    last = minimum(short - first, where(v == 1, chunk - 1, chunk))
    others = minimum(short - first - last, maximum(pp - 2, 0))
    return StageLayers(chunk, minimum(chunk * v, model.layers), first, last, others)
