"""A figure of all plans of one task, time against memory, with what others have measured."""

from functools import cache
from typing import Any

from hwlib.options import TRAINING
from hwlib.planner.cloud import CLOUDS, COLOURED, CloudPoint, plan_cloud
from hwlib.planner.explain import WORDS
from hwlib.units import GB
from hwlib.widgets.live import _text, module_source

DIGITS = 4


def plan_explorer(cloud: str = "llama3-70b", colour: str = "tp") -> Any:
    """The plans that fit, as points of time against memory, coloured by a degree; stars are published runs.

    Points too close to the quickest to call, by the planner's rule, lie in a band. Point at one, tap it or walk with
    the arrow keys, and the figure says what the plan is and where its time goes. In a notebook `.cloud`, `.colour` and
    `.chosen`, the number of a point, follow the reader and can be set. Raises KeyError for a cloud or a degree that the
    figure does not have.
    """
    if cloud not in CLOUDS:
        raise KeyError(f"no cloud of plans {cloud!r} in this figure; known: {', '.join(CLOUDS)}")
    if colour not in COLOURED:
        raise KeyError(f"no degree {colour!r} to colour by; known: {', '.join(COLOURED)}")
    return _explorer()(clouds={key: _as_json(key) for key in CLOUDS}, colours=_colours(), cloud=cloud, colour=colour)


def _colours() -> dict[str, list[str]]:
    """What plans are coloured by: of each degree what it is, to choose by, and its short name, for the legend."""
    labels = {option.name: option.label for option in TRAINING}
    return {name: [words, labels.get(name, name)] for name, words in COLOURED.items()}


@cache
def _as_json(key: str) -> dict[str, Any]:
    """A cloud in few characters: a page carries all of it."""
    cloud = plan_cloud(key)
    names = [name for name in cloud.plans[0].terms if any(point.terms[name] for point in cloud.plans)]
    plans = [_row(point, names) for point in cloud.plans]
    runs = [[*_row(point, names), _short(point.measured), point.run, point.modelled] for point in cloud.runs]
    return {
        "name": cloud.name,
        "plans": plans,
        "runs": runs,
        "front": list(cloud.front),
        "fitting": cloud.fitting,
        "close": cloud.close,
        "error": cloud.error,
        "room": _short(cloud.task.memory / GB),
        "terms": names,
        "parts": {name: [words, place] for place, (name, words) in enumerate(WORDS.items()) if name in names},
        "degrees": [*cloud.plans[0].degrees],
    }


def _row(point: CloudPoint, names: list[str]) -> list[Any]:
    terms = [_short(point.terms[name]) for name in names]
    return [_short(point.seconds), _short(point.memory / GB), [*point.degrees.values()], point.words, terms]


def _short(x: float) -> float:
    return float(f"{x:.{DIGITS}g}")


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class PlanExplorer(AnyWidget):
        _esm = module_source("plan_explorer", ())
        _css = _text("figure.css")
        clouds = traitlets.Dict().tag(sync=True)
        colours = traitlets.Dict().tag(sync=True)
        cloud = traitlets.Unicode().tag(sync=True)
        colour = traitlets.Enum([*COLOURED]).tag(sync=True)
        chosen = traitlets.Int(0, min=0).tag(sync=True)

        @traitlets.validate("cloud")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.clouds:
                raise traitlets.TraitError(f"unknown cloud {proposal['value']!r}; known: {', '.join(self.clouds)}")
            return proposal["value"]

    return PlanExplorer
