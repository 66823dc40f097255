"""Run a learner's code where it can do no harm, and get plain data back."""

from .client import Child, ChildLost, NoSandbox, Zygote
from .limits import Limits

__all__ = ["Child", "ChildLost", "Limits", "NoSandbox", "Zygote"]
