"""The lab on ranks: 1F1B over send and receive."""

from functools import partial

from autograder.answers import Case, Distributed, at_most, exactly
from autograder.declaration import Exercise, Mistake


def stage_inputs(case, generator):
    """A weight for each stage; microbatches for the first stage, gradients of the loss for the last one."""
    m, b, d = case["m"], case["b"], case["d"]
    draw = lambda *shape: generator.normal(size=shape).astype(case.dtype)
    xs, dys = draw(m, b, d), draw(m, b, d)
    return [
        {"w": draw(d, d) / d**0.5, "xs": xs if r == 0 else xs[:, :0], "dys": dys if r == case.n - 1 else dys[:, :0]}
        for r in range(case.n)
    ]


def pipeline(rank, n, w, xs, dys, m, b, ahead=None, keep=False, first=False, once=False, both=True, most=True):
    """1F1B, or with other numbers of forward passes ahead; the flags are for the mistakes."""
    import torch
    import torch.distributed as dist

    w.requires_grad_()
    kept, under_way = [], []
    ahead = n - 1 - rank if ahead is None else ahead(n, rank, m)
    ahead = min(ahead, m) if most else ahead

    def forward(i):
        x = xs[i]
        if rank > 0:
            x = w.new_empty(b, len(w))
            dist.recv(x, rank - 1)
            x.requires_grad_()
        y = torch.tanh(x @ w)
        if rank < n - 1:
            under_way.append(dist.isend(y.detach(), rank + 1))
        kept.append((x, y))

    def backward(i):
        x, y = kept[i] if keep else kept.pop(0)
        dy = dys[i]
        if rank < n - 1:
            dy = torch.empty_like(y)
            dist.recv(dy, rank + 1)
            under_way.pop(0).wait()
        if once:
            w.grad = None
        y.backward(dy, retain_graph=keep)
        if rank > 0:
            dist.send(x.grad if both else torch.ones_like(x), rank - 1)

    for i in range(ahead):
        forward(i)
    for i in range(m):
        if ahead + i < m and not first:
            forward(ahead + i)
        backward(i)
        if ahead + i < m and first:
            forward(ahead + i)
    return w.grad


def train_stage(rank, n, w, xs, dys, m, b):
    return pipeline(rank, n, w, xs, dys, m, b)


def mean_gradient(rank, n, w, xs, dys, m, b):
    return pipeline(rank, n, w, xs, dys, m, b) / m


def held(case, rank):
    """Bytes of n - rank + 3 microbatches, each with its input and its output, beside gradients of the weight."""
    return ((case.n - rank + 3) * 2 * case["b"] + 4 * case["d"]) * case["d"] * case.itemsize


def sent(case, rank):
    """Activations to the next rank, gradients to the one before."""
    neighbours = (rank > 0) + (rank < case.n - 1)
    return neighbours * case["m"] * case["b"] * case["d"] * case.itemsize


LAB_1F1B = Exercise(
    id="pipeline-parallelism-lab-1f1b",
    title="Lab: 1F1B on ranks",
    points=4,
    lines=20,
    prompt="Each rank is a stage of one layer, y = tanh(x @ w), and `w` [d × d] is its own. Rank 0 has the inputs of m "
    "microbatches, `xs` [m × b × d], and the last rank the gradients of the loss by its outputs, `dys` [m × b × d]; on "
    "other ranks these are empty. There may be fewer microbatches than ranks. Run 1F1B, and return the gradient of "
    "`w`, summed over the microbatches. "
    "Activations and their gradients go from neighbour to neighbour, one [b × d] message each. Judged *exactly* are "
    "the gradients and the bytes of each rank. The rounds may be at most 2·(m + n), which four ranks "
    "exceed if they run one microbatch at a time; and rank r may hold, beside its arguments and views of them, the "
    "bytes of at most n "
    "− r + 3 microbatches, an input and an output [b × d] for each, and of four gradients of w.",
    answer=Distributed(
        "train_stage",
        signature="train_stage(rank, n, w, xs, dys, m, b)",
        inputs=stage_inputs,
        cases=[
            Case(2, sizes={"d": 8}, options={"m": 12, "b": 32}),
            Case(4, sizes={"d": 8}, options={"m": 24, "b": 32}),
            Case(3, sizes={"d": 8}, options={"m": 1, "b": 16}),
            Case(4, sizes={"d": 8}, options={"m": 2, "b": 16}),
        ],
        mutants={
            "there may be fewer microbatches than ranks": partial(pipeline, most=False),
            "the gradients are summed over the microbatches": mean_gradient,
        },
        calls=("send", "recv"),
        rank_bytes=exactly(sent),
        rounds=at_most(lambda case: 2 * (case["m"] + case.n)),
        memory=at_most(held),
    ),
    solution=train_stage,
    mistakes=(
        Mistake(
            partial(pipeline, ahead=lambda n, rank, m: m),
            "The gradients are right: that is GPipe. How many microbatches does rank 0 need to begin before its first "
            "backward pass?",
        ),
        Mistake(
            partial(pipeline, ahead=lambda n, rank, m: 0),
            "The gradients are right, and one microbatch after another passes the whole pipeline: how many forward "
            "passes does rank r begin before its first backward pass?",
        ),
        Mistake(
            partial(pipeline, keep=True),
            "The gradients are right, and every microbatch is kept after its backward pass. Which name still holds it?",
        ),
        Mistake(
            partial(pipeline, once=True),
            "That is the gradient of the last microbatch. What is to become of those before it?",
        ),
        Mistake(
            partial(pipeline, both=False),
            "What a stage sends back is the gradient by its input. Where does autograd leave it?",
        ),
    ),
    hints=(
        "Two functions, `forward(i)` and `backward(i)`; between them a list of the inputs and outputs that wait. "
        "Rank r "
        "begins n − 1 − r forward passes, then does one of each in turn.",
        "`y.backward(dy)` adds to `w.grad`, and leaves the gradient by the input in `x.grad` if x requires one.",
        "If a rank sends forward while its neighbour sends back, both wait. `isend` lets one of them go on; keep what "
        "it returns, and wait for it before the microbatch is forgotten.",
    ),
    explain="Rank r begins n − 1 − r forward passes; then each forward pass is followed by the backward pass of the "
    "oldest microbatch, whose input and output go with it. At most n − r microbatches wait, however many there are. A "
    "blocking `send` forward meets a neighbour that sends back, and both would wait for ever: so the activations go by "
    "`isend`, and by the time the gradient of a microbatch is back its activations have long arrived.",
)
