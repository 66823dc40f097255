"""The answer to "why is my run slow?": one record, and its text."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hwlib.run_logs.changes import RunChange, changes_of
from hwlib.run_logs.facts import DERIVED, RunFact, facts_of
from hwlib.run_logs.findings import RunFinding, findings_of
from hwlib.run_logs.gap import Gap, gap_of
from hwlib.run_logs.health import benchmark_findings
from hwlib.run_logs.machine import check_told
from hwlib.run_logs.modelled import ModelledStep, NotModelled, modelled_step
from hwlib.run_logs.pace import RunPace, pace_of
from hwlib.run_logs.reader import read_run_log
from hwlib.run_logs.records import RunLog
from hwlib.run_logs.served_changes import served_changes
from hwlib.run_logs.served_facts import served_facts
from hwlib.run_logs.served_gap import comparisons, served_gap
from hwlib.run_logs.served_model import ModelledServer, modelled_server
from hwlib.run_logs.utilisation import Utilisation, utilisation_of
from hwlib.serving_planner.words import plan_words

HARMLESS = ("warmup",)
SERVERS_OWN = (
    *("prompt", "output", "users", "rate", "attention_dp"),
    *("kv_dtype", "prefix", "state_every", "speculate"),
)
"""Options that only a serving benchmark has."""
SHOWN_FACTS = (
    *("model", "gpus", "chip", "on", "tp", "pp", "cp", "ep", "dp", "v", "zero", "micro"),
    *("batch", "sequence", "batch_tokens", "dtype", "recompute", "lora", "base", "packed", "document"),
)
SERVED_FACTS = (
    *("model", "gpus", "chip", "on", "tp", "ep", "attention_dp", "pp", "dtype", "kv_dtype"),
    *("prompt", "output", "users", "rate", "requests"),
)


@dataclass(frozen=True)
class ExplainedRun:
    """Everything that is said of a log: see the fields' own records."""

    log: RunLog
    facts: Mapping[str, RunFact]
    pace: RunPace | None
    findings: tuple[RunFinding, ...]
    utilisation: Utilisation
    model: ModelledStep | ModelledServer | NotModelled
    gap: Gap | None
    changes: tuple[RunChange, ...]

    @property
    def fine(self) -> bool:
        """Whether nothing is to be found: no finding but the warm-up, and a step within the model's error."""
        slower = self.gap is not None and not self.gap.explained and self.gap.unknown > 0
        return not slower and all(finding.kind in HARMLESS for finding in self.findings)

    @property
    def shown(self) -> tuple[str, ...]:
        """The names of the facts that are shown."""
        names = SERVED_FACTS if self.log.benchmark else SHOWN_FACTS
        return tuple(name for name in names if name in self.facts)

    @property
    def memory(self) -> float | None:
        """The most bytes that the log says."""
        return max((step.memory or step.allocated or 0.0 for step in self.log.steps), default=0.0) or None


def explain_run(text: str, **options: Any) -> ExplainedRun:
    """What a log says, shows and lacks beside the model. `options` are what the reader knows: model, on (a cluster, a
    node or a chip), gpus, tp, pp, cp, ep, v, micro, zero, recompute, batch_tokens, sequence, dtype and others of the
    planner; of a serving benchmark also prompt and output (tokens), users (requests at once), rate, attention_dp,
    kv_dtype, prefix, state_every and speculate.

    >>> answer = explain_run("iter 10: loss 3.2202, time 893.76ms, mfu 16.68%", model="llama3-8b")
    >>> answer.log.program, answer.model.missing
    ('nanogpt', ('--on', '--gpus', '--batch'))

    Raises RunLogError for a text that is no log, and for a model or a machine that is none.
    """
    check_told(options)
    log = read_run_log(text)
    if log.benchmark:
        return _explained_server(log, options)
    wanted = {"asked_batch_tokens": options.get("batch_tokens")}
    facts = facts_of(log, {**_training_options(options), **wanted})
    pace = pace_of(log, facts)
    findings = findings_of(log, facts, pace)
    model = modelled_step(log, facts)
    step = model if isinstance(model, ModelledStep) else None
    if step and "model" not in facts:
        facts["model"] = RunFact(repr(step.task.model).strip("<>"), DERIVED)
    gap = gap_of(pace, step, findings) if step and pace and pace.absolute and pace.steps else None
    changes = changes_of(findings, step, gap)
    return ExplainedRun(log, facts, pace, findings, utilisation_of(log, facts, pace), model, gap, changes)


def _training_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options without those of a server alone."""
    return {name: value for name, value in options.items() if name not in SERVERS_OWN}


def _explained_server(log: RunLog, options: Mapping[str, Any]) -> ExplainedRun:
    """What a benchmark says of a server beside the model."""
    facts = served_facts(log, options)
    findings = benchmark_findings(log, facts)
    model = modelled_server(log, facts)
    if not isinstance(model, ModelledServer):
        return ExplainedRun(log, facts, None, findings, Utilisation(), model, None, ())
    gap = served_gap(log, facts, model)
    return ExplainedRun(log, facts, None, findings, Utilisation(), model, gap, served_changes(model, gap))


def run_log_record(answer: ExplainedRun) -> dict[str, Any]:
    """An answer as JSON data, in SI."""
    return {
        "fine": answer.fine,
        "program": answer.log.program,
        "others": list(answer.log.others),
        "steps": len(answer.log.steps),
        "unread": list(answer.log.unread),
        "ran": {name: _plain(asdict(answer.facts[name])) for name in answer.shown},
        "pace": _pace(answer.pace),
        "utilisation": _plain(asdict(answer.utilisation)),
        "memory": answer.memory,
        "benchmark": dict(answer.log.benchmark),
        "findings": [_plain(asdict(finding)) for finding in answer.findings],
        "model": _model_record(answer),
        "gap": _plain(asdict(answer.gap)) if answer.gap else None,
        "changes": [_plain(asdict(change)) for change in answer.changes],
    }


def _pace(pace: RunPace | None) -> dict[str, Any] | None:
    if pace is None or not pace.steps:
        return None
    return {
        "mean": pace.mean,
        "usual": pace.usual,
        "source": pace.source,
        "absolute": pace.absolute,
        "warm": len(pace.warm),
    }


def _model_record(answer: ExplainedRun) -> dict[str, Any]:
    model = answer.model
    if isinstance(model, ModelledServer):
        return _server(answer.log, model)
    return _model(model) if isinstance(model, ModelledStep) else _plain(asdict(model))


def _server(log: RunLog, model: ModelledServer) -> dict[str, Any]:
    return {
        "server": plan_words(model.point),
        "stack": model.question.stack.key,
        "load": _plain(model.load._asdict() | {"kind": model.load.kind}),
        **model.times._asdict(),
        "seconds": model.seconds,
        "tokens_per_second": model.tokens_per_second,
        "low": model.low,
        "high": model.high,
        "error": model.error,
        "assumed": list(model.assumed),
        "compared": [_plain(row._asdict()) for row in comparisons(log, model)],
    }


def _model(model: ModelledStep) -> dict[str, Any]:
    plan = model.plan
    return {
        "plan": str(plan),
        "seconds": plan.seconds,
        "low": model.low,
        "high": model.high,
        "error": model.error,
        "mfu": plan.mfu,
        "bytes": float(plan.memory.total),
        "fits": model.fits,
        "stack": model.task.stack.key,
        "assumed": list(model.assumed),
    }


def _plain(value: Any) -> Any:
    """What JSON can hold: records by their names, no number that is not finite."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if isinstance(value, str | int | type(None)) else str(value)
