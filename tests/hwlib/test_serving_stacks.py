"""Serving stacks: the table's rules."""

import math

import pytest

from hwlib.calibrated import kernel_software
from hwlib.specs.serving_stack import CONSTANTS, ServingStack, read_serving_stacks, serving_stacks
from hwlib.specs.table import SpecError

ROW = 'name = "A"\nsoftware = "S"\nsource = "inferencex"\n'


LOW = {"sglang-mi30x-0.5.9": 0.48, "sglang-mi30x": 0.19}
"""The least rate of kernels of one software, and of its messages: below what others have, by the fit."""


@pytest.mark.parametrize("key", serving_stacks)
def test_a_stack_has_a_source_and_constants_that_can_be(key, sources):
    stack = serving_stacks[key]
    assert stack.source in sources
    assert bool(stack.fitted) is bool(stack.rows)
    assert set(stack.fitted) <= set(CONSTANTS)
    assert stack.kernels in kernel_software("grouped" if stack.vendor == "AMD" else "decode")
    assert 0 < stack.error < 0.25
    assert 0 <= stack.t_layer < 2e-4
    assert stack.t_layer <= stack.t_prompt < 5e-3
    assert LOW.get(key, 0.5) < stack.eta < 2
    assert 0.2 < stack.eta_E <= 1
    assert LOW.get(key, 0.2) < stack.eta_net < 1.5


def test_software_that_costs_nothing_has_no_time_and_full_rates():
    ideal = ServingStack.ideal()
    assert (ideal.t_layer, ideal.t_prompt, ideal.eta, ideal.eta_E, ideal.eta_net) == (0, 0, 1, 1, 1)
    assert ideal.replace(eta=0.5).eta == 0.5
    with pytest.raises(TypeError, match="eta_C"):
        ideal.replace(eta_C=1)


def test_what_experts_lose_with_one_software_is_not_carried_to_a_chip_without_a_fit():
    usual = serving_stacks["tensorrt-llm-1.1"]
    assert usual.eta_E < 1
    assert usual.typical("mi300x").eta_E == 1
    assert usual.typical("mi300x").eta == 1 < usual.eta


def test_a_row_takes_what_it_does_not_say_from_the_one_it_is_like():
    text = f'[a.serving]\n{ROW}t_layer = 1e-5\neta = 0.8\n[b.serving]\n{ROW}like = "a"\neta = 0.7\n'
    a, b = read_serving_stacks("t.toml", text)
    assert (a.t_layer, a.eta) == (1e-5, 0.8)
    assert (b.t_layer, b.eta, b.eta_net) == (1e-5, 0.7, 1.0)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (f'[a.serving]\n{ROW}fitted = ["eta"]\n', "fitted"),
        (f'[a.serving]\n{ROW}like = "b"\n', "like"),
        (f"[a.serving]\n{ROW}eta = 0\n", "eta"),
        (f"[a.serving]\n{ROW}cache_share = 1.5\n", "cache_share"),
        (f"[a.serving]\n{ROW}t_layer = -1.0\n", "t_layer"),
        ('[a.serving]\nname = "A"\n', "software"),
    ],
)
def test_a_bad_row_is_named(text, field):
    with pytest.raises(SpecError, match=rf"t\.toml, a\.serving.*{field}"):
        list(read_serving_stacks("t.toml", text))


def test_a_stack_shows_its_constants():
    assert "t_layer" in repr(serving_stacks["sglang"])
    assert all(math.isfinite(value) for value in serving_stacks["sglang"].constants.values())
