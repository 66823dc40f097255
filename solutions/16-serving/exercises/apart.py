"""The exercise on the numbers of servers apart."""

from math import ceil

from autograder.answers import Quantity
from autograder.declaration import Exercise, Mistake

RATIO = Exercise(
    id="serving-ratio",
    title="How many of each",
    points=2,
    prompt="Llama 3 70B on nodes of eight H100s, some for prompts and some for decoding. Prompts have {T_in} tokens, "
    "of which a share of {hit} is found in a cache; a node computes the others at {R} tokens a second. Answers have "
    "{T_out} tokens; a node decodes {B} sequences at once, a step in {t_step:s}. At which ratio of nodes "
    "for prompts to nodes for decoding does neither kind wait for the other? *Exact*, as a real number.",
    given=[
        dict(T_in=6000, hit=0.35, R=22000, T_out=500, B=128, t_step=0.025),
        dict(T_in=8192, hit=0.2, R=18000, T_out=512, B=32, t_step=0.012),
        dict(T_in=2000, hit=0.6, R=25000, T_out=800, B=256, t_step=0.040),
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
            lambda T_in, hit, R, T_out, B, t_step: ceil(B * T_in * (1 - hit) / (R * T_out * t_step)),
            "Rounded up to whole nodes. A fleet has many of either kind: the ratio is asked for as a real number.",
            name="rounded",
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
