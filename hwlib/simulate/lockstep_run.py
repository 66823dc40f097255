"""Lockstep: all ranks take their steps in rounds, and a round lasts as long as its busiest wire.

    run = lockstep(ring_allreduce, inputs, alpha=2*us, W=50*GB)
    run.outputs, run.rounds, run.time, run.sent_bytes

This is the α-β model that the formulas of `hwlib.collectives` are written in, so the two agree exactly. There
is no contention inside the network: `hwlib.simulate.events` has one.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hwlib.algorithms.protocol import WIRES, RegisteredAlgorithm, copied, found
from hwlib.simulate.mailbox import Message, run_programs, start_programs
from hwlib.units import show


@dataclass(frozen=True, repr=False)
class LockstepRun:
    """The result of a lockstep run: the outputs by rank, every message, and their costs.

    `round_bytes` has for each round the bytes of its busiest wire, one direction, and `round_times` the seconds
    that it takes; sent and received bytes are by rank.
    """

    outputs: list[Any]
    messages: list[Message]
    rounds: int
    time: float
    sent_bytes: list[float]
    received_bytes: list[float]
    round_bytes: list[float]
    round_times: list[float]

    def __repr__(self) -> str:
        sent = f"at most {show(max(self.sent_bytes), 'B')} sent by a rank"
        return f"<{len(self.messages)} messages in {self.rounds} rounds, {sent}: {show(self.time, 's')}>"


def lockstep(
    algorithm: Callable[..., Any] | RegisteredAlgorithm | str,
    inputs: Sequence[Any],
    alpha: float = 0.0,
    W: float = math.inf,
    wires: str | None = None,
    switch: Callable[..., Any] | None = None,
    limit: int | None = None,
    **options: Any,
) -> LockstepRun:
    """Runs an algorithm on copies of `inputs`, one array a rank, in rounds of alpha + busiest wire / W.

    Where only bytes and time matter, `[Phantom(count, itemsize)] * n` are arrays of any size that take no memory.
    Out-bytes count in the round in which a message leaves, in-bytes in the round in which it is received.
    With wires="port" all messages of a rank share its one port, each direction its own; with "link" every
    pair of ranks has a wire of its own. By default the wires, and the switch, are those that the algorithm
    was registered with. A switch runs as rank n, with a copy of rank 0's buffer for its sizes; its own ports
    cost nothing. `limit` ends a run of more messages. Other options go to the algorithm. Raises
    SimulationError where the algorithm cannot go on; see `run_programs`.
    """
    record, function = found(algorithm)
    wires = wires or (record.wires if record else "port")
    switch = switch or (record.switch if record else None)
    _check(inputs, alpha, W, wires)
    n = len(inputs)
    programs = start_programs(function, [(rank, n, copied(x)) for rank, x in enumerate(inputs)], **options)
    if switch:
        programs += start_programs(switch, [(n, n, copied(inputs[0]))], **options)
    ended = run_programs(programs, limit=limit)
    rounds = max(ended.clocks)
    sent, received = [0.0] * n, [0.0] * n
    for message in ended.messages:
        if message.src < n:
            sent[message.src] += message.bytes
        if message.dst < n:
            received[message.dst] += message.bytes
    busiest = _busiest(ended.messages, rounds, n, wires)
    time = math.fsum([rounds * alpha, *(load / W for load in busiest)])
    times = [alpha + load / W for load in busiest]
    return LockstepRun(ended.outputs[:n], ended.messages, rounds, time, sent, received, busiest, times)


def _busiest(messages: Sequence[Message], rounds: int, n: int, wires: str) -> list[float]:
    """The bytes of the busiest wire, round by round; the ports of a switch, rank n, are not looked at."""
    loads: dict[tuple, float] = defaultdict(float)
    for message in messages:
        if wires == "link":
            loads[message.round, message.src, message.dst] += message.bytes
            continue
        if message.src < n:
            loads[message.round, message.src, "out"] += message.bytes
        if message.dst < n:
            loads[message.taken, message.dst, "in"] += message.bytes
    busiest = [0.0] * rounds
    for (number, *_), load in loads.items():
        busiest[number] = max(busiest[number], load)
    return busiest


def _check(inputs: Sequence[Any], alpha: float, W: float, wires: str) -> None:
    if not hasattr(inputs, "__len__"):
        raise ValueError(f"inputs: an array for each rank, got {inputs!r}; simulate_events runs over a topology")
    if not len(inputs):
        raise ValueError("inputs: at least 1 rank, got 0")
    for rank, x in enumerate(inputs):
        if not hasattr(x, "nbytes"):
            raise ValueError(f"inputs: an array for each rank, got a {type(x).__name__} for rank {rank}")
    if not alpha >= 0:
        raise ValueError(f"alpha: a latency in s, at least 0, got {alpha}")
    if not W > 0:
        raise ValueError(f"W: a bandwidth in B/s, above 0, got {W}")
    if wires not in WIRES:
        raise ValueError(f"wires: one of {', '.join(WIRES)}, got {wires!r}")
