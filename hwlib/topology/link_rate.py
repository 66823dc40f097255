"""The arguments that builders accept: whole numbers, and rates as numbers, as text with a unit or as the key of a
link."""

import math
from typing import Any, NamedTuple

from hwlib import arguments
from hwlib.arguments import is_number
from hwlib.specs import links
from hwlib.units import UnitError, parse


class TopologyError(ValueError):
    """A network that cannot be built, cut or read as asked; the message names what came in."""


class LinkRate(NamedTuple):
    """The rate of a link: B/s in one direction, seconds a hop, and the link's name where it has one."""

    bandwidth: float
    latency: float = 0.0
    link: str = ""


def whole(what: str, value: Any, least: int = 1) -> int:
    """`value` as an int of at least `least`; `what` names the builder, the argument and its meaning."""
    try:
        return arguments.as_int(what, value, least)
    except ValueError as error:
        raise TopologyError(str(error)) from None


def as_rate(what: str, value: Any, latency: float = 0.0) -> LinkRate:
    """A bandwidth above zero, given in B/s, as '400 Gbit/s', or as the key of `hwlib.specs.links`."""
    if not 0 <= seconds(f"{what}, latency", latency) < math.inf:
        raise TopologyError(f"{what}: the latency is finite, got {latency!r}")
    if isinstance(value, LinkRate):
        return value
    if isinstance(value, str):
        if value in links:
            return LinkRate(links[value].bandwidth, latency or links[value].latency or 0.0, value)
        try:
            measure = parse(value)
        except UnitError as error:
            known = ", ".join(links)
            raise TopologyError(f"{what} is in B/s, a text such as '400 Gbit/s' or one of {known}: {error}") from None
        if measure.unit != "B/s":
            raise TopologyError(f"{what} is a bandwidth in B/s, got {value!r}, which is in {measure.unit}")
        value = measure.value
    if not is_number(value) or not 0 < value < math.inf:
        raise TopologyError(f"{what} is a finite bandwidth above 0 B/s, got {value!r}")
    return LinkRate(float(value), latency)


def seconds(what: str, value: Any) -> float:
    """A time that is not negative."""
    if not is_number(value) or not value >= 0:
        raise TopologyError(f"{what} is a time of at least 0 s, got {value!r}")
    return float(value)
