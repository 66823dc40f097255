"""Software: all that is known of one software and release; frozen records read from software.toml.

What it reaches of each chip's time, what it holds of a GPU's memory, what it can do, what it sets for some models, and
what it adds to a server's kernels are sections of one row. The tables `stacks`, `frameworks`, `features`, `recipes` and
`serving_stacks` have all sections of one name.

>>> list(software["llm-foundry"].time)
['a100-80gb-sxm', 'h100-sxm']
>>> software["torchtitan-eager"].features.name, software["sglang"].serving.kernels
('torchtitan', 'sglang')
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hwlib.specs.feature import Features, features
from hwlib.specs.framework import Framework, frameworks
from hwlib.specs.recipe import Recipe, recipes
from hwlib.specs.serving_stack import ServingStack, serving_stacks
from hwlib.specs.software_sections import FILE, row_with, software_rows, stack_key
from hwlib.specs.stack import Stack, stacks
from hwlib.specs.table import Table, file_text

USUAL = "megatron-core"
"""The software whose memory is taken where a stack's own is not known."""


@dataclass(frozen=True, kw_only=True)
class Software:
    """One software and release: its constants of time by chip, its memory, what it can do, its recipes, and what it
    adds as a server. Of what no source says there is None, or nothing.
    """

    key: str
    name: str
    time: Mapping[str, Stack]
    memory: Framework | None
    features: Features | None
    serving: ServingStack | None
    recipes: tuple[Recipe, ...]


def _read(file: str) -> Iterator[Software]:
    rows = software_rows(file, file_text(file))
    for key, row in rows.items():
        yield Software(
            key=key,
            name=row.name or key,
            time=MappingProxyType({chip: stacks[stack_key(key, chip)] for chip in row.time}),
            memory=frameworks.get(row_with(rows, row, "memory")),
            features=features.get(row_with(rows, row, "features")),
            serving=serving_stacks.get(key),
            recipes=tuple(recipes[name] for name in row.recipes),
        )


software: Table[Software] = Table("software", _read, (FILE,))


def software_of(stack: Stack | str) -> Software | None:
    """The software of a stack, or of a stack's key: the one whose key the stack's begins with, the longest of several;
    else that of the stack that it is like; None for neither.

    >>> software_of("torchtitan-async-h100").key, software_of("typical-h200-sxm")
    ('torchtitan-async', None)
    """
    names = (stack,) if isinstance(stack, str) else (stack.key, stack.like)
    for name in names:
        if keys := [key for key in software if f"{name}-".startswith(f"{key}-")]:
            return software[max(keys, key=len)]
    return None


def framework_of(stack: Stack | str, features: str = "") -> Framework:
    """The memory of a stack's software; that of the software of these `features`, where it has memory and no stack can
    name it, for it has none; else that of Megatron Core.

    >>> framework_of("llm-foundry-h100").key, framework_of("typical-h200-sxm").key
    ('llm-foundry', 'megatron-core')
    >>> framework_of("typical-h800-sxm", "hai-llm").key
    'hai-llm'
    """
    able = software.get(features)
    if able and able.memory and not able.time:
        return able.memory
    own = software_of(stack)
    return own.memory if own and own.memory else frameworks[USUAL]
