"""What a notebook says below the traceback of a cell that fails by a beginner's slip (see `values.error_advice`)."""

from __future__ import annotations

import re
import sys
from typing import Any

from ..values.error_advice import NOTHING_ASKED, ErrorContext, advice, install
from .cell_history import remember_failed
from .lookup import find, published
from .unset_names import package_behind

NAMED = re.compile(r"""\b(?:given|symbols|check|grade|hint|exercise|solution)\(\s*["']([a-z0-9-]{3,80})["']""")


def explain_errors() -> None:
    """From now on a cell that ends in such an error says below it what to write instead; in a notebook only."""
    shell = _shell()
    events = getattr(shell, "events", None)  # a shell in another kernel has none
    if events is not None and _explain not in events.callbacks.get("post_run_cell", ()):
        events.register("post_run_cell", _explain)


def _shell() -> Any:
    """IPython's shell, whose names are those of the notebook; None where there is none."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def _explain(result: Any) -> None:
    """The traceback is shown by now, and whatever fails here leaves it alone."""
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        return
    try:
        cell_id = getattr(result.info, "cell_id", None)
        remember_failed(result.execution_count, str(cell_id or ""))
        kind, message, source = type(error).__name__, str(error), str(result.info.raw_cell)
        package = package_behind(kind, message, source, getattr(_shell(), "user_ns", {}))
        context = _asked(cell_id, source)
        say = install(package) if package else advice(kind, message, source, context)
        if say:
            _display(say)
    except Exception:  # of the learner's own class, in a chapter that cannot be read, in a notebook that shows nothing
        return


def _display(say: str) -> None:
    from IPython.display import display

    display({"text/plain": say, "text/markdown": say}, raw=True)


def _asked(cell_id: Any, source: str) -> ErrorContext:
    """What the cell answers: an answer cell has its exercise's id, and any other may name one."""
    names = [cell_id] if cell_id in published() else NAMED.findall(source)[:1]
    return ErrorContext.of(find(names[0]).public) if names else NOTHING_ASKED
