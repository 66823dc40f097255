"""What the tests of a course share."""

import sys

import pytest


@pytest.fixture(scope="module", autouse=True)
def templates_compiled_once():
    """Each writer of a gradebook has an environment of its own that compiles the page's templates: four fifths of the
    time that entering a submission takes. Here they are compiled once."""
    if "jinja2" not in sys.modules:
        return
    from jinja2 import Environment

    if hasattr(Environment.compile, "compiled"):
        return
    compile_anew, compiled = Environment.compile, {}

    def compile_once(self, source, name=None, filename=None, raw=False, defer_init=False):
        options = (self.trim_blocks, self.lstrip_blocks, self.autoescape, *sorted(self.extensions))
        key = (source, name, filename, raw, defer_init, options)
        if key not in compiled:
            compiled[key] = compile_anew(self, source, name, filename, raw, defer_init)
        return compiled[key]

    compile_once.compiled = compiled
    Environment.compile = compile_once
