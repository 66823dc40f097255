"""The zygotes of these tests load what every submission uses; a file whose submissions need more asks for all."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def preloaded(request):
    """`PRELOAD = "all"` in a test file: its zygotes load what those of a course do, in 2.5 s more."""
    with pytest.MonkeyPatch.context() as patch:
        if getattr(request.module, "PRELOAD", "core") == "core":
            patch.setenv("GPUBOOK_PRELOAD", "core")
        yield
