"""Training plans as launch arguments: names and values that each software takes, degrees and shapes that come back."""

import re
import subprocess
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from hwlib.constraints import Setting, even_chunks, refusal
from hwlib.footprint.stage_layers import stage_layers
from hwlib.launch import TRAINING, LaunchError, arguments_of, emit_training, problems, source_of
from hwlib.launch.known import LaunchArgument
from hwlib.launch.layouts import chunk_layers, layout_text
from hwlib.launch.nemo import RECIPES, recipe_of
from hwlib.launch.origins import sources
from hwlib.launch.torchtitan import FLAVORS
from hwlib.planner import SoftwareSettings
from hwlib.planner.costs import Plan
from hwlib.planner.task import task_of
from hwlib.specs import models
from hwlib.strategy import Strategy
from hwlib.transformer import parameter_count
from tests.each import each

KINDS = {"flag", "int", "float", "text", "json", "section", "function", "ints", "floats", "texts"}


def emitted(key, software="megatron", gpus=64, settings=None, cluster="8xdgx-h100", micro=1, m=8, **degrees):
    """The task, the plan and its launch; without times, which no argument is of."""
    one = Strategy.of(gpus=gpus, micro=micro, **degrees)
    T = min(models.of(key).context, 4096)
    task = task_of(key, cluster, B=T * one.dp * micro * m, T=T, gpus=gpus, software=settings)
    nothing: Any = None
    plan = Plan(one, m, time=nothing, memory=nothing, mfu=0.0, token_rate=0.0)
    return task, plan, emit_training(task, plan, software)


def valid(key, **degrees):
    """Whether a strategy of the sweep can be of a model."""
    one = Strategy.of(gpus=64, **{"micro": 1, **degrees})
    setting = Setting(models[key], gpus=64, T=4096, sequences=8 * one.dp * one.micro)
    return refusal(setting, one) is None


SHAPES: tuple[dict[str, Any], ...] = (
    {},
    {"tp": 8, "pp": 4, "v": 3, "zero": 1},
    {"tp": 2, "pp": 8, "cp": 2, "zero": 1, "recompute": "full"},
    {"tp": 2, "zero": 3, "shards": 8},
    {"cp": 2, "zero": 2, "recompute": "op", "micro": 2},
    {"tp": 4, "ep": 8, "etp": 1, "zero": 1, "recompute": "layernorm+moe_act"},
    {"pp": 4, "ep": 4, "v": 2, "zero": 1, "recompute": "selective"},
    {"pp": 2, "v": 2, "schedule": "zbv", "zero": 2},
)
KINDS_OF_MODELS = (
    "llama3-8b",
    "llama3-405b",
    "gpt3-175b",
    "falcon-180b",
    "qwen3-0.6b",
    "mixtral-8x7b",
    "qwen3-235b-a22b",
    "gpt-oss-120b",
    "llama4-maverick",
    "deepseek-v3",
)
EVERY = [
    (key, software, shape) for key, software, shape in product(KINDS_OF_MODELS, TRAINING, SHAPES) if valid(key, **shape)
]


@each("case", EVERY)
def test_every_argument_is_one_that_the_software_takes(case):
    key, software, shape = case
    settings = SoftwareSettings(dtype="fp8", features="any", offload=("optimizer",), dedup_dispatch=True)
    for given in (None, settings):
        *_, launch = emitted(key, software, settings=given, **shape)
        assert problems(launch) == []


def test_a_plan_that_no_software_could_run_is_refused_by_its_rule():
    with pytest.raises(LaunchError, match=r"8 divides the 40 heads .* 10 key-value heads.*; 1, 2 would"):
        emitted(models["llama3-8b"].replace(heads=40, kv_heads=10), tp=8, cp=2)
    *_, launch = emitted("llama3-8b", zero=3, pp=2)
    assert any("ZeRO-3 with a pipeline" in line for line in launch.not_expressed)


def test_a_table_finds_what_a_software_does_not_take():
    assert LaunchArgument("int", ()).problem("8")
    assert LaunchArgument("text", ("full", "selective")).problem("all")
    assert LaunchArgument("flag", ()).problem(8)
    assert LaunchArgument("texts", ("mlp",)).problem(("mlp", "moe"))
    assert not LaunchArgument("int", ()).problem("$NODE_RANK")
    *_, launch = emitted("llama3-8b")
    (command,) = launch.commands
    first, *others = command.arguments
    for wrong in (first._replace(name="--layers"), first._replace(value="many")):
        assert len(problems(launch._replace(commands=(command._replace(arguments=(wrong, *others)),)))) == 1


@each("case", EVERY)
def test_the_degrees_are_all_gpus(case):
    key, software, shape = case
    task, plan, launch = emitted(key, software, **shape)
    (command,) = launch.commands
    words = " ".join(command.head)
    nodes, each_node = (int(words.split(f"--{name} ")[1].split()[0]) for name in ("nnodes", "nproc-per-node"))
    assert nodes * each_node == task.gpus
    if software == "torchtitan":
        at = {one.name: one.value for one in launch.files[0].settings}
        mesh = ("data_parallel_replicate", "data_parallel_shard", "tensor_parallel", "context_parallel")
        degrees = [at[f"parallelism.{name}_degree"] for name in (*mesh, "pipeline_parallel")]
        copies, shards, tp, cp, pp = degrees
        assert copies * shards * tp * cp * pp == task.gpus
        accumulated = at["training.global_batch_size"] / (at["training.local_batch_size"] * copies * shards)
        assert accumulated == (1 if pp > 1 else plan.m)
        return
    head = "model.{}" if software == "nemo" else "--{}"
    spell = (lambda word: word) if software == "nemo" else (lambda word: word.replace("_", "-"))
    names = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")
    share = [command.value(head.format(spell(name))) for name in names]
    dp = task.gpus // (share[0] * share[1] * share[2])
    assert dp == plan.strategy.dp
    batch = "train.{}" if software == "nemo" else head
    micro, whole = (command.value(batch.format(spell(name))) for name in ("micro_batch_size", "global_batch_size"))
    assert whole == micro * plan.m * dp


def parameters(options):
    """Parameters of the model that Megatron-LM makes of its options, as its modules have them."""
    at = {one.name: one.value for one in options}
    h, heads, biased = at["--hidden-size"], at["--num-attention-heads"], "--disable-bias-linear" not in at
    gates = 2 if "--swiglu" in at else 1

    def mlp(width):
        return h * width * (gates + 1) + biased * (gates * width + h)

    if "--multi-latent-attention" in at:
        q, kv, rope = at["--q-lora-rank"], at["--kv-lora-rank"], at["--qk-pos-emb-head-dim"]
        key, value = at["--qk-head-dim"], at["--v-head-dim"]
        attention = h * (q + kv + rope) + heads * (q * (key + rope) + kv * (key + value) + value * h)
        attention += (q + kv) * ("--qk-layernorm" in at)
    else:
        wide, groups = at["--kv-channels"], at.get("--num-query-groups", heads)
        attention = h * wide * 2 * (heads + groups) + biased * (wide * (heads + 2 * groups) + h)
        attention += wide * (heads + 2 * groups) * ("--add-qkv-bias" in at)
        attention += 2 * wide * ("--qk-layernorm" in at) + heads * (at.get("--softmax-type") == "learnable")
    layers, experts = at["--num-layers"], at.get("--num-experts", 0)
    of_experts = [0] * layers
    if experts:
        of_experts = eval(at["--moe-layer-freq"]) if "--moe-layer-freq" in at else [1] * layers
        shared = at.get("--moe-shared-expert-intermediate-size", 0)
        router = experts * (h + biased + ("--moe-router-enable-expert-bias" in at)) + h * (
            "--moe-shared-expert-gate" in at
        )
        moe = experts * mlp(at["--moe-ffn-hidden-size"]) + router + (mlp(shared) if shared else 0)
    norm = h * (1 if at["--normalization"] == "RMSNorm" else 2)
    tables = 1 + ("--untie-embeddings-and-output-weights" in at)
    whole = layers * (attention + 2 * norm) + norm + tables * at["--vocab-size"] * h
    whole += sum(moe if one else mlp(at["--ffn-hidden-size"]) for one in of_experts)
    return whole + h * at["--max-position-embeddings"] * (at["--position-embedding-type"] == "learned_absolute")


def without_an_option(model):
    """Gains that no option of Megatron Core adds: of norms after attention and MLP, and of all heads' queries."""
    of_heads = model.head_dim * (model.heads + model.kv_heads - 2) * model.qk_norm_full
    return model.layers * (of_heads + max(model.layer_norms - 2, 0) * model.width)


@each("key", models)
def test_the_options_give_the_models_parameters_back(key):
    if models[key].mixed or models[key].full_heads:
        with pytest.raises(LaunchError, match="several kinds"):
            emitted(key)
        return
    *_, launch = emitted(key)
    assert parameters(launch.commands[0].arguments) == parameter_count(key) - without_an_option(models[key])


@each("key", models)
def test_a_layout_has_every_layer_once_and_the_stages_that_are_timed(key):
    model = models[key]
    for pp, v in ((2, 1), (3, 1), (4, 2), (6, 1), (8, 3), (16, 2)):
        if not even_chunks(model.layers, pp, v):
            continue
        chunks = chunk_layers(model, pp, v)
        assert sum(chunks) == model.layers
        counted = stage_layers(model, pp, v)
        stages = [sum(chunks[stage::pp]) for stage in range(pp)]
        assert max(stages) == counted.full
        assert stages[0] == counted.full - counted.first
        text = layout_text(model, pp, v, mtp=1)
        for _ in range(2):
            text = re.sub(r"\(([^)]*)\)\*(\d+)", lambda found: found[1] * int(found[2]), text)
        parts = text.split("|")
        assert [part.count("t") for part in parts] == [*chunks]
        assert (parts[0][0], parts[-1][-2:]) == ("E", "mL")


@each("case", [case for case in EVERY if case[1] == "torchtitan" and case[0] in FLAVORS])
def test_the_configuration_runs_and_sets_what_is_said(case, monkeypatch):
    """With modules that are there in name only: the code is the software's, and is not here."""
    key, software, shape = case
    task, plan, launch = emitted(key, software, settings=SoftwareSettings(dtype="fp8", features="any"), **shape)
    flavor = FLAVORS[key]
    kept: dict[str, Any] = {}

    def registry(*given, **named):
        kept.update(named, size=given[0])
        return "model"

    def made():
        sections = {name: SimpleNamespace() for name in ("training", "parallelism", "compile")}
        return SimpleNamespace(**sections, activation_checkpoint="theirs")

    class Anything:
        def __getattr__(self, name):
            return lambda **_: name

    stubs = SimpleNamespace(
        Trainer=SimpleNamespace(Config=object),
        model_registry=registry,
        FullAC=Anything(),
        SelectiveAC=Anything(),
        Float8LinearConverter=Anything(),
        Float8GroupedExpertsConverter=Anything(),
        **{flavor.function: made},
    )
    code = re.sub(r"^from \S+ import .*\n", "", launch.files[0].text, flags=re.MULTILINE)
    assert all(
        hasattr(stubs, name) for line in re.findall("import (.*)", launch.files[0].text) for name in line.split(", ")
    )
    space = dict(vars(stubs))
    exec(code, space)
    config = space[launch.commands[0].value("--config")]()
    assert (config.model_spec, kept["size"], len(kept["converters"])) == ("model", flavor.size, 1 + models[key].moe)
    assert {*kept} - {"size"} <= {*arguments_of(software)[f"model_registry.{flavor.module}"].choices}
    for name, value in ((one.name, one.value) for one in launch.files[0].settings):
        section, field = name.split(".")
        if field == "policy":
            assert (config.activation_checkpoint is None) == (value is None)
        elif field != "module_fqns_per_model_part":
            assert getattr(getattr(config, section), field) == value
    if plan.strategy.pp > 1:
        parts = config.parallelism.module_fqns_per_model_part
        assert len(parts) == plan.strategy.pp * plan.strategy.v
        layers = [f"layers.{i}" for i in range(task.model.layers)]
        assert [name for part in parts for name in part] == ["tok_embeddings", *layers, "norm", "lm_head"]


def test_what_is_taken_from_a_project_is_there():
    titan, nemo = arguments_of("torchtitan"), arguments_of("nemo")
    assert {*FLAVORS, *RECIPES} <= {*models}
    for flavor in FLAVORS.values():
        assert flavor.size in titan[f"flavors.{flavor.module}"].choices
        assert flavor.function in titan[f"models.{flavor.module}"].choices
    assert {recipe_of(model)[0] for model in models.values()} <= {*nemo["--recipe"].choices}


@pytest.mark.parametrize("software", sources())
def test_a_table_has_kinds_that_are_known_and_a_source(software):
    known, source = arguments_of(software), source_of(software)
    assert {one.kind for one in known.values()} <= KINDS
    assert len(known) > 50
    assert re.fullmatch(r"[0-9a-f]{40}|\d+\.\d+\.\d+", source.revision)
    assert source.files
    assert source.project in source.words


@pytest.mark.parametrize(
    ("software", "given", "degrees", "says"),
    [
        ("megatron", None, {"pp": 4, "schedule": "zb_h1"}, "no schedule zb_h1"),
        ("megatron", None, {"pp": 4, "zero": 3}, "no ZeRO-3 with a pipeline"),
        ("megatron", None, {"recompute": "op"}, "no op recomputation"),
        ("megatron", None, {"cp": 8, "zero": 1, "shards": 4}, "16 copies do not divide dp 8"),
        ("megatron", SoftwareSettings(dtype="fp8"), {}, "recipe of scaling"),
        ("megatron", SoftwareSettings(offload=("activations",)), {"pp": 4}, "activations in the host"),
        ("megatron", SoftwareSettings(expert_imbalance=1.5), {}, "1.5 times the mean load"),
        ("nemo", SoftwareSettings(dtype="fp32"), {}, "fp32"),
        ("nemo", None, {"pp": 4, "schedule": "gpipe"}, "no schedule gpipe"),
        ("torchtitan", None, {"zero": 1}, "ZeRO-1"),
        ("torchtitan", None, {"cp": 2}, "not divided"),
        ("torchtitan", None, {"pp": 4, "v": 2, "schedule": "dualpipe", "zero": 2}, "DualPipeV"),
        ("torchtitan", None, {"tp": 2, "zero": 2}, "cut among 2 ranks"),
        ("torchtitan", None, {"zero": 2}, "megatron-core-h100"),
        ("torchtitan", SoftwareSettings(dtype="fp16"), {"zero": 2}, "fp16"),
        ("torchtitan", SoftwareSettings(offload=("optimizer",)), {"zero": 2}, "optimizer in the host"),
    ],
)
def test_what_no_argument_says_is_said(software, given, degrees, says):
    *_, launch = emitted("mixtral-8x7b", software, settings=given, **degrees)
    assert any(says in line for line in launch.not_expressed), launch.not_expressed
    assert f"# not expressed: {launch.not_expressed[0][:30]}" in launch.text


def test_what_a_plan_has_is_said_in_arguments_where_they_can():
    *_, dedup = emitted("mixtral-8x7b", ep=8, zero=1, settings=SoftwareSettings(dedup_dispatch=True))
    assert dedup.commands[0].value("--moe-flex-dispatcher-backend") == "deepep"
    *_, rack = emitted("mixtral-8x7b", ep=8, zero=1, cluster="gb200-nvl72", gpus=64)
    assert rack.commands[0].value("--moe-flex-dispatcher-backend") == "hybridep"
    *_, copies = emitted("mixtral-8x7b", ep=8, zero=1, settings=SoftwareSettings(dedup_dispatch=False))
    assert "flex" not in copies.text
    *_, hsdp = emitted("llama3-8b", zero=3, shards=8)
    assert hsdp.commands[0].value("--num-distributed-optimizer-instances") == 8
    assert hsdp.commands[0].value("--data-parallel-sharding-strategy") == "optim_grads_params"
    *_, part = emitted("llama3-8b", recompute="full", recompute_layers=7)
    assert part.commands[0].value("--recompute-num-layers") == 7
    *_, cut = emitted("llama3-8b", tp=2)
    assert cut.commands[0].environment == ("CUDA_DEVICE_MAX_CONNECTIONS=1",)
    *_, rack = emitted("llama3-8b", tp=2, cluster="gb200-nvl72", gpus=72)
    assert rack.commands[0].environment == ()
    assert "--nnodes 18" in rack.commands[0].head
    *_, later = emitted(
        "deepseek-v3", "torchtitan", zero=2, ep=8, settings=SoftwareSettings(mtp=True, dedup_dispatch=True)
    )
    assert 'moe_comm_backend="deepep", num_mtp_layers=1' in later.files[0].text


def test_a_model_without_a_recipe_says_so():
    *_, launch = emitted("falcon-180b", "nemo")
    assert launch.commands[0].value("model.activation_func") == "gelu"
    assert any("no recipe" in line for line in launch.not_expressed)
    assert any("side by side" in line for line in launch.not_expressed)
    *_, own = emitted("falcon-180b", "torchtitan", zero=2)
    assert "my_model_spec()" in own.files[0].text
    assert "my_model_spec()" in own.to_add[0]


def test_a_model_of_ones_own_is_known_by_its_shape():
    same = models["qwen3-8b"].replace(key="mine", context=40960)
    *_, launch = emitted(same, "nemo")
    assert launch.commands[0].value("--recipe") == "qwen3_8b_pretrain_config"
    assert recipe_of(same.replace(layers=12)) == ("llama3_8b_pretrain_config", False)
    *_, launch = emitted(same, "torchtitan", zero=3)
    assert 'model_registry("8B")' in launch.files[0].text


def test_scripts_are_a_shells():
    every = [emitted(key, software, **shape)[2].text for key, software, shape in EVERY[:: len(EVERY) // 40]]
    done = subprocess.run(["bash", "-n"], input="\n".join(every), text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_software_that_does_not_run_on_a_chip_is_refused():
    for software in ("megatron", "nemo"):
        with pytest.raises(LaunchError, match="AMD"):
            emitted("llama3-8b", software, gpus=8, cluster="mi300x-node")
    assert emitted("llama3-8b", "torchtitan", gpus=8, cluster="mi300x-node", zero=3)[2].commands
    with pytest.raises(LaunchError, match="expected megatron"):
        emitted("llama3-8b", "vllm")


def test_chunks_that_layers_cannot_be_spread_over_are_refused():
    with pytest.raises(LaunchError, match="28 layers"):
        chunk_layers(models["qwen3-0.6b"], 4, 3)
