"""What a log shows of a run's memory, its losses and its batch."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isnan
from statistics import median

from hwlib.run_logs.facts import Facts, rise_of, value_of
from hwlib.run_logs.finding import LIKELY, SHOWN, RunFinding, step_numbers
from hwlib.run_logs.records import RunLog
from hwlib.run_logs.served_facts import at_once
from hwlib.units import plural, show

FULL, GROWS = 0.95, 0.05


def memory_findings(log: RunLog, facts: Facts) -> Iterator[RunFinding]:
    """Memory that is full, that the allocator had to free, or that grows."""
    taken = [(step.step, step.memory or step.allocated or 0.0) for step in log.steps if step.memory or step.allocated]
    flushes = [event for event in log.events if event.kind == "flush"]
    retries = max((step.retries or 0.0 for step in log.steps), default=0.0)
    if flushes or retries:
        count = max(len(flushes), int(retries))
        yield RunFinding(
            "allocator",
            f"the allocator had to empty its cache {plural(count, 'time')}: the memory is full, and each time all work "
            "of that GPU waits",
        )
    capacity = value_of(facts, "capacity")
    if taken and capacity and max(memory for _, memory in taken) > FULL * capacity:
        share = max(memory for _, memory in taken) / capacity
        yield RunFinding("memory_full", f"memory is {share:.0%} taken: the next longer batch does not fit")
    yield from _growing([memory for _, memory in taken])


def _growing(taken: Sequence[float]) -> Iterator[RunFinding]:
    """Memory that still grows when a run has warmed up: of most steps more than the one before."""
    settled = taken[len(taken) // 5 :]
    if len(settled) < 8:
        return
    rises = sum(1 for low, high in pairwise(settled) if high > low)
    falls = sum(1 for low, high in pairwise(settled) if high < low)
    change = settled[-1] / settled[0] - 1
    if change > GROWS and rises >= 4 and falls < rises / 4:
        sentence = (
            f"memory grows step by step, by {change:.0%} ({show(settled[0], 'B', 3)} to {show(settled[-1], 'B', 3)}): "
            "something is kept that should be freed, or sequences grow"
        )
        yield RunFinding("memory_grows", sentence, SHOWN)


SPIKE, BEFORE, SETTLED = 0.3, 20, 5


def loss_findings(log: RunLog) -> Iterator[RunFinding]:
    """Losses that are not numbers or jump, and steps that were skipped."""
    losses = [(step.step, step.loss) for step in log.steps if step.loss is not None]
    bad = [step for step, loss in losses if isnan(loss)] or [step.step for step in log.steps if step.nans]
    if bad:
        start = f"from step {bad[0]} on" if len(bad) > 1 else f"at step {bad[0]}"
        yield RunFinding("nan", f"the loss is not a number {start}: the run has failed there", SHOWN, tuple(bad))
    skipped = [step for step in log.steps if step.skipped]
    overflows = [event for event in log.events if event.kind == "overflow"]
    if skipped or overflows:
        count = max(int(sum(step.skipped or 0.0 for step in skipped)), len(overflows))
        scales = [step.loss_scale for step in log.steps if step.loss_scale]
        fell = (
            f"; the loss scale went from {scales[0]:g} to {scales[-1]:g}" if scales and scales[0] != scales[-1] else ""
        )
        yield RunFinding(
            "skipped",
            f"{plural(count, 'step')} skipped, whose gradients were not finite{fell}",
            SHOWN,
            tuple(step.step for step in skipped),
        )
    spikes = _spikes([(step, loss) for step, loss in losses if not isnan(loss)])
    if spikes:
        yield RunFinding("spike", f"the loss jumps up at step {step_numbers(spikes)}", SHOWN, tuple(spikes))


def _spikes(losses: Sequence[tuple[int, float]]) -> list[int]:
    """The first step of each jump of the loss above the median of the steps before it."""
    spikes, high = [], False
    for place in range(SETTLED, len(losses)):
        before = [loss for _, loss in losses[max(place - BEFORE, 0) : place]]
        usual = median(before)
        jumps = losses[place][1] > usual + SPIKE * abs(usual)
        if jumps:
            jumps = losses[place][1] > usual + 8 * median(abs(loss - usual) for loss in before)
        if jumps and not high:
            spikes.append(losses[place][0])
        high = jumps
    return spikes


def batch_findings(log: RunLog, facts: Facts) -> Iterator[RunFinding]:
    """Where two things that a log says of its batch contradict each other."""
    stated, counted = value_of(facts, "batch"), rise_of(log.steps, "samples")
    of_step = next((step.batch for step in reversed(log.steps) if step.batch), None)
    if stated and counted and not of_step and abs(counted / stated - 1) > 0.01:
        yield RunFinding(
            "batch",
            f"a step is said to have {stated:g} sequences, and {counted:g} are counted from line to line: the batch is "
            "not what it was meant to be",
        )
    if of_step and counted and len({step.batch for step in log.steps}) == 1 and abs(counted / of_step - 1) > 0.01:
        yield RunFinding(
            "batch", f"lines say a batch of {of_step:g} sequences, and {counted:g} are counted from one to the next"
        )
    yield from _product(log, facts)


def _product(log: RunLog, facts: Facts) -> Iterator[RunFinding]:
    """The batch against its factors, and against what the reader says."""
    micro, accumulation = (log.number(name) for name in ("micro", "accumulation"))
    batch = log.number("batch")
    dp = log.number("dp") or (log.number("gpus") if log.program in ("deepspeed", "trainer") else None)
    dp = dp or (value_of(facts, "gpus") if log.program in ("deepspeed", "trainer", "nanogpt") else None)
    if batch and micro and accumulation and dp and batch != micro * accumulation * dp:
        yield RunFinding(
            "batch",
            f"the log says {batch:g} sequences a step, and {micro:g} a microbatch times {accumulation:g} times "
            f"{dp:g} replicas are {micro * accumulation * dp:g}",
        )
    expected, tokens = value_of(facts, "asked_batch_tokens"), _log_tokens(log)
    if expected and tokens and abs(tokens / expected - 1) > 0.01:
        yield RunFinding(
            "batch",
            f"a step has {tokens:,.0f} tokens by the log, {tokens / expected:.2g} times the {expected:,.0f} expected",
        )


def _log_tokens(log: RunLog) -> float | None:
    """Tokens of a step by the log alone."""
    tokens = log.number("batch_tokens") or rise_of(log.steps, "tokens")
    T = log.number("sequence")
    batch = next((step.batch for step in reversed(log.steps) if step.batch), None) or log.number("batch")
    return tokens or (batch * T if batch and T else None)


SATURATED = 0.9  # of the requests that arrive: fewer answers show that they queue
EMPTY = 0.85  # of the places: fewer that are taken in the mean show that the client does not fill them
READING = 0.2  # of the time of a token
COUNTED = 0.03  # by which two counts of the same tokens may differ


def benchmark_findings(log: RunLog, facts: Facts) -> tuple[RunFinding, ...]:
    """What a serving benchmark shows: requests that failed, a server that is offered more than it answers, places that
    stand empty, steps that read prompts between tokens, and tokens that are counted twice over.
    """
    numbers, shown = log.benchmark, []
    if failed := int(numbers.get("failed", 0)):
        shown.append(RunFinding("failed", f"{plural(failed, 'request')} failed: rates are of those that did not"))
    offered, answered = numbers.get("offered_rate"), numbers.get("request_rate")
    if offered and answered and answered < SATURATED * offered:
        sentence = (
            f"{offered:g} requests arrive a second and {answered:g} are answered: the server is saturated, and the "
            "time to the first token is mostly waiting"
        )
        shown.append(RunFinding("saturated", sentence))
    elif places := _empty_places(log, facts):
        shown.append(places)
    return (*shown, *_token_findings(numbers))


def _empty_places(log: RunLog, facts: Facts) -> RunFinding | None:
    """Fewer requests at once than the client allows, where it does not wait for their arrival."""
    allowed, there = log.benchmark.get("concurrency_limit"), at_once(log, facts)
    if not (allowed and there) or there >= EMPTY * allowed or "offered_rate" in log.benchmark:
        return None
    sentence = (
        f"{there:,.0f} requests are there at once in the mean, where the client allows {allowed:,.0f}: places stand "
        "empty while the first requests come and the last ones end, so that rates are below those of a full server"
    )
    return RunFinding("empty_places", sentence, LIKELY, (), None, 1 - there / allowed)


def _token_findings(numbers: Mapping[str, float]) -> Iterator[RunFinding]:
    """What the times between tokens, and their counts, show."""
    usual, mean = numbers.get("median_itl"), numbers.get("mean_tpot") or numbers.get("mean_itl")
    if usual and mean and 1 - usual / mean > READING:
        sentence = (
            f"a token takes {show(mean, 's', 3)} in the mean and {show(usual, 's', 3)} in the median: "
            f"{1 - usual / mean:.0%} of the time lies in few long gaps, in which steps read prompts of others (shorter "
            "chunks, or prefill on GPUs of its own, make them shorter)"
        )
        yield RunFinding("long_gaps", sentence, LIKELY)
    counted, again = numbers.get("output_tokens"), numbers.get("retokenized_tokens")
    if counted and again and abs(again / counted - 1) > COUNTED:
        sentence = (
            f"{counted:,.0f} tokens were asked for and {again:,.0f} are in the answers: rates of tokens are of the "
            "first number"
        )
        yield RunFinding("retokenized", sentence)
