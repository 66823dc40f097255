"""How a replica can be divided over GPUs, and what forbids the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from hwlib.calibrated.serving import RESERVED, cache_sequences
from hwlib.calibrated.serving_step import Nodes, Server
from hwlib.constraints import SERVER_RULES, Rule, Setting, broken
from hwlib.serving_planner.question import Question
from hwlib.specs import Level
from hwlib.strategy import Strategy

WEIGHTS = "the weights do not fit in memory"
CACHE = "the cache holds no request beside the weights"
WIDEST = 256  # GPUs of a replica that are tried at most


class Layout(NamedTuple):
    """A way to divide a replica: `tp` GPUs share attention, `attention_dp` such groups have sequences of their own,
    and the experts are divided over `ep` GPUs whole.
    """

    tp: int
    ep: int
    attention_dp: int

    @property
    def gpus(self) -> int:
        return self.tp * self.attention_dp

    def __str__(self) -> str:
        parts = [f"tp {self.tp}"] if self.tp > 1 or self.gpus == 1 else []
        parts += [f"attention-dp {self.attention_dp}"] if self.attention_dp > 1 else []
        return " ".join(parts + ([f"ep {self.ep}"] if self.ep > 1 else []))


def layouts(question: Question, gpus: int | None = None) -> Iterator[Layout]:
    """Every way on up to so many GPUs that the question allows: tensor parallelism within a node, with experts whole or
    cut; or of a model with experts one sequence-group a GPU and the experts divided over all of them. Degrees are
    powers of two, and the size of a node.
    """
    most = question.gpus if gpus is None else gpus
    moe = question.model.moe
    for n in _sizes(min(most, WIDEST), question.machine.full_node):
        every = []
        if n <= question.machine.full_node:
            every += [Layout(n, ep, 1) for ep in ((1, n) if moe and n > 1 else (1,))]
        if moe and n > 1:
            every.append(Layout(1, n, n))
        for layout in every:
            if all(getattr(layout, name) in allowed for name, allowed in question.fixed.items()):
                yield layout


def _sizes(most: int, node: int) -> list[int]:
    return sorted({2**i for i in range(most.bit_length()) if 2**i <= most} | ({node} if node <= most else set()))


def server_of(question: Question, layout: Layout) -> Server:
    """The server that the step model prices."""
    nodes = None
    if layout.gpus > question.machine.full_node:
        nodes = Nodes(question.machine.full_node, question.W_out)
    return Server(
        question.model,
        question.chip,
        tp=layout.gpus,
        ep=layout.ep,
        attention_dp=layout.attention_dp > 1,
        nodes=nodes,
        kernels=question.stack.kernels,
        drafting=question.drafting,
        prefix=question.prefix.reused if question.prefix else 0.0,
        **question.precisions,
    )


def divided(question: Question, layout: Layout) -> tuple[Setting, Strategy]:
    """A layout in the words of a plan, which the rules read."""
    levels = (Level("node", question.machine.full_node, question.machine.levels[0].bandwidth),)
    strategy = Strategy(dp=layout.attention_dp, tp=layout.tp, ep=layout.ep, etp=layout.gpus // layout.ep)
    return Setting(question.model, layout.gpus, levels=levels), strategy


def broken_rule(question: Question, layout: Layout) -> Rule | None:
    """The rule that a layout breaks by its divisions; None if it can be."""
    setting, strategy = divided(question, layout)
    return broken(setting, strategy, SERVER_RULES)


def room(question: Question, server: Server) -> float:
    """Sequences that the cache of each group of GPUs holds whole."""
    return cache_sequences(server, question.workload.full, question.stack.cache_share, question.memory)


def usable(question: Question, rejected: Counter[str], gpus: int | None = None) -> dict[Layout, tuple[Server, float]]:
    """The layouts that can be and fit, with their server and room; what forbids the others is counted."""
    fitting = {}
    for layout in layouts(question, gpus):
        rule = broken_rule(question, layout)
        if rule is None:
            server = server_of(question, layout)
            held = room(question, server)
            if held >= 1:
                fitting[layout] = (server, held)
                continue
            rejected[WEIGHTS if server.weight_bytes() + RESERVED > question.memory else CACHE] += 1
        else:
            rejected[rule.reason] += 1
    return fitting
