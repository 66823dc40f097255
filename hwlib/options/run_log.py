"""What the log of a run does not say: the options of `gpubook explain-run` and of its page, in their order."""

from dataclasses import replace

from hwlib.options.option import Entry, Option, named
from hwlib.options.readers import BATCH, TEXT, counts, numbers
from hwlib.options.serving import SERVING
from hwlib.options.training import TRAINING

ANY_RUN, OF_TRAINING, OF_SERVING = "any run", "training", "serving benchmark"
"""Groups: what every log may need, a log of training, the output of a serving benchmark."""
TRAINING_NAMES = (
    *("sequence", "cp", "pp", "etp", "v", "micro", "zero", "shards", "schedule", "recompute"),
    *("states", "optimizer", "offload", "release", "lora", "base"),
)
SERVING_NAMES = ("attention_dp", "kv_dtype", "prefix", "state_every", "speculate")
_TRAINING, _SERVING = named(TRAINING), named(SERVING)


def _of(option: Option, group: str) -> Option:
    """An option of a planner as a single run has it."""
    entry = option.single or option.search or Entry()
    about = entry.about or option.sentence
    return replace(option, group=group, required=False, positional=False, single=replace(entry, about=about))


def _both(name: str, sentence: str, about: str) -> Option:
    """An option that plans of training and of serving have."""
    option = _of(_TRAINING[name], ANY_RUN)
    assert option.single
    return replace(option, sentence=sentence, default="", single=replace(option.single, about=about))


RUN_LOG: tuple[Option, ...] = (
    Option(
        "model",
        TEXT,
        "The model: a key, or the path of a config.json.",
        default="what the log says",
        group=ANY_RUN,
        single=Entry("that ran, such as llama3-8b", "Model"),
    ),
    Option(
        "on",
        TEXT,
        "The machine: a cluster, a node or a chip: dgx-h100, h100-sxm.",
        default="the log's GPU",
        group=ANY_RUN,
        single=Entry("such as dgx-h100, 4xdgx-h100 or 2x8 h100-sxm", "Machine"),
    ),
    _both("gpus", "GPUs of the run.", "that ran it, a number"),
    _both("tp", "Degree of tensor parallelism.", "degree of tensor parallelism"),
    _both("ep", "Degree of expert parallelism.", "degree of expert parallelism"),
    _both("dtype", "Precision of products: bf16, fp8, fp4.", "of products, such as bf16 or fp8"),
    _both("stack", "Software whose fitted constants to use.", "whose fitted constants to use"),
    Option(
        "batch",
        BATCH,
        "Tokens of a step, 4M, or sequences x length, 512x4096.",
        default="what the log says",
        unit="tokens",
        group=OF_TRAINING,
        single=Entry("tokens of a step, or sequences x length: 4M, 512x4096", "Batch"),
    ),
    *(_of(_TRAINING[name], OF_TRAINING) for name in TRAINING_NAMES),
    Option(
        "document",
        counts(1),
        "Tokens of a document in a packed sequence, in the mean, where attention stays within each.",
        default="attention over the whole sequence",
        unit="tokens",
        group=OF_TRAINING,
        single=Entry("its tokens in a packed sequence, in the mean", "Document"),
    ),
    *(replace(_of(_SERVING[name], OF_SERVING), default="what the benchmark counted") for name in ("prompt", "output")),
    Option(
        "concurrency",
        counts(1),
        "Requests at once that the client of a serving benchmark allows.",
        default="what the log says",
        group=OF_SERVING,
        single=Entry("requests at once that the client allows", "Concurrency"),
    ),
    Option(
        "rate",
        numbers(0, above=True),
        "Requests that arrive a second.",
        default="what the log says",
        unit="requests/s",
        group=OF_SERVING,
        single=Entry("requests that arrive a second", "Arrivals"),
    ),
    *(_of(_SERVING[name], OF_SERVING) for name in SERVING_NAMES),
)
"""Every option of a run's explanation."""
