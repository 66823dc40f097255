"""What a layer does beside its products and attention, kernel by kernel: bytes of a token, and launches.

A layer is two blocks, of attention and of an MLP. Each normalises the residual stream, multiplies, and adds what comes
out to the stream. Without a compiler every operation is a kernel that reads and writes what it works on; a compiler
makes one kernel of those between two products, so that each vector is read and written once. Under autocast weights and
the stream have 32 bits, and without a compiler each product casts its input anew.
"""

from typing import NamedTuple

from hwlib.footprint.trained import Adapters, layer_matrices, matrix_share
from hwlib.specs import Model

ELEMENT = 2  # bytes of what products read and write
WIDE = 4  # bytes of an element of the stream under autocast
CAST = ELEMENT + WIDE
ADAPTER, ADAPTER_BACK = 6, 9  # kernels of an adapter: a cast and one back, two products, a scale and a sum
UNPACK, UNPACK_APART = 1, 6  # kernels that make a matrix again out of few bits: apart shift, mask, zero, scale, casts
ADD = 3  # two are read and a sum is written


class Fusion(NamedTuple):
    """Elements that move for one element, forward and backward, and kernels that they move in.

    Of a rotary embedding for queries and keys (apart: two halves are joined, two products, a sum), of the activation
    of a gated MLP and of one without a gate, of a norm of queries and keys, and of each copy of a token that goes to an
    expert: picked, weighed, added up, which backward are as many and a sorted sum. The losses' bytes are of a logit,
    which is cast to 32 bits, read three times for its softmax and written; backward twice two are read, and cast back.
    Where attention is not fused its scores' bytes are of one: written by a product, scaled, masked, cast to 32 bits for
    a softmax, cast back and read by a product; backward the same the other way round.
    """

    rotary: tuple[float, float]
    rotary_kernels: tuple[int, int]
    gate: tuple[float, float]
    gate_kernels: tuple[int, int]
    plain: tuple[float, float]
    head_norm: tuple[float, float]
    copy: tuple[float, float]
    copy_kernels: tuple[int, int]
    loss: tuple[float, float]
    scores: tuple[float, float]


FUSIONS = {
    "eager": Fusion((10, 10), (10, 12), (5, 9), (2, 3), (2, 3), (2, 3), (7, 8), (12, 20), (22, 30), (32, 38)),
    "compiled": Fusion((2, 2), (1, 1), (3, 6), (1, 1), (2, 3), (0, 0), (4, 5), (8, 12), (4, 6), (8, 12)),
}


class Moves(NamedTuple):
    """Bytes of a token and launches of a layer, forward and backward: products and attention are launches, too."""

    forward: float
    backward: float
    launches: int
    launches_back: int


def layer_moves(model: Model, moe: bool, kernels: str, wide: bool, frozen: bool) -> Moves:
    """The moves of one layer, with experts or not, by eager or compiled `kernels`; `wide` under autocast, `frozen`
    where no matrix has a gradient.
    """
    by, compiled = FUSIONS[kernels], kernels == "compiled"
    stream = WIDE if wide else ELEMENT
    matrices = layer_matrices(model, moe)
    products = round(sum(matrix_share(model, moe, name) * len(shapes) for name, shapes in matrices.items()))
    heads = (model.heads + model.kv_heads) * model.key_dim
    hidden = model.expert_ffn * (model.experts_per_token + model.shared_experts) if moe else model.ffn
    copied = model.width * model.experts_per_token if moe else 0
    rotary = heads if not model.positions else 0
    activation = by.gate if model.matrices == 3 else by.plain
    ends = [
        _stream_moves(model, stream, compiled, back) * model.width
        + ELEMENT * (by.rotary[back] * rotary + activation[back] * hidden + by.copy[back] * copied)
        + ELEMENT * by.head_norm[back] * heads * model.qk_norm
        for back in (False, True)
    ]
    if not frozen:
        ends[1] += ELEMENT * _biased(model)
    around = 4 + bool(rotary) * by.rotary_kernels[0] + by.gate_kernels[0] + moe * by.copy_kernels[0]
    around_back = 9 + bool(rotary) * by.rotary_kernels[1] + by.gate_kernels[1] + moe * by.copy_kernels[1]
    if compiled:
        around, around_back = around // 2, around_back // 2  # norms and sums are one kernel
    elif wide:
        casts = len(_inputs(model))
        ends = [end + CAST * casts * model.width for end in ends]
        around, around_back = around + casts + products, around_back + casts + products
    backward = products if frozen else 2 * products
    return Moves(ends[0], ends[1], 1 + products + around, 3 + backward + around_back)


def adapter_launches(adapters: Adapters, model: Model, moe: bool) -> tuple[int, int]:
    """Launches that adapters add to a layer, forward and backward: of each its products, scale and sum; and for each
    matrix in few bits what makes it again in 16.
    """
    shapes = layer_matrices(model, moe)
    beside = sum(len(shapes[name]) for name in adapters.matrices)
    kernels = (UNPACK_APART if adapters.apart else UNPACK) if adapters.quantised else 0
    unpacked = kernels * sum(map(len, shapes.values()))
    return ADAPTER * beside + unpacked, ADAPTER_BACK * beside + unpacked


def _inputs(model: Model) -> tuple[str, ...]:
    """The products that read what a norm gives."""
    return ("q", "k", "v", "up", "gate")[: 2 + model.matrices]


def _stream_moves(model: Model, stream: int, compiled: bool, back: bool) -> float:
    """Bytes of an element of the residual stream in norms and sums: backward, what several products that read one input
    give for its gradient is summed, too.
    """
    if compiled:  # of each block one kernel: a sum and the norm that follows
        return 2 * (ELEMENT + 3 * stream + ELEMENT if back else 2 * (stream + ELEMENT))
    norms, sums = model.layer_norms, 2
    if not back:
        return norms * 2 * stream + sums * (2 * stream + ELEMENT)
    more = len(_inputs(model)) - 2
    return norms * 3 * stream + sums * ADD * stream + more * ADD * ELEMENT


def _biased(model: Model) -> int:
    """Elements of a token that are summed for gradients of biases."""
    queries, keys = model.heads * model.key_dim, model.kv_heads * (model.key_dim + model.value_dim)
    sums = {
        "none": 0,
        "qkv": queries + keys,
        "attention": queries + keys + model.width,
        "mlp": model.ffn + model.width,
        "all": queries + keys + model.ffn + 2 * model.width,
    }
    return sums[model.biases]
