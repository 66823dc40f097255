"""Constants of models, fitted to published measurements once and kept in fitted.toml.

`make fit` writes that file, and no program fits constants to the file that it
scores. Beside its constants an entry names the measurements they were fitted to, how many there were, and the
mean error: of the fit itself (`error`) and of rows that a fit to four fifths of them had not seen (`held_out`;
NaN where there are too few rows to hold some back). Attention and layers of experts are fitted over all chips at once,
and share constants; their rows are held back by shape, in two folds (`benchmarks.fit.kernels`).
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from hwlib.specs.reader import constant, number, quantities, rows_of, switch, text, texts, values_of, wholes
from hwlib.specs.table import file_text, unknown


def _constant(unit: str, meaning: str, absent: Any = MISSING) -> Any:
    """A fitted constant: above zero, in SI. `absent` is its value where a model has no such term: no latency
    (0), or a rate without end.
    """
    return constant(unit, meaning, absent, above_0=True)


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
    count: int = number(whole=True)
    error: float = number()
    held_out: float = number(or_nan=True)
    date: str
    like: tuple[str, ...] = texts()

    @property
    def constants(self) -> dict[str, float]:
        """The constants that this entry uses, by name."""
        values = {name: getattr(self, name) for name in quantities(type(self))}
        return {name: value for name, value in values.items() if value not in (0.0, math.inf)}


F = TypeVar("F", bound=Fitted)
FLOWS = ("chunks", "direct", "steps")
STAGES = ("doublings", "one", "ring")


@dataclass(frozen=True, kw_only=True)
class GemmConstants(Fitted):
    """One chip and dtype for `hwlib.calibrated.gemm`: six constants.

    `quantises`: the measured call also reduced its bfloat16 activations to the dtype, in a kernel of its own. `typed`
    names the constants that its rows do not fix, and `note` says where they come from.
    """

    dtype: str
    quantises: bool = switch(False)
    typed: tuple[str, ...] = texts()
    note: str = text()
    t0: float = _constant("s", "fixed cost of a call")
    eta_C: float = _constant("1", "share of the peak rate that a full tile reaches")
    eta_W: float = _constant("1", "share of the memory bandwidth that is reached")
    t_tile: float = _constant("s", "cost of starting and ending one tile")
    W_L2: float = _constant("B/s", "rate at which the L2 cache feeds all multiprocessors")
    t_join: float = _constant("s", "cost of adding the parts of a product split along its inner length")


@dataclass(frozen=True, kw_only=True)
class ShareConstants(Fitted):
    """One kind of kernel on any chip, by its share of a rate of the data sheet: one constant. The rate is the
    memory bandwidth of a "stream ...", and the arithmetic rate of the "best bf16" and "best fp8" product of a
    search over shapes.
    """

    op: str
    eta: float = _constant("1", "share of the data sheet's rate that is reached")


@dataclass(frozen=True, kw_only=True)
class MeasuredCollective(Fitted):
    """Where the constants of a collective hold: the `ranks` and bytes of the rows behind them, and the releases of NCCL
    that ran them, where a source says so.

    `band_latency`, `band_filling` and `band_wires` are how much longer a sound run may take than predicted, as a share,
    in the three regions of `hwlib.calibrated.nccl.size_region`: 19 of 20 rows that a fit had not seen take no longer,
    or all where they are fewer than 20; at least the mean error. `growth_ranks` and `growth_bytes` are what
    each doubling of these beyond the rows' adds to |ln(measured/predicted)|, from the rows with most, predicted from
    the others; NaN where these are too few.
    """

    ranks: tuple[int, ...] = wholes()
    S_least: int = number(whole=True)
    S_most: int = number(whole=True)
    releases: tuple[str, ...] = texts()
    band_latency: float = number(or_nan=True)
    band_filling: float = number(or_nan=True)
    band_wires: float = number(or_nan=True)
    growth_ranks: float = number(or_nan=True)
    growth_bytes: float = number(or_nan=True)


@dataclass(frozen=True, kw_only=True)
class CollectiveConstants(MeasuredCollective):
    """One operation on one chip for `hwlib.calibrated.nccl`: at most six constants, with the two of the plain
    alpha-beta line fitted to the same rows (`plain_alpha`, `plain_W`), to compare with. `flow` says how the
    bandwidth protocol starts: one of FLOWS.
    """

    op: str
    flow: str = text(needed=True, one_of=FLOWS)
    plain_alpha: float = number()
    plain_W: float = number()
    alpha_low: float = _constant("s", "latency of the low-latency protocol beside its hops", 0.0)
    alpha_hop: float = _constant("s", "latency of each rank beyond the first", 0.0)
    W_low: float = _constant("B/s", "bandwidth of the low-latency protocol")
    alpha: float = _constant("s", "start-up of the bandwidth protocol (of each step, where it flows in steps)")
    W: float = _constant("B/s", "bandwidth of the bandwidth protocol")
    W_copy: float = _constant("B/s", "rate of a rank's copy of its own block", math.inf)
    W_switch: float = _constant("B/s", "bandwidth of a port under reduction in the switch", math.inf)


@dataclass(frozen=True, kw_only=True)
class TreeConstants(MeasuredCollective):
    """An all-reduce of several nodes of `node` ranks: three constants where switches reduce within each, one of a ring.

    `stages` says who adds up across nodes: ranks along a tree, a stage for each of the nodes' "doublings", or the
    network's switches, in "one" stage, or each rank in turn, along a "ring" of all. What a call takes inside a node is
    that of the `inside` software on the same chip. `typed` names the constants that no row here was fitted to, and
    `note` says where they come from.
    """

    op: str
    node: int = number(whole=True)
    stages: str = text(needed=True, one_of=STAGES)
    inside: str = text(needed=True)
    typed: tuple[str, ...] = texts()
    note: str = text()
    plain_alpha: float = number()
    plain_W: float = number()
    alpha_level: float = _constant("s", "latency of each doubling of the nodes", 0.0)
    S_stage: float = _constant("B", "bytes that a stage holds at most: channels x ranks of a node x chunk", 0.0)
    W: float = _constant("B/s", "bandwidth of a rank's port, as the bus bandwidth counts it")


@dataclass(frozen=True, kw_only=True)
class AttentionConstants(Fitted):
    """Attention over a prompt for `hwlib.calibrated.attention`, one chip, dtype and software: five constants.

    `typical`: fewer than eight rows of this dtype and software, on any chip, are behind it. `splits`: the measured call
    also splits a fused QKV, rotates queries and keys, and quantises them.
    """

    release: str
    typical: bool = switch(False)
    dtype: str
    splits: bool = switch(False)
    t0: float = _constant("s", "fixed cost of a call")
    eta_C: float = _constant("1", "share of the peak rate that the products reach")
    R_exp: float = _constant("1/s", "exponentials that a multiprocessor takes")
    t_tile: float = _constant("s", "cost of starting and ending one tile")
    eta_W: float = _constant("1", "share of the memory bandwidth that is reached")


@dataclass(frozen=True, kw_only=True)
class DecodeConstants(Fitted):
    """Attention of one new token for `hwlib.calibrated.attention`, one chip, dtype of the cache and software.

    `typical`: as there. `packs`: query heads of one K/V head that the kernel takes at once; with more, each reads the
    cache for itself.
    """

    release: str
    typical: bool = switch(False)
    dtype: str
    packs: float = number(math.inf)
    t0: float = _constant("s", "fixed cost of a call")
    eta_W: float = _constant("1", "share of the memory bandwidth that is reached")
    eta_C: float = _constant("1", "share of the peak rate at which a block goes through its keys")
    t_block: float = _constant("s", "cost of starting and ending one block")
    t_join: float = _constant("s", "cost of joining the parts of a cache split along its length")
    R_L2: float = _constant("1/s", "elements that a multiprocessor reads from the L2 cache", math.inf)


@dataclass(frozen=True, kw_only=True)
class GroupedConstants(Fitted):
    """A layer of experts for `hwlib.calibrated.grouped`, one chip, dtype, software and kernel: five constants.

    `typical`: as there. `kernel`: what multiplies; a software takes one of several by chip, dtype and shape.
    """

    release: str
    typical: bool = switch(False)
    dtype: str
    kernel: str
    t0: float = _constant("s", "fixed cost of a call")
    eta_C: float = _constant("1", "share of the peak rate that a full tile reaches")
    t_tile: float = _constant("s", "cost of starting and ending one tile")
    eta_W: float = _constant("1", "share of the memory bandwidth at which weights are read")
    eta_move: float = _constant("1", "share of it at which activations are moved; above 1 where caches hold them")


def read_fitted(kind: type[F], name: str, file: str, content: str) -> tuple[F, ...]:
    """The entries of one name in a file's text. Raises SpecError, naming file, entry and field."""
    entries = rows_of(file, content).get(name, [])
    return tuple(kind(**values_of(kind, f"{file}, {name} {i}", entry)) for i, entry in enumerate(entries, 1))


FILE = "fitted.toml"
KINDS: dict[str, type[Fitted]] = {
    "gemm": GemmConstants,
    "share": ShareConstants,
    "collective": CollectiveConstants,
    "tree": TreeConstants,
    "attention": AttentionConstants,
    "decode": DecodeConstants,
    "grouped": GroupedConstants,
}


@cache
def _all(name: str) -> tuple[Any, ...]:
    return read_fitted(KINDS[name], name, FILE, file_text(FILE))


def all_fitted() -> tuple[Fitted, ...]:
    """Every entry of the file, in its order by kind."""
    return tuple(entry for name in KINDS for entry in _all(name))


class _Entries(dict[Any, Any]):
    def __missing__(self, key: object) -> Any:
        known = {" ".join(k) if isinstance(k, tuple) else k: k for k in self}
        query = " ".join(map(str, key)) if isinstance(key, tuple) else str(key)
        raise KeyError(unknown("set of fitted constants", query, known))


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
    """Constants of an all-reduce over several nodes, by chip and by what joins these: "NVLSTree" (that algorithm over
    InfiniBand), "EFA", "InfiniBand SHARP"; with ", ring" behind it, where rows of so many ranks show a ring.
    """
    return _by_key("tree", "software")


def trees_over(chip: str, network: str) -> tuple[TreeConstants, ...]:
    """All constants of a chip over a network: another algorithm runs on other numbers of ranks. Raises KeyError,
    listing similar ones, if nothing was fitted.
    """
    first = tree_constants()[chip, network]
    more = (c for (of, name), c in tree_constants().items() if of == chip and name.startswith(f"{network}, "))
    return first, *more


@cache
def share_constants() -> Mapping[str, ShareConstants]:
    """Shares by the kind of kernel: "stream init", "stream read", "stream scale", "stream triad", "best bf16",
    "best fp8".
    """
    return MappingProxyType(_Entries({entry.op: entry for entry in _all("share")}))


@cache
def attention_constants() -> Mapping[tuple[str, str, str], AttentionConstants]:
    """Constants of attention over a prompt, by chip, dtype and software."""
    return _by_key("attention", "dtype", "software")


@cache
def decode_constants() -> Mapping[tuple[str, str, str], DecodeConstants]:
    """Constants of attention of one new token, by chip, dtype of the cache and software."""
    return _by_key("decode", "dtype", "software")


@cache
def grouped_kernels() -> Mapping[tuple[str, str, str, str], GroupedConstants]:
    """Constants of a layer of experts, by chip, dtype, software and kernel."""
    return _by_key("grouped", "dtype", "software", "kernel")


@cache
def grouped_constants() -> Mapping[tuple[str, str, str], GroupedConstants]:
    """Constants of a layer of experts, by chip, dtype and software, with the kernel that most of its rows ran."""
    table = _Entries()
    for key, entry in grouped_kernels().items():
        if key[:3] not in table or entry.count > table[key[:3]].count:
            table[key[:3]] = entry
    return MappingProxyType(table)
