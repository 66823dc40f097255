"""Reports that people posted, to be read: a training log and what the watchdog printed."""

from autograder.answers import Choice, Quantity
from autograder.declaration import Exercise, Mistake

ITSELF = 0.1  # of a step in the mean that nanoGPT prints
T_EVALUATED, T_STEP = 35.39233, 1.09665  # s: the step with the evaluation, and the one that was logged before it
MFU_STEP = 0.1534  # of the latter

READ_MEAN = Exercise(
    id="measuring-read-mean",
    title="A number with a memory",
    points=2,
    prompt="nanoGPT on one V100 (karpathy/nanoGPT, issue 215, March 2023; dates left out, and the steps that were not "
    "logged):\n\n"
    "```text\n"
    "iter 2990: loss 3.8853, time  1096.65ms, mfu 15.34%\n"
    "step 3000: train loss 4.0390, val loss 4.0427\n"
    "saving checkpoint to out\n"
    "iter 3000: loss 4.2490, time 35392.33ms, mfu 13.85%\n"
    "iter 3010: loss    nan, time  1019.95ms, mfu 14.12%\n"
    "iter 3020: loss    nan, time  1015.95ms, mfu 14.36%\n"
    "iter 3030: loss    nan, time  1017.59ms, mfu 14.58%\n"
    "```\n\n"
    "The printed mfu is nine tenths of the one printed before and one tenth of this step's own. What is the MFU of "
    "{step} *by itself*? *Exact* within the digits that are printed, about 1 %.",
    given=[
        dict(step="iter 3010", before=13.85, printed=14.12),
        dict(step="iter 3020", before=14.12, printed=14.36),
        dict(step="iter 3030", before=14.36, printed=14.58),
    ],
    answer=Quantity("1", rtol=0.01),
    solution=lambda before, printed: (printed - (1 - ITSELF) * before) / ITSELF / 100,
    mistakes=(
        Mistake(
            lambda printed: printed / 100,
            "That is the printed number, or near to it: a mean with nine tenths of the past in it. What did "
            "this step add?",
        ),
        Mistake(
            lambda before, printed: (printed - (1 - ITSELF) * before) / ITSELF,
            'Per cent as a bare number? A share is at most 1, or has its sign: "12 %" is 0.12.',
        ),
        Mistake(
            lambda before, printed: (printed - before) / ITSELF / 100,
            "By so much the step is better than the number before. How good is it, then?",
        ),
        Mistake(
            lambda before, printed: (printed - (1 - ITSELF) * before) / 100,
            "That is what the step has added to the mean, a tenth of its own.",
        ),
        Mistake(MFU_STEP, "So it was before. A step of another time has another MFU, in inverse proportion."),
    ),
    hints=(
        "Write the printed number as 0.9 times the number before plus 0.1 times x.",
        "A second way: what is done in a step is the same in each, so its MFU goes as one over its time. What was it "
        "when the mean stood still?",
    ),
    explain="`printed = 0.9*before + 0.1*x`, so `x = (printed - 0.9*before)/0.1`, from {printed} and {before}. The "
    "times agree: where the mean stood still it was that of a step, "
    f"{MFU_STEP:.2%} at {T_STEP * 1e3:,.0f} ms, and the MFU goes as one over the time. So these steps are *better* "
    "than those before, while the printed number says worse: it will take some twenty logged steps to forget one of "
    f"{T_EVALUATED:.0f} s, whose own MFU was {MFU_STEP * T_STEP / T_EVALUATED:.1%}. That step is long for the "
    "evaluation and the checkpoint in it, and comes again at each evaluation. The shorter times are no gain: a loss "
    "of nan is a lost run, and with float16, as here, the scaler leaves the optimizer's step out where it finds "
    "infinities, which is one candidate. `gpubook explain-run` takes the times, and names the evaluation and the nan.",
)

READ_WATCHDOG = Exercise(
    id="measuring-read-watchdog",
    title="Ten minutes, twice",
    prompt="A job hangs at the end of each epoch, on one machine and not on another. All ranks are one group, and this "
    "stands in its log (NVIDIA/nccl, issue 1409, August 2024; shortened):\n\n"
    "```text\n"
    "[Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=80078,\n"
    "         OpType=BROADCAST, NumelIn=5056, Timeout(ms)=600000) ran for 600026 ms\n"
    "[Rank 7] last enqueued NCCL work: 80078, last completed NCCL work: 80077\n"
    "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=80078,\n"
    "         OpType=ALLREDUCE, NumelIn=2106881, Timeout(ms)=600000) ran for 600013 ms\n"
    "```\n\n"
    "What do these lines prove? *Exact*: which of the sentences follows from them.",
    answer=Choice(
        {
            "parted": "the programs of ranks 3 and 7 have parted: one is in another call than the other",
            "slow": "the all-reduce is too large for ten minutes: a longer timeout is needed",
            "link": "the link between ranks 3 and 7 has failed",
            "root": "rank 7 is the root of the broadcast and sends to ranks that have crashed",
            "third": "a third rank, of which no line tells, has stopped",
        }
    ),
    solution="parted",
    mistakes=(
        Mistake("slow", "How many bytes are these, and what does a network carry in ten minutes?"),
        Mistake("link", "80,077 calls went through. Compare what the two ranks called as the next one."),
        Mistake("root", "Rank 3 has not crashed: it waits, and under which number?"),
        Mistake("third", "It may have. But do two ranks that are here wait in the same call?"),
    ),
    hints=(
        "The number counts the calls of a group. What has every rank of it to call as its 80,078th?",
        "Compare the two lines word by word.",
    ),
    explain="Calls of a group meet by their order, and the number is that order. Under the number 80,078 rank 7 "
    f"broadcasts 5,056 elements, and rank 3 all-reduces 2,106,881, some {2106881 * 4 / 1e6:.0f} MB: these never meet, "
    "however long one waits, whatever the network. Broadcasts begin a forward pass (buffers) or an evaluation, "
    "all-reduces end a backward pass, so a reading that fits is that one rank had a batch more than the other when the "
    "epoch ended: look first at the sampler and the loader. The lines do not tell which of the two is wrong; the "
    "flight recorder's dumps of all ranks would, and `gpubook hang` reads them.",
)
