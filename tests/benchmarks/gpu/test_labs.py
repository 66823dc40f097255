"""What was measured on a card of our own: the page's figures are those of its rows and of the models as they are."""

import csv
import re
from statistics import mean, median

import pytest

from benchmarks.gpu.kernels import counted_cases
from benchmarks.gpu.labs import SEED, shapes
from hwlib import tl
from hwlib.calibrated import gemm_model, prefill_attention_time
from hwlib.roofline import matmul_bytes, matmul_flops, roofline_time
from hwlib.specs import accelerators

CHIP = "h100-sxm"


def read(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


@pytest.fixture(scope="module")
def rows(root):
    return read(root / "benchmarks/data/own_h100.csv")


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs/fidelity.md").read_text(encoding="utf-8")


def sides(shape):
    return tuple(map(int, shape.split(" x ")))


def roofline(shape):
    sheet = accelerators[CHIP]
    return roofline_time(matmul_flops(*shape), matmul_bytes(*shape, 2), sheet.bf16_flops, sheet.hbm_bandwidth)


def attention(shape):
    heads, kv, D, B, T = map(int, re.findall(r"\d+", shape))
    return prefill_attention_time(CHIP, "bf16", heads=heads, kv_heads=kv, head_dim=D, batch=B, seq=T, software="sglang")


MODELS = {
    "products in bfloat16": ("bf16 product", lambda shape: gemm_model(CHIP, "bf16").time(*sides(shape))),
    "products in fp8": ("fp8 product", lambda shape: gemm_model(CHIP, "fp8").time(*sides(shape))),
    "causal attention": ("attention", attention),
}


@pytest.mark.parametrize("words", MODELS)
def test_the_page_has_the_errors_of_these_rows(rows, page, words):
    kind, predict = MODELS[words]
    errors = [predict(row["shape"]) / float(row["middle"]) - 1 for row in rows if row["kind"] == kind]
    line = next(line for line in page.splitlines() if line.startswith(f"| {words}"))
    count, *printed = re.findall(r"[−+]?[\d.]+(?= %)|(?<=\| )\d+(?= \|)", line)
    assert int(count) == len(errors)
    sizes = sorted(map(abs, errors))
    for text, value in zip(printed, (mean(sizes), median(sizes), sizes[-1], mean(errors)), strict=False):
        text = text.replace("−", "-")
        assert f"{100 * value:+.{len(text.partition('.')[2])}f}".lstrip("+") == text.lstrip("+")


def test_the_shapes_were_drawn_and_not_chosen(rows):
    drawn = shapes(64, SEED)
    assert [sides(row["shape"]) for row in rows if row["kind"] == "bf16 product"] == drawn
    assert min(M for M, _, _ in drawn) < 4
    assert max(M for M, _, _ in drawn) > 8192


def test_the_roofline_is_off_by_as_much_as_the_page_says(rows, page):
    errors = [
        abs(roofline(sides(row["shape"])) / float(row["middle"]) - 1) for row in rows if row["kind"] == "bf16 product"
    ]
    assert f"| {100 * mean(errors):.0f} % |\n" in page[page.index("| products in bfloat16") :]


def test_memory_reaches_what_the_page_says(rows, page):
    for kind in ("copy", "read"):
        best = float(next(row for row in rows if (row["kind"], row["shape"]) == (kind, f"{2**30} B"))["middle"])
        assert f"{best / 1e12:.2f} TB/s" in page
        assert f"{best / accelerators[CHIP].hbm_bandwidth:.0%}".replace("%", " %") in page


def test_the_hardware_counted_the_sectors_that_are_counted_here(root):
    counted = {}
    for row in read(root / "benchmarks/data/own_h100_sectors.csv"):
        counted.setdefault(row["kernel"], {})[row["what"]] = int(row["sectors"])
    cases = counted_cases()
    assert counted.keys() == cases.keys()
    for name, (kernel, grid, given) in cases.items():
        arguments = {key: tl.empty(one) if type(one) is tuple else one for key, one in given.items()}
        traffic = tl.launch(kernel, grid, **arguments).traffic.values()
        here = {
            "loaded": sum(one.loaded_sectors for one in traffic),
            "stored": sum(one.stored_sectors for one in traffic),
        }
        assert counted[name] == here, name
