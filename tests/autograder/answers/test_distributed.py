"""torch.distributed answers: judged like algorithms, in a notebook and through the sandbox."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.answers import Distributed, answer_from
from autograder.answers.selftest import selftest
from autograder.book.source import notebook
from autograder.declaration import DeclarationError, Exercise, Mistake, load_bank
from autograder.grading.judge import Judge
from autograder.grading.submission import RunSettings, grade_notebook
from autograder.sandbox import Limits
from autograder.values import encoding
from tests.autograder import lab

torch = pytest.importorskip("torch")
dist = torch.distributed

PRELOAD = "all"  # torch, before the fork
ROOT = str(Path(__file__).resolve().parents[3])
LIMITS = Limits(cell=20.0, grace=1.0, total=120.0)
EXERCISES = f"""
from autograder.answers import Distributed
from autograder.declaration import Exercise, Mistake
from hwlib.algorithms import Step, blocks
{inspect.getsource(lab.ring)}
{inspect.getsource(lab.whole_ring)}
{inspect.getsource(lab.scattered)}
RING = Exercise(
    id="t-torch", points=3, prompt="Write a ring with send and recv.", solution=ring, withholds=("hwlib.algorithms",),
    answer=Distributed("allreduce", cases=[(2, 8), (4, 16, "float32")], collective="all_reduce"),
    mistakes=(Mistake(whole_ring, "The whole array in every step."), Mistake(scattered, "Only its own block.")))
"""

RIGHT = """
def allreduce(rank, n, x):
    block, after, before = list(x.chunk(n)), (rank + 1) % n, (rank - 1) % n
    def turn(send, recv):
        got = torch.empty_like(block[recv])
        ops = [dist.P2POp(dist.isend, block[send], after), dist.P2POp(dist.irecv, got, before)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        return got
    for k in range(n - 1):
        block[(rank - k - 2) % n] += turn((rank - k - 1) % n, (rank - k - 2) % n)
    for k in range(n - 1):
        block[(rank - k - 1) % n].copy_(turn((rank - k) % n, (rank - k - 1) % n))
    return x
"""
WHOLE = """
def allreduce(rank, n, x):
    mine = x.clone()
    for _ in range(n - 1):
        got = torch.empty_like(x)
        work = [dist.isend(mine, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
        for w in work: w.wait()
        mine = got
        x += mine
    return x
"""
SCATTERED = RIGHT.replace("block[(rank - k - 1) % n].copy_(turn((rank - k) % n, (rank - k - 1) % n))", "pass")
ROOT = """
def allreduce(rank, n, x):
    if rank:
        dist.send(x, 0)
        dist.recv(x, 0)
        return x
    for other in range(1, n):
        got = torch.empty_like(x)
        dist.recv(got, other)
        x += got
    for other in range(1, n):
        dist.send(x, other)
    return x
"""
READY = "def allreduce(rank, n, x):\n    dist.all_reduce(x)\n    return x"
FIRST = "def allreduce(rank, n, x):\n    dist.send(x, (rank + 1) % n)\n    dist.recv(x, (rank - 1) % n)\n    return x"
STUCK = "def allreduce(rank, n, x):\n    dist.recv(x, (rank + 1) % n)\n    return x"
ALONE = RIGHT.replace("    block, after", "    dist.new_group([rank])\n    block, after")
INTO = RIGHT.replace(
    "ops = [", "work = dist.isend(block[send], after)\n        dist.recv(block[send], before)\n        ops = ["
)
EARLY = """
def allreduce(rank, n, x):
    got = torch.zeros_like(x)
    for w in [dist.isend(x, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]:
        got += x
        w.wait()
    return got
"""
MORE = RIGHT.replace("return x", "dist.irecv(x.clone(), after)\n    return x")
TYPED = RIGHT.replace("    block, after", "    x = x if n == 2 else x.int()\n    block, after")
FAILS = "def allreduce(rank, n, x):\n    return x[0].item() / 0 if rank else ring(x)"
ENDS = "def allreduce(rank, n, x):\n    import os; os._exit(5)"
BEHIND = """
import socket, pathlib
def allreduce(rank, n, x):
    pathlib.Path("/tmp/share").write_bytes(x.numpy().tobytes())
    left = torch.frombuffer(bytearray(pathlib.Path("/tmp/share").read_bytes()), dtype=x.dtype)
    return left * n
"""
CASES = [
    (RIGHT, "right", "", ""),
    ("def allreduce(rank, n, x): ...", "empty", "returns-nothing", "`allreduce`"),
    (WHOLE, "mistake", "", "The whole array in every step."),
    (SCATTERED, "mistake", "", "Only its own block."),
    (ROOT, "wrong", "one-rank-carries", "rank 0 "),
    (READY, "wrong", "call-not-allowed", "all_reduce; this exercise allows send, recv"),
    (STUCK, "wrong", "deadlock", "rank 0 waits for a message from rank 1"),
    (FIRST, "wrong", "only-sends", "rank 1 waits in send for rank 0 to receive. All of them send and nobody receives"),
    (ALONE, "wrong", "group-not-entered-by-all", "new_group([0]) was entered by rank 0, but not by rank 1"),
    (INTO, "wrong", "buffer-in-flight", "rank 0 receives from rank 1 into the buffer of its isend to rank 1"),
    (EARLY, "wrong", "buffer-in-flight", "changes the buffer of its irecv from rank "),
    (MORE, "wrong", "unsent", "posted a receive from rank "),
    (TYPED, "wrong", "sends-another-type", "rank 0 sends numbers of type `int32`; those of x are of type `float32`"),
    (FAILS, "wrong", "raises", "NameError"),
    (ENDS, "wrong", "rank-lost", "exit status 5"),
    (BEHIND, "wrong", "wrong-element", "rank 0 "),
]
IMPORTS = "import torch\nimport torch.distributed as dist"


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    root = tmp_path_factory.mktemp("torch")
    (root / "exercises.py").write_text(EXERCISES)
    return load_bank(root)


def test_the_exercise_tests_itself(bank):
    assert selftest(bank["t-torch"]) == []


@pytest.mark.parametrize(("answer", "kind", "reason", "named"), CASES, ids=[str(i) for i in range(len(CASES))])
def test_a_check_in_a_notebook(bank, answer, kind, reason, named):
    scope = {"__name__": "__main__"}
    exec(compile(f"{IMPORTS}\n{answer}", "<cell>", "exec"), scope)
    exercise = bank["t-torch"]
    call = exercise.answer.local_call(scope["allreduce"])
    verdict = exercise.judge_message(encoding.encode(scope["allreduce"]), {}, call)
    assert (verdict.score, verdict.kind, verdict.reason) == (float(kind == "right"), kind, reason), verdict.say
    assert named in verdict.say


@pytest.fixture(scope="module")
def grade(bank, zygotes):
    def written(answer):
        cells = [new_code_cell(IMPORTS)]
        cells.append(new_code_cell(f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION", metadata={"exercise": "t-torch"}))
        nb = new_notebook(cells=cells, metadata={"kernelspec": notebook.KERNEL})
        for number, cell in enumerate(nb.cells):
            cell.id = f"cell-{number}"
        return notebook.expand(nb, bank, chapter="06-lab")

    with Judge([bank.path]) as judge:

        def run(answer):
            done = grade_notebook(
                written(answer), written("pass"), bank, "ann", RunSettings(LIMITS), zygote=zygotes(), judge=judge
            )
            assert done.problems == []
            return done.results[0]

        yield run


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux namespaces")
@pytest.mark.parametrize(("answer", "kind", "reason", "named"), CASES, ids=[str(i) for i in range(len(CASES))])
def test_a_grade_through_the_sandbox(grade, answer, kind, reason, named):
    result = grade(answer)
    assert (result.points, result.kind, result.reason) == (3.0 * (kind == "right"), kind, reason), result.say
    assert named in result.say


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux namespaces")
def test_a_generator_is_no_distributed_function(grade):
    result = grade(inspect.getsource(lab.ring).replace("def ring", "def allreduce"))
    assert (result.points, result.reason) == (0.0, "no-plain-data")


def test_the_prompt_names_the_forms_that_do_not_wait():
    def how(*calls):
        return Distributed("f", cases=[(2, 4)], collective="broadcast", calls=calls).how

    assert how("send", "recv").endswith("may call `send`, `recv` (`isend`, `irecv`, `batch_isend_irecv` too)")
    assert how("all_reduce", "send").endswith("may call `all_reduce`, `send` (`isend` too), in groups of your own")
    assert how("broadcast").endswith("may call `broadcast`, in groups of your own")
    assert how("all_gather").endswith("may call `all_gather` (`all_gather_into_tensor` too), in groups of your own")


def test_a_collective_may_be_allowed():
    exercise = Exercise(
        id="t-hierarchy",
        points=1,
        prompt="Use all_reduce.",
        solution=lab.ring,
        answer=Distributed("f", cases=[(4, 8)], collective="all_reduce", calls=("all_reduce",)),
        mistakes=(Mistake(lab.whole_ring, "All."), Mistake(lab.scattered, "One.")),
    )

    def f(rank, n, x):
        dist.all_reduce(x)
        return x

    verdict = exercise.judge_message(encoding.encode(f), {}, exercise.answer.local_call(f))
    assert verdict.score == 1.0, verdict.say


def test_what_is_public_makes_the_answer_again():
    answer = Distributed("f", cases=[(2, 4)], collective="broadcast", calls=("broadcast",))
    again = answer_from({"kind": "Distributed", "answer_name": "f", **answer.public()})
    assert (again.stub, again.how, again.calls) == (again.stub, answer.how, ["broadcast"])


def test_a_call_that_there_is_not_is_named():
    with pytest.raises(DeclarationError, match="'teleport'"):
        Distributed("f", cases=[(2, 4)], calls=("teleport",))


def test_a_script_is_not_run_again_by_every_rank(tmp_path):
    """Where ranks start, multiprocessing would import the program, which starts ranks."""
    script = tmp_path / "answer.py"
    asks = """
from autograder.declaration import load_bank
print("once")
exercise = load_bank("exercises.py")["t-torch"]
call = exercise.answer.local_call(allreduce, exercise.withholds)
print(exercise.judge(encoding.Callable("allreduce"), call=call).kind)
"""
    script.write_text(
        f"import torch\nimport torch.distributed as dist\nfrom autograder.values import encoding\n{RIGHT}{asks}"
    )
    (tmp_path / "exercises.py").write_text(EXERCISES)
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout.splitlines() == ["once", "right"], done.stderr


OLD_NAMES = """
import warnings
import torch
import torch.distributed as dist

def allreduce(rank, n, x):
    part = x.new_empty(len(x)//n)
    dist.reduce_scatter_tensor(part, x)
    dist.all_gather_into_tensor(x, part)
    warnings.warn("mine")
    return x
"""


def test_torch_does_not_remark_on_a_right_answer(tmp_path):
    """Each rank would, on the calls that every other page has; what else it warns of is shown."""
    script = tmp_path / "answer.py"
    asks = """
from autograder.declaration import load_bank
exercise = load_bank("exercises.py")["t-old"]
print(exercise.judge(encoding.Callable("allreduce"), call=exercise.answer.local_call(allreduce)).kind)
"""
    script.write_text(f"from autograder.values import encoding\n{OLD_NAMES}{asks}")
    declared = EXERCISES.replace("t-torch", "t-old").replace(
        'collective="all_reduce")', 'collective="all_reduce", calls=("reduce_scatter", "all_gather"))'
    )
    (tmp_path / "exercises.py").write_text(declared)
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout.splitlines() == ["right"], done.stderr
    assert "deprecated" not in done.stderr
    assert "UserWarning: mine" in done.stderr
