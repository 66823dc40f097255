"""The lab on ranks: caches that move from prefill ranks to decode ranks of another degree, and when that pays."""

from functools import partial

from autograder.answers import Case, Distributed, Quantity, at_most
from autograder.declaration import Exercise, Mistake


def cache_inputs(case, generator):
    """Keys and values of the prompt: own heads on the prefill ranks, none yet on the decode ranks."""
    p, g = case["p"], case["heads"] // case["p"]
    shape = case["layers"], 2, case["T"]
    own = [generator.normal(size=(*shape, g, case["c"])) for _ in range(p)]
    none = [generator.normal(size=(*shape, 0, case["c"])) for _ in range(case.n - p)]
    return [{"x": one.astype(case.dtype)} for one in [*own, *none]]


def moved(
    rank,
    n,
    x,
    p,
    heads,
    *,
    down=False,
    floor=False,
    pairs=False,
    strided=False,
    whole=False,
    tokens=False,
    backwards=False,
    keys=False,
    all_of=False,
    packed=False,
    side=3,
):
    """Each decode rank gets its heads from those that have them; the flags are for the mistakes."""
    import torch
    import torch.distributed as dist

    d = n - p

    def own(r):
        if r < p:
            return range(r * heads // p, (r + 1) * heads // p)
        j = r - p
        if strided:
            return range(j % heads, heads, d)
        if pairs or all_of:
            return range(heads) if all_of else own(j % p)
        if floor:
            return range(j * (heads // d), (j + 1) * (heads // d))
        end = (j + 1) * heads / d
        return range(j * heads // d, int(end) if down else -int(-end // 1))

    waits, parts = [], []
    for r in range(p, n) if rank < p else range(p):
        here, there = own(rank), own(r)
        both = [h for h in here if h in there]
        if not both:
            continue
        if rank < p:
            sent = x if whole else x[..., [h - here[0] for h in both], :]
            if tokens:  # as many numbers, one behind the other in memory
                sent = x.flatten()[: sent.numel()].view(sent.shape)
            waits.append(dist.isend(sent[:, :1].contiguous() if keys else sent.contiguous(), r))
        else:
            count = len(there) if whole else len(both)
            buffer = x.new_empty(len(x), 1 if keys else 2, x.shape[2], count, x.shape[4])
            waits.append(dist.irecv(buffer, r))
            parts.append((buffer, [h - there[0] for h in both] if whole else None))
    for wait in waits:
        wait.wait()
    if rank < p:
        return None
    got = [buffer if at is None else buffer[..., at, :] for buffer, at in parts[:: -1 if backwards else 1]]
    if not got:
        return x
    got = torch.cat(got, 3 if len({one.shape[3] for one in got}) > 1 else side)
    if packed:  # heads first in memory
        got = got.movedim(3, 0).reshape(got.shape)
    return got.repeat(1, 2, 1, 1, 1) if keys else got


def transfer(rank, n, x, p, heads):
    return moved(rank, n, x, p, heads)


def through_first(rank, n, x, p, heads):
    """All caches to the first rank, and from there to those that need them."""
    import torch
    import torch.distributed as dist

    d, g = n - p, heads // p
    needs = [range(j * heads // d, -(-(j + 1) * heads // d)) for j in range(d)]
    if rank and rank < p:
        dist.send(x, 0)
        return None
    if rank:
        out = x.new_empty(*x.shape[:3], len(needs[rank - p]), x.shape[4])
        dist.recv(out, 0)
        return out
    held = [x] + [torch.empty_like(x) for _ in range(p - 1)]
    for r in range(1, p):
        dist.recv(held[r], r)
    cache = torch.cat(held, 3)
    assert cache.shape[3] == p * g
    for j in range(d):
        dist.send(cache[..., list(needs[j]), :].contiguous(), p + j)
    return None


def _case(n, p, heads, dtype="float64", **sizes):
    return Case(n, sizes=sizes, options={"p": p, "heads": heads}, dtype=dtype)


LAB_TRANSFER = Exercise(
    id="serving-lab-transfer",
    title="Lab: a cache for ranks of another degree",
    points=4,
    lines=14,
    prompt="A prompt was read on the first p of n ranks, and is to be continued on the other d = n − p. A layer has "
    "`heads` key-value heads, and both sides divide them, in order. Prefill rank r has in `x` [layers × 2 × T × "
    "heads/p × c] keys and values of its own heads, those from r·heads/p on, where p divides their number. Decode rank "
    "j (rank p + j) needs the heads from ⌊j·heads/d⌋ to below ⌈(j + 1)·heads/d⌉, whatever d is: its neighbour may need "
    "one of them as well. Its `x` is as the others', but with no heads in it. Return on a decode rank the keys and "
    "values of its heads [layers × 2 × T × its heads × c], in their order; what a prefill rank returns is not looked "
    "at. *Exact*: the values. Limits: no more bytes, of any rank and of all together, than if each prefill rank sends "
    "its heads to those that need them and nothing else; and at most the n − 1 rounds of one all-to-all.",
    answer=Distributed(
        "transfer",
        signature="transfer(rank, n, x, p, heads)",
        inputs=cache_inputs,
        returns=("out",),
        cases=[
            _case(6, 2, 4, layers=2, T=3, c=4),
            _case(6, 4, 8, layers=2, T=5, c=2),
            _case(5, 2, 6, "float32", layers=3, T=4, c=2),
            _case(5, 1, 2, layers=1, T=4, c=3),
            _case(7, 4, 4, layers=2, T=2, c=3),
        ],
        calls=("send", "recv", "all_to_all"),
        rank_bytes=at_most(),
        total_bytes=at_most(),
        rounds=at_most(lambda case: case.n - 1),
    ),
    solution=transfer,
    mistakes=(
        Mistake(
            partial(moved, whole=True),
            "The values are right, and each prefill rank sends its whole cache to everyone who needs a part of it. "
            "Which of its heads does a decode rank need?",
        ),
        Mistake(
            through_first,
            "The values are right, and all caches pass through one rank, whose network is as wide as any other's. Who "
            "knows where each head goes?",
        ),
        Mistake(
            partial(moved, all_of=True),
            "Each decode rank has the heads of all. Which are its own, and what do the others cost in its memory?",
        ),
        Mistake(
            partial(moved, pairs=True),
            "Decode rank j gets what prefill rank j mod p has, as if both sides had the same degree. Compare the heads "
            "of each pair of ranks.",
        ),
        Mistake(
            partial(moved, floor=True),
            "Your decode ranks have heads/d heads each, rounded down. With more ranks than heads that is none: a head "
            "is there more than once then.",
        ),
        Mistake(
            partial(moved, down=True),
            "Where d does not divide the heads, your ranks lack those at the border. Which way is the end rounded?",
        ),
        Mistake(
            partial(moved, strided=True),
            "Your decode rank j has every d-th head from j on. Both sides divide them in order.",
        ),
        Mistake(
            partial(moved, tokens=True),
            "What you send has the right size, and is the beginning of the array in memory: some layers and tokens, "
            "with all heads. Along which axis is the cache divided?",
        ),
        Mistake(
            partial(moved, packed=True),
            "What you send has the heads first, and is read as if they were fourth. A reshape does not exchange axes.",
        ),
        Mistake(
            partial(moved, backwards=True),
            "The heads of a decode rank that come from several prefill ranks are in the wrong order.",
        ),
        Mistake(
            partial(moved, keys=True),
            "Keys came, and stand in the place of values too. What is the second axis of x?",
        ),
        Mistake(
            partial(moved, side=2),
            "You put what comes from several ranks together along the tokens. Each of them sent other heads.",
        ),
    ),
    hints=(
        "Write a function that gives the range of heads of any rank. Every rank can then tell for each other rank "
        "which heads both have: that is the message between the two, and if there are none, there is no message.",
        "A prefill rank sends `x[..., first:last, :].contiguous()`, counted from its own first head. A decode rank "
        "receives into `x.new_empty(...)` and joins what came with `torch.cat(parts, 3)`.",
        "`dist.isend` and `dist.irecv` return at once; wait for all of them at the end. Or split by heads in one "
        "`all_to_all`, with empty parts between ranks that have nothing for each other.",
    ),
    explain="Attention is independent by head, so the cache is divided by head on both sides, and another degree cuts "
    "the same row of heads elsewhere. The message between two ranks is what their ranges share: with p = 2 and d = 4 "
    "each prefill rank sends one half of its heads to each of two ranks, with p = 4 and d = 2 each decode rank "
    "collects from two. Nobody needs to ask, for all ranges follow from `rank`, `n`, `p` and `heads`. With more decode "
    "ranks than heads some of them hold the same head, and a prefill rank sends it once to each: 'copies' of "
    "chapter 15, on the network. An array whose heads are not its first axis has to be packed first, on real GPUs too.",
)


BREAK_EVEN_TASKS = [
    dict(P=P, S=S, n=n, mfu=mfu, p=p, W=W, t0=t0)
    for P, S, n, mfu, p, W, t0 in (
        (70, 320, 8, 45, 4, 6, 20),
        (70, 320, 4, 45, 2, 5, 30),
        (8, 128, 4, 40, 2, 15, 5),
        (32, 256, 8, 40, 4, 7.5, 10),
        (8, 128, 8, 45, 2, 34, 4),
    )
]


def _even(P, S, n, mfu, p, W, t0, *, links=min, flops=2, eta=1, ranks="n", send=1.0):
    m = links(n, p)
    shared = {"n": n, "p": p}[ranks]
    again = flops * P * 1e9 / (shared * 989e12 * (mfu / 100 if eta else 1))
    return t0 * 1e-3 / (again - send * S * 1024 / (m * W * 1e9))


def slip(**wrong):
    return lambda P, S, n, mfu, p, W, t0: _even(P, S, n, mfu, p, W, t0, **wrong)


BREAK_EVEN = Exercise(
    id="serving-break-even",
    title="Send the cache, or read the prompt again?",
    points=2,
    prompt="A prompt was read on {p} GPUs, and its cache is to move to a server of {n}. A token has {S} KiB of cache, "
    "which either side divides evenly over its GPUs. Each GPU has {W} GB/s of network in each direction to itself, "
    "and a transfer takes {t0} ms besides, for the request, the pages and the last layer. Or the server of {n} reads "
    "the prompt again: a model of {P} billion weights, at {mfu} % of 989 TFLOP/s on each of them, and nothing else to "
    "do. From how many tokens of prompt on is the transfer quicker? *To first order*, without attention's FLOPs.",
    given=BREAK_EVEN_TASKS,
    answer=Quantity("token"),
    solution=slip(),
    mistakes=(
        Mistake(
            slip(links=max),
            "The {n} GPUs that receive can take that much. Who sends, and how much can they?",
        ),
        Mistake(
            slip(links=lambda n, p: n * p / (n + p)),
            "You send first and receive afterwards. A byte that leaves one port arrives at another at the same time.",
        ),
        Mistake(slip(links=lambda n, p: 1), "One GPU sends all with you. How many have a part of the cache?"),
        Mistake(
            slip(links=lambda n, p: n * p),
            "You count a link for each pair of GPUs. Each of the {p} has one network port, whomever it sends to.",
        ),
        Mistake(
            slip(send=0),
            "That is when reading again takes {t0} ms. The bytes of the cache take time, too, and more with each "
            "token.",
        ),
        Mistake(
            slip(send=-1),
            "You add both times of a token. Which of the two ways saves what the other one costs?",
        ),
        Mistake(slip(send=1000 / 1024), "A KiB is more than 1,000 bytes. How many are {S} of them?"),
        Mistake(slip(flops=1), "A token takes a multiplication and an addition for each weight."),
        Mistake(slip(ranks="p"), "Who reads the prompt again: the {p} GPUs that have read it, or the {n}?"),
        Mistake(
            slip(eta=0), "You read at the data sheet's rate. {mfu} % of it are reached.", name="peak-for-sustained"
        ),
    ),
    hints=(
        "Both times grow with the tokens. How much does one more token cost either way?",
        "Sending: `{t0} ms + T*S/(m*W)`, where m is the number of ports that are busy on the narrower side.",
    ),
    explain="Reading again takes `2*P/({n}*C*eta)` a token, sending `S/(m*W)` with m = {p} ports, for {p} GPUs hold "
    "the cache and each has one; that {n} receive it does not help. The transfer also takes {t0} ms once, so it is "
    "quicker from `T = t0/(2*P/({n}*C*eta) - S/({p}*W))` on. Both slopes grow with the layers, but P "
    "grows with their width squared and S at most with the width, so a larger model has a better case for the "
    "network. Below the length, and wherever the network is slow enough to make the difference negative, one reads "
    "again.",
)
