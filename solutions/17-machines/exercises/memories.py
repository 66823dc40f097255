"""Exercises on memory beyond and within the package: the host's over a chip-to-chip link, and arithmetic in a stack."""

from autograder.answers import Expression, Quantity, positive
from autograder.declaration import Exercise, Mistake
from hwlib.units import GB, TFLOP

OFFLOAD = Exercise(
    id="machines-offload",
    title="The optimizer next door",
    points=2,
    prompt="The optimizer's states and its step live with the host. Every step the gradients, 2 bytes a parameter, "
    "go to the host and the new weights, 2 bytes a parameter, come back, chunk by chunk and both ways at once at "
    "{W:B/s} each way. A GPU has {C:FLOP/s} and reaches {eta} of it; forward and backward take six operations a "
    "parameter and token. The transfers may run beside all of them. From how many tokens on one GPU in a step do they "
    "hide? *To first order*: no latency, and the host's own arithmetic is fast enough.",
    given=[
        dict(W=175 * GB, C=989.4 * TFLOP, eta=0.4),
        dict(W=450 * GB, C=989.4 * TFLOP, eta=0.4),
        dict(W=63 * GB, C=2250 * TFLOP, eta=0.35),
    ],
    answer=Quantity("token"),
    solution=lambda W, C, eta: eta * C / (3 * W),
    mistakes=(
        Mistake(lambda W, C, eta: 2 * eta * C / (3 * W), "Gradients and weights have a direction each."),
        Mistake(lambda W, C, eta: eta * C / (2 * W), "The transfers may run beside the forward pass as well."),
        Mistake(lambda W, C, eta: C / (3 * W), "The GPU reaches a share of its peak, and slow arithmetic hides more."),
        Mistake(
            lambda W, C, eta: eta * C / (6 * W),
            "Half of it: is a gradient one byte, or does one direction get the bandwidth of both?",
            names_all=True,
        ),
    ),
    hints=(
        "One direction: 2 bytes a parameter over W. The step: 6 operations a parameter and token over what is reached.",
    ),
    explain="A direction takes 2·P/W, the step 6·P·B/(η·C). They are equal at B = η·C/(3·W), and parameters drop out. "
    "Over a chip-to-chip link that is some hundreds of tokens, a fraction of one sequence; over PCIe it is half of one "
    "of 8,192. "
    "What binds on a superchip is then the host's memory, which reads and writes twelve bytes of states a parameter.",
)

NEAR = Exercise(
    id="machines-near-memory",
    title="Half in the memory",
    points=3,
    prompt="A decode step of `B` sequences multiplies by weights of `b_w` bytes each, two operations for a weight "
    "and a sequence. Some of the weights lie in stacks that compute where they lie, together `C_pim` operations a "
    "second; the others in stacks that the GPU reads at `W`, and its arithmetic is fast enough. Both work at once, "
    "and for the stacks that compute the arithmetic binds. The weights are divided so that both end together. How "
    "many times as fast is the step as with the GPU and its stacks alone, which then have all weights? *Exact*.",
    answer=Expression(
        {
            "B": positive("1", 1, 64),
            "b_w": positive("B", 0.5, 2),
            "C_pim": positive("FLOP/s", 1e12, 1e14),
            "W": positive("B/s", 1e12, 1e13),
        },
    ),
    solution=lambda B, b_w, C_pim, W: 1 + b_w * C_pim / (2 * B * W),
    mistakes=(
        Mistake(
            lambda B, b_w, C_pim, W: b_w * C_pim / (2 * B * W),
            "That compares the stacks with the GPU. Here both work, each on its part.",
        ),
        Mistake(
            lambda B, b_w, C_pim, W: 1 + 2 * B * W / (b_w * C_pim),
            "Upside down: more sequences are more operations for the same weights. Who suffers?",
        ),
        Mistake(
            lambda b_w, C_pim, W: 1 + b_w * C_pim / (2 * W),
            "That is for one sequence. The stacks compute for each of B.",
        ),
        Mistake(
            lambda B, b_w, C_pim, W: 1 + b_w * C_pim / (B * W),
            "A multiplication and an addition are two operations.",
            name="multiply-add",
        ),
        Mistake(
            lambda B, C_pim, W: 1 + C_pim / (2 * B * W),
            "W counts bytes. How many has a weight?",
        ),
        Mistake(
            lambda B, b_w, C_pim, W: 1 / (1 + b_w * C_pim / (2 * B * W)),
            "That is the time of the step, as a share of the GPU's alone. How many times as fast is it?",
        ),
        Mistake(
            lambda B, b_w, C_pim, W: b_w * C_pim / (2 * B * W + b_w * C_pim),
            "That is the share of the weights that the stacks take. What does it save the GPU?",
        ),
    ),
    hints=(
        "A share f of P weights in the stacks takes 2·f·P·B/C_pim; the rest takes (1 − f)·P·b_w/W.",
        "Both together do C_pim/(2B) and W/b_w weights a second. Alone the GPU does the second.",
    ),
    explain="In weights a second the stacks do C_pim/(2·B) and the GPU W/b_w. Working together they do the sum, and "
    "the ratio to the GPU alone is 1 + b_w·C_pim/(2·B·W). That is 1 + B*/B with B* the critical batch of the stacks' "
    "arithmetic against the GPU's bus: at B* the step is twice as fast, at ten times B* a tenth faster.",
)
