"""Run a learner's code where it can do no harm, and get plain data back."""

from .client import WAITED, Child, ChildLost, NoSandbox, Zygote, ZygoteGone, zygote_ahead
from .limits import Limits

__all__ = ["WAITED", "Child", "ChildLost", "Limits", "NoSandbox", "Zygote", "ZygoteGone", "zygote_ahead"]
