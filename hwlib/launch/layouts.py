"""Which layers each chunk of a pipeline has, as a software is told where they do not divide."""

from itertools import groupby

from hwlib.footprint.stage_layers import stage_layers
from hwlib.launch.launch import LaunchError
from hwlib.specs import Model
from hwlib.units import plural


def chunk_layers(model: Model, pp: int, v: int) -> tuple[int, ...]:
    """Layers of every chunk, in the model's order: the first pp chunks are the first of each stage.

    Where layers do not divide, the stages that the memory and the time of a plan are counted with are short ones: the
    first lacks a layer in its first chunk, others in their last. Raises LaunchError for more chunks than that can be.

    >>> from hwlib.specs import models
    >>> chunk_layers(models["deepseek-v3"], 16, 1)
    (4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1)
    """
    layers = stage_layers(model, pp, v)
    chunks = [[int(layers.chunk)] * pp for _ in range(v)]
    chunks[0][0] -= int(layers.first)
    chunks[-1][-1] -= int(layers.last)
    for stage in range(pp - 1 - int(layers.others), pp - 1):
        chunks[-1][stage] -= 1
    counts = tuple(count for chunk in chunks for count in chunk)
    if sum(counts) != model.layers or min(counts) < 0:
        stages = f"{plural(pp, 'stage')} of {plural(v, 'chunk')}"
        raise LaunchError(f"emit: {plural(model.layers, 'layer')} cannot be spread over {stages}; fewer would do")
    return counts


def even(model: Model, pp: int, v: int) -> bool:
    """Whether all chunks have as many layers."""
    return model.layers % (pp * v) == 0


def layout_text(model: Model, pp: int, v: int, mtp: int = 0) -> str:
    """The chunks as Megatron Core is told them: E is the embedding, t a layer, m a module for multi-token prediction, L
    the loss; a bar ends a chunk, and what is in brackets is repeated.

    >>> from hwlib.specs import models
    >>> layout_text(models["llama3-405b"], 16, 8)
    'E|(t|)*126L'

    NVIDIA's own layout of DeepSeek-V3 on two stages of eight chunks (megatron-bridge):

    >>> layout_text(models["deepseek-v3"], 2, 8, mtp=1)
    'Etttt|(tttt|)*14tmL'
    """
    chunks = chunk_layers(model, pp, v)
    words = ["t" * count for count in chunks[:-1]]
    head = f"E{words[0]}|" if words else "E"
    runs = [(word, len([*same])) for word, same in groupby(words[1:])]
    body = "".join(f"({word}|)*{count}" if count > 1 else f"{word}|" for word, count in runs)
    return f"{head}{body}{'t' * chunks[-1]}{'m' * mtp}L"


def chunk_modules(model: Model, pp: int, v: int) -> list[list[str]]:
    """The chunks as torchtitan is told them: the names of the modules of each."""
    modules, at = [], 0
    for count in chunk_layers(model, pp, v):
        modules.append([f"layers.{i}" for i in range(at, at + count)])
        at += count
    modules[0].insert(0, "tok_embeddings")
    modules[-1] += ["norm", "lm_head"]
    return modules
