"""Models: every number has a source, and a shape that cannot be is refused by name."""

from dataclasses import fields

import pytest

from hwlib.specs import Model, SpecError, model, models
from tests.each import each

MEGATRON = ("1.7b", "3.6b", "7.5b", "18b", "39b", "76b", "145b", "310b", "530b", "1t")
COUNTED = [f.name for f in fields(Model) if "meaning" in f.metadata]


def test_everything_is_there():
    assert {f"megatron-{size}" for size in MEGATRON} | {"gpt3-175b", "mixtral-8x7b", "deepseek-v3"} < set(models)
    assert {f"korthikanti-{size}" for size in ("22b", "175b", "530b", "1t")} < set(models)
    assert {f"llama2-{size}" for size in ("7b", "13b", "70b")} < set(models)
    assert {f"llama3-{size}" for size in ("8b", "70b", "405b")} < set(models)
    assert {"qwen3-32b", "qwen3-235b-a22b", "gpt-oss-20b", "gpt-oss-120b"} < set(models)


@each("key", models)
def test_every_number_has_a_source(key, sources):
    one = models[key]
    assert one.source in sources
    for name, datum in one.data.items():
        assert datum.source in sources
        assert datum.confidence
        assert datum.printed
        assert (one.datum(name).value, datum.unit) == (getattr(one, name), "1")
    for name in COUNTED:
        assert name in one.data or getattr(one, name) in (model.Model.__dataclass_fields__[name].default, one.ffn)


@each("key", [key for key, one in models.items() if not one.mla])
def test_heads_share_the_width_or_say_that_they_do_not(key):
    one = models[key]
    own = {"gpt-oss-20b", "gpt-oss-120b"} | {f"qwen3-{size}" for size in ("0.6b", "4b", "32b", "30b-a3b", "235b-a22b")}
    own |= {"gemma3-27b", "glm-4.5", "glm-4.5-air", "glm-4.6", "minimax-m1", "minimax-m2.5", "mistral-small-3"}
    own |= {"nemotron-3-nano", "gemma3-12b", "qwen3-coder-480b-a35b", "qwen3.6-27b"}
    own |= {"deepseek-v4-flash", "deepseek-v4-pro"}
    own |= {"gemma4-26b-a4b", "gemma4-31b", "mimo-v2-flash", "minimax-m3"}
    own |= {f"qwen3-{size}" for size in ("vl-235b-a22b", "vl-32b", "next-80b-a3b")}
    own |= {f"qwen3.{size}" for size in ("5-397b-a17b", "5-122b-a10b", "6-35b-a3b")}
    assert (one.heads * one.head_dim == one.width) == (key not in own)
    assert one.key_dim == one.head_dim
    assert one.value_dim == (one.v_dim or one.head_dim)


def test_what_follows_from_the_shape():
    llama, deepseek, oss = (models[key] for key in ("llama3-405b", "deepseek-v3", "gpt-oss-120b"))
    assert (llama.matrices, llama.heads_per_kv_head, llama.moe, llama.moe_layers) == (3, 16, False, 0)
    assert (deepseek.mla, deepseek.key_dim, deepseek.value_dim, deepseek.moe_layers) == (True, 192, 128, 58)
    assert (oss.moe_layers, oss.window_layers, oss.window) == (36, 18, 128)
    assert models["gpt3-175b"].matrices == 2
    assert llama.expert_ffn == llama.ffn == 53248


def test_the_same_model_in_two_papers():
    for size in ("530b", "1t"):
        one, two = models[f"megatron-{size}"], models[f"korthikanti-{size}"]
        shape = [name for name in COUNTED if name != "published_parameters"]
        assert [getattr(one, name) for name in shape] == [getattr(two, name) for name in shape]


def test_a_model_of_ones_own():
    one = Model.small(layers=2, width=64, heads=4, kv_heads=2, experts=4, experts_per_token=2, expert_ffn=32)
    assert (one.head_dim, one.ffn, one.expert_ffn, one.heads_per_kv_head, one.moe_layers) == (16, 256, 32, 2, 2)
    assert one.data == {}
    assert repr(one) == "<small: 2 layers of width 64, 4 heads on 2, 4 experts of 32, 2 a token, vocabulary 1024>"


def test_what_is_changed_has_no_source_any_more():
    llama = models["llama3-70b"]
    wide = llama.replace(ffn=32768, name="wide")
    assert (wide.name, wide.key, wide.ffn, wide.expert_ffn) == ("wide", "llama3-70b-changed", 32768, 32768)
    assert set(llama.data) - set(wide.data) == {"ffn", "published_parameters"}
    with pytest.raises(KeyError, match=r"\bffn\b"):
        wide.datum("ffn")
    with pytest.raises(TypeError, match=r"'width_of_it'; .*width"):
        llama.replace(width_of_it=1)
    assert "`layers` | 80 | layers, L | 80 | llama3 |" in llama._repr_markdown_()


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"kv_heads": 3}, "kv_heads .*8 heads, .*3$"),
        ({"layers": 0}, "layers .*1, .*0$"),
        ({"width": 256.0}, r"width .*256\.0$"),
        ({"ffn": True}, "ffn .*True$"),
        ({"gated": 1}, "gated .*1$"),
        ({"norm": "batch"}, "norm .*rms, layer, .*'batch'"),
        ({"biases": "some"}, "biases .*none, all, .*'some'"),
        ({"experts": 0}, "experts .*1, .*0$"),
        ({"experts": 4}, "expert_ffn .*0$"),
        ({"experts_per_token": 2}, "experts_per_token .*1 experts, .*2$"),
        ({"dense_layers": 5}, "dense_layers .*4 layers, .*5$"),
        ({"window_layers": 5}, "window_layers .*4 layers, .*5$"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(shape, message):
    with pytest.raises(ValueError, match=f"model 'small': {message}"):
        Model.small(**shape)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("width = 12288", "breadth = 12288", "gpt3-175b: .*'breadth'"),
        ("width = 12288\n", "", "gpt3-175b: width "),
        ("width = 12288", 'width = "wide"', r"gpt3-175b\.width: .*'wide'"),
        ("width = 12288", "width = 12288.5", r"gpt3-175b\.width: .*12288\.5"),
        ("width = 12288", "width = 0", "gpt3-175b: model 'gpt3-175b': width .*0$"),
        ("gated = false", "gated = 0", r"gpt3-175b\.gated: .*0$"),
        ("width = 12288", "width = { printed = '12288', colour = 1 }", r"gpt3-175b\.width: .*column 'colour'"),
    ],
)
def test_a_broken_row_is_refused(monkeypatch, old, new, message):
    content = model.file_text("models.toml")
    assert old in content
    monkeypatch.setattr(model, "file_text", lambda _: content.replace(old, new, 1))
    with pytest.raises(SpecError, match=f"models.toml, {message}"):
        list(model._read("models.toml"))
