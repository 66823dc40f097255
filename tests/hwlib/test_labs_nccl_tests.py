"""The benchmark is run where it is, on as many GPUs as there are; a small script plays it here."""

import os

import pytest

from hwlib.calibrated.nccl_log import read_log
from hwlib.labs.nccl_tests import run_nccl_tests

ROW = "1073741824 268435456 float sum -1 3859.0 278.24 486.92 0"


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A folder that is all of PATH but the shell's own."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return tmp_path


def script(folder, name, text):
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def test_without_the_program_or_with_one_gpu_there_is_no_log(path):
    assert run_nccl_tests("no_such_perf") is None
    script(path, "all_reduce_perf", f"echo '{ROW}'")
    script(path, "nvidia-smi", "echo 'GPU 0: NVIDIA H100'")
    assert run_nccl_tests() is None


def test_the_program_runs_on_all_gpus(path):
    script(path, "nvidia-smi", 'for i in 0 1 2 3; do echo "GPU $i: NVIDIA H100 (UUID: GPU-$i)"; done')
    script(path, "all_reduce_perf", f"echo '#' $@; echo '{ROW}'")
    text, gpus = run_nccl_tests(most="2G")
    assert gpus == 4
    assert "-b 8K -e 2G -f 2 -g 4" in text
    assert read_log(text).rows[0].S == 2**30


def test_a_failure_says_what_the_program_said(path):
    script(path, "nvidia-smi", "echo 'GPU 0: a'; echo 'GPU 1: b'")
    script(path, "all_reduce_perf", "echo 'Test NCCL failure: unhandled cuda error' >&2; exit 3")
    with pytest.raises(RuntimeError, match="ended with 3: Test NCCL failure"):
        run_nccl_tests()
