"""The options of a training plan, in the order in which the command lists them."""

from hwlib.options.choices import cluster_choices, feature_choices, model_choices, same, stack_choices, state_choices
from hwlib.options.option import Entry, Option
from hwlib.options.readers import (
    BATCH,
    BYTES,
    FLAG,
    GPU_COUNTS,
    NUMBERS,
    RUN_TOKENS,
    SPARES,
    SWITCH,
    TEXT,
    WORDS,
    amounts,
    choices,
    counts,
    numbers,
)
from hwlib.strategy import SCHEDULES

TASK, DEGREES, SOFTWARE, RUN, ANSWER = "task", "degrees", "software", "whole run", "answer"
"""Groups: what is asked; fields of `planner.Allowed` and `SoftwareSettings`; of the whole run; how to answer."""
SEARCHED, ADVANCED, WHOLE_RUN = "Restrict the search", "Advanced", "The whole run"
"""Titles of what pages unfold."""
RATES = ("llama3-405b", "rsc-1", "rsc-2", "opt-175b", "bloom-176b")  # rows of measured_failures.csv that have a rate
TRAINERS = ("megatron", "torchtitan", "nemo")  # the keys of hwlib.launch.TRAINING, which is not loaded for a list
OPTIMIZERS = ("adamw", "muon", "lion", "sgd")  # the keys of hwlib.footprint.OPTIMIZERS
LOSSES = ("full", "chunked", "fused")  # those of hwlib.footprint
BASES = ("bf16", "int8", "int4", "nf4")  # the keys of hwlib.footprint.BASES
YES: tuple[tuple[str, str], ...] = (("", "no"), ("yes", "yes"))
AS_SOFTWARE = (("", "as the software"), ("yes", "yes"), ("no", "no"))
AS_OPTIMIZER = (("", "adamw"), *same(*OPTIMIZERS[1:]))
AS_LOSS = (("", "full"), *same(*LOSSES[1:]))
AS_BASE = (("", "bf16"), *same(*BASES[1:]))
WITH_TP = (("", "with tp"), ("yes", "yes"), ("no", "no"))

_TASK = (
    Option(
        "model",
        TEXT,
        "Key such as llama3-405b, or the path of a Hugging Face config.json or of the folder that holds one.",
        group=TASK,
        required=True,
        positional=True,
        agent="a key such as llama3-405b, or the path of a Hugging Face config.json",
        search=Entry(label="Model", first="llama3-70b", choices=model_choices),
    ),
    Option(
        "cluster",
        TEXT,
        "Key or name of a cluster or node: h100-superpod-16k, dgx-h100; so many nodes: 128xdgx-a100; nodes x GPUs of "
        'a chip: "4x8 a100-80gb-sxm, node 300 GB/s, network 100 Gbit/s" (what a GPU sends within its node, and a node '
        "into the network, one direction; also host, oversubscription, price); or a file that says more: lab.toml.",
        group=TASK,
        required=True,
        agent="a key (h100-superpod-16k, dgx-h100), so many nodes (128xdgx-a100), a line "
        '("4x8 a100-80gb-sxm, network 100 Gbit/s") or a path of a .toml file',
        search=Entry(
            "a key, so many nodes, 128xdgx-a100, or a line: 4x8 a100-80gb-sxm, network 100 Gbit/s",
            label="Cluster",
            first="superpod-h100-1su",
            choices=cluster_choices,
            free=True,
        ),
    ),
    Option(
        "batch",
        BATCH,
        "Tokens per step: 16M (K, M, G are powers of 1024), 16777216, or sequences x length, 2048x8192.",
        unit="tokens",
        group=TASK,
        required=True,
        agent="tokens per step, 16M (powers of 1024), 16777216 or sequences x length, 2048x8192",
        search=Entry("tokens a step: 4M, or 512x8192; K, M, G are powers of 1024", label="Batch", first="4M"),
    ),
    Option(
        "sequence",
        BATCH,  # so that a batch in its place is named as one
        "Tokens per sequence.",
        default="the model's context, at most 8K",
        unit="tokens",
        group=TASK,
        agent="tokens of a sequence",
        search=Entry("tokens", label="Sequence", empty="the model's context, at most 8K"),
    ),
    Option(
        "gpus",
        GPU_COUNTS,
        "GPUs to use. Several values: the Pareto-optimal plans over them.",
        default="all",
        unit="GPUs",
        group=TASK,
        flags=("--gpus", "--chips"),
        agent='how many to use; several, "1024,2048", give the Pareto-optimal plans',
        search=Entry("the first of the cluster's; several, 256,1024, are compared", label="GPUs", empty="all"),
        single=Entry("the first of the cluster's", label="GPUs", empty="all"),
    ),
)


def _searched(about: str, label: str = "", empty: str = "searched") -> Entry:
    return Entry(about, label, empty, fold=SEARCHED)


_DEGREES = (
    Option(
        "tp",
        NUMBERS,
        "Tensor-parallel degree.",
        default="within a node",
        unit="GPUs",
        group=DEGREES,
        search=_searched("tensor parallelism: a number, or some: 4,8"),
        single=Entry("degree of tensor parallelism", empty="1", first="4", usual=1),
        column="share a layer's matrices",
    ),
    Option(
        "pp",
        NUMBERS,
        "Pipeline stages.",
        unit="stages",
        group=DEGREES,
        search=_searched("pipeline parallelism: a number, or some: 4,8"),
        single=Entry("degree of pipeline parallelism", empty="1", first="4", usual=1),
        column="share the layers",
    ),
    Option(
        "cp",
        NUMBERS,
        "Context-parallel degree.",
        unit="GPUs",
        group=DEGREES,
        search=_searched("context parallelism: a number, or some: 4,8"),
        single=Entry("degree of context parallelism", empty="1", first="2", usual=1),
        column="share a sequence",
    ),
    Option(
        "ep",
        NUMBERS,
        "Expert-parallel degree.",
        unit="GPUs",
        group=DEGREES,
        search=_searched("expert parallelism: a number, or some: 4,8"),
        single=Entry("degree of expert parallelism", empty="1", usual=1),
        column="share the experts",
    ),
    Option(
        "etp",
        NUMBERS,
        "Tensor-parallel degree of experts.",
        default="that of other matrices, or 1",
        unit="GPUs",
        group=DEGREES,
        search=_searched("tensor parallelism of experts", empty="as tp, or 1"),
        single=Entry("tensor parallelism of experts", empty="as tp", fold=ADVANCED),
        column="share an expert's matrices",
    ),
    Option(
        "v",
        NUMBERS,
        "Chunks of layers per pipeline rank (interleaving).",
        unit="chunks",
        group=DEGREES,
        search=_searched("chunks of layers a pipeline rank"),
        single=Entry("chunks of layers a pipeline rank", empty="as the schedule has", first="10"),
    ),
    Option(
        "micro",
        NUMBERS,
        "Sequences per microbatch.",
        default="1, 2, 4, 8 or 16",
        unit="sequences",
        group=DEGREES,
        search=_searched("sequences per microbatch"),
        single=Entry("sequences per microbatch", empty="1", first="1", usual=1),
    ),
    Option(
        "zero",
        NUMBERS,
        "ZeRO stage, 0 to 3.",
        default="those the software has",
        group=DEGREES,
        search=_searched("stages: 0,1,2,3", "ZeRO"),
        single=Entry("stage", "ZeRO", first="1", choices=same("0", "1", "2", "3"), usual=0),
    ),
    Option(
        "shards",
        NUMBERS,
        "Ranks that ZeRO divides states among (HSDP).",
        default="all, or those of a node",
        unit="GPUs",
        group=DEGREES,
        search=_searched("ranks that ZeRO divides states among (HSDP)", "Shards"),
        single=Entry("ranks that ZeRO divides states among", "Shards", empty="all"),
    ),
    Option(
        "sp",
        SWITCH,
        "Sequence parallelism, together with tensor parallelism.",
        default="on",
        group=DEGREES,
        search=Entry("sequence parallelism", choices=WITH_TP, fold=SEARCHED),
        single=Entry("sequence parallelism", choices=WITH_TP, fold=ADVANCED),
    ),
    Option(
        "schedule",
        WORDS,
        f"One or more of {', '.join(SCHEDULES)}.",
        default="those the software has",
        group=DEGREES,
        search=_searched(f"of {', '.join(SCHEDULES)}", "Schedule"),
        single=Entry("of the pipeline", "Schedule", first="1f1b", choices=same(*SCHEDULES), usual="1f1b"),
        column="of the pipeline",
    ),
    Option(
        "recompute",
        WORDS,
        "One or more of none, selective, full, op, or modules: moe_act+mlp.",
        group=DEGREES,
        search=_searched("of none, selective, full, or modules: moe_act+mlp", "Recompute"),
        single=Entry(
            "in the backward pass; modules too: moe_act+mlp",
            "Recompute",
            first="none",
            choices=same("none", "selective", "full"),
            free=True,
            usual="none",
        ),
        column="in the backward pass",
    ),
)
_SOFTWARE = (
    Option(
        "fused",
        SWITCH,
        "Attention that keeps no scores.",
        default="fused",
        group=SOFTWARE,
        search=Entry("that keeps no scores", "Fused attention", choices=(("", "yes"), ("no", "no")), fold=ADVANCED),
    ),
    Option(
        "dedup_dispatch",
        SWITCH,
        "Send a token only once to each node that has any of its experts.",
        default="as the software's recipe",
        group=SOFTWARE,
        flags=("--dedup-dispatch/--no-dedup-dispatch", "--merge/--no-merge"),
        search=Entry(
            "send a token once to each node that has any of its experts",
            "Merge tokens",
            choices=AS_SOFTWARE,
            fold=ADVANCED,
        ),
    ),
    Option(
        "mtp",
        SWITCH,
        "Train the model's modules for multi-token prediction too.",
        default="as the software does",
        group=SOFTWARE,
        search=Entry(
            "the model's modules for multi-token prediction too", "Train MTP", choices=AS_SOFTWARE, fold=ADVANCED
        ),
    ),
    Option(
        "offload",
        WORDS,
        "What the host keeps: activations, optimizer, or both.",
        default="nothing",
        group=SOFTWARE,
        search=Entry(
            "what the host keeps: activations, optimizer, or both",
            "Offload",
            empty="nothing",
            choices=same("activations", "optimizer"),
            free=True,
            fold=ADVANCED,
        ),
    ),
    Option(
        "dtype",
        TEXT,
        "Precision of the layers' matrix products.",
        default="bf16",
        value="bf16",
        group=SOFTWARE,
        agent="",
        search=Entry(
            "of the layers' matrix products",
            "Precision",
            first="bf16",
            choices=same("bf16", "fp16", "fp8", "fp4", "fp32"),
        ),
    ),
    Option(
        "stack",
        TEXT,
        "Software whose fitted constants to use, e.g. megatron-core-h100.",
        default="the chip's",
        group=SOFTWARE,
        agent="software whose fitted constants are used",
        search=Entry(
            "whose fitted constants to use",
            "Software",
            empty="the chip's usual",
            choices=stack_choices,
            free=True,
            fold=ADVANCED,
        ),
    ),
    Option(
        "states",
        TEXT,
        "Precision of what is trained: megatron (18 bytes a parameter, gradients in 32 bits), mixed (16, as in "
        "NVIDIA's recipes), bf16 (8, everything in 16 bits), 8bit (6), half, full, fp8-moments, deepseek, muon, sgd.",
        default="as the software's",
        group=SOFTWARE,
        search=Entry(
            "bytes of a parameter: weight, gradient and optimizer", "States", choices=state_choices, fold=ADVANCED
        ),
    ),
    Option(
        "optimizer",
        choices(*OPTIMIZERS),
        "Optimizer, whose moments are as wide as Adam's in the states: adamw has two, muon, lion and sgd one.",
        default="adamw",
        group=SOFTWARE,
        search=Entry("two moments of a parameter, or one", "Optimizer", choices=AS_OPTIMIZER, fold=ADVANCED),
    ),
    Option(
        "lora",
        TEXT,
        "Train adapters alone: their rank, or RANK@MATRICES, as in 16@q+k+v+o, of q, k, v, o, gate, up, down, experts, "
        "attention, mlp, all.",
        default="everything is trained",
        group=SOFTWARE,
        search=Entry("rank of adapters, or 16@q+k+v+o", "LoRA", empty="all is trained", fold=ADVANCED),
    ),
    Option(
        "base",
        choices(*BASES),
        "With --lora: precision in which the frozen model is stored; nf4 is QLoRA's, int4 GPTQ's.",
        default="bf16",
        group=SOFTWARE,
        search=Entry("of the frozen model, with LoRA", "Base", choices=AS_BASE, fold=ADVANCED),
    ),
    Option(
        "loss",
        choices(*LOSSES),
        "Loss: of all logits at once, of chunks of them, or fused with the output layer, which never holds them.",
        default="full",
        group=SOFTWARE,
        search=Entry("all logits at once, chunks of them, or none", "Loss", choices=AS_LOSS, fold=ADVANCED),
    ),
    Option(
        "release",
        TEXT,
        "Release of the software, e.g. 26.04.",
        default="the newest fitted one",
        group=SOFTWARE,
        search=Entry("of that software: 26.04", "Release", empty="the newest fitted", fold=ADVANCED),
    ),
    Option(
        "features",
        TEXT,
        "What the software can do: a key of software.toml, or any.",
        default="the stack's",
        group=SOFTWARE,
        search=Entry("schedules, ZeRO stages, degrees", "Software can", choices=feature_choices),
    ),
)
_BUDGET = (
    Option(
        "memory",
        BYTES,
        "Memory budget per GPU, e.g. 72GB.",
        default="the chip's",
        unit="B",
        group=TASK,
        agent="budget per GPU, 72GB",
        search=Entry("bytes of a GPU, e.g. 72GB", "Memory budget", empty="the chip's"),
    ),
    Option(
        "price",
        numbers(0),
        "Dollars per GPU hour.",
        default="the cluster file's",
        unit="$/h",
        group=TASK,
        agent="dollars per GPU hour",
        search=Entry("dollars per GPU-hour", "Price", empty="the cluster's"),
    ),
)


def _of_run(about: str, label: str, empty: str = "", choices: tuple[tuple[str, str], ...] = ()) -> Entry:
    return Entry(about, label, empty, choices=choices, free=choices is not YES, fold=WHOLE_RUN)


_RUN = (
    Option(
        "tokens",
        RUN_TOKENS,
        "Tokens of the whole run, 15T (powers of 1000): also tell its time and price, with interruptions.",
        unit="tokens",
        group=RUN,
        search=_of_run(
            "of the whole run: 15T, powers of 1000; its time, price and interruptions", "Tokens", "not asked"
        ),
    ),
    Option(
        "days",
        numbers(0, above=True),
        "Instead of --tokens: how many tokens in so many days.",
        unit="days",
        group=RUN,
        search=_of_run("how many tokens in so many days", "or days", "not asked"),
    ),
    Option(
        "mtbf",
        amounts("time", "s", "264days", RATES),
        f"Mean time between interruptions of a node, or whose: {', '.join(RATES)}.",
        default="llama3-405b",
        unit="s",
        group=RUN,
        search=_of_run(
            "a node, once in this time: 264days; or whose rate", "Interrupted", "as Llama 3 405B", same(*RATES)
        ),
    ),
    Option(
        "restart",
        amounts("time", "s", "12min"),
        "From an interruption to the next step.",
        default="10 min, and reading the checkpoint",
        unit="s",
        group=RUN,
        search=_of_run("from an interruption to the next step", "Restart", "10 min, and reading"),
    ),
    Option(
        "checkpoint_every",
        amounts("time", "s", "30min"),
        "Training time between checkpoints.",
        default="the best",
        unit="s",
        group=RUN,
        search=_of_run("training time", "Checkpoint every", "the best"),
    ),
    Option(
        "checkpoint_bandwidth",
        amounts("rate", "B/s", "2TB/s"),
        "Of the storage, all GPUs together.",
        default="12 MB/s a GPU",
        unit="B/s",
        group=RUN,
        search=_of_run("that writes checkpoints, all GPUs together: 2TB/s", "Storage", "12 MB/s a GPU"),
    ),
    Option(
        "blocking",
        FLAG,
        "Training waits until a checkpoint is written, not only until the hosts have it.",
        group=RUN,
        search=_of_run("wait until a checkpoint is written, not only copied", "Blocking", choices=YES),
    ),
    Option(
        "repair",
        amounts("time", "s", "24h"),
        "How long a broken node is away.",
        default="a day",
        unit="s",
        group=RUN,
        search=_of_run("how long a broken node is away", "Repair", "a day"),
    ),
    Option(
        "spares",
        SPARES,
        "Nodes kept aside: a number, or as many as make the price least, or the time.",
        default="price",
        unit="nodes",
        group=RUN,
        search=_of_run(
            "a number, or as many as make the price least, or the time", "Spare nodes", "price", same("price", "time")
        ),
    ),
    Option(
        "spread",
        amounts("share", "1", "1.5%"),
        "Standard deviation of the GPUs' times.",
        default="1.5 %",
        group=RUN,
        search=_of_run("standard deviation of the GPUs' times", "Spread", "1.5 %"),
    ),
)
_ANSWER = (
    Option(
        "count",
        counts(1),
        "Number of plans to list.",
        default="5",
        value=5,
        group=ANSWER,
        agent="",
        search=_searched("listed, of one number of GPUs", "Plans", "5"),
    ),
    Option(
        "why",
        FLAG,
        "Also show what other choices cost, and why configurations were rejected.",
        group=ANSWER,
        agent="also what other choices cost",
    ),
    Option(
        "emit",
        choices(*TRAINERS),
        "Print what starts the best plan with this software, and what of the plan it cannot say.",
        group=ANSWER,
    ),
    Option(
        "pick",
        counts(1),
        "With --emit: the plan of this row of the table.",
        default="1",
        value=1,
        group=ANSWER,
    ),
)
TRAINING: tuple[Option, ...] = (*_TASK, *_DEGREES, *_SOFTWARE, *_BUDGET, *_RUN, *_ANSWER)
"""Every option of a training plan."""
