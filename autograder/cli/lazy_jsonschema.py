"""Start sooner: what a command need not load before it begins."""

import sys


def notebooks() -> None:
    """Load nbformat's checker of schemas without the grammar of international addresses that it would compile, in a
    second of its own: no schema of a notebook has one."""
    grammar = "rfc3987_syntax"
    if "jsonschema" in sys.modules or grammar in sys.modules:
        return
    sys.modules[grammar] = None  # type: ignore[assignment]  # Python's way to say that a module is not there
    try:
        import jsonschema  # noqa: F401
    finally:
        del sys.modules[grammar]
