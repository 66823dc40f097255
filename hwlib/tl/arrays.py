"""numpy, or what this package uses of it where there is none."""

from typing import Any


def library() -> Any:
    """The module `numpy`; in a page that has none, `hwlib.tl.plain`."""
    try:
        import numpy
    except ImportError:
        from hwlib.tl import plain

        return plain
    return numpy
