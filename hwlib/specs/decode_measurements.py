"""Measured decoding: tokens of one request from whole servers, and one attention layer over a cache.

Two small tables: measured_decode.csv (the time of a step of one sequence, replayed as a graph or launched by the host)
and measured_decode_attention.csv (device time of the kernel that reads the cache).
"""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import ms, us


class MeasuredDecode(NamedTuple):
    """Seconds of a token of one request, the only one on its `tp` GPUs.

    `model` is a key of `models`, `chip` one of `accelerators`, or empty where the source names none. `how` is "graph"
    or "eager". With `drafts` above 0 the model `draft` guesses so many tokens at a time. `source` is a key of
    docs/references.bib.
    """

    model: str
    layers: int
    chip: str
    tp: int
    dtype: str
    how: str
    drafts: int
    draft: str
    time: float
    source: str


class MeasuredDecodeAttention(NamedTuple):
    """Seconds of one attention layer on an H100, a new token for each of `batch` sequences with `cached` tokens.

    Heads of 128. `kv_dtype` ("bf16", "fp8") is that of the cache. `source` is a key of docs/references.bib.
    """

    heads: int
    kv_heads: int
    batch: int
    cached: int
    kv_dtype: str
    time: float
    software: str
    source: str

    @property
    def bytes(self) -> float:
        """Bytes of keys and values that the kernel has to read."""
        return 2 * self.batch * self.kv_heads * self.cached * 128 * {"bf16": 2.0, "fp8": 1.0}[self.kv_dtype]


def _time(row: dict[str, str]) -> float:
    value = float(row["value"])
    return {"tokens/s": 1 / value, "ms": value * ms}[row["unit"]]


DECODES = Measurements("decoding", "measured_decode.csv", MeasuredDecode, time=_time)
ATTENTIONS = Measurements("attention", "measured_decode_attention.csv", MeasuredDecodeAttention, time=of("time_us", us))


def measured_decode_attention() -> tuple[MeasuredDecodeAttention, ...]:
    """All measured attention layers of decoding, by the bytes of the cache, bf16 first."""
    return ATTENTIONS.rows


def measured_decodes(
    model: str | None = None,
    *,
    tp: int | None = None,
    dtype: str | None = None,
    how: str | None = "graph",
    drafts: int | None = 0,
) -> tuple[MeasuredDecode, ...]:
    """The measured steps that have the given model, degree, format and way; None takes all.

    Raises ValueError, listing the models, when none has.
    """
    wanted = {"model": model, "tp": tp, "dtype": dtype, "how": how, "drafts": drafts}
    rows = tuple(r for r in DECODES.rows if all(v is None or getattr(r, name) == v for name, v in wanted.items()))
    if not rows:
        known = ", ".join(dict.fromkeys(r.model for r in DECODES.rows))
        query = ", ".join(f"{name} {v}" for name, v in wanted.items() if v is not None)
        raise ValueError(f"no measured decoding of {query}; known models: {known}")
    return rows
