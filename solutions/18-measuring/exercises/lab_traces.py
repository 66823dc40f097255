"""Labs on traces: exposed communication by stream, and the diagnosis of three sick jobs."""

from itertools import pairwise

from autograder.answers import Condition, Design, Field, Function, Known, Par
from autograder.declaration import Exercise, Mistake
from hwlib.traces.cases import diagnosis_of

# Exposed communication, by the stream that is to blame


def _exposed(events, streams, shared="split", kernels="union"):
    """Every way of adding up, right and wrong, by what it does with a moment."""
    edges = sorted({t for _, *times in events for t in times})
    found = dict.fromkeys(streams, 0)
    for start, end in pairwise(edges):
        live = {name for name, begin, stop in events if begin <= start and end <= stop}
        hidden = "compute" in live if kernels == "union" else False
        sent = sorted(live - {"compute"}, key=list(streams).index)
        if hidden or not sent:
            continue
        for name in sent if shared != "first" else sent[:1]:
            found[name] += (end - start) / (len(sent) if shared == "split" else 1)
    return [found[name] for name in streams]


def exposed_by_stream(events, streams):
    edges = sorted({t for _, start, end in events for t in (start, end)})
    found = dict.fromkeys(streams, 0)
    for start, end in pairwise(edges):
        live = {name for name, begin, stop in events if begin <= start and end <= stop}
        if "compute" not in live:
            for name in live:
                found[name] += (end - start) / len(live)
    return [found[name] for name in streams]


def whole(events, streams):
    return _exposed(events, streams, kernels="none")


def twice(events, streams):
    return _exposed(events, streams, shared="each")


def first(events, streams):
    return _exposed(events, streams, shared="first")


def by_lengths(events, streams):
    compute = sum(end - start for name, start, end in events if name == "compute")
    sent = [sum(end - start for name, start, end in events if name == one) for one in streams]
    return [max(0, one - compute) for one in sent]


def by_pairs(events, streams):
    kernels = [(start, end) for name, start, end in events if name == "compute"]

    def left(start, end):
        return end - start - sum(max(0, min(end, stop) - max(start, begin)) for begin, stop in kernels)

    return [sum(max(0, left(start, end)) for name, start, end in events if name == one) for one in streams]


def by_events(events, streams, equally=True):
    """A moment is divided among the events in flight; or each of them counts."""
    found = dict.fromkeys(streams, 0)
    for start, end in pairwise(sorted({t for _, *times in events for t in times})):
        live = [name for name, begin, stop in events if begin <= start and end <= stop]
        for name in live if "compute" not in live else ():
            found[name] += (end - start) / (len(live) if equally else 1)
    return [found[name] for name in streams]


def each_event(events, streams):
    return by_events(events, streams, equally=False)


def as_met(events, streams):  # noqa: ARG001  (the learner's signature)
    """The streams in the order in which the events name them, and none that has no event."""
    met = list(dict.fromkeys(name for name, *_ in events if name != "compute"))
    return exposed_by_stream(events, met)


def sorted_streams(events, streams):
    return exposed_by_stream(events, sorted(streams))


def before_the_last(events, streams):
    """What runs behind the last kernel is left out."""
    last = max((end for name, _, end in events if name == "compute"), default=0)
    return exposed_by_stream([[name, min(start, last), min(end, last)] for name, start, end in events], streams)


def exposed_cases(rng):
    """A few by hand, then drawn ones: kernels of two streams that overlap, and one to three streams of collectives."""
    cases = [
        ([["compute", 0, 8], ["tp", 4, 12]], ["tp"]),
        ([["compute", 0, 8], ["compute", 4, 12], ["dp", 0, 20]], ["dp"]),
        ([["tp", 0, 8], ["dp", 4, 12], ["compute", 12, 16]], ["tp", "dp"]),
        ([["tp", 0, 8]], ["dp", "tp"]),  # a stream without events, and a trace without kernels
        ([["compute", 0, 8]], ["tp"]),
        ([["tp", 0, 8], ["tp", 4, 12], ["dp", 4, 8]], ["tp", "dp"]),  # collectives of one stream that overlap
    ]
    for count in (1, 2, 2, 3) * 8:
        streams = ["tp", "dp", "ep"][:count]
        events = []
        for name in ["compute", *streams]:
            for _ in range(rng.randint(2, 7)):
                start = 4 * rng.randint(0, 60)
                events.append([name, start, start + 4 * rng.randint(1, 12)])
        rng.shuffle(events)
        cases.append((events, streams))
    return cases


LAB_EXPOSED = Exercise(
    id="measuring-lab-exposed",
    title="Lab: which stream is to blame",
    points=4,
    lines=8,
    prompt="Exposed communication is to be divided among the streams that caused it. Write `exposed(events, "
    "streams)`: `events` are the slices of one rank's trace, `[stream, start, end]` in µs, in no order, where "
    "`stream` is "
    '"compute" for every kernel that is not a collective, and else the name of a stream of collectives, all of which '
    "`streams` lists. Kernels may overlap kernels; collectives of one stream may overlap each other as well. In "
    "every moment in which no kernel runs, the streams that have a collective in flight share that moment equally. "
    "Return the exposed µs of each stream, in the order of `streams`. *Exact*.",
    answer=Function("exposed", "exposed(events, streams)", cases=exposed_cases),
    solution=exposed_by_stream,
    mistakes=(
        Mistake(whole, "That is all communication, hidden or not. What runs beside a kernel costs the step nothing."),
        Mistake(
            twice,
            "A moment in which two streams wait counts for both in full: your sum is longer than the time that passed.",
        ),
        Mistake(first, "A moment that two streams share belongs to the first of the list alone. How was it to be cut?"),
        Mistake(
            by_lengths,
            "Sums of lengths do not know what ran beside what. A kernel at the start hides nothing at the end.",
        ),
        Mistake(
            by_pairs,
            "You look at each collective and each kernel by itself. What of two kernels that run at the same moment?",
        ),
        Mistake(
            by_events,
            "Two collectives of one stream that overlap have two shares of a moment here. Among what is it divided?",
        ),
        Mistake(
            each_event,
            "Every collective counts its moments in full, so your sum is longer than the time that passed.",
        ),
        Mistake(
            as_met,
            "Your numbers are those of the streams that the events name, as they come. In which order, and of which "
            "streams, were they asked for?",
        ),
        Mistake(sorted_streams, "Your streams are in the order of their names. Which order was asked for?"),
        Mistake(before_the_last, "You stop at the last kernel. Which of the collectives may end behind it?"),
    ),
    hints=(
        "Between two neighbouring starts or ends nothing changes: sort all of them, and look at one piece at a time.",
        "For a piece, collect the set of streams of which an event covers it.",
        "If the set lacks compute, every stream in it gets the length of the piece over the size of the set.",
    ),
    explain="Starts and ends cut the step into pieces in which the set of live streams does not change. A piece "
    "with a kernel in its set is hidden. Each other piece adds its length, divided by the number of streams in the "
    "set, to each of them. The sum over the streams is then the exposed communication of the rank, with no moment "
    "counted twice; a set, instead of a list, makes overlapping events of one stream count once.",
)


# Three jobs, three sicknesses

_CAUSES = ("slow link", "data stall", "clock cap")
_RAIL = 4  # ranks r and r + 4 share a rail: a trace cannot tell which end is slow


def _true(case):
    return [diagnosis_of(case + i) for i in range(len(_CAUSES))]


def causes_wrong(case, cause_a, cause_b, cause_c):
    told = cause_a, cause_b, cause_c
    return sum(got != one.cause for got, one in zip(told, _true(case), strict=True))


def _same(one, rank):
    return rank == one.rank or (one.cause == "slow link" and rank % _RAIL == one.rank % _RAIL)


def ranks_wrong(case, rank_a, rank_b, rank_c):
    return sum(not _same(one, got) for got, one in zip((rank_a, rank_b, rank_c), _true(case), strict=True))


def cost_ratio(case, cost_a, cost_b, cost_c):
    pairs = zip((cost_a, cost_b, cost_c), _true(case), strict=True)
    return max(max(1e-3 * got / one.cost, one.cost / (1e-3 * got)) for got, one in pairs)


def _record(case, told):
    names = zip("abc", _true(case), strict=True)
    return {f"{key}_{letter}": value for letter, one in names for key, value in told(one).items()}


def diagnosed(case):
    return _record(case, lambda one: {"cause": one.cause, "rank": one.rank, "cost": round(1e3 * one.cost, 3)})


def all_links(case):
    return _record(case, lambda one: {"cause": "slow link", "rank": one.rank, "cost": round(1e3 * one.cost, 3)})


def the_waiting(case):
    """The rank that waits longest, instead of the one that it waits for."""
    return _record(case, lambda one: {"cause": one.cause, "rank": (one.rank + 1) % 8, "cost": round(1e3 * one.cost, 3)})


def all_waits(case):
    """The waits of all ranks, added up."""
    return _record(case, lambda one: {"cause": one.cause, "rank": one.rank, "cost": round(7e3 * one.cost, 3)})


LAB_DIAGNOSE = Exercise(
    id="measuring-lab-diagnose",
    title="Lab: three jobs, three sicknesses",
    points=5,
    lines=9,
    prompt="`case_traces({case})` of `hwlib.traces` gives the traces of the eight ranks of job *a*, the next two "
    "numbers those of jobs *b* and *c*: one step each of the job of this section, its kernels drawn anew, tensor "
    "parallel over ranks 0 to 3 and 4 to 7, data parallel over ranks r and r + 4. In one of the three a link is slow, "
    "in one the data loader of a rank stalls, in one the clock of a GPU is capped. Read each with `read_trace`, and "
    'say for each job `cause` ("slow link", "data stall" or "clock cap"), `rank` (of a slow link: either end of '
    "the rail), and `cost`: by how many *milliseconds* the step would be shorter without it. All causes and ranks "
    "must be right; the nearer the costs, the better, and the worst of the three counts. *To first order*: of "
    "these jobs no healthy step is given.",
    given=[dict(case=0), dict(case=3), dict(case=6), dict(case=9)],
    answer=Design(
        fields={
            name: field
            for letter in "abc"
            for name, field in {
                f"cause_{letter}": Field(f"what is wrong with job {letter}", options=_CAUSES),
                f"rank_{letter}": Field(f"on which rank of job {letter}", 0, 7, whole=True),
                f"cost_{letter}": Field(f"what it costs a step of job {letter}", 0.1, 1000, unit="ms"),
            }.items()
        },
        objective=cost_ratio,
        measure="the worst ratio of your cost and the right one",
        unit="1",
        most=False,
        conditions=[
            Condition("the number of wrong causes", causes_wrong, at_most=0),
            Condition("the number of wrong ranks", ranks_wrong, at_most=0),
        ],
        pars=[Par(3, 1.5), Par(4, 1.25), Par(5, 1.15)],
        known=[Known(lambda case: 1.0, "the same jobs in health")],
    ),
    solution=diagnosed,
    mistakes=(
        Mistake(all_links, "Not every wait is the network's. Which collectives took longer after all had arrived?"),
        Mistake(
            the_waiting,
            "Long collectives on a rank mean that it waited. The one to blame arrives last, and waits for nobody.",
        ),
        Mistake(all_waits, "All ranks wait at the same time. By how much does the step get shorter for one of them?"),
    ),
    hints=(
        "`waits_between(traces)` names for whom the others wait; `trace_times(trace, job_span(traces))` says why: "
        "more compute than on the other ranks, or a gap of the host.",
        "If the rank for which they wait has neither, look at `meetings(traces)`: is the `transfer` of one group's "
        "collectives longer than that of the others?",
        "The cost is what a rank of the same tensor-parallel group (for a link: of another rail) waits for the guilty.",
    ),
    explain="A capped clock shows as more compute on one rank, a stalled loader as a gap of the host before its "
    "first kernel, a slow link as longer transfers in one data-parallel group, whose ranks arrive late at the sum "
    "over all ranks. The rank to blame is the one that hardly waits: every collective waits for it. What the others "
    "wait exposed for it is what the step loses, to some per cent: for a link and a stall nearly exactly, for a cap "
    "less what the healthy job would have waited anyway.",
)
