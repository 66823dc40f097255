"""The work of one step of a server: its kernels and messages at their own models' times, apart by kind.

A step is one pass through the model: some sequences get a token each, and some prompts are read beside them. A layer
is costed once, a stage of a pipeline has its share of the layers, and what software adds to a step (launches,
scheduling) or takes from its rates is left to the constants of `hwlib.specs.serving_stack`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from typing import Any, NamedTuple

from hwlib.calibrated.cache_formats import cache_element_bytes, cache_formats_of
from hwlib.calibrated.serving_drafts import Drafting, draft_model
from hwlib.calibrated.serving_kernels import (
    KernelChip,
    LayerAttention,
    cache_least,
    cache_time,
    experts_least,
    experts_time,
    kernel_chip,
    product_least,
    product_time,
    prompt_least,
    prompt_time,
    traffic_time,
)
from hwlib.calibrated.serving_mixers import (
    compressed_prompt_flops,
    compressed_prompt_seconds,
    index_prompt_seconds,
    index_step_seconds,
    sparse_prompt_seconds,
    state_prompt_seconds,
    state_step_least,
    state_step_seconds,
    stream_seconds,
    vector_rate,
)
from hwlib.calibrated.serving_network import Nodes, exchange_least, exchange_time, reduce_least, reduce_time
from hwlib.calibrated.sheet import KERNEL_BYTES
from hwlib.collectives import Routing
from hwlib.inference import step_bytes
from hwlib.specs import Accelerator, Model
from hwlib.specs.table import unknown
from hwlib.transformer import (
    attention_step_flops,
    cache_read_bytes,
    compressor_matrices,
    forward_flops,
    index_bytes_per_token,
    indexer_matrices,
    kv_cache_bytes,
    latent_matrices,
    matmul_parameters,
    mixer_matrices,
    mixer_shapes,
    moved_state_bytes,
    sequence_state_bytes,
    stream_matrices,
    unfinished_bytes,
)
from hwlib.transformer.attention_kinds import AttentionKind, attention_kinds
from hwlib.transformer.stored_weights import StoredParts

WEIGHT_BYTES = {name: b[0] for name, b in KERNEL_BYTES.items()} | {"int8w": 1.0, "int4w": 0.53}


class Work(NamedTuple):
    """One step: seconds that the models of kernels and messages give, and what software pays for by the piece.

    `layers` and `prompt_layers` count the passes through a layer, of steps that only decode and of those that read
    prompts. Of each kind but plain traffic, which other software may leave out, `..._least` is what a data sheet's
    rates leave at best. `sheet` is what these give without messages: the simple model to compare with.
    """

    layers: float = 0.0
    prompt_layers: float = 0.0
    products: float = 0.0
    experts: float = 0.0
    attention: float = 0.0
    traffic: float = 0.0
    network: float = 0.0
    products_least: float = 0.0
    experts_least: float = 0.0
    attention_least: float = 0.0
    network_least: float = 0.0
    sheet: float = 0.0


class _Sheet(NamedTuple):
    """Rates of a chip, operations of a token, and bytes of weights that a step reads of no expert and of every one."""

    C: float
    W: float
    flops: float
    none: float
    every: float


@dataclass(frozen=True)
class Server:
    """A model on GPUs: what it is, how it is divided, and in which precisions it runs.

    Ranks of `tp` divide layers and heads, `pp` stages divide the layers; the experts are divided over `ep` ranks
    whole, and beyond that by tp. With `attention_dp`, each of the `tp` ranks has whole layers but for the experts,
    and sequences of its own. `dtype` is that of the products, `attention_dtype` that of attention's own projections
    and `expert_dtype` that of the experts', where they differ; `kv_dtype` that of the cache. `kernels` is the
    software whose attention and experts are launched, of `kernel_software`. Over several `nodes`, only ranks with
    attention of their own can be spread. `stored` are the bytes of a checkpoint's weights, where they are not those of
    these precisions. With `drafting`, a decode step checks the drafts of each sequence and makes the next ones.
    Of each prompt, `prefix` tokens are in the cache already.
    """

    model: Model
    chip: Accelerator
    tp: int = 1
    pp: int = 1
    ep: int = 1
    attention_dp: bool = False
    dtype: str = "bf16"
    attention_dtype: str = ""
    expert_dtype: str = ""
    kv_dtype: str = "bf16"
    kernels: str = "trtllm"
    nodes: Nodes | None = None
    stored: StoredParts | None = None
    drafting: Drafting | None = None
    prefix: float = 0.0

    def __post_init__(self) -> None:
        for name in ("tp", "pp", "ep"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} is at least 1, got {getattr(self, name)!r}")
        if self.tp % self.ep:
            raise ValueError(f"ep divides the tp = {self.tp} ranks, got {self.ep}")
        if self.nodes and self.attention_tp > self.nodes.gpus:
            raise ValueError(f"tp is at most the {self.nodes.gpus} GPUs of a node, got {self.attention_tp}")
        if self.pp > self.model.layers:
            raise ValueError(f"{self.model.key} has {self.model.layers} layers, got pp = {self.pp}")
        for dtype in (self.dtype, self.attention_dtype or self.dtype, self._experts):
            if dtype not in WEIGHT_BYTES:
                raise ValueError(unknown("dtype of weights", dtype, WEIGHT_BYTES))
        if self.kv_dtype not in (caches := cache_formats_of(self.model, self.chip)):
            raise ValueError(unknown(f"dtype of the cache on {self.chip.name}", self.kv_dtype, caches))

    @property
    def attention_tp(self) -> int:
        """Ranks that divide attention."""
        return 1 if self.attention_dp else self.tp

    @property
    def groups(self) -> int:
        """Groups of ranks with sequences of their own in a step."""
        return self.tp if self.attention_dp else 1

    @property
    def gpus(self) -> int:
        return self.tp * self.pp

    def unread(self, prompt: float) -> float:
        """Tokens of a prompt that are read: without those of the prefix, and one at least."""
        return max(1.0, prompt - self.prefix) if prompt else 0.0

    @property
    def queries(self) -> int:
        """New tokens of a sequence in a decode step: its last token, and drafts."""
        return 1 + self.drafting.drafts if self.drafting else 1

    @cached_property
    def drafter(self) -> Server | None:
        """The server of what makes drafts, a layer on the same GPUs; a head beside the model has 16 bits."""
        if self.drafting is None:
            return None
        own: dict[str, Any] = (
            {} if self.drafting.method == "mtp" else {"dtype": "bf16", "attention_dtype": "", "expert_dtype": ""}
        )
        layer = draft_model(self.model, self.drafting.method)
        return replace(self, model=layer, pp=1, stored=None, drafting=None, **own)

    def weight_bytes(self) -> float:
        """Bytes of weights on the fullest GPU: as the files of a checkpoint store them, where they are `stored`; and of
        what makes drafts, which shares the tables of the model.
        """
        return self._model_weight_bytes() + self._drafter_bytes()

    def _drafter_bytes(self) -> float:
        """Bytes of weights of what makes drafts, on each GPU."""
        if self.drafter is None or self.drafting is None:
            return 0.0
        m = self.drafter.model
        joined = self.drafting.joined * m.width**2 * WEIGHT_BYTES[self.drafter.dtype] / self.attention_tp
        shared = m.vocab * m.width * (1 if m.tied else 2) * 2.0 / self.attention_tp
        head = m.vocab * m.width * 2.0 / self.attention_tp if self.drafting.method == "eagle3" else 0.0
        return self.drafter.weight_bytes() - shared + head + joined

    def _model_weight_bytes(self) -> float:
        m, ways = self.model, self.attention_tp
        if self.stored:
            return ((self.stored.total - self.stored.experts) / ways + self.stored.experts / self.tp) / self.pp
        kinds = attention_kinds(m)
        attended = sum(kind.layers * attention_weights(kind.model) for kind in kinds)
        compressors = sum(kind.layers * compressor_matrices(m, kind.stride) for kind in kinds)
        mixers = attended + mixer_matrices(m) * m.state_layers
        attention = mixers * WEIGHT_BYTES[self.attention_dtype or self.dtype]
        dense = m.matrices * m.width * m.ffn * (m.mlp_layers - m.moe_layers)
        shared = (m.matrices * m.width * m.expert_ffn * m.shared_experts + latent_matrices(m)) * m.moe_layers
        each = m.matrices * (m.expert_width or m.width) * m.expert_ffn
        experts = each * m.experts * m.moe_layers * WEIGHT_BYTES[self._experts]
        split = (attention + (dense + shared) * WEIGHT_BYTES[self.dtype]) / ways + experts / self.tp
        tables = m.vocab * m.width * (1 if m.tied else 2) * 2.0 / ways
        indexers = indexer_matrices(m) * m.indexer.layers * WEIGHT_BYTES[self.dtype] if m.indexer else 0.0
        return (split + tables + indexers + 2.0 * compressors + 4.0 * stream_matrices(m)) / self.pp

    def token_bytes(self) -> float:
        """Bytes of cache of a token on each GPU of its group, if no layer has a window."""
        m, b = self.model, cache_element_bytes(self.model, self.kv_dtype)
        if m.compression:
            entries = sum(self._kind_bytes(kind) / kind.stride for kind in attention_kinds(m) if kind.stride)
            return entries + index_bytes_per_token(m) / self.pp
        if m.mla:
            return (m.attention_layers * (m.kv_lora + m.rope_dim) * b + index_bytes_per_token(m)) / self.pp
        return sum(self._kind_bytes(kind) for kind in attention_kinds(m)) + index_bytes_per_token(m) / self.pp

    def _kind_bytes(self, kind: AttentionKind) -> float:
        """Bytes of cache of a token in the layers of one kind, on each GPU of its group."""
        m = kind.model
        if m.compression:
            return kind.layers / self.pp * m.latent_key * cache_element_bytes(m, self.kv_dtype)
        heads = max(m.kv_heads / self.attention_tp, 1)
        return kind.layers / self.pp * heads * (m.key_dim + m.value_dim) * cache_element_bytes(m, self.kv_dtype)

    def state_bytes(self) -> float:
        """Bytes of a sequence's states on each GPU of its group, whose heads are divided: one, and one for each draft,
        to which a step may go back; and once, on each GPU, of tokens whose entry is not complete.
        """
        unfinished = unfinished_bytes(self.model)
        states = sequence_state_bytes(self.model) - unfinished
        return (self.queries * states / self.attention_tp + unfinished) / self.pp

    def sequence_bytes(self, tokens: float) -> float:
        """Bytes of cache and state of a sequence on each GPU of its group, that of drafts included."""
        drafts = self.drafter.sequence_bytes(tokens) if self.drafter else 0.0
        return self._model_sequence_bytes(tokens) + drafts

    def _model_sequence_bytes(self, tokens: float) -> float:
        """The same of the model alone; a layer with a window keeps that."""
        m = self.model
        if m.mla:
            return self.token_bytes() * tokens + self.state_bytes()
        kinds = attention_kinds(m)
        keys = sum(self._kind_bytes(kind) * _kept(kind, tokens) for kind in kinds)
        return keys + tokens * index_bytes_per_token(m) / self.pp + self.state_bytes()

    def _moved_bytes(self, tokens: float) -> float:
        """Bytes of cache and state of a sequence that a decode step moves on each GPU of its group."""
        m, keys = self.model, self._model_sequence_bytes(tokens) - self.state_bytes()
        if m.indexer:
            b = cache_element_bytes(m, self.kv_dtype)
            keys *= (cache_read_bytes(m, tokens, b) - moved_state_bytes(m)) / kv_cache_bytes(m, tokens, b)
        states = 2 * (sequence_state_bytes(m) - unfinished_bytes(m))
        return keys + (states / self.attention_tp + moved_state_bytes(m) - states) / self.pp

    @property
    def _experts(self) -> str:
        return self.expert_dtype or self.dtype

    def step(self, decoding: int, context: float, prompts: float = 0.0, prompt: float = 0.0) -> Work:
        """One step on each GPU: `decoding` sequences of each group get a token, or check drafts, with `context` tokens
        in their caches, and beside them `prompts` prompts of each group are read, each of `prompt` tokens.

        The tokens of all go through the products together. A prompt is read whole. What makes drafts reads prompts too.
        """
        work = self._model_step(decoding, context, prompts, prompt)
        if self.drafter is None or self.drafting is None:
            return work
        first = self._draft_pass(decoding, context, prompts, prompt)
        more = self.drafting.drafts - 1 if decoding else 0
        passes = first if not more else added(first, multiplied_work(self._draft_pass(decoding, context), more))
        return added(work, passes)

    def _draft_pass(self, decoding: int, context: float, prompts: float = 0.0, prompt: float = 0.0) -> Work:
        """One pass of what makes drafts: its layer, its output layer, and the matrix that joins what it reads."""
        assert self.drafter
        assert self.drafting
        tokens = max(1, round(decoding + prompts * self.unread(prompt)))
        joined = self.drafting.joined * self.model.width // self.attention_tp
        width = (self.silicon, self.drafter.dtype, tokens, self.model.width, max(1, joined))
        work = self.drafter.step(decoding, context, prompts, prompt)
        return work._replace(
            products=work.products + product_time(*width), products_least=work.products_least + product_least(*width)
        )

    def _model_step(self, decoding: int, context: float, prompts: float, prompt: float) -> Work:
        """The same of the model alone."""
        m, tp = self.model, self.attention_tp
        read, new = prompts * self.unread(prompt), decoding * self.queries
        tokens = max(1, round(new + read))
        chip = self.silicon
        products = self._mixer_products(tokens)
        dense = m.mlp_layers - m.moe_layers
        if dense:
            products += mlp_time(self, tokens, m.ffn, tp) * dense
        traffic = sum(self._attention_traffic(kind, tokens) for kind in attention_kinds(m))
        traffic += m.layers * stream_seconds(m, chip, tokens)
        if m.mixer:
            traffic += traffic_time(chip, tokens * (12.0 * m.width + 6.0 * m.mixer.channels / tp)) * m.state_layers
        network, experts, width = 0.0, 0.0, 2.0 * tokens * m.width
        if tp > 1:
            sums = m.layers if m.parallel else m.layers + m.mlp_layers - m.moe_layers * self.attention_dp
            network = reduce_time(self.chip, tp, width) * sums
        if m.moe_layers:
            routed, shared, sent = self._expert_layer(tokens)
            products += shared * m.moe_layers
            experts += routed * m.moe_layers
            network += sent * m.moe_layers
        attention = self._attention_time(decoding, context, prompts, prompt)
        sampled = max(1, round(new + prompts))
        head = product_time(chip, "bf16", sampled, -(-m.vocab // tp), m.width)
        share = 1 / self.pp
        if self.pp > 1:
            network += reduce_time(self.chip, 2, width) / 2 * self.pp
        layers = {"prompt_layers" if read else "layers": m.layers * share}
        return Work(
            products=(products + head) * share,
            experts=experts * share,
            attention=attention * share,
            traffic=traffic * share,
            network=network * share,
            **self._least(tokens, decoding, context, prompts, prompt),
            **layers,
            sheet=self._sheet_time(tokens, decoding, context, prompts, prompt) * share,
        )

    def _attention_traffic(self, kind: AttentionKind, tokens: int) -> float:
        """Seconds of norms and activations around attention in the layers of one kind."""
        m = kind.model
        moved = tokens * (12.0 * m.width + 6.0 * m.heads * m.key_dim / self.attention_tp)
        return traffic_time(self.silicon, moved) * kind.layers

    def _mixer_products(self, tokens: int) -> float:
        """Seconds of the products of attention, of states and of indexers, in all layers."""
        m, tp, chip, dtype = self.model, self.attention_tp, self.silicon, self.attention_dtype or self.dtype
        kinds = attention_kinds(m)
        seconds = sum(kind.layers * _products(chip, dtype, tokens, kind.model, tp) for kind in kinds)
        for kind in kinds:
            if wide := compressor_matrices(m, kind.stride) // m.width:
                seconds += kind.layers * product_time(chip, "bf16", tokens, wide, m.width)
        if m.mixer:
            seconds += sum(product_time(chip, dtype, tokens, n, k) for n, k in mixer_shapes(m, tp)) * m.state_layers
        if m.indexer:
            x = m.indexer
            queries = product_time(chip, self.dtype, tokens, x.heads * x.dim, m.q_lora or m.width)
            c = m.compression
            key = 2 * c.overlap(c.sparse) * x.dim if c else x.dim
            keys = product_time(chip, "bf16", tokens, key + x.heads, m.width)
            seconds += (queries + keys) * x.layers
        return seconds

    def _attention_time(self, decoding: int, context: float, prompts: float, prompt: float) -> float:
        """Seconds of scores and values, and of states, in all layers."""
        m, tp, chip = self.model, self.attention_tp, self.silicon
        seconds, reads = 0.0, prompts * prompt > 0
        for kind in attention_kinds(m):
            layer = LayerAttention(kind.model, chip, tp, self.kv_dtype, self.kernels, self.queries)
            if decoding:
                seconds += kind.layers * cache_time(layer, decoding, _read(kind, context))
            if reads and not (m.indexer and m.mla):
                each = self._prompt_attention(kind, layer)
                seconds += kind.layers * prompts * self._beyond(each, prompt)
        if m.mixer and decoding:
            seconds += m.state_layers * state_step_seconds(m.mixer, chip, tp, decoding, self.queries)
        if m.mixer and reads:
            each = state_prompt_seconds(m.mixer, chip, vector_rate(self.chip), tp, self.unread(prompt))
            seconds += m.state_layers * prompts * each
        return seconds + (self._sparse_time(decoding, context, prompts, prompt) if m.indexer else 0.0)

    def _prompt_attention(self, kind: AttentionKind, layer: LayerAttention) -> Callable[[float], float]:
        """Seconds of one layer's attention over a prompt of so many tokens."""
        if kind.model.compression:
            return lambda tokens: compressed_prompt_seconds(kind, layer.chip, layer.tp, tokens)
        return partial(prompt_time, layer, window=_span(kind))

    def _prompt_least(self, kind: AttentionKind, layer: LayerAttention) -> Callable[[float], float]:
        """The least seconds of the same."""
        if kind.model.compression:
            return lambda tokens: compressed_prompt_flops(kind, tokens) / layer.tp / layer.chip.C
        return partial(prompt_least, layer, window=_span(kind))

    def _sparse_time(self, decoding: int, context: float, prompts: float, prompt: float) -> float:
        """Seconds of indexers, and of a prompt's attention to the keys that they pick, in all layers."""
        m, chip, own = self.model, self.silicon, self.model.indexer.layers if self.model.indexer else 0
        seconds = own * index_step_seconds(m, chip, decoding, context, self.queries) if decoding else 0.0
        if prompts * prompt > 0:
            sparse = lambda tokens: sparse_prompt_seconds(m, chip, self.attention_tp, tokens)
            picked = m.attention_layers * self._beyond(sparse, prompt) if m.mla else 0.0
            scored = self._beyond(lambda tokens: index_prompt_seconds(m, chip, tokens), prompt)
            seconds += prompts * (picked + own * scored)
        return seconds

    def _least(self, tokens: int, decoding: int, context: float, prompts: float, prompt: float) -> dict[str, float]:
        """What of a step's kinds of kernels and of its messages a data sheet's rates leave, by name."""
        m, tp, chip = self.model, self.attention_tp, self.silicon
        sampled = max(1, round(decoding * self.queries + prompts))
        own = self.attention_dtype or self.dtype
        products = product_least(chip, "bf16", sampled, -(-m.vocab // tp), m.width)
        products += sum(kind.layers * _least_products(chip, own, tokens, kind.model, tp) for kind in attention_kinds(m))
        products += m.state_layers * sum(product_least(chip, own, tokens, n, k) for n, k in mixer_shapes(m, tp))
        products += (m.mlp_layers - m.moe_layers) * mlp_least(self, tokens, m.ffn, tp)
        attention = m.state_layers * state_step_least(m.mixer, chip, tp, decoding) if m.mixer else 0.0
        for kind in attention_kinds(m):
            layer = LayerAttention(kind.model, chip, tp, self.kv_dtype, self.kernels, self.queries)
            attention += kind.layers * cache_least(layer, decoding, _read(kind, context))
            if prompt and not (m.indexer and m.mla):
                attention += kind.layers * prompts * self._beyond(self._prompt_least(kind, layer), prompt)
        network, experts, width = 0.0, 0.0, 2.0 * tokens * m.width
        if tp > 1:
            sums = m.layers if m.parallel else m.layers + m.mlp_layers - m.moe_layers * self.attention_dp
            network = reduce_least(self.chip, tp, width) * sums
        if m.moe_layers:
            routed, shared, sent = self._expert_least(tokens)
            products += shared * m.moe_layers
            experts += routed * m.moe_layers
            network += sent * m.moe_layers
        if self.pp > 1:
            network += reduce_least(self.chip, 2, width) / 2 * self.pp
        least = {"products": products, "experts": experts, "attention": attention, "network": network}
        return {f"{name}_least": seconds / self.pp for name, seconds in least.items()}

    def _expert_least(self, tokens: int) -> tuple[float, float, float]:
        """The least of `_expert_layer`."""
        m, tp = self.model, self.tp
        lengths = (
            m.expert_width or m.width,
            m.expert_ffn * self.ep // tp,
            m.experts,
            m.experts_per_token,
            m.experts // self.ep,
        )
        routed = experts_least(self.silicon, self._experts, tokens * self.groups, lengths, m.matrices)
        shared = product_least(self.silicon, "bf16", tokens, m.experts, m.width)
        if m.shared_experts:
            shared += mlp_least(self, tokens, m.expert_ffn * m.shared_experts, self.attention_tp)
        sent = 0.0
        if self.attention_dp and tp > 1:
            routing = Routing(m.experts_per_token, m.experts)
            sent = exchange_least(self.chip, tp, tokens, lengths[0], routing, nodes=self.nodes)
        return routed, shared, sent

    def _sheet_time(self, tokens: int, decoding: int, context: float, prompts: float, prompt: float) -> float:
        """Seconds of a step on all stages at the data sheet's rates: operations or weights, and the caches."""
        C, W = self._sheet.C, self._sheet.W
        everywhere = tokens * self.groups
        flops = self._sheet.flops * everywhere / self.tp
        flops += prompts * self.groups * self._prompt_flops(int(prompt)) / self.tp if prompts else 0.0
        weights = self.read_bytes(everywhere) / self.tp
        cache = self.pp * decoding * self._moved_bytes(context) if decoding else 0.0
        return float(max(flops / C, weights / W) + cache / W)

    @cached_property
    def silicon(self) -> KernelChip:
        """What the models of kernels take of the chip."""
        return kernel_chip(self.chip)

    @cached_property
    def _sheet(self) -> _Sheet:
        m, chip = self.model, self.silicon
        C = chip.rate(self.dtype.removesuffix("_block"))
        each = WEIGHT_BYTES[self.dtype], WEIGHT_BYTES[self._experts]
        read = tuple(step_bytes(m, tokens, *each) for tokens in (0, inf))
        return _Sheet(C, chip.W, forward_flops(matmul_parameters(m), 1), *read)

    @cached_property
    def _prompts(self) -> dict[int, float]:
        return {}

    def _beyond(self, seconds: Callable[[float], float], prompt: float) -> float:
        """What a prompt's attention takes beyond that of the prefix, whose queries are not asked again."""
        before = prompt - self.unread(prompt)
        return seconds(prompt) - (seconds(before) if before >= 1 else 0.0)

    def _prompt_flops(self, prompt: int) -> float:
        """Operations of a prompt's attention beyond its prefix, computed once."""
        if prompt not in self._prompts:
            count = lambda tokens: attention_step_flops(self.model, int(tokens), int(tokens))
            self._prompts[prompt] = self._beyond(count, prompt)
        return self._prompts[prompt]

    def read_bytes(self, tokens: float) -> float:
        """Bytes of weights that a step of so many tokens reads on all GPUs: `step_bytes`."""
        none, every = self._sheet.none, self._sheet.every
        m = self.model
        share = 1 - (1 - m.experts_per_token / m.experts) ** tokens if m.moe else 1.0
        return none + share * (every - none)

    def bound_by_weights(self, tokens: float) -> bool:
        """Whether the products of a step with so many tokens in each group wait for weights, at the data sheet's rates,
        and not for arithmetic.
        """
        everywhere = tokens * self.groups
        return self.read_bytes(everywhere) / self._sheet.W > self._sheet.flops * everywhere / self._sheet.C

    def _expert_layer(self, tokens: int) -> tuple[float, float, float]:
        """Routed experts, products that all tokens take, and messages of a layer with experts."""
        m, tp = self.model, self.tp
        width = m.expert_width or m.width
        lengths = (width, m.expert_ffn * self.ep // tp, m.experts, m.experts_per_token, m.experts // self.ep)
        time = experts_time(self.silicon, self._experts, tokens * self.groups, lengths, m.matrices, self.kernels)
        dense = product_time(self.silicon, "bf16", tokens, m.experts, m.width)
        if m.expert_width:
            dense += product_time(self.silicon, self.dtype, tokens, width, m.width)
            dense += product_time(self.silicon, self.dtype, tokens, m.width, width)
        if m.shared_experts:
            dense += mlp_time(self, tokens, m.expert_ffn * m.shared_experts, self.attention_tp)
        sent = 0.0
        if self.attention_dp and tp > 1:
            routing = Routing(m.experts_per_token, m.experts)
            sent = exchange_time(self.chip, tp, tokens, width, routing, nodes=self.nodes)
        return time, dense, sent


def added(work: Work, other: Work) -> Work:
    """Both works, one after the other in one step."""
    return Work(*(here + there for here, there in zip(work, other, strict=True)))


def multiplied_work(work: Work, count: float) -> Work:
    """So many times this work in one step."""
    return Work(*(count * seconds for seconds in work))


def mlp_time(server: Server, tokens: int, ffn: int, tp: int) -> float:
    """Both products of an MLP, and its activation."""
    m, chip, dtype = server.model, server.silicon, server.dtype
    width = max(1, ffn // tp)
    up = product_time(chip, dtype, tokens, (m.matrices - 1) * width, m.width)
    return (
        up + product_time(chip, dtype, tokens, m.width, width) + traffic_time(chip, 2.0 * m.matrices * tokens * width)
    )


def mlp_least(server: Server, tokens: int, ffn: int, tp: int) -> float:
    """The least seconds of both products."""
    m, chip, dtype, width = server.model, server.silicon, server.dtype, max(1, ffn // tp)
    up = product_least(chip, dtype, tokens, (m.matrices - 1) * width, m.width)
    return up + product_least(chip, dtype, tokens, m.width, width)


def attention_shapes(m: Model, tp: int) -> tuple[tuple[int, int], ...]:
    """[N, K] of the products of a layer's attention on a rank. Latent attention absorbs the up-projections of keys and
    values into two products by head, written as one of all heads.
    """
    heads = max(1, m.heads // tp)
    if x := m.compression:
        groups = max(1, x.groups // tp)
        grouped = (groups * x.rank, m.heads * m.head_dim // x.groups), (m.width, groups * x.rank)
        return (m.q_lora + m.head_dim, m.width), (heads * m.head_dim, m.q_lora), *grouped
    if not m.mla:
        kv, gated = max(1, m.kv_heads // tp), 1 + m.attention_gate
        values = kv * m.value_dim * (not m.shared_values)
        return ((gated * heads + kv) * m.head_dim + values, m.width), (m.width, heads * m.value_dim)
    down = m.q_lora + m.kv_lora + m.rope_dim
    up = (heads * m.key_dim, m.q_lora or m.width)
    return (
        (down, m.width),
        up,
        (heads * m.nope_dim, m.kv_lora),
        (heads * m.v_dim, m.kv_lora),
        (m.width, heads * m.v_dim),
        *(((heads * m.v_dim, m.width),) if m.attention_gate else ()),
    )


def attention_weights(m: Model) -> int:
    """Weights of a layer's attention."""
    return sum(n * k for n, k in attention_shapes(m, 1))


def _products(chip: KernelChip, dtype: str, tokens: int, m: Model, tp: int) -> float:
    """Seconds of the products of one layer's attention."""
    return sum(product_time(chip, dtype, tokens, n, k) for n, k in attention_shapes(m, tp))


def _least_products(chip: KernelChip, dtype: str, tokens: int, m: Model, tp: int) -> float:
    """The least seconds of the same."""
    return sum(product_least(chip, dtype, tokens, n, k) for n, k in attention_shapes(m, tp))


def _span(kind: AttentionKind) -> float:
    """The tokens that a layer sees at most."""
    return float(kind.window or kind.picked or inf)


def _kept(kind: AttentionKind, tokens: float) -> float:
    """`AttentionKind.keys_kept` in plain floats, for a server's steps are computed by the thousand."""
    return min(tokens, kind.window or inf) + (tokens / kind.stride if kind.stride else 0.0)


def _read(kind: AttentionKind, tokens: float) -> float:
    """`AttentionKind.keys_read` in plain floats."""
    entries = min(tokens / kind.stride, kind.picked or inf) if kind.stride else 0.0
    return min(tokens, _span(kind)) + entries


__all__ = ["WEIGHT_BYTES", "Nodes", "Server", "Work"]
