"""The models of training with degrees as plain keywords, as tables of tests have them: `footprint(model, dp=8, T=512)`.

Each makes the strategy of its degrees, and passes the rest on.
"""

from dataclasses import fields
from typing import Any

from hwlib import footprint as footprints
from hwlib import parallel, planner, steptime
from hwlib.footprint import Footprint
from hwlib.parallel import Transfer
from hwlib.planner import Allowed, ParetoFront, Plans, SoftwareSettings
from hwlib.steptime import StepTime
from hwlib.strategy import Strategy

DEGREES = tuple(f.name for f in fields(Strategy))


def split(given: dict[str, Any]) -> tuple[Strategy, dict[str, Any]]:
    """The strategy of the degrees among what is given, and the rest."""
    degrees = {name: x for name, x in given.items() if name in DEGREES}
    return Strategy.of(**degrees), {name: x for name, x in given.items() if name not in DEGREES}


def planned(given: dict[str, Any]) -> dict[str, Any]:
    """The same with fields of Allowed and SoftwareSettings among what is given as these records."""
    rest = dict(given)
    for name, kind in (("allowed", Allowed), ("software", SoftwareSettings)):
        fields_of = {f.name: rest.pop(f.name) for f in fields(kind) if f.name in rest}
        if fields_of:
            rest[name] = kind(**fields_of)
    return rest


def plan(model: Any, cluster: Any, **given: Any) -> Plans:
    """`hwlib.planner.plan`."""
    return planner.plan(model, cluster, **planned(given))


def pareto(model: Any, cluster: Any, **given: Any) -> ParetoFront:
    """`hwlib.planner.pareto`."""
    return planner.pareto(model, cluster, **planned(given))


def footprint(model: Any, **given: Any) -> Footprint:
    """`hwlib.footprint.footprint`."""
    strategy, rest = split(given)
    return footprints.footprint(model, strategy, **rest)


def step_time(model: Any, stack: Any, machine: Any, **given: Any) -> StepTime:
    """`hwlib.steptime.step_time`."""
    strategy, rest = split(given)
    return steptime.step_time(model, stack, machine, strategy, **rest)


def transfers(model: Any, **given: Any) -> tuple[Transfer, ...]:
    """`hwlib.parallel.transfers`."""
    strategy, rest = split(given)
    return parallel.transfers(model, strategy, **rest)


def hiding_times(model: Any, C: float, **given: Any) -> dict[str, Any]:
    """`hwlib.parallel.hiding_times`."""
    strategy, rest = split(given)
    return parallel.hiding_times(model, strategy, C, **rest)
