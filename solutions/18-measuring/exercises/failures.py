"""What stops a run: a published table that contradicts itself, checkpoints beside the training, silent errors."""

from math import exp

from autograder.answers import Expression, Quantity, positive
from autograder.declaration import Exercise, Mistake
from hwlib.specs import measured_interruptions
from hwlib.specs.interruption_measurements import OBSERVED

ROWS = measured_interruptions()
COUNT = {row.cause: row.times for row in ROWS}
TOTAL = sum(COUNT.values())
ALL = TOTAL + int(OBSERVED["planned"])
T_MTBF = OBSERVED["time"] / TOTAL
SILENT = COUNT["silent data corruption"]
GPU_YEARS = OBSERVED["gpus"] * OBSERVED["time"] / (365 * 86400)

ERRATUM = Exercise(
    id="measuring-erratum-interruptions",
    title="A share of a table",
    points=2,
    prompt="Section 3.3.4 of *The Llama 3 Herd of Models* (arXiv 2407.21783) says that GPU issues are “58.7% of all "
    "unexpected issues”. Its table 5 counts {total} unexpected interruptions. Its GPU rows, with the shares that it "
    "prints: faulty GPU {faulty} (30.1 %), HBM3 memory {memory} (17.2 %), SRAM {sram} (4.5 %), system processor "
    "{processor} (4.1 %), silent data corruption {silent} (1.4 %), thermal interface and sensor {thermal} (1.4 %); "
    "another 47 interruptions were planned. Which share of the unexpected ones are GPU "
    "issues, by the counts of these rows? *Exact*.",
    given=[dict(total=419, faulty=148, memory=72, sram=19, processor=17, silent=6, thermal=6)],
    answer=Quantity("1", rtol=0.001),
    solution=lambda total, faulty, memory, sram, processor, silent, thermal: (
        (faulty + memory + sram + processor + silent + thermal) / total
    ),
    mistakes=(
        Mistake(
            lambda total, faulty, memory, sram, processor, silent, thermal: (
                100 * (faulty + memory + sram + processor + silent + thermal) / total
            ),
            'Per cent as a bare number? A share is at most 1, or has its sign: "12 %" is 0.12.',
        ),
        Mistake(0.587, "That is the sum of the printed shares. Divide each count by the total: does each share agree?"),
        Mistake(
            lambda total, faulty, memory, sram, processor, silent, thermal: (
                (faulty + memory + sram + processor + silent + thermal) / (total + 47)
            ),
            "That is a share of all interruptions, the planned ones included.",
        ),
        Mistake(
            lambda total, faulty, memory: (faulty + memory) / total,
            "Two rows of the six. Which others are the GPU's?",
        ),
        Mistake(
            lambda total, faulty, memory, sram, processor: (faulty + memory + sram + processor) / total,
            "Two rows of the six are missing, the rare ones. Whose are they?",
        ),
    ),
    hints=("Check the printed shares one by one: one of them is not its count over {total}.",),
    explain="The six rows count 268. 148 of 419 are 35.3 %, where the table prints 30.1 %; the other rows agree "
    "with their counts, which add up to 419, so that the share is wrong and not the count. The sum in the text "
    "repeats it. The conclusion survives: GPUs are the largest cause, and by more than the paper says.",
)

CHECKPOINT = Exercise(
    id="measuring-checkpoint",
    title="A checkpoint behind the back",
    points=2,
    prompt="A checkpoint stops the training for `c` only, in which the states are copied to the hosts' memory. In "
    "the next `w` seconds of training they are written to the storage, and a failure before the end of that falls "
    "back to the checkpoint before; w is shorter than the interval. Copies begin every `tau` seconds of training, "
    "the machine fails every `M` seconds in the mean, and training goes on `b` after a failure. Which share of the "
    "time is lost? *To first order*: shares add up, as they do where each is small, and c is short beside tau.",
    answer=Expression(
        {
            "c": positive("s", 1, 20),
            "w": positive("s", 30, 300),
            "tau": positive("s", 400, 3000),
            "b": positive("s", 60, 900),
            "M": positive("s", 1e4, 1e6),
        },
    ),
    solution=lambda c, w, tau, b, M: c / tau + (tau / 2 + w + b) / M,
    mistakes=(
        Mistake(
            lambda c, w, tau, b, M: c / tau + (tau / 2 + b) / M,
            "So it is if a checkpoint counts from the moment of its copy. What can a failure shortly after it use?",
        ),
        Mistake(
            lambda c, w, tau, b, M: (c + w) / tau + (tau / 2 + b) / M,
            "Writing runs beside the training and stops nobody. What does it cost when a failure comes?",
        ),
        Mistake(
            lambda c, w, tau, b, M: c / tau + (tau / 2 + w / 2 + b) / M,
            "The newest usable copy is between w and w + tau seconds old. What is the mean of that?",
        ),
        Mistake(
            lambda c, w, tau, b, M: c / tau + (tau + w + b) / M,
            "A whole interval is the worst case. What is the mean?",
        ),
        Mistake(
            lambda c, w, tau, b, M: c / tau + (3 * tau / 2 + b) / M,
            "So it is if every failure falls back to the checkpoint before. Which failures do, and which do not?",
        ),
        Mistake(
            lambda c, w, tau, b, M: (c + w) / tau + (tau / 2 + w + b) / M,
            "Writing costs you twice: in every interval, and in every failure. Does the training stand while it lasts?",
        ),
        Mistake(
            lambda c, w, tau, b, M: c / (tau + c) + (tau / 2 + w + b) / M,
            "Under the first term stands the copy's own time as well. What is left of it to first order?",
        ),
        Mistake(
            lambda c, w, tau, b, M: c / tau + (tau / 2 + w + c + b) / M,
            "A failure costs the copy's seconds too, but beside tau they are short. What does first order leave out?",
        ),
    ),
    hints=(
        "How old is the newest checkpoint that can be used, at best and at worst, when a failure strikes?",
        "Each failure costs its mean age and the restart; there is one every M.",
    ),
    explain="Copying takes c of every tau. When a failure strikes, the newest checkpoint on the storage began at "
    "least w and at most w + tau seconds of training ago, tau/2 + w in the mean: that work is done again, and b "
    "passes before. One such loss every M. The best interval is the square root of 2·c·M, or w where that is "
    "longer: writing in the background shortens it, and sets its floor.",
)

SDC = Exercise(
    id="measuring-silent",
    title="A silent error in your run",
    points=1,
    prompt="Llama 3's {known} silent data corruptions came in 54 days on 16,384 H100s. Those are the ones that "
    "somebody found. If your {n} H100s are as they were, and errors independent of each other, how likely is at "
    "least one such corruption in {days} days? *Exact* for errors at a constant rate.",
    given=[dict(known=6, n=n, days=days) for n, days in ((4096, 30), (8192, 21), (2048, 60), (8192, 12), (1024, 90))],
    answer=Quantity("1", rtol=0.01),
    solution=lambda known, n, days: 1 - exp(-known * n * days / (16384 * 54)),
    mistakes=(
        Mistake(
            lambda known, n, days: known * n * days / (16384 * 54),
            "That is how many you expect. Can it be a probability when the run is twice as long?",
        ),
        Mistake(
            lambda known, n, days: exp(-known * n * days / (16384 * 54)), "That is the probability that there is none."
        ),
        Mistake(lambda known, n: 1 - exp(-known * n / 16384), "You have scaled the GPUs. And the days?"),
        Mistake(
            lambda known, n, days: 100 * (1 - exp(-known * n * days / (16384 * 54))),
            'Per cent as a bare number? A probability is at most 1, or has its sign: "12 %" is 0.12.',
        ),
        Mistake(1.0, "Certain? Then it could not happen that no chip ever errs. How likely is that here?"),
        Mistake(lambda known: known / 419, "That is their share of the interruptions, not of time."),
    ),
    hints=("How many do you expect in your GPU-days? Then: how likely is none at all?",),
    explain="The rate is 6 in 16,384·54 GPU-days. The expected number in your run is that rate times {n}·{days}, "
    "and none comes with probability exp of minus that. It is a lower bound: a corruption that nobody noticed "
    "stopped no job.",
)
