"""Serving stacks: what a serving software adds to the kernels that it launches; frozen records from
serving_stacks.toml.

A stack is a software and a release, on any chip: the chip's rates are in the models of kernels. Constants that
`fitted` names rest on published rows, whose ids begin with one of `rows`; the others are round values, or those of
the stack that it is `like`.

>>> serving_stacks["tensorrt-llm-1.0"].software
'TensorRT-LLM 1.0'
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from hwlib.specs.reader import constant, number, quantities, rows_of, switch, text, texts, values_of
from hwlib.specs.table import SpecError, Table, file_text, unknown
from hwlib.units import show

FILE = "serving_stacks.toml"


@dataclass(frozen=True, kw_only=True, repr=False)
class ServingStack:
    """One software and release. The defaults of the constants are those of software that costs nothing.

    A step that only decodes is one graph that the GPU replays, where the software captures graphs; one that reads
    prompts is launched kernel by kernel. So a layer has two times, whichever its step is.
    """

    key: str
    name: str
    software: str
    source: str
    rows: tuple[str, ...] = texts()
    fitted: tuple[str, ...] = texts()
    like: str = text()
    note: str = text()
    error: float = number(0.0)
    kernels: str = text("trtllm")
    """Whose kernels of attention and experts it launches: a software of `hwlib.calibrated.kernel_software`."""
    mixed: bool = switch(True)
    """Whether prompts are read in the steps that decode; else decoding waits for them."""

    t_layer: float = constant("s", "time of a layer beside its kernels, in a step that only decodes", 0.0)
    t_prompt: float = constant("s", "time of a layer beside its kernels, in a step that reads prompts", 0.0)
    eta: float = constant("1", "rate of the kernels, over that of their own models", 1.0, above_0=True)
    eta_E: float = constant("1", "rate of layers of experts, over that and over that of their model", 1.0, above_0=True)
    eta_net: float = constant("1", "rate of the messages between GPUs, over that of their own model", 1.0, above_0=True)
    cache_share: float = constant("1", "share of the free memory that the cache gets", 0.9, high=1.0)

    def __repr__(self) -> str:
        units = quantities(ServingStack)
        return f"<{self.name}: {', '.join(f'{k} {show(v, units[k][0])}' for k, v in self.constants.items())}>"

    @property
    def constants(self) -> dict[str, float]:
        """The constants by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if "unit" in f.metadata}

    def replace(self, **changes: Any) -> "ServingStack":
        """This stack with some fields changed."""
        names = [f.name for f in fields(self)]
        if odd := sorted(set(changes) - set(names)):
            raise TypeError(unknown("field", odd[0], names))
        return replace(self, **changes)

    @classmethod
    def ideal(cls) -> "ServingStack":
        """Software that costs nothing: each kernel at the rate of its model, one after the other."""
        return cls(key="ideal", name="ideal software", software="none", source="models of kernels")


CONSTANTS = quantities(ServingStack)
"""Unit and meaning of each constant, by name."""


def read_serving_stacks(file: str, content: str) -> Iterator[ServingStack]:
    """The stacks of a file's text: a row that is `like` another takes its constants but those it gives itself.

    Raises SpecError, naming file, row and field.
    """
    rows: dict[str, ServingStack] = {}
    for key, row in rows_of(file, content).items():
        values = values_of(ServingStack, f"{file}, {key}", row)
        if odd := [name for name in values.get("fitted", ()) if name not in row or name not in CONSTANTS]:
            raise SpecError(f"{file}, {key}.fitted: {odd[0]!r} is not a constant that the row gives")
        if like := values.get("like"):
            if like not in rows:
                raise SpecError(f"{file}, {key}.like: names a row before it, " + unknown("serving stack", like, rows))
            values = {name: getattr(rows[like], name) for name in CONSTANTS} | values
        rows[key] = ServingStack(key=key, **values)
        yield rows[key]


serving_stacks: Table[ServingStack] = Table(
    "serving stack", lambda file: read_serving_stacks(file, file_text(file)), (FILE,)
)
