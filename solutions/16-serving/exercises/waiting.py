"""Exercises of the section on queues."""

from autograder.answers import Choice, Expression, positive
from autograder.declaration import Exercise, Mistake

PREDICT_LOAD = Exercise(
    id="serving-predict-load",
    title="Predict: half as much again",
    prompt="Requests arrive at random at one server, which is busy 60 % of the time. By noon half as many again "
    "arrive, and it is busy 90 % of the time. By which factor does the mean time in the queue grow? *To first order*.",
    answer=Choice(
        {
            "half": "1.5",
            "four": "4",
            "six": "6",
            "sixty": "60",
        },
        ordered=True,
    ),
    predict=True,
    solution="six",
    mistakes=(
        Mistake("half", "That is how much more comes. What happens to the time in which the server is free?"),
        Mistake("four", "The free time shrinks by four. By how much does the number of those who wait for it grow?"),
        Mistake("sixty", "The wait has a pole at 100 %, and 90 % is not that near."),
    ),
    hints=("Two things change: how many come, and how much of the time is left to work off a queue.",),
    explain="The wait is proportional to load/(1 - load), whatever the service: 1.5 at 60 % and 9 at 90 %.",
)

TWO_KINDS = Exercise(
    id="serving-two-kinds",
    title="A few long ones",
    points=3,
    prompt="`R` requests a second arrive at random at one server, first come, first served. Of them a share `p` is "
    "long: it takes `m` times the time `t` that all others take. How long does a request wait in the queue, at the "
    "mean? *Exact*.",
    answer=Expression(
        {
            "R": positive("1/s", 0.01, 0.1),
            "p": positive("1", 0.01, 0.5),
            "m": positive("1", 2, 10),
            "t": positive("s", 0.1, 0.9),
        },
        "s",
    ),
    solution=lambda R, p, m, t: R * t**2 * (1 - p + p * m**2) / (2 * (1 - R * t * (1 - p + p * m))),
    mistakes=(
        Mistake(
            lambda R, p, m, t: R * t**2 * (1 - p + p * m) ** 2 / (2 * (1 - R * t * (1 - p + p * m))),
            "That is the wait if all requests took the mean. Whom does an arrival find in service: a request as often "
            "as it comes, or as long as it takes?",
        ),
        Mistake(
            lambda R, p, m, t: R * t**2 * (1 - p + p * m) ** 2 / (1 - R * t * (1 - p + p * m)),
            "That is M/M/1: a variation of 1. What is the variation of two kinds?",
        ),
        Mistake(
            lambda R, p, m, t: R * t**2 * (1 - p + p * m**2) / (1 - R * t * (1 - p + p * m)),
            "The mean square is right. How much of the request in service is left when somebody comes?",
        ),
        Mistake(
            lambda R, p, m, t: R * t**2 * (1 - p + p * m**2) / 2,
            "That is the rest of the request in service. Who else stands before an arrival?",
        ),
        Mistake(
            lambda R, p, m, t: R * t**2 * (p + (1 - p) * m**2) / (2 * (1 - R * t * (p + (1 - p) * m))),
            "Your long requests are a share of 1 - p. Which ones are a share of p?",
        ),
        Mistake(
            lambda R, p, m, t: R * t**2 * (1 - p + (p * m) ** 2) / (2 * (1 - R * t * (1 - p + p * m))),
            "The square belongs to the time of a long request, not to how often one comes.",
        ),
        Mistake(
            lambda R, p, m, t: (
                R * t**2 * (1 - p + p * m**2) / (2 * (1 - R * t * (1 - p + p * m))) + t * (1 - p + p * m)
            ),
            "You have added the request's own service. The question is about the queue.",
        ),
    ),
    hints=(
        "The wait is load/(1 - load) times what is left of the request in service.",
        "`t_srv*(1 + cv2)` is the mean of the squares over the mean. What are both for two kinds?",
    ),
    explain="The mean time is `t*(1 - p + p*m)`, the mean of its square `t**2*(1 - p + p*m**2)`. Pollaczek and "
    "Khinchine: an arrival finds the server busy a share `R*t*(1 - p + p*m)` of the time, and what is then left is "
    "the mean square over twice the mean, so the product is `R*t**2*(1 - p + p*m**2)/2`. All who stand before it "
    "multiply that by 1/(1 - load). The share p counts once and m twice: one request in a hundred that takes a "
    "hundred times as long doubles the load, and multiplies the rest of the request in service by fifty.",
)

OBJECTIVE = Exercise(
    id="serving-objective",
    title="The rate that a promise allows",
    points=2,
    prompt="Prompts of equal length are read one after the other, each in the time `t`, and arrive at random. The mean "
    "time to the first token, waiting and reading together, is to be `s`. How many requests a second may arrive? "
    "*Exact*.",
    answer=Expression({"t": positive("s", 0.01, 1), "s": positive("s", 1.5, 20)}, "1/s"),
    solution=lambda t, s: 2 * (s - t) / (t * (2 * s - t)),
    mistakes=(
        Mistake(
            lambda t, s: 1 / t - 1 / s,
            "That holds for service times that vary as much as an exponential distribution. Here all are alike.",
        ),
        Mistake(
            lambda t, s: 2 * s / (t * (t + 2 * s)),
            "You have given the whole time to the queue. What does the prompt itself take of it?",
        ),
        Mistake(lambda t, s: 2 * (s - t) / (2 * s - t), "That is the load. How many requests a second are that?"),
        Mistake(
            lambda t, s: 2 * (s - t) / t**2,
            "Does the queue get no longer with its own length? A factor of 1/(1 - load) is missing.",
        ),
    ),
    hints=(
        "The wait is `R*t**2/(2*(1 - R*t))`.",
        "Set `t` and that wait equal to `s`, and solve for R: it is linear once you multiply by 1 - R·t.",
    ),
    explain="`R*t**2/(2*(1 - R*t)) = s - t`. Multiply by `2*(1 - R*t)`: `R*t**2 = 2*(s - t) - 2*R*t*(s - t)`, so "
    "`R*t*(t + 2*s - 2*t) = 2*(s - t)`, and R = 2(s - t)/(t(2s - t)). A promise of ten times t leaves a load of "
    "18/19; one of twice t leaves 2/3, and one of t leaves nothing.",
)
