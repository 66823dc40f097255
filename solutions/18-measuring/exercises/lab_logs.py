"""Lab: two logs, four numbers."""

from functools import partial
from statistics import mean, median, median_high, median_low

from autograder.answers import Function
from autograder.declaration import Exercise, Mistake

WARM = 2  # iterations that are left out


def _read(
    nccl,
    training,
    ranks,
    T,
    P,
    n,
    C,
    again,
    bus=2,
    warm=WARM,
    middle=median,
    recompute=True,
    small=True,
    passes=3,
    largest=True,
    column=5,
    fastest=False,
):
    """The four numbers; the flags are for the mistakes."""
    rows = [line.split() for line in nccl.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    sizes = sorted((int(row[0]), 1e-6 * float(row[column])) for row in rows)
    S, t = sizes[-1] if largest else max(sizes, key=lambda row: row[0] / row[1])
    lines = [line for line in training.splitlines() if "elapsed time per iteration" in line][warm:]
    times = [1e-3 * float(line.partition("(ms):")[2].split()[0]) for line in lines]
    batch = int(lines[-1].partition("global batch size:")[2].split()[0])
    mfu = 6 * P * batch * T / (middle(times) * n * C)
    alpha = min(time for _, time in sizes) if fastest else sizes[0][1]
    alpha = alpha if small else t - alpha
    factor = bus * (ranks - 1) / ranks if bus else 1
    return [alpha, factor * S / t, mfu, mfu * (1 + again / passes) if recompute else mfu * 4 / 3]


def read_logs(nccl, training, ranks, T, P, n, C, again):
    return _read(nccl, training, ranks, T, P, n, C, again)


def all_batches(nccl, training, ranks, T, P, n, C, again):
    """The tokens of the whole machine on one GPU."""
    alpha, W, mfu, hfu = _read(nccl, training, ranks, T, P, n, C, again)
    return [alpha, W, mfu * n, hfu * n]


def sequences(nccl, training, ranks, T, P, n, C, again):  # noqa: ARG001  (the learner's signature)
    """A step has as many tokens as sequences."""
    return _read(nccl, training, ranks, 1, P, n, C, again)


def nccl_text(rng, ranks):
    """A table of nccl-tests for a few powers of two, as it prints them: out of place, then in place. The smallest size
    takes somewhat longer than the next, as the first that is timed may.
    """
    alpha, W = rng.uniform(20, 120), rng.uniform(90, 480)
    half, units = "     time   algbw   busbw #wrong", "     (us)  (GB/s)  (GB/s)       "
    lines = [
        f"#       size         count      type   redop    root{half}{half}",
        f"#        (B)    (elements)                          {units}{units}",
    ]
    first = rng.choice((10, 12, 15))
    for power in range(first, 34, rng.choice((2, 3))):
        S, factor = 2**power, 2 * (ranks - 1) / ranks
        slower = 1.04 if power > 30 else 1  # so that the best rate is not that of the largest size
        first_call = 1.15 if power == first else 1
        usual = first_call * alpha + slower * factor * S / (W * 1e3)
        halves = [_half(S, usual, factor), _half(S, usual * rng.choice((0.97, 1.03)), factor)]
        lines.append(f"{S:>12} {S // 4:>13}     float     sum      -1{''.join(halves)}")
    lines.append(f"# Avg bus bandwidth    : {rng.uniform(20, 90):.4f}")
    return "\n".join(lines)


def _half(S, t, factor):
    t = float(f"{t:.4g}")
    alg = S / t / 1e3
    return f" {t:>8} {alg:>7.2f} {factor * alg:>7.2f}      0"


def training_text(rng, batch):
    """A Megatron-LM log: a slow start, some scatter, and one iteration that a checkpoint makes long."""
    usual, count = rng.uniform(4000, 30000), rng.choice((9, 10, 11, 12, 13))  # odd and even
    slow = rng.randrange(WARM, count)
    lines = []
    for i in range(count):
        factor = rng.uniform(2, 5) if i < WARM else rng.uniform(1.5, 2.5) if i == slow else rng.uniform(0.98, 1.02)
        lines.append(
            f" iteration {i + 1:>8}/  500000 | consumed samples: {batch * (i + 1):>12} | elapsed time per iteration "
            f"(ms): {usual * factor:.1f} | throughput per GPU (TFLOP/s/GPU): {rng.uniform(250, 450):.1f} | "
            f"learning rate: {1.5e-7 * (i + 1):.6E} | global batch size: {batch:>5} | lm "
            f"loss: {11.2 - 0.03 * i:.6E} | loss scale: 1.0 | grad norm: {rng.uniform(1, 4):.3f} | number of skipped "
            "iterations:   0 | number of nan iterations:   0 |"
        )
    return "\n".join(lines)


def log_cases(rng):
    odd = [(1, 1, 7e9, 1), (3, 4099, 7e9, 7), (7, 13, 70e9, 1)]
    cases = [(nccl_text(rng, ranks), training_text(rng, 256), ranks, T, P, n, 989e12, 0.5) for ranks, T, P, n in odd]
    for _ in range(16):
        ranks, batch = rng.choice((8, 16, 64)), rng.choice((256, 512, 1152))
        cases.append(
            (
                nccl_text(rng, ranks),
                training_text(rng, batch),
                ranks,
                rng.choice((2048, 4096, 8192)),
                rng.choice((7e9, 70e9, 177e9)),
                rng.choice((64, 768, 2304)),
                rng.choice((312e12, 989e12)),
                rng.choice((0, 0.25, 1)),
            )
        )
    return cases


LAB_LOGS = Exercise(
    id="measuring-lab-logs",
    title="Lab: two logs, four numbers",
    points=4,
    lines=12,
    prompt="Write `read_logs(nccl, training, ranks, T, P, n, C, again)`. `nccl` is the "
    "table that `all_reduce_perf` printed on `ranks` GPUs (lines with # are comments; the "
    "first column is the size in bytes, the sixth the time in µs), `training` the log of a Megatron-LM run with "
    "sequences of T tokens and P parameters on n GPUs of peak C, in which the share `again` of the forward pass was "
    "recomputed. Return four numbers in SI: the latency (the time of the smallest size), the bus bandwidth of the "
    "largest size, the MFU and the HFU. The step's time is the *median* over the iterations, without the first "
    "{warm}; the tokens of a step are its global batch size times T. *To first order*: six operations for each "
    "parameter and token, of which the forward pass is a third; attention is left out. Within 0.1 %: "
    "a log rounds.",
    given=dict(warm=WARM),
    answer=Function(
        "read_logs",
        "read_logs(nccl, training, ranks, T, P, n, C, again)",
        cases=log_cases,
        rtol=1e-3,
        mutants={
            "the sixth column": partial(_read, column=9),
            "the time of the smallest size": partial(_read, fastest=True),
        },
    ),
    solution=read_logs,
    mistakes=(
        Mistake(
            partial(_read, bus=0),
            "Bytes over time are the algorithm's bandwidth. What does a rank of an all-reduce send for each byte?",
        ),
        Mistake(
            partial(_read, bus=1),
            "So much crosses a port in an all-gather. What has an all-reduce to do with the sums before?",
            name="half-an-all-reduce",
        ),
        Mistake(
            partial(_read, warm=0, middle=mean),
            "The first iterations compile, allocate and connect. Do they tell how fast the run is?",
        ),
        Mistake(
            partial(_read, warm=0),
            "All lines of the log are in your median. Which iterations were to be left out?",
        ),
        Mistake(
            partial(_read, warm=1),
            "The median starts with the second iteration. How many were to be left out?",
        ),
        Mistake(
            partial(_read, middle=mean),
            "A checkpoint makes one iteration long, and the mean with it. Which value was asked for?",
        ),
        Mistake(
            partial(_read, middle=median_high),
            "An even number of iterations has two in the middle, and you take the longer one. What is their median?",
        ),
        Mistake(
            partial(_read, middle=median_low),
            "An even number of iterations has two in the middle, and you take the shorter one. What is their median?",
        ),
        Mistake(
            partial(_read, recompute=False),
            "A third more is what recomputing the whole forward pass costs. How much of it was recomputed here?",
        ),
        Mistake(
            partial(_read, passes=1),
            "That repeats the share `again` of a whole step. Of which part of it is `again` a share?",
        ),
        Mistake(
            partial(_read, small=False),
            "Your latency is what the largest size takes more than the smallest one. Which time was asked for?",
        ),
        Mistake(
            partial(_read, largest=False),
            "You take the best rate of the table. Of which size was the bandwidth asked for?",
        ),
        Mistake(
            sequences,
            "The batch of the log counts sequences. How many tokens has a step?",
        ),
        Mistake(all_batches, "The batch is that of the whole machine. Whose peak belongs under it?"),
    ),
    hints=(
        "`line.split()` of a row of the table; `line.partition('(ms):')[2].split()[0]` of a line of the log.",
        "Bus bandwidth: 2(ranks − 1)/ranks times size over time. MFU: 6·P·tokens over time·n·C.",
        "Recomputing the whole forward pass makes 8 operations of 6: the HFU is MFU·(1 + again/3).",
    ),
    explain="The smallest size has hardly any bytes, so its time is the latency; the largest hardly any latency, so "
    "2(n−1)/n·S/t is the bandwidth of a rank's port. The median leaves out the checkpoint, and the two first "
    "iterations are not the run. The MFU counts 6·P operations a token; the forward pass has 2 of the 6, so "
    "recomputing the share a of it makes the HFU (6 + 2a)/6 times the MFU.",
)
