"""What the runs of ranks take beyond their limits: who sends where, bytes, rounds and memory.

Reasons: not-a-neighbour, several-axes, one-rank-carries, and those of `ranks.outcomes.pattern` and `slow`; of numbers
that no known mistake explains, axis-bytes, rank-bytes, total-bytes, leaving-bytes, rounds; too-much-memory,
too-little-memory, empty-messages, and memory-not-told where a rank reports none, or less than it must have held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ranks import outcomes
from ..ranks.arguments import arrays
from ..ranks.buffers import Case
from ..ranks.outcomes import RanksOutcome
from ..values.digits import MOST, apart
from ..values.finding import Finding
from ..values.texts import quoted
from .limits import Limit
from .rank_run import RankComparison

DIGITS = 4  # of a size, where they make a difference
LOPSIDED = 1.5  # the busiest rank over the mean, beyond that of the solution: it carries the messages of others


def without_numbers(done: Sequence[RankComparison]) -> Finding | None:
    """Messages that are all made of one number, which no rank was given, where the solution's hold several: a result
    cannot come from these."""
    for run in done:
        only, best = run.mine.only_number, run.solution.only_number
        if only is None or best is not None or not any(run.solution.sent_bytes):
            continue
        if not any((array == only).any() for given in run.inputs for array in arrays(given)):
            say = f"The result is right, but with {run.case}, every message holds {only:g} and nothing else: "
            say += "no rank can have learned from them what it returns."
            return Finding(say, "empty-messages")
    return None


def beyond_neighbours(done: Sequence[RankComparison], axes: Sequence[str] = ()) -> Finding | None:
    """A message between ranks that are not neighbours, where only these may talk to each other: on the ring of all, or
    along the axes of a torus, which are sizes of the case."""
    for run in done:
        if far := run.mine.beyond_neighbours([run.case[name] for name in axes]):
            partners = "its two neighbours only, ranks `(rank - 1) % n` and `(rank + 1) % n`"
            if axes:
                partners = "its neighbours only, one place up or down on the ring of an axis"
            say = f"The result is right, but with {run.case}, rank {far[0]} sends to rank {far[1]}: a rank talks to "
            say += f"{partners}."
            return Finding(say, "not-a-neighbour")
    return None


def beyond_axes(done: Sequence[RankComparison], limits: Mapping[str, Limit]) -> Finding | None:
    """Where ranks are a grid: a message between two that differ along several axes, and what the busiest rank sends
    along each axis."""
    names = [*limits]
    for run in done if names else ():
        if far := run.mine.beyond_axes([run.case[name] for name in names]):
            across = " and ".join(f"`{names[axis]}`" for axis in far[2])
            say = (
                f"The result is right, but with {run.case}, a message goes from rank {far[0]} to rank {far[1]}, which "
                f"lie apart along {across}: every message of this step has its own axis."
            )
            return Finding(say, "several-axes")
    for axis, name in enumerate(names):
        limit, rows = limits[name], []
        for run in done:
            shape = [run.case[each] for each in names]
            mine, best = (one.axis_bytes(shape)[axis] for one in (run.mine, run.solution))
            rows.append((run.case, *limit.busiest(run.case, mine, best, max)))
        if broken := [row for row in rows if limit.broken(row[2], row[3])]:
            case, rank, got, allowed = max(broken, key=lambda row: row[0].n)
            sends, best = bytes_apart(got, allowed)
            say = (
                f"The result is right, but with {case}, rank {rank} sends {sends} along `{name}`; "
                f"{limit.words}{best} {'was' if limit.exact else 'were'} expected."
            )
            return Finding(say, "axis-bytes")
    return None


def beyond_bytes(
    done: Sequence[RankComparison], busiest: Limit | None, total: Limit | None, leaving: Limit | None
) -> Finding | None:
    """What the busiest rank sends, what all send, and what the busiest sends out of its node."""
    from hwlib.units import show

    measures: tuple[tuple[Limit | None, Callable[[RanksOutcome, Case], Sequence[float]], Any, str, str], ...] = (
        (busiest, lambda o, _: o.sent_bytes, max, "rank {rank} sends", "rank-bytes"),
        (total, lambda o, _: o.sent_bytes, sum, "the ranks send", "total-bytes"),
        (
            leaving,
            lambda o, case: o.leaving_bytes(case.options["inner"]),
            max,
            "rank {rank} sends out of its node",
            "leaving-bytes",
        ),
    )
    for limit, sent, of, who, measured in measures:
        if limit is None:
            continue
        rows = []
        for run in done:
            mine, best = (sent(outcome, run.case) for outcome in (run.mine, run.solution))
            rank, got, allowed = limit.busiest(run.case, mine, best, of)
            rows.append((run.case, got, allowed, run, rank))
        broken = [row for row in rows if limit.broken(row[1], row[2])]
        if not broken:
            continue
        case, got, allowed, run, rank = max(outcomes.clear(broken), key=lambda row: row[0].n)
        size = "" if case.sizes else f" ({show(case.size, 'B')})"
        say = f"The result is right, but with {case}{size}, {who.format(rank=rank)} "
        sends, expected = bytes_apart(got, allowed)
        say += f"{sends}{' in all' if of is sum else ''}; {limit.words}{expected} "
        why = outcomes.pattern([row[:3] for row in broken])
        mine, best = (_lopsided(sent(outcome, run.case)) for outcome in (run.mine, run.solution))
        carries = mine > LOPSIDED * max(1, best) and best <= LOPSIDED
        loads = sorted(sent(run.mine, run.case))
        second = loads[-2:][0]
        alone = second <= LOPSIDED * sum(loads) / len(loads) and second * LOPSIDED < loads[-1]
        carries = carries and (alone or _lopsided(run.mine.sent_bytes) > LOPSIDED)
        if of is max and got > allowed and carries:
            why = Finding("one rank carries the messages of the others", "one-rank-carries")
        say += f"{'was' if limit.exact else 'were'} expected"
        return _because(say, why, measured)
    return None


def beyond_rounds(done: Sequence[RankComparison], limit: Limit | None, at_once: str) -> Finding | None:
    """The longest chain of messages; `at_once` is that of `outcomes.slow`."""
    if limit is None:
        return None
    rows = [(run.case, run.mine.rounds, limit.allowed(run.case, run.solution.rounds)) for run in done]
    broken = [row for row in rows if limit.broken(row[1], row[2])]
    if not broken:
        return None
    case, got, allowed = max(outcomes.clear(broken), key=lambda row: row[0].n)
    say = (
        f"The result and the bytes are right, but with {case} it takes {got} round{'s' if got != 1 else ''}; "
        f"{limit.words}{allowed:g} {'was' if allowed == 1 else 'were'} expected"
    )
    return _because(say, outcomes.slow(broken, at_once), "rounds")


def beyond_memory(done: Sequence[RankComparison], limit: Limit | None) -> Finding | None:
    """What the tensors of a rank hold at once."""
    rows = []
    for run in done if limit is not None else ():
        assert limit is not None
        if not run.mine.peaks:
            continue  # a generator of the declaration, which has no tensors
        mine = [peak.bytes for peak in run.mine.peaks]
        best = [peak.bytes for peak in run.solution.peaks] or [0] * run.case.n
        if min(mine) < 0:
            say = f"With {run.case}, rank {mine.index(min(mine))} did not say truly how much memory its tensors hold."
            return Finding(say, "memory-not-told")
        rows.append((run.case, *limit.busiest(run.case, mine, best, max), run))
    broken = [row for row in rows if limit is not None and limit.broken(row[2], row[3])]
    if not broken or limit is None:
        return None
    case, rank, got, allowed, run = max(broken, key=lambda row: row[0].n)
    holds, expected = bytes_apart(got, allowed)
    line = run.mine.peaks[rank].line
    at = f", at {quoted(line)}" if line else ""
    say = (
        f"The result and what is sent are right, but with {case}, the tensors of rank {rank} hold {holds} at "
        f"their peak{at}, beside those that it was given; {limit.words}{expected} "
        f"{'was' if limit.exact else 'were'} expected."
    )
    return Finding(say, "too-much-memory" if got > allowed else "too-little-memory")


def bytes_apart(got: float, allowed: float) -> tuple[str, str]:
    """Two sizes with as many digits as make a difference.

    >>> bytes_apart(3e6, 2e6), bytes_apart(1_000_008.0, 1e6)
    (('3 MB', '2 MB'), ('1.00001 MB', '1 MB'))
    """
    from hwlib.units import show

    return apart(got, allowed, lambda size, digits: show(size, "B", digits), range(DIGITS, MOST + 1))


def _lopsided(sent: Sequence[float]) -> float:
    """The most that a rank sends over the mean."""
    return max(sent) * len(sent) / (sum(sent) or 1)


def _because(say: str, why: Finding | None, measured: str) -> Finding:
    """A sentence with its cause, if one is known; the reason is then that of the cause."""
    if why is None:
        return Finding(f"{say}.", measured)
    return Finding(f"{say}: {why.say}{'' if why.say.endswith('?') else '.'}", why.reason)
