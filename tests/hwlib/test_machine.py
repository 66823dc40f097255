"""The lab that looks at its own machine, with a stand-in for nvidia-smi where there is none."""

import pytest

from hwlib.labs import machine
from hwlib.topology import read_topo
from tests.conftest import ROOT

SAMPLES = sorted((ROOT / "solutions" / "04-node-networking" / "files").glob("*.txt"))


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Put a program called nvidia-smi first in the path, that runs these shell lines."""

    def install(script):
        (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "nvidia-smi").chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return install


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda p: p.stem)
def test_what_the_tool_prints_is_the_table(sample, tool):
    tool(f'[ "$*" = "topo -m" ] && cat {sample}')
    table = machine.own_table()
    assert table is not None
    assert table.relation == read_topo(sample.read_text()).relation
    assert len(table.gpus) == 8


@pytest.mark.parametrize("script", ["exit 9", "echo No devices were found", "exit 0"])
def test_a_tool_that_finds_no_gpu_gives_no_table(script, tool):
    tool(script)
    assert machine.own_table() is None


def test_without_the_tool_there_is_no_table(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine.own_table() is None


def test_the_slots_are_asked_for_by_name(tool):
    tool(
        '[ "$1" = "--query-gpu=index,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,'
        'pcie.link.width.max" ] && [ "$2" = "--format=csv,noheader" ] && echo "0, 1, 5, 8, 16"'
    )
    assert machine.own_slots() == "0, 1, 5, 8, 16\n"


def test_without_a_gpu_there_is_no_slot(tool):
    tool("exit 9")
    assert machine.own_slots() == ""


def test_as_many_rows_as_gpus_and_each_reaches_itself():
    import torch

    reach = machine.peer_access()
    assert len(reach) == torch.cuda.device_count()
    assert all(row[i] for i, row in enumerate(reach))


def test_copies_are_timed_between_every_two_ends():
    import torch

    found, gpus = machine.copy_bandwidths(2**20), torch.cuda.device_count()
    assert len(found) == (gpus + 1) * gpus
    assert all(bandwidth > 0 for bandwidth in found.values())
