"""Exercises of the section on routers: what chance does, what a loss pushes, what a capacity drops."""

from math import floor

from autograder.answers import Choice, Expression, Function, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.parallel import expert_capacity  # noqa: F401  (the text uses it)

PREDICT_CHANCE = Exercise(
    id="expert-parallelism-predict-chance",
    title="Predict: a router without preferences",
    predict=True,
    prompt="256 experts lie on 32 ranks, eight on each. A router without any preference sends every token to 8 of "
    "them, drawn by lot. A step of decoding has 4 tokens on each rank. How much does the busiest rank get, on average "
    "over many steps, *to first order*?",
    answer=Choice(
        {
            "even": "the mean, within a per cent: the router is even",
            "little": "some 5 % more than the mean",
            "much": "some 40 % more than the mean",
            "triple": "about three times the mean",
        },
        ordered=True,
    ),
    solution="much",
    mistakes=(
        Mistake(
            "even",
            "Even in the long run. How many tokens does a rank get in one step, and how far do such counts scatter?",
        ),
        Mistake(
            "little", "So it is with a hundred tokens on each rank. The mean here is 32: how large is its square root?"
        ),
        Mistake("triple", "That is many standard deviations of a count of 32, even for the busiest of 32 ranks."),
    ),
    hints=("A rank gets 32 of the 1,024 choices on average. By how much does a number of that size vary?",),
    explain="A rank's load is a count with mean 4·8 = 32 and standard deviation of about √32 = 5.7, some 18 %. The "
    "largest of 32 such counts lies about two standard deviations above the mean: nearly 40 %.",
)

AUX_LOSS = Exercise(
    id="expert-parallelism-aux-loss",
    title="What the auxiliary loss sees",
    points=2,
    prompt="The auxiliary loss of *Switch Transformers*, without its factor α, is E·Σ f_i·P_i over the `E` experts, "
    "each token going to one of them: "
    "f_i is the share of the tokens that expert i gets, P_i the mean of the probabilities that the router gives it. "
    "One expert gets a share `f` of the tokens, with mean probability `P`; the others share the rest "
    "of both evenly. By how much does this loss exceed its value for even routing? *Exact*.",
    answer=Expression(
        {"E": integers(4, 512), "f": positive("1", 0.01, 0.9), "P": positive("1", 0.01, 0.9)},
    ),
    solution=lambda E, f, P: (E * f - 1) * (E * P - 1) / (E - 1),
    mistakes=(
        Mistake(
            lambda E, f, P: E * (f * P + (1 - f) * (1 - P) / (E - 1)),
            "That is the loss itself. What is it where every share is 1/E?",
        ),
        Mistake(
            lambda E, f, P: E * f * P,
            "That is the term of the one expert. What do the others add, and how large is the loss of even routing?",
        ),
        Mistake(
            lambda E, f, P: (E * f - 1) * (E * P - 1) / E,
            "The product of the two deviations is right. Among how many others is the rest divided?",
        ),
        Mistake(lambda E, f, P: E * f * P - 1, "The other experts have shares and probabilities too."),
        Mistake(
            lambda E, f, P: E * (f * P + (1 - f) * (1 - P)) - 1,
            "The rest is divided among E − 1 experts, in shares and in probabilities: how large is each product, and "
            "how "
            "many are there?",
        ),
        Mistake(
            lambda E, f, P: E * (f * P + (1 - f) * (1 - P) / (E - 1) ** 2) - 1,
            "That is one of the others. How many are there?",
        ),
        Mistake(
            lambda E, f, P: f * P + (1 - f) * (1 - P) / (E - 1) - 1 / E,
            "The factor E in front is missing.",
        ),
        Mistake(
            lambda E, f, P: E * (f * P + (1 - f) * (1 - P) / E) - 1,
            "How many experts share the rest?",
        ),
        Mistake(
            lambda E, f, P: E * (f * P + (1 - f) * (1 - P) / (E - 1)) - E,
            "For even routing each of the E terms is 1/E². What is E times their sum?",
        ),
    ),
    hints=(
        "Write the sum as the term of the one expert and E − 1 equal terms of the others.",
        "For even routing f_i = P_i = 1/E.",
    ),
    explain="The one expert adds `f*P`; the E − 1 others `(1 - f)/(E - 1)*(1 - P)/(E - 1)` each, together `(1 - f)*(1 "
    "- "
    "P)/(E - 1)`. Even routing has `E*E/E**2 = 1`. So the excess is `E*(f*P + (1 - f)*(1 - P)/(E - 1)) - 1`, which is "
    "`(E*f - 1)*(E*P - 1)/(E - 1)`: a product of two deviations. The counts f have no gradient; the loss pushes P "
    "down in proportion to how far f is too large.",
)


def room_used(loads, headroom):
    """The share of the tokens that find no room, and the share of the room that no token fills."""
    room = floor(headroom * sum(loads) / len(loads))
    kept = sum(min(load, room) for load in loads)
    return [1 - kept / sum(loads), 1 - kept / (room * len(loads))]


def padded_of_tokens(loads, headroom):
    room = floor(headroom * sum(loads) / len(loads))
    return [room_used(loads, headroom)[0], sum(max(room - load, 0) for load in loads) / sum(loads)]


def experts_over(loads, headroom):
    room = floor(headroom * sum(loads) / len(loads))
    return [sum(load > room for load in loads) / len(loads), room_used(loads, headroom)[1]]


def of_the_mean(loads, headroom):  # noqa: ARG001  (the learner's signature)
    return room_used(loads, 1.0)


def to_nearest(loads, headroom):
    room = floor(headroom * sum(loads) / len(loads) + 0.5)
    kept = sum(min(load, room) for load in loads)
    return [1 - kept / sum(loads), 1 - kept / (room * len(loads))]


def mean_rounded(loads, headroom):
    """The mean is rounded down before the capacity factor, and again after it."""
    room = floor(headroom * (sum(loads) // len(loads)))
    kept = sum(min(load, room) for load in loads)
    return [1 - kept / sum(loads), 1 - kept / (room * len(loads))]


def broken(loads, headroom):
    """The room is not rounded."""
    room = headroom * sum(loads) / len(loads)
    kept = sum(min(load, room) for load in loads)
    return [1 - kept / sum(loads), 1 - kept / (room * len(loads))]


def of_used(loads, headroom):
    """The experts that no token goes to are left out."""
    return room_used([load for load in loads if load], headroom)


def rounded_up(loads, headroom):
    room = -floor(-headroom * sum(loads) / len(loads))
    kept = sum(min(load, room) for load in loads)
    return [1 - kept / sum(loads), 1 - kept / (room * len(loads))]


def given_on(loads, headroom):
    """What finds no room goes to experts that have some."""
    room = floor(headroom * sum(loads) / len(loads))
    kept = min(sum(loads), room * len(loads))
    return [1 - kept / sum(loads), 1 - kept / (room * len(loads))]


def of_the_busiest(loads, headroom):
    room = floor(headroom * max(loads))
    kept = sum(min(load, room) for load in loads)
    return [1 - kept / sum(loads), 1 - kept / (room * len(loads))]


def load_cases(rng):
    found = [([3, 1], 1.0), ([12, 9, 3, 8], 1.2), ([7], 1.5), ([5, 0, 8, 2, 0], 1.0), ([2, 2, 2], 1.25)]
    found += [
        ([rng.randint(3, 40) + rng.randint(0, 1) * 37 for _ in range(experts)], headroom)
        for experts in (4, 8, 16)
        for headroom in (1.0, 1.25, 1.5, 2.0)
    ]
    return found


CAPACITY = Exercise(
    id="expert-parallelism-capacity",
    title="Dropped and padded",
    points=2,
    lines=3,
    prompt="Write `room_used(loads, headroom)`. `loads` are the tokens that the router gives each expert in a step. "
    "Every expert computes on as many rows: `headroom`, the capacity factor, times the mean load, rounded down. "
    "Tokens beyond that are dropped, and rows without a token are padded with zeros. Return a list of two shares: of "
    "all tokens, those that are dropped; of all rows, those that are padding. *Exact*.",
    answer=Function("room_used", "room_used(loads, headroom)", cases=load_cases),
    solution=room_used,
    mistakes=(
        Mistake(padded_of_tokens, "The first share is right. Of which whole is the second one a share?"),
        Mistake(experts_over, "The second share is right. The first one is a share of the tokens, not of the experts."),
        Mistake(of_the_mean, "That is the room for a capacity factor of one."),
        Mistake(rounded_up, "The room is rounded down: half a row is of no use.", name="rounded"),
        Mistake(to_nearest, "You round the room to the nearest whole number. Which way is it rounded?", name="rounded"),
        Mistake(broken, "Your experts compute on a part of a row. What becomes of it?", name="rounded"),
        Mistake(
            mean_rounded,
            "You round the mean before the capacity factor multiplies it. What was to be rounded?",
            name="rounded",
        ),
        Mistake(of_used, "Experts without a token are missing from your mean. On how many rows do they compute?"),
        Mistake(given_on, "A token goes to the expert that its router chose. Another's room is of no use to it."),
        Mistake(
            of_the_busiest,
            "The capacity factor multiplies the mean load, not that of the busiest expert.",
            name="mean-for-slowest",
        ),
    ),
    hints=(
        "How many rows has an expert? It keeps the smaller of that and its load.",
        "From the tokens that are kept both shares follow: of all tokens, and of all rows.",
    ),
    explain="An expert has `floor(headroom*mean)` rows and keeps the smaller of that and its load. What all experts "
    "keep, over all tokens, is one minus the share dropped; over all rows, it is one minus the share of padding. More "
    "headroom moves the loss from the first to the second: it drops less and computes on more zeros.",
)
