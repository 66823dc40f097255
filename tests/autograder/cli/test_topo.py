import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import commands

FILES = Path(__file__).resolve().parents[2] / "hwlib" / "data" / "topologies"


def run(*words, text=None):
    return CliRunner().invoke(commands.main, ["topo", *map(str, words)], input=text)


@pytest.mark.parametrize(("name", "status"), [("b200_gpu2_lost", 1), ("v100_cube", 0), ("rocm_topo", 0)])
def test_the_exit_status_is_whether_links_are_lost(name, status):
    path = FILES / f"{name}.txt"
    plain, as_json = run(path), run(path, "--json")
    assert (plain.exit_code, as_json.exit_code) == (status, status)
    assert json.loads(as_json.output)["fine"] == (status == 0)
    assert run("-", text=path.read_text("utf-8")).output == plain.output == run(text=path.read_text("utf-8")).output


@pytest.mark.parametrize(
    ("words", "text"),
    [([], "hello"), ([FILES / "none.txt"], None), ([FILES / "v100_cube.txt", "--link", "7 apples"], None)],
)
def test_what_cannot_be_read_is_one_sentence(words, text):
    done = run(*words, text=text)
    assert done.exit_code == 2
    assert len(done.output.strip().splitlines()) == 1


@pytest.mark.parametrize("name", ["b200_gpu2_lost", "rocm_topo"])
def test_a_machine_is_drawn(name, tmp_path):
    picture = tmp_path / "machine.svg"
    assert run(FILES / f"{name}.txt", "--svg", picture, "--link", "25 GB/s").exit_code in (0, 1)
    assert "</svg>" in picture.read_text("utf-8")
    assert run(FILES / f"{name}.txt", "--svg", tmp_path / "no" / "machine.svg").exit_code == 2
