"""The question of the opening again: which remedy, and the ticket."""

from autograder.answers import Choice, Written
from autograder.declaration import Exercise, Mistake

REMEDY = Exercise(
    id="inference-predict-remedy",
    title="One change",
    prompt="Back to the opening: Llama 3 70B in bfloat16 on eight H100s, one request, 38 tokens a second. You "
    "may change one thing. Which brings most? *To first order*.",
    answer=Choice(
        {
            "graph": "replay the step as a CUDA graph",
            "fp8": "weights in fp8",
            "memory": "H200s, with 1.4 times the memory bandwidth",
            "wires": "NVLink of twice the bandwidth",
            "two": "a second node: 16 GPUs for each layer",
        }
    ),
    predict=True,
    solution="graph",
    mistakes=(
        Mistake("fp8", "Half the bytes. How much of the step do bytes take, by the two models above?"),
        Mistake("memory", "How much of the step do bytes take, by the two models above?"),
        Mistake("wires", "How many bytes has a sum of one token, and how long are they under way?"),
        Mistake("two", "Twice the GPUs launch as many kernels each."),
    ),
    hints=("A step is as long as the longer of two clocks, the device's and the host's. Which is it here?",),
    explain="The step is as long as the longer of two clocks. The device needs less than half of the 26 ms that the "
    "host takes for its launches, bytes and all. Everything that makes the device faster lets it wait longer. "
    "Only a graph, or a host "
    "that launches less, shortens the step.",
)

TICKET = Exercise(
    id="inference-ticket",
    title="Answer the ticket",
    prompt="*“Llama 3 70B, bf16, tensor parallel 8 on one H100 node, one user with 8,192 tokens of "
    "context: 24 tokens a "
    "second. The profile of a step, 41 ms: products 6.5 ms, attention 1.4 ms, 160 all-reduces of 45 µs, small kernels "
    "2.5 ms, and gaps between the kernels for the rest. GPUs 4 to 7 sit on the other CPU socket. Proposals: (a) FP8 "
    "weights; (b) capture the step as a CUDA graph; (c) a draft model with four drafts; (d) find out why a sum takes "
    "45 µs.” In which order do we do them, and what does each bring?* Judge with numbers.",
    answer=Written(
        rubric=(
            ("Adds up the device's time and names the gaps as the largest part, with numbers", 1),
            ("(b): the step that is left once the gaps are gone, and what it is bounded by", 1),
            ("(d): what a sum should take, and how much of the step that would save", 1),
            ("(a): why half the bytes save little before (b), and how much after it", 1),
            ("(c): what drafts multiply, and that they need (b) as well, or an order with a reason", 1),
        ),
        words=180,
        criteria=False,
    ),
    solution="The device works for 6.5 + 1.4 + 7.2 + 2.5 = 17.6 ms; the gaps are 23.4 ms of 41, more than all kernels "
    "together, so the host is the longer clock. First (b): without gaps a step takes about 17.6 ms, 57 "
    "tokens a second. "
    "Then (d): a sum of 16 KB takes 17 µs by the model of NCCL on H100s, 5 to 10 in kernels of serving engines; at 17 "
    "µs the 160 sums take 2.7 ms instead of 7.2, and the step 13 ms, 76 tokens a second. Sums over PCIe are one "
    "suspect, since NVLink does not care for sockets; a rank that comes late is another, for its gap is a long sum on "
    "the others. (a) halves the products at most: nothing while the host is longer, from 13 to 10 ms afterwards, after "
    "a check of quality. (c) gives about three tokens a round at an acceptance of 0.7, but each draft is a step of a "
    "small model whose launches take as long: it comes after (b), and pays while the batch stays small.",
)
