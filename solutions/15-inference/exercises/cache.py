"""Labs on the key-value cache: a decoder that keeps it on several ranks, and attention through a table of pages."""

from functools import partial

from autograder.answers import Case, Distributed, Kernel, Launch, at_most
from autograder.declaration import Exercise, Mistake
from hwlib import tl


# A decoder on ranks
def decoder_inputs(case, generator):
    """The prompt on every rank, and of each layer's four matrices the rank's own heads."""
    n, H = case.n, case["H"]
    T, d, layers, heads, kv = (case[name] for name in ("T", "d", "layers", "heads", "kv"))
    draw = lambda *shape: generator.normal(size=shape).astype(case.dtype)
    wq, wk, wv = (draw(layers, d, count, H) / d**0.5 for count in (heads, kv, kv))
    wo, x = draw(layers, heads, H, d) / (heads * H) ** 0.5, draw(T, d)

    def own(w, axis, rank):
        share = w.shape[axis] // n
        return w.take(range(rank * share, (rank + 1) * share), axis)

    return [
        {"x": x, "wq": own(wq, 2, r), "wk": own(wk, 2, r), "wv": own(wv, 2, r), "wo": own(wo, 1, r)} for r in range(n)
    ]


def decoder(
    rank,  # noqa: ARG001
    n,
    x,
    wq,
    wk,
    wv,
    wo,
    steps,
    *,
    mask="causal",
    keep=True,
    again=False,
    sums="layer",
    scale=True,
    over=-1,
    grouped=True,
    wide=False,
    late=0,
    rows=False,
    norm=True,
    values=True,
    one=False,
    slow=False,
    residual=True,
    stale=False,
    whole=False,
):
    """Prefill and decode with a cache; the flags are for the mistakes."""
    import torch
    import torch.distributed as dist

    layers, _, heads, H = wq.shape
    kv = wk.shape[2]
    start = x.new_zeros(0, heads if wide else kv, H)
    cache = [(start, start)] * layers
    out, seen = [], x
    for step in range(steps + late):
        if again:  # the whole sequence once more
            x, cache = seen, [(start, start)] * layers
        for part in x.split(1) if slow else [x]:
            x = part
            for layer in range(layers):
                h = x / x.square().mean(-1, keepdim=True).sqrt() if norm else x
                q, k, v = (torch.einsum("td,dhc->thc", h, w[layer]) for w in (wq, wk, wv))
                if wide:
                    k, v = (one.repeat_interleave(heads // kv, 1) for one in (k, v))
                at = 0 if one else layer
                K, V = (torch.cat(pair) for pair in zip(cache[at], (k, v), strict=True))
                if keep or not step:
                    cache[at] = K, V
                group = heads // K.shape[1]
                if grouped:
                    s = torch.einsum("tkgc,skc->kgts", q.unflatten(1, (-1, group)), K)
                else:  # query head i with key head i modulo their number
                    s = torch.einsum("tgkc,skc->kgts", q.unflatten(1, (group, -1)), K)
                s = s / H**0.5 if scale else s
                t, T = s.shape[-2:]
                if mask:
                    later = torch.ones(t, T, dtype=torch.bool).triu(T - t + 1 if mask == "causal" else 1)
                    s = s.masked_fill(later, float("-inf"))
                o = torch.einsum("kgts,skc->tkgc" if grouped else "kgts,skc->tgkc", s.softmax(over), V if values else K)
                y = torch.einsum("thc,hcd->td", o.flatten(1, 2), wo[layer])
                if sums == "with":
                    x = x + y
                    dist.all_reduce(x)
                    continue
                if sums in ("layer", "mean"):
                    dist.all_reduce(y)
                y = y / n if sums == "mean" else y
                x = x + y if residual else y
        if sums == "end":
            dist.all_reduce(x)
        made, x = x, x if rows and not step else x[-1:]
        if step >= late:
            out.append(made if whole else x[-1:])
        seen = torch.cat([seen, x[-1:]])
        if stale and not step:
            x = seen[-2:-1]
    return torch.cat(out)


def generate(rank, n, x, wq, wk, wv, wo, steps):
    return decoder(rank, n, x, wq, wk, wv, wo, steps)


def generated_bytes(case):
    """Bytes of one rank's sums: a row of d for each token that passes a layer; the last one generated does not."""
    rows = case["layers"] * (case["T"] + case.options["steps"] - 1)
    return rows * 2 * (case.n - 1) / case.n * case["d"] * case.itemsize


def generated_memory(case):
    """Twice the rank's cache, and what the prompt takes in one layer: queries, scores, keys for each query head."""
    T, heads, kv, H = (case[name] for name in ("T", "heads", "kv", "H"))
    length = T + case.options["steps"]
    cache = 2 * case["layers"] * length * kv / case.n * H
    return int((2 * cache + 4 * heads / case.n * T * (T + 2 * H)) * case.itemsize)


def _case(n, steps, dtype="float64", **sizes):
    return Case(n, sizes=sizes, options={"steps": steps}, dtype=dtype)


LAB_CACHE = Exercise(
    id="inference-lab-cache",
    title="Lab: a decoder that keeps its cache",
    points=4,
    lines=18,
    prompt="A small decoder has attention layers only. Its query heads and key-value heads are divided over the ranks, "
    "and h/g neighbouring query heads share a key-value head. Every rank has the prompt `x` [T × d] and its own heads "
    "of all layers, h and g of them: `wq` [layers × d × h × c], `wk` and `wv` [layers × d × g × c], `wo` [layers × h × "
    "c × d]. A layer adds to its rows x what the heads of all ranks give: x + Σ softmax(q kᵀ/√c) v `wo`, where q, k "
    "and v are made of x/√(mean of x² along the row), and a token sees itself and those before it. After the last "
    "layer the row of the last token is the output of the step, and also, since nothing is sampled, the row of the "
    "next token. Return the outputs of `steps` steps [steps × d]; the first comes from the prompt. *Exact*: the "
    "values. Limits: a rank sends at most the bytes of one all-reduce a layer of the rows that are new in the step; "
    "there are at most the rounds of `steps` × layers all-reduces, so the prompt is read at once; and a rank holds at "
    "most, as a sum, twice its keys and values of all tokens, generated ones too, and 4 h T (T + 2 c) elements for "
    "what the prompt takes on its way.",
    answer=Distributed(
        "generate",
        signature="generate(rank, n, x, wq, wk, wv, wo, steps)",
        inputs=decoder_inputs,
        returns=("out",),
        cases=[
            _case(2, 3, T=4, d=8, layers=2, heads=8, kv=4, H=3),
            _case(4, 3, T=8, d=8, layers=6, heads=32, kv=4, H=8),
            _case(3, 3, dtype="float32", T=5, d=6, layers=2, heads=6, kv=3, H=4),
        ],
        calls=("all_reduce",),
        rank_bytes=at_most(generated_bytes),
        total_bytes=None,
        memory=at_most(generated_memory),
        rtol=1e-9,
    ),
    solution=generate,
    mistakes=(
        Mistake(
            partial(decoder, again=True),
            "The outputs are right, and every step computes the whole sequence once more: see how many rows it sums. "
            "What of an old token is needed, and does it change when a new one comes?",
        ),
        Mistake(
            partial(decoder, slow=True),
            "The outputs and the bytes are right, and there is a sum for each row of the prompt, as if its tokens went "
            "through the layers one after the other. Which of them have to wait for another one?",
        ),
        Mistake(
            partial(decoder, keep=False),
            "Each new token sees the prompt and itself. Where are the keys and values of the tokens generated before?",
        ),
        Mistake(
            partial(decoder, mask=""),
            "The first tokens of the prompt look at later ones. Which scores of the first step have to be masked?",
            name="mask",
        ),
        Mistake(
            partial(decoder, mask="block"),
            "In a later step the mask has one row and as many columns as there are tokens. Which of these may the new "
            "token see?",
            name="mask",
        ),
        Mistake(
            partial(decoder, sums=""),
            "Each rank goes on with what its own heads give. Where do the heads of a layer meet?",
        ),
        Mistake(
            partial(decoder, sums="end"),
            "The next layer needs what all heads of this one give, and its inputs are not linear in them. When do you "
            "sum?",
        ),
        Mistake(
            partial(decoder, sums="with"),
            "x is whole on every rank already, so a sum that contains it counts it n times. What is a partial sum?",
            name="partial-sum",
        ),
        Mistake(
            partial(decoder, sums="mean"),
            "You take the mean over the ranks. Each has other heads: what does a layer add of them?",
            name="mean-or-sum",
        ),
        Mistake(
            partial(decoder, residual=False),
            "Your layers replace their rows. What does a layer do with the x that it was given?",
        ),
        Mistake(
            partial(decoder, stale=True),
            "Your second step starts with the last row of the prompt once more. Which row is the next token's?",
        ),
        Mistake(
            partial(decoder, whole=True),
            "You return every row of the first step. Which of them is its output?",
        ),
        Mistake(
            partial(decoder, scale=False),
            "The scores are not divided by the root of the head's width.",
            name="score-scale",
        ),
        Mistake(
            partial(decoder, over=-2),
            "The weights of one query's keys add up to 1. Over which axis do you take the softmax?",
        ),
        Mistake(
            partial(decoder, grouped=False),
            "Your query head i uses key-value head i modulo their number. Which of them are neighbours in a group?",
        ),
        Mistake(
            partial(decoder, wide=True),
            "The outputs and the bytes on the wire are right, and the rank holds too much. Is every key there once for "
            "each query head, where the heads of a group share one? Or does what layers took on their way stay?",
        ),
        Mistake(
            partial(decoder, late=1),
            "Your first output is that of the second step. What does the prompt itself already give?",
        ),
        Mistake(
            partial(decoder, rows=True),
            "After the first step all rows of the prompt come once more. Which row is the next token?",
        ),
        Mistake(partial(decoder, norm=False), "q, k and v are made of the rows divided by their root mean square."),
        Mistake(
            partial(decoder, values=False), "The weights are right, and they weigh the keys. Which array is theirs?"
        ),
        Mistake(
            partial(decoder, one=True),
            "All layers share one cache. Do the keys of a token in layer 2 have anything to do with those in layer 1?",
        ),
    ),
    hints=(
        "One loop over the steps, and in it one over the layers, does prefill and decode: the first step has T new "
        "rows, every other one has one. Keep for each layer the keys and values of all tokens so far.",
        "`torch.cat([k, new])` appends. With t new rows of T in all, row i may see columns up to T − t + i: "
        "`torch.ones(t, T).triu(T - t + 1).bool()` marks the others.",
        "`q.unflatten(1, (g, -1))` splits the query heads in groups that share a key, and `torch.einsum` names the "
        "axes.",
    ),
    explain="Keys and values of a token depend on the tokens before it alone, so they are computed once, when its row "
    "passes the layer, and kept. A later step computes q, k and v of one row, appends k and v, and reads the rest. "
    "The heads need nothing of each other until `wo`, whose rows are divided like the heads: each rank has a partial "
    "sum of y, and one all-reduce a layer of [new rows × d] makes it whole before it is added to x. So a step of "
    "decoding sends layers·2(n − 1)/n·d elements, however long the sequence; without the cache it would send, and "
    "compute, as much for each token before.",
)


# Pages
def paged(
    q_ptr,
    k_ptr,
    v_ptr,
    table_ptr,
    length_ptr,
    out_ptr,
    scale,
    KV,
    MOST: tl.constexpr,
    G: tl.constexpr,
    H: tl.constexpr,
    PAGE: tl.constexpr,
):
    s, head = tl.program_id(0), tl.program_id(1)
    rows, t, column = tl.arange(0, G), tl.arange(0, MOST * PAGE), tl.arange(0, H)
    own = ((s * KV + head) * G + rows[:, None]) * H + column[None, :]
    live = t < tl.load(length_ptr + s)
    page = tl.load(table_ptr + s * MOST + t // PAGE, mask=live)
    at = ((page * PAGE + t % PAGE) * KV + head)[:, None] * H + column[None, :]
    k = tl.load(k_ptr + at, mask=live[:, None], other=0.0)
    v = tl.load(v_ptr + at, mask=live[:, None], other=0.0)
    scores = scale * tl.dot(tl.load(q_ptr + own), tl.trans(k))
    scores = tl.where(live[None, :], scores, -float("inf"))
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    tl.store(out_ptr + own, tl.dot(p, v) / tl.sum(p, axis=1)[:, None])


def _paged(
    q_ptr,
    k_ptr,
    v_ptr,
    table_ptr,
    length_ptr,
    out_ptr,
    scale,
    KV,
    MOST,
    G,
    H,
    PAGE,
    *,
    table="own",
    slot="own",
    dead="none",
    masked=True,
    largest=True,
    scaled=True,
    each=False,
    divides=True,
    strided=False,
    last=0,
):
    """The kernel with a slip: another page, another slot, or dead slots that are read or that count."""
    s, head = tl.program_id(0), tl.program_id(1)
    rows, t, column = tl.arange(0, G), tl.arange(0, MOST * PAGE), tl.arange(0, H)
    place = rows * KV + head if strided else head * G + rows
    own = (s * KV * G + place[:, None]) * H + column[None, :]
    length = tl.load(length_ptr + s) + last
    if dead == "page":
        length = (length + PAGE - 1) // PAGE * PAGE
    live = t < length
    read = t < MOST * PAGE if dead in ("read", "all") else live
    if dead == "whole pages":
        length = length // PAGE * PAGE
        live = read = t < length
    if dead == "pages":
        read = t < (length + PAGE - 1) // PAGE * PAGE
    where = {"own": s * MOST + t // PAGE, "first": t // PAGE, "none": None}[table]
    page = t // PAGE + s * MOST if where is None else tl.load(table_ptr + where, mask=read)
    within = {"own": t % PAGE, "none": t % PAGE * 0}[slot]
    at = ((page * PAGE + within) * KV + head)[:, None] * H + column[None, :]
    k, v = (tl.load(ptr + at, mask=read[:, None]) for ptr in (k_ptr, v_ptr))
    for _ in range(G - 1 if each else 0):
        k, v = (tl.load(ptr + at, mask=read[:, None]) for ptr in (k_ptr, v_ptr))
    scores = (scale if scaled else 1.0) * tl.dot(tl.load(q_ptr + own), tl.trans(k))
    scores = tl.where(
        (live if masked else t < MOST * PAGE)[None, :], scores, -float("inf") if masked != "zero" else 0.0
    )
    p = tl.exp(scores - tl.max(scores, axis=1)[:, None]) if largest else tl.exp(scores)
    out = tl.dot(p, v)
    tl.store(out_ptr + own, out / tl.sum(p, axis=1)[:, None] if divides else out)


def _by_page(
    q_ptr,
    k_ptr,
    v_ptr,
    table_ptr,
    length_ptr,
    out_ptr,
    scale,
    KV,
    MOST,
    G,
    H,
    PAGE,
    *,
    own,
):
    """Page by page, with each page's own softmax, or with sums that are not scaled when the maximum grows."""
    s, head = tl.program_id(0), tl.program_id(1)
    rows, slot, column = tl.arange(0, G), tl.arange(0, PAGE), tl.arange(0, H)
    place = ((s * KV + head) * G + rows[:, None]) * H + column[None, :]
    q, length = tl.load(q_ptr + place), tl.load(length_ptr + s)
    top, total, out = tl.full((G,), -1e30, tl.float32), tl.zeros((G,), tl.float32), tl.zeros((G, H), tl.float32)
    for i in range(MOST):
        live = i * PAGE + slot < length
        page = tl.load(table_ptr + s * MOST + i, mask=i * PAGE < length)
        at = ((page * PAGE + slot) * KV + head)[:, None] * H + column[None, :]
        k, v = (tl.load(ptr + at, mask=live[:, None]) for ptr in (k_ptr, v_ptr))
        scores = tl.where(live[None, :], scale * tl.dot(q, tl.trans(k)), -float("inf"))
        most = tl.maximum(tl.max(scores, axis=1), -1e30)
        top = most if own else tl.maximum(top, most)
        p = tl.exp(scores - top[:, None])
        p = p / tl.maximum(tl.sum(p, axis=1), 1e-30)[:, None] if own else p
        total, out = total + tl.sum(p, axis=1), out + tl.dot(p, v)
    tl.store(out_ptr + place, out / total[:, None])


def paged_launch(rng, lengths, *, scale, KV, G, H, PAGE, most, spare=2):
    """Sequences of these lengths whose pages lie anywhere, in no order; what the table has behind them is page 0."""
    import numpy as np

    pages = [-(-length // PAGE) for length in lengths]
    free = list(range(sum(pages) + spare))
    rng.shuffle(free)
    table = [[free.pop() for _ in range(count)] + [0] * (most - count) for count in pages]
    B, P = len(lengths), sum(pages) + spare
    return Launch(
        (B, KV),
        {
            "q_ptr": (B, KV, G, H),
            "k_ptr": (P, PAGE, KV, H),
            "v_ptr": (P, PAGE, KV, H),
            "table_ptr": np.array(table, np.int32),
            "length_ptr": np.array(lengths, np.int32),
            "out_ptr": tl.empty((B, KV, G, H)),
            "scale": scale,
            "KV": KV,
            "MOST": most,
            "G": G,
            "H": H,
            "PAGE": PAGE,
        },
    )


def paged_cases(rng):
    some = lambda most, count: [rng.randint(1, most) for _ in range(count)]
    return [
        paged_launch(rng, [5, 9], scale=0.5, KV=2, G=4, H=8, PAGE=4, most=4),
        paged_launch(rng, [1, 31, 16, *some(64, 2)], scale=0.25, KV=2, G=2, H=16, PAGE=16, most=4),
        paged_launch(rng, [27, *some(32, 3)], scale=40.0, KV=3, G=8, H=8, PAGE=8, most=4),
        paged_launch(rng, [64, 3], scale=0.2, KV=1, G=1, H=16, PAGE=8, most=8, spare=5),
    ]


LAB_PAGES = Exercise(
    id="inference-lab-pages",
    title="Lab: attention through a page table",
    points=4,
    lines=12,
    prompt="The cache of all sequences is one pool of pages of PAGE tokens: `k_ptr` and `v_ptr` [pages × PAGE × KV × "
    "H]. Row s of `table_ptr` [sequences × MOST], whole numbers, names the pages of sequence s in order, and "
    "`length_ptr` [sequences] how many tokens it has; the last page may be filled in part, and what the table has "
    "behind it means nothing. Program (s, j) of the grid computes one step of decoding for key-value head j of "
    "sequence s: the G queries that share it, out = softmax(scale·q kᵀ) v over all tokens of the sequence. `q_ptr` "
    "and `out_ptr` are [sequences × KV × G × H]; scores may be as large as exp cannot take. G, H, PAGE and MOST are "
    "powers of two, and all keys of a sequence fit on the chip. *Exact*. Each key and value of a token is to be "
    "loaded once, a slot without a token never, and of the table at most 4 bytes a token; what is read of "
    "lengths and queries does not count.",
    answer=Kernel(
        "paged",
        "paged(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr, scale, KV, MOST: tl.constexpr, G: tl.constexpr, "
        "H: tl.constexpr, PAGE: tl.constexpr)",
        cases=paged_cases,
        bytes=at_most(),
        counted=("k_ptr", "v_ptr", "table_ptr"),
        mutants={"the last page may be filled in part": partial(_paged, dead="whole pages")},
    ),
    solution=paged,
    mistakes=(
        Mistake(
            partial(_paged, table="none"),
            "You read the pool as if the pages of a sequence lay one behind the other. Where does it say where they "
            "are?",
        ),
        Mistake(
            partial(_paged, table="first"),
            "Every sequence reads the pages of the first one. Which row of the table is yours?",
        ),
        Mistake(
            partial(_paged, slot="none"),
            "From each page you take its first token, PAGE times. Which slot of the page has token t?",
        ),
        Mistake(
            partial(_paged, dead="all", masked=False),
            "Slots behind the end of a sequence count. Whose tokens are in them?",
        ),
        Mistake(
            partial(_paged, masked=False),
            "What you do not load stands there as 0, and a score of 0 has the weight exp(0). Which score has none?",
        ),
        Mistake(
            partial(_paged, dead="page"),
            "The rest of the last page counts. How many of its slots have a token of this sequence?",
        ),
        Mistake(
            partial(_paged, dead="read"),
            "The values are right, and every page of the table is read, whether it is in use or not. Mask the loads "
            "as well as the scores.",
        ),
        Mistake(
            partial(_paged, dead="pages"),
            "The values are right, and the last page is read to its end. Which of its slots need not be?",
        ),
        Mistake(
            partial(_paged, each=True),
            "The values are right, and keys and values are loaded once for each query. How many queries share them?",
            name="loaded-again",
        ),
        Mistake(
            partial(_paged, largest=False),
            "A score of 100 is beyond what exp can take in float32. What may be taken off all scores of a row?",
            name="softmax-overflow",
        ),
        Mistake(
            partial(_by_page, own=False),
            "Page by page the largest score grows. What of the sums so far was made with the smaller one?",
            name="softmax-in-blocks",
        ),
        Mistake(
            partial(_by_page, own=True),
            "Each page has a softmax of its own, as if all pages weighed the same. Which has the larger scores?",
            name="softmax-in-blocks",
        ),
        Mistake(partial(_paged, scaled=False), "The scores are to be multiplied by `scale`."),
        Mistake(partial(_paged, divides=False), "The weights of a softmax add up to 1. Yours add up to their sum."),
        Mistake(
            partial(_paged, strided=True),
            "Your queries are those of every KV-th head. Which G of them lie together in `q_ptr`?",
        ),
        Mistake(partial(_paged, last=-1), "Your mask leaves out the last token, which is the newest.", name="mask"),
    ),
    hints=(
        "Number the tokens of a sequence: `t = tl.arange(0, MOST*PAGE)`. In which row of the table's pages is token "
        "t, and in which slot of it?",
        "`tl.load(table_ptr + …, mask=live)` gives a page for each token; a tile of page numbers may be part of an "
        "offset like any other tile.",
        "One mask, `t < length`, serves the table, the keys and the values, and it makes the scores of the rest −∞.",
    ),
    explain="Token t is in slot t % PAGE of page `table[s, t // PAGE]`, so the offset of its key is `((page*PAGE + t "
    "% PAGE)*KV + head)*H`: a gather, one more load than attention over a plain array, of 4 bytes a token beside 8 H "
    "of its key and value. Masked loads move nothing, so a sequence pays for its tokens and not for MOST·PAGE of "
    "them. The G queries of a group are one operand of the product, and read the keys once. A GPU's kernel walks over "
    "the pages with a running maximum, as in chapter 3, where sequences are longer than the chip's memory.",
)
