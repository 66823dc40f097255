"""The lab on eight ranks: one step with data, pipeline and tensor parallelism at once; and ranks that have parted."""

from functools import partial

from autograder.answers import Case, Choice, Distributed, at_most, exactly
from autograder.declaration import Exercise, Mistake

CUBE = {"pp": 2, "dp": 2, "tp": 2}  # the last varies fastest: rank 4 p + 2 d + t


def cube_inputs(case, generator):
    """Two layers, a stage each, cut by columns and rows; each replica's tokens on the first stage, its targets on the
    last."""
    b, d, f, tp = case["b"], case["d"], case["f"], case["tp"]
    draw = lambda *shape: generator.normal(size=shape).astype(case.dtype)
    layers = [(draw(d, f) / d**0.5, draw(f, d) / f**0.5) for _ in range(case["pp"])]
    xs, ts = draw(case["dp"], b, d), draw(case["dp"], b, d)
    ranks = []
    for rank in range(case.n):
        p, replica, t = rank // 4, rank // 2 % 2, rank % 2
        A, B = layers[p]
        own = slice(t * f // tp, (t + 1) * f // tp)
        x, target = (xs[replica], ts[replica, :0]) if p == 0 else (xs[replica, :0], ts[replica])
        ranks.append({"x": x, "t": target, "A": A[:, own], "B": B[own]})
    return ranks


def run_cube(
    rank,
    n,
    x,
    t,
    A,
    B,
    grid=("pp", "dp", "tp"),
    f=True,
    g=True,
    early=False,
    late=False,
    bypass=True,
    dy_too=False,
    mask=True,
    sync="mean",
):
    """One step; the flags are for the mistakes."""
    import torch
    import torch.distributed as dist

    from hwlib.labs import grid_axes

    axes = {axis.name: axis for axis in grid_axes(rank, **{name: CUBE[name] for name in grid})}
    pp, dp, tp = axes["pp"], axes["dp"], axes["tp"]
    if pp.place:
        x = torch.empty_like(t)
        dist.recv(x, pp.ranks[0])
    h = torch.relu(x @ A)
    y = h @ B + x if early else h @ B
    if g is True or (g == "last" and pp.place):
        dist.all_reduce(y, group=tp.group)
    if not early:
        y += x
    if pp.place:
        dy = y - t
    else:
        dist.send(y, pp.ranks[1])
        dy = torch.empty_like(y)
        dist.recv(dy, pp.ranks[1])
    if dy_too:
        dist.all_reduce(dy, group=tp.group)
    dh = (dy @ B.T) * (h > 0) if mask else dy @ B.T
    if pp.place:
        dx = dh @ A.T + dy if late else dh @ A.T
        if f:
            dist.all_reduce(dx, group=tp.group)
        dist.send(dx if late or not bypass else dx + dy, pp.ranks[0])
    dA, dB = x.T @ dh, h.T @ dy
    for gradient in (dA, dB) if sync else ():
        dist.all_reduce(gradient, group=None if sync == "all" else dp.group)
        gradient /= {"sum": 1, "all": n}.get(sync, dp.size)
        if sync == "shares":
            dist.all_reduce(gradient, group=tp.group)
            gradient /= tp.size
    return dA, dB


def cube(rank, n, x, t, A, B):
    return run_cube(rank, n, x, t, A, B)


def cube_memory(case):
    """Between shares of the gradients with some activations, and whole matrices with their gradients."""
    b, d, f = case["b"], case["d"], case["f"]
    return (2 * d * f + 8 * b * d + 4 * b * f) * case.itemsize


LAB_CUBE = Exercise(
    id="mixed-strategies-lab-cube",
    title="Lab: a cube of eight ranks",
    points=4,
    lines=18,
    prompt="Train two layers for one step on 2 × 2 × 2 ranks: rank 4p + 2d + t has stage p, replica d and tensor rank "
    "t. A layer is y = x + relu(x A) B; layer p is on stage p, and a rank has half of its columns `A` [d × f/2] and "
    "the same rows `B` [f/2 × d]. The ranks of stage 0 have the tokens `x` [b × d] of their replica, those of stage 1 "
    "its "
    "targets `t` [b × d]; on other ranks these are empty. A replica's loss is half the sum of the squares of y − t, "
    "with the y "
    "of the second layer, and the loss of the step is the mean of the two replicas' losses. Return `(dA, dB)`, the "
    "gradients of the loss of the step by the rank's own `A` and `B`. "
    "`pp, dp, tp = grid_axes(rank, pp=2, dp=2, tp=2)` of `hwlib.labs` makes the groups of a grid whose last axis joins "
    "neighbours: each axis has its `group`, its `ranks` and the rank's own `place` in it. Judged *exactly* are the "
    "gradients and the bytes that the busiest rank sends along each of the three axes: along `pp` one [b × d], along "
    "`tp` two all-reduces of [b × d], along `dp` one all-reduce of each gradient. The rounds may be at most two more "
    "than ours, and no rank may hold whole matrices.",
    answer=Distributed(
        "cube",
        signature="cube(rank, n, x, t, A, B)",
        inputs=cube_inputs,
        returns=("dA", "dB"),
        cases=[
            Case(8, sizes={**CUBE, "b": 4, "d": 16, "f": 64}),
            Case(8, sizes={**CUBE, "b": 6, "d": 12, "f": 48}, dtype="float32"),
        ],
        calls=("all_reduce", "send", "recv"),
        axis_bytes={name: exactly() for name in CUBE},
        rank_bytes=None,
        total_bytes=None,
        rounds=at_most(lambda case: 14),
        memory=at_most(cube_memory),
        rtol=1e-9,
    ),
    solution=cube,
    mistakes=(
        Mistake(
            partial(run_cube, grid=("pp", "tp", "dp")),
            "Your sums of activations run over the ranks of two replicas, and the gradients' over two halves of a "
            "layer. Which ranks have the same tokens: 0 and 1, or 0 and 2?",
        ),
        Mistake(
            partial(run_cube, sync="sum"),
            "Your gradients are all twice as large. A replica's loss is half a sum of squares, and the loss of the "
            "step is the mean over the replicas: which of the two halves is missing?",
            name="mean-or-sum",
        ),
        Mistake(
            partial(run_cube, sync=""),
            "Each replica has the gradients of its own tokens. What has to happen before the two take a step together?",
        ),
        Mistake(
            partial(run_cube, sync="all"),
            "The gradients are averaged over all eight ranks. Which of them have a gradient of the same numbers as "
            "rank 0?",
        ),
        Mistake(
            partial(run_cube, g=False),
            "A rank's rows of B have seen half of the hidden units, so its y is a partial sum. Where is Megatron's g?",
            name="partial-sum",
        ),
        Mistake(
            partial(run_cube, sync="shares"),
            "dA and dB are averaged over the tensor ranks too, whose columns and rows are different ones. Who holds "
            "the same share of a layer as rank 0?",
        ),
        Mistake(
            partial(run_cube, g="last"),
            "The first stage sends on what its own hidden units give. Which y does the second layer read?",
        ),
        Mistake(
            partial(run_cube, mask=False),
            "The gradient passes the relu as if it were not there. Through which hidden units does it come back?",
            name="relu-gradient",
        ),
        Mistake(
            partial(run_cube, f=False),
            "The second layer is right, the first is not: what stage 1 sends back is the gradient by x through one "
            "rank's own hidden units. Where is Megatron's f?",
        ),
        Mistake(
            partial(run_cube, f=False, g=False),
            "The two ranks of a layer never hear of each other: neither y nor the gradient by x is a whole sum.",
        ),
        Mistake(
            partial(run_cube, early=True),
            "Both ranks of a layer add the same x before the sum, so it comes twice. When is the residual to be added?",
        ),
        Mistake(
            partial(run_cube, late=True),
            "The gradient that bypasses the layer is added before the sum of the two tensor ranks, so it comes twice.",
        ),
        Mistake(
            partial(run_cube, early=True, late=True),
            "What bypasses a layer is added before the sum of the two tensor ranks, going forward and going back, so "
            "it comes twice each time. Which of the two numbers differs from rank to rank, and needs a sum?",
        ),
        Mistake(
            partial(run_cube, bypass=False),
            "The first layer gets what comes back through the second layer's matrices alone. By which other way does x "
            "reach y?",
        ),
        Mistake(
            partial(run_cube, dy_too=True),
            "The gradient by y is the same on both ranks of a layer already. What does a sum make of it?",
        ),
    ),
    hints=(
        "Name the partners of rank 0 along each axis first: who has the same tokens and the other half of the layer, "
        "who has the same half and other tokens, who has the next layer?",
        "Forward: receive x unless the stage is the first, compute, sum over `tp`, add x, send unless it is the last.",
        "Backward: the gradient by y begins as y − t, or comes from the next stage. dA and dB need no sum over `tp`; "
        "the gradient by x does, but only where somebody waits for it.",
    ),
    explain="Each axis has one job. Along `tp` ranks 0 and 1 have the same tokens and halves of a layer: partial sums "
    "of y are added going forward (g), those of the gradient by x going backward (f), and what bypasses the layer is "
    "added after the sum. Along `pp` ranks 0 and 4 exchange one [b × d] each way; the first stage has nobody to hand "
    "its gradient by x to, and needs no f. Along `dp` ranks 0 and 2 have the same half of the same layer and other "
    "tokens: their gradients are summed once, and halved for the mean. The three never mix, which is why their bytes "
    "can be put on different wires.",
)


READ_CULPRITS = Exercise(
    id="mixed-strategies-read-culprits",
    title="Two culprits of 128",
    prompt="A job of 128 ranks hangs, and PyTorch's analyser of flight-recorder dumps prints (pytorch/pytorch, issue "
    "140563, November 2024; shortened):\n\n"
    "```text\n"
    "Collective 39 at entry 38 errors\n"
    "group info: 0:default_pg        collective: nccl:all_reduce\n"
    "input sizes: [[1025]]           expected ranks: {0, 1, ..., 127}\n"
    "Culprit rank 22;  SIZE_OR_SYNTAX_MISMATCH, expected [[1025]], found [[262144]]\n"
    "Culprit rank 110; SIZE_OR_SYNTAX_MISMATCH, expected [[1025]], found [[262144]]\n"
    "```\n\n"
    "The author adds that his program all-reduces arrays of 262,144 elements and of no other size. What do the lines "
    "prove? *Exact*: which of the sentences follows from them.",
    answer=Choice(
        {
            "parted": "ranks 22 and 110 and the other 126 are in different calls: the programs have parted",
            "guilty": "ranks 22 and 110 called with a wrong size, and the other 126 are right",
            "cut": "ranks 22 and 110 had sent 1,025 of 262,144 elements when their links failed",
            "slow": "ranks 22 and 110 are the slowest, and a longer timeout would let them finish",
            "memory": "ranks 22 and 110 have too little memory for 262,144 elements",
        }
    ),
    solution="parted",
    mistakes=(
        Mistake(
            "guilty",
            "The analyser compares every rank with one of them: it tells who differs, not who is wrong. Which of the "
            "two sizes does the author know?",
        ),
        Mistake("cut", "A size is what a rank called with, and not what has arrived. What did the two call with?"),
        Mistake("slow", "Slow or not, would two arrays of different length ever be added up?"),
        Mistake("memory", f"How many bytes are 262,144 elements? {262144 * 4 / 1e6:.0f} MB in 32 bits."),
    ),
    hints=(
        "What has every rank of a group to agree on, for its n-th call to be one collective?",
        "Who says that 1,025 was expected, and who that 262,144 was?",
    ),
    explain="Calls meet by their order in a group, so the 39th call of all 128 ranks has to be one collective, and it "
    f"is not: {128 - 2} ranks are in an all-reduce of 1,025 elements, two in one of 262,144. These never meet. Who is "
    "at fault the lines do not tell: the majority is only taken as what was expected. The author knows 262,144 and not "
    "1,025, so here the two that are named may be the only ranks in his own call, while the others are in one of a "
    "library; a developer who looked at the dumps found that the calls of 1,025 had no stack trace, unlike the rest. "
    "`gpubook hang` reads such dumps, and names the ranks whose calls differ in the same sense.",
)
