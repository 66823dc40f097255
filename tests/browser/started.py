"""A server of a program of its own, for the browser tests."""

import contextlib
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

MINUTE = 60.0


@contextlib.contextmanager
def started(
    command: Sequence[str], address: str, log: Path, *, cwd: Path, env: Mapping[str, str], ends_others: bool = False
) -> Iterator[None]:
    """The server that `command` starts runs in the block, which begins when it answers at `address`.

    At the end it is asked to end, all processes of its session with it unless it `ends_others` itself, and whatever
    is still there half a minute later is killed. `log` has what it printed; the test fails with it where none answers.
    """
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=cwd, env=env, stdout=out, stderr=out, start_new_session=True)
    try:
        deadline = time.monotonic() + MINUTE
        while not _answers(address):
            if process.poll() is not None:
                pytest.fail(f"{command} ended at once:\n{log.read_text()}")
            if time.monotonic() > deadline:
                pytest.fail(f"{command} did not answer within a minute:\n{log.read_text()}")
            time.sleep(0.2)
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            (os.kill if ends_others else os.killpg)(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(MINUTE / 2)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _answers(address: str) -> bool:
    with contextlib.suppress(OSError):
        urllib.request.urlopen(address, timeout=2).read()
        return True
    return False
