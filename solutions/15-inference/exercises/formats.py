"""The decision between two formats of weights."""

from autograder.answers import Choice
from autograder.declaration import Exercise, Mistake

FORMAT = Exercise(
    id="inference-which-format",
    title="Four bits, or eight",
    points=2,
    prompt="Llama 3 70B, 70e9 weights, decodes 512 sequences of 1,024 tokens on four H100s, each with 3.35 TB/s of "
    "memory, 989 TFLOP/s in bf16 and 1,979 in fp8. The cache has 163,840 bytes a token either way. Weights of 4 bits "
    "take 0.53 bytes with their scales, and their products run in bf16; weights of 8 bits take a byte, and their "
    "products run in fp8. Which step is shorter at these rates, and by how much? *Exact* for them: the matrices take "
    "the longer of bytes and arithmetic, the caches come on top, and nothing else takes time.",
    answer=Choice(
        {
            "four far": "4 bits, by a factor of 1.3 or more",
            "four near": "4 bits, by a factor below 1.3",
            "eight near": "8 bits, by a factor below 1.3",
            "eight far": "8 bits, by a factor of 1.3 or more",
        },
        ordered=True,
    ),
    solution="eight far",
    mistakes=(
        Mistake("four far", "That compares the bytes of the weights. Is a batch of 512 still bound by them?"),
        Mistake("four near", "With 512 sequences, what takes longer in each format: the bytes or the arithmetic?"),
        Mistake("eight near", "The right format. Add the caches once, and compare the two sums."),
    ),
    hints=(
        "For each format: bytes of the weights over the bandwidth, and 2·70e9·512 operations over its own peak.",
        "The caches take the same time in both. Add it to the longer of the two.",
    ),
    explain="4 bits: the weights take 2.8 ms, the products in bf16 18.1 ms. 8 bits: 5.2 ms and 9.1 ms. The caches take "
    "6.4 ms in both, so the steps are 24.5 and 15.5 ms, a factor of 1.6. Weights in few bits save bytes, which pays "
    "below the critical batch; an arithmetic in few bits pays above it. For one sequence the 4 bits would win.",
)
