"""What the worker of a page calls once, and with each message: the library is loaded, and archives on demand.

A page has large packages as archives that it fetches when a cell first imports one. `call` then says which, the worker
unpacks it, and calls again.
"""

from __future__ import annotations

import importlib
import json
import sys

from ..values.inline_html import block_html
from .on_demand import Needs, OnDemand

LOADED = (
    "autograder.answers",
    "autograder.learner.verbs",
    "autograder.live.cells",
    "autograder.planned",
    "autograder.reading",
    "hwlib.formula",
    "hwlib.specs",
)


def prepare() -> None:
    """Load what cells and the pages that plan need. Once; a snapshot is taken after it."""
    from hwlib.plain import as_numpy

    as_numpy.install()
    if not any(isinstance(finder, OnDemand) for finder in sys.meta_path):
        sys.meta_path.append(OnDemand())
    for name in LOADED:
        importlib.import_module(name)
    block_html("$a$")  # its rules are compiled when first used


def call(request: str) -> str:
    """The answer to a message, as JSON; {"needs": a package} where the worker is to unpack one and call again."""
    from .cells import call as answered

    try:
        return answered(request)
    except Needs as missing:
        return json.dumps({"needs": str(missing)})
