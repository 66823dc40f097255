"""all_reduce_perf and its like on this machine, where they are built: their output as text."""

import re
import shutil
import subprocess

PATIENCE = 300.0  # seconds


def run_nccl_tests(program: str = "all_reduce_perf", least: str = "8K", most: str = "1G") -> tuple[str, int] | None:
    """What the program prints for sizes from least to most on all GPUs, and their number; None where there is none.

    The program is looked up in the PATH, and the GPUs are those that `nvidia-smi -L` lists. Raises RuntimeError with
    its last line if the program fails, and if it is not done after five minutes.
    """
    path, lister = shutil.which(program), shutil.which("nvidia-smi")
    if not path or not lister:
        return None
    listed = subprocess.run([lister, "-L"], capture_output=True, text=True, timeout=60, check=False).stdout
    gpus = len(re.findall(r"^GPU \d+:", listed, re.MULTILINE))
    if gpus < 2:
        return None
    words = [path, "-b", least, "-e", most, "-f", "2", "-g", str(gpus)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{program} was not done after {PATIENCE:.0f} s on {gpus} GPUs") from None
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["without a word"]
        raise RuntimeError(f"{program} ended with {done.returncode}: {last[0]}")
    return done.stdout, gpus
