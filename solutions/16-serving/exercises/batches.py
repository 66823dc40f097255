"""Exercises on steps that mix prompts with decoding, and on servers apart."""

from math import ceil, floor

from autograder.answers import Quantity
from autograder.declaration import Exercise, Mistake

BUDGET = Exercise(
    id="serving-budget",
    title="A budget from a promise",
    points=2,
    prompt="A replica decodes {B} sequences and reads a prompt in the same steps, in chunks. A step takes {t_tok:s} for "
    "each token that goes through the products, of the prompt or of a sequence, and {t_kv:s} for the cache of each "
    "sequence that decodes. Every user was promised a token at least every {limit:s}. How long does a prompt of "
    "{T} tokens take, if its chunks have as many tokens as the promise allows, and every step, the last one "
    "too, takes the whole {limit:s}? *Exact*: a chunk has whole tokens, and the attention of the prompt is "
    "neglected.",
    given=[
        dict(B=96, t_tok=20e-6, t_kv=40e-6, limit=0.020, T=20000),
        dict(B=128, t_tok=25e-6, t_kv=50e-6, limit=0.030, T=12000),
        dict(B=64, t_tok=40e-6, t_kv=60e-6, limit=0.025, T=9000),
    ],
    answer=Quantity("s"),
    solution=lambda B, t_tok, t_kv, limit, T: ceil(T / (floor((limit - B * t_kv) / t_tok + 1e-9) - B)) * limit,
    mistakes=(
        Mistake(lambda t_tok, T: T * t_tok, "That is the prompt alone, in one step. Who waits for it?"),
        Mistake(
            lambda B, t_tok, t_kv, limit, T: ceil(T / floor((limit - B * t_kv) / t_tok + 1e-9)) * limit,
            "The sequences that decode have a token each in every step, and it goes through the products.",
        ),
        Mistake(
            lambda B, t_tok, limit, T: ceil(T / (floor(limit / t_tok + 1e-9) - B)) * limit,
            "The caches of those who decode are read in every step, too.",
        ),
        Mistake(
            lambda B, t_tok, t_kv, limit, T: (
                T / (floor((limit - B * t_kv) / t_tok + 1e-9) - B) * limit
            ),
            "A part of a step is a step.",
        ),
    ),
    hints=(
        "What is left of {limit:s} after the caches, over {t_tok:s}, is the budget of tokens in a step.",
        "{B} tokens of the budget belong to those who decode.",
    ),
    explain="The caches take {B}·{t_kv:s} of a step. What is left, over {t_tok:s}, is the **token budget**, and the "
    "sequences that decode take {B} of it; the rest is the chunk. The prompt takes T over the chunk steps, rounded up. "
    "Read in one piece it would have its first token sooner, and everybody else would wait that long for one token.",
    harmless={
        "the other rounding of the last ceil or floor": "a token more or less in a chunk of hundreds changes no step",
    },
)

RATIO = Exercise(
    id="serving-ratio",
    title="How many of each",
    points=2,
    prompt="Llama 3 70B on nodes of eight H100s, some for prompts and some for decoding. Prompts have {T_in} tokens, of "
    "which {hit} are found in a cache; a node computes the others at {R:g} tokens a second. Answers have {T_out} "
    "tokens; a node decodes {B} sequences at once, a step in {t_step:s}. How many nodes for prompts does each node for "
    "decoding need, if neither waits? *Exact*, as a real number.",
    given=[
        dict(T_in=6000, hit=0.35, R=22000.0, T_out=500, B=128, t_step=0.025),
        dict(T_in=8192, hit=0.2, R=18000.0, T_out=512, B=32, t_step=0.012),
        dict(T_in=2000, hit=0.6, R=25000.0, T_out=800, B=256, t_step=0.040),
    ],
    answer=Quantity("1"),
    solution=lambda T_in, hit, R, T_out, B, t_step: B * T_in * (1 - hit) / (R * T_out * t_step),
    mistakes=(
        Mistake(
            lambda T_in, R, T_out, B, t_step: B * T_in / (R * T_out * t_step),
            "The tokens that are found in the cache are not computed.",
        ),
        Mistake(
            lambda T_in, hit, R, T_out, B, t_step: B * T_in * hit / (R * T_out * t_step),
            "Those are the tokens that are found. Which ones are computed?",
        ),
        Mistake(
            lambda T_in, hit, R, T_out, B, t_step: R * T_out * t_step / (B * T_in * (1 - hit)),
            "Upside down: nodes for decoding for each node for prompts.",
        ),
        Mistake(
            lambda T_in, hit, R, T_out, t_step: T_in * (1 - hit) / (R * T_out * t_step),
            "As if a node decoded one sequence at a time. How many end in a second?",
        ),
        Mistake(
            lambda T_in, hit, T_out: T_in * (1 - hit) / T_out,
            "That is the ratio of the tokens. A token of a prompt takes much less of a node than one of an answer.",
        ),
    ),
    hints=("In a second B/(T_out·t_step) answers end, and as many prompts are needed.",),
    explain="A node for decoding ends {B} answers in {T_out} steps of {t_step:s}, so it needs B/(T_out·t_step) prompts "
    "a second, each of which takes `T_in*(1 - hit)/R` seconds of a node. The product is the ratio. A cache that finds "
    "more, or a longer answer, moves nodes from one side to the other, which is why services change it by the hour.",
)
