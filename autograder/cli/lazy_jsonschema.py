"""Faster start: defer a slow import of jsonschema that no command needs."""

import sys


def notebooks() -> None:
    """Load nbformat's schema validator without the grammar of internationalised URIs, which takes a second to compile:
    no notebook schema uses it."""
    grammar = "rfc3987_syntax"
    if "jsonschema" in sys.modules or grammar in sys.modules:
        return
    sys.modules[grammar] = None  # type: ignore[assignment]  # Python's mark for a module that cannot be imported
    try:
        import jsonschema  # noqa: F401
    finally:
        del sys.modules[grammar]
