"""Exercises of the section on drafts: what a published run accepted, and the batch that ends the gain."""

from autograder.answers import Expression, Quantity, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.specs import measured_decodes

_plain = measured_decodes("llama2-70b", tp=1, dtype="int4w")[0]
_draft = measured_decodes("llama2-7b", tp=1, dtype="int4w")[0]
_both = measured_decodes("llama2-70b", tp=1, dtype="int4w", drafts=4)[0]


def accepted(tokens, k):
    """The a for which 1 + a + … + a^k is so many tokens, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if sum(middle**i for i in range(k + 1)) < tokens:
            low = middle
        else:
            high = middle
    return low


ACCEPTED = Exercise(
    id="inference-accepted",
    title="What was accepted",
    points=2,
    prompt="A server decodes {plain} tokens a second for one request. With a draft model that alone decodes {draft} "
    "tokens a second it drafts {k} tokens one after another, checks them all in one step of the large model, which "
    "takes as long as a step of one token, and then decodes {both} tokens a second. Each draft is accepted with the "
    "same probability, whatever the others were; the first refusal ends a round, and each round adds one token of the "
    "large model's own. Which probability is that? *Exact* for this model. (The first row is published: gpt-fast, "
    "Llama 2 70B and 7B in int4, one A100.)",
    given=[
        dict(plain=round(1 / _plain.time, 2), draft=round(1 / _draft.time, 1), both=round(1 / _both.time, 1), k=4),
        dict(plain=31.0, draft=260.0, both=47.0, k=5),
        dict(plain=18.0, draft=120.0, both=36.0, k=3),
        dict(plain=40.0, draft=600.0, both=67.0, k=6),
    ],
    answer=Quantity("1", rtol=0.005),
    solution=lambda plain, draft, both, k: accepted(both / plain * (1 + k * plain / draft), k),
    mistakes=(
        Mistake(
            lambda plain, both, k: accepted(both / plain, k),
            "As if drafts were free. How long do they take, in steps of the large model?",
        ),
        Mistake(
            lambda plain, draft, both, k: both / plain * (1 + k * plain / draft) / (k + 1),
            "The mean tokens of a round, over the most there could be. One refusal takes the drafts behind it along.",
        ),
        Mistake(
            lambda plain, draft, both, k: (both / plain * (1 + k * plain / draft) - 1) / k,
            "The drafts that are kept, over those that are made: a mean over places, and a later place is reached "
            "less often.",
        ),
        Mistake(
            lambda plain, draft, both, k: accepted(both / plain * (1 + k * plain / draft), k - 1),
            "A round ends with a token of the large model itself: up to how many tokens are that?",
        ),
        Mistake(
            lambda plain, draft, both, k: accepted(both / plain * (1 + k * plain / draft), k + 1),
            "Your sum has a term too many: with k drafts, how many tokens does a round give at most?",
        ),
        Mistake(
            lambda plain, draft, both, k: 1 - 1 / (both / plain * (1 + k * plain / draft)),
            "1/(1 − a) is the sum for drafts without end. After how many does this server stop?",
        ),
        Mistake(
            lambda plain, draft, both, k: accepted(both / plain * (1 + k * plain / draft) + 1, k),
            "You count accepted drafts only. Which token comes out of a round in which the first is refused?",
        ),
        Mistake(
            lambda plain, draft, both, k: accepted(both / plain * (1 + (k + 1) * plain / draft), k),
            "Your round pays for a draft more than it makes. Which model gives the last token?",
        ),
        Mistake(
            lambda plain, draft, both, k: accepted(both / plain * (k * plain / draft), k),
            "The drafts' time is there, and the large model's own step is not.",
        ),
        Mistake(
            lambda plain, draft, both, k: accepted(both / plain * (1 + plain / draft), k),
            "A round makes more than one draft, and each takes its time.",
        ),
        Mistake(
            lambda plain, draft, both, k: accepted(both / plain * (2 + k * plain / draft), k),
            "Your round takes two steps of the large model. How many checks the drafts, and gives its own token?",
        ),
    ),
    hints=(
        "In units of a plain step a round takes 1 + k·(plain/draft). How many tokens does it give at the published "
        "rate?",
        "1 + a + a² + … + a^k is that number of tokens. Let a few lines find a.",
    ),
    explain="A draft costs c = {plain}/{draft} of a step, so a round of {k} takes `1 + k*c` steps, and at the measured "
    "rates it gives `both/plain*(1 + k*c)` tokens. Token i + 1 of a round needs i drafts accepted in a row, so the "
    "expected number is 1 + a + … + a^k, which grows with a and is solved by halving. Checking {k} + 1 tokens may "
    "take a little longer than one, and then the true probability is higher.",
)

BREAK_EVEN = Exercise(
    id="inference-drafts-batch",
    title="When drafts stop paying",
    points=3,
    prompt="A plain step takes the same time, call it 1, for any batch up to `B_crit` sequences. With drafts a round "
    "takes `k*c` for k drafts, and for checking k + 1 tokens of each of `B` sequences the larger of 1 and "
    "(k + 1)·B/B_crit. A round gives 1 + a + … + a^k tokens of each sequence, a being the probability that a draft is "
    "accepted. There is a batch between B_crit/(k + 1) and B_crit from which on drafts lose. Which? *Exact*, as a real "
    "number; caches take no time.",
    answer=Expression(
        {
            "a": positive("1", 0.3, 0.9),
            "k": integers(1, 8),
            "c": positive("1", 0.001, 0.03),
            "B_crit": positive("1", 100, 600),
        },
    ),
    solution=lambda a, k, c, B_crit: B_crit * ((1 - a ** (k + 1)) / (1 - a) - k * c) / (k + 1),
    mistakes=(
        Mistake(
            lambda a, k, c, B_crit: B_crit * ((1 - a ** (k + 1)) / (1 - a)) / (k + 1),
            "Right if drafts took no time.",
        ),
        Mistake(
            lambda a, k, c, B_crit: B_crit * (1 / (1 - a) - k * c) / (k + 1),
            "Your powers of a have no end, as if drafts were made until one is refused. How many are made?",
        ),
        Mistake(
            lambda a, k, c, B_crit: B_crit * ((1 - a ** (k + 1)) / (1 - a) - (k + 1) * c) / (k + 1),
            "As many tokens are checked, but not as many are drafted: which of them needs no draft?",
        ),
        Mistake(
            lambda a, k, c, B_crit: B_crit / (k + 1),
            "There checking begins to cost time. Does the gain end at once?",
        ),
        Mistake(
            lambda a, k, c, B_crit: B_crit * ((1 - a**k) / (1 - a) - k * c) / (k + 1),
            "The large model adds a token of its own to every round: the sum has one more term.",
        ),
        Mistake(
            lambda a, k, c, B_crit: B_crit * (k * a + 1 - k * c) / (k + 1),
            "A refusal ends the round: the second draft counts only if the first was accepted.",
        ),
        Mistake(
            lambda a, k, c, B_crit: B_crit * ((1 - a ** (k + 1)) / (1 - a) + k * c) / (k + 1),
            "The drafts' time is on the wrong side: does it make drafts pay longer?",
        ),
        Mistake(
            lambda a, k, c, B_crit: B_crit * ((1 - a ** (k + 1)) / (1 - a) - k * c) / k,
            "How many tokens of a sequence are checked, with the one that the step starts from?",
        ),
        Mistake(
            lambda a, k, c, B_crit: B_crit * ((1 - a ** (k + 1)) / (1 - a) - c) / (k + 1),
            "One draft's time. How many are made in a round?",
        ),
        Mistake(
            lambda a, k, c, B_crit: B_crit * ((1 - a ** (k + 1)) / (1 - a)) / ((k + 1) * (1 + k * c)),
            "As if the drafts were a share of checking. Their time is fixed here, in units of a plain step.",
        ),
    ),
    hints=(
        "Drafts pay while the tokens of a round exceed its time in plain steps. Which of the two sides of the maximum "
        "holds there?",
        "Set k·c + (k + 1)·B/B_crit equal to the tokens of a round.",
    ),
    explain="A round gives `T = (1 - a**(k + 1))/(1 - a)` tokens in `k*c + (k + 1)*B/B_crit` plain steps; a plain step "
    "gives one token in 1. They are equal at `B = B_crit*(T - k*c)/(k + 1)`. Since T is at most k + 1, that lies below "
    "B_crit: the batch has used up the arithmetic that drafts live on. Longer caches raise the bound, since each round "
    "reads them once for several tokens.",
)
