"""What agents ask the planners by `gpubook mcp`: how to train a model, and how to serve one, as the commands answer."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

from hwlib.options import TRAINING

from .agent_answers import Answer, described, near, page, values_sources
from .agent_options import planner_tool, values_of

COMPARED = ("inferencex", "rocm-vllm")  # of chips that nothing was fitted to: what typical constants were compared with


@planner_tool(
    TRAINING,
    'degrees to keep, such as {"tp": "8", "pp": "4,8", "zero": "1", "schedule": "1f1b", "recompute": "full"}; its '
    "names are the options of `gpubook plan`.",
    head="The fastest ways to train a language model on a cluster: degrees of parallelism, step time, MFU, bytes per "
    "GPU.",
    answer="The text explains the choice; `error` is the mean error of step times of the software's dense models, so "
    "plans that differ by less are too close to call.",
)
def plan(**arguments: Any) -> Answer:
    """As the decorator says: the documentation and the arguments are made from the table of options."""
    from .plan import PlanQuery

    values = values_of(TRAINING, arguments)
    if len(values.get("gpus", ())) > 1 and "count" not in (arguments.get("fixed") or {}):
        values.pop("count", None)
    query = PlanQuery.of(**values)
    found, runs = query.answer()
    task = found.task
    sources = [task.stack.source, task.model.source, *values_sources(task.machine.chip, *_places(query.cluster))]
    return {
        "plans": query.data(found, runs),
        "text": query.text(found, runs),
        "skipped": {str(n): why for n, why in found.skipped.items()} if query.several else {},
        "error": task.stack.error or None,
        "sources": [*described(sources), page("fidelity.md"), page("limits.md")],
    }


def serve(
    model: str,
    cluster: str,
    prompt: str = "",
    output: str = "",
    trace: str = "",
    gpus: str = "",
    ttft: str = "",
    tpot: str = "",
    gap: str = "",
    dtype: str = "",
    kv_dtype: str = "",
    stack: str = "",
    memory: str = "",
    price: float = 0.0,
    count: int = 5,
    why: bool = False,
    fixed: dict[str, str] | None = None,
) -> Answer:
    """The best ways to serve a language model within limits of latency: batch, division of the GPUs, tokens/s, price.

    model, cluster, gpus, memory, price: as of `plan`. prompt, output: tokens of a request, 2048 or 2K; or trace, a
    measured one: azure-conversation, azure-code, mooncake-conversation. ttft, tpot, gap: limits of the time to the
    first token, between two tokens, and of the longest step: 2s, 50ms (means). dtype: of weights and products, by
    default as the model is published; kv_dtype of the cache. why: also why the rest was rejected. fixed: degrees to
    keep, {"tp": "8", "ep": "8", "attention-dp": "8"}, {"apart": "true"} (prefill on servers of its own) or "false", and
    {"emit": "vllm"} or "trtllm" for what starts the best plan; its names are the options of `gpubook serve`.

    Of a plan, `decode` are the servers that generate (tp, ep, attention_dp, replicas, batch: requests at once on each);
    `prefill` those that only read prompts, null where the same ones do. `why` has the reasons for the first plan,
    `why_not_next` those against the others, `rests_on` the constants and `error` their mean error. A `caveat` says that
    nothing was fitted to the chip: then trust the order of plans more than their times.
    """
    from .serve import ServeQuery
    from .serve import serve as command

    given = {
        "prompt": prompt, "output": output, "trace": trace, "gpus": gpus, "ttft": ttft, "tpot": tpot, "gap": gap,
        "dtype": dtype, "kv-dtype": kv_dtype, "stack": stack, "memory": memory, "price": str(price or ""),
        "count": str(count),
    }  # fmt: skip
    words = ["--cluster", cluster, *(word for name, value in given.items() if value for word in (f"--{name}", value))]
    words += [*_options(command, fixed or {}), *(["--why"] if why else []), "--", model]
    options = command.make_context("serve", words, help_option_names=[]).params
    options.pop("as_json")
    query = ServeQuery.of(**options)
    found = query.answer()
    asked = found.question
    compared = COMPARED if asked.caveat else ()
    sources = [asked.stack.source, *compared, asked.model.source, *values_sources(asked.chip, *_places(cluster))]
    return {
        "plans": query.data(found),
        "text": query.text(found),
        "caveat": asked.caveat or None,
        "error": asked.stack.error or None,
        "sources": [*described(sources), page("serving.md"), page("fidelity.md", "Serving"), page("limits.md")],
    }


def _options(command: click.Command, fixed: Mapping[str, str]) -> Iterator[str]:
    """The degrees to keep, as words of a command."""
    known = {option.name: option for option in command.params if option.param_type_name == "option"}
    for name, value in fixed.items():
        option: Any = known.get(name.replace("-", "_"))
        if option is None:
            raise ValueError(f"fixed: unknown {name!r}{near(name, known)}")
        if not option.is_flag:
            yield from (option.opts[0], str(value))
        elif str(value).lower() in ("true", "1", "yes"):
            yield option.opts[0]
        elif option.secondary_opts:
            yield option.secondary_opts[0]


def _places(cluster: str) -> Iterator[Any]:
    """The rows of a cluster and of its nodes; of so many nodes the node's."""
    from hwlib.specs import clusters, nodes

    name = re.sub(r"^[0-9]+\s*x\s*", "", cluster.strip()).partition(",")[0]
    if found := clusters.find(name):
        yield from (found, found.members)
    elif node := nodes.find(name):
        yield node
