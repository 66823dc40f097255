"""The machine that a page was measured on, in the words of a reader."""

import pytest

from autograder.book.outputs import measured_cells


@pytest.mark.parametrize(
    ("cpuinfo", "model"),
    [
        ("model name\t: Intel(R) Xeon(R) Platinum 8488C\nmodel name\t: other\n", "Intel Xeon Platinum 8488C"),
        ("model name\t: Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz\n", "Intel Core i7-8700"),
        ("model name\t: AMD EPYC 7763 64-Core Processor\n", "AMD EPYC 7763"),
        ("Hardware\t: BCM2711\n", "BCM2711"),
    ],
)
def test_a_machine_is_its_processor_and_its_cores(tmp_path, monkeypatch, cpuinfo, model):
    (tmp_path / "cpuinfo").write_text(cpuinfo)
    monkeypatch.setattr(measured_cells.os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(measured_cells.shutil, "which", lambda tool: None)
    assert measured_cells.machine(tmp_path / "cpuinfo") == f"{model}, 2 cores"


def test_a_machine_without_cpuinfo_has_its_architecture(tmp_path, monkeypatch):
    monkeypatch.setattr(measured_cells.shutil, "which", lambda tool: None)
    assert measured_cells.machine(tmp_path / "none").startswith(measured_cells.platform.machine())


def test_gpus_are_counted_by_name(tmp_path, monkeypatch):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nprintf 'NVIDIA H200\\nNVIDIA H200\\n'\n")
    tool.chmod(0o755)
    monkeypatch.setattr(measured_cells.shutil, "which", lambda name: str(tool))
    assert measured_cells.machine().endswith(", 2 × NVIDIA H200")
