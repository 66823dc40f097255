"""`gpubook doctor` on machines that are told to it, on broken ones, and on this one."""

import io
import json
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from autograder.cli import commands, doctor

HEADER = "\t" + "\t".join([*(f"GPU{i}" for i in range(8)), "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]) + "\n"


def matrix(links):
    cells = [[" X " if i == j else links for j in range(8)] for i in range(8)]
    return HEADER + "".join("\t".join([f"GPU{i}", *row, "0-55", "0", "N/A"]) + "\n" for i, row in enumerate(cells))


H100S = {
    "query": "NVIDIA H100 80GB HBM3, 81559, 535.104.05\n" * 8,
    "topo": matrix("NV18"),
    "nvlink": "GPU 0: NVIDIA H100 80GB HBM3\n" + "".join(f"\t Link {i}: 26.562 GB/s\n" for i in range(18)),
    "torch": {
        "version": "2.13.0",
        "cuda": "12.8",
        "backends": ["gloo", "nccl"],
        "devices": [["NVIDIA H100 80GB HBM3", 85_000_000_000, "9.0"]] * 8,
        "peers": [[i, j] for i in range(8) for j in range(8) if i != j],
    },
    "sandbox": "",
}


def fake(answers):
    """A `run` that answers from a table and fails as a missing program does where there is nothing."""

    def run(command):
        text = " ".join(command)
        words = {"topo -m": "topo", "nvlink -s": "nvlink", "--query-gpu": "query", "import json, torch": "torch"}
        key = next((key for word, key in words.items() if word in text), "sandbox")
        if key not in answers:
            raise FileNotFoundError(2, "No such file or directory", command[0])
        return answers[key] if isinstance(answers[key], str) else json.dumps(answers[key])

    return run


def linux(root, *, rate="400 Gb/sec (4X NDR)", net=()):
    """A file system with the files that the probes read."""
    files = {
        "proc/meminfo": "MemTotal:       2113507412 kB\nMemFree: 1 kB\n",
        "proc/sys/user/max_user_namespaces": "255000\n",
        "proc/sys/kernel/seccomp/actions_avail": "kill_process kill_thread trap errno\n",
        "sys/fs/cgroup/cgroup.controllers": "cpu memory pids\n",
        "sys/class/net/lo/operstate": "unknown\n",
    }
    if rate:
        for i in range(8):
            port = f"sys/class/infiniband/mlx5_{i}/ports/1"
            files |= {f"{port}/rate": rate + "\n", f"{port}/state": "4: ACTIVE\n", f"{port}/link_layer": "InfiniBand\n"}
    for name, speed, state in net:
        files |= {f"sys/class/net/{name}/speed": speed, f"sys/class/net/{name}/operstate": state}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def report(machine):
    return {line.part: line for line in doctor.advice(machine)}


def printed(machine):
    out = io.StringIO()
    doctor.show(machine, Console(file=out, width=200))
    return out.getvalue()


def test_a_node_of_eight_gpus_runs_labs_on_all_of_them(tmp_path):
    machine = doctor.examine(fake(H100S), linux(tmp_path))
    said = report(machine)
    assert machine.problems == {}
    assert said["GPUs"].found.startswith("8 x NVIDIA H100 80GB HBM3, 79.6 GiB; driver 535.104.05")
    assert said["links"].found == "18 NVLinks between two GPUs, through NVSwitch"
    assert said["links"].means.startswith("1.8 TB/s ")
    assert said["peer access"].found == "56 of 56 ordered pairs"
    assert said["labs"].found == "NCCL, 8 ranks"
    assert "400 GB/s " in said["network"].means
    assert "mlx5_0:1 infiniband 400 Gbit/s" in said["network"].found
    assert said["sandbox"].fine
    assert said["memory"].found == "2016 GiB"


@pytest.mark.parametrize(
    ("line", "carried"), [("26.562", 25e9), ("25", 25e9), ("53.125", 50e9), ("20", 20e9), ("50", 50e9)]
)
def test_the_rate_of_a_nvlink_line_tells_what_it_carries(line, carried):
    assert doctor.nvlink_rate(f"GPU 0: a chip (UUID: x)\n\t Link 0: {line} GB/s\n\t Link 1: <inactive>\n") == carried
    assert doctor.nvlink_rate("GPU 0: a chip\n") is None


def test_gpus_without_nvlink_and_without_their_torch(tmp_path):
    answers = {**H100S, "topo": matrix("PHB"), "torch": {**H100S["torch"], "devices": [], "peers": [], "cuda": None}}
    del answers["nvlink"]
    said = report(doctor.examine(fake(answers), linux(tmp_path, rate="")))
    assert said["links"].found == "PCIe only"
    assert (said["torch"].fine, "GPUs" in said["torch"].means) == (False, True)
    assert said["labs"].found.startswith("gloo, ")


@pytest.mark.parametrize(("version", "fine"), [("2.13.0+cu130", True), ("2.13.1", True), ("2.11.0+cu130", False)])
def test_a_torch_that_the_labs_are_not_written_for(tmp_path, version, fine):
    machine = doctor.examine(fake({**H100S, "torch": {**H100S["torch"], "version": version}}), linux(tmp_path))
    said = report(machine)["torch"]
    assert said.fine == fine
    assert ("written for torch 2.13" in said.means) != fine


def test_a_machine_with_nothing_still_gets_its_report(tmp_path):
    machine = doctor.examine(fake({}), tmp_path / "nothing")
    said = report(machine)
    assert set(machine.problems) == {"topology", "torch", "gpus", "sandbox"}
    assert said["GPUs"].found == said["links"].found == "none"
    assert (said["labs"].found, said["labs"].fine) == ("simulated", False)
    assert (said["torch"].fine, said["sandbox"].fine) == (False, False)
    assert "simulator" in printed(machine)


NOISE = ("", "garbage\n", "\tGPU0\tGPU1\nGPU0\t X \tQQ\n", "[[]]", "null", "{}", "\x00,\x1b[31m,3")


@pytest.mark.parametrize("noise", NOISE, ids=range(len(NOISE)))
def test_what_programs_print_wrongly_becomes_a_line_and_no_error(tmp_path, noise):
    answers = dict.fromkeys(("query", "topo", "nvlink", "sandbox", "torch"), noise)
    machine = doctor.examine(fake(answers), linux(tmp_path, rate="", net=[("eth0", "-1\n", "up\n")]))
    text = printed(machine)
    assert machine.torch is None
    assert re.search(r"\beth0 ethernet\b.* unknown", text)
    assert "\x00" not in text
    assert "\x1b[31m" not in text
    ports = report(doctor.examine(fake(answers), linux(tmp_path, rate="fast")))["network"].found
    assert re.search(r"\bmlx5_0:1 infiniband\b.* unknown", ports)


def test_a_program_that_hangs_or_fails_is_no_more_than_a_line(tmp_path):
    def hangs(command):
        raise subprocess.TimeoutExpired(command, 1.0)

    assert len(report(doctor.examine(hangs, linux(tmp_path)))) == 10
    with pytest.raises(OSError, match="boom"):
        doctor.run(["sh", "-c", "echo boom >&2; exit 3"])


def test_why_something_is_missing_names_no_folder_of_this_machine(tmp_path):
    def missing(_command):
        raise OSError("cannot open /home/someone/lib/libcuda.so.1")

    assert "/home" not in printed(doctor.examine(missing, linux(tmp_path)))


def test_a_sandbox_that_refuses_says_why(tmp_path):
    said = report(doctor.examine(fake({**H100S, "sandbox": "unshare: Operation not permitted\n"}), linux(tmp_path)))
    assert said["sandbox"].found.endswith("failed: unshare: Operation not permitted")
    assert "--unsafe" in said["sandbox"].means


def test_a_container_has_the_memory_that_it_is_allowed(tmp_path):
    root = linux(tmp_path)
    (root / "sys/fs/cgroup/memory.max").write_text("2147483648\n")
    machine = doctor.examine(fake({}), root)
    assert machine.memory == 2 * 2**30
    assert "2 ranks" in report(machine)["memory"].means


def test_a_fast_ethernet_card_counts_as_a_fabric_and_a_slow_one_does_not(tmp_path):
    fast = linux(tmp_path / "a", rate="", net=[("eth0", "200000\n", "up\n"), ("eth1", "200000\n", "down\n")])
    slow = linux(tmp_path / "b", rate="", net=[("eth0", "1000\n", "up\n")])
    counts, rest = (report(doctor.examine(fake({}), root))["network"] for root in (fast, slow))
    assert counts.fine
    assert "25 GB/s " in counts.means
    assert rest.fine is None


@pytest.mark.slow
def test_the_command_reports_on_this_machine():
    result = CliRunner().invoke(commands.main, ["doctor"])
    assert result.exit_code == 0, result.output
    for part in ("Python", "CPU", "memory", "torch", "GPUs", "links", "network", "labs", "sandbox"):
        assert part in result.output


def test_the_gpu_that_lost_its_links_is_named(tmp_path):
    lost = Path(__file__).resolve().parents[2] / "hwlib" / "data" / "topologies" / "b200_gpu2_lost.txt"
    links = report(doctor.examine(fake({**H100S, "topo": lost.read_text("utf-8")}), linux(tmp_path)))["links"]
    assert "GPU2 has no NVLinks, the other seven have 18" in links.found
    assert not links.fine
