"""Why one plan is better than another, in words and seconds."""

from collections.abc import Mapping
from dataclasses import fields

from hwlib.planner.advice import closeness, rests
from hwlib.planner.allowed import Allowed
from hwlib.planner.certainty import certainty_words
from hwlib.planner.costs import Plan, parts
from hwlib.planner.fits import fit_words, surely
from hwlib.planner.rejections import less_words
from hwlib.planner.result import SearchResult
from hwlib.planner.task import Task
from hwlib.specs import Model
from hwlib.specs.listed_layers import unlisted_words
from hwlib.steptime import StepTime
from hwlib.steptime.state_times import TRAINED_SHARE
from hwlib.strategy import CHOICES, NO_PIPELINE, TOLD
from hwlib.units import plural, show

WORDS: Mapping[str, str] = {part.name: part.metadata["words"] for part in fields(StepTime)}
ABOUT: Mapping[str, str] = {part.name: part.metadata["about"] for part in fields(StepTime)}
"""What the parts of a step are, in more words."""
EQUAL = 5e-4  # of a step: below it two plans are equally quick
NAMED = 0.8  # of what grew: so much is named, part by part


def explanation(found: SearchResult, choices: bool = True) -> str:
    """The text of `Plans.explain`; with `choices` also the alternatives."""
    best = found[0]
    lines = [
        f"Best plan for {found.task}:",
        f"  {best}",
        f"  {where_time_goes(best)}",
        f"  {memory_words(found, best)}",
        *(f"  {line}" for line in certainty_words(found.task, best.strategy, best.seconds)),
    ]
    if less := may_not_fit_words(found, best):
        lines.append(f"  {less}")
    if founded := rests_words(found, best):
        lines.append(f"  {founded}")
    if (advised := found.advised).strategy != best.strategy:
        lines.append(f"{advice_words(found, advised)}:")
        lines.append(f"  {advised}: {difference(best, advised)}")
    if unsure := unsure_words(found):
        lines += [f"{QUICKER_UNSURE}:", f"  {unsure}"]
    if len(found) > 1:
        lines += ["The next plans, compared with the best:"]
        lines += [f"  {i}. {versus(best, other)}" for i, other in enumerate(found[1:], 2)]
    if others := alternatives(found) if choices else ():
        lines += ["Best plan for each other choice:", *(f"  {line}" for line in others)]
    return "\n".join(lines)


def front_explanation(quickest: Plan, task: Task) -> str:
    """How sure the time of the first plan of a front is; empty of an ideal stack."""
    lines = certainty_words(task, quickest.strategy, quickest.seconds)
    return "\n".join([f"The first, on {plural(quickest.gpus, 'GPU')}:", *(f"  {line}" for line in lines)]) * bool(lines)


def advice_words(found: SearchResult, advised: Plan) -> str:
    """Why the advised plan is another than the quickest."""
    error = closeness(found.task, found[0].strategy)
    if advised.seconds <= (1 + error) * found[0].seconds:
        return f"Simplest plan within half the expected error ({error:.0%})"
    return "Simplest plan that rests on nothing typed or unmeasured, by which the best may err as much"


def rests_words(found: SearchResult, plan: Plan) -> str:
    """The typed constants that a plan's time rests on; empty if there are none."""
    constants = ", ".join(map(str, rests(found.task, plan.strategy)))
    rests_on = f"It rests on {constants}." if constants else ""
    unlisted = unlisted_words(found.task.model, found.task.stack.features)
    ends = [rests_on, unmeasured_words(found.task.model), f"{unlisted}." if unlisted else ""]
    return " ".join(filter(None, ends))


def unmeasured_words(model: Model) -> str:
    """What is typed of layers that no measured step has; empty of a model whose layers are all plain attention."""
    if model.mixer:
        kinds = f"{model.state_layers} of {model.layers} layers keep a state ({model.mixer.kind})"
        rate = f"{TRAINED_SHARE[model.mixer.kind]:.0%} of the vector units' rate"
        return f"{kinds}: at {rate}, typed, as no measured row here is of such layers."
    if model.compression:
        streams = f", and {model.streams} residual streams" if model.streams else ""
        parts = f"Keys compressed over time and their indexers{streams}"
        return f"{parts}: at attention's rate, typed, as no measured row here has them."
    if model.indexer:
        return "Sparse attention and its indexers: at attention's rate, typed, as no measured row here has them."
    return several_words(model)


def several_words(model: Model) -> str:
    """What is timed by one of several shapes; empty of a model whose layers are alike."""
    if model.full_heads:
        others = model.attention_layers - model.window_layers
        return f"{others} of {model.layers} layers have other heads: in kernels they count as those with a window."
    return f"MLPs of several widths count as their mean, {model.ffn:,} columns." if model.wider else ""


def where_time_goes(plan: Plan) -> str:
    """The parts of a step, the longest first."""
    shares = sorted(parts(plan.time).items(), key=lambda item: -item[1])
    parts_named = [f"{WORDS[name]} {t / plan.seconds:.1%}" for name, t in shares if t / plan.seconds >= 5e-4]
    rate = f"MFU {plan.mfu:.1%}, {float(f'{plan.token_rate:.3g}'):,.0f} tokens/s"
    return f"A step takes {show(plan.seconds, 's')} ({rate}): {', '.join(parts_named)}."


def memory_words(found: SearchResult, plan: Plan) -> str:
    """The contents of the fullest GPU's memory, in words."""
    held = {
        "weights": plan.memory.weights,
        "gradients": plan.memory.gradients,
        "optimizer": plan.memory.optimizer,
        "activations": plan.memory.activations + plan.memory.logits,
        "buffers": plan.memory.buffers,
        "allocator and context": plan.memory.overhead,
    }
    contents = ", ".join(f"{name} {show(float(x), 'B', 3)}" for name, x in held.items() if x)
    total = show(float(plan.memory.total), "B", 3)
    fit = fit_words(found.task, float(plan.memory.total))
    return f"The fullest GPU holds {total} of a budget of {show(found.task.memory, 'B', 3)}: {contents}. {fit}"


def may_not_fit_words(found: SearchResult, plan: Plan) -> str:
    """What would take less memory than a plan that may not fit; empty of one that fits."""
    if surely(found.task, float(plan.memory.total)):
        return ""
    less = less_words(found.task, Allowed())
    return f"{less}." if less else ""


QUICKER_UNSURE = "Quicker, but it may not fit"


def unsure_words(found: SearchResult) -> str:
    """The quickest plan that may not fit, where it is quicker than the best that does; else empty."""
    plan = found.quicker_unsure
    return f"{plan}, {show(float(plan.memory.total), 'B', 3)}: {difference(found[0], plan)}" if plan else ""


def changes(best: Plan, other: Plan) -> str:
    """The degrees of the other plan that differ, and what they are in the best: `pp 16 instead of 8`."""
    return ", ".join(f"{there} instead of {here}" for there, here in _differing(best, other)) or "the same degrees"


def _differing(best: Plan, other: Plan) -> list[tuple[str, str]]:
    changes = []
    for name in TOLD:
        here, there = best.strategy.told(name), other.strategy.told(name)
        if here != there:
            changes.append((f"{name} {there}", here))
    here, there = (one.strategy.schedule_name or NO_PIPELINE for one in (best, other))
    if here != there:
        changes.append((there, here))
    if best.strategy.recompute != other.strategy.recompute:
        changes.append((f"recompute {other.strategy.recompute}", best.strategy.recompute))
    return changes


def versus(best: Plan, other: Plan) -> str:
    """The other plan's changes, its extra step time, and which parts of the step grew and shrank."""
    return f"{changes(best, other)}: {difference(best, other)}"


def difference(best: Plan, other: Plan) -> str:
    """The parts of a step that grew and shrank between two plans, as shares of their steps and in seconds."""
    more = other.seconds - best.seconds
    if abs(more) < EQUAL * best.seconds:
        memory = float(other.memory.total - best.memory.total)
        if abs(memory) < EQUAL * best.memory.total:
            return "equally fast, with the same memory"
        return f"equally fast, with {show(abs(memory), 'B', 3)} {'more' if memory > 0 else 'less'} on the fullest GPU"
    here, there = parts(best.time), parts(other.time)
    deltas = {name: there[name] - here[name] for name in here}
    grew = _told({name: d for name, d in deltas.items() if d > 0})
    shrank = _told({name: -d for name, d in deltas.items() if d < 0 and -d > 0.2 * sum(deltas[n] for n in grew)})
    changes = [
        f"{WORDS[name]} {_share(here[name], best)} -> {_share(there[name], other)}, {_signed(deltas[name])}"
        for name in (*grew, *shrank)
    ]
    return f"{_signed(more)} ({more / best.seconds:+.1%}): {'; '.join(changes)}"


def _share(t: float, plan: Plan) -> str:
    return f"{t / plan.seconds:.1%}"


def _signed(t: float) -> str:
    return f"{'-' if t < 0 else '+'}{show(abs(t), 's', 3)}"


def _told(sizes: dict[str, float]) -> list[str]:
    """The largest, until they are most of the sum."""
    total, covered, names = sum(sizes.values()), 0.0, []
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        if covered >= NAMED * total:
            break
        names.append(name)
        covered += size
    return names


def alternatives(found: SearchResult) -> list[str]:
    """For each choice of the best plan, the best plan that chooses otherwise, or a note that none fits."""
    import numpy as np

    costed, best = found.costed, found[0]
    lines = []
    for name in CHOICES:
        column, here = costed.strategy.choice(name), best.strategy.choice(name)
        among = column != here
        if not among.any():
            continue
        good = surely(found.task, costed.memory)
        i = costed.fastest(among & good) if found.fitting else costed.fastest(among)
        if i < 0:
            least = show(float(costed.memory[among].min()), "B", 3)
            lines.append(f"without {best.strategy.choice_words(name)}: none fits; the smallest needs {least} per GPU")
            continue
        other = found.plan(i)
        if not any(other.strategy == listed.strategy for listed in found[:2]):
            lines.append(f"{other.strategy.choice_words(name)}: {_rest(best, other, name)}{difference(best, other)}")
    return list(dict.fromkeys(lines)) if np.size(costed.memory) else []


def _rest(best: Plan, other: Plan, name: str) -> str:
    """What else another plan changes for its choice to be at its best."""
    pairs = [(there, here) for there, here in _differing(best, other) if there != other.strategy.choice_words(name)]
    changes = ", ".join(f"{there} instead of {here}" for there, here in pairs)
    return f"with {changes}, " if changes else ""
