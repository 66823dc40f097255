"""A serving plan as a record: pools of equal servers, what runs on them, and for which requests."""

from __future__ import annotations

from typing import NamedTuple

from hwlib.calibrated.serving_drafts import Drafting
from hwlib.planner.task import Machine
from hwlib.serving_planner.prefix import Prefix
from hwlib.specs import Model


class Pool(NamedTuple):
    """Servers that are alike: `replicas` of them, each with `tp * attention_dp` GPUs and `batch` sequences at once.

    `tp` GPUs share each layer's attention, and `attention_dp` such groups have sequences of their own; the experts are
    divided over `ep` GPUs of a replica whole, and what is left of the division by tensor parallelism.
    """

    tp: int
    ep: int
    attention_dp: int
    replicas: int
    batch: int

    @property
    def gpus(self) -> int:
        """GPUs of all replicas."""
        return self.tp * self.attention_dp * self.replicas


class ServingPlan(NamedTuple):
    """How a model is served: requests of `prompt` and `output` tokens (their means) on GPUs of a machine.

    `prefill` are servers that only read prompts and `decode` those that generate; without the former the same servers
    do both, in steps with at most `chunk` tokens of prompts. `dtype` is that of the weights' products ("mxfp4": of the
    experts alone, the rest in bfloat16), `kv_dtype` that of the cache. With `drafting`, steps check
    drafts; `prefix` is what of each prompt the cache has.
    """

    model: Model
    machine: Machine
    decode: Pool
    prefill: Pool | None
    dtype: str
    kv_dtype: str
    prompt: int
    output: int
    chunk: int | None
    drafting: Drafting | None = None
    prefix: Prefix | None = None

    @property
    def gpus(self) -> int:
        """GPUs that work; the machine may have more."""
        return self.decode.gpus + (self.prefill.gpus if self.prefill else 0)
