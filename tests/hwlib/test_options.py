"""The table of options: every door has the same ones, and each is a field of the record that it fills."""

import inspect
import re
import subprocess
import sys
from dataclasses import fields
from math import inf

import click
import pytest

from autograder.cli import commands
from autograder.planned import FORMS
from hwlib.options import DEGREES, RUN, SERVING, SOFTWARE, TASK, TRAINING, Entry, Option, markdown, named, of_group
from hwlib.options.readers import FLAG, NUMBERS, SWITCH, Kind, choices, counts, numbers
from hwlib.options.serving import LIMITS
from hwlib.options.training import TRAINERS
from hwlib.planner import Allowed, PlanError, SoftwareSettings, machine_of
from hwlib.planner.arguments import allowed_of, task_arguments
from hwlib.planner.run_query import NAMES
from hwlib.serving_planner.arguments import serving_arguments
from hwlib.serving_planner.question import question_of
from hwlib.specs import clusters, nodes
from hwlib.strategy import Strategy

OPTIONS = named(TRAINING)
EXAMPLES = {"batch": "1M", "sequence": "4096", "gpus": "8,16", "memory": "72GB", "price": "2", "tokens": "15T",
            "checkpoint_bandwidth": "2TB/s", "spread": "1.5%", "spares": "8", "emit": "nemo"}  # fmt: skip


def names(*groups):
    return {option.name for option in of_group(TRAINING, *groups)}


def test_the_options_of_each_group_are_the_fields_of_its_record():
    assert names(DEGREES) == {field.name for field in fields(Allowed)} <= {field.name for field in fields(Strategy)}
    settings = {field.name for field in fields(SoftwareSettings)}
    assert names(SOFTWARE) == settings - {"expert_imbalance"}  # that is of measured runs
    assert names(RUN) == {*NAMES}
    assert len(OPTIONS) == len(TRAINING)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("plan", TRAINING, ["llama3-8b", "--cluster", "dgx-h100", "--batch", "1M"]),
        ("serve", SERVING, ["llama3-8b", "--on", "dgx-h100"]),
    ],
)
def test_a_command_has_the_options_of_its_table_in_their_order(name, options, words):
    command = commands.main.commands[name]
    *table, last = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    assert [option.name for option in table] == [option.name for option in options if not option.positional]
    assert last.name == "as_json"
    for option in table:
        assert option.help == named(options)[option.name].help
    values = command.make_context(name, words).params
    given = {name for name, value in values.items() if value not in (None, False)}
    assert given == {option.name for option in options if option.required}


def test_the_pages_ask_for_the_options_of_the_table_and_for_files():
    files = {"config", "described"}
    search, single = ({field.name for field in FORMS[page].fields} - files for page in ("plan", "fill"))
    assert search == {option.name for option in TRAINING if option.search}
    assert single == names(TASK, DEGREES, SOFTWARE)
    assert names(TASK, DEGREES, SOFTWARE, RUN) <= search
    served = {field.name for field in FORMS["serve"].fields} - files
    assert served == {option.name for option in SERVING if option.search}


@pytest.mark.parametrize(
    "option",
    [one for one in TRAINING if one.reader.kind in (Kind.TEXT, Kind.NUMBER, Kind.WHOLE)],
    ids=lambda option: option.name,
)
def test_what_the_command_reads_is_what_the_page_reads(option):
    text = EXAMPLES.get(option.name, {"time": "12h", "word[,word...]": "none"}.get(option.reader.name, "8"))
    value = option.reader.read(text)
    if not option.positional:
        (parameter,) = [one for one in commands.main.commands["plan"].params if one.name == option.name]
        assert parameter.type.convert(text, parameter, None) == value
    if option.search:
        (field,) = [field for field in FORMS["plan"].fields if field.name == option.name]
        assert field.read(text) == value


@pytest.mark.parametrize(
    ("reader", "good", "bad"),
    [(numbers(0), "0", "-1"), (numbers(0, above=True), "0.5", "0"), (counts(1), "1", "0"), (numbers(0), "2", "nan"),
     (numbers(0), "1e300", "inf"), (choices("a", "b"), "b", "c"), (SWITCH, "no", "maybe"), (NUMBERS, "1,2", "1,")],
)  # fmt: skip
def test_a_reader_takes_what_is_within_its_bounds(reader, good, bad):
    reader.read(good)
    with pytest.raises(ValueError, match=re.escape(repr(bad))):
        reader.read(bad)


BOUNDED = {"price": (0, False), "days": (0, True), "gpus": (1, False), "count": (1, False), "pick": (1, False)} | {
    "prefix": (1, False),
    "state_every": (1, False),
}
"""The least value, and whether it is itself too low."""
OPENS = {
    "search": {
        "model": "llama3-70b",
        "cluster": "superpod-h100-1su",
        "batch": "4M",
        "dtype": "bf16",
    },
    "single": {
        "tp": "4",
        "pp": "4",
        "cp": "2",
        "v": "10",
        "micro": "1",
        "zero": "1",
        "schedule": "1f1b",
        "recompute": "none",
    },
}
"""What stands in the fields of the two pages when they open."""


@pytest.mark.parametrize("options", [TRAINING, SERVING])
def test_a_number_has_the_bounds_that_it_has_always_had(options):
    readers = {option.name: option.reader for option in options}
    bounds = {name: (reader.low, reader.above) for name, reader in readers.items() if reader.low != -inf}
    assert bounds == {name: bound for name, bound in BOUNDED.items() if name in bounds}
    assert {"price", "count", "pick"} <= {*bounds}


@pytest.mark.parametrize("options", [TRAINING, SERVING])
def test_a_default_that_is_a_value_is_what_is_said(options):
    values = {option.name: option.value for option in options if option.value is not None}
    assert values == {name: value for name, value in {"dtype": "bf16", "count": 5, "pick": 1}.items() if name in values}
    assert {"count", "pick"} <= {*values}
    assert [option.name for option in options if option.value is not None and option.default != str(option.value)] == []


@pytest.mark.parametrize("page", OPENS)
def test_a_page_opens_with_its_question(page):
    entries = {option.name: getattr(option, page) for option in TRAINING if getattr(option, page)}
    assert {name: entry.first for name, entry in entries.items() if entry.first} == OPENS[page]
    usual = {name: entry.usual for name, entry in entries.items() if entry.usual is not None}
    ones = {"tp": 1, "pp": 1, "cp": 1, "ep": 1, "micro": 1, "zero": 0, "schedule": "1f1b", "recompute": "none"}
    assert usual == (ones if page == "single" else {})


def test_a_yes_or_no_is_no_free_text_and_a_row_of_failures_is_one():
    assert not OPTIONS["blocking"].search.free
    assert OPTIONS["mtbf"].search.free


def test_every_machine_of_the_tables_is_offered_and_lines_of_chips_that_are_in_none():
    keys = {key for key, _ in OPTIONS["cluster"].search.pairs}
    assert keys >= {*clusters, *nodes}
    lines = keys - {*clusters, *nodes}
    assert "1x8 trainium3" in lines
    assert {machine_of(line).chip.key for line in lines}.isdisjoint(node.accelerator for node in nodes.values())


def test_a_single_value_is_one():
    assert NUMBERS.read_single("8") == 8
    with pytest.raises(ValueError, match="expected one"):
        NUMBERS.read_single("8,16")
    assert counts(1).read_single("3") == 3


def test_values_become_the_arguments_of_the_planner():
    values = {
        "batch": (2**20, 4096),
        "gpus": (8,),
        "price": 3600.0,
        "tp": (2,),
        "sp": False,
        "mtp": False,
        "zero": None,
    }
    arguments = task_arguments(values)
    assert (arguments["B"], arguments["T"], arguments["gpus"], arguments["price"]) == (2**20, 4096, 8, 1.0)
    assert arguments["software"] == SoftwareSettings(mtp=False)
    assert allowed_of(values) == Allowed(tp=2, sp=False)
    assert task_arguments(values | {"gpus": (8, 16)})["gpus"] == (8, 16)
    assert task_arguments(values | {"sequence": (4096, None)})["T"] == 4096
    for sequence in ((8192, None), (8192, 4096), (4096, 1024)):  # the last has as many tokens as a sequence
        with pytest.raises(PlanError) as caught:
            task_arguments(values | {"sequence": sequence})
        assert caught.value.field == "sequence"


def test_values_become_the_arguments_of_the_planner_of_servers():
    values = {"prompt": (2048, None), "output": (512, None), "tp": (8,), "apart": False, "price": 7200.0, "gap": None}
    arguments = {"fixed": {"tp": (8,)}, "prompt": 2048, "output": 512, "price": 2.0, "apart": False}
    assert serving_arguments(values) == arguments
    signature = inspect.signature(question_of)
    assert {option.name for option in of_group(SERVING, LIMITS)} | {*arguments} <= {*signature.parameters}
    for name in ("prompt", "output"):
        with pytest.raises(PlanError) as caught:
            serving_arguments(values | {name: (2048, 1024)})
        assert caught.value.field == name


def test_an_option_says_how_it_is_given_and_denied():
    on_off, given = Option("two_words", SWITCH, "Two words."), Option("only", FLAG, "Only.", default="off")
    assert (on_off.flag, on_off.denied) == ("--two-words", "--no-two-words")
    assert (given.denied, given.help) == ("", "Only.  [default: off]")
    assert OPTIONS["dedup_dispatch"].denied == "--no-dedup-dispatch"
    table = markdown([on_off, Option("what", choices(*TRAINERS), "What.", default="x", unit="B")])
    assert table.splitlines()[2:] == [
        "| `--two-words / --no-two-words` |  |  | Two words. |",
        "| `--what megatron\\|torchtitan\\|nemo` | B | x | What. |",
    ]
    assert Entry(choices=lambda: (("a", "A"),)).pairs == Entry(choices=(("a", "A"),)).pairs


def test_the_table_is_read_without_the_planner():
    """Commands that plan nothing load it too."""
    code = "import sys, hwlib.options; print(*(name for name in sys.modules if name.startswith('hwlib.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in done.stdout.split()}
    assert rooms == {"options", "units", "strategy", "arguments", "columns"}


def test_what_the_host_keeps_is_asked_by_name():
    software = SoftwareSettings(offload=("optimizer",))
    assert (software.uses_host, software.host_keeps("optimizer"), software.host_keeps("activations")) == (
        True,
        True,
        False,
    )
    assert not SoftwareSettings().uses_host
