"""Lab: from the flight recorder's dumps to the rank that hangs a job."""

from collections import Counter
from functools import partial

from autograder.answers import Function
from autograder.declaration import Exercise, Mistake
from hwlib.traces import draw_flight, find_hang

KEPT = ("process_group", "collective_seq_id", "profiling_name", "input_sizes", "state")
NEWEST = 7  # entries that each rank's buffer still has


def by_number(calls):
    return sorted(calls, key=lambda key: (key[1], key[0]))


TELLING = {  # the ways that the first jobs of each kind have to tell from the right one
    "absent": ({"victims": True}, {"order": list}, {"order": by_number}, {"done": ("completed", "scheduled")}),
    "order": ({"odd": False, "newest": True},),
    "size": ({"sizes": False, "newest": True},),
    "operation": ({"names": False, "newest": True},),
}


def _calls(dumps):
    """{(group, number): {rank: (what, state)}} and each group's members."""
    calls, members = {}, {}
    for rank, dump in enumerate(dumps):
        members |= {
            name: set(map(int, about["ranks"].strip("[]").split(","))) for name, about in dump["pg_config"].items()
        }
        for e in dump["entries"]:
            key = e["process_group"][0], e["collective_seq_id"]
            calls.setdefault(key, {})[rank] = ((e["profiling_name"], e["input_sizes"]), e["state"])
    return calls, members


def _hung(
    dumps,
    victims=False,
    sizes=True,
    names=True,
    missing=True,
    odd=True,
    newest=False,
    order=sorted,
    done=("completed",),
    rarest=min,
):
    calls, members = _calls(dumps)
    live = {key: calls[key] for key in order(calls) if any(s not in done for _, s in calls[key].values())}
    waiting = {rank for ranks in live.values() for rank, (_, state) in ranks.items() if state not in done}
    for (group, number), ranks in live.items() if odd else ():
        told = slice(0 if names else 1, 2 if sizes else 1)
        kinds = Counter(repr(what[told]) for what, _ in ranks.values())
        if len(kinds) > 1:
            rare = rarest(kinds, key=kinds.get)
            odd_ones = (r for r in sorted(ranks) if repr(ranks[r][0][told]) == rare)
            return [next(odd_ones), group, number]
    for (group, number), ranks in live.items() if missing else ():
        away = members[group] - set(ranks) - (set() if victims else waiting)
        if away:
            return [min(away), group, number]
    if newest:
        rank = min(range(len(dumps)), key=lambda r: dumps[r]["entries"][-1]["collective_seq_id"])
        last = dumps[rank]["entries"][-1]
        return [rank, last["process_group"][0], last["collective_seq_id"]]
    return [-1, "", -1]


def find_culprit(dumps):
    return _hung(dumps)


def hang_cases(rng):
    """Jobs of nine ranks, each with what a small buffer keeps of every entry: one absent, one out of order, one with
    another size, one with another operation of that size."""
    cases = []
    for number, hang in enumerate(tuple(TELLING) * 6):
        ways = TELLING[hang][number // len(TELLING) :][:1]
        while True:
            rank, at = rng.randrange(9), rng.randrange(13, 30)
            try:
                dumps = draw_flight(hang, rank, at, tp=3, dp=3)
            except ValueError:  # nothing left to exchange the call with
                continue
            found = find_hang(dumps)
            kept = [_kept(dumps[r]) for r in range(9)]
            if not found or found.ranks != (rank,):
                continue
            right = [rank, found.group, found.number]
            if _hung(kept) == right and all(_hung(kept, **way) != right for way in ways):
                break
        cases.append((kept,))
    return cases


def _kept(dump):
    entries = [{key: e[key] for key in KEPT} for e in dump["entries"][-NEWEST:]]
    return {
        "pg_config": {name: {"ranks": about["ranks"]} for name, about in dump["pg_config"].items()},
        "entries": entries,
    }


LAB_HANG = Exercise(
    id="measuring-lab-hang",
    title="Lab: who hangs the job",
    points=4,
    lines=15,
    withholds=("hwlib.traces.flight", "hwlib.traces.hangs"),
    prompt="A job hangs, and every rank has dumped its flight recorder. Write `hung(dumps)`: `dumps` is a list, and "
    "`dumps[r]` the dump of rank r, with `pg_config`, whose keys are the names of the rank's groups and whose "
    'values have `ranks`, a text such as "[0, 3, 6]", and `entries`, the newest calls, oldest first. An entry has '
    "`process_group` (a list whose first element is the name), `collective_seq_id` (which counts the calls of a "
    'group), `profiling_name`, `input_sizes` and `state` ("scheduled", "started" or "completed"). One rank is to '
    "blame: it has called something else, or with another size, than the others of a group under the same number; "
    "or it has stopped calling, and waits in no call of its own. Return `[rank, group, number]`: who, and the "
    "call; where a rank that has stopped is missing from several unfinished calls, the first of them by (group, "
    'number), so that there is one answer (groups are texts: "0" comes first). The cases are such as '
    '`list(draw_flight(hang, rank, at, tp=3, dp=3).values())` of `hwlib.traces` with "absent", "order", "size" or '
    '"operation" for `hang`, cut to the newest {newest} entries of each rank: to look at one, play it with a '
    "culprit of your own. *Exact*.",
    given=dict(newest=NEWEST),
    answer=Function(
        "hung",
        "hung(dumps)",
        cases=hang_cases,
        mutants={
            '"0" comes first': partial(_hung, order=lambda calls: sorted(calls, key=lambda key: (key[0] == "0", key))),
            "the first, not the last": partial(_hung, order=lambda calls: sorted(calls, reverse=True)),
            "a call that is scheduled is unfinished": partial(_hung, done=("completed", "scheduled")),
            "calls that are completed do not count": partial(_hung, done=()),
            "one of a group is odd, not the others": partial(_hung, rarest=max),
        },
    ),
    solution=find_culprit,
    mistakes=(
        Mistake(
            partial(_hung, victims=True, odd=False),
            "You name the first rank that is missing from a call. Most of these are victims, waiting in another group.",
        ),
        Mistake(
            partial(_hung, victims=True),
            "A rank that is missing from a call because it waits in another one is not to blame. Who waits nowhere?",
        ),
        Mistake(
            partial(_hung, sizes=False, newest=True),
            "You compare what is called, and not on which shapes: a collective of two sizes does not end either.",
        ),
        Mistake(
            partial(_hung, names=False, newest=True),
            "You compare the shapes, and not what is called on them: two operations can have the same ones.",
        ),
        Mistake(
            partial(_hung, odd=False, newest=True),
            "A rank can be there and yet be wrong: compare what the ranks have called under one number.",
        ),
        Mistake(
            partial(_hung, odd=False, missing=False, newest=True),
            "You name the rank whose last number is the smallest. Numbers count within one group only.",
        ),
        Mistake(
            partial(_hung, order=list),
            "Where a rank is missing from several unfinished calls, you name the one that the dumps have first. Which "
            "one was asked for?",
        ),
        Mistake(
            partial(_hung, order=by_number),
            "Where a rank is missing from several unfinished calls, you name the one with the smallest number. What "
            "comes before the number?",
        ),
    ),
    hints=(
        "Sort the entries into a dict: (group, number) → rank → (name, sizes, state). Only those with a state that "
        "is not completed matter.",
        "First look for an unfinished call under whose number the ranks have called two things: the rarer is to blame.",
        "Else collect the ranks that wait anywhere (an entry that is not completed). Of an unfinished call's "
        "members, who neither has the entry nor waits?",
    ),
    explain="Entries of one group and number belong together. An unfinished one with two kinds of calls names the "
    "odd rank at once. Otherwise somebody is missing, and most of those who are missing are victims: they stand in "
    "an unfinished call of another group. Take these away from the members, and the ranks that have the entry too: "
    "who is left has neither called nor waits, so the fault is on its host (an exception, a data loader, a lost "
    "node).",
)
