"""What the pages that plan answer: what the library and the command line say, with numpy and without."""

import json
import re
import shlex
import subprocess
import sys
from html import unescape
from urllib.parse import parse_qsl

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from autograder.planned import FORMS, answered
from autograder.planned.filling import the_plan
from autograder.planned.training import search
from hwlib import planner
from hwlib.planner.certainty import certainty_words
from hwlib.planner.explain import memory_words, where_time_goes
from hwlib.planner.tables import columns
from hwlib.serving_planner import plan_serving
from hwlib.specs import Model, models
from hwlib.transformer import sequence_memory, state_tokens
from hwlib.units import GB, show
from tests.conftest import ROOT
from tests.hwlib.test_hf_config import LLAMA

SMALL = {"model": "llama3-8b", "cluster": "dgx-h100", "batch": "1M", "dtype": "bf16"}
PLAN = {"tp": "2", "zero": "1"}
SERVED = {"model": "llama3-8b", "cluster": "dgx-h100", "gpus": "2", "prompt": "1024", "output": "256", "tpot": "30ms"}
TOML = 'nodes = 4\nchips = 8\nchip = "a100-80gb-sxm"\nnetwork = "100 Gbit/s"\nprice = 1.8\n'
WHOLE = {
    "described": TOML, "gpus": "16,24,32", "tp": "2", "pp": "1", "sp": "no", "offload": "optimizer", "tokens": "1T",
    "mtbf": "rsc-1", "blocking": "yes", "checkpoint_every": "30min", "spares": "1",
}  # fmt: skip
EXPERTS = {"model": "mixtral-8x7b", "cluster": "2xdgx-h100", "batch": "256x4096", "dedup_dispatch": "no", "tp": "2",
           "pp": "1", "etp": "1", "shards": "8", "sp": "no", "count": "2", "gpus": "16", "release": "26.02",
           "states": "mixed", "recompute": "moe_act+layernorm"}  # fmt: skip
WITHOUT_NUMPY = """
import json, sys
sys.modules["numpy"] = None
from hwlib.plain import as_numpy
assert as_numpy.install()
from autograder.planned import answered
print(json.dumps([answered(*one) for one in json.loads(sys.argv[1])]))
"""
ASKED = [
    ("plan", SMALL, "answer"),
    ("plan", SMALL, "why"),
    ("fill", SMALL | PLAN, "answer"),
    ("serve", SERVED, "answer"),
    ("plan", SMALL | WHOLE, "answer"),
]


def words(html):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def cells(html):
    """The rows of the first table."""
    body = html[html.index("<tbody>") : html.index("</tbody>")]
    return [re.findall(r">([^<>]+)<", row) for row in body.split("</tr>") if row]


@pytest.fixture(scope="module")
def found():
    return planner.plan("llama3-8b", "dgx-h100", B=2**20)


def test_the_planners_page_has_the_rows_and_sentences_of_the_command(found):
    html = answered("plan", SMALL)["html"]
    rows = zip(*(column for _, column in columns(found)), strict=True)
    assert cells(html) == [[f"plan {number}", *rest] for number, *rest in rows]
    said = words(html)
    for sentence in (
        where_time_goes(found[0]),
        memory_words(found, found[0]),
        found.task.title,
        found.task.terms,
        str(found.advised),
        *certainty_words(found.task, found[0].strategy, found[0].seconds),
    ):
        assert sentence in said
    assert "gpubook plan llama3-8b --cluster dgx-h100 --batch 1M" in said


def test_the_error_to_expect_stands_above_the_tables():
    several = SMALL | {"gpus": "4,8"}
    for page, asked in (("plan", SMALL), ("plan", several), ("fill", SMALL | PLAN), ("serve", SERVED)):
        html = answered(page, asked)["html"]
        above, _, below = html.partition("<table")
        assert "Expected error ±" in words(above), (page, asked)
        assert "Expected error" not in words(below), (page, asked)


@pytest.mark.parametrize(
    ("asked", "count"), [(SMALL, 5), (SMALL | WHOLE, 2), (EXPERTS, 2)], ids=["small", "several", "experts"]
)
def test_the_address_of_each_plan_opens_its_footprint(asked, count):
    html = answered("plan", asked)["html"]
    addresses = re.findall(r'data-address="fill\.html#([^"]+)"', html)
    plans = search(asked).plans
    assert len(addresses) == len(plans) == count
    for address, plan in zip(addresses, plans, strict=True):
        _, one = the_plan(dict(parse_qsl(unescape(address))))
        assert (one.strategy, one.seconds, one.memory.total) == (plan.strategy, plan.seconds, plan.memory.total)


def test_several_numbers_of_gpus_and_their_runs_are_what_the_command_prints(tmp_path, monkeypatch):
    """The command that the page names, in a folder that has the page's cluster."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster.toml").write_text(TOML, "utf-8")
    html = answered("plan", SMALL | WHOLE)["html"]
    command = shlex.split(unescape(re.findall(r"<code>(gpubook [^<]+)</code>", html)[0]))
    done = CliRunner().invoke(commands.main, command[1:])
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.stdout.splitlines()]
    said = words(html)
    for row in cells(html):
        assert " ".join(row).split()[1:] in lines
    run = next(i for i, line in enumerate(lines) if line[:3] == ["The", "whole", "run,"])
    for line in [line for line in lines[run + 1 :] if line != ["Its", "constants:"]]:
        assert " ".join(line) in said
    assert "31.5 GB/s from a GPU to its host, as in DGX A100: assumed" in said
    assert done.stderr.strip().removeprefix("No plan on ") in said


def test_a_cluster_in_toml_is_the_one_of_a_line():
    line = "4x8 a100-80gb-sxm, network 100 Gbit/s, price 1.8"
    for page, asked in (("fill", SMALL | PLAN), ("serve", SERVED)):
        told, typed = (words(answered(page, asked | more)["html"]) for more in ({"described": TOML}, {"cluster": line}))
        told, typed = (said.partition(" From the command line")[0] for said in (told, typed))
        assert told.replace("your cluster", "4x8 a100-80gb-sxm") == typed


def test_a_footprint_is_shown_whether_it_fits_or_not():
    fits, too_much = (answered("fill", SMALL | degrees)["html"] for degrees in (PLAN, {"zero": "0", "micro": "4"}))
    search, plan = the_plan(SMALL | PLAN)
    total = float(plan.memory.total)
    assert "It fits" in words(fits)
    assert f"{show(search.task.memory - total, 'B', 3)} are free of a budget" in words(fits)
    close = SMALL | PLAN | {"memory": f"{total * (1 + search.task.margin / 2) / GB:.3f}GB"}
    assert "It may not fit" in words(answered("fill", close)["html"])
    assert where_time_goes(plan).split(":")[0] in words(fits)
    shares = [
        float(share) for share in re.findall(r'class="planned-bar">([\d.]+)%', too_much[: too_much.index("goes")])
    ]
    assert "It does not fit" in words(too_much)
    assert sum(shares) > 100


def test_the_servers_page_has_the_rows_of_the_command():
    best = plan_serving("llama3-8b", "dgx-h100", gpus=2, prompt=1024, output=256, tpot=0.03)
    html = answered("serve", SERVED)["html"]
    assert len(cells(html)) == len(best)
    assert f"{show(best[0].tpot, 's', 3)} a token" in words(html)
    words_of_command = words(html).partition("gpubook serve ")[2].split()
    assert words_of_command[:3] == ["llama3-8b", "--cluster", "dgx-h100"]
    assert "--gpus 2" in " ".join(words_of_command)


def test_a_server_may_have_chips_that_nothing_was_fitted_to():
    """One of the tables by software of another maker's, in a line, and one by its figures, in a file's text."""
    asked = {name: SERVED[name] for name in ("model", "prompt", "output", "tpot")}
    file = (ROOT / "tests" / "hwlib" / "data" / "clusters" / "mi300x.toml").read_text("utf-8")
    line = {"cluster": "1x2 mi300x", "stack": "tensorrt-llm-1.1"}
    for more, shown in ((line, "1x2 mi300x"), ({"described": file}, "cluster.toml")):
        said = words(answered("serve", {"cluster": "dgx-h100", "gpus": "2", "tp": "1", **asked, **more})["html"])
        assert "not fitted to MI300X" in said
        assert shown in said
        assert "2 x MI300X" in said


def test_a_model_of_ones_own_is_its_config():
    config = (ROOT / "tests" / "hwlib" / "data" / "configs" / "qwen3-8b.json").read_text("utf-8")
    own, table = (answered("fill", SMALL | PLAN | more)["html"] for more in ({"config": config}, {"model": "qwen3-8b"}))
    assert words(own).replace("your model", models["qwen3-8b"].name) == words(table)
    assert "gpubook plan config.json --cluster dgx-h100" in words(answered("plan", SMALL | {"config": config})["html"])


def test_the_precision_of_a_quantised_checkpoint_is_said_or_an_error():
    config = json.dumps(LLAMA | {"quantization_config": {"quant_method": "aqlm", "nbits_per_codebook": 16}})
    assert answered("serve", SERVED | {"config": config})["field"] == "dtype"
    config = json.dumps(LLAMA | {"quantization_config": {"quant_method": "awq", "bits": 4}})
    for asked in ({}, {"dtype": "int4w"}):
        assert "awq, 4 bit; planned in int4w" in words(answered("serve", SERVED | {"config": config} | asked)["html"])
    for page in ("plan", "fill"):
        assert "awq, 4 bit; planned in bf16" in words(answered(page, SMALL | PLAN | {"config": config})["html"]), page


@pytest.mark.parametrize(
    ("page", "asked", "field"),
    [
        ("plan", {"model": "lama"}, "model"),
        ("plan", {"batch": "4000000"}, "batch"),
        ("plan", {"batch": "many"}, "batch"),
        ("plan", {"tp": "3"}, "tp"),
        ("plan", {"config": "{"}, "config"),
        ("plan", {"config": '{"model_type": "unheard-of"}'}, "config"),
        ("plan", {"batch": ""}, "batch"),
        ("plan", {"described": "nodes ="}, "described"),
        ("plan", {"described": TOML.replace("nodes", "node_s")}, "described"),
        ("plan", {"cluster": "4x8 trainium3, node 20 GB/s, network 1 GB/s", "offload": "optimizer"}, "offload"),
        ("plan", {"gpus": "4,8", "count": "2"}, "count"),
        ("plan", {"gpus": "4,9"}, "gpus"),
        ("plan", {"mtbf": "3days"}, "tokens"),
        ("plan", {"tokens": "1T", "spread": "wide"}, "spread"),
        ("plan", {"days": "0"}, "days"),
        ("fill", {"etp": "1,2"}, "etp"),
        ("fill", {"gpus": "4,8"}, "gpus"),
        ("fill", {"zero": "3", "pp": "2"}, ""),
        ("fill", {"schedule": "zb_h1", "pp": "2", "v": "2"}, "v"),
        ("fill", {"pp": "2.5"}, "pp"),
        ("fill", {"colour": "red"}, ""),
        ("serve", {"tpot": "1 us"}, "tpot"),
        ("serve", {"tpot": "50"}, "tpot"),
        ("serve", {"ttft": "2"}, "ttft"),
        ("serve", {"gap": "200"}, "gap"),
        ("serve", {"memory": "72000000000"}, "memory"),
        ("plan", {"tokens": "1T", "restart": "10"}, "restart"),
        ("plan", {"tokens": "1T", "spread": "1.5"}, "spread"),
        ("serve", {"prompt": "512x8"}, "prompt"),
        ("serve", {"described": "nodes = 2"}, "described"),
        ("serve", {"trace": "azure-code"}, "trace"),
    ],
    ids=lambda x: x if isinstance(x, str) else "-".join(x),
)
def test_what_cannot_be_is_said_in_the_librarys_own_sentence(page, asked, field):
    said = answered(page, (SERVED if page == "serve" else SMALL) | asked)
    assert said["field"] == field
    assert ": " in said["error"]


def test_every_form_opens_with_a_question_that_has_an_answer():
    for page, form in FORMS.items():
        assert form.read(form.first).keys() == form.first.keys()
        assert {field.name for field in form.fields if field.chosen and field.first} <= form.first.keys(), page


@pytest.mark.slow
def test_answers_without_numpy_are_equal_to_the_last_digit():
    """As a page has none: what `hwlib.plain` makes of the planner's columns."""
    command = [sys.executable, "-c", WITHOUT_NUMPY, json.dumps(ASKED)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [answered(*one) for one in ASKED]


def test_a_number_of_a_field_loses_no_comma_that_may_be_a_decimal_one():
    gpus, price = ({field.name: field for field in FORMS["fill"].fields}[name] for name in ("gpus", "price"))
    assert (gpus.read("1,024"), price.read("2.5")) == (1024, 2.5)
    for field, text in ((gpus, "8,16"), (price, "2,5"), (price, "1,024")):
        with pytest.raises(ValueError, match="a comma may be read in two ways"):
            field.read(text)
    for text in ("inf", "nan", "8.5"):
        with pytest.raises(ValueError, match="is not a whole number"):
            gpus.read(text)


MIXED = json.loads((ROOT / "tests" / "hwlib" / "data" / "mixed_layers.json").read_text("utf-8"))
QUANTISED = {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}


def shares(html, caption):
    """The rows of the table of bars with this caption: name, amount and share of each."""
    table = next(table for table in html.split("<table")[1:] if f"<caption><span>{caption}" in table)
    rows = re.findall(r'<th scope="row">(\w+).*?<td>([^<]+)</td><td class="planned-bar">([\d.]+)%', table)
    return {name: (amount, float(share)) for name, amount, share in rows}


@pytest.mark.parametrize(
    ("name", "drawn"),
    [("Qwen3-Next 80B-A3B", {"cache", "state"}), ("DeepSeek-V3.2", {"cache", "index"})],
)
def test_state_and_index_are_drawn_beside_the_cache(name, drawn):
    model = Model.of_config(MIXED[name]["config"], name)
    asked = SMALL | PLAN | {"cluster": "8xdgx-h100", "batch": "512x4096", "config": json.dumps(MIXED[name]["config"])}
    found = shares(answered("fill", asked)["html"], "What a sequence of 4,096 tokens keeps")
    parts = sequence_memory(model, 4096)
    assert set(found) == drawn
    for part, (amount, share) in found.items():
        assert amount == show(getattr(parts, part), "B", 3)
        assert share == pytest.approx(100 * getattr(parts, part) / parts.total, abs=0.06)
    words_of_page = words(answered("fill", asked)["html"])
    assert (f"{state_tokens(model):,.0f} tokens in a layer with attention" in words_of_page) == bool(model.mixer)
    assert "keeps in a server" not in words(answered("fill", SMALL | PLAN)["html"])


def test_the_servers_page_draws_states_and_takes_a_hybrid_that_is_quantised():
    config = MIXED["Qwen3-Next 80B-A3B"]["config"] | {"quantization_config": QUANTISED}
    html = answered("serve", SERVED | {"config": json.dumps(config), "gpus": "8"})["html"]
    assert {"states", "caches", "weights"} <= set(shares(html, "What a GPU that generates holds"))
    assert ", fp8, cache in" in words(html)
    for page in ("plan", "fill"):
        said = words(answered(page, SMALL | PLAN | {"cluster": "8xdgx-h100", "config": json.dumps(config)})["html"])
        assert "planned in bf16" in said, page
