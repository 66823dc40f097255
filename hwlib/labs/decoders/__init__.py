"""Five small decoders in torch, each with one of the variants of today's models, to be counted.

The numbers of a decoder are a dict: L layers, D width, F width of the MLP or of one expert, n_q and K heads of width
H, V vocabulary, `tables` of it, E experts of which a token takes k, `shared` ones, T tokens, T_win tokens of a chunk
(T without chunks), and for latent attention r_q, r_kv, d_nope, d_rope, d_v (0 without it).
"""

from typing import Any

SIZES = {
    "L": 2, "D": 96, "F": 256, "n_q": 8, "K": 2, "H": 16, "V": 500, "tables": 2, "E": 1, "k": 1, "shared": 0,
    "T": 96, "T_win": 96, "r_q": 0, "r_kv": 0, "d_nope": 0, "d_rope": 0, "d_v": 0,
}  # fmt: skip
DECODERS = {
    "GQA": SIZES,
    "tied": {**SIZES, "tables": 1, "K": 8},
    "windowed": {**SIZES, "T_win": 32},
    "MLA": {**SIZES, "K": 8, "r_q": 40, "r_kv": 24, "d_nope": 16, "d_rope": 8, "d_v": 16},
    "MoE": {**SIZES, "F": 64, "E": 8, "k": 2, "shared": 1},
}


def build_decoder(name: str) -> Any:
    """One of `DECODERS` as a torch module: tokens in, logits out. Raises KeyError for a name that there is not."""
    if name not in DECODERS:
        raise KeyError(f"no decoder {name!r}; known: {', '.join(DECODERS)}")
    from hwlib.labs.decoders._torch import Decoder

    return Decoder(DECODERS[name])


def counted(module: Any, T: int, backward: bool = False) -> tuple[int, int]:
    """Parameters of a decoder, and the operations of matrix products that torch counts for one sequence of T tokens,
    forward, or forward and backward.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        out = module(torch.arange(T, device=next(module.parameters()).device) % module.vocab)
        if backward:
            out.sum().backward()
    return sum(p.numel() for p in module.parameters()), counter.get_total_flops()
