"""Kernels as answers: the memory is the judge."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.answers import Kernel, Launch, answer_from, at_most
from autograder.answers.selftest import selftest
from autograder.book.source import notebook
from autograder.declaration import Exercise, Mistake, load_bank
from autograder.declaration.verdict import DeclarationError
from autograder.grading.judge import Judge
from autograder.grading.submission import RunSettings, grade_notebook
from autograder.sandbox import Limits
from autograder.values import encoding
from hwlib import tl

EXERCISES = """
from autograder.answers import Kernel, Launch, exactly
from autograder.declaration import Exercise, Mistake
from hwlib import tl


def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0)*BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


def unmasked(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0)*BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) + tl.load(y_ptr + at))


def twice(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0)*BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask), mask=mask)
    tl.store(out_ptr + at, tl.load(out_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


ADD = Exercise(
    id="t-add", points=3, prompt="Add two vectors.", solution=add, hints=("A mask.",),
    answer=Kernel("add", "add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr)",
                  cases=[Launch(blocks, {"x_ptr": (n,), "y_ptr": (n,), "out_ptr": tl.empty(n), "n": n, "BLOCK": block})
                         for blocks, n, block in ((4, 1000, 256), (3, 24, 8))]),
    mistakes=(Mistake(unmasked, "The last block is longer than what is left."),
              Mistake(twice, "The sum goes through memory twice.")))
"""
RIGHT = """
def add(x_ptr, y_ptr, out_ptr, n, BLOCK):
    first = tl.program_id(0)*BLOCK
    at = first + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + at, mask=at < n, other=0.0)
    tl.store(at + out_ptr, y + tl.load(x_ptr + at, mask=(at < n) & (at >= 0)), mask=at < n)
"""
WRONG = [
    ("def add(x_ptr, y_ptr, out_ptr, n, BLOCK): ...", "empty", "stores-nothing"),
    (RIGHT.replace("y + tl", "y - tl"), "wrong", "wrong-value"),
    (RIGHT.replace("mask=at < n)", "mask=at < n - 1)"), "wrong", "never-stored"),
    (RIGHT.replace("tl.program_id(0)*BLOCK", "0*BLOCK"), "wrong", "race"),
    (RIGHT.replace("tl.arange(0, BLOCK)", "tl.arange(0, BLOCK - 1)"), "wrong", "no-power-of-two"),
    (RIGHT + "    tl.load(x_ptr + at, mask=at < n)\n", "wrong", "kernel-bytes"),
    (RIGHT + "    tl.store(x_ptr + at, y, mask=at < n)\n", "wrong", "changes-input"),
    (RIGHT + "    1/0\n", "wrong", "raises"),
    (RIGHT + "    while True: pass\n", "wrong", "time-limit"),
    (RIGHT + "    while True: tl.arange(0, 1)\n", "wrong", "endless"),
    ("def add(x_ptr): pass", "wrong", "raises"),
    ("add = 3", "unreadable", "not-a-function"),
    (RIGHT.replace("tl.load(y_ptr + at, mask=at < n, other=0.0)", "tl.load(y_ptr + at)"), "mistake", ""),
    (
        RIGHT.replace("mask=at < n, other=0.0)", ")")
        .replace("mask=(at < n) & (at >= 0)", "")
        .replace(", mask=at < n)", ")"),
        "mistake",
        "",
    ),
]


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    root = tmp_path_factory.mktemp("kernels")
    (root / "exercises.py").write_text(EXERCISES)
    return load_bank(root)


def check(bank, source):
    scope = {"tl": tl, "__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), scope)
    exercise = bank["t-add"]
    return exercise.judge_message(encoding.encode(scope["add"]), {}, exercise.answer.local_call(scope["add"]))


def test_the_exercise_tests_itself(bank):
    assert selftest(bank["t-add"]) == []


def test_another_right_kernel_is_right(bank):
    assert check(bank, RIGHT).score == 1


@pytest.mark.parametrize(("source", "kind", "reason"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_one_is_told_why(bank, source, kind, reason):
    verdict = check(bank, source)
    assert (verdict.score, verdict.kind, verdict.reason) == (0, kind, reason), verdict.say


@pytest.mark.parametrize(
    ("start", "kind", "reason"),
    [("0", "mistake", ""), ("first//2", "wrong", "race")],
    ids=["as the mistake does", "elsewhere"],
)
def test_a_race_is_the_mistake_only_in_the_same_place(bank, start, kind, reason):
    def one_block(x_ptr, y_ptr, out_ptr, n, BLOCK):
        at = tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)

    exercise = replace(bank["t-add"], mistakes=(Mistake(one_block, "Every program stores the same block."),))
    verdict = check({"t-add": exercise}, RIGHT.replace("at + out_ptr", f"{start} + tl.arange(0, BLOCK) + out_ptr"))
    assert (verdict.kind, verdict.reason) == (kind, reason), verdict.say


def test_the_array_that_is_read_too_often_is_named(bank):
    verdict = check(bank, RIGHT + "    tl.load(x_ptr + at, mask=at < n)\n    tl.load(x_ptr + at, mask=at < n)\n")
    assert "20 KB" in verdict.say
    assert "12 KB" in verdict.say
    assert "`x_ptr` 3 times" in verdict.say


def test_a_limit_may_be_a_formula_of_the_arguments():
    launch = Launch(1, {"x_ptr": (8,), "out_ptr": tl.empty(8), "n": 8})

    def copy(x_ptr, out_ptr, n):
        tl.store(out_ptr + tl.arange(0, 8), tl.load(x_ptr + tl.arange(0, 8)))

    for least, score in ((64, 1), (63, 0)):
        answer = Kernel(
            "copy", "copy(x_ptr, out_ptr, n)", cases=[launch], bytes=at_most(lambda n, least=least: least * n / 8)
        )
        exercise = Exercise(id="t-copy", prompt="?", answer=answer, solution=copy)
        assert exercise.judge_message(encoding.encode(copy), {}, answer.local_call(copy)).score == score


def test_only_the_counted_arrays_may_be_limited(bank):
    exercise = bank["t-add"]
    counted = replace(exercise, answer=replace(exercise.answer, counted=("x_ptr", "out_ptr")))
    assert check({"t-add": counted}, RIGHT + "    tl.load(y_ptr + at, mask=at < n)\n").score == 1
    verdict = check({"t-add": counted}, RIGHT + "    tl.load(x_ptr + at, mask=at < n)\n")
    assert verdict.reason == "kernel-bytes"
    assert "12 KB of `x_ptr`, `out_ptr`" in verdict.say
    assert selftest(counted) == []


def test_what_is_counted_is_an_argument():
    with pytest.raises(DeclarationError, match="z_ptr"):
        Kernel("f", "f(x_ptr)", cases=[Launch(1, {"x_ptr": (8,)})], counted=("z_ptr",))


def test_its_public_record_has_the_signature_alone(bank):
    public = json.loads(json.dumps(bank["t-add"].public()))
    assert "twice" not in json.dumps(public)
    assert answer_from(public).signature == bank["t-add"].answer.signature


@pytest.mark.parametrize("signature", ["", "other(x)", "add()", "add(x"])
def test_a_signature_that_is_none_is_refused(signature):
    with pytest.raises(DeclarationError):
        Kernel("add", signature, cases=[Launch(1, {})])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux namespaces")
def test_the_sandbox_gives_the_same_verdicts(bank, zygotes):
    def written(answer):
        cells = [new_code_cell("from hwlib import tl\nfrom autograder import grade")]
        cells.append(new_code_cell(f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION", metadata={"exercise": "t-add"}))
        nb = new_notebook(cells=cells, metadata={"kernelspec": notebook.KERNEL})
        for number, cell in enumerate(nb.cells):
            cell.id = f"cell-{number}"
        return notebook.expand(nb, bank, chapter="02-kernels")

    with Judge([bank.path]) as judge:
        for source, kind, reason in [(RIGHT, "right", ""), *WRONG]:
            done = grade_notebook(
                written(source),
                written("pass"),
                bank,
                "ann",
                RunSettings(Limits(cell=3.0)),
                zygote=zygotes(),
                judge=judge,
            )
            assert done.problems == []
            result = done.results[0]
            assert (result.points, result.kind) == (3.0 if kind == "right" else 0.0, kind), result.say
            assert result.reason == reason


def test_what_is_drawn_differs_from_run_to_run():
    launch = Launch(1, {"x_ptr": (8,), "out_ptr": tl.empty(8), "n": 8})
    generator = np.random.default_rng(0)
    one, other = (launch.arrays(generator) for _ in range(2))
    assert set(one) == {"x_ptr", "out_ptr"}
    assert not np.array_equal(one["x_ptr"], other["x_ptr"])


def test_small_elements_beside_a_large_one_count_too():
    launch = Launch(1, {"x_ptr": (8,), "out_ptr": tl.empty(8), "n": 8})

    def scaled(x_ptr, out_ptr, n, small=1.0):
        at = tl.arange(0, 8)
        x = tl.load(x_ptr + at)
        tl.store(out_ptr + at, tl.where(at < 1, 1000.0, 0.5 * small + 0.0 * x))

    def wrong(x_ptr, out_ptr, n):
        scaled(x_ptr, out_ptr, n, small=0.8)

    answer = Kernel("scaled", "scaled(x_ptr, out_ptr, n)", cases=[launch])
    exercise = Exercise(id="t-scaled", prompt="?", answer=answer, solution=scaled)
    verdict = exercise.judge_message(encoding.encode(wrong), {}, answer.local_call(wrong))
    assert (verdict.score, verdict.reason) == (0, "wrong-value")


# Behind an L2 cache

ROWS, COLUMNS, TILE = 8, 16, 8


def tiles(a_ptr, b_ptr, out_ptr, rows, columns, T: tl.constexpr, GROUP: tl.constexpr, order):
    """Outer product of two panels, tile by tile in an order of the programs."""
    row, column = order(tl.program_id(0), rows, columns, GROUP)
    at = tl.arange(0, T)
    a = tl.load(a_ptr + row * T * T + T * at[:, None] + at[None, :])
    b = tl.load(b_ptr + column * T * T + T * at[:, None] + at[None, :])
    tl.store(out_ptr + (row * T + at[:, None]) * columns * T + column * T + at[None, :], tl.dot(a, b))


def row_by_row(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP):
    tiles(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP, lambda i, rows, columns, g: divmod(i, columns))


def in_groups(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP):
    def order(i, rows, columns, g):
        top, place = divmod(i, g * columns)
        return top * g + place % g, place // g

    tiles(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP, order)


def in_groups_of_columns(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP):
    def order(i, rows, columns, g):
        left, place = divmod(i, g * rows)
        return place // g, left * g + place % g

    tiles(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP, order)


def by_columns(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP):
    tiles(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP, lambda i, rows, columns, g: divmod(i, rows)[::-1])


def scattered(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP):
    tiles(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP, lambda i, r, c, g: divmod(37 * i % (r * c), c))


def grouped():
    given = {"a_ptr": (ROWS * TILE, TILE), "b_ptr": (COLUMNS * TILE, TILE)}
    given |= {"out_ptr": tl.empty((ROWS * TILE, COLUMNS * TILE))}
    given |= {"rows": ROWS, "columns": COLUMNS, "T": TILE, "GROUP": 4}
    answer = Kernel(
        "tiles",
        "tiles(a_ptr, b_ptr, out_ptr, rows, columns, T, GROUP)",
        cases=[Launch(ROWS * COLUMNS, given)],
        hbm_bytes=at_most(),
        l2=tl.L2(16 * 4 * TILE**2, wave=16),
    )
    mistakes = (Mistake(row_by_row, "A row shares one panel."), Mistake(by_columns, "Columns share few panels."))
    return Exercise(id="t-tiles", prompt="?", answer=answer, solution=in_groups, mistakes=mistakes, hints=("Squares.",))


@pytest.mark.parametrize(
    ("kernel", "score", "kind", "reason"),
    [
        (in_groups, 1, "right", ""),
        (in_groups_of_columns, 1, "right", ""),
        (row_by_row, 0, "mistake", ""),
        (by_columns, 0, "mistake", ""),
        (scattered, 0, "wrong", "hbm-bytes"),
    ],
)
def test_the_order_of_programs_counts_behind_a_cache(kernel, score, kind, reason):
    exercise = grouped()
    verdict = exercise.judge_message(encoding.encode(kernel), {}, exercise.answer.local_call(kernel))
    assert (verdict.score, verdict.kind, verdict.reason) == (score, kind, reason), verdict.say


def test_an_exercise_about_the_order_tests_itself():
    assert selftest(grouped()) == []


def test_bytes_of_hbm_need_a_cache():
    with pytest.raises(DeclarationError):
        Kernel("f", "f(x_ptr)", cases=[Launch(1, {"x_ptr": (8,)})], hbm_bytes=at_most())


def test_a_prompt_lists_what_a_kernel_may_use_folded():
    answer = Kernel("add", "add(x_ptr)", cases=[Launch(1, {"x_ptr": (8,)})])
    exercise = Exercise(id="t-kernel", prompt="?", answer=answer, solution=lambda x_ptr: None)
    shown = exercise.answer.asked_of({})
    assert shown.startswith("<details>")
    assert all(f"`tl.{name}`" in shown for names in tl.OPERATIONS.values() for name in names)
    assert exercise.answer.box(exercise).above == shown
