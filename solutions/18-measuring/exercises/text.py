"""Names with which the text computes numbers, beside those of the exercises."""

from math import sqrt  # noqa: F401  (the text uses it)

from hwlib.specs import accelerators, measured_run, measured_steps, models  # noqa: F401  (the text uses it)
from hwlib.traces import draw_traces, job_span, read_trace, trace_times
from hwlib.training import best_goodput_fraction, cluster_mtbf, daly_interval, young_interval
from hwlib.transformer import gpt_recompute_training_flops, parameter_count, step_flops

from .failures import T_MTBF
from .ledger import A100, H100, entries  # noqa: F401  (the text uses it)
from .own import DAY  # noqa: F401  (the text uses it)

# BLOOM: one step, three counts
BLOOM, BLOOM_RUN = models["bloom-176b"], measured_run("bloom-176b")
_PRINTED = float(
    gpt_recompute_training_flops(BLOOM_RUN.tokens, BLOOM_RUN.length, BLOOM.layers, BLOOM.width, BLOOM.vocab)
)
BLOOM_HFU = BLOOM_RUN.rate / A100.bf16_flops
BLOOM_MFU = BLOOM_HFU * float(step_flops(BLOOM, BLOOM_RUN.tokens, BLOOM_RUN.length)) / _PRINTED
BLOOM_ALL = BLOOM_HFU * float(step_flops(BLOOM, BLOOM_RUN.tokens, BLOOM_RUN.length, causal=False)) / _PRINTED

# Llama 3's checkpoints: 14 bytes a parameter into a storage of 2 TB/s
LLAMA405 = models["llama3-405b"]
STATE = 14 * parameter_count(LLAMA405)
STORAGE = 2e12
T_SAVE = STATE / STORAGE
TAU = float(young_interval(T_SAVE, T_MTBF))
TAU_DALY = float(daly_interval(T_SAVE, T_MTBF))
NO_RESTART = float(best_goodput_fraction(T_SAVE, 0, T_MTBF))
T_BACK_MOST = (NO_RESTART - 0.9) * T_MTBF
NODE_MTBF = T_MTBF * 2048
SMALL_MTBF = float(cluster_mtbf(NODE_MTBF, 64))
ENTRIES = {what: share for what, share, _ in entries()}
_TRACES = [read_trace(raw) for raw in draw_traces()]
HEALTHY = trace_times(_TRACES[0], job_span(_TRACES))
_SICK = [read_trace(raw) for raw in draw_traces(cause="clock cap", rank=3)]
SICK = [trace_times(trace, job_span(_SICK)) for trace in _SICK]

# One pair of published steps, with and without a compiler
EAGER, COMPILED = (
    next(r for r in measured_steps("torchtitan") if r.gpus == 8 and r.recompute == "op" and r.variant == variant)
    for variant in ("", "compiled")
)
LLAMA_RUN = measured_run("llama3-405b")
LOGGED = 419.7  # TFLOP/s, as the head of files/megatron-h100-768.log says
BALANCE = sum(one.compute for one in SICK) / len(SICK) / max(one.compute for one in SICK)
