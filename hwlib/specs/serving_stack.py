"""Serving stacks: what a serving software adds to the kernels that it launches; frozen records, from
the sections `serving` of software.toml.

A stack is a software and a release, on any chip: the chip's rates are in the models of kernels. Constants that
`fitted` names rest on published rows, whose ids begin with one of `rows`; the others are round values, or those of
the stack that it is `like`.

>>> serving_stacks["tensorrt-llm-1.0"].software
'TensorRT-LLM 1.0'
>>> serving_stacks[USUAL].typical("mi300x").key
'typical-mi300x'
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hwlib.specs.accelerator import Accelerator, accelerators
from hwlib.specs.constants import Constants, read_constants
from hwlib.specs.reader import constant, number, quantities, switch, text
from hwlib.specs.software_sections import FILE
from hwlib.specs.table import Table, file_text

USUAL = "tensorrt-llm-1.1"
"""The software whose constants are taken where none is named, on NVIDIA's and on a chip that nothing was fitted to."""
USUAL_ROCM = "vllm-rocm"
USUAL_ROCM_MOE = {"CDNA 3": "sglang-mi30x", "CDNA 4": "sglang-mi35x"}
"""The same on AMD's GPUs, for dense models and, by architecture, for those with experts: what was timed with such."""
LAUNCHED = "sglang"
"""The software whose launches of a layer that reads prompts were fitted to first tokens; in others they are typed."""
TYPICAL, TYPICAL_MOE = 0.11, 0.21
"""Mean error of the step times of published servers on MI300X and MI355X, as if nothing had been fitted to either, by
these constants: of dense models, and of models with experts (benchmarks/data/unfitted.csv; docs/serving.md has them by
chip).
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class ServingStack(Constants):
    """One software and release. The defaults of the constants are those of software that costs nothing.

    A step that only decodes is one graph that the GPU replays, where the software captures graphs; one that reads
    prompts is launched kernel by kernel. So a layer has two times, whichever its step is. A rate above 1 speeds up
    what a kernel takes beyond the least by its chip's data sheet, and nothing else.
    """

    software: str
    source: str
    error: float = number(0.0)
    kernels: str = text("trtllm")
    """Whose kernels of attention and experts it launches: a software of `hwlib.calibrated.kernel_software`."""
    vendor: str = text("NVIDIA")
    """Who makes the chips on which it was timed: on those of any other its constants are typical."""
    mixed: bool = switch(True)
    """Whether prompts are read in the steps that decode; else decoding waits for them."""

    t_layer: float = constant("s", "time of a layer beside its kernels, in a step that only decodes", 0.0)
    t_prompt: float = constant("s", "time of a layer beside its kernels, in a step that reads prompts", 0.0)
    eta: float = constant("1", "rate of the kernels, over that of their own models", 1.0, above_0=True)
    eta_E: float = constant("1", "rate of layers of experts, over that and over that of their model", 1.0, above_0=True)
    eta_net: float = constant("1", "rate of the messages between GPUs, over that of their own model", 1.0, above_0=True)
    cache_share: float = constant("1", "share of the free memory that the cache gets", 0.9, high=1.0)

    @property
    def program(self) -> str:
        """The software without its release, of a stack of the table or of one like it; empty of a stack of one's own.

        >>> serving_stacks["tensorrt-llm-0.14"].program, ServingStack.ideal().program
        ('tensorrt-llm', '')
        """
        key = self.like if self.software == "typical" else self.key
        return program_of(key) if key in serving_stacks else ""

    @classmethod
    def ideal(cls) -> "ServingStack":
        """Software that costs nothing: each kernel at the rate of its model, one after the other."""
        return cls(key="ideal", name="ideal software", software="none", source="models of kernels")

    def typical(self, chip: str | Accelerator, moe: bool = False) -> "ServingStack":
        """The same constants for a chip on which neither this software nor a kernel was fitted, for dense models or for
        those with experts. Kernels and experts run at the rate of their models at most, and experts at no less: what
        takes of that, or adds to it, rests on another maker's kernels, and on a reading of plans that were not printed.
        The host launches a layer of a prompt in the time that was fitted to first tokens.
        """
        sheet = chip if isinstance(chip, Accelerator) else accelerators[chip]
        return self.replace(
            key=f"typical-{sheet.key}",
            name=f"typical software on {sheet.name}",
            rows=(),
            fitted=(),
            like=self.key,
            software="typical",
            error=TYPICAL_MOE if moe else TYPICAL,
            eta=min(self.eta, 1.0),
            t_prompt=max(self.t_prompt, serving_stacks[LAUNCHED].t_prompt),
            eta_E=1.0,
            note=f"no server was fitted on this chip: the constants of {self.key}",
        )


BUILDS = {
    ("sglang", "CDNA 3"): "sglang-mi30x",
    ("sglang", "CDNA 4"): "sglang-mi35x",
    ("vllm", "CDNA 3"): USUAL_ROCM,
    ("vllm", "CDNA 4"): USUAL_ROCM,
}
"""The stack that was timed of a program's build for an architecture of another maker."""


def build_for(key: str, chip: Accelerator, moe: bool) -> str:
    """The stack of the same program that was timed on chips like this, of the same kind of model; else the same key.
    SGLang was timed on AMD's GPUs with experts alone, vLLM with dense models.

    >>> build_for("sglang", accelerators["mi300x"], moe=True), build_for("sglang", accelerators["h200-sxm"], moe=True)
    ('sglang-mi30x', 'sglang')
    """
    arch = next((arch for _, arch in BUILDS if chip.arch.startswith(arch)), "")
    build = BUILDS.get((program_of(key), arch), key) if key in serving_stacks else key
    other = build != key and serving_stacks[key].vendor != chip.vendor and moe is not (build == USUAL_ROCM)
    return build if other else key


def program_of(key: str) -> str:
    """The software of a stack's key, without its release.

    >>> program_of("tensorrt-llm-server"), program_of("sglang")
    ('tensorrt-llm', 'sglang')
    """
    first, _, last = key.rpartition("-")
    return first if last == "server" or last[:1].isdigit() else key


CONSTANTS = quantities(ServingStack)
"""Unit and meaning of each constant, by name."""


def read_serving_stacks(file: str, content: str) -> Iterator[ServingStack]:
    """The stacks of a file's text: one that is `like` another takes its constants but those it gives itself.

    Raises SpecError, naming file, row, section and field.
    """
    yield from read_constants(ServingStack, "serving stack", file, content, "serving")


serving_stacks: Table[ServingStack] = Table(
    "serving stack", lambda file: read_serving_stacks(file, file_text(file)), (FILE,)
)
