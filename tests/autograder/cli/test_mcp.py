"""The tools of `gpubook mcp`, called in process: every answer has its sources, and every error is one clear text."""

import json
import sys

import pytest
from click.testing import CliRunner

from autograder.cli import agent_tools, commands
from autograder.cli.agent_answers import described, values_sources
from autograder.cli.agent_options import values_of
from autograder.reading import KINDS, HeldFile, read
from hwlib.options import SERVING, TRAINING
from hwlib.specs import accelerators, clusters, links, models, nodes, stacks, switches
from tests.autograder.reading.held import HELD, OPTIONS
from tests.hwlib.test_hf_config import LLAMA
from tests.loops import awaited

PLAN = {"model": "llama3-70b", "cluster": "superpod-h100-1su", "batch": "4M"}
SERVE = {"model": "llama3-8b", "cluster": "dgx-h100", "gpus": "2", "prompt": "1K", "output": "100", "tpot": "20ms"}
RING = {"n": 8, "S": "1 GB", "alpha": "2 us", "W": "450 GB/s"}


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("mcp")
    from autograder.cli.mcp_server import server

    return server()


@pytest.fixture
def ask(server):
    """`ask(tool, **arguments)`: the answer, as the protocol carries it."""

    def called(tool, **arguments):
        _, answer = awaited(server.call_tool, tool, arguments)
        return json.loads(json.dumps(answer, allow_nan=False))

    return called


def test_the_tools_are_listed_with_what_they_take(server):
    tools = {tool.name: tool for tool in awaited(server.list_tools)}
    assert list(tools) == [tool.__name__ for tool in agent_tools.TOOLS]
    assert all(tool.description and tool.annotations.readOnlyHint for tool in tools.values())
    assert tools["plan"].inputSchema["required"] == ["model", "cluster", "batch"]


@pytest.mark.parametrize(("name", "options"), [("plan", TRAINING), ("serve", SERVING)])
def test_the_arguments_of_a_planner_are_rows_of_its_table(server, name, options):
    (tool,) = [tool for tool in awaited(server.list_tools) if tool.name == name]
    rows = [option for option in options if option.agent is not None]
    arguments = tool.inputSchema["properties"]
    assert list(arguments) == [*(option.name for option in rows), "fixed"]
    empty = {"number": 0.0, "boolean": False, "string": ""}
    for option in rows:
        argument = arguments[option.name]
        default = empty.get(argument["type"]) if option.value is None else option.value
        assert argument.get("default") == (None if option.required else default)
        assert f": {option.agent}." in " ".join(tool.description.split()) or not option.agent


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"batch": "x"}, "batch"),
        ({"memory": "72"}, "memory"),
        ({"count": 0}, "count"),
        ({"price": -1}, "price"),
        ({"fixed": {"checkpoint-every": "30"}}, "checkpoint_every"),
        ({"fixed": {"emit": "x"}}, "emit"),
        ({"fixed": {"as_json": "true"}}, "fixed"),
    ],
)
def test_an_argument_that_cannot_be_read_is_named_by_its_name(server, arguments, field):
    from mcp.server.fastmcp.exceptions import ToolError

    with pytest.raises(ToolError) as caught:
        awaited(server.call_tool, "plan", PLAN | arguments)
    assert f"{field}: " in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("plan", PLAN | {"lora": "16"}, "lora"),
        ("serve", SERVE | {"tp": "2"}, "tp"),
        ("formulas", {"query": "ring"}, "query"),
        ("limits", {"section": "x", "chapter": "y"}, "chapter"),
    ],
)
def test_an_argument_that_a_tool_does_not_have_is_refused(server, tool, arguments, field):
    from mcp.server.fastmcp.exceptions import ToolError

    with pytest.raises(ToolError, match=f"{field}: {tool} has no such argument") as caught:
        awaited(server.call_tool, tool, arguments)
    assert ("fixed" in str(caught.value)) == (tool in ("plan", "serve"))


def test_a_refusal_leads_on_in_arguments_of_the_tool(server):
    from mcp.server.fastmcp.exceptions import ToolError

    one = {"model": "llama3-8b", "cluster": "dgx-h200", "gpus": "1", "batch": "8x4096"}
    with pytest.raises(ToolError) as caught:
        awaited(server.call_tool, "plan", one)
    assert 'With fixed {"states": "bf16"}' in str(caught.value)
    assert "--" not in str(caught.value)
    awaited(server.call_tool, "plan", one | {"fixed": {"states": "bf16"}})


def test_what_is_trained_is_asked_of_the_tool_as_of_the_command(ask):
    one = {"model": "llama3-8b", "cluster": "dgx-h200", "gpus": "1", "batch": "8x4096"}
    answer = ask("plan", **one, fixed={"lora": "16", "base": "nf4"})
    assert answer["text"].partition("\n")[0].endswith("optimizer 8)")
    assert "LoRA of rank 16" in answer["text"].partition("\n")[0]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("plan", PLAN),
        ("plan", PLAN | {"gpus": "64,128"}),
        ("plan", PLAN | {"cluster": "4xdgx-h100", "fixed": {"zero": "1", "sp": "false"}}),
        ("serve", SERVE | {"cluster": "mi300x-node", "fixed": {"apart": "false", "emit": "vllm"}}),
        ("formulas", {}),
        ("formulas", {"search": "ring time"}),
        ("evaluate", {"formula": "ring_allreduce_time", "arguments": RING}),
        ("specs", {"kind": "chips"}),
        *(
            ("specs", {"kind": kind, "key": next(iter(table))})
            for kind, table in zip(
                agent_tools.KINDS, (accelerators, links, switches, nodes, clusters, models), strict=True
            )
        ),
        ("read", {"text": HELD["config"]}),
        ("fidelity", {}),
        ("fidelity", {"section": "serving"}),
        ("limits", {}),
        ("limits", {"section": "What the model leaves out"}),
    ],
)
def test_every_answer_has_its_sources(ask, tool, arguments):
    answer = ask(tool, **arguments)
    assert answer["sources"]
    assert all(source["key"] for source in answer["sources"])


@pytest.mark.parametrize(
    ("word", "value"),
    [("true", True), (" YES", True), ("1", True), (True, True), ("no", False), ("0", False), ("", False)],
)
def test_a_yes_or_no_is_read_in_its_usual_forms(word, value):
    assert values_of(TRAINING, {"fixed": {"sp": word}}) == {"sp": value}


def test_a_plan_is_that_of_the_command(ask):
    answer = ask("plan", **PLAN, fixed={"tp": "8"}, count=2)
    command = ["plan", PLAN["model"], "--cluster", PLAN["cluster"], "--batch", PLAN["batch"], "--tp", "8"]
    command += ["--count", "2"]
    said = CliRunner().invoke(commands.main, [*command, "--json"])
    assert answer["plans"] == json.loads(said.output)
    assert answer["text"] == CliRunner().invoke(commands.main, command).output.rstrip("\n")
    assert answer["error"] == answer["plans"]["plans"][0]["error"]["mean"] > 0
    keys = {source["key"] for source in answer["sources"]}
    assert {stacks[answer["plans"]["stack"]].source, models["llama3-70b"].source, "docs/limits.md"} <= keys


def test_a_server_is_that_of_the_command(ask):
    answer = ask("serve", **SERVE, price=2.5, fixed={"tp": "1", "apart": "false"}, count=2)
    command = ["serve", SERVE["model"], "--tp", "1", "--together", "--price", "2.5", "--count", "2"]
    command += [word for name in ("cluster", "gpus", "prompt", "output", "tpot") for word in (f"--{name}", SERVE[name])]
    found = answer["plans"]
    assert found == json.loads(CliRunner().invoke(commands.main, [*command, "--json"]).output)
    assert answer["text"] == CliRunner().invoke(commands.main, command).output.rstrip("\n")
    (best, *others) = found["plans"]
    assert best["decode"].items() >= {"tp": 1, "ep": 1, "attention_dp": 1}.items()
    assert (best["prefill"], len(others)) == (None, len(found["why_not_next"]))
    assert min(best["decode"]["batch"], best["tokens_per_second"], best["cost_per_million"]) > 0
    for said in (*found["why"], *found["why_not_next"], found["rests_on"]):
        assert said in answer["text"]
    assert (answer["caveat"], answer["error"]) == (None, found["error"]["mean"])
    own = ask("serve", **SERVE | {"cluster": "1x2 mi300x"}, stack="tensorrt-llm-1.1", fixed={"tp": "1"})
    assert own["caveat"] == own["plans"]["caveat"]
    assert "MI300X" in own["caveat"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_is_read_as_the_page_reads_it(ask, kind):
    answer = ask("read", text=HELD[kind], options=OPTIONS.get(kind))
    assert {name: answer[name] for name in answer if name != "sources"} == json.loads(
        json.dumps(read([HeldFile.of_text(HELD[kind])], "", OPTIONS.get(kind)).record)
    )
    assert answer["kind"] == kind


def test_a_formula_is_evaluated_with_its_units(ask):
    answer = ask("evaluate", formula="ring_allreduce_time", arguments=RING)
    assert answer["value"] == pytest.approx(14 * 2e-6 + 14 / 8 * 1e9 / 450e9)
    assert (answer["unit"], answer["shown"]) == ("s", "3.917 ms")
    assert answer["arguments"]["W"]["value"] == 450e9
    (source,) = answer["sources"]
    assert source["title"]
    assert source["url"]


def test_a_value_says_who_printed_it_and_how_surely(ask):
    value = ask("specs", kind="chips", key="H100 SXM5")["values"]["hbm_bandwidth"]
    datum = accelerators["h100-sxm"].datum("hbm_bandwidth")
    assert (value["value"], value["unit"], value["source"]) == (datum.value, "B/s", datum.source)
    assert (value["printed"], value["confidence"]) == (datum.printed, datum.confidence)


def test_what_all_tables_cite_is_in_the_bibliography():
    tables = (accelerators, links, switches, nodes, clusters, models)
    rows = [row for table in tables for row in table.values()]
    assert [one for one in described(values_sources(*rows)) if "cited" not in one] == []


def test_a_quantised_checkpoint_is_planned_in_the_precision_that_is_asked_for_and_the_text_says_both(
    server, ask, tmp_path
):
    from mcp.server.fastmcp.exceptions import ToolError

    (tmp_path / "config.json").write_text(json.dumps(LLAMA), "utf-8")
    algorithm = {"quantization": {"quant_algo": "NVFP4"}, "producer": {"name": "modelopt"}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(algorithm), "utf-8")
    own = {"model": str(tmp_path)}
    assert "modelopt NVFP4, 4 bit; planned in " in ask("serve", **SERVE | own)["text"].splitlines()[0]
    with pytest.raises(ToolError, match=r"dtype: .*fp2"):
        awaited(server.call_tool, "serve", SERVE | own | {"dtype": "fp2"})
    assert ask("specs", kind="models", key=str(tmp_path))["texts"]["quantisation"] == "modelopt NVFP4, 4 bit"
    served, trained = ask("serve", **SERVE | own | {"dtype": "int4w"}), ask("plan", **PLAN | own)
    assert "modelopt NVFP4, 4 bit; planned in int4w" in served["text"].splitlines()[0]
    assert "modelopt NVFP4, 4 bit; planned in bf16" in trained["text"].splitlines()[0]


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("plan", PLAN | {"model": "llama3-7b"}, "did you mean llama3-70b"),
        ("plan", PLAN | {"batch": "4 apples"}, "'4 apples' is not a number of tokens"),
        ("plan", PLAN | {"model": "--help"}, "unknown model '--help'"),
        ("plan", PLAN | {"fixed": {"help": "1"}}, "unknown 'help'"),
        ("plan", PLAN | {"fixed": {"tp": "x"}}, "expected whole numbers"),
        ("plan", PLAN | {"fixed": {"sp": "maybe"}}, "sp: 'maybe': expected true or false"),
        ("serve", SERVE | {"fixed": {"apart": "both"}}, "apart: 'both': expected true or false"),
        ("serve", SERVE | {"cluster": "1x512 tpu-v5e"}, "at most 256 chips"),
        ("serve", SERVE | {"cluster": "1x2 mi300x", "dtype": "fp4"}, "MI300X has no products in fp4"),
        ("serve", SERVE | {"cluster": "1x2 mi300x", "fixed": {"emit": "trtllm"}}, "AMD's MI300X"),
        ("serve", SERVE | {"output": ""}, "expected --prompt and --output"),
        ("serve", SERVE | {"tpot": "5 GB"}, "not a time"),
        ("serve", SERVE | {"tpot": "50"}, "'50' has no unit"),
        ("plan", PLAN | {"memory": "72"}, "'72' has no unit"),
        ("plan", PLAN | {"fixed": {"tokens": "1T", "restart": "10"}}, "'10' has no unit"),
        ("serve", SERVE | {"fixed": {"pp": "2"}}, "unknown 'pp'"),
        ("formulas", {"search": "no such words"}, "no formula has"),
        ("evaluate", {"formula": "ring_allreduce_tim", "arguments": {}}, "did you mean ring_allreduce_time"),
        ("evaluate", {"formula": "ring_allreduce_time", "arguments": RING | {"W": "5 s"}}, "is in B/s"),
        ("evaluate", {"formula": "ring_allreduce_time", "arguments": RING | {"W": "450"}}, "expected e.g. '450 B/s'"),
        ("evaluate", {"formula": "ring_allreduce_time", "arguments": RING | {"n": 0}}, "at least 1"),
        ("evaluate", {"formula": "ring_allreduce_time", "arguments": RING | {"n": [8]}}, "is one number"),
        ("evaluate", {"formula": "ring_allreduce_time", "arguments": RING | {"x": 1}}, "no argument 'x'"),
        ("evaluate", {"formula": "ring_allreduce_time", "arguments": {"n": 8}}, "missing a required argument"),
        ("specs", {"kind": "chps"}, "known: chips"),
        ("specs", {"kind": "chips", "key": "h100-sx"}, "did you mean h100-sxm"),
        ("fidelity", {"section": "the weather"}, "known: Matrix products"),
        ("read", {"text": "hello"}, "what can be read: "),
        ("read", {"text": HELD["config"], "kind": "novel"}, "kind: unknown 'novel'"),
        ("read", {"text": HELD["config"], "options": {"gpus": "x"}}, "gpus: a whole number from 1"),
    ],
)
def test_an_error_is_a_clear_text(server, tool, arguments, says):
    from mcp.server.fastmcp.exceptions import ToolError

    with pytest.raises(ToolError) as error:
        awaited(server.call_tool, tool, arguments)
    assert says in str(error.value)
    assert "Traceback" not in str(error.value)


def test_without_the_extra_the_command_names_it(monkeypatch):
    for name in ("mcp", "mcp.server.fastmcp"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "autograder.cli.mcp_server", raising=False)
    done = CliRunner().invoke(commands.main, ["mcp"])
    assert done.exit_code == 1
    assert 'pip install "gpubook[mcp]"' in done.output
    assert done.output.count("\n") == 1
