"""No prediction is below its data sheet: kernels, collectives, and steps of servers and of training, over all tables.

Each test runs through a table of the library, so that a new chip or software is checked without a line here.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from hwlib.calibrated import (
    ELEMENT_BYTES,
    decode_attention_time,
    gemm_model,
    grouped_time,
    nccl_time,
    nodes_allreduce_time,
    prefill_attention_time,
    step_constants,
)
from hwlib.calibrated.least_times import (
    MEET,
    above_least,
    adds_in_switch,
    collective_least,
    kernel_least,
)
from hwlib.calibrated.serving import Server, part_times, step_time
from hwlib.calibrated.serving_kernels import (
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
)
from hwlib.calibrated.serving_network import exchange_least, exchange_time, reduce_least, reduce_time
from hwlib.calibrated.sheet import KERNEL_BYTES, sheet_of
from hwlib.collectives import Routing
from hwlib.parallel.transfers import transfers
from hwlib.specs import Accelerator, Level, accelerators, models, nodes, stacks
from hwlib.specs.fitted import (
    attention_constants,
    collective_constants,
    decode_constants,
    gemm_constants,
    grouped_kernels,
    share_constants,
    tree_constants,
)
from hwlib.specs.serving_stack import ServingStack, serving_stacks
from hwlib.specs.stack import Stack, stack_for
from hwlib.steptime import step_time as training_step_time
from hwlib.steptime.machine_bounds import Sheet
from hwlib.strategy import Strategy
from hwlib.transformer import attention_step_flops, forward_flops, matmul_parameters, parameter_count, step_flops

EXACT = 1 - 1e-9
L2 = 2**27  # B, of chips whose cache no source states


def l2(chip: str) -> float:
    return accelerators[chip].l2_bytes or L2


def columns(*values: tuple[float, ...]) -> list[Any]:
    """Every combination, as columns."""
    return [column.ravel() for column in np.meshgrid(*map(np.array, values), indexing="ij")]


def lowest(times: Any, least: Any) -> float:
    """The least of predicted over possible times."""
    return float(np.min(np.asarray(times) / np.maximum(least, 1e-12)))


def worst(ratios: Iterator[tuple[Any, float]]) -> list[tuple[Any, float]]:
    checked = list(ratios)
    assert checked
    return [(key, ratio) for key, ratio in checked if ratio < EXACT]


def bound(flops: Any, moved: Any, C: float, W: float, held: float) -> Any:
    return np.maximum(flops / C, (moved - held) / W)


# The rule


def test_a_kernel_takes_its_operations_or_the_bytes_that_the_cache_cannot_hold():
    assert kernel_least(2e12, 1e9, C=1e15, W=1e12) == pytest.approx(2e-3)
    assert kernel_least(2e12, 4e9, C=1e15, W=1e12) == pytest.approx(4e-3)
    assert kernel_least(2e12, 4e9, C=1e15, W=1e12, held=1e9) == pytest.approx(3e-3)


def test_slower_software_is_slower_in_all_and_a_quicker_one_never_below_the_least():
    assert above_least(3.0, 2.0, 0.5) == 6
    assert above_least(3.0, 2.0, 1.0) == 3
    assert above_least(3.0, 2.0, 1.0001) == pytest.approx(3, rel=1e-3)
    assert above_least(3.0, 0.0, 2.0) == pytest.approx(1.5)  # nothing but what software can change
    assert 2 < above_least(3.0, 2.0, 1.4) == pytest.approx((2**MEET + (3**MEET - 2**MEET) / 1.4**MEET) ** (1 / MEET))
    assert above_least(3.0, 2.0, 1e6) == pytest.approx(2)
    assert above_least(1.9, 2.0, 1.5) == 2


@pytest.mark.parametrize(
    ("key", "adds"),
    [
        ("h100-sxm", True),
        ("gb200-nvl72", True),
        ("b300-sxm", True),
        ("a100-80gb-sxm", False),
        ("h100-pcie", False),
        ("l40s", False),
        ("mi300x", False),
        ("tpu-v5p", False),
    ],
)
def test_switches_add_up_from_hopper_on_and_bridges_do_not(key, adds):
    assert adds_in_switch(accelerators[key]) is adds


def test_a_switch_that_adds_up_halves_what_a_port_carries_and_never_more():
    assert collective_least("all_reduce", 8, 8e9, 1e9) == 14
    assert collective_least("all_reduce", 8, 8e9, 1e9, in_switch=True) == 8
    assert collective_least("all_reduce", 2, 8e9, 1e9, in_switch=True) == 8
    assert collective_least("all_gather", 8, 8e9, 1e9, in_switch=True) == 7
    assert collective_least("all_reduce", 1, 8e9, 1e9, in_switch=True) == 0


# Kernels


def products() -> Iterator[tuple[Any, float]]:
    M, N, K = columns((1, 16, 128, 1024, 8192, 65536), (512, 4096, 131072), (512, 4096, 16384))
    for chip, dtype in gemm_constants():
        model, b = gemm_model(chip, dtype), ELEMENT_BYTES[dtype]
        moved = (M + N) * K * b + 2 * M * N
        yield (chip, dtype), lowest(model.times(M, N, K), bound(2.0 * M * N * K, moved, model.C, model.W, l2(chip)))


def attention() -> Iterator[tuple[Any, float]]:
    kv, group, D, B, T, window = columns(
        (1, 8), (1, 4, 16), (64, 128, 256), (1, 16, 256), (128, 4096, 131072), (0, 1024)
    )
    H, seen = kv * group, np.where(window > 0, np.minimum(window, T), T)
    sizes = {"heads": H, "kv_heads": kv, "head_dim": D, "batch": B, "window": window}
    for (chip, dtype, software), c in attention_constants().items():
        sheet, b = sheet_of(chip, dtype, c.chip), KERNEL_BYTES[dtype][0]
        times = prefill_attention_time(chip, dtype, seq=T, software=software, **sizes)
        flops, moved = 4.0 * B * H * D * seen * (T - seen / 2), B * T * D * (H * (b + 2) + 2 * kv * b)
        yield ("prompt", chip, dtype, software), lowest(times, bound(flops, moved, sheet.C, sheet.W, l2(chip)))
    for (chip, dtype, software), c in decode_constants().items():
        sheet, b = sheet_of(chip, dtype, c.chip), KERNEL_BYTES[dtype][0]
        times = decode_attention_time(chip, dtype, cached=T, software=software, **sizes)
        flops, moved = 4.0 * B * H * D * seen, 2.0 * B * kv * seen * D * b
        yield ("cache", chip, dtype, software), lowest(times, bound(flops, moved, sheet.C, sheet.W, l2(chip)))


def experts() -> Iterator[tuple[Any, float]]:
    N, d, f, E, k = columns((1, 16, 256, 4096, 65536), (1024, 7168), (256, 2048, 14336), (8, 256), (2, 8))
    for (chip, dtype, software, kernel), c in grouped_kernels().items():
        weight, _, of = KERNEL_BYTES[dtype]
        sheet = sheet_of(chip, of, c.chip)
        times = grouped_time(
            chip, dtype, tokens=N, hidden=d, width=f, experts=E, topk=k, software=software, kernel=kernel
        )
        moved = np.minimum(E, N * k) * 3 * d * f * weight
        yield (
            (chip, dtype, software, kernel),
            lowest(times, bound(6.0 * N * k * d * f, moved, sheet.C, sheet.W, l2(chip))),
        )


@pytest.mark.parametrize("kind", [products, attention, experts])
def test_no_kernel_is_below_its_operations_and_bytes(kind):
    assert worst(kind()) == []


def test_no_kernel_reaches_more_than_a_rate_of_the_data_sheet():
    assert [key for key, c in share_constants().items() if c.eta > 1] == []
    chips = {chip for chip, dtype in gemm_constants() if dtype == "bf16"}
    over = [key for key in chips if accelerators[key].hbm_bandwidth < step_constants(key).W]
    assert over == []


# Collectives


def test_no_collective_of_a_node_is_below_its_bytes_through_a_port():
    def ratios() -> Iterator[tuple[Any, float]]:
        for (key, op, software), n in product(collective_constants(), (2, 4, 8, 72)):
            chip, S = accelerators[key], 2.0 ** np.arange(10, 37)
            least = collective_least(op, n, 1.0, chip.scaleup_bandwidth, adds_in_switch(chip)) * S
            yield (key, op, software, n), lowest(nccl_time(key, op, n, S, software), least)

    assert worst(ratios()) == []


def test_no_allreduce_of_two_nodes_is_below_its_bytes_through_the_cards():
    """Each node sends its sum once."""

    def ratios() -> Iterator[tuple[Any, float]]:
        for (key, network), c in tree_constants().items():
            node = next(node for node in nodes.values() if node.chip.key == key)
            S = 2.0 ** np.arange(10, 37)
            yield (
                (key, network),
                lowest(nodes_allreduce_time(key, 2 * c.node, S, network), S / (c.node * node.nic_bandwidth)),
            )

    assert worst(ratios()) == []


def served_chips() -> list[Accelerator]:
    """Chips whose kernels can be timed from their data sheets."""
    return [chip for chip in accelerators.values() if (chip.bf16_flops or chip.fp16_flops) and chip.hbm_bandwidth]


def test_no_message_of_a_server_is_below_its_bytes_through_the_links():
    routing = Routing(8, 256)
    linked = [chip for chip in served_chips() if chip.scaleup_bandwidth]

    def ratios() -> Iterator[tuple[Any, float]]:
        for chip, n, tokens in product(linked, (2, 8, 64), (1, 64, 65536)):
            S = 2.0 * tokens * 7168
            yield (chip.key, n, tokens, "sum"), reduce_time(chip, n, S) / reduce_least(chip, n, S)
            sent = exchange_time(chip, n, tokens, 7168, routing)
            yield (chip.key, n, tokens, "exchange"), sent / exchange_least(chip, n, tokens, 7168, routing)

    assert worst(ratios()) == []


# Servers

DTYPES = ("bf16", "fp8", "fp8_block", "fp4", "int8w", "int4w")


def dtypes_of(chip: Accelerator) -> tuple[str, ...]:
    lacks = (("fp8", chip.fp8_flops), ("fp8_block", chip.fp8_flops), ("fp4", chip.fp4_flops))
    return tuple(name for name in DTYPES if name not in [few for few, rate in lacks if not rate])


def test_no_kernel_of_a_server_is_below_its_data_sheet_on_any_chip():
    def ratios() -> Iterator[tuple[Any, float]]:
        for chip in served_chips():
            silicon = kernel_chip(chip)
            for dtype, M, (N, K) in product(
                dtypes_of(chip), (1, 64, 1024, 16384), ((1024, 4096), (57344, 8192), (4096, 512))
            ):
                least = product_least(silicon, dtype, M, N, K)
                yield (chip.key, dtype, M, N, K), product_time(silicon, dtype, M, N, K) / least
            for dtype, tokens, of in product(
                dtypes_of(chip), (1, 32, 512, 16384), ((7168, 2048, 256, 8, 32), (4096, 14336, 8, 2, 8))
            ):
                time = experts_time(silicon, dtype, tokens, of, 3, "trtllm")
                yield (chip.key, dtype, tokens, of), time / experts_least(silicon, dtype, tokens, of, 3)
            for key, kv_dtype, tokens in product(
                ("llama3-70b", "deepseek-v3", "gpt-oss-20b"), ("bf16", "fp8"), (128, 8192, 131072)
            ):
                layer = LayerAttention(models[key], silicon, 1, kv_dtype, "trtllm")
                yield (
                    (chip.key, key, kv_dtype, tokens, "cache"),
                    cache_time(layer, 64, tokens) / cache_least(layer, 64, tokens),
                )
                yield (
                    (chip.key, key, kv_dtype, tokens, "prompt"),
                    prompt_time(layer, tokens, np.inf) / prompt_least(layer, tokens, np.inf),
                )

    assert worst(ratios()) == []


def server_least(server: Server, decoding: int, context: float, prompts: int, prompt: int) -> float:
    """Seconds of a step by its operations at the chip's best rate, or by weights and caches beyond the L2."""
    chip, m, tp = server.chip, server.model, server.tp
    C = max(chip.bf16_flops or 0, chip.fp16_flops or 0, chip.fp8_flops or 0, chip.fp4_flops or 0)
    tokens = decoding + prompts * prompt
    flops = forward_flops(matmul_parameters(m) - m.vocab * m.width, tokens)  # of a prompt one token is sampled
    flops += prompts * attention_step_flops(m, prompt, prompt) if prompts else 0
    moved = server.read_bytes(tokens) / tp + (decoding * server.sequence_bytes(context) if decoding else 0)
    return kernel_least(flops / tp, moved, C, chip.hbm_bandwidth or 0.0, chip.l2_bytes or L2)


LOADS = ((1, 128, 0, 0), (64, 4096, 0, 0), (256, 1024, 1, 1024), (8, 65536, 0, 0), (0, 0, 1, 16384))


@cache
def works() -> list[tuple[Any, float, Any]]:
    """Every chip with models of three kinds: what it was, its least seconds, and the work of a step."""
    cases = []
    for chip, (key, tp), load in product(
        served_chips(), (("llama3-8b", 1), ("qwen3-30b-a3b", 1), ("deepseek-v3", 8)), LOADS
    ):
        if tp > 1 and not chip.scaleup_bandwidth:
            continue
        for dtype in dtypes_of(chip):
            server = Server(models[key], chip, tp=tp, dtype=dtype, kv_dtype="fp8" if dtype[:2] == "fp" else "bf16")
            cases.append(((chip.key, key, dtype, load), server_least(server, *load), server.step(*load)))
    return cases


@pytest.mark.parametrize("key", [*serving_stacks, "quickest"])
def test_no_step_of_a_serving_software_is_below_its_data_sheet(key):
    """Also of a software whose rates are as high as one likes."""
    quickest = ServingStack.ideal().replace(eta=100.0, eta_E=100.0, eta_net=100.0)
    stack = quickest if key == "quickest" else serving_stacks[key]
    assert worst((case, step_time(stack, work) / least) for case, least, work in works() if least > 0) == []


def test_a_step_of_sglang_that_the_memory_bounds_is_not_below_the_memory():
    """Llama 3 8B, 64 sequences of 4,096 tokens on one H200: 12.48 ms in plain torch; its bytes take 10.29."""
    work = Server(models["llama3-8b"], accelerators["h200-sxm"]).step(64, 4096)
    assert part_times(serving_stacks["sglang"], work).products + work.attention_least > 10.2e-3
    assert step_time(serving_stacks["sglang"], work) == pytest.approx(12.48e-3, rel=0.1)


def test_of_few_tokens_not_every_expert_is_read():
    """32 tokens that each go to 8 of 256 experts reach 64 in 100; the drawn ones decide, not their number."""
    silicon = kernel_chip(accelerators["h200-sxm"])
    few, many = (experts_least(silicon, "fp8_block", tokens, (7168, 2048, 256, 8, 256), 3) for tokens in (32, 4096))
    bytes_of = 256 * 3 * 7168 * 2048 / 4.8e12
    assert few == pytest.approx(bytes_of * (1 - (31 / 32) ** 32))
    assert many >= bytes_of


def test_experts_in_few_bits_read_their_own_bytes_whichever_kernel_stands_for_theirs():
    """No kernel in int4w was fitted: that of bfloat16 has its tiles, and would read almost four times the bytes."""
    chip = kernel_chip(accelerators["h100-sxm"])
    lengths = (2048, 768, 128, 8, 128)
    wide, half, quarter = (experts_time(chip, dtype, 64, lengths, 3, "trtllm") for dtype in ("bf16", "int8w", "int4w"))
    read = 128 * (1 - (15 / 16) ** 64) * 3 * 2048 * 768 / 3.35e12
    assert wide - half > 0.8 * read
    assert half - quarter > 0.8 * 0.47 * read


# Training

PLANS = (
    ({"dp": 8}, False),
    ({"dp": 64, "zero": 3}, False),
    ({"dp": 4, "tp": 8, "pp": 2, "zero": 1}, False),
    ({"dp": 512, "zero": 1}, False),
    ({"dp": 512, "zero": 3}, False),
    ({"dp": 64, "ep": 64, "zero": 1}, True),
    ({"dp": 16, "ep": 8, "tp": 4, "pp": 2, "zero": 1}, True),
)
SIZES = ((1, 1, 512), (1, 8, 8192), (4, 2, 2048))


def trained() -> list[Stack]:
    chips = [chip for chip in served_chips() if chip.scaleup_bandwidth and chip.bf16_flops]
    typical = [stack_for(chip) for chip in chips]
    return list({stack.key: stack for stack in (*stacks.values(), *typical)}.values())


def axis_seconds(sheet: Sheet, sent: Any) -> dict[str, float]:
    """Seconds of a step's collectives by axis at the data sheet's rates."""
    seconds: dict[str, float] = {}
    for transfer in sent:
        seconds[transfer.axis] = seconds.get(transfer.axis, 0.0) + sheet.time(transfer)
    return seconds


def plan_ratios(stack: Stack, dtype: str) -> Iterator[tuple[Any, float]]:
    """Of some plans, the step over the operations, over the weights of each pass, and over each axis's bytes."""
    chip = stack.accelerator
    node = next((node for node in nodes.values() if node.chip.key == chip.key), None)
    size, nic = (node.chips, node.nic_bandwidth or 50e9) if node else (8, 50e9)
    levels = (Level("node", size, chip.scaleup_bandwidth), Level("network", 4096, nic * size))
    C, W = chip.flops(dtype), chip.hbm_bandwidth or 0.0
    sheet = Sheet("", "", C, W, 1.0, chip.scaleup_bandwidth, size, nic)
    plans = [({}, False), ({}, True)] if stack.one_gpu else PLANS
    for (degrees, moe), (micro, m, T) in product(plans, SIZES):
        model, plan = models["qwen3-30b-a3b" if moe else "llama3-8b"], Strategy.of(**degrees, micro=micro)
        B = plan.dp * micro * m * T
        step = float(training_step_time(model, stack, levels, plan, B=B, T=T, dtype=dtype).total)
        weights = parameter_count(model) / (plan.tp * plan.pp * plan.ep)
        least = {
            "math": step_flops(model, B, T) / plan.gpus / C,
            "memory": 2 * m * (weights * KERNEL_BYTES[dtype][0] - (chip.l2_bytes or L2)) / W,
            **axis_seconds(sheet, transfers(model, plan, B=B, m=m)),
        }
        yield from (((stack.key, dtype, degrees, name), step / seconds) for name, seconds in least.items() if seconds)


def test_no_step_of_training_is_below_its_data_sheet():
    cases = [(stack, dtype) for stack in trained() for dtype in ("bf16", "fp8")]
    able = [(stack, dtype) for stack, dtype in cases if dtype == "bf16" or stack.accelerator.fp8_flops]
    assert len({stack.chip for stack, _ in able}) >= 15
    assert worst(ratio for stack, dtype in able for ratio in plan_ratios(stack, dtype)) == []
