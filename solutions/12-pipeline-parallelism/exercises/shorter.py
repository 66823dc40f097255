"""Exercises of the section on shorter bubbles, with the design, and the names with which the text computes numbers."""

from autograder.answers import Breakdown, Choice, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake
from hwlib.pipeline import (
    Op,
    Schedule,
    dualpipe,
    one_f_one_b,
    play,
    zb_h1,
    zb_h1_bubble_time,
    zb_h1_played_bubble_time,
    zbv,
)
from hwlib.units import GB, ms

ZB = dict(pp=8, t_F=10 * ms, t_I=10 * ms, t_W=20 * ms)
ZB_PRINTED, ZB_PLAYED = zb_h1_bubble_time(**ZB), zb_h1_played_bubble_time(**ZB)

ERRATUM_ZB = Exercise(
    id="pipeline-parallelism-erratum-zb",
    title="Erratum: a bubble of zero",
    points=2,
    prompt="For the schedule ZB-H1 *Zero Bubble Pipeline Parallelism* (Qi et al., 2024) prints the bubble (p − "
    "1)(T_F + "
    "T_B − T_W), where its T_B is our t_I. On 8 equal stages a microbatch takes 10 ms forward, 10 ms for the gradient "
    f"of the input and 20 ms for those of the weights. The formula gives {ZB_PRINTED * 1e3:.0f} ms; played on a clock, "
    f"with 32 microbatches and messages that take no time, the step has a bubble of {ZB_PLAYED * 1e3:.0f} ms. Why? "
    "*Exact*.",
    answer=Choice(
        {
            "wait": "weight gradients can fill a wait, not shorten what is waited for: the formula holds up to some "
            "t_W",
            "player": "the player begins weight gradients too late; with an earlier order the bubble is 0, as printed",
            "fewer": "32 microbatches are too few for 8 stages: with more of them the bubble goes to 0",
            "memory": "the weight gradients that wait would need more memory, so ZB-H1 does them at once",
            "messages": "the formula leaves out the messages between the stages",
        }
    ),
    solution="wait",
    mistakes=(
        Mistake("player", "Rank 7 cannot begin before seven forward passes are done. What would it do in that time?"),
        Mistake("fewer", "Nothing in either number depends on how many microbatches there are, beyond the stages."),
        Mistake("memory", "ZB-H1 does delay them, by r microbatches on rank r. What do they fill, and what is left?"),
        Mistake("messages", "They take no time in either. What must have happened before the last rank can begin?"),
    ),
    hints=(
        "What does the last rank wait for before its first pass, and can weight gradients shorten that?",
        "Each t_W fills some of a wait of t_F + t_I. What if it is longer than either of the two?",
    ),
    explain="Between two neighbours the wait is `t_F + t_I`: the forward pass that fills the pipeline, and the "
    "gradient "
    "that comes back. Delayed weight gradients fill it, but only where they are there to be done: the first forward "
    "pass still takes pp − 1 stages to reach the last rank, which has nothing to do meanwhile, and gradients of the "
    "input take pp − 1 stages to return. So the bubble is `(pp - 1)*max(t_F + t_I - t_W, t_F, t_I)`, and the printed "
    "formula is its first argument: it holds as long as t_W is at most t_F and at most t_I. The bubble that DeepSeek's "
    "README prints for DualPipe needs such a condition too.",
)

RANKS, BATCHES = 4, 8
LETTERS = tuple("FBIWfbiw")


def schedule_of(layout, rank0, rank1, rank2, rank3):
    """The schedule of four orders in letters: a small letter is the rank's second chunk, and each letter takes the
    next microbatch that it has not had; of a layout both ways, the second chunk has the second half of them."""
    route, v = {"one": ("loop", 1), "two": ("loop", 2), "v": ("v", 2), "both": ("both", 1)}[layout]
    first = BATCHES // 2 if layout == "both" else 0
    ops = []
    for rank, letters in enumerate((rank0, rank1, rank2, rank3)):
        count, late, order = {}, {}, []
        for letter in letters:
            kind, chunk = letter.upper(), int(letter.islower())
            if chunk and layout == "one":
                raise ValueError(
                    f"rank{rank}: {letter!r} is a pass of a second chunk, and in this layout a rank has one"
                )
            if kind == "W":
                if not late.get(chunk):
                    raise ValueError(
                        f"rank{rank}: {letter!r} comes before the {'i' if chunk else 'I'} that it belongs to"
                    )
                number = late[chunk].pop(0)
            else:
                passes = "F" if kind == "F" else "B"
                number = count.get((passes, chunk), 0)
                count[passes, chunk] = number + 1
                if kind == "I":
                    late.setdefault(chunk, []).append(number)
            order.append(Op(kind, number + first * chunk, chunk))
        ops.append(tuple(order))
    return Schedule("yours", RANKS, BATCHES, v, tuple(ops), route)


def letters_of(schedule):
    """The orders of a schedule of the library in these letters."""
    rows = ["".join(op.kind.lower() if op.chunk else op.kind for op in ops) for ops in schedule.ops]
    return {f"rank{r}": list(row) for r, row in enumerate(rows)}


def played(t_F, t_I, t_W, layout, **ranks):
    return play(schedule_of(layout, **ranks), t_F, t_I + t_W, t_W)


def schedule_time(t_F, t_I, t_W, layout, rank0, rank1, rank2, rank3):
    run = played(t_F, t_I, t_W, layout, rank0=rank0, rank1=rank1, rank2=rank2, rank3=rank3)
    worst = max(range(RANKS), key=lambda rank: run.bubbles[rank])
    return Breakdown(run.time, {"computing": run.busy[worst], f"waiting on rank {worst}": run.bubbles[worst]})


def schedule_memory(layout, rank0, rank1, rank2, rank3, S_act, S_state):
    """The most that a rank holds: activations of its microbatches, and the states of its layers, twice if both ways."""
    made = schedule_of(layout, rank0, rank1, rank2, rank3)
    return max(made.in_flight()) * S_act + (2 if layout == "both" else 1) * S_state


def known_time(made, layout):
    """The time of a schedule of the library, whose passes run one by one."""
    return lambda t_F, t_I, t_W: played(t_F, t_I, t_W, layout, **letters_of(made)).time


FOUND = {  # by the rule of the last hint, with a search over its preferences
    "layout": "both",
    "rank0": list("FFFfiFwfiIWfiIwwWfiwIWIW"),
    "rank1": list("FfFffiIWiIFwiFwfWwIiIwWW"),
    "rank2": list("fFffFIiwIifwFWiFIwWIiwWW"),
    "rank3": list("fffFIfWFIiWwiwFIiFIwWWiw"),
}

LAB_SCHEDULE = Exercise(
    id="pipeline-parallelism-lab-schedule",
    title="Lab: a schedule for your times and your memory",
    points=4,
    prompt="Four ranks and eight microbatches. A microbatch takes {t_F:s} forward, {t_I:s} for the gradient of the "
    "input and {t_W:s} for those of the weights, through all layers of a rank. Its activations on a rank are "
    "{S_act:B}, "
    "from the beginning of the forward pass to the end of its last backward half; the states of a rank's layers are "
    "{S_state:B}, and the activations and states of a rank may take 28 GB. Write a schedule that ends a step as early "
    "as you can; messages take no time. Each rank has a list of letters, one pass after another: `F` forward, `I` and "
    "`W` the halves of the backward pass, `B` both together. The microbatches keep their order: an `F` is the next "
    "forward pass; a `B` or an `I` belongs to the next microbatch that has had neither of the two; a `W` belongs to "
    "the next one that has had an `I` and no `W`. Small letters are the same for the second chunk of layers. A "
    "`layout` says where the chunks are. "
    '`"one"`: rank r has the r-th quarter of the model. `"two"`: eighth r and then eighth r + 4. `"v"`: eighth r, and '
    'eighth 7 − r. `"both"`: quarter r for microbatches 0 to 3, capital letters, and quarter 3 − r for '
    "microbatches 4 to 7, small letters; that holds the states of two quarters. With two chunks a pass takes half as "
    'long, and its activations have half the bytes. `list("FFB")` makes letters of a text. *Exact*.',
    given=[
        dict(t_F=t_F * ms, t_I=t_I * ms, t_W=t_W * ms, S_act=S_act * GB, S_state=S_state * GB)
        for t_F, t_I, t_W, S_act, S_state in (
            (20, 22, 18, 4, 4),
            (30, 33, 27, 4.2, 3.4),
            (10, 11.5, 8.5, 3.9, 4.2),
        )
    ],
    answer=Design(
        fields={
            "layout": Field("where the chunks of layers are", options=("one", "two", "v", "both")),
            **{f"rank{r}": Field(f"the order of rank {r}", options=LETTERS, items=64) for r in range(RANKS)},
        },
        objective=schedule_time,
        measure="the time of a step",
        unit="s",
        conditions=[
            Condition(
                "the activations and states of a rank",
                schedule_memory,
                at_most=28 * GB,
                unit="B",
                without=FOUND | {"rank3": list("fffFIfFWIiWwiwFIiFIwWWiw")},  # as early, with a forward pass ahead
            )
        ],
        pars=[
            Par(1, known_time(one_f_one_b(RANKS, BATCHES), "one"), "1F1B"),
            Par(2, known_time(zb_h1(RANKS, BATCHES), "one"), "ZB-H1"),
            Par(3, known_time(zbv(RANKS, BATCHES), "v"), "ZB-V"),
            Par(4, known_time(dualpipe(RANKS, BATCHES), "both"), "DualPipe"),
        ],
        known=[Known(lambda t_F, t_I, t_W: played(t_F, t_I, t_W, **FOUND).time, "a search")],
        steps=3_000_000,
    ),
    solution=FOUND,
    mistakes=(
        Mistake(
            dict(layout="one", **{f"rank{r}": ["F"] * BATCHES + ["B"] * BATCHES for r in range(RANKS)}),
            "GPipe keeps all eight microbatches. When can the first backward pass begin?",
        ),
        Mistake(
            dict(layout="one", **{f"rank{r}": ["F", "B"] * BATCHES for r in range(RANKS)}),
            "Every rank waits for the gradient of each microbatch before it begins the next: nothing overlaps.",
        ),
        Mistake(
            dict(layout="one", **{f"rank{r}": ["F"] * 6 + ["B", "F"] * 2 + ["B"] * 6 for r in range(RANKS)}),
            "All ranks run six forward passes ahead. Do they begin their backward passes sooner for it?",
        ),
    ),
    hints=(
        "Begin with 1F1B's letters, and write I and W for B. Which W can wait until the rank would be idle?",
        "A rank with one quarter of the model begins late: the fourth after three whole forward passes. In which "
        "layout does it begin after three halves?",
        "Let a few lines of Python write the letters: at each moment a free rank takes, of the passes whose input is "
        "there, a gradient of the input first, then a forward pass if its memory allows, then a W.",
    ),
    explain="The step ends for all ranks together, so the last rank to begin bounds it: a rank computes for "
    "`8*(t_F + t_I + t_W)`, and rank 3 waits three forward passes before in the layout of one chunk, three halves in a "
    "V, and nothing with both directions, where the two middle ranks wait for one. Then each wait inside is to be "
    "filled. The gradients of the weights wait for nobody and fill gaps; memory bounds how many forward passes may run "
    "ahead, and in both directions the states come twice. The best schedule that we know begins at both ends, has at "
    "most five microbatches on a rank, and leaves no gap but the first wait of the middle ranks: so no schedule of "
    "this layout is shorter. DualPipe, which is made for many ranks and for hiding messages, is a little longer.",
)
