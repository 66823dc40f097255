"""Other tools that cost training plans, each in an environment of its own that is thrown away."""

import json
import os
import subprocess
import sys
from pathlib import Path

PUBLISHED = {
    "mlsysim": "measured earlier, version 0.3.0: 200 to 340 plans a second",
    "calculon": "its README: a single calculation takes about 1 s with its start, a search of 530B on 5,128 GPUs 1 min",
}
MLSYSIM = """
import json, sys, time
import mlsysim
from mlsysim.engine.solvers.distributed import DistributedModel
model, fleet, solver = mlsysim.Models.Language.Llama3_405B, mlsysim.Systems.Clusters.Production_2K, DistributedModel()
rates = []
for _ in range(int(sys.argv[1])):
    n, started = 0, time.process_time()
    while time.process_time() - started < 1:
        for tp in (1, 2, 4, 8):
            for pp in (4, 8, 16):
                solver.solve(model, fleet, batch_size=2048, precision="fp16", tp_size=tp, pp_size=pp,
                             microbatch_count=64, zero_stage=1, overlap_comm=True, seq_len=8192)
                n += 1
    rates.append(n / (time.process_time() - started))
print(json.dumps(rates))
"""
CALCULON = """
import json, logging, sys, time
from calculon.llm.llm import Llm
from calculon.system import System
root, repeats = sys.argv[1], int(sys.argv[2])
read = lambda name: json.load(open(f"{root}/{name}"))
log = logging.getLogger()
log.setLevel(logging.CRITICAL)
app, system = Llm.Application(read("models/megatron-1T.json")), System(read("systems/a100_80g.json"))
plan = read("examples/3072_t4_p64_d12_mbs4_full.json")
rates = []
for _ in range(repeats):
    n, started = 0, time.process_time()
    while time.process_time() - started < 1:
        model = Llm(app, log)
        model.compile(system, Llm.Execution.from_json(plan))
        model.run(system)
        n += 1
    rates.append(n / (time.process_time() - started))
print(json.dumps(rates))
"""


CALCULON_NEEDS = ("numpy", "pandas", "psutil")  # what its package imports; it is in no registry itself


class NoPeer(RuntimeError):
    """It cannot be had or run here, and why."""


def environment(folder: Path) -> Path:
    """The Python of a new environment."""
    said_by([sys.executable, "-m", "venv", str(folder)], "no environment for it")
    return folder / "bin" / "python"


def install_mlsysim(folder: Path) -> Path:
    """The Python of an environment with mlsysim. Raises NoPeer."""
    python = environment(folder)
    said_by([str(python), "-m", "pip", "install", "-q", "mlsysim"], "pip could not install it")
    return python


def measure_mlsysim(python: Path, repeats: int) -> list[float]:
    """Plans a second of its DistributedModel: time and memory of Llama 3 405B on 2,048 GPUs. Raises NoPeer."""
    return _rates([str(python), "-c", MLSYSIM, str(repeats)])


def measure_calculon(folder: Path, checkout: Path | None, repeats: int, python: Path | None = None) -> list[float]:
    """Plans a second of Calculon, from a checkout of its repository, which no registry has, or a clone.

    It runs with `python`, which has what it imports, or with that of a new environment in `folder`. Raises NoPeer.
    """
    if checkout is None:
        checkout = folder / "calculon"
        address = "https://github.com/calculon-ai/calculon"
        said_by(["git", "clone", "-q", "--depth", "1", address, str(checkout)], "its repository could not be had")
    if not (checkout / "calculon" / "llm").is_dir():
        raise NoPeer(f"{checkout} is not a checkout of it: no folder 'calculon/llm'")
    return _rates([str(python or calculon_python(folder)), "-c", CALCULON, str(checkout), str(repeats)], checkout)


def calculon_python(folder: Path) -> Path:
    """The Python of an environment with what Calculon imports. Raises NoPeer."""
    python = environment(folder / "environment")
    said_by([str(python), "-m", "pip", "install", "-q", *CALCULON_NEEDS], "pip could not install what it imports")
    return python


def _rates(command: list[str], path: Path | None = None) -> list[float]:
    said = said_by(command, "it did not run", path)
    return [float(rate) for rate in json.loads(said.splitlines()[-1])]


def said_by(command: list[str], problem: str, path: Path | None = None) -> str:
    """What a command prints. Raises NoPeer, with the end of what it said."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    kept |= {"GIT_TERMINAL_PROMPT": "0", "OMP_NUM_THREADS": "1"} | ({"PYTHONPATH": str(path)} if path else {})
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=kept)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoPeer(f"{problem}: {error}") from None
    if done.returncode:
        raise NoPeer(f"{problem}: {(done.stderr or done.stdout).strip().splitlines()[-1][-200:]}")
    return done.stdout
