"""What a clock on the host sees, and what the counters of a GPU say."""

from autograder.answers import Choice
from autograder.declaration import Exercise, Mistake

UNSYNCED = Exercise(
    id="measuring-predict-unsynced",
    title="A hundred products",
    prompt="An H100 multiplies two bfloat16 matrices of 8,192 × 8,192. After a few calls as a warm-up, a loop in "
    "Python calls the product a hundred times; `perf_counter` is read before and after, and the difference is "
    "divided by a hundred. Nothing else is called in between. What does it print, *to first order*?",
    answer=Choice(
        {
            "launch": "some ten microseconds",
            "sheet": "1.1 ms",
            "real": "some 1.7 ms",
            "all": "0.17 s: the loop waits for all hundred",
        },
        ordered=True,
    ),
    predict=True,
    solution="launch",
    mistakes=(
        Mistake("sheet", "That is what the sheet's rate would take. Does the loop wait for any result?"),
        Mistake("real", "That is about what a product takes. Does the loop wait for any result?"),
        Mistake("all", "The difference is divided by a hundred. And does the loop wait for any of them?"),
    ),
    hints=("What does a launch return, and when?",),
    explain="A launch puts the kernel into a queue and returns. The loop times a hundred entries into a queue, some "
    "ten microseconds each; the products begin meanwhile and end long after the second clock was read. With so many "
    "calls that the queue is full, the host waits for a free place, and the same loop suddenly prints the truth.",
)

COUNTERS = Exercise(
    id="measuring-counters",
    title="One hundred per cent",
    points=1,
    prompt="In a job on 512 H100s, every GPU of one node shows, in the mean of a minute: GPU utilization 100 %, SM "
    "active 19 %, tensor pipe active 2 %, memory active 3 %, clock 1,980 MHz, power 240 of 700 W, hardly a byte on "
    "NVLink or the network card. Which explanation goes with *all* of these, *to first order*?",
    answer=Choice(
        {
            "wait": "a collective's kernel waits for a rank that has not come",
            "host": "the host launches too slowly: the device is idle between short kernels",
            "memory": "the kernels are bound by memory",
            "cap": "a power limit has lowered the clock",
            "busy": "the job computes; 100 % means that nothing is left to gain",
        }
    ),
    solution="wait",
    mistakes=(
        Mistake("host", "Idle gaps would lower one of these numbers that is at its top. Which?"),
        Mistake("memory", "Which of the counters would be high if the memory were the bottleneck?"),
        Mistake("cap", "Look at the clock and at the watts: is a limit anywhere near?"),
        Mistake("busy", "What does that number count: work, or a kernel that is there?"),
    ),
    hints=(
        "Take the counters one by one: which kernel can run all the time, on a fifth of the multiprocessors, and do "
        "nothing?",
    ),
    explain="A kernel runs all the time, so the utilization is 100 %. It occupies a fifth of the multiprocessors, "
    "as a collective with a few dozen channels does. It neither computes nor reads nor sends: it spins until the "
    "others arrive. The clock is at its top because nothing takes power. The next question is *who has not come*, "
    "and no counter of this node knows.",
)
