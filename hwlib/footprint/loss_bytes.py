"""What the loss holds of tokens times vocabulary, by how it is computed.

Logits in 16 bits, their copy in 32, the logarithms of the softmax and the gradients of both are as large as tokens
times vocabulary, and are more than the layers keep of a model with a large vocabulary. A loss that is cut into chunks
holds one chunk's at a time, and one that is fused with the output layer never holds the logits at all.
"""

from typing import Any, NamedTuple

from hwlib.formula import maximum, minimum, where

LOSSES = ("full", "chunked", "fused")
"""How a loss is computed: of all logits at once; of chunks of them; together with the output layer."""
CHUNKS = 8  # of torchtune's chunked loss
LOGIT = 2  # bytes of a logit, and of its gradient, as the output layer makes and reads it
LOGARITHM = 4  # of a softmax, kept for the backward pass where the loss is not compiled
UNFUSED = LOGIT + LOGARITHM  # bytes of a logit from which on a loss keeps logarithms


class LossBytes(NamedTuple):
    """Bytes at the two peaks of the end of a forward pass: while the loss is differentiated, and while the output layer
    is, where the logits' gradient stands beside that of the layer's matrix.
    """

    loss: Any
    product: Any

    @property
    def peak(self) -> Any:
        """The larger of the two."""
        return maximum(self.loss, self.product)


def loss_bytes(kind: str, logits: Any, bytes_of_logit: Any, share: Any, gradient: Any) -> LossBytes:
    """Bytes of a loss, one of LOSSES, over so many logits, each of which takes `bytes_of_logit` at a full one's peak.

    `share` is the width of the model over its vocabulary: a fused loss makes as many logits at a time as the hidden
    states have elements. `gradient` are bytes of the gradient of the output layer's matrix, where it is made here: of
    chunks there is one beside the sum of those before.

    >>> loss_bytes("full", 1000, 12, 0.03, 500)
    LossBytes(loss=12000, product=2500)
    >>> float(loss_bytes("chunked", 1000, 12, 0.03, 500).peak)
    7000.0
    """
    if kind == "full":
        return LossBytes(bytes_of_logit * logits, LOGIT * logits + gradient)
    if kind == "fused":
        chunk = bytes_of_logit * logits * minimum(share, 1.0)
        return LossBytes(chunk + gradient, chunk + gradient)
    logarithm = where(bytes_of_logit > UNFUSED, LOGARITHM, 0.0)
    a_chunk = (bytes_of_logit - logarithm) / CHUNKS
    return LossBytes(logits * (LOGIT + logarithm + a_chunk), LOGIT * logits + 2 * gradient)
