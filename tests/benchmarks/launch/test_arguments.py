"""The tables of launch arguments are read from a project's source as the project declares them."""

import argparse

import pytest
from click.testing import CliRunner

from benchmarks.launch import arguments as launch_arguments
from benchmarks.launch.arguments import ArgumentRow, Sources, of_parser, vllm, write

CONFIG = """
Kind = Literal["a", "b"]

class Base:
    steps: int = 3
    _hidden: int = 0

class Config(Base):
    degree: int | None = None
    share: float = 0.5
    on: bool = False
    kind: Kind = "a"
    word: Literal["x", "y"] | None = None
    named: str = ""
    sizes: list[int] = []
    names: list[str] | None = None
    other: Other = None
"""


@pytest.fixture
def sources(tmp_path):
    path = tmp_path / "config.py"
    path.write_text(CONFIG, "utf-8")
    return Sources(path)


def test_fields_have_the_kind_and_the_choices_of_their_annotation(sources):
    assert sources.fields("Config") == {
        "steps": ArgumentRow("steps", "int"),
        "degree": ArgumentRow("degree", "int"),
        "share": ArgumentRow("share", "float"),
        "on": ArgumentRow("on", "flag"),
        "kind": ArgumentRow("kind", "text", ("a", "b")),
        "word": ArgumentRow("word", "text", ("x", "y")),
        "named": ArgumentRow("named", "text"),
        "sizes": ArgumentRow("sizes", "ints"),
        "names": ArgumentRow("names", "texts"),
        "other": ArgumentRow("other", "json"),
    }


def test_a_parser_is_asked_for_what_it_takes():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--degree", type=int)
    parser.add_argument("--on", action="store_true")
    parser.add_argument("--word", "-w", choices=["x", "y"], nargs="+")
    rows = {row.name: row for row in of_parser(parser)}
    assert rows["--degree"].kind == "int"
    assert rows["--on"].kind == "flag"
    assert rows["--word"] == ArgumentRow("--word", "texts", ("x", "y"))


def test_options_of_code_take_the_fields_that_they_name(tmp_path):
    code = {
        "config/parallel.py": CONFIG + "class KVTransferConfig:\n    kv_connector: str | None = None\n",
        "model_executor/layers/quantization/__init__.py": "",
        "entrypoints/common/cli_args.py": "p.add_argument('--headless', action='store_true')",
        "distributed/kv_transfer/kv_connector/factory.py": "F.register_connector('Nixl', 'm', 'C')",
        "engine/arg_utils.py": """
kwargs = get_kwargs(Config)
group.add_argument("--degree", "-d", **kwargs["degree"])
group.add_argument("--kind", **{**kwargs["kind"], "default": None})
group.add_argument("--on", **kwargs["on"])
group.add_argument("--rank", type=int)
""",
    }
    for name, text in code.items():
        path = tmp_path / "vllm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert {*vllm(tmp_path)} == {
        ArgumentRow("--degree", "int"),
        ArgumentRow("--kind", "text", ("a", "b")),
        ArgumentRow("--on", "flag"),
        ArgumentRow("--no-on", "flag"),
        ArgumentRow("--rank", "int"),
        ArgumentRow("--headless", "flag"),
        ArgumentRow("kv-transfer-config.kv_connector", "text", ("Nixl",)),
    }


def test_a_table_is_written_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(launch_arguments, "TABLES", tmp_path)
    assert write("soft", [ArgumentRow("b", "int"), ArgumentRow("a", "text", ("x", "y")), ArgumentRow("b", "int")]) == 2
    assert (tmp_path / "soft.csv").read_text("utf-8") == "name,kind,choices\na,text,x|y\nb,int,\n"


@pytest.mark.parametrize(
    ("words", "checkouts"),
    [("vllm a", 1), ("nemo a b", 2), ("nemo a", 0), ("vllm a b", 0), ("nemo a absent", 0), ("other a", 0), ("vllm", 0)],
)
def test_the_command_takes_the_checkouts_that_its_software_needs(tmp_path, monkeypatch, words, checkouts):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launch_arguments, "TABLES", tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    read = []
    for name in ("vllm", "nemo"):
        monkeypatch.setitem(launch_arguments.READERS, name, lambda *paths: read.extend(paths) or [])
    done = CliRunner().invoke(launch_arguments.main, words.split())
    assert (done.exit_code, len(read)) == (0 if checkouts else 2, checkouts)
