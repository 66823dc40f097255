"""The kernel of attention, answered from the prompt alone: right in unusual forms, and wrong in likely ones."""

from functools import cache

import pytest

from autograder.declaration import load_bank
from autograder.values import encoding
from hwlib import tl
from tests.conftest import ROOT

ONLINE = """
def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R, H, BLOCK):
    head, r, h = tl.program_id(0), tl.arange(0, R), tl.arange(0, H)
    at = (head*R + r)[:, None]*H + h[None, :]
    q = tl.load(q_ptr + at)*scale
    most = tl.full((R,), -1e30, tl.float32)
    total = tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for i in range(tl.cdiv(T, BLOCK)):
        t = i*BLOCK + tl.arange(0, BLOCK)
        kT = tl.load(k_ptr + (head*T + t)[None, :]*H + h[:, None], mask=t[None, :] < T, other=0.0)
        v = tl.load(v_ptr + (head*T + t)[:, None]*H + h[None, :], mask=t[:, None] < T, other=0.0)
        s = tl.where(t[None, :] < T, tl.dot(q, kT), -1e30)
        new = tl.maximum(most, tl.max(s, axis=1))
        old = tl.exp(most - new)
        p = tl.exp(s - new[:, None])
        acc = acc*old[:, None] + tl.dot(p, v)
        total = total*old + tl.sum(p, axis=1)
        most = new
    tl.store(out_ptr + at, acc/total[:, None])
"""
RIGHT = {
    "keys loaded turned, queries scaled": ONLINE,
    "divided as it goes": ONLINE.replace(
        "acc = acc*old[:, None] + tl.dot(p, v)\n        total = total*old + tl.sum(p, axis=1)",
        "new_total = total*old + tl.sum(p, axis=1)\n"
        "        acc = acc*(total*old/new_total)[:, None] + tl.dot(p/new_total[:, None], v)\n"
        "        total = new_total",
    ).replace("acc/total[:, None]", "acc"),
    "half a block at a time": ONLINE.replace("BLOCK)):", "BLOCK//2)):").replace(
        "i*BLOCK + tl.arange(0, BLOCK)", "i*(BLOCK//2) + tl.arange(0, BLOCK//2)"
    ),
}
WRONG = {
    "the stub": ("def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R, H, BLOCK): ...", "empty", "stores-nothing"),
    "the maximum of each block": (ONLINE.replace("tl.maximum(most, tl.max(s, axis=1))", "tl.max(s, axis=1)"),
                                  "wrong", "wrong-value"),
    "scores of the first head": (ONLINE.replace("(head*T + t)[None, :]", "t[None, :]"), "wrong", "wrong-value"),
    "queries loaded in each block": (
        ONLINE.replace("        kT =", "        q = tl.load(q_ptr + at)*scale\n        kT ="), "wrong", "kernel-bytes"),
    "keys loaded twice": (
        ONLINE.replace("        s =", "        tl.load(k_ptr + (head*T + t)[None, :]*H + h[:, None], "
                       "mask=t[None, :] < T)\n        s ="), "wrong", "kernel-bytes"),
    "no largest score": (
        ONLINE.replace("new = tl.maximum(most, tl.max(s, axis=1))", "new = tl.zeros((R,), tl.float32)")
        .replace("-1e30, tl.float32", "0.0, tl.float32"), "mistake", ""),
    "keys beyond the end": (ONLINE.replace("tl.where(t[None, :] < T, tl.dot(q, kT), -1e30)", "tl.dot(q, kT)"),
                            "mistake", ""),
    "the output in the queries": (ONLINE.replace("out_ptr + at", "q_ptr + at"), "wrong", "changes-input"),
}  # fmt: skip


@cache
def exercise():
    return load_bank(ROOT / "solutions" / "03-rooflines")["rooflines-flash-attention"]


def check(source):
    scope = {"tl": tl, "__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), scope)
    kernel = scope["attend"]
    return exercise().judge_message(encoding.encode(kernel), {}, exercise().answer.local_call(kernel))


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_an_unusual_form_is_right(source):
    verdict = check(source)
    assert (verdict.score, verdict.kind) == (1, "right"), verdict.say


@pytest.mark.parametrize(("source", "kind", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_one_is_told_why(source, kind, reason):
    verdict = check(source)
    assert (verdict.kind, verdict.reason) == (kind, reason), verdict.say
