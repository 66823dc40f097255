"""How many servers a machine's GPUs are in, as a launcher counts them."""

from math import gcd
from typing import NamedTuple

from hwlib.planner.task import Machine
from hwlib.specs import nodes


class Hosts(NamedTuple):
    """Servers (operating systems), and the GPUs of each."""

    number: int
    gpus: int


def hosts_of(machine: Machine, gpus: int | None = None) -> Hosts:
    """The servers of a machine, or the fewest that `gpus` of its GPUs are in; a rack of 72 GPUs is 18 of 4.

    >>> from hwlib.planner import machine_of
    >>> hosts_of(machine_of("gb200-nvl72"))
    Hosts(number=18, gpus=4)
    """
    gpus = machine.gpus if gpus is None else gpus
    same = (one for one in nodes.values() if one.accelerator == machine.chip.key and one.chips == machine.full_node)
    of_one = next((one.chips_per_host for one in same), machine.full_node)
    each = gcd(min(of_one, machine.node), gpus)
    return Hosts(gpus // each, each)
