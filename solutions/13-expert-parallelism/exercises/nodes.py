"""The lab on nodes: routing limited to a few nodes, and one copy of a token for each of them."""

from functools import partial

from autograder.answers import Case, Distributed, at_most
from autograder.declaration import Exercise, Mistake


def scored_inputs(case, generator):
    """Tokens, their scores for all experts, positive as those of a sigmoid, and a rank's own experts.

    Some experts are liked better, and none so little that a rank would get no row at all.
    """
    T, d, m = case["T"], case["d"], case["m"]
    draw = lambda *shape: generator.normal(size=shape).astype(case.dtype)
    liked = generator.permutation(case.n * m) / (case.n * m)
    return [
        {
            "x": draw(T, d),
            "scores": (1 / (1 + 2.718281828459045 ** -(draw(T, case.n * m) + liked))).astype(case.dtype),
            "w": draw(m, d, d) / d**0.5,
        }
        for _ in range(case.n)
    ]


def limited(scores, k, n_lim, nodes, best="sum", share="chosen", limit=True):
    """The weight of every expert for every token, [T x E]: k of them are not zero, on n_lim nodes."""
    import torch

    by_node = scores.view(len(scores), nodes, -1)
    near = by_node.topk(k // n_lim if best == "sum" else 1).values
    near = by_node if best == "all" else near
    chosen_nodes = near.sum(2).topk(n_lim).indices
    masked = torch.full_like(by_node, -1.0)
    wide = chosen_nodes[:, :, None].expand(-1, -1, by_node.shape[2])
    masked.scatter_(1, wide, by_node.gather(1, wide))
    top, chosen = (masked.view_as(scores) if limit else scores).topk(k)
    whole = top.sum(1, keepdim=True) if share == "chosen" else scores.sum(1, keepdim=True)
    return torch.zeros_like(scores).scatter(1, chosen, top / whole)


def nodes_layer(rank, n, x, scores, w, k, n_lim, inner, cross="node", home="summed", weighted=True, **routing):
    """The layer of experts; the flags are for the mistakes."""
    import torch

    from hwlib.labs.row_exchange import exchange_rows

    nodes, m, d = n // inner, len(w), x.shape[1]
    gates = limited(scores, k, n_lim, nodes, **routing)
    units = nodes if cross == "node" else n if cross == "rank" else n * m
    by_unit = gates.view(len(x), units, n * m // units)
    token, unit = by_unit.any(2).nonzero(as_tuple=True)
    rows = torch.cat((x[token], by_unit[token, unit]), 1)
    if cross != "node":  # directly to the rank that has the experts
        got, back = exchange_rows(rows, unit * n // units)
        if cross == "rank":
            done = sum(got[:, d + e, None] * torch.tanh(got[:, :d] @ w[e]) for e in range(m))
        else:
            local = torch.zeros(len(got), dtype=torch.int64)
            asked, _ = exchange_rows((unit % m)[:, None].to(x.dtype), unit // m)
            local = asked[:, 0].long()
            done = got[:, d:] * torch.tanh(torch.bmm(got[:, None, :d], w[local])[:, 0])
        return torch.zeros_like(x).index_add(0, token, back(done))
    got, back = exchange_rows(rows, unit * inner + rank % inner)
    near = got[:, d:].view(len(got), inner, m)
    row, peer = near.any(2).nonzero(as_tuple=True)
    mine, home_again = exchange_rows(torch.cat((got[row, :d], near[row, peer]), 1), rank // inner * inner + peer)
    weights = mine[:, d:] if weighted else (mine[:, d:] > 0).to(x.dtype)
    done = sum(weights[:, e, None] * torch.tanh(mine[:, :d] @ w[e]) for e in range(m))
    arrived = home_again(done)
    if home == "summed":
        summed = torch.zeros_like(got[:, :d]).index_add(0, row, arrived)
    else:  # every rank's part by itself, side by side
        summed = x.new_zeros(len(got), inner, d)
        summed[row, peer] = arrived
        parts = back(summed.view(len(got), inner * d)).view(len(token), inner, d).sum(1)
        return torch.zeros_like(x).index_add(0, token, parts)
    return torch.zeros_like(x).index_add(0, token, back(summed))


def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    return nodes_layer(rank, n, x, scores, w, k, n_lim, inner)


LAB_NODES = Exercise(
    id="expert-parallelism-lab-nodes",
    title="Lab: one copy for each node",
    points=4,
    lines=15,
    prompt="n ranks are n/inner nodes of `inner` ranks that follow one another, and a rank has m experts: rank r has "
    "experts r·m and on, `w` [m × d × d], and expert e makes tanh(t @ w[e]) of a token t. A rank's tokens are `x` "
    "[T × d], and `scores` [T × E], all positive, say how much a token likes each of the E = n·m experts. A token "
    "goes to at most n_lim nodes: those with the largest sums of their k/n_lim best scores. Of the experts there it "
    "takes the k best, and each expert's weight is its score divided by the sum of these k. Return for each token the "
    "weighted sum of its experts' results, [T × d]. Judged *exactly* are the values. Out of its node, a rank sends "
    "one row for each of its tokens and each other node that the token goes to, with the weights of that node's "
    "experts in it; and for each row that came from another node, one of d numbers with the result. Inside a node, "
    "a token takes one row each way for every rank that has an expert of it. What a rank sends out of its node, and "
    "what all ranks send together, may be a tenth more bytes than that. "
    "`rows, back = exchange_rows(x, to)` of `hwlib.labs` sends row i of x to rank to[i] and gives the rows that came; "
    "`back(results)` sends a row for each of them back, and gives what came of x's rows, in their order.",
    answer=Distributed(
        "node_layer",
        signature="node_layer(rank, n, x, scores, w, k, n_lim, inner)",
        inputs=scored_inputs,
        cases=[
            Case(8, sizes={"T": 24, "d": 32, "m": 2}, options={"k": 3, "n_lim": 1, "inner": 2}),
            Case(16, sizes={"T": 24, "d": 32, "m": 2}, options={"k": 4, "n_lim": 2, "inner": 4}),
        ],
        calls=("all_to_all", "all_gather"),
        also_sends=("int32", "int64"),
        rank_bytes=None,
        total_bytes=at_most(times=1.1),
        leaving_bytes=at_most(times=1.1),
        rounds=None,
    ),
    solution=node_layer,
    mistakes=(
        Mistake(
            partial(nodes_layer, cross="expert"),
            "The result is right, and a token leaves its node once for each expert. How many copies of it does one "
            "node need?",
            name="copy-per-expert",
        ),
        Mistake(
            partial(nodes_layer, cross="rank"),
            "The result is right, and a token leaves its node once for each rank. Which rank of the other node could "
            "hand it on?",
            name="copy-per-expert",
        ),
        Mistake(
            partial(nodes_layer, home="apart"),
            "The result is right, and one copy goes there, but the ranks' parts come back side by side. Where could "
            "they be added up before they leave the node?",
        ),
        Mistake(
            partial(nodes_layer, limit=False),
            "Your tokens go to their k best experts, on as many nodes as those happen to be.",
        ),
        Mistake(
            partial(nodes_layer, best="one"),
            "You choose nodes by their best expert alone. Of how many scores is the sum to be?",
        ),
        Mistake(
            partial(nodes_layer, best="all"),
            "You choose nodes by the sum of all their scores, and a token wants only a few experts of a node.",
        ),
        Mistake(
            partial(nodes_layer, share="all"),
            "Your weights are divided by the sum of all scores. Of which k is the sum meant?",
        ),
        Mistake(partial(nodes_layer, weighted=False), "The results are added up without their weights."),
    ),
    hints=(
        "`scores.view(T, nodes, -1)` has the experts of a node side by side. Mask the others, take the k best, and put "
        "their weights into a matrix [T × E] of zeros: which ranks and nodes a token needs is then `.any()` of a view.",
        "`token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)` lists the copies that are to leave; "
        "the weights at that node can travel in the same row, `torch.cat((x[token], ...), 1)`.",
        "Send each copy to the rank of the other node with the same place in it, node·inner + rank % inner. That one "
        "does the same again inside, for each rank with a weight that is not zero, and adds up what comes back: "
        "`torch.zeros_like(...).index_add(0, row, parts)`.",
    ),
    explain="Two exchanges, one inside the other. The outer one has a row for each token and node, and goes to the "
    "rank of the same place there; the inner one has a row for each rank of the node with an expert of the token. The "
    "weights travel with the row, so that the experts' results can be added up where they are: on a rank, then on the "
    "rank that handed the token on, and one row goes home. A token with k experts on n_lim nodes leaves its node at "
    "most n_lim times instead of k times, whatever happens inside, and the limit of nodes makes that a promise "
    "rather than an average.",
)
