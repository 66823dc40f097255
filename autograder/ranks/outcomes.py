"""The outcome of a run of all ranks, and the explanation of its result, bytes and rounds.

A `RanksOutcome` is made by what drives the ranks (`observe`, for generators); this module does not depend on that.

The reasons of what it finds (see `values.finding`):

- A rank failed: `FAILED`. The ranks are stuck: those of `hwlib.simulate.SimulationError` and of
  `network_error.NetworkError`.
- A result is wrong: returns-nothing, not-an-array, wrong-value, wrong-length; of an element, untouched,
  untouched-though-received, other-rank, only-some-blocks, share-missing, share-twice, own-share-alone, other-block,
  those of `resemblance`, wrong-element.
- Too many bytes, or too few: sent-nothing, sent-whole-array-each-step, sent-whole-array-to-all, sent-twice,
  sent-own-block, sent-whole-array.
- Too many rounds: send-and-receive-apart, rounds-one-after-another.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ..values.digits import apart, written
from ..values.finding import Finding
from ..values.numbers import NAMES, named
from ..values.texts import quoted
from . import whereabouts
from .buffers import REDUCTIONS, Case, elements
from .generators import Budget, Call, RankFailed, remote_ranks
from .grid import axes_between, side_by_side
from .resemblance import Resemblance

if TYPE_CHECKING:
    from hwlib.simulate import SimulationError


@dataclass(frozen=True)
class MemoryPeak:
    """The most bytes that a rank's tensors held at once, and the line of its function that was running then."""

    bytes: int
    line: str = ""


@dataclass(frozen=True)
class RanksOutcome:
    """What every rank returned, the bytes that each sent and received and between which ranks, and the rounds; or a
    failure. A result is as `flat` has it, or by name as `named_results.by_name` has it.

    `failed` is the failure of a rank, `stuck` that of all together, as the network saw it; `changed` says which ranks
    modified their input array.
    """

    outputs: Sequence[Any] = ()
    sent_bytes: Sequence[float] = ()
    received_bytes: Sequence[float] = ()
    rounds: int = 0
    failed: RankFailed | None = None
    stuck: Finding | None = None
    changed: Sequence[int] = ()
    pairs: Mapping[tuple[int, int], float] = field(default_factory=dict)
    peaks: Sequence[MemoryPeak] = ()  # of each rank's memory, where it was measured
    only_number: Any = None  # what all messages hold, where they hold one number and no other

    def leaving_bytes(self, inner: int) -> list[float]:
        """The bytes that each rank sends out of its node of `inner` ranks."""
        leaving = [0.0] * len(self.sent_bytes)
        for (frm, to), size in self.pairs.items():
            leaving[frm] += size * (frm // inner != to // inner)
        return leaving

    def axis_bytes(self, shape: Sequence[int]) -> list[list[float]]:
        """For each axis of a grid of ranks, whose last axis varies fastest, what each rank sends along it."""
        along = [[0.0] * len(self.sent_bytes) for _ in shape]
        for (frm, to), size in self.pairs.items():
            for axis in axes_between(frm, to, shape):
                along[axis][frm] += size
        return along

    def beyond_axes(self, shape: Sequence[int]) -> tuple[int, int, list[int]] | None:
        """The first pair of ranks, from and to, that exchange a message and differ along several axes, and which."""
        pairs = ((frm, to, axes_between(frm, to, shape)) for frm, to in sorted(self.pairs))
        return next((found for found in pairs if len(found[2]) > 1), None)

    def beyond_neighbours(self, shape: Sequence[int] = ()) -> tuple[int, int] | None:
        """The first pair of ranks, from and to, that exchange a message and do not lie side by side: on the ring of
        all, or on a torus whose axes have these lengths, the last one varying fastest."""
        sides = [*shape] or [len(self.sent_bytes)]
        return next((pair for pair in sorted(self.pairs) if not side_by_side(*pair, sides)), None)

    @property
    def ended(self) -> bool:
        """Whether every rank finished."""
        return self.failed is None and self.stuck is None


def observe(
    call: Call,
    inputs: Sequence[Any],
    options: dict[str, Any],
    budget: Budget,
    dtype: str = "",
    formed: Callable[[Any], Any] | None = None,
) -> RanksOutcome:
    """Run generators through `call` (see `generators.Rank`) and count what they send. `formed` makes of what a rank
    returns its result, by default `flat`."""
    from hwlib.simulate import SimulationError, run_programs

    ranks, n = remote_ranks(call, inputs, options, budget, dtype), len(inputs)
    try:
        ended = run_programs(ranks)
    except RankFailed as failed:
        return RanksOutcome(failed=budget.failed or failed)
    except SimulationError as error:
        if budget.failed is not None:
            return RanksOutcome(failed=budget.failed)
        return RanksOutcome(stuck=_stuck(error, n))
    sent, received = [0.0] * n, [0.0] * n
    pairs: Counter[tuple[int, int]] = Counter()
    for message in ended.messages:
        sent[message.src] += message.bytes
        received[message.dst] += message.bytes
        pairs[message.src, message.dst] += message.bytes  # type: ignore[assignment]
    changed = [rank.rank for rank in ranks if rank.changed]
    outputs, rounds = [(formed or flat)(v) for v in ended.outputs], max(ended.clocks, default=0)
    only = budget.only_number
    return RanksOutcome(outputs, sent, received, rounds, changed=changed, pairs=pairs, only_number=only)


def _stuck(error: SimulationError, n: int) -> Finding:
    """What `run_programs` says of n ranks that cannot go on, and what is to be learned from it."""
    say, reason = str(error), error.reason
    lessons = {
        "deadlock": " For every `frm` of one rank there must be a `to` of the other.",
        "unreceived": " For every `to` of one rank there must be a `frm` of the other.",
    }
    lesson = lessons.get(reason, "")
    if reason == "no-such-rank" and any(f"` is {past}, and the ranks" in say for past in (n, -1)):
        lesson = " Past the end of a ring comes its beginning, `% n`."
    return Finding(f"{say}.{lesson}", reason)


def flat(value: Any) -> Any:
    """A result as one array: lists and tuples of arrays and numbers are joined; any other value stays as it is."""
    import numpy as np

    parts = list(value) if type(value) in (list, tuple) else [value]
    if not all(type(p) in (int, float) or (type(p) is np.ndarray and p.dtype.kind in "iuf") for p in parts):
        return value
    joined = np.concatenate([np.reshape(p, -1) for p in parts]) if parts else np.zeros(0)
    return joined if joined.dtype.kind in "iuf" else value  # an integer may be too large for one


def is_array(value: Any) -> bool:
    """Whether `flat` made an array of it."""
    return type(value).__name__ == "ndarray" and value.ndim == 1 and value.dtype.kind in "iuf"


def differs(got: Any, want: Any, rtol: float) -> Any:
    """For each element whether it differs from the expected one; both arrays have the same length."""
    import numpy as np

    if got.dtype.kind in "iu" and want.dtype.kind in "iu":
        return got != want
    return ~np.isclose(got, want, rtol=max(rtol, 1e-5 if want.dtype.name == "float32" else 0), atol=0, equal_nan=True)


def same_result(got: Any, want: Any, rtol: float) -> bool:
    """Whether one rank's result is the expected one; an expected None accepts any result."""
    if want is None:
        return True
    if not is_array(got) or not is_array(want):
        return not is_array(want) and type(got) is type(want) and repr(got) == repr(want)
    return got.shape == want.shape and not differs(got, want, rtol).any()


def alike(one: RanksOutcome, other: RanksOutcome, rtol: float) -> bool:
    """Whether two programs behaved alike in one run: the same results, bytes and rounds, or the same failure."""
    if not (one.ended and other.ended):
        kinds = [o.failed.kind if o.failed else o.stuck for o in (one, other)]
        return kinds[0] == kinds[1] and not (one.ended or other.ended)
    return same_traffic(one, other) and all(
        (a is None and b is None) or (b is not None and same_result(a, b, rtol))
        for a, b in zip(one.outputs, other.outputs, strict=True)
    )


def same_traffic(one: RanksOutcome, other: RanksOutcome) -> bool:
    """Whether every rank sent and received as many bytes, in as many rounds."""
    return (
        list(one.sent_bytes) == list(other.sent_bytes)
        and list(one.received_bytes) == list(other.received_bytes)
        and one.rounds == other.rounds
    )


# What to say of a failure

# The reasons of the kinds in `generators.KINDS`; that of a limit is endless-steps, endless-bytes or time-limit.
FAILED = {
    "empty": "returns-nothing",
    "generator": "no-yield",
    "silent": "no-yield-and-raises",
    "step": "not-a-step",
    "array": "sends-no-array",
    "dtype": "sends-another-type",
    "raises": "raises",
    "result": "no-plain-data",
    "withheld": "withheld",
    "lost": "rank-lost",
}
ENDLESS = {"steps": "endless-steps", "bytes": "endless-bytes"}


def failure(name: str, case: Case, outcome: RanksOutcome) -> Finding:
    """Why the ranks did not finish."""
    if outcome.stuck is not None:
        return Finding(f"With {case}: {outcome.stuck.say}", outcome.stuck.reason)
    assert outcome.failed is not None
    kind, what = outcome.failed.kind, outcome.failed.what
    reason = ENDLESS.get(what, "time-limit") if kind == "limit" else FAILED[kind]
    return Finding(_failure(name, case, kind, what, outcome.failed.rank), reason)


def _failure(name: str, case: Case, kind: str, what: str, rank: int) -> str:
    if kind == "generator":
        return (
            f"`{name}` returns {_a(what)} without a `yield`, so it sends nothing: each message is a "
            "`got = yield Step(send, to, frm)`."
        )
    yields, (sent, *others) = f"With {case}, rank {rank}", what.split("|")
    says = {
        "silent": f"{yields} fails before it sends anything, and without a `yield` no message ever leaves: each is a "
        f"`got = yield Step(send, to, frm)`. It says: {quoted(what, 200)}.",
        "empty": f"`{name}` {what or 'has no `yield` and returns nothing'} yet.",
        "step": f"{yields} yields {_a(what)}; a `Step(send, to, frm)` was expected, or a list of them."
        + (" The steps of another generator are passed on with `yield from`." if what == "generator" else ""),
        "array": f"{yields} sends {_a(what)}{' too large or not of numbers' if what == 'ndarray' else ''}; an array "
        "like x was expected, a slice of it for instance.",
        "dtype": f"{yields} sends numbers of type {quoted(sent)}; those {'of x' if not case.sizes else 'to be sent'} "
        f"are of type `{case.dtype}`{''.join(f' or `{one}`' for one in others)}.",
        "raises": f"{yields} fails: {quoted(what, 200)}.",
        "result": f"{yields} returns something that is not an answer: {quoted(what, 200)}.",
        "limit": (
            f"With {case}, the ranks still send after many times the {what} that it takes: does a loop never end?"
            if what in ("steps", "bytes")
            else f"{yields} does not end."
        ),
    }
    return says.get(kind) or f"{yields} was lost: {quoted(what, 200)}."


def _a(kind: str) -> str:
    return "nothing (`None`)" if kind == "NoneType" else NAMES.get(kind, f"a {quoted(kind)}")


# What to say of a result

UNTOUCHED = Finding(": the rank still has only what it began with", "untouched")
UNEXPLAINED = Finding("", "wrong-element")
VIEWS = (
    "`block[i] = got` names something else `block[i]`, and leaves x alone; `+=` adds to what is there, number or not; "
    "`block[i][:] = got` writes into x."
)


def wrong_result(
    case: Case,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    wanted: Sequence[Any],
    collective: str,
    rtol: float,
    received: Sequence[float] = (),
) -> Finding | None:
    """Which rank has a wrong result, its first wrong element, and the likely cause; None if all are right.

    `received` are the bytes received, by rank.
    """
    for rank, (got, want) in enumerate(zip(outputs, wanted, strict=True)):
        if same_result(got, want, rtol):
            continue
        with_ = f"With {case}, rank {rank}"
        if got is None:
            return Finding(f"{with_} returns nothing: is there a `return`?", "returns-nothing")
        if not is_array(got):
            odd = f"an array of {got.dtype}; one of numbers" if hasattr(got, "dtype") else f"{named(got)}; an array"
            return Finding(f"{with_} returns {odd} was expected.", "not-an-array")
        if not is_array(want):
            return Finding(f"{with_} does not return what was expected.", "wrong-value")
        if got.shape != want.shape:
            return Finding(f"{with_} returns {elements(len(got))}, not {len(want)}.", "wrong-length")
        wrong = differs(got, want, rtol)
        first = int(wrong.argmax())
        mine, right = apart(got[first].item(), want[first].item(), written)
        say = f"{with_} has {mine} in element {first}, where {right} was expected"
        if got[first] != got[first]:
            say = f"{with_}'s element {first} was never written (it is nan), where {right} was expected"
        hint = next(_looks_like(case, rank, inputs, got, wanted, wrong, collective, rtol), UNEXPLAINED)
        if hint == UNTOUCHED and received and received[rank]:
            return Finding(f"{say}{hint.say}, though messages came in. {VIEWS}", "untouched-though-received")
        say = f"{say}{hint.say}{'' if hint.say.endswith('?') else '.'}"
        if hint.reason == UNEXPLAINED.reason:
            ranks = [same_result(mine, right, rtol) for mine, right in zip(outputs, wanted, strict=True)]
            say += whereabouts.of_elements(wrong) + whereabouts.of_ranks(ranks, rank)
        return Finding(say, hint.reason)
    return None


def _looks_like(
    case: Case,
    rank: int,
    inputs: Sequence[Any],
    got: Any,
    wanted: Sequence[Any],
    wrong: Any,
    collective: str,
    rtol: float,
) -> Iterator[Finding]:
    x, n, want = inputs[rank], case.n, wanted[rank]
    if got.shape == x.shape and not differs(got, x, rtol).any():
        yield UNTOUCHED
    resemblance = Resemblance.of(case, got, want, x, rtol)
    yield from resemblance.numbers()
    for other, expected in enumerate(wanted):
        if is_array(expected) and other != rank and same_result(got, expected, rtol):
            yield Finding(f": that is what rank {other} should return", "other-rank")
    pieces = [case.block(r) for r in range(n)] if len(want) == case.length else []
    right = [r for r, piece in enumerate(pieces) if piece.stop > piece.start and not wrong[piece].any()]
    if right and collective not in ("all_to_all", ""):
        listed = ", ".join(map(str, right))
        say = f": only block{'s' if len(right) > 1 else ''} {listed} of {n} {'are' if len(right) > 1 else 'is'} right"
        yield Finding(say, "only-some-blocks")
    if collective in REDUCTIONS:
        yield from _shares(case, rank, inputs, got, want, wrong, collective, rtol)
    for r, piece in enumerate(pieces):
        for other, there in enumerate(pieces):
            same_size = there.stop - there.start == piece.stop - piece.start > 0
            if r != other and same_size and not differs(got[piece], want[there], rtol).any():
                yield Finding(f": block {other} stands where block {r} belongs", "other-block")
    yield from resemblance.order()
    rows = [(other, expected) for other, expected in enumerate(wanted) if other != rank]
    yield from resemblance.combined({f"what rank {other} should return": expected for other, expected in rows})


def _shares(
    case: Case, rank: int, inputs: Sequence[Any], got: Any, want: Any, wrong: Any, collective: str, rtol: float
) -> Iterator[Finding]:
    """Whether a rank's contribution is missing from the sum, or counted twice, at the first wrong element."""
    first = int(wrong.argmax())
    start = case.block(rank).start if collective == "reduce_scatter" else 0
    shares = [x[start + first] for x in inputs]
    for other, share in enumerate(shares):
        for factor, say, reason in (
            (-1, "is missing from", "share-missing"),
            (1, "is counted twice in", "share-twice"),
        ):
            if math.isclose(got[first], want[first] + factor * share, rel_tol=max(rtol, 1e-9)):
                yield Finding(f": the share of rank {other} {say} the sum", reason)
    if math.isclose(got[first], shares[rank], rel_tol=max(rtol, 1e-9)):
        yield Finding(": that is its own share alone, nothing was added", "own-share-alone")


# What to say of bytes and rounds


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9)


SUSPECTS = {
    "sent-nothing": "nothing is sent at all, so how can the result be right?",
    "sent-whole-array-each-step": (
        "that is n times as many: does a step send the whole array, where one block would do?"
    ),
    "sent-whole-array-to-all": "that is (n - 1)S: the whole array goes to every other rank",
    "sent-twice": "that is twice as many: is everything sent twice?",
    "sent-own-block": (
        "that is n/(n - 1) times as many: is a block sent to where it is, or a whole array where parts would do?"
    ),
    "sent-whole-array": "that is S: the whole array, where a part would do",
}


def _suspects(case: Case, want: float) -> dict[str, float]:
    """The bytes that common mistakes send instead of `want`, the likelier first."""
    n, size = case.n, case.size
    return {
        "sent-nothing": 0.0,
        "sent-whole-array-each-step": n * want,
        "sent-whole-array-to-all": (n - 1) * size,
        "sent-twice": 2 * want,
        "sent-own-block": want * n / max(n - 1, 1),
        "sent-whole-array": size,
    }


def pattern(rows: Sequence[tuple[Case, float, float]]) -> Finding | None:
    """The mistake that explains (case, bytes, bytes expected) in all clear runs; None if no known one does."""
    for reason, say in SUSPECTS.items():
        if all(_near(got, _suspects(case, want)[reason]) for case, got, want in clear(rows)):
            return Finding(say, reason)
    return None


Row = TypeVar("Row", bound=tuple)


def clear(rows: Sequence[Row]) -> list[Row]:
    """The rows whose case, the first item, distinguishes mistakes: more than two ranks, and a length that n divides.
    All rows if there is no such row."""
    return [row for row in rows if row[0].n > 2 and row[0].length % row[0].n == 0] or list(rows)


def slow(rows: Sequence[tuple[Case, int, float]], at_once: str) -> Finding | None:
    """The mistake that explains (case, rounds, rounds expected) in all runs; None if no known one does. `at_once` says
    how these ranks send and receive in one round."""
    if all(got == 2 * want for _, got, want in clear(rows)):
        say = f"a step that only sends and one that only receives take a round each, and {at_once}"
        return Finding(say, "send-and-receive-apart")
    if all(got >= (case.n - 1) * want for case, got, want in clear(rows)):
        return Finding("the ranks go one after the other, where they could go at once", "rounds-one-after-another")
    return None
