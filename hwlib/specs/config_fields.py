"""The fields of one `config.json`, each read once and checked; and whether any is left that was not understood.

Transformers writes such a file with dozens of fields. Those that no parameter follows from are known by name; one that
is neither read nor known ends in an error, for a count that ignores it could be wrong.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from hwlib.specs.shortened import short, short_name
from hwlib.specs.table import SpecError

HARMLESS = "|".join(
    (
        # who wrote it, for which code and in which form
        r"_?name_or_path|_attn_implementation\w*|architectures|auto_map|model_type|transformers_version|tokenizer\w*",
        r"(torch_)?dtype|use_bfloat16|torchscript|unsloth\w*|ep_size|pretraining_tp",
        # what copies of a repository add
        r"_commit_hash|_diffusers_version|attn_implementation|modelscope\w*|model_max_length|max_sequence_length",
        r"(bos|eos|pad|unk|sep|cls|mask)_token|license|quantized_by|base_model|model_name|model_creator",
        # how weights begin, what is dropped out, which losses are added
        r"init\w*|initializer\w*|\w*dropout\w*|\w*_pdrop|\w*drop_rate|\w*loss\w*|seq_aux|\w*jitter\w*|router_z\w*",
        # how positions are turned, scores and logits scaled, and what is activated
        r"rope\w*|rotary\w*|partial_rotary\w*|original_max_position_embeddings|alibi_bias_max|no_rope\w*|use_mrope",
        r"initial_context_length|\w*(softcap\w*|logits?_scal\w+)|logit_scale|query_pre_attn_scalar",
        r"(attention|embedding|residual|logits?|lm_head|key)_multiplier",
        r"scale_\w+|reorder_and_upcast_attn|attn_logit\w*|\w*norm\w*_eps\w*|norm_epsilon|swiglu_limit|clip_qkv",
        r"hidden_act(ivation)?|activation(_function)?|attention_softmax_in_fp32|masked_softmax_fusion",
        r"apply_residual_connection_post_layernorm|slow_but_exact|use_logit_cap|softmax_scale",
        # how tokens choose experts
        r"n_group|topk_group|norm_topk_prob|normalize_expert_weights|scoring_func|routed_scaling_factor",
        # how a state begins, is stepped and computed
        r"time_step_\w+|mamba_hidden_act|mlp_hidden_act|use_mamba_kernels|residual_in_fp32|rescale_prenorm_residual",
        r"num_logits_to_keep|moe_shared_expert_overlap|index_share_for_mtp_iteration|indexer_rope_interleave",
        r"moe_router_dtype|moe_renormalize|moe_router_activation_func|use_grouped_topk|num_expert_group",
        r"position_embedding_type|normalization_function",
        # what is given back, kept and generated
        r"use_cache|output_\w+|return_\w+|gradient_checkpointing\w*|cache_implementation|embd_layer",
        r"\w*token_ids?|max_length|min_length|\w*beam\w*|temperature|top_[kp]|typical_p|\w*penalty|max_new_tokens",
        r"\w*ngram_size|num_return_sequences|bad_words_ids|problem_type|id2label|label2id|finetuning_task|prefix",
        r"task_specific_params|summary_\w+|chunk_size_feed_forward|verbose|do_sample|early_stopping|fused_\w+",
        r"flash_\w+|use_flash\w*|remove_invalid_values|num_labels|forced_\w+|is_decoder|tie_encoder_decoder",
    )
)
"""Names of fields that no parameter, and no product of a decoder, follows from."""
SIZES = frozenset({"hidden_size", "num_hidden_layers", "n_embd", "n_layer", "n_layers", "d_model", "architectures"})
"""Fields by which a file is a model's: the values of another's are not repeated."""
NOTHING: tuple[Any, ...] = (None, False, 0, "", [], {})


class Config:
    """The fields of a file; `where` names it in messages. What is read is remembered. Raises SpecError."""

    def __init__(self, where: str, fields: Mapping[str, Any]):
        self.where, self.fields = where, fields
        self.seen: set[str] = set()

    def wrong(self, name: str, expected: str) -> SpecError:
        """The error for a field: what came in, and what was expected."""
        if self.fields.get(name) is None:
            return SpecError(f"{self.where}: {name} missing; expected {expected}")
        return SpecError(f"{self.where}: {name}: expected {expected}, got {short(self.fields[name])}")

    def get(self, *names: str) -> tuple[str, Any]:
        """The first of these fields that is given, or the first name and None. Where several are, they agree."""
        self.seen.update(names)
        present = [(name, self.fields[name]) for name in names if self.fields.get(name) is not None]
        for name, value in present[1:]:
            if value != present[0][1]:
                raise self.wrong(name, f"{short(present[0][1])} as {present[0][0]}")
        return present[0] if present else (names[0], None)

    def count(self, *names: str, default: int | None = None, low: int = 1) -> int:
        """A whole number of at least `low`; `default` where it is not given."""
        name, value = self.get(*names)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value < 2**53:
            most = " and below 2^53" if isinstance(value, int) and value >= 2**53 else ""
            raise self.wrong(name, f"a whole number of at least {low}{most}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        """Whether something is so."""
        _, value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def only(self, name: str, *values: Any) -> None:
        """Refuse a field that has another value than these. The first is what it means not to have it."""
        _, value = self.get(name)
        if value is not None and (value not in values or type(value) not in map(type, values)):
            raise self.wrong(name, f"{' or '.join(map(repr, values))}, as nothing else is understood here")

    def inner(self, name: str) -> "Config":
        """The fields of a field."""
        _, value = self.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise self.wrong(name, "an object of fields")
        return Config(f"{self.where}, {name}", value or {})

    def divided(self, name: str, by: int) -> int:
        """A field divided by another, without a remainder."""
        whole = self.count(name)
        if whole % by:
            raise self.wrong(name, f"a multiple of the {by} heads, where no head_dim is given")
        return whole // by

    def unread(self, harmless: str = HARMLESS) -> list[str]:
        """The fields that were not read, say something, and are not known to be harmless."""
        return [
            name
            for name, value in self.fields.items()
            if name not in self.seen and value not in NOTHING and not re.fullmatch(harmless, name)
        ]

    def finished(self) -> None:
        """Refuse a field that was not read, says something, and is not known to be harmless."""
        for name in self.unread():
            read = ", ".join(sorted(self.seen & self.fields.keys()))
            raise SpecError(
                f"{self.where}: {short_name(name)} = {short(self.fields[name])} is not understood, and the parameters "
                f"might depend on it; it would have to change none, and no product, to be left out; expected, beside "
                f"fields that they do not depend on: {read}"
            )


def kind_of(config: Config, known: Mapping[str, Callable[[Config], Any]], nearest: Callable[[Config], str]) -> str:
    """The architecture of a file, one of those known. Raises SpecError, which says what `nearest` tells of it."""
    _, kind = config.get("model_type")
    if not isinstance(kind, str):
        raise config.wrong("model_type", f"one of {', '.join(known)}; {nearest(config)}")
    if kind not in known:
        if not config.fields.keys() & SIZES:
            raise SpecError(f"{config.where}: not a model's: its model_type is unknown, and no field is a model's size")
        raise SpecError(f"{config.where}: unknown model_type {short(kind)}; {nearest(config)}")
    config.only("is_encoder_decoder", False)
    config.only("add_cross_attention", False)
    return kind


def predicts_tokens(config: Config) -> None:
    """Refuse a model with another head than one that predicts the next token."""
    _, made = config.get("architectures")
    for name in made if isinstance(made, list) else ():
        if isinstance(name, str) and "For" in name and not name.endswith("ForCausalLM"):
            raise config.wrong("architectures", "a model that predicts the next token, ...ForCausalLM")
