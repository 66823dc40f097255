"""Stacks: the table's rules, and steps that sources print."""

import math

import pytest

from hwlib.specs import (
    Level,
    Model,
    SpecError,
    Stack,
    accelerators,
    clusters,
    models,
    release_of,
    stack_for,
    stack_on,
    stacks,
)
from hwlib.specs.stack import CONSTANTS, read_stacks
from hwlib.steptime import step_time

ROW = 'name = "A"\nsoftware = "S"\nsource = "narayanan2021"\n'
A, B = "[a.time.h100-sxm]\n", "[b.time.h100-sxm]\n"


@pytest.mark.parametrize("key", stacks)
def test_a_stack_has_a_chip_a_source_and_constants_that_can_be(key, sources):
    stack = stacks[key]
    assert stack.accelerator is accelerators[stack.chip]
    assert stack.source in sources
    assert stack.fitted or stack.note, "where do its constants come from?"
    assert bool(stack.fitted) is bool(stack.rows)
    assert set(stack.fitted) <= set(stack.constants)
    assert set(stack.constants) <= set(CONSTANTS)
    for name, value in stack.constants.items():
        assert math.isfinite(value)
        most = 0.5 if name == "t_step" else {"1": 1, "s": 0.1}.get(CONSTANTS[name][0], 2000)
        assert 0 <= value <= most, name


def test_one_constant_for_a_generation():
    """Blackwell has the H100's constants, but one for its products in 8 bits, and one that all of it shares; models
    with experts wait for the host in a node and not in a rack.
    """
    h100 = stacks["megatron-core-h100"].constants
    shares = set()
    for key in ("megatron-core-b200", "megatron-core-gb200", "megatron-core-gb300", "megatron-core-b300"):
        own = {name: value for name, value in stacks[key].constants.items() if h100.get(name) != value}
        assert set(own) - {"t_moe"} == {"eta_low", "eta_4"}
        shares.add(own["eta_4"])
    assert len(shares) == 1


def test_an_ideal_machine_loses_nothing():
    ideal = Stack.ideal("h100-sxm")
    assert ideal.constants == {}
    assert ideal == Stack.ideal(accelerators["h100-sxm"])
    assert (ideal.eta_C, ideal.eta_W, ideal.alpha_in, ideal.t_step) == (1, math.inf, 0, 0)
    with pytest.raises(KeyError, match="h100"):
        Stack.ideal("h1000-sxm")


def test_a_chip_has_a_stack():
    assert stack_for("a100-80gb-sxm").key == "megatron-2022-a100"
    assert stack_for("b300-sxm").key == "megatron-core-b300"
    typical = stack_for(accelerators["h200-sxm"])
    assert (typical.chip, typical.fitted, typical.rows) == ("h200-sxm", (), ())
    assert typical.constants == stacks["megatron-core-h100"].constants
    assert "no step" in typical.note
    assert typical.error >= max(stack.error for stack in stacks.values() if {*stack.fitted} - {"w_E", "t_moe"})


@pytest.mark.parametrize(
    ("chip", "run", "key"),
    [
        ("gb200-nvl72", {"moe": True, "dtype": "fp8"}, "megatron-core-2606-gb200"),
        ("gb200-nvl72", {"moe": True, "dtype": "fp4", "release": "26.06"}, "megatron-core-2606-gb200"),
        ("gb200-nvl72", {"moe": True, "dtype": "fp8", "release": "26.04.01"}, "megatron-core-gb200"),
        ("gb200-nvl72", {"moe": True, "dtype": "fp8", "release": "24.01"}, "megatron-core-gb200"),
        ("gb200-nvl72", {"moe": True, "dtype": "bf16", "release": "26.08"}, "megatron-core-gb200"),
        ("gb200-nvl72", {"dtype": "fp8", "release": "26.08"}, "megatron-core-gb200"),
        ("b200-sxm", {"moe": True, "dtype": "fp8"}, "megatron-core-b200"),
        ("a100-40gb-sxm", {}, "megatron-2022-a100"),
        ("h800-sxm", {}, "typical-h800-sxm"),
    ],
)
def test_the_newest_release_that_suits_a_run_is_taken(chip, run, key):
    release = {"release": release_of(run["release"])} if "release" in run else {}
    found = stack_for(chip, **run | release)
    assert (found.key, found.chip) == (key, chip)


def test_a_stack_moves_to_a_chip_with_its_die_alone():
    h100 = stacks["torchtitan-h100"]
    assert stack_on(h100, accelerators["h100-sxm"]) == h100
    typical = stack_on(h100, accelerators["h200-sxm"])
    assert (typical.chip, typical.fitted, typical.constants) == ("h200-sxm", (), h100.constants)
    assert typical.error > h100.error
    assert stack_on(stacks["vtrain-a100"], accelerators["a100-40gb-sxm"]).fitted
    assert stack_on(h100, accelerators["a100-80gb-sxm"]) is None


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"released": "26.13"}, "released"),
        ({"released": "26.02"}, "released"),
        ({"released": ""}, "released"),
        ({"follows": "c"}, "follows"),
    ],
)
def test_a_release_follows_an_earlier_one_of_its_chip(changed, field):
    later = {"name": "B", "software": "s", "source": "s", "released": "26.04", "follows": "a-h100"}
    text = lambda row: f"{A}{ROW}released = '26.02'\n{B}" + "".join(f"{k} = '{x}'\n" for k, x in row.items())
    assert [stack.key for stack in read_stacks("f", text(later))] == ["a-h100", "b-h100"]
    with pytest.raises(SpecError, match=rf"f, b\.time\.h100-sxm\.{field}: "):
        list(read_stacks("f", text(later | changed)))
    with pytest.raises(SpecError, match=r"f, b\.time\.h200-sxm\.follows: "):
        list(read_stacks("f", text(later).replace(B, B.replace("h100", "h200"))))


def test_an_unknown_stack_is_answered_with_those_there_are():
    with pytest.raises(KeyError, match="megatron-core-h100"):
        stacks["megatron-core-h10"]
    with pytest.raises(TypeError, match=r"'eta_c'; .*eta_C"):
        stacks["vtrain-a100"].replace(eta_c=1)


def test_a_row_takes_the_constants_of_the_one_it_is_like():
    [one, two] = read_stacks("f", f"{A}{ROW}eta_C = 0.5\neta_W = 0.5\n{B}{ROW}like = 'a-h100'\neta_W = 0.25\n")
    assert two.constants == {"eta_C": 0.5, "eta_W": 0.25}
    assert one.constants == {"eta_C": 0.5, "eta_W": 0.5}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (f'{A}name = "A"\n', r"f, a\.time\.h100-sxm: software, source "),
        (f"{A}{ROW}eta_c = 0.5", r"f, a\.time\.h100-sxm: .*eta_c"),
        (f"{A}{ROW}eta_C = 1.5", r"f, a\.time\.h100-sxm\.eta_C: .* at most 1, got 1.5"),
        (f"{A}{ROW}alpha_in = -1", r"f, a\.time\.h100-sxm\.alpha_in: .* -1$"),
        (f"{A}{ROW}error = 1.5", r"f, a\.time\.h100-sxm\.error: .* at most 1, got 1.5"),
        (f"{A}{ROW}error = 1.0", r"f, a\.time\.h100-sxm\.error: .* got 1.0"),
        (f"{A}{ROW}rows = 'x'", r"f, a\.time\.h100-sxm\.rows: .*'x'$"),
        (f"{A}{ROW}[a", "f: "),
        (f"{A}{ROW}error = 'none'", r"f, a\.time\.h100-sxm\.error: .* got 'none'"),
        (f"{A}{ROW}alpha_in = true", r"f, a\.time\.h100-sxm\.alpha_in: .*True$"),
        (f"{A}{ROW}eta_C = nan", r"f, a\.time\.h100-sxm\.eta_C: .* got nan"),
        (f"{A}{ROW}like = 'b'", r"f, a\.time\.h100-sxm\.like: .*'b'"),
        (f"{A.replace('h100', 'h101')}{ROW}", r"f, a\.time\.h101-sxm: .*'h101-sxm'"),
        (f"{A}{ROW}kernels = 'fused'", r"f, a\.time\.h100-sxm\.kernels: .*eager, compiled, got 'fused'"),
        (f"{A}{ROW}fitted = ['eta_C']", r"f, a\.time\.h100-sxm\.fitted: 'eta_C' "),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused(rows, message):
    with pytest.raises(SpecError, match=message):
        list(read_stacks("f", rows))


# Steps that a source prints, with 8 GPUs a node; the library's own benchmark scores all of them

SELENE = (Level("node", 8, 300e9), Level("network", 512, 8 * 25e9))


def gpt(layers, width, heads):
    return Model.small(
        layers=layers, width=width, heads=heads, vocab=51200, gated=False, norm="layer", biases="all", dropout=True,
        tied=True, positions=2048, context=2048,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "plan", "seconds"),
    [
        (gpt(48, 6144, 64), {"B": 4, "micro": 4}, 1.42),
        (gpt(96, 12288, 96), {"B": 64, "pp": 8, "v": 3}, 18.13),
        (gpt(105, 20480, 128), {"B": 280, "pp": 35, "v": 3}, 49.05),
        (gpt(128, 25600, 160), {"B": 512, "pp": 64}, 94.42),
    ],
    ids=["22B", "175B", "530B", "1T"],
)
def test_korthikanti_table_5(model, plan, seconds):
    """Full recomputation, tensor-parallel over the node, a single replica (korthikanti2022, Table 5)."""
    plan = plan | {"B": 2048 * plan["B"], "T": 2048, "dp": 1, "tp": 8, "sp": False, "recompute": "full"}
    found = step_time(model, "megatron-2022-a100", SELENE, fused=False, dtype="fp16", **plan).total
    assert found == pytest.approx(seconds, rel=0.05)


def test_llama_405b_on_1024_h100():
    """Megatron Bridge 26.02: 784 TFLOP/s a GPU in FP8, 311 tokens a second and GPU (megatron-bridge)."""
    plan = {"B": 1536 * 8192, "T": 8192, "dp": 8, "tp": 8, "pp": 8, "cp": 2, "v": 8, "zero": 1, "dtype": "fp8"}
    found = step_time(models["llama3-405b"], "megatron-core-h100", clusters["superpod-h100-4su"], **plan).total
    assert found == pytest.approx(1536 * 8192 / (311 * 1024), rel=0.07)
