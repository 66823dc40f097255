"""Files that somebody else wrote: configurations and clusters with sizes, depths and characters that none has."""

import json
import os
import time

import pytest

from hwlib.specs.model import read_config
from hwlib.specs.own_cluster import cluster_of_text
from hwlib.specs.reader import MOST_PARTS, rows_of
from hwlib.specs.regular_file import regular_text
from hwlib.specs.shortened import short, short_name
from hwlib.specs.table import SpecError

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
}
MIXTRAL = LLAMA | {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_key_value_heads": 8}
MIXTRAL |= {"num_local_experts": 8, "num_experts_per_tok": 2}


@pytest.fixture
def config(tmp_path):
    def write(content):
        path = tmp_path / "config.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


@pytest.mark.parametrize(
    ("base", "field", "most", "name"),
    [
        (LLAMA, "num_hidden_layers", 2**13, "layers"),
        (MIXTRAL, "num_local_experts", 2**16, "experts"),
        (LLAMA, "intermediate_size", 2**32, "ffn"),
        (LLAMA, "vocab_size", 2**32, "vocab"),
    ],
)
def test_every_number_of_a_model_has_a_largest_value(config, base, field, most, name):
    assert getattr(read_config(config(base | {field: most})), name) == most
    for value in (most + 1, 10**12):
        with pytest.raises(SpecError, match=rf"{name} is at most {most:,}, got {value}"):
            read_config(config(base | {field: value}))


@pytest.mark.parametrize(
    "value", [10**70, int("9" * 4000), "x" * 5000, ["x" * 500] * 500], ids=["long", "longer", "text", "list"]
)
def test_a_wrong_value_is_repeated_in_part(config, value):
    with pytest.raises(SpecError, match="num_hidden_layers") as caught:
        read_config(config(LLAMA | {"num_hidden_layers": value}))
    assert len(str(caught.value)) < 400


def test_a_name_that_a_terminal_obeys_is_quoted(config):
    with pytest.raises(SpecError) as caught:
        read_config(config(LLAMA | {"\x1b]0;x\x07": 1}))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("fields", "repeated"), [({}, False), ({"password": "CANARY"}, False), ({"hidden_size": 64}, True)]
)
def test_a_value_is_repeated_of_a_model_alone(config, fields, repeated):
    with pytest.raises(SpecError, match="model_type") as caught:
        read_config(config({"model_type": "CANARY-78"} | fields))
    assert ("CANARY" in str(caught.value)) == repeated


def test_values_are_cut_and_quoted():
    assert short("a\n\x1b") == "'a\\n\\x1b'"
    assert [len(short("a" * size)) for size in (58, 59, 5000)] == [60, 60, 60]
    assert short(10**60 - 1) == "9" * 60
    assert short(10**60) == "a number of more than 60 digits"
    assert (short_name("a_b"), short_name("a-b"), short_name("a" * 61)[:2]) == ("a_b", "'a-b'", "'a")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000], ids=["lists", "objects"])
def test_a_deep_configuration_is_named(config, text):
    with pytest.raises(SpecError, match=r"config\.json: expected .* too deep"):
        read_config(config(text))


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 20_000) + " = 1",
        "[" + " . ".join(["a"] * 20_000) + "]",
        "x = {" + ".".join(['"a"'] * 20_000) + " = 1}",
        "x = " + "[" * 50_000,
        "x = " + "{a=" * 50_000,
        "nodes = " + "9" * 5000,
    ],
    ids=["dotted", "head", "inline", "lists", "tables", "digits"],
)
def test_a_description_of_a_cluster_ends_soon_and_is_named(text):
    began = time.process_time()
    with pytest.raises(SpecError, match=r"mine\.toml"):
        cluster_of_text(text, "mine.toml")
    assert time.process_time() - began < 1


@pytest.mark.parametrize(("parts", "reads"), [(MOST_PARTS, True), (MOST_PARTS + 1, False)])
def test_a_key_may_have_so_many_parts(parts, reads):
    text = ".".join(["a"] * parts) + f" = 'a{'.b' * 99}' # {'.' * 99}"
    if reads:
        assert rows_of("x.toml", text.replace("#", "\n#")[: text.index("#")])
        return
    with pytest.raises(SpecError, match=f"line 1: a key of more than {MOST_PARTS} parts"):
        rows_of("x.toml", text)


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "missing", "large", "noise"])
def test_only_regular_files_of_a_bounded_size_are_opened(tmp_path, kind):
    path = tmp_path / "x"
    {
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "missing": lambda: None,
        "large": lambda: path.write_bytes(b"x" * 11),
        "noise": lambda: path.write_bytes(b"\xff"),
    }[kind]()
    with pytest.raises(SpecError, match=r"x: .*expected a text"):
        regular_text(path, "utf-8", "expected a text", most=10)


def test_a_regular_file_is_read_whole(tmp_path):
    (tmp_path / "x").write_bytes(b"x" * 10)
    (tmp_path / "link").symlink_to("x")
    assert regular_text(tmp_path / "link", "utf-8", "", most=10) == "x" * 10
