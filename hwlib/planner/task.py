"""What is asked of the planner: a model, a batch, and GPUs of a cluster with the memory that a plan may take."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from hwlib.arguments import is_number
from hwlib.footprint import States
from hwlib.specs import Accelerator, Cluster, Level, Model, Node, clusters, models, nodes
from hwlib.specs.table import unknown
from hwlib.units import show

FRAMEWORK = 0.05
"""Share of the memory on a chip's data sheet that a plan leaves to what no footprint counts: the driver's context,
buffers of NCCL, workspaces of kernels, what the allocator wastes. It is a ninth of what there is, for the sheet's GB
are GiB: an H100 of 80 GB has 81,559 MiB, 85.5 GB, of which a plan may take 76."""


class PlanError(ValueError):
    """What was asked cannot be; the message says what, and what could."""


class Machine(NamedTuple):
    """GPUs of one kind and the levels of the network that joins just so many of them; `whole` GPUs are a full node."""

    name: str
    chip: Accelerator
    levels: tuple[Level, ...]
    whole: int

    def __repr__(self) -> str:
        levels = [f"{level.size} a {level.name}, {show(level.bandwidth, 'B/s')} each" for level in self.levels]
        return f"<{self.chips:,} x {self.chip.name} of {self.name}: {'; '.join(levels)}>"

    @property
    def chips(self) -> int:
        """How many there are."""
        return prod(level.size for level in self.levels)

    @property
    def node(self) -> int:
        """GPUs of one node that are taken."""
        return self.levels[0].size


def machine_of(cluster: Cluster | Node | str, chips: int | None = None) -> Machine:
    """`chips` GPUs of the fewest nodes of a cluster, or of a node; or all. Raises PlanError."""
    spec = _spec(cluster)
    if isinstance(spec, Cluster):
        if spec.torus:
            axes = " x ".join(map(str, spec.torus))
            raise PlanError(f"{spec.key} is a torus of {axes} chips; plans are for clusters of nodes and switches")
        found = Machine(spec.name, spec.members.chip, spec.levels, spec.members.chips)
    else:
        found = Machine(spec.name, spec.chip, (Level("node", spec.chips, spec.scaleup_bandwidth),), spec.chips)
    if chips is None or chips == found.chips:
        return found
    if not is_number(chips) or chips != int(chips) or not 1 <= chips <= found.chips:
        raise PlanError(f"{found.name} has {found.chips:,} GPUs, of which {chips!r} were asked for")
    return found._replace(levels=first_levels(found.levels, int(chips)))


def _spec(cluster: Cluster | Node | str) -> Cluster | Node:
    if isinstance(cluster, Cluster | Node):
        return cluster
    if not isinstance(cluster, str):
        raise PlanError(f"cluster: a Cluster, a Node or the key of one was expected, got {cluster!r}")
    if found := clusters.find(cluster) or nodes.find(cluster):
        return found
    trees = [key for key, one in clusters.items() if not one.torus]
    raise PlanError(unknown("cluster", cluster, [*trees, *(key for key, one in nodes.items() if one.shape != "torus")]))


def first_levels(levels: Sequence[Level], chips: int) -> tuple[Level, ...]:
    """The levels that join `chips` GPUs of the fewest nodes: part of one, or of each the same number.

    Where the nodes do not fill the groups of the levels above evenly, those are taken for one, in which a node has its
    share of the narrowest of them. Raises PlanError where the nodes cannot give equally many.
    """
    (name, size, bandwidth), outer = levels[0], levels[1:]
    count = -(-chips // size)
    if chips % count:
        low = chips // size * size
        raise PlanError(f"{chips} GPUs are not the same number of each of {count} nodes: {low} or {low + size} are")
    found, below = [Level(name, chips // count, bandwidth)], 1
    for level in outer:
        if count > below:
            found.append(level._replace(size=-(-min(count, below * level.size) // below)))
        below *= level.size
    if prod(level.size for level in found) == chips:
        return tuple(found)
    narrowest, below = outer[0].bandwidth, 1
    for level in outer[: len(found) - 1]:
        narrowest = min(narrowest, level.bandwidth / below)
        below *= level.size
    return found[0], Level("network", count, narrowest)


@dataclass(frozen=True)
class Task:
    """All that a plan is made for: `memory` bytes of a GPU that it may take, `price` dollars a second and GPU."""

    model: Model
    machine: Machine
    B: int
    T: int
    stack: Any
    dtype: str
    states: States
    fused: bool
    imbalance: float
    merge: bool
    memory: float
    price: float = 0.0

    @property
    def chips(self) -> int:
        """GPUs, all of which every plan uses."""
        return self.machine.chips

    @property
    def sequences(self) -> int:
        """Sequences of the batch."""
        return self.B // self.T

    def __str__(self) -> str:
        return self.on(f"{self.chips:,}")

    def on(self, chips: str) -> str:
        """What is asked for, on so many GPUs."""
        chip = self.machine.chip.name
        return f"{self.model.name} on {chips} x {chip}, {many(self.sequences)} of {self.T:,} tokens a step"

    @property
    def terms(self) -> str:
        """The memory that plans may take, and the constants that they are timed with."""
        room, has = self.memory, self.machine.chip.hbm_bytes or 0
        of = f"of each GPU's {show(has, 'B', 3)}" if has > room else "on each GPU"
        return f"{show(room, 'B', 3)} {of}; stack {self.stack.key}, {self.dtype}"


def many(sequences: int) -> str:
    """So many sequences."""
    return f"{sequences:,} sequence{'' if sequences == 1 else 's'}"


def model_of(model: Model | str) -> Model:
    """A model, or that of a key. Raises PlanError, naming the close ones."""
    try:
        return models.of(model)
    except (KeyError, TypeError) as error:
        raise PlanError(error.args[0]) from None


def batch_of(model: Model, B: Any, T: Any) -> tuple[int, int]:
    """Tokens of the batch and of a sequence, by default the model's context at most 8192. Raises PlanError."""
    T = min(model.context, 8192) if T is None else T
    for name, value in (("batch", B), ("sequence", T)):
        if not is_number(value) or not 1 <= value < 2**62 or value != int(value):
            raise PlanError(f"{name}: a whole number of tokens, at least 1 and below 2^62, was expected, got {value!r}")
    B, T = int(B), int(T)
    if model.positions and model.positions < T:
        raise PlanError(f"sequence: {model.name} has {model.positions} learned positions, {T} tokens are more")
    if B % T:
        low = B // T * T
        near = " or ".join(f"{n // T:,} of them, {n:,} tokens," for n in (low, low + T) if n)
        raise PlanError(f"batch: {B:,} tokens do not divide into sequences of {T:,}; {near} would")
    return B, T


def truth(name: str, x: Any) -> bool:
    """Whether it is so. Raises PlanError for what is neither true nor false."""
    if x not in (True, False):
        raise PlanError(f"{name} is True or False, got {x!r}")
    return bool(x)


def memory_of(chip: Accelerator, memory: float | None) -> float:
    """Bytes that a plan may take: what is given, or the chip's less a share for the framework. Raises PlanError."""
    if memory is None:
        if chip.hbm_bytes is None:
            raise PlanError(f"{chip.name}: nobody says how much memory it has; give `memory`")
        return (1 - FRAMEWORK) * chip.hbm_bytes
    if not is_number(memory) or not memory > 0:
        raise PlanError(f"memory: bytes above 0 were expected, got {memory!r}")
    if chip.hbm_bytes is not None and memory > 1.1 * chip.hbm_bytes:
        raise PlanError(f"memory: {chip.name} has {show(chip.hbm_bytes, 'B')}, not {show(float(memory), 'B')}")
    return float(memory)
