"""The planner's task: a model, a batch, and GPUs of a cluster with the memory that a plan may take."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, prod
from typing import Any, NamedTuple

from hwlib.arguments import is_number
from hwlib.constraints import Setting
from hwlib.footprint import LOSSES, MEGATRON_ADAM, Adapters, States, Trained
from hwlib.planner.plan_error import PlanError
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.specs import (
    Accelerator,
    Cluster,
    Features,
    Framework,
    Level,
    Model,
    Node,
    SpecError,
    Stack,
    clusters,
    framework_of,
    models,
    nodes,
)
from hwlib.specs.cluster import Place
from hwlib.specs.framework import usual_margin
from hwlib.specs.own_cluster import LINE, OwnCluster, chip_hint, described
from hwlib.specs.table import unknown
from hwlib.units import plural, show

SECONDS_AN_HOUR = 3600.0
TORUS = (
    "A torus is timed as if all links of a chip met in one switch: no less is possible, and one axis alone takes more."
)


class Machine(NamedTuple):
    """GPUs of one kind and the levels of the network that joins exactly that many; a full node has `full_node`, and the
    link of a GPU to its host carries `host` B/s, one direction; None where nobody says. `price` is in dollars a second
    and GPU, 0 where there is none. `host_as` names the node whose link to the host a description was given. The chips
    of a node may be a slice of a `torus`.
    """

    name: str
    chip: Accelerator
    levels: tuple[Level, ...]
    full_node: int
    host: float | None = None
    price: float = 0.0
    host_as: str = ""
    torus: bool = False

    def __repr__(self) -> str:
        return f"<{self.gpus:,} x {self.chip.name} of {self.name}: {self.joined}>"

    @property
    def joined(self) -> str:
        """How the GPUs are joined, in words: how many children each level has, and what each sends into it."""
        return "; ".join(f"{one.size} a {one.name}, {show(one.bandwidth, 'B/s')} each" for one in self.levels)

    @property
    def caveat(self) -> str:
        """That a torus is timed by a bound; empty of other machines."""
        return TORUS if self.torus else ""

    @property
    def to_host(self) -> str:
        """What a GPU sends to its host, in words, and where a description does not say it, whose link was taken."""
        taken = f", as in {self.host_as}: assumed" if self.host_as else ""
        return f"{show(self.host, 'B/s', 3)} from a GPU to its host{taken}" if self.host else ""

    @property
    def gpus(self) -> int:
        """Number of GPUs."""
        return prod(level.size for level in self.levels)

    @property
    def node(self) -> int:
        """GPUs of one node that are taken."""
        return self.levels[0].size


def machine_of(cluster: Place | str, gpus: int | None = None) -> Machine:
    """`gpus` GPUs of the fewest nodes of a cluster, or of a node; or all. Raises PlanError.

    A cluster of one's own is so many nodes, a line that describes it, or a TOML file (`hwlib.specs.own_cluster`):

    >>> machine_of("128 x dgx-a100")
    <1,024 x A100 80GB SXM of 128 x DGX A100: 8 a node, 300 GB/s each; 128 a network, 200 GB/s each>
    >>> machine_of("4x8 mi300x, network 8 x 400 Gbit/s", 16)
    <16 x MI300X of 4x8 mi300x: 8 a node, 448 GB/s each; 2 a network, 400 GB/s each>
    """
    if own := _described(cluster):
        price = own.price / SECONDS_AN_HOUR
        machine = Machine(own.name, own.chip, own.levels, own.levels[0].size, own.host, price, own.host_as, own.torus)
        return _some(machine, gpus)
    return _some(_of_tables(_spec(cluster)), gpus)


def _of_tables(spec: Cluster | Node) -> Machine:
    """A cluster or a node; a pod of TPUs is one torus."""
    node = spec.members if isinstance(spec, Cluster) else spec
    levels, torus = (Level("node", node.chips, node.scaleup_bandwidth),), node.shape == "torus"
    if isinstance(spec, Cluster):
        levels = (Level("node", spec.chips, node.scaleup_bandwidth),) if spec.torus else spec.levels
    host = node.to_host_bandwidth
    return Machine(spec.name, node.chip, levels, levels[0].size, host, torus=torus)


def _described(cluster: Any) -> OwnCluster | None:
    if isinstance(cluster, OwnCluster):
        return cluster
    try:
        return described(cluster) if isinstance(cluster, str) else None
    except SpecError as error:
        raise PlanError("cluster", str(error)) from None


def _some(found: Machine, gpus: int | None) -> Machine:
    """All GPUs of a machine, or the first of them."""
    if gpus is None or gpus == found.gpus:
        return found
    if not is_number(gpus) or not 1 <= gpus <= found.gpus or gpus != int(gpus):
        raise PlanError("gpus", f"expected a whole number from 1 to the {found.gpus:,} of {found.name}, got {gpus!r}")
    return found._replace(levels=first_levels(found.levels, int(gpus)))


def _spec(cluster: Any) -> Cluster | Node:
    if isinstance(cluster, Cluster | Node):
        return cluster
    if not isinstance(cluster, str):
        raise PlanError("cluster", f"expected a Cluster, a Node or the key of one, got {cluster!r}")
    if place := clusters.find(cluster) or nodes.find(cluster):
        return place
    known = unknown("cluster", cluster, [*clusters, *nodes])
    if hint := chip_hint(cluster):
        known = f"{hint}; {known}"
    raise PlanError("cluster", f"{known} One of your own is a .toml file or a line such as {LINE!r}")


def first_levels(levels: Sequence[Level], gpus: int) -> tuple[Level, ...]:
    """The levels that join `gpus` GPUs of the fewest nodes: part of one, or of each the same number.

    Where the nodes do not fill the groups of the levels above evenly, those are taken for one, in which a node has its
    share of the narrowest of them. Raises PlanError where the nodes cannot give equally many.
    """
    (name, size, bandwidth), outer = levels[0], levels[1:]
    count = -(-gpus // size)
    if gpus % count:
        low = gpus // size * size
        raise PlanError("gpus", f"{gpus} cannot be spread evenly over {count} nodes; {low} or {low + size} can")
    joined, below = [Level(name, gpus // count, bandwidth)], 1
    for level in outer:
        if count > below:
            joined.append(level._replace(size=-(-min(count, below * level.size) // below)))
        below *= level.size
    if prod(level.size for level in joined) == gpus:
        return tuple(joined)
    narrowest, below = outer[0].bandwidth, 1
    for level in outer[: len(joined) - 1]:
        narrowest = min(narrowest, level.bandwidth / below)
        below *= level.size
    return joined[0], Level("network", count, narrowest)


@dataclass(frozen=True)
class Task:
    """A checked task: `memory` bytes of a GPU that it may take, `price` dollars a second and GPU. `wished` is what was
    asked of the software, from which `software` follows; None of a task for which nothing was left open.
    """

    model: Model
    machine: Machine
    B: int
    T: int
    software: SoftwareSettings
    memory: float
    price: float = 0.0
    wished: SoftwareSettings | None = None

    @property
    def dtype(self) -> str:
        """The precision of the layers' matrix products."""
        return self.software.dtype

    @property
    def gpus(self) -> int:
        """GPUs, all of which every plan uses."""
        return self.machine.gpus

    def moved(self, machine: Machine) -> "Task":
        """The same on another machine of such chips: on one GPU instead of several, or the reverse, with the software
        that is usual there, if none was named.
        """
        if self.wished is None or self.wished.stack is not None or (self.gpus == 1) == (machine.gpus == 1):
            return replace(self, machine=machine)
        software = self.wished.on(machine.chip, self.model, machine.gpus)
        return replace(self, machine=machine, software=software)

    @property
    def needs_one_gpu(self) -> bool:
        """Whether a software was named that has constants for one GPU alone."""
        return self.stack.one_gpu and not (self.wished and self.wished.stack is None)

    @property
    def stack(self) -> Stack:
        """The constants that plans are timed with."""
        assert isinstance(self.software.stack, Stack)
        return self.software.stack

    @property
    def framework(self) -> Framework | None:
        """The memory of the software; None of a machine without one, whose bytes are those that formulas count."""
        features = self.features.key if self.features else ""
        return framework_of(self.stack, features) if self.stack.features else None

    @property
    def margin(self) -> float:
        """The share of the predicted bytes by which a GPU may report more: that of the software's memory."""
        return self.framework.margin if self.framework else usual_margin()

    @property
    def own_margin(self) -> bool:
        """Whether the margin is that of measured peaks of this software."""
        return self.margin != usual_margin()

    @property
    def states(self) -> States:
        """Bytes of a parameter."""
        return self.trained.states if self.trained else self._usual_states

    @property
    def _usual_states(self) -> States:
        return States(*(self.framework.states if self.framework else MEGATRON_ADAM))

    @property
    def trained(self) -> Trained | None:
        """What is trained and in which precision, where it was asked for, or where the stack's constants need it."""
        usual = Trained(self._usual_states) if self.stack.one_gpu else None
        return self.software.trained(self._usual_states) or usual

    @property
    def state_bytes(self) -> float:
        """Bytes of all weights, gradients and states of the optimizer, divided among nothing."""
        return (self.trained or Trained(self.states)).state_bytes(self.model)

    @property
    def assumed(self) -> str:
        """What is trained and in which precision, in words, asked for or not."""
        return str(self.trained or Trained(self.states))

    @property
    def features(self) -> Features | None:
        """What the software has; None if it has everything."""
        return self.software.features if isinstance(self.software.features, Features) else None

    @property
    def sequences(self) -> int:
        """Sequences of the batch."""
        return self.B // self.T

    @property
    def setting(self) -> Setting:
        """What a strategy must suit."""
        return Setting(self.model, self.gpus, self.T, self.sequences, self.machine.levels, self.features)

    def __str__(self) -> str:
        return self.on(f"{self.gpus:,}")

    def on(self, gpus: str) -> str:
        """The task as text, with the number of GPUs given."""
        chip, name = self.machine.chip.name, self.model.planned_name(self.dtype)
        return f"{name} on {gpus} x {chip}, {plural(self.sequences, 'sequence')} of {plural(self.T, 'token')} per step"

    @property
    def title(self) -> str:
        """The first line of an answer: the task, and whose release its times stand for."""
        return self.titled(f"{self.gpus:,}")

    def titled(self, gpus: str) -> str:
        """The first line of an answer, with the number of GPUs given."""
        software = f", with {self.stack.dated}" if self.stack.dated else ""
        trained = f"; {self.trained}" if self.trained else ""
        return self.on(gpus) + software + trained

    @property
    def terms(self) -> str:
        """The memory that plans may take, and the constants that they are timed with."""
        room, has = self.memory, self.machine.chip.seen_bytes or 0
        of = f"of each GPU's {show(has, 'B', 3)}" if has > room else "on each GPU"
        does = "".join(f", {words}" for words in self.choices)
        return f"{show(room, 'B', 3)} {of}; stack {self.stack.key}, {self.software.dtype}{does}"

    @property
    def choices(self) -> tuple[str, ...]:
        """What the software does with this model, in words: bytes of a parameter and a loss that were asked for, how
        tokens reach experts, and whether MTP is trained.
        """
        words = []
        if self.software.states is not None:
            words.append(f"{self.states.total:g} bytes a parameter")
        if self.trained and self.trained.adapters:
            words.append(str(self.trained.adapters))
        if self.software.loss != LOSSES[0]:
            words.append(f"{self.software.loss} loss")
        if self.model.moe:
            words.append("deduplicated dispatch" if self.software.dedup_dispatch else "dispatch in copies")
        if self.model.mtp_layers:
            words.append("MTP trained" if self.software.mtp else "MTP not trained")
        return tuple(words)

    @property
    def counts_mtp(self) -> bool:
        """Whether the modules for multi-token prediction are trained."""
        return bool(self.model.mtp_layers and self.software.mtp)

    @property
    def caveat(self) -> str:
        """What the stack says of constants that no step was fitted to; that a torus is timed by a bound; a precision
        that was not asked for. Empty where nothing is to be said.
        """
        chip = self.machine.chip
        narrow = self.software.dtype == "fp16" and not chip.bf16_flops
        precision = f"Products are in fp16: {chip.name} has none in bf16." if narrow else ""
        return " ".join(filter(None, (self.stack.caveat, self.machine.caveat, precision)))


def task_of(
    model: Model | str,
    cluster: Place | str,
    *,
    B: Any,
    T: Any = None,
    gpus: int | None = None,
    software: SoftwareSettings | None = None,
    memory: float | None = None,
    price: float | None = None,
) -> Task:
    """The task, checked; without a price, that of the machine. Raises PlanError."""
    model, machine = model_of(model), machine_of(cluster, gpus)
    B, T = batch_of(model, B, T)
    price = machine.price if price is None else price
    if not (is_number(price) and 0 <= price < inf):
        raise PlanError("price", f"expected dollars of at least 0, got {price!r}")
    software = software or SoftwareSettings()
    on_chip = software.on(machine.chip, model, machine.gpus)
    assert isinstance(on_chip.stack, Stack)
    if on_chip.stack.one_gpu and machine.gpus > 1:
        raise PlanError("stack", f"{on_chip.stack.key} has constants for one GPU alone, and there are {machine.gpus:,}")
    on_chip.check_host(machine.name, machine.host)
    if on_chip.mtp and not model.mtp_layers:
        raise PlanError("mtp", f"{model.name} has no modules for multi-token prediction")
    if isinstance(on_chip.lora, Adapters):
        try:
            on_chip.lora.check(model)
        except ValueError as error:
            raise PlanError("lora", str(error)) from None
    return Task(model, machine, B, T, on_chip, memory_of(machine.chip, memory), price, software)


def model_of(model: Model | str) -> Model:
    """A model, the one of a key, or that of a `config.json` or its folder. Raises PlanError: it lists similar keys."""
    try:
        return models.of(model)
    except (KeyError, TypeError, SpecError) as error:
        raise PlanError("model", error.args[0].removeprefix("model: ")) from None


def batch_of(model: Model, B: Any, T: Any) -> tuple[int, int]:
    """Tokens of the batch and of a sequence, by default the model's context at most 8192. Raises PlanError."""
    T = min(model.context, 8192) if T is None else T
    for name, value in (("batch", B), ("sequence", T)):
        if not is_number(value) or not 1 <= value < 2**62 or value != int(value):
            raise PlanError(name, f"expected a whole number of tokens, at least 1 and below 2^62, got {value!r}")
    B, T = int(B), int(T)
    if model.positions and model.positions < T:
        raise PlanError(
            "sequence", f"{T:,} tokens are more than the {plural(model.positions, 'learned position')} of {model.name}"
        )
    if B % T:
        low = B // T * T
        near = " or ".join(f"{plural(n, 'token')} ({plural(n // T, 'sequence')})" for n in (low, low + T) if n)
        raise PlanError(
            "batch",
            f"{plural(B, 'token')} {'does' if B == 1 else 'do'} not divide into sequences of {T:,}; {near} would",
        )
    return B, T


MISTYPED = 1.01
"""A budget above what the chip has by no more than this is that memory, rounded by who typed it."""


def memory_of(chip: Accelerator, memory: float | None) -> float:
    """Bytes of a GPU that a plan or a server may take, the budget: those given, or all that software sees of the chip's
    memory. What the context, NCCL and the allocator take is counted with the plan. Raises PlanError.
    """
    held = chip.seen_bytes
    if memory is None:
        if held is None:
            raise PlanError("memory", f"no source says how much {chip.name} has; give a number of bytes")
        return held
    if not is_number(memory) or not 0 < memory < inf:
        raise PlanError("memory", f"expected bytes above 0, got {memory!r}")
    if held is not None and memory > MISTYPED * held:
        raise PlanError("memory", f"{chip.name} has {show(held, 'B')}, not {show(float(memory), 'B')}")
    return float(memory)
