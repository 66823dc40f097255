"""The search: every layout at a ladder of batches and chunks, prefill and decode together or apart; then the best ones
between the rungs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf

from hwlib.calibrated.serving import MOST_SEQUENCES, step_time
from hwlib.calibrated.serving_step import Server
from hwlib.serving_planner.layouts import Layout, usable
from hwlib.serving_planner.points import (
    BUSY,
    Point,
    Reading,
    apart_point,
    apart_requests,
    reading,
    together,
    together_point,
    transfer_time,
)
from hwlib.serving_planner.question import Limits, Question

CHUNKS = (512, 2048, 8192)
MOST_PROMPT = (
    8192  # tokens of prompts that a reading step gathers, if one prompt is shorter (vLLM's and SGLang's usual)
)
FINE = 5  # divisions whose batch is refined, with each chunk that gives
CLOSE = 0.9  # of the most on the ladder
FASTER = "prompts come faster than they can be read"
LATE = {
    "ttft": "the first token is later than the limit",
    "tpot": "a token takes longer than the limit",
    "gap": "a step is longer than the limit",
}
FEW_READERS = "too few GPUs are left to read the prompts"


@dataclass(frozen=True)
class Found:
    """All points that were tried and can be, whether they keep the limits or not; why the rest cannot be, counted."""

    question: Question
    points: tuple[Point, ...]
    rejected: Mapping[str, int] = field(default_factory=dict)

    @property
    def kept(self) -> list[Point]:
        """The points within the limits, most tokens first; of equal ones the quicker."""
        good = [point for point in self.points if not late(point, self.question.limits)]
        return sorted(good, key=lambda point: (-point.gpu_rate, point.gap, point.ttft))


def late(point: Point, limits: Limits) -> str:
    """The limit that a point exceeds; empty if it keeps all."""
    return next((name for name in Limits._fields if getattr(point, name) > getattr(limits, name)), "")


def search(question: Question) -> Found:
    """Every point of the grid, and the best ones refined: batches as large as the limits allow."""
    rejected: Counter[str] = Counter()
    servers = usable(question, rejected)
    tried = _Tried(question, servers)
    points = [*tried.all_together(), *tried.all_apart()]
    rejected += tried.rejected
    points += tried.refined(points)
    for point in points:
        if exceeded := late(point, question.limits):
            rejected[LATE[exceeded]] += 1
    return Found(question, tuple(points), dict(rejected))


class _Tried:
    """The steps of a search, each computed once."""

    def __init__(self, question: Question, servers: Mapping[Layout, tuple[Server, float]]):
        self.question, self.servers = question, servers
        self.rejected: Counter[str] = Counter()
        self.steps: dict[tuple[Layout, int], float] = {}
        self.readers: list[Reading] = []

    def rungs(self, layout: Layout) -> list[int]:
        """Batches of each group to try: powers of two, and what the cache holds."""
        most = self.most(layout)
        return sorted({2**i for i in range(most.bit_length()) if 2**i <= most} | {most})

    def most(self, layout: Layout) -> int:
        """The sequences of each group that the cache holds, and an engine is made for."""
        return max(1, int(min(self.servers[layout][1], MOST_SEQUENCES)))

    def all_together(self) -> Iterable[Point]:
        if self.question.apart:
            return
        for layout in self.servers:
            for each in self.rungs(layout):
                for chunk in CHUNKS if self.question.stack.mixed else CHUNKS[-1:]:
                    if point := self.together(layout, each, chunk):
                        yield point
                    else:
                        self.rejected[FASTER] += 1

    def together(self, layout: Layout, each: int, chunk: int) -> Point | None:
        times = together(self.question, self.servers[layout][0], each, chunk)
        if times is None or times.load > BUSY:
            return None
        return together_point(self.question, layout, each, chunk, times)

    def step(self, layout: Layout, each: int) -> float:
        """Seconds of a token of each sequence in steps that only decode."""
        key = layout, each
        if key not in self.steps:
            server = self.servers[layout][0]
            step = step_time(self.question.stack, server.step(each, self.question.workload.context))
            self.steps[key] = step / self.question.step_tokens
        return self.steps[key]

    def all_apart(self) -> Iterable[Point]:
        """Of each pair of layouts and each batch, the numbers of replicas that give most."""
        question = self.question
        if question.workload.output <= 1 or question.gpus < 2 or question.apart is False:
            return
        several = max(1, int(MOST_PROMPT // question.unread))
        readings = [
            reading(question, layout, server, prompts)
            for layout, (server, _) in self.servers.items()
            for prompts in sorted({1, several})
        ]
        self.readers = _not_beaten(readings)
        for read in self.readers:
            for layout in self.servers:
                if read.layout.gpus + layout.gpus <= question.gpus:
                    for each in self.rungs(layout):
                        if point := self.apart(read, layout, each):
                            yield point
                        else:
                            self.rejected[FEW_READERS] += 1

    def apart(self, read: Reading, layout: Layout, each: int) -> Point | None:
        """The most replicas that generate for which the rest of the GPUs can read."""
        question, mine = self.question, layout.gpus
        step, transfer = self.step(layout, each), self.transfer(read, layout)
        requests = apart_requests(question.workload, each * layout.attention_dp, step, transfer)
        need = read.layout.gpus * requests / (BUSY * read.rate)  # GPUs that read for one replica
        for replicas in range(int(question.gpus / (mine + need)) + 1, 0, -1):
            readers = (question.gpus - replicas * mine) // read.layout.gpus
            if readers >= 1 and replicas * requests <= BUSY * readers * read.rate:
                return apart_point(question, read, readers, layout, replicas, each, step, transfer)
        return None

    def transfer(self, read: Reading, layout: Layout) -> float:
        far = self.question.gpus > self.question.machine.full_node
        return max(transfer_time(self.question, self.servers[one][0], far) for one in (read.layout, layout))

    def refined(self, points: list[Point]) -> list[Point]:
        """The largest batches within the limits, of the divisions that give most on the ladder."""
        refined_points: list[Point] = []
        tops: dict[tuple[object, ...], float] = {}
        seen: set[tuple[object, ...]] = set()
        for point in sorted(points, key=lambda one: -one.gpu_rate):
            division = point.plan.decode[:3], point.plan.prefill is None
            if late(point, self.question.limits) or (len(tops) == FINE and division not in tops):
                continue
            top = tops.setdefault(division, point.gpu_rate)
            if (division, point.plan.chunk) in seen or point.gpu_rate < CLOSE * top:
                continue
            seen.add((division, point.plan.chunk))
            refined_points += self._between(point)
        return refined_points

    def _between(self, point: Point) -> list[Point]:
        """Points between one on the ladder and the next, by halving."""
        layout = Layout(*point.plan.decode[:3])
        low = point.plan.decode.batch // layout.attention_dp
        high = next((each for each in self.rungs(layout) if each > low), low)
        between = []
        while high - low > max(1, low // 32):
            each = (low + high) // 2
            near = self._like(point, layout, each)
            if near is None or late(near, self.question.limits):
                high = each
            else:
                between.append(near)
                low = each
        return between

    def _like(self, point: Point, layout: Layout, each: int) -> Point | None:
        if point.plan.prefill is None:
            return self.together(layout, each, point.plan.chunk or CHUNKS[-1])
        prefill = point.plan.prefill
        prompts = prefill.batch // prefill.attention_dp
        read = next(one for one in self.readers if one.layout == prefill[:3] and one.prompts == prompts)
        return self.apart(read, layout, each)


def _not_beaten(readings: list[Reading]) -> list[Reading]:
    """Those than which no other is both as quick with one prompt and reads as much on a GPU."""
    best, unbeaten = -inf, []
    for read in sorted(readings, key=lambda one: (one.seconds, -one.rate / one.layout.gpus)):
        if read.rate / read.layout.gpus > best:
            best = read.rate / read.layout.gpus
            unbeaten.append(read)
    return unbeaten


def front(points: Iterable[Point]) -> list[Point]:
    """The Pareto front of the time of a token and the tokens of a GPU, the quickest first."""
    best: list[Point] = []
    for point in sorted(points, key=lambda one: (one.tpot, -one.gpu_rate)):
        if not best or point.gpu_rate > best[-1].gpu_rate:
            best.append(point)
    return best
