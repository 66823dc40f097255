"""Points in words and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hwlib.serving_planner.layouts import Layout
from hwlib.serving_planner.plan import Pool
from hwlib.serving_planner.points import Point
from hwlib.units import plural, show


def pool_name(pool: Pool) -> str:
    """A pool as it stands in a table: `2 x tp 4`."""
    return f"{pool.replicas:,} x {Layout(*pool[:3])}"


def pool_words(pool: Pool) -> str:
    """A pool in a sentence: `2 servers of tp 4`."""
    return f"{plural(pool.replicas, 'server')} of {Layout(*pool[:3])}"


def plan_words(point: Point) -> str:
    """The plan in a sentence."""
    plan = point.plan
    at_once = f"{plural(plan.decode.batch, 'request')} at once" + " on each" * (plan.decode.replicas > 1)
    if plan.prefill:
        return f"{pool_words(plan.prefill)} read prompts for {pool_words(plan.decode)}, {at_once}"
    chunk = f", at most {plural(plan.chunk, 'token')} of prompts in a step" if plan.chunk else ""
    chunk += " of each rank" * bool(chunk and plan.decode.attention_dp > 1)
    return f"{pool_words(plan.decode)}, {at_once}{chunk}"


def given_words(point: Point) -> str:
    """What the plan gives, in a sentence."""
    idle = point.plan.machine.gpus - point.plan.gpus
    sentence = (
        f"{rounded(point.tokens_per_second)} tokens/s, {rounded(point.gpu_rate)} a GPU"
        f"{f' ({idle} idle)' if idle else ''}, {point.requests:.3g} requests/s; first token "
        f"{show(point.ttft, 's', 3)}, then {show(point.tpot, 's', 3)} a token, longest step {show(point.gap, 's', 3)}"
    )
    return sentence + (f"; {dollars(point.cost)} dollars a million tokens." if point.cost else ".")


def rounded(x: float) -> str:
    """Three digits.

    >>> rounded(12345.6), rounded(0.1234)
    ('12,300', '0.123')
    """
    return f"{float(f'{x:.3g}'):,.0f}" if x >= 100 else f"{x:.3g}"


def dollars(x: float) -> str:
    """Cents, and three digits of less than a dollar."""
    return f"{x:,.2f}" if x >= 1 else f"{x:.3f}"


def columns(points: Sequence[Point]) -> list[tuple[str, list[str]]]:
    """The columns of a table, each with its head, without those that say nothing."""
    heads: list[tuple[str, list[str]]] = [("", [str(i) for i in range(1, len(points) + 1)])]
    if any(point.plan.prefill for point in points):
        heads.append(("prefill", [pool_name(p.plan.prefill) if p.plan.prefill else "-" for p in points]))
    heads += [
        ("servers", [pool_name(point.plan.decode) for point in points]),
        ("batch", [f"{point.plan.decode.batch:,}" for point in points]),
    ]
    if any(point.plan.chunk for point in points):
        heads.append(("chunk", [f"{point.plan.chunk:,}" if point.plan.chunk else "-" for point in points]))
    heads += [
        ("tokens/s/GPU", [rounded(point.gpu_rate) for point in points]),
        ("first token", [show(point.ttft, "s", 3) for point in points]),
        ("per token", [show(point.tpot, "s", 3) for point in points]),
        ("longest", [show(point.gap, "s", 3) for point in points]),
    ]
    if any(point.cost for point in points):
        heads.append(("$/M tokens", [dollars(point.cost) for point in points]))
    return heads


def rows(points: Sequence[Point]) -> list[str]:
    """The lines of a table."""
    table = columns(points)
    widths = [max(len(head), *map(len, cells)) for head, cells in table]
    lines = [[head for head, _ in table], *zip(*(cells for _, cells in table), strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]


def record(point: Point) -> dict[str, Any]:
    """A point as JSON data, in SI; no cost where GPUs have no price."""
    plan = point.plan
    pools = {"decode": plan.decode._asdict(), "prefill": plan.prefill._asdict() if plan.prefill else None}
    return pools | {
        "chunk": plan.chunk,
        "gpus": plan.gpus,
        "ttft": point.ttft,
        "tpot": point.tpot,
        "longest_step": point.gap,
        "requests_per_second": point.requests,
        "tokens_per_second": point.tokens_per_second,
        "tokens_per_second_gpu": point.gpu_rate,
        "cost_per_million": point.cost or None,
        "load": point.load,
        "transfer": point.transfer or None,
    }
