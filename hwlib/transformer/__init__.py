"""Transformers: parameters, operations, activations and cache, as formulas and for the models of the tables.

>>> parameter_count("llama3-70b"), kv_bytes_per_token("llama3-70b")
(70553706496, 327680)
>>> round(step_flops("llama3-70b", B=1, T=8192) / (6 * parameter_count("llama3-70b")), 3)
1.061
"""

from hwlib.transformer.activations import (
    best_segments,
    checkpoint_bytes,
    full_activation_bytes,
    interleaved_stage_bytes,
    layer_activation_bytes,
    least_checkpoint_bytes,
    logit_bytes,
    scores_bytes,
    selective_activation_bytes,
    sequence_activation_bytes,
    swiglu_layer_activation_bytes,
    tensor_activation_bytes,
    tensor_selective_activation_bytes,
)
from hwlib.transformer.flops import (
    attention_equal_tokens,
    attention_forward_flops,
    backward_flops,
    causal_attention_forward_flops,
    forward_flops,
    gpt_recompute_training_flops,
    gpt_training_flops,
    mla_attention_forward_flops,
    mla_folded_flops,
    mla_unfolded_flops,
    recompute_training_flops,
    training_flops,
    window_attention_forward_flops,
)
from hwlib.transformer.kv_cache import kv_token_bytes, mla_token_bytes
from hwlib.transformer.model_counts import (
    Parameters,
    active_parameters,
    attention_matrices,
    attention_parameters,
    attention_step_flops,
    kv_bytes_per_token,
    kv_cache_bytes,
    matmul_parameters,
    mlp_parameters,
    mtp_parameters,
    norm_parameters,
    output_biases,
    parameter_count,
    parameter_groups,
    qk_norm_parameters,
    recomputed_flops,
    router_parameters,
    step_flops,
    with_mtp,
)
from hwlib.transformer.parameters import (
    attention_params,
    decoder_params,
    embedding_params,
    gpt_params,
    layer_params,
    llama_params,
    mla_params,
    mlp_params,
    moe_active_params,
    moe_params,
)

__all__ = [
    "Parameters", "active_parameters", "attention_equal_tokens", "attention_forward_flops", "attention_matrices",
    "attention_parameters", "attention_params", "attention_step_flops", "backward_flops", "best_segments",
    "causal_attention_forward_flops", "checkpoint_bytes", "decoder_params", "embedding_params", "forward_flops",
    "full_activation_bytes", "gpt_params", "gpt_recompute_training_flops", "gpt_training_flops",
    "interleaved_stage_bytes", "kv_bytes_per_token", "kv_cache_bytes", "kv_token_bytes", "layer_activation_bytes",
    "layer_params", "least_checkpoint_bytes", "llama_params", "logit_bytes", "matmul_parameters",
    "mla_attention_forward_flops", "mla_folded_flops", "mla_params", "mla_token_bytes", "mla_unfolded_flops",
    "mlp_parameters", "mlp_params", "moe_active_params", "moe_params", "mtp_parameters", "norm_parameters",
    "output_biases", "parameter_count", "parameter_groups", "qk_norm_parameters", "recompute_training_flops",
    "recomputed_flops", "router_parameters", "scores_bytes", "selective_activation_bytes",
    "sequence_activation_bytes", "step_flops", "swiglu_layer_activation_bytes", "tensor_activation_bytes",
    "tensor_selective_activation_bytes", "training_flops", "window_attention_forward_flops", "with_mtp",
]  # fmt: skip
