"""Exercises of chapter 16, and the names with which its text computes numbers."""

from autograder.answers import Choice, Expression, Quantity, Written, positive
from autograder.declaration import Exercise, Mistake
from hwlib.network import send_time
from hwlib.specs import links
from hwlib.units import GB, MB, show, us  # noqa: F401  (the text uses show)

LINK = links["nvlink4"]

# A first section. TODO: every exercise here is an example; the chapter's own take their place.
PREDICT = Exercise(
    id="serving-predict",
    title="Predict: two messages",
    predict=True,
    prompt="A buffer crosses a link in two messages of half the size, one after the other. "
    "How long does it take, compared with one message? *To first order*, for a small buffer.",
    answer=Choice({"same": "as long", "longer": "nearly twice as long", "shorter": "half as long"}),
    solution="longer",
    mistakes=(
        Mistake("same", "The bytes take as long. What else does each message wait for?"),
        Mistake("shorter", "The second message starts after the first. What do they share?"),
    ),
    hints=("What of a message's time does not depend on its size?",),
)

TIME = Exercise(
    id="serving-time",
    title="One message",
    prompt="A message of {S:B} crosses a link of {W:B/s} with a latency of {alpha:s}. "
    "How long does it take, *exactly*?",
    given=dict(S=[64 * MB, 8 * MB, 512 * MB], W=[25 * GB, 50 * GB], alpha=[2 * us, 5 * us]),
    answer=Quantity("s"),
    solution=lambda S, alpha, W: send_time(S, alpha, W),
    mistakes=(
        Mistake(lambda S, W: 2 * S / W, "You counted both directions. In how many does a message travel?"),
        Mistake(lambda S, W: W / S, "That is upside down: its unit is 1/s."),
    ),
    hints=("Bytes over bytes per second, and the latency.",),
)

RESENT = Exercise(
    id="serving-resent",
    title="Half of it twice",
    points=2,
    prompt="A buffer of `S` bytes crosses a link of bandwidth `W` and latency `alpha` in two equal messages, one after "
    "the other. The second one is split on the way: its bytes cross the link twice, at the cost of one latency. "
    "How long do both take, *exactly*?",
    answer=Expression({"alpha": positive("s", 1e-7, 1e-4), "S": positive("B"), "W": positive("B/s")}, "s"),
    solution=lambda alpha, S, W: 2 * alpha + 3 * S / (2 * W),
    mistakes=(
        Mistake(lambda alpha, S, W: 2 * alpha + S / W, "Every byte crosses once here. Which half crosses again?"),
        Mistake(lambda alpha, S, W: alpha + 3 * S / (2 * W), "Each of the messages waits. How many are there?"),
    ),
    hints=("Write one message's time, then the other's, and add them.",),
)

WHY = Exercise(
    id="serving-written-why",
    title="In words",
    prompt="TODO: a question whose answer no program can judge: a recommendation, a derivation, a design.",
    answer=Written(rubric=(("TODO: names what decides.", 1), ("TODO: gives a measurement.", 2)), words=120),
    solution="TODO: the model answer, which the book shows.",
)
