"""One layer of experts, token by token: who goes where, what every network card carries, how busy every rank is.

The formulas of `expert_parallel` give means; here a router is drawn by lot and its tokens are counted, so that the
busiest card and the busiest rank are seen, for whom all others wait. Rank r of `nodes * inner` has card r and node
r // inner. The experts of a node follow one another, as do those of a rank.

What a draw consists of is the same everywhere: the live figure draws the same numbers in JavaScript.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp

COPIES = ("expert", "rank", "node")  # what a token is copied for: each expert, each rank with one, each node
FP8_BYTES = 1 + 4 / 128  # of an element that is dispatched in FP8: a scale of 4 bytes for 128 of them
BF16_BYTES = 2.0
LIKED = 1  # the seed by which experts are liked: the same in every draw


@dataclass(frozen=True)
class ExpertLayer:
    """`experts` of which each token takes k, over `nodes` of `inner` ranks, each with `tokens` of its own.

    Raises ValueError where an expert cannot be on one rank, or k is no number of experts.
    """

    experts: int
    k: int
    nodes: int
    inner: int
    tokens: int

    def __post_init__(self) -> None:
        if min(self.experts, self.nodes, self.inner, self.tokens) < 1 or self.experts % self.ranks:
            raise ValueError(f"experts are a multiple of nodes*inner = {self.ranks} ranks, got {self.experts}")
        if not 1 <= self.k <= self.experts:
            raise ValueError(f"k is 1 to {self.experts} experts, got {self.k}")

    @property
    def ranks(self) -> int:
        """Ranks of all nodes."""
        return self.nodes * self.inner

    def limit(self, n_lim: int) -> int:
        """To how many nodes a token may go: 0, or as many as there are, is no limit. ValueError where n_lim does not
        divide k, since a node is judged by its k/n_lim best experts, or where the nodes have fewer than k together."""
        if not 0 < n_lim < self.nodes:
            return 0
        if self.k % n_lim or n_lim * self.experts < self.k * self.nodes:
            raise ValueError(f"n_lim divides k = {self.k}, and as many nodes have k experts, got {n_lim}")
        return n_lim


def random(seed: int) -> Callable[[], float]:
    """Random numbers in [0, 1) that a seed fixes (mulberry32), in Python and in JavaScript the same."""
    state = seed & 0xFFFFFFFF

    def draw() -> float:
        nonlocal state
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        t = ((state ^ (state >> 15)) * (state | 1)) & 0xFFFFFFFF
        t ^= (t + ((t ^ (t >> 7)) * (t | 61) & 0xFFFFFFFF)) & 0xFFFFFFFF
        return ((t ^ (t >> 14)) & 0xFFFFFFFF) / 4294967296

    return draw


def liking(experts: int, skew: float) -> list[float]:
    """How much the router likes each expert: exp(skew*z), z evenly spaced from -1 to 1 over the experts in a random
    order. With skew 0 all are liked alike, with 1 the best one has e^2 = 7.4 times the odds of the worst."""
    order, draw = list(range(experts)), random(LIKED)
    for i in range(experts - 1, 0, -1):
        j = int(draw() * (i + 1))
        order[i], order[j] = order[j], order[i]
    return [exp(skew * (2 * place / max(experts - 1, 1) - 1)) for place in order]


def routes(layer: ExpertLayer, skew: float = 0.0, n_lim: int = 0, seed: int = 0) -> list[list[int]]:
    """The k experts of every token, best first; the tokens of rank 0 come first, then those of rank 1.

    A token's affinity for expert e is a draw u from 0 to 1, whose odds u/(1 - u) are multiplied by the liking of e.
    With n_lim it first chooses the n_lim nodes with the largest sums of their k/n_lim best affinities, as
    DeepSeek-V3 does.
    """
    liked, limit, draw = liking(layer.experts, skew), layer.limit(n_lim), random(1000 + seed)
    return [_chosen(layer, limit, list(_affinities(liked, draw))) for _ in range(layer.ranks * layer.tokens)]


def _affinities(liked: Sequence[float], draw: Callable[[], float]) -> Iterator[float]:
    for odds in liked:
        u = draw()
        yield u * odds / (1 - u + u * odds)


def _chosen(layer: ExpertLayer, limit: int, affinity: Sequence[float]) -> list[int]:
    candidates: Sequence[int] = range(layer.experts)
    if limit:
        each, best = layer.experts // layer.nodes, layer.k // limit
        by_node = [affinity[node * each : (node + 1) * each] for node in range(layer.nodes)]
        sums = [sum(sorted(row, reverse=True)[:best]) for row in by_node]
        chosen = sorted(range(layer.nodes), key=lambda node: (-sums[node], node))[:limit]
        candidates = [e for node in sorted(chosen) for e in range(node * each, (node + 1) * each)]
    return sorted(candidates, key=lambda e: (-affinity[e], e))[: layer.k]


def expert_loads(layer: ExpertLayer, chosen: Sequence[Sequence[int]]) -> list[int]:
    """Tokens of each expert."""
    loads = [0] * layer.experts
    for experts in chosen:
        for e in experts:
            loads[e] += 1
    return loads


def placement(layer: ExpertLayer, loads: Sequence[float] | None = None) -> list[list[int]]:
    """The ranks that hold each expert: one, in order.

    Given the loads that experts had before, every rank holds one expert more: within each node the busiest experts are
    copied, always the one with the largest load a copy, and the copies are dealt out, largest first, to the rank with
    the least load that has room (as EPLB does it). A token takes the copies of an expert in turn.
    """
    each = layer.experts // layer.ranks
    if loads is None:
        return [[e // each] for e in range(layer.experts)]
    held: list[list[int]] = [[] for _ in range(layer.experts)]
    for node in range(layer.nodes):
        _deal(held, range(node * each * layer.inner, (node + 1) * each * layer.inner), loads, node * layer.inner, layer)
    return held


def _deal(held: list[list[int]], mine: range, loads: Sequence[float], first: int, layer: ExpertLayer) -> None:
    """Copy and place the experts of one node, whose ranks begin with `first`."""
    copies = dict.fromkeys(mine, 1)
    for _ in range(layer.inner):
        free = [e for e in mine if copies[e] < layer.inner]
        copies[min(free, key=lambda e: (-loads[e] / copies[e], e))] += 1
    room, work = [len(mine) // layer.inner + 1] * layer.inner, [0.0] * layer.inner
    for e in sorted((e for e in mine for _ in range(copies[e])), key=lambda e: (-loads[e] / copies[e], e)):
        open_ = [r for r in range(layer.inner) if room[r]]
        without = [r for r in open_ if first + r not in held[e]] or open_
        rank = min(without, key=lambda r: (work[r], r))
        room[rank] -= 1
        work[rank] += loads[e] / copies[e]
        held[e].append(first + rank)


@dataclass(frozen=True)
class ExpertTraffic:
    """What one dispatch moves, as copies of a token by rank: through its network card, `far_out` and `far_in`, and
    inside its node, `near_out` and `near_in`; and the `loads`, pairs of a token and an expert. A combine moves as many
    results the other way. `touched` is the number of experts on a rank that got a token."""

    layer: ExpertLayer
    far_out: Sequence[int]
    far_in: Sequence[int]
    near_out: Sequence[int]
    near_in: Sequence[int]
    loads: Sequence[int]
    touched: Sequence[int]

    @property
    def imbalance(self) -> float:
        """The load of the busiest rank over the mean."""
        return max(self.loads) * len(self.loads) / sum(self.loads)

    @property
    def crossings(self) -> float:
        """Copies of a token that leave its node, on average."""
        return sum(self.far_out) / (self.layer.ranks * self.layer.tokens)

    def sent_bytes(self, D: float, b_disp: float = BF16_BYTES, b_comb: float = BF16_BYTES) -> list[float]:
        """Bytes that each card sends in dispatch and combine, of tokens D elements wide."""
        return [D * (b_disp * out + b_comb * back) for out, back in zip(self.far_out, self.far_in, strict=True)]

    def received_bytes(self, D: float, b_disp: float = BF16_BYTES, b_comb: float = BF16_BYTES) -> list[float]:
        """Bytes that each card receives."""
        return [D * (b_disp * came + b_comb * back) for came, back in zip(self.far_in, self.far_out, strict=True)]

    @cached_property
    def fullest(self) -> tuple[int, int]:
        """Copies through the busier direction of the busiest card, and of the busiest rank's links inside the node."""
        return max(*self.far_out, *self.far_in), max(*self.near_out, *self.near_in)

    def phase_time(self, D: float, b: float, W_out: float, W_in: float) -> float:
        """Seconds of a dispatch or a combine of b bytes an element: cards and links work side by side, the slower one
        counts. Bandwidth only."""
        far, near = self.fullest
        return max(D * b * far / W_out, D * b * near / W_in)

    def expert_time(self, D: float, F: float, C: float, W: float, b_w: float = BF16_BYTES, matrices: int = 3) -> float:
        """Seconds of the slowest rank's experts, of `matrices` D by F each: arithmetic, or reading the weights of those
        that got a token."""
        return max(
            max(2 * matrices * D * F * load / C, matrices * D * F * b_w * experts / W)
            for load, experts in zip(self.loads, self.touched, strict=True)
        )


def traffic(
    layer: ExpertLayer,
    chosen: Sequence[Sequence[int]],
    held: Sequence[Sequence[int]] | None = None,
    copies: str = "node",
) -> ExpertTraffic:
    """Count what the chosen experts move, held by the ranks of a `placement` (in order by default).

    `copies` says for what a token is copied: each "expert" of it, each "rank" that has some, or each "node", whose rank
    at the same place then hands it on to the ranks there. Raises ValueError for another word, or another number of
    tokens than the layer has.
    """
    if copies not in COPIES:
        raise ValueError(f"copies is one of {', '.join(COPIES)}, got {copies!r}")
    if len(chosen) != layer.ranks * layer.tokens:
        raise ValueError(f"the layer has {layer.ranks * layer.tokens} tokens, got experts of {len(chosen)}")
    held = placement(layer) if held is None else held
    n = layer.ranks
    far_out, far_in, near_out, near_in, loads = ([0] * n for _ in range(5))
    busy: list[set[int]] = [set() for _ in range(n)]
    for token in range(len(chosen)):
        for e, rank in _homes(chosen, held, token):
            loads[rank] += 1
            busy[rank].add(e)
        for frm, to in paths(layer, chosen, held, token, copies):
            far = frm // layer.inner != to // layer.inner
            (far_out if far else near_out)[frm] += 1
            (far_in if far else near_in)[to] += 1
    return ExpertTraffic(layer, far_out, far_in, near_out, near_in, loads, [len(experts) for experts in busy])


def paths(
    layer: ExpertLayer, chosen: Sequence[Sequence[int]], held: Sequence[Sequence[int]], token: int, copies: str
) -> list[tuple[int, int]]:
    """Every copy of one token, from rank to rank; what stays where it is is not a copy."""
    source = token // layer.tokens
    goals = [rank for _, rank in _homes(chosen, held, token)]
    if copies == "expert":
        return [(source, rank) for rank in goals if rank != source]
    goals = list(dict.fromkeys(goals))
    if copies == "rank":
        return [(source, rank) for rank in goals if rank != source]
    inner = layer.inner
    gates = {node: node * inner + source % inner for node in dict.fromkeys(rank // inner for rank in goals)}
    far = [(source, gate) for gate in gates.values() if gate // inner != source // inner]
    return far + [(gates[rank // inner], rank) for rank in goals if rank != gates[rank // inner]]


def _homes(chosen: Sequence[Sequence[int]], held: Sequence[Sequence[int]], token: int) -> list[tuple[int, int]]:
    """The experts of a token, each with the rank that it takes of those that hold it: they take turns."""
    return [(e, held[e][token % len(held[e])]) for e in chosen[token]]


def drawn_traffic(
    layer: ExpertLayer, skew: float = 0.0, n_lim: int = 0, copies: str = "node", redundant: bool = False, seed: int = 0
) -> ExpertTraffic:
    """The traffic of one draw; `redundant` experts are those that the draw before makes look busy.

    >>> layer = ExpertLayer(experts=64, k=4, nodes=4, inner=4, tokens=16)
    >>> [round(drawn_traffic(layer, copies=copies).crossings, 2) for copies in COPIES]
    [2.94, 2.75, 2.09]
    """
    before = expert_loads(layer, routes(layer, skew, n_lim, seed - 1)) if redundant else None
    return traffic(layer, routes(layer, skew, n_lim, seed), placement(layer, before), copies)
