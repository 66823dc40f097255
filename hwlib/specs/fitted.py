"""Constants of models, fitted to published measurements once and kept in fitted.toml.

`python -m benchmarks.fidelity --fit` writes that file, and no program fits constants to the file that it
scores. Beside its constants an entry names the measurements they were fitted to, how many there were, and the
mean error: of the fit itself (`error`) and of rows that a fit to four fifths of them had not seen (`held_out`;
NaN where there are too few rows to hold some back).
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from hwlib.specs.table import SpecError, file_text, unknown


def constant(unit: str, meaning: str, absent: float | None = None) -> Any:
    """A fitted constant: above zero, in SI. `absent` is its value where a model has no such term: no latency
    (0), or a rate without end.
    """
    metadata = {"unit": unit, "meaning": meaning}
    return field(metadata=metadata) if absent is None else field(default=absent, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What every entry has: the chip, the software that was timed, the rows and their source, and how good the
    fit is.

    `like` names chips that take the same constants beside their own data sheet (the same compute die).
    """

    chip: str
    software: str
    source: str
    rows: str
    count: int
    error: float
    held_out: float
    date: str
    like: tuple[str, ...] = ()

    @property
    def constants(self) -> dict[str, float]:
        """The constants that this entry uses, by name."""
        values = {name: getattr(self, name) for name in constants(type(self))}
        return {name: value for name, value in values.items() if value not in (0.0, math.inf)}


F = TypeVar("F", bound=Fitted)
FLOWS = ("chunks", "direct", "steps")


def constants(kind: type[Fitted]) -> dict[str, tuple[str, str]]:
    """The constants of a kind of entry: each with its unit and meaning."""
    return {f.name: (f.metadata["unit"], f.metadata["meaning"]) for f in fields(kind) if "unit" in f.metadata}


@dataclass(frozen=True, kw_only=True)
class GemmConstants(Fitted):
    """One chip and dtype for `hwlib.calibrated.gemm`: six constants.

    `quantises`: the measured call also reduced its bfloat16 activations to the dtype, in a kernel of its own.
    """

    dtype: str
    quantises: bool = False
    t0: float = constant("s", "fixed cost of a call")
    eta_C: float = constant("1", "share of the peak rate that a full tile reaches")
    eta_W: float = constant("1", "share of the memory bandwidth that is reached")
    t_tile: float = constant("s", "cost of starting and ending one tile")
    W_L2: float = constant("B/s", "rate at which the L2 cache feeds all multiprocessors")
    t_join: float = constant("s", "cost of adding the parts of a product split along its inner length")


@dataclass(frozen=True, kw_only=True)
class ShareConstants(Fitted):
    """One kind of kernel on any chip, by its share of a rate of the data sheet: one constant. The rate is the
    memory bandwidth of a "stream ...", and the arithmetic rate of the "best bf16" and "best fp8" product of a
    search over shapes.
    """

    op: str
    eta: float = constant("1", "share of the data sheet's rate that is reached")


@dataclass(frozen=True, kw_only=True)
class CollectiveConstants(Fitted):
    """One operation on one chip for `hwlib.calibrated.nccl`: at most six constants, with the two of the plain
    alpha-beta line fitted to the same rows (`plain_alpha`, `plain_W`), to compare with. `flow` says how the
    bandwidth protocol starts: one of FLOWS.
    """

    op: str
    flow: str
    plain_alpha: float
    plain_W: float
    alpha_low: float = constant("s", "latency of the low-latency protocol beside its hops", absent=0.0)
    alpha_hop: float = constant("s", "latency of each rank beyond the first", absent=0.0)
    W_low: float = constant("B/s", "bandwidth of the low-latency protocol")
    alpha: float = constant("s", "start-up of the bandwidth protocol (of each step, where it flows in steps)")
    W: float = constant("B/s", "bandwidth of the bandwidth protocol")
    W_copy: float = constant("B/s", "rate of a rank's copy of its own block", absent=math.inf)
    W_switch: float = constant("B/s", "bandwidth of a port under reduction in the switch", absent=math.inf)


@dataclass(frozen=True, kw_only=True)
class TreeConstants(Fitted):
    """An all-reduce over a tree of nodes, reduced by switches within each: five constants."""

    op: str
    node: int
    plain_alpha: float
    plain_W: float
    alpha_level_low: float = constant("s", "latency of each doubling of the nodes, low-latency protocol")
    W_low: float = constant("B/s", "bandwidth of the low-latency protocol")
    alpha: float = constant("s", "latency of the bandwidth protocol beside its doublings")
    alpha_level: float = constant("s", "latency of each doubling of the nodes, bandwidth protocol")
    W: float = constant("B/s", "bandwidth of the bandwidth protocol")


def read(kind: type[F], name: str, file: str, content: str) -> tuple[F, ...]:
    """The entries of one name in a file's text. Raises SpecError, naming file, entry and field."""
    try:
        entries = tomllib.loads(content).get(name, [])
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file}: {error}") from None
    return tuple(_entry(kind, f"{file}, {name} {i}", entry) for i, entry in enumerate(entries, 1))


def _entry(kind: type[F], where: str, entry: dict[str, Any]) -> F:
    known = {f.name: f for f in fields(kind)}
    for field_name in entry:
        if field_name not in known:
            raise SpecError(f"{where}: " + unknown("field", field_name, known))
    for f in known.values():
        if f.name not in entry and f.default is MISSING:
            raise SpecError(f"{where}: {f.name} is missing")
        if "unit" in f.metadata and f.name in entry:
            value = entry[f.name]
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                raise SpecError(f"{where}: {f.name} is above 0 and finite, got {value!r}")
    if entry.get("flow", FLOWS[0]) not in FLOWS:
        raise SpecError(f"{where}: flow is one of {', '.join(FLOWS)}, got {entry['flow']!r}")
    return kind(**{**entry, "like": tuple(entry.get("like", ()))})


FILE = "fitted.toml"
KINDS: dict[str, type[Fitted]] = {
    "gemm": GemmConstants, "share": ShareConstants, "collective": CollectiveConstants, "tree": TreeConstants,
}  # fmt: skip


@cache
def _all(name: str) -> tuple[Any, ...]:
    return read(KINDS[name], name, FILE, file_text(FILE))


def all_fitted() -> tuple[Fitted, ...]:
    """Every entry of the file, in its order by kind."""
    return tuple(entry for name in KINDS for entry in _all(name))


class _Entries(dict[Any, Any]):
    def __missing__(self, key: object) -> Any:
        known = {" ".join(k) if isinstance(k, tuple) else k: k for k in self}
        asked = " ".join(map(str, key)) if isinstance(key, tuple) else str(key)
        raise KeyError(unknown("fitted constants of", asked, known))


def _by_key(name: str, *attributes: str) -> Mapping[Any, Any]:
    """Entries by their chip and the attributes; the chips that are `like` one come after the ones with an
    entry of their own.
    """
    table = _Entries()
    for entry in _all(name):
        table[(entry.chip, *(getattr(entry, a) for a in attributes))] = entry
    for entry in _all(name):
        for chip in entry.like:
            table.setdefault((chip, *(getattr(entry, a) for a in attributes)), entry)
    return MappingProxyType(table)


@cache
def gemm_constants() -> Mapping[tuple[str, str], GemmConstants]:
    """Constants of a matrix product, by chip (a key of `accelerators`) and dtype."""
    return _by_key("gemm", "dtype")


@cache
def collective_constants() -> Mapping[tuple[str, str, str], CollectiveConstants]:
    """Constants of a collective within a node, by chip, operation and the software that measured it."""
    return _by_key("collective", "op", "software")


@cache
def tree_constants() -> Mapping[tuple[str, str], TreeConstants]:
    """Constants of an all-reduce over a tree of nodes, by chip and software."""
    return _by_key("tree", "software")


@cache
def share_constants() -> Mapping[str, ShareConstants]:
    """Shares by the kind of kernel: "stream init", "stream read", "stream scale", "stream triad", "best bf16",
    "best fp8".
    """
    return MappingProxyType(_Entries({entry.op: entry for entry in _all("share")}))
