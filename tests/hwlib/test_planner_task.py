"""A task of the planner, checked: what it may take of a GPU's memory, and each refusal on both sides of its edge."""

from dataclasses import replace
from math import inf, nan

import pytest

from hwlib.planner import Allowed, decide, pareto, plan
from hwlib.planner.keywords import records_of, settings_of
from hwlib.planner.plan_error import PlanError
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.task import batch_of, first_levels, machine_of, memory_of, task_of
from hwlib.serving_planner.question import question_of
from hwlib.specs import Level, accelerators, models
from hwlib.units import GiB, MiB, show

H100 = accelerators["h100-sxm"]
LLAMA = models["llama3-8b"]


def refused(field, act):
    with pytest.raises(PlanError) as caught:
        act()
    assert caught.value.field == field
    return caught.value.problem


def test_memory_is_at_most_what_software_sees_of_a_chip():
    """An H100 of "80 GB" has 85.5 GB, which a reader may well type, and rounded."""
    sees = H100.seen_bytes
    assert H100.hbm_bytes < 85.5e9 < sees
    assert memory_of(H100, 1.01 * sees) == 1.01 * sees
    assert "not" in refused("memory", lambda: memory_of(H100, 1.011 * sees))
    assert memory_of(H100, None) == sees
    assert memory_of(H100, 1) == 1.0


@pytest.mark.parametrize(("key", "listed"), [("h100", 81559), ("h200", 143771), ("b200", 183359)])
def test_one_chip_has_one_budget_near_what_it_lists(key, listed):
    """In plans, servers, and the rule of thumb; MiB as nvidia-smi lists them (thundergolfer-memory)."""
    node = f"dgx-{key}"
    task = task_of("llama3-8b", node, B=2**20)
    server = question_of("llama3-8b", node, prompt=1024, output=128)
    thumb = decide("llama3-8b", node, B=2**20)
    assert task.memory == server.memory == thumb.numbers["room"] == accelerators[f"{key}-sxm"].seen_bytes
    assert task.memory == pytest.approx(listed * MiB, rel=0.006)
    assert show(task.memory, "B", 3) in thumb.sentence


def test_what_is_stored_in_whole_gib_is_no_label():
    chip = replace(H100, hbm_bytes=96 * GiB)
    assert chip.seen_bytes == 96 * GiB
    assert replace(chip, arch="Ada").seen_bytes == 90 * GiB
    assert replace(H100, hbm_bytes=None).seen_bytes is None


@pytest.mark.parametrize("memory", [0, -1.0, nan, True, "80 GB"])
def test_memory_is_bytes_above_zero(memory):
    refused("memory", lambda: memory_of(H100, memory))


def test_a_chip_whose_memory_nobody_tells_needs_to_be_told():
    bare = replace(H100, hbm_bytes=None)
    refused("memory", lambda: memory_of(bare, None))
    assert memory_of(bare, 1e15) == 1e15


@pytest.mark.parametrize("tokens", [0, -8192, 0.5, 2**62, nan, inf, True, "8192"])
def test_tokens_are_whole_and_at_least_one(tokens):
    refused("batch", lambda: batch_of(LLAMA, tokens, 8192))
    refused("sequence", lambda: batch_of(LLAMA, 8192, tokens))


def test_a_batch_is_whole_sequences():
    assert batch_of(LLAMA, 1, 1) == (1, 1)
    assert batch_of(LLAMA, 2**61, 1) == (2**61, 1)
    assert batch_of(LLAMA, 2.0 * 8192, 8192) == (16384, 8192)
    assert batch_of(LLAMA.replace(context=4096), 8192, None) == (8192, 4096)
    assert batch_of(LLAMA.replace(context=2**17), 8192, None) == (8192, 8192)
    assert "8,192 tokens (1 sequence) or 16,384" in refused("batch", lambda: batch_of(LLAMA, 8193, 8192))
    said = refused("batch", lambda: batch_of(LLAMA, 8191, 8192))
    assert "8,192 tokens (1 sequence) would" in said
    assert "; 0 " not in said


def test_a_sequence_is_at_most_the_learned_positions():
    learned = LLAMA.replace(positions=2048)
    assert batch_of(learned, 2048, 2048) == (2048, 2048)
    refused("sequence", lambda: batch_of(learned, 2049, 2049))


@pytest.mark.parametrize(("imbalance", "good"), [(1, True), (1.5, True), (0.999, False), (inf, False), (nan, False)])
def test_the_busiest_expert_has_at_least_the_mean(imbalance, good):
    if good:
        assert SoftwareSettings(expert_imbalance=imbalance).expert_imbalance == imbalance
    else:
        refused("expert_imbalance", lambda: SoftwareSettings(expert_imbalance=imbalance))


def test_settings_of_software_are_known_words():
    refused("dtype", lambda: SoftwareSettings(dtype="int8"))
    refused("offload", lambda: SoftwareSettings(offload=("activations", "weights")))
    assert SoftwareSettings(offload=["activations"]).offload == ("activations",)
    for name in ("fused", "dedup_dispatch", "mtp"):
        refused(name, lambda name=name: SoftwareSettings(**{name: 2}))
        assert getattr(SoftwareSettings(**{name: 1}), name) is True


@pytest.mark.parametrize(("price", "good"), [(0, True), (2.5, True), (-0.01, False), (inf, False), ("2", False)])
def test_a_price_is_dollars_of_at_least_zero(price, good):
    if good:
        assert task_of(LLAMA, "dgx-h100", B=8192, price=price).price == price
    else:
        refused("price", lambda: task_of(LLAMA, "dgx-h100", B=8192, price=price))


def test_prediction_modules_need_a_model_that_has_some():
    refused("mtp", lambda: task_of(LLAMA, "dgx-h100", B=8192, software=SoftwareSettings(mtp=True)))
    assert task_of("deepseek-v3", "dgx-h100", B=8192, software=SoftwareSettings(mtp=True)).software.mtp


@pytest.mark.parametrize("gpus", [0, 9, 1.5, -1, nan, inf, True, "4"])
def test_gpus_are_a_whole_number_of_those_there_are(gpus):
    refused("gpus", lambda: machine_of("dgx-h100", gpus))


@pytest.mark.parametrize("gpus", [1, 7, 8, 8.0, None])
def test_some_gpus_of_a_node(gpus):
    assert machine_of("dgx-h100", gpus).gpus == (gpus or 8)


@pytest.mark.parametrize(("gpus", "levels"), [(8, [8]), (16, [8, 2]), (12, [6, 2]), (24, [8, 3])])
def test_some_gpus_fill_the_fewest_nodes_evenly(gpus, levels):
    assert [level.size for level in machine_of("4 x dgx-h100", gpus).levels] == levels


def test_gpus_that_no_number_of_nodes_has_evenly_name_what_could():
    assert "8 or 16 can" in refused("gpus", lambda: machine_of("4 x dgx-h100", 9))


def test_fields_of_both_records_may_be_plain_keywords():
    ask = ("llama3-8b", "dgx-h100")
    by_name = plan(*ask, B=2**20, tp=(2, 4), zero=1, dtype="fp8")
    by_record = plan(*ask, B=2**20, allowed=Allowed(tp=(2, 4), zero=1), software=SoftwareSettings(dtype="fp8"))
    assert [one.strategy for one in by_name] == [one.strategy for one in by_record]
    assert [one.seconds for one in by_name] == [one.seconds for one in by_record]
    front = pareto(*ask, B=2**20, gpus=8, tp=8, dtype="fp8")
    assert {(one.strategy.tp, front.task.dtype) for one in front} == {(8, "fp8")}
    assert decide(*ask, B=2**20, dtype="fp8") == decide(*ask, B=2**20, software=SoftwareSettings(dtype="fp8"))


@pytest.mark.parametrize(
    ("function", "keywords", "says"),
    [
        (plan, {"pt": 8}, "'pt'.*tp"),
        (plan, {"tp": 8, "allowed": Allowed()}, "allowed.*tp"),
        (plan, {"dtype": "fp8", "software": SoftwareSettings()}, "software.*dtype"),
        (pareto, {"pt": 8, "gpus": 8}, "'pt'"),
        (decide, {"tp": 8}, "'tp'"),
        (decide, {"dtype": "fp8", "software": SoftwareSettings()}, "software.*dtype"),
    ],
)
def test_a_keyword_is_a_field_of_one_record_that_is_not_given(function, keywords, says):
    with pytest.raises(TypeError, match=says):
        function("llama3-8b", "dgx-h100", B=2**20, **keywords)


def test_records_are_made_of_keywords_where_there_are_some():
    record, software = Allowed(tp=8), SoftwareSettings(dtype="fp8")
    assert records_of(None, None, {}) == (None, None)
    assert records_of(record, software, {}) == (record, software)
    assert records_of(None, software, {"tp": 8}) == (record, software)
    assert records_of(record, None, {"dtype": "fp8"}) == (record, software)
    assert settings_of(None, {}) is None
    assert settings_of(software, {}) is software
    assert settings_of(None, {"dtype": "fp8"}) == software
    for wrong in ({"pt": 8}, {"tp": 4}):
        with pytest.raises(TypeError, match=r"'pt'|not both"):
            records_of(record, None, wrong)
    with pytest.raises(TypeError, match="'tp'"):
        settings_of(None, {"tp": 8})
    with pytest.raises(TypeError, match="not both"):
        settings_of(software, {"dtype": "bf16"})


def test_a_machine_in_words():
    node = machine_of("dgx-h100")
    assert repr(node) == "<8 x H100 SXM5 of DGX H100: 8 a node, 450 GB/s each>"
    assert (node.gpus, node.node, node.full_node, node.price, node.host_as) == (8, 8, 8, 0, "")
    assert node._replace(host=64e9).to_host == "64 GB/s from a GPU to its host"
    assert node._replace(host=64e9, host_as="DGX H100").to_host.endswith(", as in DGX H100: assumed")
    assert node._replace(host=None).to_host == ""
    assert machine_of("dgx-h100", 4)._replace(name="x").node == 4
    assert machine_of("2x4 h100-sxm, node 450 GB/s, network 400 Gbit/s, price 3.6").price == pytest.approx(0.001)


def test_the_first_levels_that_join_so_many():
    levels = (Level("node", 8, 400.0), Level("rack", 4, 80.0), Level("hall", 2, 160.0))
    assert first_levels(levels, 64) == levels
    assert first_levels(levels, 8) == levels[:1]
    assert first_levels(levels, 3) == (Level("node", 3, 400.0),)
    assert first_levels(levels, 16) == (levels[0], Level("rack", 2, 80.0))
    assert first_levels(levels, 32) == levels[:2]
    # five nodes fill no racks evenly: one level, with a node's share of the narrowest
    assert first_levels(levels, 40) == (levels[0], Level("network", 5, 40.0))
    assert first_levels((levels[0], levels[1], Level("hall", 2, 800.0)), 40)[1] == Level("network", 5, 80.0)
    with pytest.raises(PlanError, match="8 or 16 can"):
        first_levels(levels, 9)


def test_a_task_in_words():
    task = task_of(LLAMA, "dgx-h100", B=2 * 8192, T=8192, gpus=4, memory=70e9, price=0.5)
    assert str(task) == "Llama 3.1 8B on 4 x H100 SXM5, 2 sequences of 8,192 tokens per step"
    assert task.terms.startswith("70 GB of each GPU's 85.9 GB; stack ")
    assert replace(task, memory=task.machine.chip.seen_bytes).terms.startswith("85.9 GB on each GPU; stack ")
    assert (task.sequences, task.gpus, task.price, task.setting.sequences) == (2, 4, 0.5, 2)
    assert task.choices == ()
    mixed = task_of("deepseek-v3", "dgx-h100", B=8192, software=SoftwareSettings(mtp=False, dedup_dispatch=True))
    assert mixed.choices == ("deduplicated dispatch", "MTP not trained")


def test_what_the_host_keeps_needs_a_link_to_it():
    software = SoftwareSettings(offload=("optimizer",))
    assert (software.uses_host, software.host_keeps("optimizer"), software.host_keeps("activations")) == (
        True,
        True,
        False,
    )
    assert not SoftwareSettings().uses_host
    assert task_of(LLAMA, "dgx-h100", B=8192, software=software).software.offload == ("optimizer",)


@pytest.mark.parametrize("count", [0, 0.5, 1.5, inf, nan, "1", True])
def test_a_count_of_plans_is_a_whole_number_of_at_least_one(count):
    assert "at least 1" in refused("count", lambda: plan("llama3-8b", "dgx-h100", B=2**20, tp=8, count=count))


def test_as_many_plans_as_asked_for():
    ask = {"B": 2**17, "T": 8192, "pp": 1, "cp": 1, "recompute": "full", "micro": 1}
    for count in (1, 2.0):
        assert len(plan("llama3-8b", "dgx-h100", count=count, **ask)) == count
