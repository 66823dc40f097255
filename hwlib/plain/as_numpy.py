"""The small numpy under numpy's name, where the real one is missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from hwlib import plain
from hwlib.plain.strided import AxisError

VERSION = "2.0.0"  # whose rules of types it follows


def install() -> bool:
    """Let `import numpy` load the small numpy, if there is no other; whether it does."""
    if "numpy" in sys.modules and sys.modules["numpy"] is not None:
        return getattr(sys.modules["numpy"], "is_small", False)
    if "numpy" not in sys.modules and find_spec("numpy"):
        return False
    numpy = _module("numpy", {name: getattr(plain, name) for name in plain.__all__ if name != "methods"})
    numpy.__doc__ = plain.__doc__
    numpy.__getattr__ = plain.__getattr__  # type: ignore[method-assign]
    numpy.__version__, numpy.is_small = VERSION, True  # type: ignore[attr-defined]
    numpy.exceptions = _module(  # type: ignore[attr-defined]
        "numpy.exceptions", {"AxisError": AxisError, "TooHardError": type("TooHardError", (RuntimeError,), {})}
    )
    numpy.typing = _module(  # type: ignore[attr-defined]
        "numpy.typing", {"ArrayLike": Any, "DTypeLike": Any, "NDArray": plain.ndarray}
    )
    sys.modules["numpy.random"] = plain.random
    return True


def _module(name: str, names: dict[str, Any]) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(names)
    sys.modules[name] = module
    return module
