"""The order of published pairs: two plans of one model, batch and number of GPUs, of which one was measured quicker."""

from contextlib import suppress
from math import inf

import pytest

from hwlib.planner import PlanError, plan


def seconds(*asked, **given):
    """The time of the quickest plan that may be chosen; infinite if there is none, which is for want of memory."""
    with suppress(PlanError):
        return plan(*asked, **given)[0].seconds
    return inf


@pytest.mark.parametrize(
    ("model", "nodes", "sequences", "degrees"),
    [
        ("korthikanti-22b", 1, 4, {"pp": 1, "micro": 4}),  # 1.10 against 1.42 s
        ("korthikanti-175b", 8, 64, {"pp": 8, "v": 3, "micro": 1}),  # 13.75 against 18.13 s
        ("korthikanti-530b", 35, 280, {"pp": 35, "v": 3, "micro": 1}),  # 37.83 against 49.05 s
        ("korthikanti-1t", 64, 512, {"pp": 64, "micro": 1}),  # 71.49 against 94.42 s
    ],
)
def test_to_recompute_attention_is_quicker_than_to_recompute_all(model, nodes, sequences, degrees):
    """Table 5 of Korthikanti et al. 2022."""
    ask = {"B": sequences * 2048, "T": 2048, "tp": 8, "zero": 0, "fused": False, "stack": "megatron-2022-a100"}
    some, all_ = (
        seconds(model, f"{nodes} x dgx-a100", **ask, **degrees, recompute=word, memory=86.5e9)
        for word in ("selective", "full")
    )
    assert some < all_


def test_interleaved_stages_are_quicker():
    """405B on 512 H100, tp 8, pp 8, dp 8: torchtitan prints 100 tokens/s a GPU, and interleaved 128."""
    ask = {"B": 256 * 8192, "tp": 8, "pp": 8, "cp": 1, "recompute": "full", "dtype": "fp8", "schedule": "1f1b"}
    plain, interleaved = (seconds("llama3-405b", "64 x dgx-h100", **ask, v=v) for v in (1, (2, 4, 8)))
    assert 1.02 < plain / interleaved < 1.6


@pytest.mark.parametrize(("tokens", "gpus"), [(2**18, 256), (2**19, 512)])
def test_context_parallelism_is_quicker_over_long_sequences(tokens, gpus):
    """NeMo on H100, 7B in 8 bits: 549 against 392 TFLOP/s at 256k, 549 against 104 at 512k."""
    ask = {"B": 2**22, "T": tokens, "dtype": "fp8", "stack": "nemo-2024-h100"}
    without, cut = (seconds("llama2-7b", f"{gpus // 8} x dgx-h100", **ask, cp=cp) for cp in (1, (2, 4, 8, 16)))
    assert cut < without
