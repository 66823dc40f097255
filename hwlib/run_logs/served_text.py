"""A measured server beside the model, to be read."""

from collections.abc import Iterator

from hwlib.run_logs.records import RunLog
from hwlib.run_logs.served_gap import Comparison, comparisons
from hwlib.run_logs.served_model import CHUNK, STACKS, ModelledServer, engine_of
from hwlib.serving_planner.words import plan_words
from hwlib.units import plural, show

LOADS = {
    "closed": "{users:,.0f} requests at once, each replaced when it ends",
    "open": "{rate:g} requests a second",
    "full": "{rate:g} requests a second, of which the client lets in {users:,.0f} at once",
    "burst": "{requests:,.0f} requests all at once",
}
ASSUMED = {"tp": "--tp", "ep": "--ep"}


def server_lines(log: RunLog, model: ModelledServer) -> Iterator[str]:
    """What the model is of, and its rates and times beside the measured ones."""
    question = model.question
    kind = "full" if model.times.closed and model.load.kind == "open" else model.load.kind
    load = LOADS[kind].format(**model.load._asdict())
    yield (
        f"The model of this server at {load}, with the constants of {question.stack.key}: "
        f"{plan_words(model.point)}, {question.dtype}, cache in {question.cache}."
    )
    if not question.stack.key.startswith(STACKS[engine_of(log)].split("-")[0]):
        yield f"  Not the constants of {engine_of(log)}: its own were not fitted on this chip, or --stack names others."
    if question.caveat:
        yield f"  {question.caveat}"
    yield f"  {'':<32}{'measured':>16}{'predicted':>16}"
    yield from map(_row, comparisons(log, model))
    low, high = (show(share * model.seconds, "s", 3) for share in (model.low, model.high))
    yield f"  Four of five such servers take {low} to {high} for a request; first tokens are less sure."
    if question.stack.mixed:
        yield f"  Steps are taken to read at most {CHUNK:,} tokens of prompts, the usual number of servers."
    if model.assumed:
        flags = ", ".join(ASSUMED[name] for name in model.assumed)
        yield f"  Not said, and assumed (to say them: {flags}): {_assumed(model)}."


def _row(row: Comparison) -> str:
    measured = "-" if row.measured is None else _amount(row.measured, row.unit)
    return f"  {row.name:<32}{measured:>16}{_amount(row.predicted, row.unit):>16}"


def _amount(value: float, unit: str) -> str:
    return show(value, "s", 3) if unit == "s" else f"{value:,.2f}"


def _assumed(model: ModelledServer) -> str:
    words = {"tp": f"tp {model.layout.tp}", "ep": f"ep {model.layout.ep}"}
    degrees = ", ".join(words[name] for name in model.assumed)
    return f"{degrees}, {plural(model.replicas, 'replica')}"
