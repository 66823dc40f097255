"""The five decoders against the formulas: all parameters, and the operations of all but the one that does more."""

import pytest

from hwlib.labs.decoders import DECODERS, build_decoder, counted
from hwlib.specs import Model
from hwlib.transformer import attention_forward_flops, matmul_parameters, parameter_count

pytest.importorskip("torch")


def model_of(c):
    """The decoder as a `Model`: latent attention has norms of its own there, which these do not."""
    experts = {"experts": c["E"], "experts_per_token": c["k"], "shared_experts": c["shared"], "expert_ffn": c["F"]}
    latent = {
        "q_lora": c["r_q"],
        "kv_lora": c["r_kv"],
        "nope_dim": c["d_nope"],
        "rope_dim": c["d_rope"],
        "v_dim": c["d_v"],
    }
    return Model.small(
        layers=c["L"],
        width=c["D"],
        heads=c["n_q"],
        kv_heads=c["K"],
        head_dim=c["H"],
        ffn=c["F"],
        vocab=c["V"],
        tied=c["tables"] == 1,
        **(experts if c["E"] > 1 else {}),
        **(latent if c["r_kv"] else {}),
    )


@pytest.mark.parametrize("name", DECODERS)
def test_torch_counts_what_the_formulas_say(name):
    c = DECODERS[name]
    model, T = model_of(c), c["T"]
    parameters, flops = counted(build_decoder(name), T)
    assert parameters == parameter_count(model) - c["L"] * (c["r_q"] + c["r_kv"])
    widths = c["d_nope"] + c["d_rope"] + c["d_v"] if c["r_kv"] else 2 * c["H"]
    scores = c["L"] * attention_forward_flops(T, min(T, c["T_win"]), c["n_q"], 1) * widths / 2
    required = 2 * matmul_parameters(model) * T + scores / 2 * 2
    extra = 6 * c["L"] * c["D"] * c["F"] * (c["E"] - c["k"]) * T
    assert flops == required + extra
    assert (extra > 0) == (name == "MoE")


def test_backward_is_twice_forward_and_odd_names_are_refused():
    module = build_decoder("tied")
    forward, both = (counted(module, 32, backward)[1] for backward in (False, True))
    assert both == 3 * forward
    with pytest.raises(KeyError, match="'dense'; known: GQA"):
        build_decoder("dense")
