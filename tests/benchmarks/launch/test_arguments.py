"""The tables of launch arguments are read from a project's source as the project declares them."""

import argparse

import pytest

from benchmarks.launch import arguments as launch_arguments
from benchmarks.launch.arguments import Row, Sources, of_parser, vllm, write

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
        "steps": Row("steps", "int"),
        "degree": Row("degree", "int"),
        "share": Row("share", "float"),
        "on": Row("on", "flag"),
        "kind": Row("kind", "text", ("a", "b")),
        "word": Row("word", "text", ("x", "y")),
        "named": Row("named", "text"),
        "sizes": Row("sizes", "ints"),
        "names": Row("names", "texts"),
        "other": Row("other", "json"),
    }


def test_a_parser_is_asked_for_what_it_takes():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--degree", type=int)
    parser.add_argument("--on", action="store_true")
    parser.add_argument("--word", "-w", choices=["x", "y"], nargs="+")
    rows = {row.name: row for row in of_parser(parser)}
    assert rows["--degree"].kind == "int"
    assert rows["--on"].kind == "flag"
    assert rows["--word"] == Row("--word", "texts", ("x", "y"))


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
        Row("--degree", "int"),
        Row("--kind", "text", ("a", "b")),
        Row("--on", "flag"),
        Row("--no-on", "flag"),
        Row("--rank", "int"),
        Row("--headless", "flag"),
        Row("kv-transfer-config.kv_connector", "text", ("Nixl",)),
    }


def test_a_table_is_written_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(launch_arguments, "TABLES", tmp_path)
    assert write("soft", [Row("b", "int"), Row("a", "text", ("x", "y")), Row("b", "int")]) == 2
    assert (tmp_path / "soft.csv").read_text("utf-8") == "name,kind,choices\na,text,x|y\nb,int,\n"
