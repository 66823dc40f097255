"""Serving stacks: what a serving software adds to the kernels that it launches; frozen records from
serving_stacks.toml.

A stack is a software and a release, on any chip: the chip's rates are in the models of kernels. Constants that
`fitted` names rest on published rows, whose ids begin with one of `rows`; the others are round values, or those of
the stack that it is `like`.

>>> serving_stacks["tensorrt-llm-1.0"].software
'TensorRT-LLM 1.0'
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hwlib.specs.constants import Constants, read_constants
from hwlib.specs.reader import constant, number, quantities, switch, text
from hwlib.specs.table import Table, file_text

FILE = "serving_stacks.toml"


@dataclass(frozen=True, kw_only=True, repr=False)
class ServingStack(Constants):
    """One software and release. The defaults of the constants are those of software that costs nothing.

    A step that only decodes is one graph that the GPU replays, where the software captures graphs; one that reads
    prompts is launched kernel by kernel. So a layer has two times, whichever its step is.
    """

    software: str
    source: str
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
    yield from read_constants(ServingStack, "serving stack", file, content)


serving_stacks: Table[ServingStack] = Table(
    "serving stack", lambda file: read_serving_stacks(file, file_text(file)), (FILE,)
)
