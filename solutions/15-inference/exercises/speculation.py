"""Lab on speculative decoding: which drafts a step keeps, and what it samples itself."""

from functools import partial
from itertools import accumulate

from autograder.answers import Function
from autograder.declaration import Exercise, Mistake


def speculate(p, q, drafts, u):
    for i, x in enumerate(drafts):
        if u[i] * q[i][x] >= p[i][x]:
            left = [max(a - b, 0) for a, b in zip(p[i], q[i], strict=True)]
            break
    else:
        i, left = len(drafts), p[-1]
    sums = list(accumulate(left))
    return [*drafts[:i], next(x for x, total in enumerate(sums) if total > u[-1] * sums[-1])]


def _speculate(
    p,
    q,
    drafts,
    u,
    *,
    accept="ratio",
    residual="difference",
    bonus=True,
    goes_on=False,
    again=False,
    normalised=True,
    shifted=False,
    own=False,
    both=False,
    following=False,
    greedy=False,
    reaches=False,
):
    """The step with a slip: another rule of acceptance, another distribution, other tokens."""
    rules = {
        "ratio": lambda a, b, u: u * b < a,
        "larger": lambda a, b, _: a > b,
        "target": lambda a, _, u: u < a,
        "upside down": lambda a, b, u: u * a < b,
        "half": lambda a, b, _: 2 * a > b,
        "equal": lambda a, b, u: u * b <= a,
    }
    ways = {
        "difference": lambda a, b: max(a - b, 0),
        "target": lambda a, _: a,
        "draft": lambda _, b: b,
        "either": lambda a, b: abs(a - b),
        "turned": lambda a, b: max(b - a, 0),
    }
    kept, rejected = [], None
    for i, x in enumerate(drafts):
        j = min(i + 1, len(p) - 1) if shifted else i
        if rules[accept](p[j][x], q[i][x], u[i]):
            kept.append(x)
        elif rejected is None:
            rejected = i
            if not goes_on:
                break
    r = u[-1] if not (again or following) or rejected is None else u[rejected + following]
    if rejected is None:
        if not bonus:
            return kept
        left = p[-2 if own and len(p) > 1 else -1]
    else:
        if residual == "others":
            left = [a * (x != drafts[rejected]) for x, a in enumerate(p[rejected])]
        else:
            left = [ways[residual](a, b) for a, b in zip(p[rejected], q[rejected], strict=True)]
    sums = list(accumulate(left))
    whole = sums[-1] if normalised else 1
    found = (x for x, total in enumerate(sums) if total > r * whole or (reaches and total == r * whole))
    sampled = next(found, len(sums) - 1)
    if greedy:
        sampled = left.index(max(left))
    if both and rejected is not None:
        return [*kept, drafts[rejected], sampled]
    return [*kept, sampled]


def _distribution(rng, size):
    """Positive numbers that add up to 1; now and then some of them are 0."""
    drawn = [rng.random() ** 3 + 0.01 for _ in range(size)]
    for x in range(1, size):
        drawn[x] *= rng.random() > 0.15
    whole = sum(drawn)
    return [one / whole for one in drawn]


def speculation_cases(rng):
    """Steps of 0 to 5 drafts: each is drawn from the draft's distribution, which is near the model's or far from it."""
    cases = [
        ([[0.0, 0.25, 0.75]], [], [], [0.0]),
        ([[0.0, 0.5, 0.5], [0.5, 0.25, 0.25]], [[0.25, 0.25, 0.5]], [0], [0.0, 0.5]),
    ]
    for last in (0.3, 0.6, 0.75, 0.9):  # after a refusal, when several tokens could come
        p = [[0.375, 0.25, 0.125, 0.25], [0.25, 0.25, 0.25, 0.25]]
        cases.append((p, [[0.25, 0.125, 0.5, 0.125]], [2], [0.5, last]))
        cases.append((p, [[0.125, 0.5, 0.125, 0.25]], [1], [0.75, last]))
    for count in (0, 1, 1, 2, 3, 5) * 15:
        size = rng.randint(2, 6)
        p = [_distribution(rng, size) for _ in range(count + 1)]
        far = rng.random()
        q = [[(1 - far) * a + far * b for a, b in zip(one, _distribution(rng, size), strict=True)] for one in p[:-1]]
        drafts = [rng.choices(range(size), one)[0] for one in q]
        cases.append((p, q, drafts, [rng.random() for _ in range(count + 1)]))
    return cases


LAB_SPECULATIVE = Exercise(
    id="inference-lab-speculative",
    title="Lab: drafts that leave no trace",
    points=4,
    lines=9,
    prompt="A small model has drafted tokens, the large one has checked them all in one step, and what comes out is "
    "to be distributed exactly as if the large one had sampled every token itself. Write `speculate(p, q, drafts, "
    "u)`: `drafts` are k tokens, whole numbers from 0 on; `q[i]` is the distribution from which draft i was drawn, a "
    "list over the vocabulary, and `p[i]` that of the large model at the same place; `p` has one more, after the last "
    "draft. `u` are k + 1 independent uniform numbers from 0 to 1. Keep draft i with the probability min(1, p/q) of "
    "its token, where `u[i]` below it means to keep; after the last one that is kept comes one token of the large "
    "model's, sampled with `u[-1]`: the first token at which the running sum of its distribution exceeds `u[-1]`. "
    "Return the list of all tokens of the step. *Exact*.",
    answer=Function(
        "speculate",
        "speculate(p, q, drafts, u)",
        cases=speculation_cases,
        mutants={"there may be no draft": lambda p, q, drafts, u: len(q[0]) and speculate(p, q, drafts, u)},
    ),
    solution=speculate,
    mistakes=(
        Mistake(
            partial(_speculate, accept="larger"),
            "You keep a draft only where the large model finds it likelier than the small one does. A token that it "
            "finds half as likely is to be kept half of the time.",
        ),
        Mistake(
            partial(_speculate, accept="target"),
            "You keep a draft with the probability that the large model gives it. It was drawn with the probability q "
            "already: how often does it come out then?",
        ),
        Mistake(
            partial(_speculate, accept="upside down"),
            "The ratio is upside down. Where p is 0, what is kept?",
            name="upside-down",
        ),
        Mistake(
            partial(_speculate, accept="half"), "Whether a draft is kept is a matter of chance: which number decides?"
        ),
        Mistake(
            partial(_speculate, residual="target"),
            "After a rejection you sample from p. But tokens where q is small have come out as drafts already: of "
            "which tokens are there too few so far, and by how much?",
        ),
        Mistake(
            partial(_speculate, residual="draft"),
            "After a rejection you sample from the small model's distribution. Whose is the token to be?",
        ),
        Mistake(
            partial(_speculate, residual="either"),
            "Where q exceeds p the drafts have given too many of a token already. How many more are needed of it?",
        ),
        Mistake(
            partial(_speculate, residual="turned"),
            "You sample among the tokens of which the drafts have given too many. Which are missing?",
        ),
        Mistake(
            partial(_speculate, residual="others"),
            "You strike out the refused token and keep the rest of p as it is. Other tokens have come out as drafts "
            "as well: has each of them lost nothing by that?",
        ),
        Mistake(
            partial(_speculate, accept="equal"),
            "You keep a draft where `u` is equal to the probability, too. With both 0, that is a token which the "
            "large model never gives.",
        ),
        Mistake(
            partial(_speculate, reaches=True),
            "Your running sum need only reach the number. Where `u[-1]` is 0, which token does that give?",
        ),
        Mistake(
            partial(_speculate, normalised=False),
            "What is left of p after the subtraction does not add up to 1. With which number is its running sum to be "
            "compared?",
        ),
        Mistake(
            partial(_speculate, bonus=False),
            "Where all drafts are kept the step has one more distribution of the large model. Is it used?",
        ),
        Mistake(
            partial(_speculate, own=True),
            "Where all drafts are kept you sample from the distribution of the last draft's place again. Which one is "
            "behind it?",
        ),
        Mistake(
            partial(_speculate, goes_on=True),
            "You keep drafts behind the first one that was rejected. On which tokens do their distributions depend?",
        ),
        Mistake(
            partial(_speculate, both=True),
            "The rejected draft is among your tokens. What takes its place?",
        ),
        Mistake(
            partial(_speculate, again=True),
            "You sample with the number that has just rejected a draft, and of which it is known that it is large. "
            "Which one is still independent?",
        ),
        Mistake(
            partial(_speculate, following=True),
            "You sample with the number behind the one that has rejected. It is independent as well, and the "
            "distribution would be right; to compare with, everybody takes `u[-1]`.",
        ),
        Mistake(
            partial(_speculate, greedy=True),
            "You take the likeliest token of what is left. It is to be sampled: which number says where?",
        ),
        Mistake(
            partial(_speculate, shifted=True),
            "Draft i is compared with the distribution behind it. Which one was it drawn in place of?",
        ),
    ),
    hints=(
        "Go through the drafts in order, and stop at the first one that is not kept. `u[i]*q[i][x] < p[i][x]` needs "
        "no division.",
        "A kept draft is token x with probability q·min(1, p/q) = min(q, p). How much of p is then missing, token by "
        "token?",
        "`itertools.accumulate` gives running sums. Dividing what is left by its sum, or multiplying u by it, is the "
        "same.",
    ),
    explain="Draft i is drawn with probability q(x) and kept with min(1, p(x)/q(x)), so token x comes out that way "
    "with min(q(x), p(x)). What is missing of p(x) is max(p(x) − q(x), 0), and the sum of that over all tokens is "
    "just the probability of a rejection: sampled from the rest, normalised, each token gets exactly what it lacks. "
    "Behind a rejection the drafts stand on a token that is not there, and are worth nothing. If all are kept, the "
    "step has computed one distribution more, and a token of it costs nothing. So a step gives between 1 and k + 1 "
    "tokens, and nobody can tell from them that there was a draft.",
)
