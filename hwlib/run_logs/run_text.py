"""The answer about a log, to be read."""

from collections.abc import Iterator

from hwlib.run_logs.explain import ExplainedRun
from hwlib.run_logs.gap import Gap
from hwlib.run_logs.modelled import OWN, NotModelled
from hwlib.run_logs.reader import TITLES
from hwlib.run_logs.records import RunLog
from hwlib.run_logs.served_model import ModelledServer
from hwlib.run_logs.served_text import server_lines
from hwlib.units import plural, show

MISSING = {
    "--model": "--model (a key, or the path of a config.json)",
    "--on": "--on (the machine: dgx-h100, h100-sxm, 4xdgx-a100)",
    "--gpus": "--gpus",
    "--batch": "--batch (tokens of a step, or sequences x length)",
    "--prompt": "--prompt (tokens of a request)",
    "--output": "--output (tokens of an answer)",
    "--concurrency": "--concurrency (requests at once), or --rate (arrivals a second)",
}
RATES = ("token_rate", "input_rate", "output_rate", "peak_output_rate", "request_rate")
MOST_RUNS = 3  # that are listed
WIDEST = 28  # characters of a part's name


def run_log_text(answer: ExplainedRun) -> str:
    """Everything that is said of a log, a paragraph each."""
    paragraphs = [
        [*_head(answer)],
        [*_speed(answer)],
        [*_benchmark(answer)],
        [*_findings(answer)],
        [*_model(answer)],
        [*_changes(answer)],
    ]
    return "\n\n".join("\n".join(lines) for lines in paragraphs if lines)


def _head(answer: ExplainedRun) -> Iterator[str]:
    log = answer.log
    steps = f"{plural(len(log.steps), 'step')} read" if log.steps else "no step of a training"
    between = f", {_numbers(log)}" if len(log.steps) > 1 else ""
    ranks = f", each by {log.copies} ranks" if log.copies > 1 else ""
    beside = f"; lines of {', '.join(TITLES[name] for name in log.others)} beside" if log.others else ""
    yield f"A log of {TITLES[log.program]}: {steps}{between}{ranks}{beside}."
    if log.unread:
        yield f"{plural(len(log.unread), 'line')} cut and not read in full, the first: {log.unread[0]}."
    facts = [f"{name} {_amount(answer, name)}" for name in answer.shown]
    if facts:
        yield f"What ran: {', '.join(facts)}."


def _numbers(log: RunLog) -> str:
    """From which step to which, anew where the numbers begin anew: of another run, or of a restart."""
    runs: list[list[int]] = []
    for step in log.steps:
        if not runs or step.step < runs[-1][-1]:
            runs.append([step.step])
        else:
            runs[-1].append(step.step)
    words = [" to ".join(map(str, dict.fromkeys((run[0], run[-1])))) for run in runs]
    if len(words) > MOST_RUNS:
        words[MOST_RUNS - 1 :] = [f"{len(words) - MOST_RUNS + 1} more runs of numbers"]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _amount(answer: ExplainedRun, name: str) -> str:
    fact = answer.facts[name]
    value = f"{fact.value:,.0f}" if isinstance(fact.value, int | float) else str(fact.value)
    where = f"line {fact.origin}" if isinstance(fact.origin, int) else fact.origin
    return f"{value} ({where})"


def _speed(answer: ExplainedRun) -> Iterator[str]:
    pace, used = answer.pace, answer.utilisation
    if pace and pace.steps and pace.absolute:
        warm = f", without {plural(len(pace.warm), 'line')} of warm-up" if pace.warm else ""
        yield f"A step takes {show(pace.mean, 's', 3)} in the mean, {show(pace.usual, 's', 3)} in the median{warm}."
    elif pace and pace.steps:
        yield "The log has rates, and how many tokens a step has nobody says: only ratios of steps are known."
    if used.gpu_token_rate:
        total = f"{used.token_rate:,.0f} tokens/s in all, " if used.token_rate else ""
        unit = "" if total else " tokens/s"
        yield f"{total}{used.gpu_token_rate:,.0f}{unit} of each GPU."
    elif used.token_rate:
        yield f"{used.token_rate:,.0f} tokens/s in all."
    ours = f"{used.mfu:.1%} by the book (FLOPs of the model, attention under its mask, dense peak)" if used.mfu else ""
    theirs = f"{used.log_mfu:.1%} by the log" if used.log_mfu is not None else ""
    if ours or theirs:
        yield f"MFU: {', '.join(filter(None, (ours, theirs)))}."
    yield from (f"  They differ as {reason}." for reason in used.why)
    yield from (f"  {note[0].upper()}{note[1:]}." for note in used.notes)
    if answer.memory:
        yield f"Memory: {show(answer.memory, 'B', 3)} at most."


def _benchmark(answer: ExplainedRun) -> Iterator[str]:
    numbers = answer.log.benchmark
    if "completed" in numbers:
        yield f"{plural(int(numbers['completed']), 'request')} answered"
    for name in RATES:
        if name in numbers:
            unit = "requests/s" if name == "request_rate" else "tokens/s"
            yield f"{name.replace('_', ' ')}: {numbers[name]:,.2f} {unit}"
    for name, value in numbers.items():
        if name.endswith(("ttft", "tpot", "itl", "latency")):
            yield f"{name.replace('_', ' ')}: {show(value, 's', 4)}"


def _findings(answer: ExplainedRun) -> Iterator[str]:
    if not answer.findings:
        if answer.log.steps:
            yield "Nothing in the log itself is remarkable."
        return
    yield "What the log shows:"
    for finding in answer.findings:
        yield f"- {finding.kind} ({finding.sure}): {finding.sentence}."


def _model(answer: ExplainedRun) -> Iterator[str]:
    model = answer.model
    if isinstance(model, ModelledServer):
        yield from server_lines(answer.log, model)
        if answer.gap:
            yield from _gap(answer.gap, " of a request" + " and its place" * model.times.closed)
        return
    if isinstance(model, NotModelled):
        if model.missing:
            needed = "; ".join(MISSING[name] for name in model.missing)
            yield f"To hold the run against the model, the log lacks: {needed}."
        elif model.sentence:
            yield f"Not held against the model: {model.sentence}."
        return
    plan = model.plan
    stack = model.task.stack.key
    borrowed = "" if answer.log.program in OWN else f", for nothing was fitted to {TITLES[answer.log.program]}"
    yield f"The model of this run, with the constants of {stack}{borrowed}: {plan}."
    yield (
        f"  A step of {show(plan.seconds, 's', 3)} (four of five such steps: {show(model.low, 's', 3)} to "
        f"{show(model.high, 's', 3)}), MFU {plan.mfu:.1%}, {show(float(plan.memory.total), 'B', 3)} on the fullest GPU"
        f"{'' if model.fits else ', which does not fit'}."
    )
    if model.assumed:
        flags = ", ".join(f"--{name}" for name in model.assumed)
        yield f"  Not said, and chosen by the planner (to say them: {flags}): {', '.join(model.assumed)}."
    if answer.gap:
        yield from _gap(answer.gap)


def _gap(gap: Gap, whole: str = "") -> Iterator[str]:
    yield f"The measured {show(gap.measured, 's', 3)}{whole} taken apart:"
    for part in gap.parts:
        yield _part(part.name, part.seconds, gap, part.source)
    verdict = "within the error of the model" if gap.explained else "beyond the error of the model"
    yield _part("unknown", gap.unknown, gap, verdict)
    yield from (_part(f"- {part.name}", part.seconds, gap, part.source) for part in gap.within)
    if not gap.explained and gap.unknown < 0:
        yield "  It is faster than the model allows: are these its model, its batch or load, and its machine?"


def _part(name: str, seconds: float, gap: Gap, source: str) -> str:
    return f"  {name:<{WIDEST}}{show(seconds, 's', 3):>12}  {seconds / gap.measured:6.1%}  {source}"


def _changes(answer: ExplainedRun) -> Iterator[str]:
    if not answer.changes:
        return
    yield "Worth trying:"
    for number, change in enumerate(answer.changes, 1):
        interval = f"{change.low:.0%} to {change.high:.0%}"
        yield f"{number}. {change.sentence}: saves {change.gain:.0%} of the time ({interval}), {change.sure}."
