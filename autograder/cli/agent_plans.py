"""What agents ask the planners by `gpubook mcp`: how to train a model, and how to serve one, as the commands answer."""

import re
from collections.abc import Iterator
from typing import Any

from hwlib.options import SERVING, TRAINING

from .agent_answers import Answer, described, page, values_sources
from .agent_options import planner_tool, values_of

COMPARED = ("inferencex", "rocm-vllm")  # of chips that nothing was fitted to: what typical constants were compared with


@planner_tool(
    TRAINING,
    'degrees to keep, such as {"tp": "8", "pp": "4,8", "zero": "1", "schedule": "1f1b", "recompute": "full"}; its '
    "names are the options of `gpubook plan`.",
    head="The fastest ways to train a language model on a cluster: degrees of parallelism, step time, MFU, bytes per "
    "GPU.",
    answer="The text explains the choice; `error` is the mean error to expect of the first plan's time, by the "
    "measured steps that are most like it: plans that differ by less than half of it are too close to call. Each plan "
    "has its own `error`: `low` to `high` seconds hold 80 % of such measurements, `nearest` are measured steps, and "
    "`missing` is what no measured step of the software has. `fit` of a plan is `fits` or `may not fit`, by the "
    "`margin` of predicted memory; `quicker_unsure` is quicker than all that fit, and may not.",
)
def plan(**arguments: Any) -> Answer:
    """As the decorator says: the documentation and the arguments are made from the table of options."""
    from hwlib.planner.certainty import plan_error

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
        "error": plan_error(task, found[0].strategy).mean or None,
        "sources": [*described(sources), page("fidelity.md"), page("limits.md")],
    }


@planner_tool(
    SERVING,
    'degrees to keep, {"tp": "8", "ep": "8", "attention-dp": "8"}, {"apart": "true"} (prefill on servers of its own) '
    'or "false", and {"emit": "vllm"} or "trtllm" for what starts the best plan; its names are the options of '
    "`gpubook serve`.",
    head="The best ways to serve a language model within limits of latency: batch, division of the GPUs, tokens/s, "
    "price.",
    answer="\n\nOf a plan, `decode` are the servers that generate (tp, ep, attention_dp, replicas, batch: requests at "
    "once on each); `prefill` those that only read prompts, null where the same ones do. `why` has the reasons for the "
    "first plan, `why_not_next` those against the others, `rests_on` the constants. `error` is the mean error to "
    "expect of the first plan's tokens a second, by the measured servers that are most like it; the plans' `error` has "
    "the interval, these servers, and what none of them has. A `caveat` says that nothing was fitted to the chip: then "
    "trust the order of plans more than their times.",
)
def serve(**arguments: Any) -> Answer:
    """As the decorator says: the documentation and the arguments are made from the table of options."""
    from hwlib.serving_planner.certainty import point_error

    from .serve import ServeQuery

    query = ServeQuery.of(**values_of(SERVING, arguments))
    found = query.answer()
    asked = found.question
    compared = COMPARED if asked.caveat else ()
    sources = [asked.stack.source, *compared, asked.model.source, *values_sources(asked.chip, *_places(query.cluster))]
    return {
        "plans": query.data(found),
        "text": query.text(found),
        "caveat": asked.caveat or None,
        "error": point_error(asked, found[0]).mean or None,
        "sources": [*described(sources), page("serving.md"), page("fidelity.md", "Serving"), page("limits.md")],
    }


def _places(cluster: str) -> Iterator[Any]:
    """The rows of a cluster and of its nodes; of so many nodes the node's."""
    from hwlib.specs import clusters, nodes

    name = re.sub(r"^[0-9]+\s*x\s*", "", cluster.strip()).partition(",")[0]
    if found := clusters.find(name):
        yield from (found, found.members)
    elif node := nodes.find(name):
        yield node
