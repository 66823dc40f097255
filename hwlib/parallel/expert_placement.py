"""Where the experts of a layer lie: which ones are there more than once, and which rank holds what.

Loads are tokens of the experts, in any unit. The copies of an expert share its tokens evenly.
"""

from collections.abc import Sequence
from math import exp
from statistics import NormalDist
from typing import NamedTuple

from hwlib.arguments import as_int


class Placement(NamedTuple):
    """The experts that each rank holds, by number; one that stands several times has as many copies."""

    ranks: tuple[tuple[int, ...], ...]

    def loads(self, loads: Sequence[float]) -> list[float]:
        """The load of each rank. Raises ValueError for loads that are not one for each expert that is placed."""
        copies = [0] * len(loads)
        for held in self.ranks:
            for expert in held:
                if not 0 <= expert < len(loads):
                    raise ValueError(f"expert {expert} is placed, but there are loads of {len(loads)}")
                copies[expert] += 1
        if missing := [expert for expert, times in enumerate(copies) if not times]:
            raise ValueError(f"experts without a place: {', '.join(map(str, missing))}")
        return [sum(loads[expert] / copies[expert] for expert in held) for held in self.ranks]

    def imbalance(self, loads: Sequence[float]) -> float:
        """The load of the busiest rank over the mean."""
        rank_loads = self.loads(loads)
        return max(rank_loads) * len(rank_loads) / sum(rank_loads)


def in_order(E: int, ranks: int) -> Placement:
    """The usual start: experts by their number, as many on each rank. Raises ValueError if that does not come out."""
    E, ranks = as_int("in_order: E (experts)", E), as_int("in_order: ranks", ranks)
    if E % ranks:
        raise ValueError(f"in_order: experts are a multiple of the {ranks} ranks, got {E}")
    held = E // ranks
    return Placement(tuple(tuple(range(rank * held, (rank + 1) * held)) for rank in range(ranks)))


def copies_of(loads: Sequence[float], slots: int) -> list[int]:
    """How many copies each expert gets: every further slot goes to the one whose copies have most to do."""
    if slots < len(loads):
        raise ValueError(f"copies_of: a slot for each of the {len(loads)} experts at least, got {slots}")
    copies = [1] * len(loads)
    for _ in range(slots - len(loads)):
        copies[max(range(len(loads)), key=lambda expert: loads[expert] / copies[expert])] += 1
    return copies


def packed(weights: Sequence[float], packs: int) -> list[list[int]]:
    """The numbers of the weights in packs of equal count: the heaviest first, each into the lightest pack with room."""
    if len(weights) % packs:
        raise ValueError(f"packed: a multiple of the {packs} packs, got {len(weights)}")
    room = len(weights) // packs
    numbers: list[list[int]] = [[] for _ in range(packs)]
    total = [0.0] * packs
    for item in sorted(range(len(weights)), key=lambda i: -weights[i]):
        lightest = min((pack for pack in range(packs) if len(numbers[pack]) < room), key=total.__getitem__)
        numbers[lightest].append(item)
        total[lightest] += weights[item]
    return numbers


def balanced(loads: Sequence[float], ranks: int, slots: int, groups: int = 1, nodes: int = 1) -> Placement:
    """Copies for the busiest experts, and all of them on ranks of nearly equal load, as DeepSeek's EPLB does it.

    With several `groups` of experts, as many on each of the `nodes`, the groups are first laid on nodes, and copies
    stay in their node; a router that is limited to some groups then keeps to as many nodes. Raises ValueError for
    numbers that do not divide.
    """
    E = len(loads)
    if E % groups or groups % nodes or ranks % nodes or slots % ranks:
        raise ValueError(
            f"balanced: nodes divide groups and ranks, groups the experts, ranks the slots; got {nodes} nodes, "
            f"{groups} groups, {ranks} ranks, {E} experts and {slots} slots"
        )
    size = E // groups
    of_group = [sum(loads[g * size : (g + 1) * size]) for g in range(groups)]
    placed: list[tuple[int, ...]] = []
    for held in packed(of_group, nodes) if nodes > 1 else [list(range(groups))]:
        experts = [g * size + i for g in held for i in range(size)]
        copies = copies_of([loads[expert] for expert in experts], slots // nodes)
        items = [expert for expert, times in zip(experts, copies, strict=True) for _ in range(times)]
        share = {expert: loads[expert] / times for expert, times in zip(experts, copies, strict=True)}
        packs = packed([share[expert] for expert in items], ranks // nodes)
        placed += [tuple(items[i] for i in pack) for pack in packs]
    return Placement(tuple(placed))


def lognormal_loads(E: int, spread: float) -> list[float]:
    """Loads of E experts over their mean, whose logarithms have a normal distribution of standard deviation `spread`:
    the middles of E equal shares, from the least to the most.
    """
    normal = NormalDist()
    drawn = [exp(spread * normal.inv_cdf((i + 0.5) / E)) for i in range(E)]
    return [E * one / sum(drawn) for one in drawn]
