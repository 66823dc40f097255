"""A live figure of the traces of a job: ranks and streams over time, exposed communication, who waited for whom."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hwlib.traces import CAUSES, Trace, draw_traces, job_span, read_trace
from hwlib.widgets.live import _text, module_source

US = 1e6
KINDS = ("compute", "communication", "copy", "host")
SICK_RANK = 2
ZOOMS = (1, 2, 4, 8, 16, 32)
LOADER = "DataLoader"  # the one thing of the host that is drawn
PLACES = 1000  # steps of the window's place


def trace_explorer(
    job: str = "healthy",
    jobs: Mapping[str, Sequence[Trace]] | None = None,
    rank: int = SICK_RANK,
    seed: int = 0,
    zoom: int = 1,
    place: int = 0,
    arrows: bool = True,
) -> Any:
    """The traces of a step, a row for each rank: kernels above, collectives below, exposed pieces underlined.

    Without `jobs`, a job of eight ranks in health and with a slow link, a data stall and a clock cap of `rank`, each
    as `draw_traces` plays it; else what `read_trace` gave of all ranks of each job. Arrows lead from a rank that waits
    to the one that it waits for. `zoom` magnifies, `place` (of 1000) is where the window begins. In a notebook all of
    these follow the reader, and can be set. Raises KeyError for a job that is not there, ValueError for another zoom
    or place.
    """
    shown = drawn_jobs(rank, seed) if jobs is None else {name: _job(traces) for name, traces in jobs.items()}
    if job not in shown:
        raise KeyError(f"no job {job!r} in this figure; known: {', '.join(shown)}")
    if zoom not in ZOOMS or not 0 <= place <= PLACES:
        raise ValueError(f"trace_explorer: zoom is one of {ZOOMS} and place 0 to {PLACES}, got {zoom} and {place}")
    return _explorer()(jobs=shown, job=job, zoom=zoom, place=place, arrows="yes" if arrows else "no")


@cache
def drawn_jobs(rank: int = SICK_RANK, seed: int = 0) -> dict[str, Any]:
    """The four jobs of the figure, as JSON."""
    return {cause: _job([read_trace(raw) for raw in draw_traces(cause, rank, seed=seed)]) for cause in CAUSES}


def _job(traces: Sequence[Trace]) -> dict[str, Any]:
    """The slices of a device and the waits for a data loader: [kind, start, end, name, group, number], in us from the
    job's first event; names and groups by their place in a list.
    """
    start, end = job_span(traces)
    names: dict[str, int] = {}

    def word(text: str) -> int:
        return names.setdefault(text, len(names))

    ranks = [
        {
            "rank": trace.rank,
            "events": [
                [
                    KINDS.index(e.kind),
                    round((e.start - start) * US, 3),
                    round((e.end - start) * US, 3),
                    word(e.operation or e.name),
                    word(e.group),
                    e.number,
                ]
                for e in trace.events
                if e.kind != "host" or LOADER in e.name
            ],
        }
        for trace in traces
    ]
    return {"ranks": ranks, "end": round((end - start) * US, 3), "words": list(names)}


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class TraceExplorer(AnyWidget):
        _esm = module_source("trace_explorer", ())
        _css = _text("figure.css")
        jobs = traitlets.Dict().tag(sync=True)
        job = traitlets.Unicode().tag(sync=True)
        zoom = traitlets.Enum(ZOOMS).tag(sync=True)
        place = traitlets.Int(min=0, max=PLACES).tag(sync=True)
        arrows = traitlets.Enum(["yes", "no"]).tag(sync=True)

        @traitlets.validate("job")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.jobs:
                raise traitlets.TraitError(f"unknown job {proposal['value']!r}; known: {', '.join(self.jobs)}")
            return proposal["value"]

    return TraceExplorer
