"""Run a learner's code where it can do no harm, and get plain data back."""

from .client import WAITED, Child, ChildLost, NoSandbox, Zygote, ZygoteGone, zygote_ahead
from .limits import Limits
from .shell import DISPLAY_FORMATS
from .wire import Allowance

__all__ = [
    "DISPLAY_FORMATS",
    "WAITED",
    "Allowance",
    "Child",
    "ChildLost",
    "Limits",
    "NoSandbox",
    "Zygote",
    "ZygoteGone",
    "zygote_ahead",
]
