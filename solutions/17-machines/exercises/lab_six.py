"""The lab on machines of several kinds: one plan, a data sheet, and the part of the machine that takes longest."""

from autograder.answers import Function
from autograder.declaration import Exercise, Mistake
from hwlib.steptime import demand_of, six_machines
from hwlib.strategy import Strategy

SHEET = ("flops", "hbm_bandwidth", "scaleup_bandwidth", "domain", "network_bandwidth")


def bound(machine, plan):
    d, W_up, W_out = machine["domain"], machine["scaleup_bandwidth"], machine["network_bandwidth"]
    times = {"math": plan["flops"] / machine["flops"], "memory": plan["hbm_bytes"] / machine["hbm_bandwidth"]}
    times["bubble"] = plan["bubble"] * times["math"]
    for axis, ranks, inner, S, calls in plan["collectives"]:
        far = ranks * inner
        inside = max(0, 1 - inner / min(far, d)) * S / W_up
        outside = max(0, 1 - max(inner, d) / far) * S * min(inner, d) / (d * W_out)
        times[axis] = times.get(axis, 0) + calls * max(inside, outside)
    name = max(times, key=times.get)
    return [name, times[name]]


def _bound(
    machine,
    plan,
    up_only=False,
    whole=False,
    add=False,
    near=False,
    bubble=True,
    mean=True,
    within="",
    fits=True,
    one=True,
    summed=True,
    full=True,
    share=True,
    together=False,
):
    """The same, with flags for the mistakes; `within` a domain a chip takes in what the group's chips there have at
    "first", or "all" that the group has. Without `fits` more groups pass a domain than it has chips, without `one` a
    group has less than one chip there.
    """
    d, W_up, W_out = machine["domain"], machine["scaleup_bandwidth"], machine["network_bandwidth"]
    times = {"math": plan["flops"] / machine["flops"], "memory": plan["hbm_bytes"] / machine["hbm_bandwidth"]}
    if bubble:
        times["bubble"] = plan["bubble"] * (times["math"] if share else 1)
    for axis, ranks, inner, S, calls in plan["collectives"]:
        inner = 1 if near else inner
        S = S if full else S * ranks
        far = ranks * inner
        inside = max(0, 1 - inner / min(far, d)) * S / W_up
        if within:
            had = max(1, min(far, d) / inner) if within == "first" else ranks
            inside = (had - 1) / ranks * S / W_up
        passing = (min(inner, d) if fits else inner) / d
        entered = max(0, 1 - (max(inner, d) if one else d) / far)
        outside = entered * S * (1 if whole else passing) / W_out
        t = inside + outside if add else inside if up_only else max(inside, outside)
        times[axis] = (times.get(axis, 0) if summed else 0) + (calls if mean else 1) * t
    name = max(times, key=times.get)
    return [name, sum(times.values()) if together else times[name]]


def _plan(model, B, T, **degrees):
    """What a plan asks of a rank, as plain data; messages between stages are left out."""
    demand = demand_of(model, Strategy.of(**degrees), B=B, T=T)
    rows = [[x.axis, x.ranks, x.inner, x.S, x.calls] for x in demand.transfers if x.collective != "send"]
    return {"flops": demand.flops, "hbm_bytes": demand.hbm_bytes, "bubble": demand.bubble, "collectives": rows}


def _cases(rng):
    """Plans of every bound on machines of the tables, whose links are taken for a switch's, and on invented ones."""
    plans = [
        _plan("llama3-70b", 2**22, 8192, dp=64, tp=8, pp=4, zero=1),
        _plan("llama3-70b", 2**22, 8192, dp=64, tp=16, pp=2, zero=1),
        _plan("llama3-70b", 2**20, 2048, dp=512, zero=3),
        _plan("llama3-70b", 2**20, 4096, dp=64, tp=4, pp=8, zero=1),
        _plan("llama3-8b", 2**18, 512, dp=512, zero=1),
        _plan("llama3-70b", 2**18, 2048, dp=128, tp=4, zero=1),
    ]
    known = [{name: getattr(sheet, name) for name in SHEET} for sheet in six_machines().values()]
    drawn = [
        {
            "flops": rng.choice((4e14, 1e15, 2.5e15, 8e15)),
            "hbm_bandwidth": rng.choice((5e11, 3e12, 8e12)),
            "scaleup_bandwidth": rng.choice((1e11, 4.5e11, 1.8e12)),
            "domain": rng.choice((1, 4, 8, 16, 64, 256)),
            "network_bandwidth": rng.choice((6e9, 5e10, 2e11)),
        }
        for _ in range(12)
    ]
    small = {"flops": 8e15, "hbm_bandwidth": 8e12, "scaleup_bandwidth": 4.5e11, "domain": 1, "network_bandwidth": 5e10}
    # with every chip a domain of its own, neighbours of a group are further apart than a domain is wide
    return [(machine, plan) for machine in (*known, *drawn, small) for plan in plans]


LAB_SIX = Exercise(
    id="machines-lab-six",
    title="Lab: one plan, many machines",
    points=4,
    lines=11,
    prompt="Write `bound(machine, plan)`: of one step, the part of the machine that takes longest and its seconds, as "
    "`[name, seconds]`. `machine` is a dict with `flops`, `hbm_bandwidth`, `domain` (chips of a scale-up domain), "
    "`scaleup_bandwidth` (of a chip, within the domain) and `network_bandwidth` (the share of a chip in what leaves "
    "the domain). `plan` is what a chip has to do: `flops`, `hbm_bytes`, the `bubble` as a share of the time of "
    "arithmetic, and `collectives`, rows of `[axis, ranks, inner, S, calls]`: so many calls of an all-gather or "
    "reduce-scatter of S bytes, the full array of a group of `ranks` whose neighbours are `inner` chips apart. All "
    "`inner` groups work at once. Across domains each piece enters a domain once, and the groups that pass there share "
    "the network of all its chips. Of the chips that a group has in one domain, each comes to hold an equal part of "
    "the S bytes, its own and what has entered, and takes in the other parts at its own links' rate. Both levels work "
    "at the same time. Names are `math`, `memory`, `bubble` and the axes, `tp` and `dp`, whose calls add up; take all "
    "bounds as if alone. *Exact.*",
    answer=Function("bound", "bound(machine, plan)", cases=_cases),
    solution=bound,
    mistakes=(
        Mistake(
            lambda *a: _bound(*a, up_only=True),
            "Every collective goes at the scale-up links' rate. What if a group has more chips than a domain, or if "
            "its chips are all in different ones?",
        ),
        Mistake(
            lambda *a: _bound(*a, whole=True),
            "What crosses domains is charged to the network of one chip. Whose cards does the traffic of a domain "
            "share, and how many groups pass them?",
        ),
        Mistake(
            lambda *a: _bound(*a, add=True),
            "The two levels are added. They work at the same time: when is a pipelined collective done?",
            name="times-added",
        ),
        Mistake(
            lambda *a: _bound(*a, near=True),
            "Every group is placed as if its chips were neighbours. With tp = 8 inside, where is the next chip of a "
            "data-parallel group?",
        ),
        Mistake(
            lambda *a: _bound(*a, bubble=False),
            "The pipeline's bubble is missing among the candidates. Which share of the arithmetic is it?",
        ),
        Mistake(
            lambda *a: _bound(*a, mean=False),
            "Each row counts once. How many calls of it does a step make?",
        ),
        Mistake(
            lambda *a: _bound(*a, within="first"),
            "Within a domain you send what its chips have at first. Which bytes have entered by then, and who needs "
            "them?",
        ),
        Mistake(
            lambda *a: _bound(*a, within="all"),
            "Within a domain a chip takes in all but its own piece here, as if nothing had entered through its own "
            "share of the network.",
        ),
        Mistake(
            lambda *a: _bound(*a, fits=False),
            "Where neighbours are further apart than a domain is wide, more groups pass a domain here than it has "
            "chips. How many can there be?",
        ),
        Mistake(
            lambda *a: _bound(*a, one=False),
            "Where neighbours are further apart than a domain is wide, a group has less than one chip in a domain "
            "here. How many parts of S meet in the network then?",
        ),
        Mistake(
            lambda *a: _bound(*a, summed=False),
            "Of an axis with several rows only the last one counts here. What becomes of the calls before?",
        ),
        Mistake(
            lambda *a: _bound(*a, full=False),
            "You take S for the bytes of one rank. Of which array are they the size?",
        ),
        Mistake(
            lambda *a: _bound(*a, share=False),
            "You take `bubble` for seconds. Of what is it a share?",
        ),
        Mistake(
            lambda *a: _bound(*a, together=True),
            "The name is right, and the seconds are those of all parts together. Which part's were asked for?",
        ),
    ),
    hints=(
        "A group reaches over `ranks * inner` chips. Of its ranks, those within one domain are `min(ranks * inner, "
        "domain) / inner`, at least one.",
        "A gather among m parts brings in (1 − 1/m) of S: within the domain m counts chips, across domains it counts "
        "domains, or chips if no two of the group share a domain.",
        "Across domains the bytes of `min(inner, domain)` groups enter a domain through the cards of its `domain` "
        "chips.",
    ),
    explain="Each bound is a count of the plan over a rate of the sheet, so that only collectives need thought. Within "
    "a domain a group has `min(ranks*inner, domain)/inner` chips, and `S*(1 - inner/min(ranks*inner, domain))` comes "
    "in at `scaleup_bandwidth`. Across domains it has `ranks*inner/max(inner, domain)` places, and "
    "`S*(1 - max(inner, domain)/(ranks*inner))` comes in for each of `min(inner, domain)` groups, through "
    "`domain*network_bandwidth`. Both at once: the longer counts. A larger domain moves bytes from the second "
    "expression to the first, which is how the same plan is held by its collectives on one machine and by arithmetic "
    "on another.",
    withholds=("hwlib.steptime", "hwlib.collectives.levels", "hwlib.parallel.transfers"),
)
