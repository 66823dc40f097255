"""numpy, or the small one in plain Python where there is none."""

from typing import Any


def library() -> Any:
    """The module `numpy`; in a page that has none, `hwlib.plain`."""
    try:
        import numpy
    except ImportError:
        from hwlib import plain

        return plain
    return numpy
