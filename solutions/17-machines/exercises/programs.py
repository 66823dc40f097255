"""The lab of the section on programs: a roll across shards, as a compiler would not do it."""

from functools import partial

from autograder.answers import Case, Distributed, at_most
from autograder.declaration import Exercise, Mistake


def shards(case, generator):
    return [{"x": generator.normal(size=(case["rows"], case["d"])), "shift": case["shift"]} for _ in range(case.n)]


def roll(rank, n, x, shift, hops=True, turn=True, from_end=False, wrap=True):
    import torch
    import torch.distributed as dist

    far, near = divmod(shift, len(x))
    far = far if hops else 0
    out = torch.empty_like(x)
    cut = -near if from_end else len(x) - near
    pieces = ((x[cut:], out[:near], far + 1), (x[:cut], out[near:], far))
    works = []
    for tag, (mine, place, hop) in enumerate(pieces):
        to, frm = (rank + hop) % n, (rank - hop) % n
        if (to == rank) if wrap else (hop == 0):
            place.copy_(mine)
        elif mine.numel():
            got = torch.empty_like(mine)
            works.append((dist.isend(mine.contiguous(), to, tag=tag), dist.irecv(got, frm, tag=tag), place, got))
    for send, receive, place, got in works:
        send.wait()
        receive.wait()
        place.copy_(got)
    return out if turn else x.roll(shift, 0)


def leftwards(rank, n, x, shift):
    return roll(rank, n, x, -shift % (n * len(x)))


def gathered(rank, n, x, shift):
    import torch
    import torch.distributed as dist

    whole = torch.empty(n * len(x), x.shape[1], dtype=x.dtype)
    dist.all_gather_single(whole, x)
    return whole.roll(shift, 0)[rank * len(x) : (rank + 1) * len(x)].clone()


LAB_ROLL = Exercise(
    id="machines-lab-roll",
    title="Lab: a roll, shard by shard",
    points=3,
    lines=9,
    prompt="An array of n·r rows lies cut by rows on n ranks, r on each. Write what `shard_map` would hold for a "
    "roll of the whole: row i of the array moves to row (i + `shift`) modulo n·r, and each rank returns its r rows "
    "of the result. `shift` is from 0 to n·r − 1 and the same everywhere. A rank sends its own rows and no others, "
    "each at most once, and none that it keeps, in at most two rounds: no message waits for another one of its "
    "rank. *Exact*.",
    answer=Distributed(
        "roll",
        "roll(rank, n, x, shift)",
        inputs=shards,
        calls=("send", "recv", "all_gather"),
        cases=[
            Case(4, sizes={"rows": 6, "d": 3, "shift": 2}),
            Case(2, sizes={"rows": 5, "d": 4, "shift": 1}),
            Case(4, sizes={"rows": 6, "d": 2, "shift": 15}),
            Case(3, sizes={"rows": 4, "d": 2, "shift": 4}),
            Case(4, sizes={"rows": 3, "d": 2, "shift": 10}),
            Case(2, sizes={"rows": 4, "d": 3, "shift": 0}),
        ],
        mutants={
            "no row may go from the end of a shard": partial(roll, from_end=True),
            "rows that go all the way round stay": partial(roll, wrap=False),
        },
        rounds=at_most(lambda case: 2),
    ),
    solution=roll,
    mistakes=(
        Mistake(gathered, "Everybody gets the whole array, and needs r rows of it. Whose rows are they?"),
        Mistake(leftwards, "The rows went to the left. To whom does a row with a larger number belong?"),
        Mistake(
            partial(roll, turn=False), "Each shard is rolled in itself: its last rows come back as its own first ones."
        ),
        Mistake(
            partial(roll, hops=False), "A shift of more than r rows leaves the neighbours behind. How many ranks on?"
        ),
    ),
    hints=(
        "`far, near = divmod(shift, r)`: the last `near` rows of a rank go far + 1 ranks on, the others far ranks on.",
        "What goes to the rank itself is copied. For the rest `isend` and `irecv` with two tags, then wait for all.",
    ),
    explain="With r rows a rank and shift = far·r + near, the last near rows of every rank become the first rows of "
    "rank + far + 1, and the others follow on rank + far. So a rank sends near rows to one place and r − near to "
    "another, and nothing if that place is itself. For a small shift that is shift rows of r; gathering sends (n − "
    "1)·r.",
)
