"""The chapters' kernels, answered from the prompt alone: right in unusual forms, and wrong in likely ones."""

from functools import cache

import pytest

from autograder.declaration import load_bank
from autograder.values import encoding
from hwlib import tl
from tests.conftest import ROOT

TRANSPOSE = ("02-memory-hierarchy", "memory-hierarchy-transpose")
SOFTMAX = ("02-memory-hierarchy", "memory-hierarchy-softmax")
MATMUL = ("02-memory-hierarchy", "memory-hierarchy-tiled-matmul")
FUSED_NORM = ("03-rooflines", "rooflines-fused-norm")
RIGHT = {
    "pointers turned instead of the tile": """
def transpose(x_ptr, out_ptr, M, N, BM, BN):
    row = tl.program_id(0)*BM + tl.arange(0, BM)[None, :]
    column = tl.program_id(1)*BN + tl.arange(0, BN)[:, None]
    inside = (row < M) & (column < N)
    tl.store(out_ptr + column*M + row, tl.load(x_ptr + row*N + column, mask=inside), mask=inside)
""",
    "one long tile": """
def transpose(x_ptr, out_ptr, M, N, BM, BN):
    k = tl.arange(0, BM*BN)
    row, column = tl.program_id(0)*BM + k//BN, tl.program_id(1)*BN + k % BN
    inside = (row < M) & (column < N)
    tl.store(out_ptr + column*M + row, tl.load(x_ptr + row*N + column, mask=inside), mask=inside)
""",
    "eight rows at a time": """
def transpose(x_ptr, out_ptr, M, N, BM, BN):
    i, j = tl.program_id(0), tl.program_id(1)
    for top in range(i*BM, min((i + 1)*BM, M), 8):
        row, column = top + tl.arange(0, 8), j*BN + tl.arange(0, BN)
        x = tl.load(x_ptr + row[:, None]*N + column[None, :], mask=column[None, :] < N)
        tl.store(out_ptr + column[:, None]*M + row[None, :], x.T, mask=column[:, None] < N)
""",
    "the sum without an axis, the result first": """
def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK):
    at = tl.arange(0, BLOCK)
    first = tl.program_id(0)*N
    h = tl.load(r_ptr + (first + at), mask=at < N) + tl.load(x_ptr + (first + at), mask=at < N)
    scale = 1/tl.sqrt(tl.sum(h*h)/N)
    tl.store(out_ptr + first + at, h*scale, mask=at < N)
    tl.store(h_ptr + first + at, h, mask=at < N)
""",
    "a row of a matrix, and lanes put out by hand": """
def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK):
    at = tl.arange(0, BLOCK)[None, :]
    inside = at < N
    x = tl.load(x_ptr + tl.program_id(0)*N + at, mask=inside, other=7.0)
    r = tl.load(r_ptr + tl.program_id(0)*N + at, mask=inside, other=7.0)
    h = tl.where(inside, x + r, 0.0)
    m = tl.sum(h*h, axis=1)/N
    tl.store(h_ptr + tl.program_id(0)*N + at, h, mask=inside)
    tl.store(out_ptr + tl.program_id(0)*N + at, h/tl.sqrt(m)[:, None], mask=inside)
""",
    "with an epsilon that does not show": """
def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0)*N + at, mask=at < N, other=0.0).to(tl.float64)
    h = x + tl.load(r_ptr + tl.program_id(0)*N + at, mask=at < N, other=0.0)
    tl.store(h_ptr + tl.program_id(0)*N + at, h, mask=at < N)
    tl.store(out_ptr + tl.program_id(0)*N + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N + 1e-8), mask=at < N)
""",
}
TURNED, _, EIGHT, NORM, *_ = RIGHT.values()
RIGHT["a row with an axis, lanes put out by where"] = """
def softmax(x_ptr, out_ptr, N, s, BLOCK):
    at = tl.arange(0, BLOCK)[None, :]
    x = tl.where(at < N, tl.load(x_ptr + tl.program_id(0)*N + at, mask=at < N)*s, -1e30)
    e = tl.where(at < N, tl.exp(x - tl.max(x, axis=1)[:, None]), 0.0)
    tl.store(out_ptr + tl.program_id(0)*N + at, e/tl.sum(e, axis=1)[:, None], mask=at < N)
"""
RIGHT["sums added with +=, a count of steps"] = """
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM, BN, BK):
    i = tl.program_id(0)*BM + tl.arange(0, BM)[:, None]
    j = tl.program_id(1)*BN + tl.arange(0, BN)[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for step in range(tl.cdiv(K, BK)):
        k = step*BK + tl.arange(0, BK)
        sums += tl.dot(tl.load(a_ptr + i*K + k[None, :], mask=(i < M) & (k[None, :] < K), other=0.0),
                       tl.load(b_ptr + k[:, None]*N + j, mask=(k[:, None] < K) & (j < N), other=0.0))
    tl.store(c_ptr + i*N + j, sums, mask=(i < M) & (j < N))
"""
SOFT, PRODUCT = list(RIGHT.values())[-2:]
RIGHT["edges read twice instead of masked"] = TURNED.replace(
    "tl.load(x_ptr + row*N + column, mask=inside)",
    "tl.load(x_ptr + tl.minimum(row, M - 1)*N + tl.minimum(column, N - 1))",
)
WRONG = {
    "the stub": ("def transpose(x_ptr, out_ptr, M, N, BM, BN): ...", "empty", "stores-nothing"),
    "four rows at a time": (EIGHT.replace("8", "4"), "wrong", "sectors"),
    "one row at a time": (EIGHT.replace("8)", "1)"), "mistake", ""),
    "program numbers exchanged": (
        EIGHT.replace("tl.program_id(0), tl.program_id(1)", "tl.program_id(1), tl.program_id(0)"),
        "wrong", "never-stored",
    ),
    "no mask of the columns": (EIGHT.replace(", mask=column[None, :] < N", ""), "wrong", "out-of-bounds"),
    "a copy": (TURNED.replace("column*M + row, ", "row*N + column, "), "wrong", "wrong-value"),
    "every element by itself": (
        """
def transpose(x_ptr, out_ptr, M, N, BM, BN):
    for i in range(tl.program_id(0)*BM, min(tl.program_id(0)*BM + BM, M)):
        for j in range(tl.program_id(1)*BN, min(tl.program_id(1)*BN + BN, N)):
            tl.store(out_ptr + j*M + i, tl.load(x_ptr + i*N + j))
""",
        "wrong", "sectors",
    ),
    "h loaded again": (
        NORM.replace("h*scale", "tl.load(h_ptr + first + at, mask=at < N)*scale"), "wrong", "unwritten"),
    "h stored twice, and loaded": (
        NORM.replace("    scale", "    tl.store(h_ptr + first + at, h, mask=at < N)\n    scale")
        .replace("h*scale", "tl.load(h_ptr + first + at, mask=at < N)*scale"),
        "wrong", "kernel-bytes",
    ),
    "h stored, then loaded": (
        NORM.replace("    scale", "    tl.store(h_ptr + first + at, h, mask=at < N)\n    scale")
        .replace("h*scale", "tl.load(h_ptr + first + at, mask=at < N)*scale").rpartition("    tl.store(h_ptr")[0],
        "mistake", "",
    ),
    "only x loaded again": (
        NORM.replace("    scale", "    tl.load(x_ptr + first + at, mask=at < N)\n    scale"), "wrong", "kernel-bytes"),
    "x and r loaded again": (
        NORM.replace("    scale", "    h = tl.load(r_ptr + first + at, mask=at < N) + tl.load(x_ptr + first + at, "
                     "mask=at < N)\n    scale"),
        "mistake", "",
    ),
    "the sum in place of x": (NORM.replace("tl.store(h_ptr", "tl.store(x_ptr"), "wrong", "changes-input"),
    "rows of BLOCK": (NORM.replace("*N", "*BLOCK"), "wrong", "out-of-bounds"),
    "lanes that are ones": (NORM.replace("mask=at < N) +", "mask=at < N, other=1.0) +"), "wrong", "wrong-value"),
    "no mean": (NORM.replace("/N)", ")"), "wrong", "wrong-value"),
    "the mean over the block": (NORM.replace("/N)", "/BLOCK)"), "mistake", ""),
    "the mean square": (NORM.replace("tl.sqrt(tl.sum(h*h)/N)", "(tl.sum(h*h)/N)"), "mistake", ""),
    "a softmax over powers of two": (
        SOFT.replace("tl.exp(", "tl.exp(0.6931*(").replace("[:, None]), 0.0", "[:, None])), 0.0"),
        "wrong", "wrong-value",
    ),
    "a softmax that loads twice": (
        SOFT.replace("e/tl", "e*tl.load(x_ptr + tl.program_id(0)*N + at, mask=at < N)*0 + e/tl"),
        "wrong", "kernel-bytes",
    ),
    "a whole row of a at once": (PRODUCT.replace("step*BK + tl.arange(0, BK)", "step*64 + tl.arange(0, 64)")
                                 .replace("cdiv(K, BK)", "cdiv(K, 64)"), "mistake", ""),
    "steps of b exchanged": (PRODUCT.replace("k[:, None]*N + j", "k[:, None] + j*K"), "wrong", "wrong-value"),
    "a choice in Python": (NORM.replace("1/tl", "1 if h > 0 else 1/tl"), "wrong", "decides-in-python"),
}  # fmt: skip


@cache
def bank(chapter):
    return load_bank(ROOT / "solutions" / chapter)


def check(source):
    scope = {"tl": tl, "__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), scope)
    named = {"transpose": TRANSPOSE, "softmax": SOFTMAX, "matmul": MATMUL}
    chapter, name = next((one for key, one in named.items() if key in scope), FUSED_NORM)
    exercise = bank(chapter)[name]
    kernel = scope[exercise.answer.name]
    return exercise.judge_message(encoding.encode(kernel), {}, exercise.answer.local_call(kernel))


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_an_unusual_form_is_right(source):
    verdict = check(source)
    assert (verdict.score, verdict.kind) == (1, "right"), verdict.say


@pytest.mark.parametrize(("source", "kind", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_one_is_told_why(source, kind, reason):
    verdict = check(source)
    assert (verdict.score, verdict.kind, verdict.reason) == (0, kind, reason), verdict.say
