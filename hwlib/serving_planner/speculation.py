"""Speculative decoding as it is asked for: drafts by a method, and the share of them that is accepted, by source."""

from __future__ import annotations

import re

from hwlib.calibrated.serving_drafts import MOST_DRAFTS, Drafting
from hwlib.planner.plan_error import PlanError
from hwlib.specs import MeasuredDrafts, Model, measured_drafts
from hwlib.specs.draft_measurements import METHODS
from hwlib.units import plural

ASKED = re.compile(r"(?P<method>[a-z0-9]+):(?P<drafts>\d{1,3})(@(?P<accept>[0-9.]+)(?P<percent>%?))?")
NAMES = {"mtp": "MTP", "eagle3": "EAGLE-3"}


def drafting_of(model: Model, text: str) -> Drafting:
    """The drafts that a text asks for: "mtp:1", "eagle3:3", or with the share that is accepted "mtp:2@0.8". Without a
    share it is the mean of what was measured with the nearest number of drafts. Raises PlanError.
    """
    match = ASKED.fullmatch(text.strip())
    if not match or match["method"] not in METHODS:
        expected = f"{' or '.join(METHODS)} and a number of drafts, as in mtp:1, or eagle3:3@0.7"
        raise PlanError("speculate", f"expected {expected}, got {text!r}")
    if match["method"] == "mtp" and not model.mtp_layers:
        raise PlanError("speculate", f"no module for multi-token prediction is known of {model.name}; expected eagle3")
    drafts = int(match["drafts"])
    if not 1 <= drafts <= MOST_DRAFTS:
        raise PlanError("speculate", f"expected 1 to {MOST_DRAFTS} drafts, got {drafts}")
    accept = _share(text, match["accept"], match["percent"]) if match["accept"] else None
    if accept is None:
        rows = nearest_rows(model, match["method"], drafts)
        accept = sum(row.acceptance for row in rows) / len(rows)
    return Drafting(match["method"], drafts, accept)


def _share(text: str, number: str, percent: str) -> float:
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise PlanError("speculate", f"expected a share of accepted drafts from 0 to 1, got {text!r}")
    return share


def nearest_rows(model: Model, method: str, drafts: int) -> tuple[MeasuredDrafts, ...]:
    """The measured chains with the nearest number of drafts: of this model, or of all where it has none."""
    chains = [row for row in measured_drafts(model.key, method) if row.drafts]
    chains = chains or [row for row in measured_drafts(None, method) if row.drafts]
    nearest = min(abs(row.drafts - drafts) for row in chains)
    return tuple(row for row in chains if abs(row.drafts - drafts) == nearest)


def drafting_words(model: Model, drafting: Drafting) -> str:
    """What a step gives, and whence its share of accepted drafts."""
    name = NAMES[drafting.method]
    drafts = f"{name} with {plural(drafting.drafts, 'draft')} a step, {drafting.accept:.0%} of them accepted"
    return f"{drafts} ({_source(model, drafting)}): {drafting.tokens:.2f} tokens a step."


def _source(model: Model, drafting: Drafting) -> str:
    rows = nearest_rows(model, drafting.method, drafting.drafts)
    if abs(drafting.accept - sum(row.acceptance for row in rows) / len(rows)) > 1e-12:
        return "as asked for"
    sources = ", ".join(dict.fromkeys(row.source.partition(",")[0] for row in rows))
    where = f"measured with {plural(rows[0].drafts, 'draft')}, {sources}"
    return where if rows[0].target == model.key else f"not measured on this model; of others, {where}"
