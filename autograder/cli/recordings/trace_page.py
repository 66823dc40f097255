"""The answer of `gpubook trace` as a page: one file without a script, which asks nobody for anything."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hwlib.units import show

from ...values.templates import rendered

__all__ = ["trace_page"]

HERE = Path(__file__).parent
LEFT, WIDTH, HEIGHT = 60, 740, 18  # of the bars, in units of the drawing
PARTS = (
    ("compute", "compute"),
    ("exposed", "exposed communication"),
    ("copies", "copies"),
    ("launch", "idle, nothing launched"),
    ("idle", "idle otherwise"),
)
MOST = 512  # ranks that are drawn, and rows of a table


def trace_page(record: dict[str, Any], title: str = "Traces of a job") -> str:
    """The page of the record of a `TraceAnswer`."""
    ranks = record["ranks"]
    events = sum(rank["events"] for rank in ranks)
    values = {
        "title": title,
        "head": f"{len(ranks)} rank{'s' * (len(ranks) > 1)}, {events:,} events",
        "findings": record["findings"],
        "parts": PARTS,
        "bars": list(_bars(ranks[:MOST])),
        "tables": list(_tables(record)),
        "notes": sorted({note for rank in ranks for note in rank["notes"]}),
    }
    return f"{rendered(HERE, 'trace.html.j2', **values)}\n"


def _bars(ranks: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    longest = max((rank["span"] for rank in ranks), default=0.0) or 1.0
    for row, rank in enumerate(ranks):
        yield {"label": rank["rank"], "y": HEIGHT * row + 2, "pieces": list(_pieces(rank, longest))}


def _pieces(rank: dict[str, Any], longest: float) -> Iterator[dict[str, Any]]:
    at = float(LEFT)
    for kind, words in PARTS:
        seconds = rank[kind] - (rank["launch"] if kind == "idle" else 0.0)
        width = WIDTH * max(seconds, 0.0) / longest
        yield {"kind": kind, "x": f"{at:.2f}", "width": f"{width:.2f}", "title": f"{words}: {show(seconds, 's', 4)}"}
        at += width


def _tables(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    columns = ("span", "compute", "communication", "exposed", "copies", "idle", "launch", "loading")
    yield {
        "title": "Times by rank",
        "columns": ("rank", *columns),
        "rows": [_row(rank, "rank", columns) for rank in record["ranks"][:MOST]],
    }
    for title, what in (("Kernels by class", "classes"), ("Longest kernels", "kernels")):
        rows = [(row["name"], show(row["seconds"], "s", 4), f"{row['calls']:,}", _share(row)) for row in record[what]]
        yield {"title": title, "columns": ("name", "time", "calls", "of roofline"), "rows": rows}
    if record["waits"]:
        rows = [(row["who"], row["for"], show(row["seconds"], "s", 4)) for row in record["waits"][:MOST]]
        yield {"title": "Who waited for whom", "columns": ("rank", "for rank", "time"), "rows": rows}
    steps = [step for rank in record["ranks"][:1] for step in rank["steps"][:MOST]]
    if steps:
        names = ("seconds", "compute", "exposed")
        rows = [_row(step, "number", names) for step in steps]
        title = f"Steps of rank {record['ranks'][0]['rank']}"
        yield {"title": title, "columns": ("step", "time", "compute", "exposed"), "rows": rows}


def _row(record: dict[str, Any], name: str, seconds: Sequence[str]) -> tuple[str, ...]:
    return record[name], *(show(record[column], "s", 4) for column in seconds)


def _share(row: dict[str, Any]) -> str:
    return "" if row["share"] is None else f"{row['share']:.0%}"
