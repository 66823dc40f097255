"""The question of the opening again: which remedy, and the ticket."""

from autograder.answers import Choice, Written
from autograder.declaration import Exercise, Mistake

PREDICT_REMEDY = Exercise(
    id="serving-predict-remedy",
    title="Predict: one change",
    prompt="Back to the opening: one node reads prompts, first come, first served, and is busy 60 % of the time. Look "
    "at the *shorter half* of the prompts, none of which takes longer than 0.17 s. Which change brings their p99 "
    "down most? *To first order*.",
    answer=Choice(
        {
            "two": "a second node, and every other request goes there",
            "short": "the shortest prompt that waits is always next",
            "turn": "prompts are read in chunks, in turn",
            "hits": "a cache that finds 37 % of each prompt",
        }
    ),
    predict=True,
    solution="turn",
    mistakes=(
        Mistake("two", "Half the load. On whom does a short prompt wait that meets a long one?"),
        Mistake("short", "It overtakes those who wait. Does it overtake the one in service?"),
        Mistake("hits", "Everything is shorter, and the long ones are still before the short ones."),
    ),
    hints=("The tail of the short prompts is made of long prompts that are being read when they come.",),
    explain="A short prompt waits long where a long one is in service. Only chunks in turn interrupt it: then a short "
    "prompt is done after a few chunks, whatever else is there. It costs no node, and the long prompts pay for it.",
)

TICKET = Exercise(
    id="serving-ticket",
    title="Answer the ticket",
    prompt="*“Llama 3 70B on 12 replicas of four H100s, prefill and decode in the same engine, prompts first. At "
    "noon 30 requests a second, 2,500 prompt tokens at the mean, the longest 60,000, 300 tokens out. p50 to the "
    "first token 0.4 s, p99 6 s; p50 between tokens 28 ms, p99 900 ms. The dashboard has the GPUs at 97 %, the cache "
    "at 45 %. Requests go to the replicas in turn; 40 % of the tokens are system prompts that all requests of a "
    "customer share, and 8 % of all prompt tokens are found in caches. Proposals: (a) six more replicas; (b) chunked "
    "prefill with a budget; (c) route by prefix; (d) four of the replicas for prompts only; (e) reject prompts above "
    "20,000 tokens.” In which order, and what does each bring?* Judge with numbers: a replica reads 14,000 tokens a "
    "second.",
    answer=Written(
        rubric=(
            ("The load that prompts make, computed, and why 97 % on the dashboard is something else", 1),
            ("(b): 900 ms between tokens is one long prompt; what a budget makes of it, and what it leaves", 1),
            ("(c): how much of the prompts' work could be found, and what that does to the load and to the wait", 1),
            ("(a) or (d) or (e): what it changes by a formula, and what it costs or breaks", 1),
            ("An order with a reason, and a measurement that would prove it wrong", 1),
        ),
        words=240,
        criteria=False,
    ),
    solution="30·2,500 = 75,000 prompt tokens a second come, and 12 replicas read 168,000 in a second: 45 %, 41 % with "
    "what is found. 97 % on the dashboard means that some kernel ran, which is always so while anybody decodes. 900 ms "
    "between tokens is a prompt of 12,600 tokens in one step, and 60,000 tokens take 4.3 s: p99 of both clocks is the "
    "same long prompts. First (b), which is a flag: with 1,000 tokens a step nobody waits longer than 100 ms for a "
    "token, and short prompts pass long ones only if chunks go in turn. Then (c), a router: up to 40 % of the tokens "
    "instead of 8 %, so the load falls from 41 to 27 %, and load/(1 - load) from 0.70 to 0.37, the wait by half, and "
    "each read is shorter as well. Watch the balance: one large customer must not be one replica. (a) takes the load "
    "to 27 % for half as many GPUs again, as good as (c) and dear. (d) leaves four replicas at 123 %, which collapses; "
    "after (c) it is 80 % and still too much. (e) cuts the tail most of all, and some of the service; better is a "
    "replica of their own for long prompts. I am wrong if, with the budget on, p99 between tokens stays near 900 ms: "
    "then look at preemption, and at the host.",
)
