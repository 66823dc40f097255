"""A pipeline schedule as data: what each rank computes, in which order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

KINDS = {"F": "forward", "B": "backward", "I": "gradient of the input", "W": "gradient of the weights"}
ROUTES = ("loop", "v", "both")


class Op(NamedTuple):
    """One computation of a rank: `kind` "F" (forward), "B" (the whole backward), or its halves, "I" (gradient of
    the input) and "W" (of the weights), of one microbatch in one of the rank's chunks of layers.

    With `paired` it runs together with the next op: the computation of each hides the communication of the other.
    """

    kind: str
    microbatch: int
    chunk: int = 0
    paired: bool = False

    def __str__(self) -> str:
        return f"{self.kind}{self.microbatch}" + (f" of chunk {self.chunk}" if self.chunk else "")


@dataclass(frozen=True, repr=False)
class Schedule:
    """Which rank computes what in which order: `ops[rank]` are the ops of a rank, one after another.

    `stages` is the number of ranks of the pipeline, `v` the chunks of layers that a microbatch passes on each. `route`
    says which layers a chunk holds: with "loop", chunk c of rank r is part c*stages + r of the model; with "v",
    chunk 0 is part r and chunk 1 part 2*stages - 1 - r; with "both" there are two models in opposite
    directions, chunk 0 is part r and chunk 1 part stages - 1 - r, and a microbatch passes one of the two.

    Raises ValueError for an op that is missing, done twice, or listed on its rank before an op that it depends on.
    """

    name: str
    stages: int
    microbatches: int
    v: int
    ops: tuple[tuple[Op, ...], ...]
    route: str = "loop"

    def __repr__(self) -> str:
        chunks = f", {self.v} chunks a rank" if self.v > 1 else ""
        return f"<{self.name}: {self.microbatches} microbatches on {self.stages} stages{chunks}>"

    def __post_init__(self) -> None:
        if self.route not in ROUTES:
            raise ValueError(f"route: one of {', '.join(ROUTES)}, got {self.route!r}")
        if self.route != "loop" and self.v != (wanted := 2 if self.route == "v" else 1):
            raise ValueError(f"v: {wanted} on the route {self.route!r}, got {self.v}")
        if len(self.ops) != self.stages:
            raise ValueError(f"ops: a list for each of {self.stages} ranks, got {len(self.ops)}")
        for rank, ops in enumerate(self.ops):
            self._check(rank, ops)
        expected = self.depth * self.microbatches
        if len(self.holder) != expected:
            raise ValueError(
                f"forward passes: {self.depth} parts x {self.microbatches} microbatches = {expected}, "
                f"got {len(self.holder)}"
            )

    def _check(self, rank: int, ops: Sequence[Op]) -> None:
        done: dict[str, set[tuple[int, int]]] = {kind: set() for kind in KINDS}
        for op in ops:
            if op.kind not in KINDS:
                raise ValueError(f"rank {rank}: kind one of {', '.join(KINDS)}, got {op.kind!r}")
            part = (op.chunk, op.microbatch)
            if not (0 <= op.chunk < (2 if self.route == "both" else self.v) and 0 <= part[1] < self.microbatches):
                raise ValueError(f"rank {rank}: {op} is not of this schedule")
            twice = {"B": ("B", "I"), "I": ("B", "I")}.get(op.kind, (op.kind,))
            if any(part in done[kind] for kind in twice):
                raise ValueError(f"rank {rank}: {op} comes twice")
            needs = {"B": "F", "I": "F", "W": "I"}.get(op.kind)
            if needs and part not in done[needs]:
                raise ValueError(f"rank {rank}: {op} comes before {op._replace(kind=needs)}")
            done[op.kind].add(part)
        for kind, of in (("F", done["B"] | done["I"]), ("I", done["W"])):
            if missing := done[kind] - of:
                chunk, microbatch = min(missing)
                raise ValueError(
                    f"rank {rank}: {Op(kind, microbatch, chunk)} is never followed by its "
                    f"{'backward' if kind == 'F' else KINDS['W']}"
                )
        if ops and ops[-1].paired:
            raise ValueError(f"rank {rank}: {ops[-1]} is paired with the next op, but it is the last")

    @property
    def depth(self) -> int:
        """The number of parts that a microbatch passes: stages * v."""
        return self.stages * self.v

    def part(self, rank: int, chunk: int) -> int:
        """Which part of the model a chunk of a rank holds."""
        if self.route == "loop" or not chunk:
            return chunk * self.stages + rank
        return self.depth - 1 - rank

    @cached_property
    def holder(self) -> dict[tuple[int, int], int]:
        """{(part, microbatch): the rank that computes it}."""
        return {
            (self.part(rank, op.chunk), op.microbatch): rank
            for rank, ops in enumerate(self.ops)
            for op in ops
            if op.kind == "F"
        }

    def slots(self, rank: int) -> Iterator[tuple[Op, ...]]:
        """The ops of a rank, with those that run together grouped."""
        slot: tuple[Op, ...] = ()
        for op in self.ops[rank]:
            slot += (op,)
            if not op.paired:
                yield slot
                slot = ()

    def in_flight(self, weight_share: float = 1.0) -> tuple[float, ...]:
        """The most microbatches whose activations each rank keeps at once; one counts as the activations of all
        layers that a microbatch passes on a rank.

        A forward pass takes memory when it begins; the backward frees it when it ends. Where the backward is split,
        the gradient of the weights still needs the fraction `weight_share`: 1, or 32/34 in a
        transformer with flash attention (Qi et al. 2024, Table 1).
        """
        most = []
        change = {"F": 1.0, "B": -1.0, "I": weight_share - 1, "W": -weight_share}
        for ops in self.ops:
            held = high = 0.0
            for op in ops:
                held += change[op.kind]
                high = max(high, held)
            most.append(high / self.v)
        return tuple(most)
