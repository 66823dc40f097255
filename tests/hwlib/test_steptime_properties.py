"""What must hold of any plan: a faster machine is not slower, a longer batch is not shorter, nothing is negative."""

from dataclasses import fields

from hypothesis import given, settings
from hypothesis import strategies as st

from hwlib.specs import Level, Model, models, stacks
from hwlib.specs.stack import CONSTANTS
from hwlib.steptime import StepTime, step_time
from hwlib.strategy import RECOMPUTE, SCHEDULES

T = 2048
MODELS = [
    models["llama3-8b"],
    Model.small(layers=32, width=1024, heads=16, experts=8, experts_per_token=2, expert_ffn=512, vocab=32000),
]
LEVELS = (Level("node", 8, 450e9), Level("leaf", 32, 400e9), Level("spine", 16, 12.8e12))
powers = lambda most: st.integers(0, most).map(lambda k: 2**k)
plans = st.fixed_dictionaries(
    {
        "dp": powers(4),
        "tp": powers(3),
        "pp": powers(3),
        "cp": powers(1),
        "v": powers(1),
        "micro": powers(1),
        "zero": st.integers(0, 3),
        "sp": st.booleans(),
        "recompute": st.sampled_from(RECOMPUTE),
        "schedule": st.sampled_from(SCHEDULES),
        "expert_imbalance": st.floats(1, 3),
    }
)
usual = st.tuples(st.sampled_from(MODELS), st.sampled_from(list(stacks.values())), plans)


def seconds(case, stack=None, levels=LEVELS, sequences=1024, **change):
    model, usual_stack, plan = case
    return step_time(model, stack or usual_stack, levels, B=sequences * T, T=T, **plan | change)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(usual)
def test_parts_are_not_negative_and_add_up(case):
    found = seconds(case)
    parts = [getattr(found, f.name) for f in fields(StepTime)]
    assert min(parts) >= 0
    assert found.total > 0
    assert abs(sum(parts) / found.total - 1) < 1e-12


@settings(derandomize=True, max_examples=60, deadline=None)
@given(usual, st.sampled_from(sorted(CONSTANTS)), st.floats(0.2, 0.95))
def test_a_better_constant_never_makes_a_step_longer(case, name, factor):
    """But where a pass waits for the host: quicker gradients of weights then leave ZB-H1 less to fill with."""
    stack = case[1] if name.startswith("t_") else case[1].replace(t_layer=0.0, t_moe=0.0)
    case = (case[0], stack, case[2])
    value = getattr(stack, name)
    if name.startswith(("eta", "hide")):
        better = min(value / factor, 1.0) if value <= 1 else value
    else:
        better = value * factor
    assert seconds(case, stack.replace(**{name: better})).total <= seconds(case).total * (1 + 1e-12)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(usual, st.integers(0, 2), st.floats(1, 10))
def test_a_wider_level_never_makes_a_step_longer(case, which, factor):
    levels = list(LEVELS)
    levels[which] = levels[which]._replace(bandwidth=levels[which].bandwidth * factor)
    assert seconds(case, levels=levels).total <= seconds(case).total * (1 + 1e-12)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(usual)
def test_twice_the_batch_takes_longer_but_no_more_than_twice(case):
    one, two = seconds(case).total, seconds(case, sequences=2048).total
    assert one < two <= 2 * one * (1 + 1e-12)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(usual)
def test_recomputing_all_takes_longest(case):
    none, selective, full = (seconds(case, recompute=word).total for word in RECOMPUTE)
    assert none <= selective <= full
