"""A run as a network monitor sees it: each message's route, and its slowdown against an idle, healthy network.

    for flight in flights(run):
        flight.slowdown, flight.links

Operators find broken links in the same way: a link that any message passes quickly is healthy.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from hwlib.simulate.event_run import EventRun


class Flight(NamedTuple):
    """A message from rank `src` to `dst`: how many times longer it was under way than alone in a healthy network, and
    the cables that it passed, by their ends in alphabetical order."""

    src: int
    dst: int
    slowdown: float
    links: tuple[str, ...]


class LinkFlights(NamedTuple):
    """Of a cable: how many flights passed it, and which share of them was slow."""

    flights: int
    slow: float


def flights(run: EventRun) -> list[Flight]:
    """Every message of a run that crossed a link, sender by sender. What was slow or dead in the run counts as an
    error of the network: healthy is what the topology says."""
    edges = run.fabric.topology.graph.edges
    ways: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for passage in run.passages:
        way = ways[passage.message]
        if not way or way[-1] != (passage.src, passage.dst):
            way.append((passage.src, passage.dst))
    alpha = run.pace.alpha
    crossing = []
    for number, message in enumerate(run.messages):
        if way := ways.get(number):
            narrowest = min(edges[link]["bandwidth"] for link in way)
            alone = alpha + math.fsum(edges[link]["latency"] for link in way) + message.bytes / narrowest
            slowdown = (message.end - message.start) / alone if alone else 1.0
            crossing.append(Flight(message.src, message.dst, slowdown, tuple("-".join(sorted(link)) for link in way)))
    return crossing


def link_flights(told: Iterable[Flight], slow: float = 2.0) -> dict[str, LinkFlights]:
    """By cable, its flights; a flight is slow from this slowdown on."""
    passed: Counter[str] = Counter()
    slowly: Counter[str] = Counter()
    for flight in told:
        passed.update(flight.links)
        if flight.slowdown >= slow:
            slowly.update(flight.links)
    return {link: LinkFlights(count, slowly[link] / count) for link, count in passed.items()}
