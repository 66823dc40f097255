"""A live figure of one plan on six machines: the time of each bound, the one that holds, and data sheets to change."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from hwlib.roofline import compute_time
from hwlib.steptime import BOUNDS, PLANS, SIX, Demand, plan_demand, six_machines
from hwlib.widgets.live import _text, module_source

CHANGED = ("flops", "hbm_bandwidth", "hbm_bytes", "scaleup_bandwidth", "domain", "network_bandwidth")


def machine_explorer(
    plan: str = "dense-tp8", machine: str = "dgx-h100", sheets: Mapping[str, Mapping[str, float]] | None = None
) -> Any:
    """Six machines as columns, the time of each bound as bars, the one that holds marked, and whether the plan fits.

    Choose a plan, then a machine, and change any number of its data sheet by slider or by hand: its bounds follow, and
    the others stay to compare. `sheets` has numbers to begin with, by machine and name of CHANGED. In a notebook
    `.plan`, `.machine` and `.sheets` follow the reader, and can be set. Raises KeyError for a plan, a machine or a
    number that the figure does not have.
    """
    for what, key, known in (("plan", plan, PLANS), ("machine", machine, SIX)):
        if key not in known:
            raise KeyError(f"no {what} {key!r} in this figure; known: {', '.join(known)}")
    printed = {key: dict(one._asdict()) for key, one in six_machines().items()}
    changed = {key: dict(one) for key, one in printed.items()}
    for key, numbers in (sheets or {}).items():
        for name, value in numbers.items():
            if key not in printed or name not in CHANGED:
                raise KeyError(
                    f"no number {name!r} of {key!r}; machines {', '.join(SIX)}, numbers {', '.join(CHANGED)}"
                )
            changed[key][name] = value
    return _explorer()(
        printed=printed, sheets=changed, plans={key: _plan(key) for key in PLANS}, plan=plan, machine=machine
    )


def _plan(key: str) -> dict[str, Any]:
    """What a plan asks of a rank, as JSON."""
    demand: Demand = plan_demand(key)
    sent = [
        {"axis": x.axis, "collective": x.collective, "ranks": x.ranks, "inner": x.inner, "S": x.S, "calls": x.calls}
        for x in demand.transfers
    ]
    return {"name": PLANS[key][0], **demand._asdict(), "transfers": sent, "words": repr(PLANS[key][2])}


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class MachineExplorer(AnyWidget):
        _esm = module_source("machine_explorer", (compute_time,))
        _css = _text("figure.css")
        printed = traitlets.Dict().tag(sync=True)
        sheets = traitlets.Dict().tag(sync=True)
        plans = traitlets.Dict().tag(sync=True)
        words = traitlets.Dict(dict(BOUNDS)).tag(sync=True)
        plan = traitlets.Unicode().tag(sync=True)
        machine = traitlets.Unicode().tag(sync=True)

        @traitlets.validate("plan")
        def _planned(self, proposal: Any) -> str:
            return _known("plan", proposal["value"], self.plans)

        @traitlets.validate("machine")
        def _of_six(self, proposal: Any) -> str:
            return _known("machine", proposal["value"], self.printed)

    def _known(name: str, value: str, table: Mapping[str, Any]) -> str:
        if value not in table:
            raise traitlets.TraitError(f"unknown {name} {value!r}; known: {', '.join(table)}")
        return value

    return MachineExplorer
