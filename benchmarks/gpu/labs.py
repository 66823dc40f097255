"""What the labs measure on a GPU, beside what the book's models say: `python -m benchmarks.gpu --out FILE`.

`--short` is half a minute on any card: see `short`.

Each row of FILE is one measurement: its kind, its shape, the seconds measured (minimum, median and maximum of the
repeats) and the seconds that the model says. No constant of the library is fitted to these rows: they are a test of
the constants, on a card that none of them comes from. Needs a GPU, torch, and nothing else beside numpy, sympy and
networkx. Kernels are timed in a CUDA graph, so that a launch costs the device what it costs there and the host nothing;
their arrays are further apart than the last cache holds.
"""

import csv
import math
import random
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any

import click

from benchmarks.gpu import short
from benchmarks.gpu.measurement import Row, timed
from benchmarks.gpu.step import steps
from benchmarks.gpu.this_card import NoCardError, TorchCard
from hwlib.calibrated import fit_kernel_model, gemm_model, prefill_attention_time
from hwlib.labs import bandwidth, measure
from hwlib.units import show

SEED = 20261128


@click.command()
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The CSV file to write.")
@click.option("--products", default=64, show_default=True, help="Matrix products of each dtype.")
@click.option("--short", "half_a_minute", is_flag=True, help="Half a minute, a table, and why a number falls short.")
@click.option("--json", "as_json", is_flag=True, help="With --short: one JSON object in place of the table.")
def main(out: Path | None, products: int, half_a_minute: bool, as_json: bool) -> None:
    """Measure this GPU as the labs do, and write the rows; or with --short, hold it against its data sheet."""
    if half_a_minute:
        return _short(as_json)
    if out is None or as_json:
        raise click.UsageError("--out FILE is where the rows go; --short prints a table, or with --json an object")
    _long(out, products)


def _short(as_json: bool) -> None:
    try:
        short.report(TorchCard(), click.echo, as_json)
    except NoCardError as error:
        raise click.ClickException(f"{error}; chapter 3's lab measures the processor instead") from None
    except ImportError:
        raise click.ClickException("no torch here, which measures the card: pip install 'gpubook[labs]'") from None


def _long(out: Path, products: int) -> None:
    import torch

    chip = bandwidth.chip_of()
    if chip is None:
        raise click.ClickException("no GPU here whose data sheet the tables hold")
    card = torch.cuda.get_device_properties(0)
    click.echo(
        f"{card.name}: {card.multi_processor_count} multiprocessors, {show(float(card.total_memory), 'B')}, "
        f"L2 {card.L2_cache_size / 2**20:g} MiB; torch {torch.__version__}"
    )
    key = _key(chip)
    rows: list[Row] = []
    for part in (
        lambda: constants(chip),
        lambda: copies(chip),
        lambda: bf16_products(key, products),
        lambda: fp8_products(key, products),
        lambda: attention(key),
        lambda: steps(key),
    ):
        begun, made = time.monotonic(), []
        try:
            for row in part():
                made.append(row)
                _write([*rows, *made], out)
        except Exception as error:
            click.echo(f"stopped: {type(error).__name__}: {str(error)[:300]}", err=True)
        rows += made
        _tell(made, time.monotonic() - begun)


def constants(chip: Any) -> Iterator[Row]:
    """The lab of chapter 3: memory, arithmetic, and three constants."""
    with measure.watch() as noise:
        samples = measure.measure_kernels()
    mine = fit_kernel_model(samples)
    errors = mine.errors(samples)
    C, W = measure.measure_matmul(), measure.measure_bandwidth()
    click.echo(
        f"memory {show(W, 'B/s')} of {show(chip.hbm_bandwidth, 'B/s')}, products {show(C, 'FLOP/s')} of "
        f"{show(chip.bf16_flops, 'FLOP/s')}; fitted C {show(mine.eta_C * mine.C, 'FLOP/s')}, "
        f"W {show(mine.eta_W * mine.W, 'B/s')}, t0 {show(mine.t0, 's')}, mean error "
        f"{mean(map(abs, errors)):.1%}. {noise}"
    )
    for sample, error in zip(samples, errors, strict=True):
        yield Row("lab kernel", sample.label, sample.time, sample.time, sample.time, sample.time * (1 + error))


def copies(chip: Any) -> Iterator[Row]:
    """The lab of chapter 2: reads and copies over a sweep of sizes; beyond the L2, beside the memory's data sheet."""
    inside, sheet = bandwidth.caches()["L2"], chip.hbm_bandwidth
    for kind, points in (("read", bandwidth.measure_reads()), ("copy", bandwidth.measure_copies())):
        for point in points:
            W = point.bandwidth
            yield Row(kind, f"{point.size:.0f} B", W, W, W, sheet if point.size > 2 * inside else math.nan, "B/s")


def shapes(count: int, seed: int) -> list[tuple[int, int, int]]:
    """M from 1 to 16,384 and N, K from 512 to 28,672, uniform in their logarithms; N and K multiples of 128."""
    draw = random.Random(seed)
    drawn = []
    for _ in range(count):
        M = round(2 ** draw.uniform(0, 14))
        N, K = (128 * round(2 ** draw.uniform(2, math.log2(224))) for _ in range(2))
        drawn.append((M, N, K))
    return drawn


def bf16_products(key: str, count: int) -> Iterator[Row]:
    """Products in bfloat16, as cuBLAS does them."""
    import torch

    model = gemm_model(key, "bf16")
    for M, N, K in shapes(count, SEED):

        def arrays(M: int = M, N: int = N, K: int = K) -> Any:
            kind: Any = {"device": "cuda", "dtype": torch.bfloat16}
            return torch.randn(M, K, **kind), torch.randn(N, K, **kind), torch.empty(M, N, **kind)

        run = lambda x, w, out: torch.mm(x, w.t(), out=out)
        yield Row("bf16 product", f"{M} x {N} x {K}", *timed(arrays, run), model.time(M, N, K))


def fp8_products(key: str, count: int) -> Iterator[Row]:
    """Products in fp8 with one scale, the pass that makes activations of bfloat16 small included, as in the model."""
    import torch

    model = gemm_model(key, "fp8")
    one = torch.ones((), device="cuda")
    for M, N, K in shapes(count, SEED):
        M = max(16 * round(M / 16), 16)

        def arrays(M: int = M, N: int = N, K: int = K) -> Any:
            x = torch.randn(M, K, device="cuda", dtype=torch.bfloat16)
            small = torch.empty(M, K, device="cuda", dtype=torch.float8_e4m3fn)
            return x, small, torch.randn(N, K, device="cuda").to(torch.float8_e4m3fn)

        def run(x: Any, small: Any, w: Any) -> Any:
            small.copy_(x)
            return torch._scaled_mm(small, w.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True)

        yield Row("fp8 product", f"{M} x {N} x {K}", *timed(arrays, run), model.time(M, N, K))


def attention(key: str) -> Iterator[Row]:
    """Causal attention over prompts, as cuDNN does it, beside the constants of kernels of the same kind."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    for heads, kv_heads, D, B, T in (
        (32, 8, 128, 1, 1024),
        (32, 8, 128, 1, 4096),
        (32, 8, 128, 1, 16384),
        (32, 8, 128, 4, 2048),
        (32, 8, 128, 16, 512),
        (64, 8, 128, 1, 8192),
        (16, 16, 64, 8, 2048),
        (32, 32, 64, 4, 4096),
        (8, 1, 128, 1, 32768),
        (8, 2, 128, 8, 4096),
    ):

        def arrays(h: int = heads, k: int = kv_heads, D: int = D, B: int = B, T: int = T) -> Any:
            return [torch.randn(B, n, T, D, device="cuda", dtype=torch.bfloat16) for n in (h, k, k)]

        run = lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            times = timed(arrays, run)
        said = prefill_attention_time(
            key, "bf16", heads=heads, kv_heads=kv_heads, head_dim=D, batch=B, seq=T, software="sglang"
        )
        yield Row("attention", f"{heads}/{kv_heads} heads of {D}, {B} x {T}", *times, said)


def _key(chip: Any) -> str:
    from hwlib.specs import accelerators

    return next(key for key in accelerators if accelerators[key] is chip)


def _tell(rows: list[Row], seconds: float) -> None:
    for kind in dict.fromkeys(row.kind for row in rows):
        errors = [row.error for row in rows if row.kind == kind and not math.isnan(row.error)]
        sizes = sorted(map(abs, errors))
        click.echo(
            f"{kind}: {len(errors)} rows, error mean {mean(sizes):.1%}, median {median(sizes):.1%}, "
            f"largest {sizes[-1]:.1%}, bias {mean(errors):+.1%}"
        )
    click.echo(f"({seconds:.0f} s)")


def _write(rows: list[Row], out: Path) -> None:
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*Row._fields, "error"])
        writer.writerows(
            [row.kind, row.shape, *(_text(x, ".6g") for x in row[2:6]), row.unit, _text(row.error, ".4f")]
            for row in rows
        )


def _text(x: float, form: str) -> str:
    return "" if math.isnan(x) else format(x, form)
