"""Time of what adapters add to the passes of a layer: products of their own, and 16-bit matrices out of 4 or 8 bits.

An adapter's two products are so narrow that the bytes of a token's vectors decide, which kernels apart read and write;
the frozen matrix beside it has a product of its own, to which the adapter's is added.
"""

from typing import Any, NamedTuple

from hwlib.footprint.trained import BASES
from hwlib.formula import maximum
from hwlib.steptime.job import Job

ELEMENT = 2  # bytes
INTO_FORWARD, OUT_FORWARD = 1, 4  # times that a vector moves: read by A; written by B, both terms read, the sum written
INTO_BACKWARD = 5  # read for A's gradient; its own gradient written, both terms read, their sum written
OUT_BACKWARD = 2  # its gradient is read for B's gradient, and for that of what stands between A and B
CAST_INTO = 6  # read in 16 bits and written in 32, and back, by kernels apart


class AdapterPasses(NamedTuple):
    """Seconds of one microbatch in one layer, forward and backward."""

    forward: Any = 0.0
    backward: Any = 0.0


def adapter_passes(job: Job, moe: bool, parameters: Any) -> AdapterPasses:
    """What adapters add to the passes of a layer with so many `parameters` of its own on a rank."""
    adapters = job.adapters
    if adapters is None:
        return AdapterPasses()
    tokens = job.strategy.micro * job.T / job.strategy.cp / job.strategy.tp
    into, out = adapters.token_sides(job.model, moe)
    product = 2 * tokens * adapters.rank * (into + out) / job.rates.C_logits
    moved = ELEMENT * tokens / job.rates.W
    again: Any = 0.0
    if adapters.quantised:
        unpacked = job.stack.b_unpack if adapters.apart else 0.0
        again = (adapters.frozen_bytes + BASES["bf16"] + unpacked) * parameters / job.rates.W
    cast = CAST_INTO if _casts(job) else 0
    forward = maximum(product, moved * ((INTO_FORWARD + cast) * into + OUT_FORWARD * out))
    backward = maximum(2 * product, moved * ((INTO_BACKWARD + cast) * into + OUT_BACKWARD * out))
    return AdapterPasses(forward + again, backward + again)


def _casts(job: Job) -> bool:
    """Whether vectors are cast to the 32 bits of adapters, and back for their products, by kernels apart."""
    wide = job.trained and job.trained.states.weight > ELEMENT
    return bool(job.stack.kernels == "eager" and wide)
