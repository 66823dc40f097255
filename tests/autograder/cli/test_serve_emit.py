"""`gpubook serve --emit`: a serving plan as what starts it with a software."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from hwlib import launch
from hwlib.launch import emit, problems
from hwlib.options.serving import SERVERS
from hwlib.serving_planner import plan_serving
from tests.test_layers import imports

SMALL = ["llama3-8b", "--on", "dgx-h100", "--prompt", "2K", "--output", "512"]


def run(*words):
    return CliRunner().invoke(commands.main, ["serve", *words])


@pytest.mark.parametrize("software", SERVERS)
def test_a_serving_plan_is_written_for_a_software(software):
    """As a script, for the plan that is picked, and as data beside all plans."""
    found = plan_serving("llama3-8b", "dgx-h100", prompt=2048, output=512)
    assert not [bad for point in found for bad in problems(emit(point.plan, software))]
    done = run(*SMALL, "--emit", software, "--pick", "2")
    assert done.exit_code == 0, done.output
    assert emit(found[1].plan, software).commands[0].text in done.output
    record = json.loads(run(*SMALL, "--emit", software, "--json").output)
    assert record["launch"]["software"] == software
    assert record["plans"]


def test_the_names_of_software_are_those_that_can_be_written_for():
    assert (*launch.SERVING,) == SERVERS
    path = Path(commands.__file__).with_name("serve.py")
    loaded = {name for name in imports(path, top_only=True) if "hwlib" in name}
    assert all(name.startswith("hwlib.options") for name in loaded)  # the table of options, and no model


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--pick", "2"], "pick: it names"),
        (["--emit", "vllm", "--tp", "8", "--together", "--pick", "999"], "pick: expected a row of the table"),
        (["--emit", "megatron"], "'megatron' is not one of"),
    ],
)
def test_what_cannot_be_written_ends_in_a_sentence_and_2(words, says):
    done = run(*SMALL, *words)
    assert (done.exit_code, says in done.output) == (2, True), done.output
