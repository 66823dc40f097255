"""The scenario: how often to save, how often to look for silent errors, and how many nodes to keep aside."""

from math import exp, sqrt

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake

NODE_HOURS = 54 * 24 / 419 * 2048  # of one node of eight between two interruptions, as Llama 3's were
SILENT_HOURS = 54 * 24 / 6 * 2048  # of one node between two silent corruptions that somebody found
HOUR = 3600.0


def lost(nodes, save, back, check, interval, hours):
    """The shares of a run's time that are no training, by what they are spent on."""
    mtbf, silent = NODE_HOURS / nodes * HOUR, SILENT_HOURS / nodes * HOUR
    return {
        "checkpoints": save / interval,
        "work done again": interval / 2 / mtbf,
        "restarts": back / mtbf,
        "checks": check / (hours * HOUR),
        "silent errors": hours * HOUR / 2 / silent,
    }


def standing(nodes, repair, spares):
    """The share of the time in which more nodes are in repair than stand by: a Poisson law."""
    mean = repair * HOUR / (NODE_HOURS / nodes * HOUR)
    term = total = exp(-mean)
    for k in range(1, int(spares) + 1):
        term *= mean / k
        total += term
    return max(0.0, 1 - total)


def days_of(nodes, work, save, back, check, repair, interval, hours, spares):
    """Days from the first step to the last."""
    training = 1 - sum(lost(nodes, save, back, check, interval, hours).values())
    if training <= 0:
        raise ValueError("with such intervals failures and checks take all of the time")
    return work / training / (1 - standing(nodes, repair, spares))


def bill(nodes, work, price, save, back, check, repair, interval, hours, spares):
    """Dollars for all nodes over all days, by what the time was spent on."""
    days = days_of(nodes, work, save, back, check, repair, interval, hours, spares)
    rate = 8 * 24 * price * nodes  # a day
    idle = standing(nodes, repair, spares)
    parts = {name: rate * days * (1 - idle) * x for name, x in lost(nodes, save, back, check, interval, hours).items()}
    parts |= {
        "training": rate * work,
        "waiting for a repair": rate * days * idle,
        "spare nodes": rate * days * spares / nodes,
    }
    return Breakdown(sum(parts.values()), parts)


def over_model(nodes, work, save, back, check, repair, interval, hours, spares, days):
    return days / days_of(nodes, work, save, back, check, repair, interval, hours, spares)


def best_record(nodes, work, price, save, back, check, repair):
    """The two intervals by their square roots, the spares by trying."""
    interval = sqrt(2 * save * NODE_HOURS / nodes * HOUR)
    hours = sqrt(2 * check * SILENT_HOURS / nodes * HOUR) / HOUR
    spares = min(range(80), key=lambda k: bill(nodes, work, price, save, back, check, repair, interval, hours, k).total)
    days = days_of(nodes, work, save, back, check, repair, interval, hours, spares)
    return dict(interval=round(interval), hours=round(hours, 2), spares=spares, days=round(days, 2))


def best_bill(nodes, work, price, save, back, check, repair):
    r = best_record(nodes, work, price, save, back, check, repair)
    return bill(nodes, work, price, save, back, check, repair, r["interval"], r["hours"], r["spares"]).total


def changed(nodes, work, price, save, back, check, repair, **other):
    """The best record with something else in it, and an honest promise."""
    r = best_record(nodes, work, price, save, back, check, repair) | other
    days = days_of(nodes, work, save, back, check, repair, r["interval"], r["hours"], r["spares"])
    return r | {"days": round(days, 2)}


def no_spares(nodes, work, price, save, back, check, repair):
    return changed(nodes, work, price, save, back, check, repair, spares=int(repair / (NODE_HOURS / nodes)))


def hourly_checks(nodes, work, price, save, back, check, repair):
    return changed(nodes, work, price, save, back, check, repair, hours=2.0)


def hourly_saves(nodes, work, price, save, back, check, repair):
    return changed(nodes, work, price, save, back, check, repair, interval=14400)


def undisturbed(nodes, work, price, save, back, check, repair):
    return best_record(nodes, work, price, save, back, check, repair) | {"days": float(work)}


SCENARIO = Exercise(
    id="measuring-scenario",
    title="Decide: forty days without a manager's call",
    points=4,
    lines=8,
    prompt="*“To whoever runs the cluster. {nodes} nodes of eight H100s train for {work} days of undisturbed work, "
    "at {price} dollars for each GPU and hour, spare nodes included. A checkpoint stops the run for {save} s; after "
    "a failure it takes {back} s until it goes on, from the last checkpoint. Broken nodes come back after {repair} "
    "hours in the mean; if more are broken than you keep aside, everybody waits. A test that finds silent errors "
    "stops the run for {check} s, and when it finds one, all work since the test before is thrown away. Tell me how "
    "often you save, how often you test, how many nodes you keep aside, and the days that I shall "
    "announce.”*\n\nNodes fail as Llama 3's were interrupted: 419 times in 54 days on 2,048 nodes, and 6 silent "
    "errors. Reckon so: the share of time that is no training is save/interval, half an interval and a restart for "
    "every failure, test/hours, and half the hours between tests for every silent error; shares add up. Broken "
    "nodes follow a Poisson law whose mean is the repair time over the time between failures, and in the share of "
    "the time in which it exceeds the spares nobody trains: the days are divided by what is left. The less the "
    "whole costs, the better. *Exact* for this model.",
    given=[
        dict(nodes=1024, work=40, price=2.5, save=40, back=540, check=600, repair=36),
        dict(nodes=2048, work=54, price=2.5, save=60, back=600, check=900, repair=24),
        dict(nodes=512, work=30, price=3.0, save=90, back=900, check=1200, repair=72),
    ],
    answer=Design(
        fields={
            "interval": Field("training between two checkpoints", 30, 86400, unit="s"),
            "hours": Field("time between two tests for silent errors", 0.5, 500, unit="h"),
            "spares": Field("nodes kept aside", 0, 80, whole=True),
            "days": Field("time that you announce", 1, 100000, unit="day"),
        },
        objective=bill,
        measure="the dollars of the whole run",
        unit="USD",
        priced=True,
        conditions=[
            Condition("your time over that of the model", over_model, at_most=1.01),
            Condition("your time over that of the model", over_model, at_least=0.99),
        ],
        pars=[
            Par(1, lambda best: 1.05 * best),
            Par(2, lambda best: 1.02 * best),
            Par(3, lambda best: 1.005 * best),
            Par(4, lambda best: 1.001 * best),
        ],
        known=[Known(best_bill, "two square roots and a search")],
    ),
    solution=best_record,
    mistakes=(
        Mistake(
            no_spares,
            "So many nodes are in repair in the mean. How often are there more, and who waits then?",
        ),
        Mistake(
            hourly_checks,
            "A test every two hours. What does it cost, and how often does it find anything?",
        ),
        Mistake(
            hourly_saves,
            "A checkpoint every four hours is cheap until the machine fails. How often does the whole machine fail?",
        ),
        Mistake(undisturbed, "Those are the days in which nothing happens. Which of them will happen?"),
    ),
    hints=(
        "The three decisions do not touch each other: each has its own pair of costs.",
        "A test every h hours costs check/h and loses h/2 for every silent error: which law is that?",
        "The last spare node is worth its rent if it saves more waiting than it costs: try the numbers.",
    ),
    explain="Saving and testing are the same problem twice: a cost in proportion to 1/x and a loss in proportion to "
    "x, so x is the square root of twice the cost times the mean time between the events, of failures for the one "
    "and of silent errors for the other. Spares are decided at the margin: one more costs its rent, 1/{nodes} of "
    "everything, and saves the share of the time in which exactly one node too many is in repair. The least of a "
    "sum of such terms is flat: 10 % beside the best interval costs half a per cent of what it decides about. What "
    "is not flat is the number of spares, on its low side.",
)
