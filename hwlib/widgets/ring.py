"""The ring in motion: blocks that travel from rank to rank as a slider moves the time."""

from typing import Any

from hwlib.simulate import watch
from hwlib.widgets.charts import VegaLite, chart_style

COLOURS = ("#d9e8f5", "#a6cbe8", "#6baed6", "#3182bd", "#16569c", "#08306b")
EMPTY = "#f0f0f0"
RADIUS, SIDE = 1.0, 0.15


def ring_player(n: int = 4, algorithm: str = "ring_allreduce") -> VegaLite:
    """A ring algorithm of the library on n ranks, moved by a slider: what each rank has, and what is on its way.

    The ranks stand on a circle, each with a row of its n blocks; the darker a block, the more ranks have a share in it.
    Raises ValueError unless n is from 3 to 6, and for an algorithm whose ranks do not send one block to the next rank
    in each step.
    """
    if not 3 <= n <= 6:
        raise ValueError(f"ring_player: n is 3 to 6 ranks, got {n}")
    steps = watch(algorithm, n).steps
    shares = [[[sum(map(int, str(int(value)))) for value in row] for row in table] for table in steps]
    cells = [
        {"step": k, "rank": rank, "block": block, "shares": found}
        for k, table in enumerate(shares)
        for rank, row in enumerate(table)
        for block, found in enumerate(row)
    ]
    sent = [{"step": k, **_message(shares, k, rank, n)} for k in range(len(steps) - 1) for rank in range(n)]
    rounds = len(steps) - 1
    time = {"input": "range", "min": 0, "max": rounds, "step": 0.05, "name": "time, in steps "}
    span = 1.45
    axis: dict[str, Any] = {"type": "quantitative", "scale": {"domain": [-span, span]}, "axis": None}
    colour = {
        "field": "shares",
        "type": "ordinal",
        "title": "ranks with a share",
        "legend": {"orient": "bottom"},
        "scale": {"domain": [*range(n + 1)], "range": [EMPTY, *COLOURS[6 - n :]]},
    }
    at = {"x": {"field": "x", **axis}, "y": {"field": "y", **axis}}
    tooltip = [{"field": name} for name in ("rank", "block", "shares")]
    square = {"type": "square", "size": 240, "opacity": 1, "stroke": "#808080", "strokeWidth": 0.6}
    along = f"(datum.block - {(n - 1) / 2})*{SIDE}"
    held = {
        "data": {"values": cells},
        "transform": [
            {"filter": "datum.step == floor(time)"},
            {"calculate": f"{_x('datum.rank', n)} + {along}", "as": "x"},
            {"calculate": _y("datum.rank", n), "as": "y"},
        ],
        "mark": square,
        "encoding": {**at, "color": colour, "tooltip": tooltip},
    }
    there, here = (_x(who, n) for who in ("(datum.rank + 1)", "datum.rank"))
    up, down = _y("(datum.rank + 1)", n), _y("datum.rank", n)
    moving = {
        "data": {"values": sent},
        "transform": [
            {"filter": "datum.step == floor(time) && time > datum.step"},
            {"calculate": f"({here})*(1 - time + datum.step) + ({there})*(time - datum.step) + {along}", "as": "x"},
            {"calculate": f"({down})*(1 - time + datum.step) + ({up})*(time - datum.step)", "as": "y"},
        ],
        "mark": {**square, "strokeWidth": 2, "stroke": "#d55e00"},
        "encoding": {**at, "color": colour, "tooltip": tooltip},
    }
    names = {
        "data": {"values": [{"rank": rank} for rank in range(n)]},
        "transform": [
            {"calculate": _x("datum.rank", n), "as": "x"},
            {"calculate": f"{_y('datum.rank', n)} + 0.2", "as": "y"},
            {"calculate": "'rank ' + datum.rank", "as": "name"},
        ],
        "mark": {"type": "text", "fontSize": 12, "color": "currentColor"},
        "encoding": {**at, "text": {"field": "name"}},
    }
    return VegaLite(
        {
            "description": f"{algorithm} on {n} ranks, its blocks on their way around the circle",
            "title": {"text": {"expr": f"'after ' + floor(time) + ' of {rounds} steps'"}, "anchor": "start"},
            "params": [{"name": "time", "value": 0.5, "bind": time}],
            "width": 380,
            "height": 340,
            "layer": [held, names, moving],
            "config": chart_style(),
        }
    )


def _x(rank: str, n: int) -> str:
    return f"{RADIUS}*sin(2*PI*{rank}/{n})"


def _y(rank: str, n: int) -> str:
    return f"{RADIUS}*cos(2*PI*{rank}/{n})"


def _message(shares: list[list[list[int]]], k: int, rank: int, n: int) -> dict[str, int]:
    """The block that a rank sends in step k: the one that its neighbour then has another number of shares of."""
    after = (rank + 1) % n
    changed = [block for block in range(n) if shares[k][after][block] != shares[k + 1][after][block]]
    if len(changed) != 1:
        raise ValueError(f"ring_player: in step {k} rank {after} gets {len(changed)} blocks; one was expected")
    return {"rank": rank, "block": changed[0], "shares": shares[k][rank][changed[0]]}
