"""Serving engines: what each request waits for, and how waiting grows with the load."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hwlib.engine import EngineRun, RequestOutcome
from hwlib.plots.style import BLUE, CHART, GREY, INK, ORANGE, SMALL, canvas, note, series, styled
from hwlib.specs import MeasuredUsers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WAITING = "#c4c4c4"
ROWS = 60  # requests up to which a picture is legible
SAME = 1e-9  # s: steps that are no farther apart follow each other


@styled
def engine_rows(runs: Mapping[str, EngineRun], start: float, seconds: float) -> "Figure":
    """A row for each request that is in an engine within these seconds, time to the right: grey while it is
    queued, blue in prefill, orange where it decodes, and nothing where it is stalled, as a step leaves it out.

    One panel for each run, {name: run}, below each other; runs of the same requests show the same rows. Raises
    ValueError without a run, or for a stretch of time in which there is no request, or more than 60.
    """
    if not runs:
        raise ValueError("engine_rows needs at least one run")
    end = start + seconds
    inside = {
        name: [panel for panel in run.outcomes if panel.arrival < end and panel.end > start]
        for name, run in runs.items()
    }
    for name, outcomes in inside.items():
        if not 0 < len(outcomes) <= ROWS:
            raise ValueError(
                f"engine_rows: {len(outcomes)} requests of {name!r} from {start:g} to {end:g} s; 1 to {ROWS}"
            )
    most = max(map(len, inside.values()))
    figure, axes = canvas(CHART, 0.9 + len(runs) * (0.35 + 0.085 * most), len(runs))
    for panel, (name, run) in zip([axes] if len(runs) == 1 else axes, runs.items(), strict=True):
        _rows(panel, inside[name], run, start, end)
        panel.set(ylim=(most - 0.4, -0.8), yticks=(), xlim=(0, seconds), ylabel="requests")
        panel.set_title(name, fontsize=9)
        panel.grid(visible=False, axis="y")
    panel.set_xlabel("time [s]")
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower left", ncols=3, handlelength=1)
    return figure


def _rows(axes: "Axes", outcomes: list[RequestOutcome], run: EngineRun, start: float, end: float) -> None:
    began = {step.end: step.start for step in run.steps}
    bars: dict[str, list[tuple[int, float, float]]] = {"queued": [], "prefill": [], "decode": []}
    for row, outcome in enumerate(outcomes):
        bars["queued"].append((row, outcome.arrival, outcome.chunks[0].start))
        bars["prefill"] += [(row, part.start, part.end) for part in outcome.chunks]
        bars["decode"] += [(row, *span) for span in generating(outcome, began)]
    for (label, spans), colour in zip(bars.items(), (WAITING, BLUE, ORANGE), strict=True):
        cut = [(row, max(a, start), min(b, end)) for row, a, b in spans if a < end and b > start]
        rows, left = [row for row, *_ in cut], [a - start for _, a, _ in cut]
        axes.barh(rows, [b - a for _, a, b in cut], 0.78, left, color=colour, label=label, lw=0)


def generating(outcome: RequestOutcome, began: Mapping[float, float]) -> list[tuple[float, float]]:
    """From when to when a request was in every step without reading its prompt; `began` is the start of each step by
    its end.
    """
    read = {part.end for part in outcome.chunks}
    spans: list[tuple[float, float]] = []
    for end in outcome.times:
        if end in read:
            continue
        start = began[end]
        if spans and start - spans[-1][1] < SAME:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


@styled
def load_curves(
    curves: Mapping[str, Mapping[float, EngineRun]], q: float = 0.99, ttft: float = 0.0, tbt: float = 0.0
) -> "Figure":
    """Quantiles of the time to the first token, and of that between tokens, against the requests per second and GPU,
    for each of the curves {name: {requests per second: run}}; with lines at objectives above 0, in seconds.

    Raises ValueError without a curve, or for one without a run.
    """
    if not curves or not all(curves.values()):
        raise ValueError("load_curves needs at least one curve, each with a run")
    figure, (above, below) = canvas(CHART, 4.4, 2)
    gpus = {run.gpus for runs in curves.values() for run in runs.values()}
    whole = gpus.pop() if len(gpus) == 1 else 0
    for (name, runs), (colour, marker) in zip(curves.items(), series(len(curves)), strict=True):
        rates = sorted(runs)
        x = [rate if whole else rate / runs[rate].gpus for rate in rates]
        look = {"color": colour, "marker": marker, "markersize": 4, "label": name}
        above.plot(x, [runs[rate].ttft(q) for rate in rates], **look)
        below.plot(x, [1e3 * runs[rate].tbt(q) for rate in rates], **look)
    for axes, limit, words in ((above, ttft, f"{ttft:g} s"), (below, 1e3 * tbt, f"{1e3 * tbt:g} ms")):
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        axes.yaxis.set_minor_formatter(lambda y, _: f"{y:g}" if f"{y:e}"[0] in "25" else "")
        if limit:
            axes.axhline(limit, color=INK, lw=1, ls=(0, (5, 3)))
            note(axes, words, (axes.get_xlim()[0], limit), (3, 3), fontsize=SMALL, color=INK)
    percent = f"p{100 * q:g}"
    above.set_title(f"time to first token, {percent} [s]", fontsize=9)
    below.set_title(f"time between tokens, {percent} [ms]", fontsize=9)
    below.set_xlabel(f"requests per second on {whole} GPUs" if whole else "requests per second and GPU")
    figure.legend(*above.get_legend_handles_labels(), loc="outside lower left", ncols=3, columnspacing=1.0)
    return figure


@styled
def attained_shares(
    curves: Mapping[str, Mapping[float, EngineRun]], ttft: float, tpot: float, share: float = 0.9
) -> "Figure":
    """The share of requests that keep an objective on the first token and on the mean time between tokens, against the
    requests per second and GPU; the line at `share` is what a service promises, where a curve crosses it its goodput.

    Curves are {name: {requests per second: run}}. Raises ValueError without a curve, or for one without a run.
    """
    if not curves or not all(curves.values()):
        raise ValueError("attained_shares needs at least one curve, each with a run")
    figure, axes = canvas(CHART, 3.0)
    for (name, runs), (colour, marker) in zip(curves.items(), series(len(curves)), strict=True):
        rates = sorted(runs)
        shares = [100 * runs[rate].attained(ttft=ttft, tpot=tpot) for rate in rates]
        axes.plot(
            [rate / runs[rate].gpus for rate in rates], shares, color=colour, marker=marker, markersize=4, label=name
        )
    axes.axhline(100 * share, color=GREY, lw=1, ls=(0, (5, 3)))
    axes.set(xlabel="requests per second and GPU", ylabel="requests that keep both [%]", ylim=(0, 104))
    axes.set_title(f"first token within {ttft:g} s, {1e3 * tpot:g} ms a token after it", fontsize=9)
    figure.legend(loc="outside lower left", ncols=2, columnspacing=1.0)
    return figure


@styled
def closed_loads(runs: Mapping[int, EngineRun], measured: Sequence[MeasuredUsers], full: float = 0.0) -> "Figure":
    """Tokens per second, the mean time between tokens and the mean time to the first, against the users at once: a line
    through the runs, {users: run}, and diamonds at what was measured; a dashed line where `full` users fill the cache.

    Of a run the first and the last request of each user are left out of both means, as they begin and end together.
    Raises ValueError without a run.
    """
    if not runs:
        raise ValueError("closed_loads needs at least one run")
    figure, panels = canvas(CHART, 5.0, 3)
    users = sorted(runs)
    outcomes = {n: runs[n].outcomes[n:-n] or runs[n].outcomes for n in users}
    drawn = (
        ("tokens/s", [runs[n].tokens_per_second for n in users], [row.rate for row in measured]),
        (
            "mean time between tokens [ms]",
            [1e3 * _mean([one.tpot for one in outcomes[n]]) for n in users],
            [1e3 * row.tbt for row in measured],
        ),
        (
            "mean time to first token [s]",
            [_mean([one.ttft for one in outcomes[n]]) for n in users],
            [row.ttft for row in measured],
        ),
    )
    for axes, (name, simulated, seen) in zip(panels, drawn, strict=True):
        axes.plot(users, simulated, color=BLUE, label="simulated")
        axes.plot([row.users for row in measured], seen, "D", color=INK, markersize=5, label="measured")
        axes.set_title(name, fontsize=9)
        axes.set_ylim(0, None)
        if full:
            axes.axvline(full, color=GREY, lw=1, ls=(0, (5, 3)))
    if full:
        note(panels[0], "the cache is full", (full, 0), (4, 4), fontsize=SMALL)
    panels[-1].set(xlabel="users at once", xlim=(0, None))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower left", ncols=2)
    return figure


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
