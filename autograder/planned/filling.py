"""The footprint's page: one plan, named by its degrees; what it holds of a GPU, and where its step goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hwlib.options import DEGREES, TRAINING, of_group
from hwlib.planner import Allowed, Plans
from hwlib.planner.checked import checked_axes
from hwlib.planner.costs import Costed, Plan, costed_plan
from hwlib.planner.fits import FITS, fit_of, fit_words
from hwlib.planner.rejections import no_plan
from hwlib.planner.space import space
from hwlib.planner.task import task_of
from hwlib.specs import Model
from hwlib.transformer import sequence_memory, state_tokens
from hwlib.units import plural, show

from .forms import FORMS
from .markup import Bar, Markup, address, bars, link, paragraph
from .task import arguments, cluster_read, interval, memory_bars, rests, step_bars
from .training import SHARED

USUAL = {option.name: option.single.usual for option in of_group(TRAINING, DEGREES) if option.single}
"""What an empty field means; None where the search has to choose."""


def the_plan(asked: Mapping[str, str]) -> tuple[Plans, Plan]:
    """The one plan that the fields name, whether it fits or not, and the search that holds it. Raises PlanError."""
    return _plan(FORMS["fill"].read(asked))


def _plan(values: Mapping[str, Any]) -> tuple[Plans, Plan]:
    named = arguments(values)
    task = task_of(named.pop("model"), named.pop("cluster"), **named)
    degrees = {name: values.get(name, usual) for name, usual in USUAL.items()}
    if degrees["schedule"] == "1f1b" and degrees["pp"] > 1 and degrees["v"] is None:  # other schedules have their own
        degrees["v"] = 1
    allowed = Allowed(**degrees)
    possible = space(task, checked_axes(task, allowed))
    if not possible.size:
        raise no_plan(task, allowed, possible.rejected)
    plans = [possible.strategy[i] for i in range(possible.size)]
    strategy = next((plan for plan in plans if not plan.hybrid), plans[0])  # HSDP only where it was asked for
    plan = costed_plan(task, strategy, float(possible.m[0]))
    return Plans(
        task, (plan,), possible.considered, possible.rejected, Costed(strategy, plan.m, plan.memory.total, plan.seconds)
    ), plan


def answer(asked: Mapping[str, str]) -> Markup:
    """Whether it fits, what the fullest GPU holds by part, and where the step's time goes."""
    values = FORMS["fill"].read(asked)
    plans, plan = _plan(values)
    task, total = plans.task, float(plan.memory.total)
    room = show(abs(task.memory - total), "B", 3)
    free = f"{room} are free" if total <= task.memory else f"{room} are missing"
    rate = f"MFU {plan.mfu:.1%}, {float(f'{plan.token_rate:.3g}'):,.0f} tokens/s"
    cost = f", ${plan.cost:,.2f} a step" if plan.cost else ""
    same = {name: asked[name] for name in SHARED if asked.get(name)}
    return Markup("").join(
        [
            cluster_read(task.machine, values["cluster"], task.software.uses_host),
            paragraph(f"{task.title}: {plan}."),
            paragraph(
                f"{fit_words(task, total)} {free} of a budget of {show(task.memory, 'B', 3)}; the fullest GPU holds "
                f"{show(total, 'B', 3)}. "
                f"A step takes {show(plan.seconds, 's')} ({rate}{cost}).",
                "planned-best" if fit_of(task, total) == FITS else "planned-best planned-wrong",
            ),
            interval(task, plan),
            memory_bars(plan, task.memory),
            sequence_bars(task.model, task.T),
            step_bars(plan),
            rests(plans, plan),
            Markup("<p>{}</p>").format(link("The best plans for the same question", address("plan", same))),
        ]
    )


SERVED = {
    "cache": ("cache", "keys and values, which grow with the sequence"),
    "index": ("index", "keys of the indexers, one byte an element"),
    "state": ("state", "of the same size whatever the length"),
}


def sequence_bars(model: Model, tokens: int) -> Markup:
    """What a sequence of the training's length keeps where the model is served, state beside cache; nothing of a model
    whose layers are all attention on every key.
    """
    if not model.mixed:
        return Markup("")
    parts = sequence_memory(model, tokens)
    sizes = [(*SERVED[name], float(size)) for name, size in parts._asdict().items() if size > 0]
    rows = [Bar(name, show(size, "B", 3), size / float(parts.total), about) for name, about, size in sizes]
    caption = f"What a sequence of {plural(tokens, 'token')} keeps in a server, on all its GPUs, its cache in 16 bits"
    return bars(caption, ("what", "memory", "share"), rows) + _gains_by_state(model)


def _gains_by_state(model: Model) -> Markup:
    """From which length on a state is smaller than keys and values, and how many layers keep one."""
    layers = f"{model.state_layers} of {plural(model.layers, 'layer')} keep a state in place of keys and values"
    if equal := state_tokens(model):
        layers += f"; it takes as many bytes as those of {equal:,.0f} tokens in a layer with attention"
    return paragraph(f"{layers}.") if model.mixer else Markup("")
