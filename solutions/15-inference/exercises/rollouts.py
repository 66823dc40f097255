"""The exercise on the long tail of rollouts."""

from autograder.answers import Function
from autograder.declaration import Exercise, Mistake


def rollout_time(lengths, t_step, t_token, prompt):
    total = 0.0
    for i in range(max(lengths)):
        active = sum(length > i for length in lengths)
        total += t_step + t_token * active * (prompt + i)
    return total


def never_leaves(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token * len(lengths) * (prompt + i) for i in range(max(lengths)))


def no_growth(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token * prompt * sum(n > i for n in lengths) for i in range(max(lengths)))


def one_by_one(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token * (prompt + i) for length in lengths for i in range(length))


def mean_length(lengths, t_step, t_token, prompt):
    steps = round(sum(lengths) / len(lengths))
    return sum(t_step + t_token * len(lengths) * (prompt + i) for i in range(steps))


def no_prompt(lengths, t_step, t_token, prompt):  # noqa: ARG001
    return sum(t_step + t_token * i * sum(n > i for n in lengths) for i in range(max(lengths)))


def one_more(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token * (prompt + i + 1) * sum(n > i for n in lengths) for i in range(max(lengths)))


def late_leaving(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token * (prompt + i) * sum(n >= i for n in lengths) for i in range(max(lengths)))


def last_listed(lengths, t_step, t_token, prompt):
    steps = range(lengths[-1])
    return sum(t_step + t_token * (prompt + i) * sum(n > i for n in lengths) for i in steps)


def first_unpaid(lengths, t_step, t_token, prompt):
    """The first token is taken for a result of the prompt, before step 0."""
    return rollout_time(lengths, t_step, t_token, prompt) - t_step - t_token * prompt * len(lengths)


def drawn(random):
    return [
        (
            [random.randint(1, 40) for _ in range(random.randint(2, 8))],
            random.uniform(1e-3, 1e-2),
            random.uniform(1e-6, 1e-5),
            random.randint(2, 60),
        )
        for _ in range(3)
    ]


ROLLOUT = Exercise(
    id="inference-rollout",
    title="The last one sets the time",
    points=2,
    lines=5,
    prompt="Rollouts of reinforcement learning start together, with prompts of `prompt` tokens that have "
    "been read, and "
    "are to give `lengths[j]` tokens each. All that still run get one token in a step. Step i (from 0 on) takes "
    "`t_step` and, for each sequence that takes part in it, `t_token` for each token in its cache: its prompt and the "
    "i tokens that it has. A sequence that has all its tokens leaves, and nobody takes its place. Return the seconds "
    "until the last has ended. *Exact*.",
    answer=Function(
        "rollout_time",
        signature="rollout_time(lengths, t_step, t_token, prompt)",
        cases=[
            ([1], 0.01, 1e-5, 1),
            ([3, 3, 3], 0.01, 1e-4, 7),
            ([1, 2, 50], 0.005, 1e-5, 100),
            ([10, 20, 30, 200], 0.004, 2e-6, 13),
            ([5, 1, 40, 2, 2, 9], 0.006, 1e-4, 3),
        ],
        drawn=drawn,
        unit="s",
        units={"lengths": "1", "t_step": "s", "t_token": "s", "prompt": "1"},
    ),
    solution=rollout_time,
    mistakes=(
        Mistake(never_leaves, "Sequences that have ended still cost you time. Who is read in step i?"),
        Mistake(no_growth, "The caches grow by a token with every step."),
        Mistake(
            one_by_one,
            "That is one sequence after the other, or each paying `t_step` for itself. They share their steps.",
        ),
        Mistake(mean_length, "The mean length does not end the batch. How many steps are there?"),
        Mistake(no_prompt, "The prompt is in the cache, too."),
        Mistake(one_more, "In step 0 a cache holds the prompt, and no token yet."),
        Mistake(last_listed, "You count the steps of the last sequence of the list. Which one ends last?"),
        Mistake(first_unpaid, "Step 0 is missing from your sum. Which tokens does it give?"),
        Mistake(late_leaving, "A sequence of one token takes part in step 0 only: it stays a step too long with you."),
    ),
    hints=(
        "How many steps are there, and which sequences take part in step i?",
        "Step i: `t_step + t_token*active*(prompt + i)`, with active those whose length is above i.",
    ),
    explain="The longest answer decides the number of steps. In step i the sequences with more than i tokens to give "
    "take part, and each reads `prompt + i` tokens of cache. The weights' part `t_step` is paid in full while one "
    "sequence is left: the tail costs as much a step as the whole batch did, and gives one token for it.",
)
