"""Our sums over real traces against an independent one: `python -m benchmarks.score.profiler_traces FOLDER`.

FOLDER holds traces of torch.profiler that others have published, such as the folder tests/data of
facebookresearch/HolisticTraceAnalysis (MIT licence), fetched by hand: none of them is part of this repository. Each
file is read as `gpubook trace` reads it, and its times are compared with those of a sweep over all moments at which
something begins or ends, which shares no line with our reader, counts in exact decimals and knows categories by
itself.
The exit status is 1 if a time differs by more than a millionth of its trace, or a file that has kernels is not read.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import click

from autograder.cli.recordings.files import text_pieces
from hwlib.traces.profiles.answers import TraceJob

LIMIT = 1e-6
KINDS = {"kernel": "compute", "gpu_memcpy": "copies", "gpu_memset": "copies"}
KINDS |= {"Kernel": "compute", "Memcpy": "copies", "Memset": "copies"}
NAMES = ("span", "compute", "communication", "exposed", "copies", "idle")


class ComparedTrace(NamedTuple):
    """A file: its events, the largest difference as a share of its time (None: not compared), and what was read."""

    name: str
    events: int
    difference: float | None
    outcome: str

    @property
    def good(self) -> bool:
        return self.difference is None or self.difference <= LIMIT


def independent_times(trace: Any) -> dict[str, Decimal] | None:
    """Microseconds of one device by a sweep, None for a trace without one, or with several."""
    rows = trace.get("traceEvents", ()) if isinstance(trace, Mapping) else ()
    slices = [row for row in rows if isinstance(row, Mapping) and row.get("ph") == "X"]
    devices = {row.get("args", {}).get("device", row["pid"]) for row in slices if row.get("cat") in KINDS}
    if len(devices) > 1 or (not devices and any(row.get("cat") == "cuda_runtime" for row in slices)):
        return None
    kind_of = _on_a_device if devices else _on_the_host
    moments: list[tuple[Decimal, int, str]] = []
    for row in slices:
        if kind := kind_of(row):
            start = Decimal(row["ts"])
            moments += [(start, 1, kind), (start + Decimal(row["dur"]), -1, kind)]
    return _swept(sorted(moments)) if moments else None


def _on_a_device(row: Mapping[str, Any]) -> str:
    kind = KINDS.get(row.get("cat", ""), "")
    return "communication" if kind == "compute" and row["name"].startswith(("nccl", "rccl")) else kind


def _on_the_host(row: Mapping[str, Any]) -> str:
    if row.get("cat") == "user_annotation":
        return "communication" if row["name"].startswith("gloo:") else ""
    own = row.get("cat") == "cpu_op" and not row["name"].startswith(("c10d::", "record_param_comms"))
    return "compute" if own else ""


def _swept(moments: list[tuple[Decimal, int, str]]) -> dict[str, Decimal]:
    times = dict.fromkeys(NAMES, Decimal(0))
    active: Counter[str] = Counter()
    last = moments[0][0]
    for time, change, kind in moments:
        for name in _during(active):
            times[name] += time - last
        active[kind] += change
        last = time
    times["span"] = last - moments[0][0]
    return times


def _during(active: Mapping[str, int]) -> Iterator[str]:
    """Under which names a moment counts in which these run."""
    computing, sending = active["compute"] > 0, active["communication"] > 0
    if computing:
        yield "compute"
    if sending:
        yield "communication"
        if not computing:
            yield "exposed"
    if not computing and not sending:
        yield "copies" if active["copies"] > 0 else "idle"


def compared(path: Path) -> ComparedTrace:
    """A file as we read it, beside the independent sum."""
    name = path.name
    try:
        job = TraceJob()
        job.add("", text_pieces(str(path)))
        (own, *more) = job.answer().ranks.values()
    except ValueError as error:
        return ComparedTrace(name, 0, None, f"refused: {error}")
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        expected = independent_times(json.loads(file.read(), parse_float=Decimal, parse_int=Decimal))
    if expected is None or more or not own.times.span:
        return ComparedTrace(name, own.events, None, "; ".join(own.notes) or "several devices")
    span = float(expected["span"]) * 1e-6
    differences = (abs(getattr(own.times, part) - float(expected[part]) * 1e-6) for part in NAMES)
    return ComparedTrace(name, own.events, max(differences) / span, "read")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.pass_context
def main(ctx: click.Context, folder: Path) -> None:
    """Compare the times of each trace in FOLDER with an independent sum."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in (".json", ".gz"))
    rows = []
    for path in files:
        row = compared(path)
        rows.append(row)
        difference = "" if row.difference is None else f"{row.difference:.1e}"
        click.echo(f"{row.name[:52]:<54}{row.events:>9,}{difference:>10}  {row.outcome[:110]}")
    read = [row for row in rows if row.difference is not None]
    refused = [row for row in rows if row.outcome.startswith("refused")]
    worst = max((row.difference or 0.0 for row in read), default=0.0)
    click.echo(f"{len(rows)} files: {len(read)} compared, at most {worst:.1e} apart, {len(refused)} refused")
    ctx.exit(int(not all(row.good for row in rows)))


if __name__ == "__main__":
    main()
