"""`gpubook plan --emit`: a plan as what starts it with a software."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from hwlib import launch
from hwlib.options.training import TRAINERS
from hwlib.planner import plan
from tests.test_layers import imports

SMALL = ["llama3-8b", "--cluster", "dgx-h100", "--batch", "1M"]


def run(*words):
    return CliRunner().invoke(commands.main, ["plan", *words])


@pytest.mark.parametrize("software", TRAINERS)
def test_a_plan_is_written_for_a_software(software):
    """As a script, for the plan that is picked, and as data beside all plans."""
    found = plan("llama3-8b", "dgx-h100", B=2**20)
    done = run(*SMALL, "--emit", software, "--pick", "2")
    assert done.exit_code == 0, done.output
    assert str(found[1]) in done.output.replace("\n#   ", " ")
    assert "torchrun --nnodes 1 --nproc-per-node 8" in done.output
    record = json.loads(run(*SMALL, "--emit", software, "--json").output)
    assert record["launch"]["software"] == software
    assert record["launch"]["commands"][0]["arguments"]
    assert record["plans"]


def test_the_names_of_software_are_those_that_can_be_written_for():
    """Plan's command has them by itself: it loads none of it, unless it is asked to."""
    assert (*launch.TRAINING,) == TRAINERS
    names = imports(Path(commands.__file__).with_name("plan.py"), top_only=True)
    assert {".".join(name.split(".")[:2]) for name in names if "hwlib" in name} == {"hwlib.options"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--pick", "2"], "pick: it names"),
        (["--emit", "megatron", "--gpus", "4,8"], "emit: a plan is started"),
        (["--emit", "megatron", "--tp", "8", "--micro", "1", "--pick", "999"], "pick: expected a row of the table"),
        (["--emit", "vllm"], "'vllm' is not one of"),
    ],
)
def test_what_cannot_be_written_ends_in_a_sentence_and_2(words, says):
    done = run(*SMALL, *words)
    assert (done.exit_code, says in done.output) == (2, True), done.output
