"""A kernel that has just started says which cell to run first, once, and leaves no name behind."""

import os
import subprocess
import sys

import pytest
from jupyter_client.manager import start_new_kernel

from tests.conftest import ROOT

STARTUP = ROOT / "autograder" / "learner" / "kernel_startup.py"
SAID = "run the first cell"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run a cell in one kernel; what it displayed, and the error that it ended in."""
    home = tmp_path_factory.mktemp("home")
    (home / "exercises.json").write_text("{}")
    env = {**os.environ, "PYTHONSTARTUP": str(STARTUP), "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(home)}
    manager, client = start_new_kernel(env=env, cwd=str(home))

    def cell(source):
        shown, failed = [], ""

        def see(message):
            nonlocal failed
            if message["msg_type"] in ("display_data", "execute_result"):
                shown.append(message["content"]["data"]["text/plain"])
            failed = message["content"]["ename"] if message["msg_type"] == "error" else failed

        client.execute_interactive(source, output_hook=see, timeout=60)
        return shown, failed

    yield cell
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_fresh_kernel_says_it_until_the_imports_have_run(run):
    assert run("sorted(name for name in globals() if 'watch' in name or 'explain' in name)") == (["[]"], "")
    for _ in range(2):
        (said,), failed = run('grade("t-one", answer)')
        assert failed == "NameError"
        assert SAID in said
        assert "*" not in said
    assert run("1/0") == ([], "ZeroDivisionError")
    (said,), failed = run("""raise ModuleNotFoundError("No module named 'torch'", name="torch")""")
    assert failed == "ModuleNotFoundError"
    assert "pip install 'gpubook[labs]'" in said
    assert run("import no_such_module") == ([], "ModuleNotFoundError")
    (said,), _ = run('grade("t-one", answer)')
    assert SAID in said
    assert run("from autograder import grade") == ([], "")
    shown, failed = run("no_such_name")
    assert failed == "NameError"
    assert not any(SAID in one for one in shown)


def test_another_python_runs_it_and_says_nothing():
    done = subprocess.run(
        [sys.executable, "-c", f"exec(open({str(STARTUP)!r}).read())"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
