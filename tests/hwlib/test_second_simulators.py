"""Both simulators against small ones written from their descriptions alone, on random programs and networks.

These share nothing with the simulators but the routes, and are exact: all rates and times are fractions.
"""

import math
import random
from collections import defaultdict, deque
from fractions import Fraction
from heapq import heappop, heappush

import numpy as np
import pytest

from hwlib.algorithms import Step
from hwlib.simulate import lockstep, simulate_events
from hwlib.topology import route
from hwlib.topology.graph import finish, new_graph, wire
from hwlib.topology.link_rate import LinkRate
from tests.each import each

LARGEST = 20


def random_program(rng, n):
    """By rank, steps of (sends as (to, bytes), senders to wait for); late receipts, but all of them some time."""
    program, late = [[] for _ in range(n)], []
    for last in [False] * rng.randint(1, 5) + [True]:
        step = [([], []) for _ in range(n)]
        for _ in range(0 if last else rng.randint(1, 2 * n)):
            src, dst = rng.sample(range(n), 2)
            step[src][0].append((dst, rng.choice([1, 2, 3, 8, 16, LARGEST])))
            late.append((src, dst))
        still_late = []
        for src, dst in late:
            if last or rng.random() < 0.6:
                step[dst][1].append(src)
            else:
                still_late.append((src, dst))
        late = still_late
        for rank in range(n):
            if any(step[rank]):
                program[rank].append(step[rank])
    return program


def algorithm(program):
    def run(rank, _n, x):
        for sends, frm in program[rank]:
            yield [*(Step(x[:size], to=to) for to, size in sends), *(Step(frm=src) for src in frm)]

    return run


def rounds_and_time(program, alpha, W, wires):
    """Lockstep: a message leaves in its sender's round, and is charged to its receiver where that one takes it."""
    n = len(program)
    mail, place, clock, posted = defaultdict(deque), [0] * n, [0] * n, [False] * n
    load, moved = defaultdict(int), True
    while moved:
        moved = False
        for rank in range(n):
            if place[rank] == len(program[rank]):
                continue
            (sends, frm), now = program[rank][place[rank]], clock[rank]
            if not posted[rank]:
                posted[rank] = moved = True
                for to, size in sends:
                    mail[rank, to].append((now, size))
                    load[(now, rank, to) if wires == "link" else (now, rank, "out")] += size
            if any(len(mail[src, rank]) < frm.count(src) for src in frm):
                continue
            for src in frm:
                sent, size = mail[src, rank].popleft()
                clock[rank] = max(clock[rank], sent)
                if wires == "port":
                    load[max(now, sent), rank, "in"] += size
            clock[rank] += 1
            place[rank] += 1
            posted[rank], moved = False, True
    assert place == [len(steps) for steps in program]
    rounds = max(clock)
    busiest = [max((load[key] for key in load if key[0] == i), default=0) for i in range(rounds)]
    return rounds, sum(alpha + Fraction(bytes_) / W for bytes_ in busiest)


class Events:
    """Every chunk on every link: first come, first served; its head goes on at once, its end when the end has come."""

    def __init__(self, program, topology, alpha, chunk, whole, starts):
        self.program, self.edges, self.alpha, self.whole = program, topology.graph.edges, alpha, whole
        n = len(program)
        self.heap, self.free, self.place, self.finish = [], defaultdict(int), [-1] * n, [None] * n
        self.messages, self.sent, pairs = [], {}, defaultdict(deque)
        for rank, steps in enumerate(program):
            for i, (sends, _) in enumerate(steps):
                self.sent[rank, i] = range(len(self.messages), len(self.messages) + len(sends))
                for to, size in sends:
                    pairs[rank, to].append(len(self.messages))
                    cuts = [min(chunk, size - at) for at in range(0, size, chunk)] if chunk < math.inf else [size]
                    self.messages.append((route(topology, rank, to), [Fraction(cut) for cut in cuts]))
        self.wanted = {
            (rank, i): [pairs[src, rank].popleft() for src in frm]
            for rank, steps in enumerate(program)
            for i, (_, frm) in enumerate(steps)
        }
        self.left = [[] for _ in self.messages]
        self.come = [[] for _ in self.messages]
        for rank in range(n):
            heappush(self.heap, (starts[rank], -1, rank))
        while self.heap:
            self.now, order, *what = heappop(self.heap)
            if order < 0:
                self.look(*what)
            else:
                self.pass_on(order, *what)

    def look(self, rank):
        """If all that the rank's step sends has left and all that it waits for has come, the next one begins."""
        step = rank, self.place[rank]
        if self.place[rank] == len(self.program[rank]):
            return
        if self.place[rank] >= 0:
            for found, messages in ((self.left, self.sent[step]), (self.come, self.wanted[step])):
                for message in messages:
                    if len(found[message]) < len(self.messages[message][1]) or max(found[message]) > self.now:
                        return
        self.place[rank] += 1
        if self.place[rank] == len(self.program[rank]):
            self.finish[rank] = self.now
            return
        for message in self.sent[rank, self.place[rank]]:
            for number, size in enumerate(self.messages[message][1]):
                heappush(self.heap, (self.now + self.alpha, message, number, 0, Fraction(0), size))
        self.look(rank)

    def pass_on(self, message, number, hop, slowest, size):
        """A chunk's head is at a link; over the slowest link before, the whole of it takes `slowest` to come."""
        way, _ = self.messages[message]
        link = way[hop], way[hop + 1]
        service, latency = size / self.edges[link]["bandwidth"], self.edges[link]["latency"]
        slack = max(slowest - service, 0)
        start = max(self.now + slack, self.free[link])
        self.free[link] = end = start + service
        if not hop:
            self.left[message].append(end)
            heappush(self.heap, (end, -1, int(way[0][3:])))
        if hop + 2 == len(way):
            self.come[message].append(end + latency)
            heappush(self.heap, (end + latency, -1, int(way[-1][3:])))
        elif self.whole:
            heappush(self.heap, (end + latency, message, number, hop + 1, Fraction(0), size))
        else:
            heappush(self.heap, (start - slack + latency, message, number, hop + 1, max(slowest, service), size))


def random_tree(rng, n):
    """Switches joined to a tree, ranks anywhere on it; every link has a rate and a latency of its own."""
    graph, switches = new_graph(), rng.randint(1, 4)
    for rank in range(n):
        graph.add_node(f"gpu{rank}", kind="gpu", tier=0, place=(rank,))
    for switch in range(switches):
        graph.add_node(f"s{switch}", kind="switch", tier=0)
    ends = [(f"s{switch}", f"s{rng.randrange(switch)}") for switch in range(1, switches)]
    for u, v in ends + [(f"gpu{rank}", f"s{rng.randrange(switches)}") for rank in range(n)]:
        wire(graph, u, v, LinkRate(Fraction(rng.randint(1, 4)), Fraction(rng.randint(0, 2), 4), "x"))
    return finish("a random tree", graph, [f"gpu{rank}" for rank in range(n)])


@each("seed", range(40))
def test_lockstep_is_what_it_is_said_to_be(seed):
    rng = random.Random(seed)
    n = rng.randint(2, 6)
    program, alpha, W = random_program(rng, n), rng.randint(0, 3), rng.randint(1, 5)
    for wires in ("port", "link"):
        run = lockstep(algorithm(program), [np.zeros(LARGEST, np.int8)] * n, alpha=alpha, W=W, wires=wires)
        rounds, time = rounds_and_time(program, alpha, W, wires)
        assert run.rounds == rounds
        assert run.time == pytest.approx(float(time), rel=1e-12)


@each("seed", range(60))
def test_events_are_what_they_are_said_to_be(seed):
    rng = random.Random(seed)
    n = rng.randint(2, 6)
    program, tree = random_program(rng, n), random_tree(rng, n)
    alpha, chunk, whole = Fraction(rng.randint(0, 3)), rng.choice([math.inf, 1, 3, 5]), rng.random() < 0.3
    starts = [Fraction(rng.choice([0, 0, 2])) for _ in range(n)]
    run = simulate_events(
        algorithm(program),
        tree,
        [np.zeros(LARGEST, np.int8)] * n,
        alpha=alpha,
        start_times=starts,
        chunk_bytes=None if chunk == math.inf else chunk,
        store_and_forward=whole,
    )
    second = Events(program, tree, alpha, chunk, whole, starts)
    assert [float(time) for time in run.finish] == pytest.approx([float(time) for time in second.finish], rel=1e-12)
