"""The lab on ranks: a top-k router over an uneven all-to-all, equal to the dense layer."""

from functools import partial

from autograder.answers import Case, Distributed, at_most
from autograder.declaration import Exercise, Mistake


def routed_inputs(case, generator):
    """Tokens of every rank, fewer on later ones; one router, which prefers some experts and never takes the last one; a
    rank's own experts."""
    d, f, E = case["d"], case["f"], case["E"]
    draw = lambda *shape: generator.normal(size=shape).astype(case.dtype)
    liked = generator.permutation(E) / E
    router = draw(d, E) * (0.3 + liked).astype(case.dtype)
    router[0], router[0, -1] = 0, -100
    w_in, w_out = draw(E, d, f) / d**0.5, draw(E, f, d) / f**0.5
    m = E // case.n
    xs = [draw(case["T"] - 3 * rank, d) for rank in range(case.n)]
    for x in xs:
        x[:, 0] = 1 + abs(x[:, 0])
    return [
        {
            "x": xs[rank],
            "router": router,
            "w_in": w_in[rank * m : (rank + 1) * m],
            "w_out": w_out[rank * m : (rank + 1) * m],
        }
        for rank in range(case.n)
    ]


def layer(
    n,
    x,
    router,
    w_in,
    w_out,
    k,
    weights="chosen",
    order_back="inverse",
    by="rank",
    token="copy",
    capacity=0,
    fewest=None,
):
    """The layer of experts; the flags are for the mistakes."""
    import torch
    import torch.distributed as dist

    m, E = len(w_in), router.shape[1]
    logits = x @ router
    top, chosen = logits.topk(k)
    order = chosen.flatten().argsort(stable=True)
    leaving = chosen.flatten().bincount(minlength=E if fewest is None else fewest)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    sends, gets = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    tokens = x.new_empty(sum(gets), x.shape[1])
    dist.all_to_all_single(tokens, x[order // k if token == "copy" else order % len(x)], gets, sends)
    pieces = coming.view(n, m).T.flatten().tolist() if by == "expert" else coming.tolist()
    local = [e % m if by == "rank" else e // n for e in range(E)]
    done = [torch.relu(part @ w_in[e]) @ w_out[e] for part, e in zip(tokens.split(pieces), local, strict=True)]
    if capacity:
        done = [torch.cat((part[:capacity], torch.zeros_like(part[capacity:]))) for part in done]
    arrived = x.new_empty(len(order), x.shape[1])
    dist.all_to_all_single(arrived, torch.cat(done), sends, gets)
    back = arrived
    if order_back == "inverse":
        back = torch.empty_like(arrived)
        back[order] = arrived
    elif order_back == "again":
        back = arrived[order]
    gates = {
        "chosen": lambda: top.softmax(1),
        "all": lambda: logits.softmax(1).gather(1, chosen),
        "none": lambda: torch.ones_like(top),
        "even": lambda: torch.full_like(top, 1 / k),
        "logits": lambda: top,
    }[weights]()
    return (back.view(len(x), k, -1) * gates[:, :, None]).sum(1)


def own_experts(rank, n, x, router, w_in, w_out, k):
    """Nothing is exchanged: what a rank's own experts make of its own tokens."""
    import torch

    m = len(w_in)
    top, chosen = (x @ router).topk(k)
    gates = torch.zeros(len(x), n * m, dtype=x.dtype).scatter(1, chosen, top.softmax(1))
    return sum(gates[:, rank * m + e, None] * (torch.relu(x @ w_in[e]) @ w_out[e]) for e in range(m))


def padded(rank, n, x, router, w_in, w_out, k):  # noqa: ARG001
    """Every block as long as the longest one that this rank sends: the others are filled up."""
    import torch
    import torch.distributed as dist

    m, d = len(w_in), x.shape[1]
    top, chosen = (x @ router).topk(k)
    room = chosen.flatten().bincount(minlength=n * m).max().repeat(n)
    rooms = torch.empty_like(room)
    dist.all_to_all_single(rooms, room)
    full, most = x.new_zeros(n * m, int(room[0]), d + 1), rooms.tolist()
    places = [(chosen == e).nonzero() for e in range(n * m)]
    for e, place in enumerate(places):
        full[e, : len(place), :d], full[e, : len(place), d] = x[place[:, 0]], 1
    got = x.new_empty(m * sum(most), d + 1)
    sizes = [m * one for one in most], [m * int(room[0])] * n
    dist.all_to_all_single(got, full.view(-1, d + 1), *sizes)
    pieces = got.split([one for one in most for _ in range(m)])
    done = [torch.relu(part[:, :d] @ w_in[e % m]) @ w_out[e % m] for e, part in enumerate(pieces)]
    arrived = x.new_empty(n * m * int(room[0]), d)
    dist.all_to_all_single(arrived, torch.cat(done), sizes[1], sizes[0])
    y, gates = torch.zeros_like(x), top.softmax(1)
    for place, part in zip(places, arrived.view(n * m, -1, d), strict=True):
        y.index_add_(0, place[:, 0], part[: len(place)] * gates[place[:, 0], place[:, 1], None])
    return y


def everywhere(rank, n, x, router, w_in, w_out, k):
    """All tokens go to all ranks, and each sends a sum for every one of them back."""
    import torch
    import torch.distributed as dist

    m, d, mine = len(w_in), x.shape[1], len(x)
    lengths = torch.full((n,), mine)
    theirs = torch.empty_like(lengths)
    dist.all_to_all_single(theirs, lengths)
    got = x.new_empty(int(theirs.sum()), d)
    dist.all_to_all_single(got, x.repeat(n, 1), theirs.tolist(), lengths.tolist())
    top, chosen = (got @ router).topk(k)
    gates = torch.zeros(len(got), n * m, dtype=x.dtype).scatter(1, chosen, top.softmax(1))
    y = sum(gates[:, rank * m + e, None] * (torch.relu(got @ w_in[e]) @ w_out[e]) for e in range(m))
    back = x.new_empty(n * mine, d)
    dist.all_to_all_single(back, y, lengths.tolist(), theirs.tolist())
    return back.view(n, mine, d).sum(0)


def moe_layer(rank, n, x, router, w_in, w_out, k, **wrong):  # noqa: ARG001
    return layer(n, x, router, w_in, w_out, k, **wrong)


LAB_ROUTER = Exercise(
    id="expert-parallelism-lab-router",
    title="Lab: a router over an uneven all-to-all",
    points=4,
    lines=14,
    prompt="Write a layer of E experts over n ranks. A rank has tokens `x` [T × d] (T may differ from rank to rank), "
    "the `router` [d × E], which is the same on all, and E/n experts: rank r has experts r·E/n and on, `w_in` "
    "[E/n × d × f] and `w_out` [E/n × f × d]; expert e makes relu(t @ w_in[e]) @ w_out[e] of a token t. Each token "
    "goes to the k experts of the largest logits x @ router, and their results are added up, weighted by the softmax "
    "over these k logits. Return the sum for every token of the rank, [T × d]. Judged *exactly* are the values, which "
    "are those of one process that holds all experts; of bytes a rank may send one row for each chosen expert of "
    "another rank on the way there and one on the way back, and a tenth more for counts or weights. There "
    "may be 5·(n − 1) rounds: an all-to-all takes n − 1.",
    answer=Distributed(
        "moe_layer",
        signature="moe_layer(rank, n, x, router, w_in, w_out, k)",
        inputs=routed_inputs,
        cases=[
            Case(2, sizes={"T": 24, "d": 32, "f": 16, "E": 4}, options={"k": 1}),
            Case(4, sizes={"T": 40, "d": 32, "f": 16, "E": 8}, options={"k": 2}),
            Case(3, sizes={"T": 36, "d": 32, "f": 16, "E": 12}, options={"k": 3}),
        ],
        mutants={"an expert may get no token": partial(moe_layer, fewest=0)},
        calls=("all_to_all", "all_gather"),
        also_sends=("int32", "int64"),
        rank_bytes=at_most(times=1.1),
        total_bytes=at_most(times=1.1),
        rounds=at_most(lambda case: 5 * (case.n - 1)),
    ),
    solution=moe_layer,
    withholds=("hwlib.labs.row_exchange",),
    mistakes=(
        Mistake(
            padded,
            "The result is right, and every block is filled up to the longest one. How can a rank know how many rows "
            "come, and allocate just these?",
        ),
        Mistake(
            everywhere,
            "The result is right, and every token goes to every rank. How many ranks have an expert that it wants?",
        ),
        Mistake(
            partial(moe_layer, weights="none"), "The results of a token's experts are added up without their weights."
        ),
        Mistake(partial(moe_layer, weights="even"), "You take the mean of a token's experts. How are they weighted?"),
        Mistake(
            partial(moe_layer, weights="logits"),
            "Your weights are the k logits themselves. What makes shares of them, which add up to 1?",
        ),
        Mistake(
            partial(moe_layer, weights="all"),
            "Your weights are shares of the softmax over all E logits. What do the k that are left add up to?",
        ),
        Mistake(
            partial(moe_layer, order_back="again"),
            "What comes back is in the order in which it left. You apply that order once more, where it is to be "
            "undone.",
        ),
        Mistake(
            partial(moe_layer, order_back="none"),
            "What comes back is in the order in which it left, sorted by expert. Which row belongs to which token?",
        ),
        Mistake(
            partial(moe_layer, by="expert"),
            "What a rank receives is sorted by the rank that sent it, and within that by expert: your experts take "
            "other ones' tokens.",
        ),
        Mistake(
            partial(moe_layer, by="neither"),
            "The rows come to the right rank, and are given to another of its experts. Which of its experts is expert "
            "e of all?",
        ),
        Mistake(
            partial(moe_layer, token="modulo"),
            "Copy i is not one of token i modulo T: the k copies of a token stand side by side before the sort.",
        ),
        Mistake(
            own_experts,
            "A token gets the results of the experts that are on its own rank. Who computes the others?",
        ),
        Mistake(
            partial(moe_layer, capacity=2),
            "Some tokens lose an expert: beyond a capacity you drop them. Here every one is served.",
        ),
    ),
    hints=(
        "Sort the T·k copies by expert, `chosen.flatten().argsort(stable=True)`: then they are sorted by rank too. "
        "Copy i belongs to token i // k.",
        "A rank does not know how many rows will come. Exchange the counts of each expert first, "
        "`all_to_all_single(coming, leaving)`; the sums over a rank's experts are the split sizes of the rows, and on "
        "the way back the two lists change places.",
        "`tokens.split(counts)` cuts what came into a piece for each rank and expert. `back[order] = arrived` undoes "
        "`arrived = rows[order]`.",
    ),
    explain="Sorted by expert, the copies of a rank's tokens lie in E runs, of which E/n in a row go to one rank. A "
    "first all-to-all tells every rank how long the runs are that it will get, a second brings the rows, and a third, "
    "with its split sizes exchanged, takes the results back. The sort is undone by `back[order] = arrived`, since "
    "`order[i]` says which copy stands at place i. Only then do the results of a token lie side by side, and the "
    "weights belong to them. Nothing is padded, nothing dropped: a rank sends what its router chose, and the slowest "
    "one decides.",
)
