"""The options of a serving plan, in the order in which the command lists them."""

from dataclasses import replace

from hwlib.options.choices import same, server_choices
from hwlib.options.option import Entry, Option, named
from hwlib.options.readers import BATCH, BYTES, FLAG, NUMBERS, SECONDS, SWITCH, TEXT, choices, counts
from hwlib.options.training import ADVANCED, ANSWER, SEARCHED, TASK, TRAINING

DEGREES, LIMITS = "fixed degrees", "arguments"
"""Groups: degrees that are fixed; and arguments of `plan_serving` of the same name."""
SERVERS = ("vllm", "trtllm")  # the keys of hwlib.launch.SERVING, which is not loaded for a list
TRACES = ("azure-conversation", "azure-code", "mooncake-conversation")  # of measured lengths
PRECISIONS = ("bf16", "fp16", "fp8", "fp4", "mxfp4", "int8w", "int4w")
_PLAN = named(TRAINING)
AS_PLAN = "as of `plan`"


def _entry(name: str, **changes: object) -> Entry:
    """How the page of training plans asks for an option, with changes."""
    return replace(_PLAN[name].search or Entry(), **changes)  # type: ignore[arg-type]  # fields of Entry, by name


SERVING: tuple[Option, ...] = (
    replace(_PLAN["model"], agent=AS_PLAN),
    replace(
        _PLAN["cluster"],
        sentence="Key or name of a cluster or node, or so many nodes: dgx-h100, 4xdgx-h200; a line: "
        '"4x8 a100-80gb-sxm, network 100 Gbit/s"; or a file that says more: lab.toml, as for gpubook plan.',
        flags=("--on", "--cluster"),
        agent=AS_PLAN,
        search=_entry("cluster", first="dgx-h100"),
    ),
    Option(
        "prompt",
        BATCH,  # so that a batch in its place is named as one
        "Tokens of a prompt: 2048, 2K (K, M and G are powers of 1024).",
        unit="tokens",
        group=TASK,
        agent="tokens of a request, 2048 or 2K",
        search=Entry("tokens that a request reads", "Prompt", empty="of the trace", first="2048"),
    ),
    Option(
        "output",
        BATCH,
        "Tokens of an answer.",
        unit="tokens",
        group=TASK,
        agent="tokens of its answer",
        search=Entry("tokens that it generates", "Output", empty="of the trace", first="512"),
    ),
    Option(
        "trace",
        TEXT,
        f"Measured lengths instead: {', '.join(TRACES[:-1])} or {TRACES[-1]}.",
        group=TASK,
        agent=f"measured lengths instead: {', '.join(TRACES)}",
        search=Entry(
            "measured lengths, instead of a prompt and an output",
            "Trace",
            choices=(("", "of one length"), *same(*TRACES)),
            fold=ADVANCED,
        ),
    ),
    Option(
        "gpus",
        counts(1),
        "GPUs to use.",
        default="all",
        unit="GPUs",
        group=LIMITS,
        agent=AS_PLAN,
        search=_PLAN["gpus"].single,
    ),
    Option(
        "ttft",
        SECONDS,
        "Limit of the time to the first token, its queue included: 2s (a mean).",
        unit="s",
        group=LIMITS,
        agent="limit of the time to the first token, 2s (a mean)",
        search=Entry("limit of its time, queue included: a mean, e.g. 2s", "First token", empty="no limit", first="2s"),
    ),
    Option(
        "tpot",
        SECONDS,
        "Limit of the time of each further token: 50ms (a mean).",
        unit="s",
        group=LIMITS,
        agent="limit of the time between two tokens, 50ms (a mean)",
        search=Entry("limit of its time: a mean, e.g. 50ms", "Each token", empty="no limit", first="50ms"),
    ),
    Option(
        "gap",
        SECONDS,
        "Limit of the longest step, which a token may have to wait for: 200ms.",
        unit="s",
        group=LIMITS,
        agent="limit of the longest step, 200ms",
        search=Entry("limit of what a token may have to wait for", "Longest step", empty="no limit"),
    ),
    Option(
        "tp",
        NUMBERS,
        "GPUs that share a layer's attention.",
        default="within a node",
        unit="GPUs",
        group=DEGREES,
        search=Entry("GPUs that share attention", empty="searched", fold=SEARCHED),
    ),
    Option(
        "ep",
        NUMBERS,
        "GPUs that the experts are divided over whole.",
        unit="GPUs",
        group=DEGREES,
        search=Entry("GPUs that the experts are divided over", empty="searched", fold=SEARCHED),
    ),
    Option(
        "attention_dp",
        NUMBERS,
        "Groups of GPUs of a server with sequences of their own.",
        unit="groups",
        group=DEGREES,
        search=Entry("groups of a server with sequences of their own", "attention-dp", empty="searched", fold=SEARCHED),
    ),
    Option(
        "apart",
        SWITCH,
        "Prefill and decode on servers of their own, or not.",
        default="both are tried",
        group=LIMITS,
        flags=("--apart/--together",),
        search=Entry(
            "and decode on servers of their own",
            "Prefill",
            choices=(("", "together or apart"), ("no", "together"), ("yes", "apart")),
            fold=SEARCHED,
        ),
    ),
    Option(
        "dtype",
        TEXT,
        "Of weights and products: bf16, fp16, fp8, fp4, mxfp4 (experts alone), int8w, int4w.",
        default="as the model is published, or as the files of a checkpoint say",
        group=LIMITS,
        agent="of weights and products, by default as the model is published",
        search=Entry(
            "of weights and products",
            "Precision",
            empty="as published",
            first="fp8",
            choices=same(*PRECISIONS),
            free=True,
        ),
    ),
    Option(
        "kv_dtype",
        TEXT,
        "Of the cache: bf16, fp16, fp8, int8, fp4 (NVFP4) or int4, where the software has it.",
        default="fp8 beside products of at most 8 bits",
        group=LIMITS,
        agent="of the cache",
        search=Entry(
            "its precision",
            "Cache",
            empty="fp8 beside fp8",
            choices=same("bf16", "fp16", "fp8", "int8", "fp4", "int4"),
            free=True,
            fold=ADVANCED,
        ),
    ),
    Option(
        "prefix",
        counts(1),
        "Tokens at the beginning of each prompt that the cache has already.",
        default="none",
        unit="tokens",
        group=LIMITS,
        agent="first tokens of each prompt that the cache has already",
        search=Entry("first tokens of a prompt, there already", "Prefix", empty="none", fold=ADVANCED),
    ),
    Option(
        "state_every",
        counts(1),
        "Tokens after each of which a state is kept, of a model whose layers keep one: without, they reuse no prefix.",
        default="none is kept",
        unit="tokens",
        group=LIMITS,
        agent="tokens after each of which a state is kept, so that a prefix can be reused",
        search=Entry(
            "tokens after each of which one is kept, to reuse a prefix", "States", empty="none", fold=ADVANCED
        ),
    ),
    Option(
        "speculate",
        TEXT,
        "Drafts that a step checks: mtp:1 (the model's own modules) or eagle3:3 (a head beside it) and how many; with "
        "the share that is accepted, mtp:2@0.8, in place of the measured one.",
        default="none",
        group=LIMITS,
        agent="drafts of a step: mtp:1, eagle3:3, or mtp:2@0.8 with the share that is accepted",
        search=Entry(
            "drafts that a step checks",
            "Speculation",
            empty="none",
            choices=same("mtp:1", "mtp:2", "eagle3:2", "eagle3:3"),
            free=True,
            fold=ADVANCED,
        ),
    ),
    Option(
        "stack",
        TEXT,
        "Software whose fitted constants to use, e.g. sglang.",
        default="a TensorRT-LLM",
        group=LIMITS,
        agent=AS_PLAN,
        search=_entry("stack", empty="a TensorRT-LLM", choices=server_choices),
    ),
    Option(
        "memory",
        BYTES,
        "Memory budget per GPU, e.g. 72GB.",
        default="the chip's",
        unit="B",
        group=LIMITS,
        agent=AS_PLAN,
        search=_PLAN["memory"].search,
    ),
    replace(_PLAN["price"], agent=AS_PLAN),
    replace(_PLAN["count"], search=_entry("count", about="listed")),
    Option("front", FLAG, "Also list the Pareto front of latency and throughput.", group=ANSWER),
    Option(
        "why",
        FLAG,
        "Also say why configurations were rejected.",
        group=ANSWER,
        agent="also why the rest was rejected",
    ),
    replace(_PLAN["emit"], reader=choices(*SERVERS)),
    _PLAN["pick"],
)
"""Every option of a serving plan."""
