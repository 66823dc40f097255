"""The least time of a kernel, a step and a collective by data sheets: what no software can change.

A kernel does its operations at the peak rate of their precision at best, and moves at the memory's rate what the L2
cache cannot hold. A collective passes its bytes through the ports of its ranks; a switch that reduces halves those of
an all-reduce. The rest of a time, waiting and rates that are not reached, is what a software may save or add: so its
rate is of that alone (`above_least`), and no constant takes a time below the data sheet.
"""

from typing import Any

from hwlib.collectives import bus_factor
from hwlib.formula import maximum
from hwlib.specs import Accelerator

__all__ = ["above_least", "adds_in_switch", "collective_least", "kernel_least"]

MEET = 12  # exponent of the mean of the least and of what software adds: nearly the greater of them. Published servers
# do not tell it from 3; those of NIM, to which nothing is fitted, are 4 to 6 % off with 12, and 6 to 9 % with 3.
ADDS = ("Hopper", "Blackwell", "Rubin")
"""Architectures whose switches add up what passes them: NVLink SHARP came with Hopper's."""


def kernel_least(flops: float, moved: float, C: float, W: float, held: float = 0.0) -> float:
    """Seconds of so many operations and bytes at the rates of a data sheet, of which a cache holds `held` bytes.

    >>> kernel_least(0, 3e9, C=1e15, W=3e12), kernel_least(5e12, 3e9, C=1e15, W=3e12)
    (0.001, 0.005)
    """
    return max(flops / C, (moved - held) / W)


def above_least(time: Any, least: Any, rate: float) -> Any:
    """A time at so many times the rate, but for what it takes at least.

    Slower software takes longer for all of it. Of a quicker one the rest meets the least in the mean of exponent MEET.

    >>> [round(above_least(3.0, 1.0, rate), 2) for rate in (0.5, 2.0, 4.0)]
    [6.0, 1.5, 1.0]
    """
    if rate <= 1:
        return time / rate
    beside = maximum(time**MEET - least**MEET, 0.0) / rate**MEET
    return (least**MEET + beside) ** (1 / MEET)


def adds_in_switch(chip: Accelerator) -> bool:
    """Whether the switches between chips of a node add up what passes them.

    >>> from hwlib.specs import accelerators
    >>> [adds_in_switch(accelerators[key]) for key in ("h100-sxm", "a100-80gb-sxm", "h100-pcie", "mi300x")]
    [True, False, False, False]
    """
    switched = chip.scaleup_name.startswith("NVLink") and not chip.scaleup_name.endswith("bridge")
    return chip.vendor == "NVIDIA" and chip.arch.startswith(ADDS) and switched


def collective_least(collective: str, n: int, S: float, W: float, in_switch: bool = False) -> float:
    """Seconds in which n ranks pass the bytes of a collective through their ports of W bytes a second each way. S are
    the bytes as nccl-tests counts them; `in_switch` says that switches add up, so that all-reduced bytes go out once
    and come back once.

    >>> collective_least("all_reduce", 8, 4e9, 4e9), collective_least("all_reduce", 8, 4e9, 4e9, in_switch=True)
    (1.75, 1.0)
    """
    share = float(bus_factor(collective, n))
    if in_switch and collective == "all_reduce":
        share = min(share, 1.0)
    return share * S / W
