"""Models by the fields of their `config.json`: totals and active counts as published, and answers for each."""

import pytest

from hwlib.planner import PlanError, plan
from hwlib.serving_planner import plan_serving, question_of
from hwlib.serving_planner.layouts import layouts, server_of
from hwlib.specs import SpecError, models
from hwlib.specs.model import CONFIGURED, _configured_rows
from hwlib.specs.reader import rows_of
from hwlib.specs.table import file_text
from hwlib.transformer import active_parameters, parameter_count
from tests.each import each

NODES = ("dgx-h100", "dgx-h200", "dgx-b200", "gb200-nvl72")
ROWS = rows_of(CONFIGURED, file_text(CONFIGURED))
# Billions of parameters, and of those that a token takes, as the publisher prints them: most in the name of the
# repository on the Hugging Face Hub, the others on its card or in the report; read by November 2026.
PRINTED = {
    "deepseek-v3.2": (671, 37, "DeepSeek-V3's report, whose layers it has"),
    "qwen3-coder-480b-a35b": (480, 35, "name"),
    "qwen3-vl-235b-a22b": (235, 22, "name"),
    "qwen3-vl-32b": (32, 32, "name; 33 with images"),
    "qwen3-next-80b-a3b": (80, 3, "name"),
    "qwen3.5-397b-a17b": (397, 17, "name"),
    "qwen3.5-122b-a10b": (122, 10, "name"),
    "qwen3.6-35b-a3b": (35, 3, "name"),
    "qwen3.6-27b": (27, 27, "name"),
    "kimi-k2": (1000, 32, "card: 1T, 32B"),
    "kimi-k2.5": (1000, 32, "card: 1T, 32B"),
    "kimi-k3": (2800, 104, "report, arXiv 2607.24653"),
    "kimi-linear-48b-a3b": (48, 3, "name"),
    "glm-4.5": (355, 32, "README of zai-org/GLM-4.5"),
    "glm-4.5-air": (106, 12, "README of zai-org/GLM-4.5"),
    "glm-4.6": (355, 32, "README of zai-org/GLM-4.5, whose layers it has"),
    "glm-5": (744, 40, "card"),
    "glm-5.2": (744, 40, "card"),
    "minimax-m1": (456, 45.9, "card"),
    "minimax-m3": (428, 23, "card, with its encoder of images"),
    "minimax-m2.5": (230, 10, "card"),
    "nemotron-3-nano": (31.6, 3.6, "report; 3.2 without embeddings"),
    "deepseek-v4-flash": (284, 13, "card"),
    "deepseek-v4-pro": (1600, 49, "card"),
    "nemotron-3-super": (120.6, 12.7, "report"),
    "nemotron-3-ultra": (550, 55, "name"),
    "gemma3-27b": (27, 27, "name"),
    "gemma3-12b": (12, 12, "name"),
    "gemma4-26b-a4b": (25.2, 3.8, "card"),
    "gemma4-31b": (30.7, 30.7, "card"),
    "mistral-small-3": (24, 24, "name"),
    "mistral-large-3": (673, 39, "card: 673B, 39B beside an encoder of 2.5B; its name says 675B"),
    "phi-4": (14.7, 14.7, "card"),
    "jamba-1.5-mini": (52, 12, "card"),
    "olmo3-32b": (32, 32, "name"),
    "granite-4-h-small": (32, 9, "card"),
    "mimo-v2-flash": (309, 15, "card"),
    "mimo-7b": (7, 7, "name"),
}
GALLERY = "sebastianraschka.com/llm-architecture-gallery, of the month in which each model was published"
CARDS = "a page that repeats the card"
# The same as looked up once more in public pages: source, and the month of the model
LOOKED_UP = {
    "deepseek-v3.2": (671, 37, GALLERY, "2025-12"),
    "kimi-k2": (1000, 32, GALLERY, "2025-07"),
    "kimi-k2.5": (1000, 32, GALLERY, "2026-01"),
    "kimi-linear-48b-a3b": (48, 3, GALLERY, "2025-10"),
    "qwen3-next-80b-a3b": (80, 3, GALLERY, "2025-09"),
    "qwen3.5-397b-a17b": (397, 17, GALLERY, "2026-02"),
    "minimax-m2.5": (230, 10, GALLERY, "2026-02"),
    "glm-5": (744, 40, GALLERY, "2026-02"),
    "mimo-v2-flash": (309, 15, GALLERY, "2025-12"),
    "mistral-large-3": (673, 41, GALLERY, "2025-12"),  # 41 with the encoder of images, 39 without
    "nemotron-3-super": (120, 12.7, "lambda.ai/inference-models: " + CARDS, "2026-03"),
    "granite-4-h-small": (32.2, 9, "immers.cloud: " + CARDS, "2025-10"),
    "qwen3.6-27b": (27, 27, "vllm-project/recipes", "2026-04"),
    "qwen3.5-122b-a10b": (122, 10, "the card of a quantised copy at hugingapi.com", "2026-02"),
    "glm-5.2": (743, 39, "vllm-project/recipes", "2026-06"),
    "nemotron-3-ultra": (550, 55, "vllm-project/recipes", "2026-06"),
}
BESIDE = ("gpt-oss-20b", "gpt-oss-120b", "llama4-scout", "llama4-maverick", "qwen3-30b-a3b")


@each("key", PRINTED)
def test_the_counts_are_those_that_are_published(key):
    total, active, where = PRINTED[key]
    model = models[key]
    assert where
    # Rounded as printed: 48B-A3B has 49.1, MiMo-7B 7.6
    assert parameter_count(model) / 1e9 == pytest.approx(total, rel=0.03, abs=0.7)
    # Publishers round down, and leave tables out, or not, without saying which
    least = active_parameters(model) - 2 * model.vocab * model.width
    assert int(least / 1e9) <= active < 1.1 * active_parameters(model) / 1e9


@each("key", LOOKED_UP)
def test_what_was_looked_up_again_is_what_is_printed(key):
    total, active, where, month = LOOKED_UP[key]
    assert where
    assert "2025-07" <= month <= "2026-11"
    assert total == pytest.approx(PRINTED[key][0], rel=0.01)
    assert active == pytest.approx(PRINTED[key][1], rel=0.06)


def test_the_table_has_the_families_of_today():
    assert set(ROWS) == set(PRINTED)
    kinds = {row["config"]["model_type"] for row in ROWS.values()}
    assert len(ROWS) >= 24
    assert len(kinds) >= 12
    assert {*ROWS, *BESIDE} <= set(models)


@each("key", [*PRINTED, *BESIDE])
def test_each_is_served_on_machines_of_today(key):
    for node in NODES:
        question = question_of(key, node, prompt=1024, output=128)
        server = server_of(question, list(layouts(question))[-1])
        assert server.step(8, 1024.0, 1.0, 1024.0).products > 0
        assert server.weight_bytes() > 0


def answered(ask):
    """The rate of the best plan, or the words of the refusal."""
    try:
        return ask()
    except PlanError as refused:
        return str(refused)


FIRST = {row["config"]["model_type"]: key for key, row in reversed(ROWS.items())}
"""The first model of each type: all are tried on every machine by one step, these by a whole search."""


@each("place", [*enumerate(FIRST.values())])
def test_each_is_planned_or_refused_with_a_sentence(place):
    number, key = place
    node = NODES[number % len(NODES)]
    served = answered(lambda: plan_serving(key, node, prompt=1024, output=128)[0].gpu_rate)
    trained = answered(lambda: plan(key, node, B=2**20, T=4096, count=1)[0].token_rate)
    for answer in (served, trained):
        assert len(answer.split()) > 5 if isinstance(answer, str) else answer > 0


@each(
    "row",
    [
        'name = "m"\nsource = "own"\nconfidence = "seen"',
        'name = "m"\nsource = "own"\nconfidence = "seen"\nconfig = { model_type = "unheard" }',
        'name = "m"\nsource = "own"\nconfidence = "seen"\nconfig = { model_type = "llama" }',
    ],
)
def test_a_row_without_fields_that_are_understood_is_refused(row):
    with pytest.raises(SpecError, match=r"table\.toml, m"):
        list(_configured_rows("table.toml", f"[m]\n{row}\n"))
