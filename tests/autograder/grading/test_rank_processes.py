"""Algorithm answers through the sandbox: each rank a process of its own, the judge the only way between them."""

import copy
import inspect
import re
import sys

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.book.source import notebook
from autograder.declaration import load_bank
from autograder.grading.judge import Judge
from autograder.grading.rank_processes import needed_cells
from autograder.grading.submission import RunSettings, grade_notebook
from autograder.sandbox import Limits
from autograder.values import encoding
from tests.autograder import lab

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux namespaces")
LIMITS = Limits(cell=5.0, grace=1.0, total=60.0)
EXERCISES = f"""
from autograder.answers import Algorithm, Function
from autograder.declaration import Exercise, Mistake
from hwlib.algorithms import Step, blocks
{inspect.getsource(lab.ring)}
{inspect.getsource(lab.whole_ring)}
{inspect.getsource(lab.scattered)}
RING = Exercise(
    id="t-ring", points=3, prompt="Write a ring.", withholds=("hwlib.algorithms",), solution=ring,
    answer=Algorithm("ring", cases=[(2, 8), (4, 10), (4, 16, "int64")], collective="all_reduce"),
    mistakes=(Mistake(whole_ring, "The whole array in every step."), Mistake(scattered, "Only its own block.")))
RIDGE = Exercise(
    id="t-ridge", points=3, prompt="Write it.", withholds=("hwlib.roofline",), solution=lambda C, W: C/W,
    answer=Function("ridge", "ridge(C, W)", cases=[(6.0, 3.0), (8.0, 2.0)]))
"""
IMPORTS = "import numpy as np\nfrom hwlib.algorithms import Step, blocks, ring_allreduce\nfrom autograder import grade"


@pytest.fixture(scope="module")
def chapter(tmp_path_factory, zygotes):
    root = tmp_path_factory.mktemp("lab")
    (root / "exercises.py").write_text(EXERCISES)
    bank = load_bank(root)
    with Judge([bank.path]) as judge:
        yield bank, zygotes(), judge


def written(bank, answer, *before, name="t-ring"):
    cells = [new_code_cell(IMPORTS), *(new_code_cell(source) for source in before)]
    cells.append(new_code_cell(f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION", metadata={"exercise": name}))
    nb = new_notebook(cells=cells, metadata={"kernelspec": notebook.KERNEL})
    for number, cell in enumerate(nb.cells):
        cell.id = f"cell-{number}"
    return notebook.expand(nb, bank, chapter="06-lab")


@pytest.fixture
def grade(chapter):
    bank, zygote, judge = chapter

    def run(answer, *before, limits=LIMITS, name="t-ring"):
        release = written(bank, "pass", *([""] * len(before)), name=name)
        done = grade_notebook(
            written(bank, answer, *before, name=name),
            release,
            bank,
            "ann",
            RunSettings(limits),
            zygote=zygote,
            judge=judge,
        )
        assert done.problems == []
        (result,) = done.results
        return result

    return run


def source(function):
    return inspect.getsource(function).replace(f"def {function.__name__}(", "def ring(", 1)


@pytest.mark.parametrize("function", [lab.ring, lab.two_shot], ids=lambda f: f.__name__)
def test_right_is_right(grade, function):
    result = grade(source(function))
    assert (result.points, result.kind) == (3.0, "right"), result.say


def test_a_helper_of_another_cell_is_there(grade):
    helper = source(lab.ring).replace("def ring", "def helper")
    assert grade("def ring(rank, n, x):\n    return (yield from helper(rank, n, x))", helper).points == 3.0


@pytest.mark.parametrize(
    ("answer", "kind", "reason", "named"),
    [
        ("def ring(rank, n, x): ...", "empty", "returns-nothing", "`ring`"),
        ("ring = 3", "unreadable", "not-a-function", "`def ring(rank, n, x)`"),
        (source(lab.whole_ring), "mistake", "", "The whole array in every step."),
        (source(lab.scattered), "mistake", "", "Only its own block."),
        (source(lab.halves), "wrong", "send-and-receive-apart", "`Step`"),
        (source(lab.receive_first), "wrong", "deadlock", "rank 0, step 0, "),
        (source(lab.off_the_end), "wrong", "no-such-rank", "`frm` is -1, and the ranks are 0 to 1"),
        (source(lab.no_step), "wrong", "not-a-step", "rank 0 "),
        (source(lab.narrow), "wrong", "sends-another-type", "`float32`; "),
        (source(lab.breaks), "wrong", "raises", "IndexError"),
        (source(lab.breaks), "wrong", "raises", "return x[len(x)]"),
        (source(lab.idles), "wrong", "endless-steps", ""),
        (source(lab.talks), "wrong", "endless-bytes", ""),
        (source(lab.ends_python), "wrong", "rank-lost", "SystemExit"),
        (source(lab.plain_sum), "wrong", "no-yield", "`yield`"),
        ("def ring(rank, n, x):\n    import os; os._exit(3)\n    yield", "wrong", "rank-lost", "exit status 3"),
        (
            "def ring(rank, n, x):\n    return (yield from ring_allreduce(rank, n, x))",
            "wrong",
            "withheld",
            "hwlib.algorithms",
        ),
        ("ring = ring_allreduce", "wrong", "withheld", "hwlib.algorithms"),
    ],
)
def test_what_a_wrong_one_is_told(grade, answer, kind, reason, named):
    result = grade(answer)
    assert (result.points, result.kind, result.reason) == (0.0, kind, reason), result.say
    assert named in result.say


def test_a_graded_function_does_without_what_is_withheld(grade):
    assert grade("def ridge(C, W): return C/W", name="t-ridge").points == 3.0
    inside = "def ridge(C, W):\n    import hwlib.roofline as r\n    return r.ridge(C, W)"
    for answer in ("from hwlib.roofline import ridge", inside):
        result = grade(answer, name="t-ridge")
        assert (result.points, result.kind, result.reason) == (0.0, "wrong", "withheld")
        assert "hwlib.roofline" in result.say


def test_a_loop_costs_its_own_question_and_no_more_time(grade):
    result = grade(source(lab.hangs), limits=Limits(cell=1.0, grace=1.0, total=60.0))
    assert (result.points, result.reason) == (0.0, "rank-lost")
    assert " 1 s" in result.say


SHARE = """
def ring(rank, n, x):
    others = put(rank, x.tobytes())
    for _ in range(2*(n - 1)):
        yield Step(x[:-(-len(x)//n)], (rank + 1) % n, (rank - 1) % n)
    parts = [np.frombuffer(take(r), x.dtype) for r in range(n)]
    return sum(parts[1:], parts[0])
"""
CHANNELS = {
    "a global": "seen = {}\ndef put(r, b): seen[r] = b\ndef take(r): return seen[r]",
    "a file": """
def put(r, b): open(f'/tmp/work/{r}', 'wb').write(b)
def take(r): return open(f'/tmp/work/{r}', 'rb').read()""",
    "a folder in memory": """
def put(r, b): open(f'/dev/shm/{r}', 'wb').write(b)
def take(r): return open(f'/dev/shm/{r}', 'rb').read()""",
    "memory shared before": """
import mmap
board = mmap.mmap(-1, 1 << 16)
def put(r, b): board[r*1024:r*1024 + len(b)] = b; sizes = len(b); board[60000:60002] = sizes.to_bytes(2, 'big')
def take(r): return bytes(board[r*1024:r*1024 + int.from_bytes(board[60000:60002], 'big')])""",
    "shared memory by name": """
from multiprocessing import shared_memory
def put(r, b):
    global mine
    mine = shared_memory.SharedMemory(f'gp{r}', create=True, size=1024)
    mine.buf[:len(b)] = b
    mine.buf[1000:1002] = len(b).to_bytes(2, 'big')
def take(r):
    it = shared_memory.SharedMemory(f'gp{r}')
    return bytes(it.buf[:int.from_bytes(it.buf[1000:1002], 'big')])""",
    "a server left behind": """
import os, socket
server = socket.create_server(('127.0.0.1', 7777))
if os.fork() == 0:
    seen = {}
    while True:
        link, _ = server.accept()
        r, got = link.recv(1)[0], link.recv(4096)
        seen[r] = got if got != b'?' else seen.get(r, b'')
        link.sendall(seen[r]); link.close()
def ask(r, b):
    link = socket.create_connection(('127.0.0.1', 7777))
    link.sendall(bytes([r])); link.sendall(b)
    return link.recv(4096)
def put(r, b): ask(r, b)
def take(r): return ask(r, b'?')""",
    "locks": """
import fcntl, os, struct
board = os.open(np.__file__, os.O_RDONLY)
def put(r, b):
    bits = ''.join(f'{v:08b}' for v in b)
    for i, bit in enumerate(bits):
        if bit == '1':
            fcntl.lockf(board, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, r*10**6 + i)
def take(r):
    out = ''
    for i in range(640):
        asked = struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, r*10**6 + i, 1, 0)
        out += '01'[struct.unpack('hhqqi4x', fcntl.fcntl(board, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK]
    return bytes(int(out[i:i + 8], 2) for i in range(0, 640, 8))""",
    "flock": """
import fcntl, os, sys
def put(r, b): fcntl.flock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_SH)
def take(r): return b''""",
    "watches": """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def put(r, b):
    if libc.inotify_init1(0) < 0: raise OSError(ctypes.get_errno(), 'inotify')
def take(r): return b''""",
    "the numbers' seed": """
import random
def put(r, b): pass
def take(r): return np.random.default_rng(random.Random('t-ring cases').getrandbits(32)).uniform(1, 2, 8).tobytes()""",
    "shapes": """
put = take = lambda *a: None
def ring(rank, n, x):
    got = yield Step(np.empty((0, 12345)), (rank + 1) % n, (rank - 1) % n)
    raise ValueError(f'shape {got.shape}')""",
}


TOGETHER = """
from autograder.answers.algorithm import direct
from autograder.ranks.outcomes import observe
from autograder.ranks.generators import Budget
inputs = [np.arange(8) + rank for rank in range(4)]
outputs = observe(direct(ring), inputs, {}, Budget(10**4, 10**6)).outputs
answer = all(np.array_equal(output, sum(inputs)) for output in outputs)
"""


IN_ONE_PROCESS = list(CHANNELS)[:6]
REFUSED_TO_ALL = "memory shared before"


@pytest.mark.parametrize("channel", IN_ONE_PROCESS, ids=lambda name: name.replace(" ", "-"))
def test_in_one_process_they_would_hear_all(chapter, channel):
    child = chapter[1].spawn(LIMITS)
    assert child.run(IMPORTS)["error"] is None
    reply = child.run(CHANNELS[channel])
    if channel == REFUSED_TO_ALL:
        assert "PermissionError" in reply["error"], reply
        child.kill()
        return
    assert reply["error"] is None, reply
    for cell in (SHARE, TOGETHER):
        reply = child.run(cell)
        assert reply["error"] is None, reply
    assert encoding.decode(child.answer("t", "answer", True)["value"]) is True
    child.kill()


CAUGHT = ("raises", "wrong-element", "untouched-though-received")  # and never a reason for which the result is right


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda name: name.replace(" ", "-"))
def test_no_rank_hears_of_another_but_through_the_judge(grade, channel):
    setup = CHANNELS[channel]
    answer = "" if "def ring" in setup else SHARE
    result = grade(answer or "pass", setup)
    assert result.points == 0.0, channel
    assert result.kind not in ("right", "mistake")
    assert result.reason in CAUGHT, result.say
    if channel == "shapes":
        assert "shape (0,)" in result.say
    if channel in ("locks", "flock", "watches"):
        assert "PermissionError" in result.say


FORGE = """
from autograder.ranks import generators
class Sub(Step): pass
def reply(*given): return lambda self, *asked: given
"""


@pytest.mark.parametrize(
    ("forged", "reason", "named"),
    [
        ("reply('steps', [(np.ones((2, 2)), 1, 1)], True)", "sends-no-array", ""),
        ("reply('steps', [(np.ones(2, 'int8'), 1, 1)], True)", "sends-another-type", "`int8`"),
        ("reply('steps', [(None, '1', None)], True)", "not-a-step", "'1'"),
        ("reply('steps', [(None, True, None)], True)", "not-a-step", "'True'"),
        ("reply('steps', [(1.0, 1, 1)], True)", "sends-no-array", ""),
        ("reply('steps', 7, True)", "rank-lost", ""),
        ("reply('steps', [7], True)", "not-a-step", ""),
        ("reply('done', {}, False)", "not-an-array", "dict"),
        ("reply('done', 10**4000, False)", "not-an-array", ""),
        ("reply('right', 1, 1)", "rank-lost", ""),
        ("reply('failed', 'raises', '<b>')", "raises", "`‹b›`"),
        ("reply('failed', [], '')", "rank-lost", ""),
        ("lambda self, *asked: ('steps', [(np.ones(2 << 20), 1, 1)], True)", "rank-lost", ""),
        ("reply('steps', [(None, None, None)] * 5000, False)", "rank-lost", ""),
        ("reply('steps', [], False)", "endless-steps", ""),
    ],
)
def test_a_forged_reply_is_a_verdict(grade, forged, reason, named):
    result = grade(source(lab.ring), f"{FORGE}\ngenerators.Rank.__call__ = {forged}")
    assert (result.points, result.reason) == (0.0, reason), result.say
    assert named in result.say


@pytest.mark.parametrize(
    ("body", "reason", "named"),
    [
        ("yield Sub(x, (rank + 1) % n, (rank - 1) % n)", "not-a-step", "`Sub`"),
        ("yield Step(x.view(Array), (rank + 1) % n, (rank - 1) % n)", "sends-no-array", "`Array`"),
        ("yield Step(memoryview(x), (rank + 1) % n, (rank - 1) % n)", "sends-no-array", "`memoryview`"),
        ("yield Step(Liar(), (rank + 1) % n, (rank - 1) % n)", "sends-no-array", "`Liar`"),
        ("yield Step(np.array([x, 1], object), (rank + 1) % n, (rank - 1) % n)", "sends-no-array", ""),
        ("yield Step(np.zeros(1 << 40, 'int8'), 1, 1)", "raises", "Memory"),
        ("yield Step(np.zeros(1 << 26), (rank + 1) % n, (rank - 1) % n)", "sends-no-array", ""),
        ("yield [Step()] * 10**6", "not-a-step", " 1000000 "),
        ("yield Step(x, 10**400, 0)", "no-such-rank", f"`to` is 1{56 * '0'}..., and the ranks are 0 to 1"),
        ("yield Step(x, Number(1), 0)", "sends-no-array", "`Number`"),
        ("return x.view(Array)\n    yield", "no-plain-data", "Array"),
        ("return np.array(True)\n    yield", "not-an-array", " bool; "),
        ("return [x*1j, 1]\n    yield", "not-an-array", "list"),
        ("return x*np.inf\n    yield", "wrong-element", "inf in element 0"),
        ("return {1: x}\n    yield", "not-an-array", "dict"),
    ],
)
def test_a_hostile_step_is_told_and_costs_the_question(grade, body, reason, named):
    setup = (
        FORGE
        + """
class Array(np.ndarray):
    nbytes = 0
class Number(int): pass
class Liar:
    nbytes, dtype, ndim = 0, np.dtype('float64'), 1
    def __len__(self): return 0
"""
    )
    result = grade(f"def ring(rank, n, x):\n    {body}", setup)
    assert (result.points, result.reason) == (0.0, reason), result.say
    assert named in result.say


def test_the_words_for_an_array_that_is_none(grade):
    told = grade("def ring(rank, n, x):\n    yield Step(1.5, (rank + 1) % n, (rank - 1) % n)").say
    assert "rank 0 sends a number; an array like x was expected" in told


def test_bytes_are_the_judges_count(grade):
    lie = "np_ndarray_nbytes = property(lambda self: 0)\nStep.nbytes = 0\nlen_ = len\n"
    result = grade(source(lab.whole_ring), lie)
    assert (result.kind, result.say) == ("mistake", "The whole array in every step.")


def test_what_changes_between_runs_is_judged_in_each(grade):
    moody = source(lab.ring).replace("def ring", "def honest") + source(lab.whole_ring).replace("def ring", "def lazy")
    answer = "runs = []\ndef ring(rank, n, x):\n    runs.append(n)\n"
    answer += "    return (yield from (lazy if runs[-2:] == [4, 4] or x.dtype == int else honest)(rank, n, x))"
    result = grade(answer, moody)
    assert (result.points, result.reason) == (0.0, "sent-whole-array-to-all")
    assert re.search(r"\b4 ranks of 16 elements", result.say)


def test_a_cell_that_ends_a_rank_costs_the_question(grade):
    once = "import os, resource\nif resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 0: os._exit(1)"
    assert grade(source(lab.ring), once).points == 3.0
    result = grade(source(lab.ring), ENDS_A_RANK)
    assert (result.points, result.reason) == (0.0, "not-started")
    assert "(exit status 4)`" in result.say


@pytest.mark.parametrize(
    ("sources", "own", "needed"),
    [
        (["import numpy as np", "np.seed(3)", "y = 2", "np.f(x)"], "ffft", {0, 1, 3}),
        (["import numpy as np", "a = np.zeros(3)", "y = 2", "np.f(x)"], "ffft", {0, 3}),
        (["x = 1", "y = x", "def f(): return y", "f()"], "ffft", {0, 1, 2, 3}),
        (["from a import *", "%timeit 3", "z = 1"], "fff", {0, 1}),
        (["table = {}", "table['a'] = 1", "other = 2", "table"], "ffft", {0, 1, 3}),
        (["log = []", "log.append(1)", "print(log)", "log"], "ffft", {0, 1, 3}),
        (["x = 1", "x", "# only words", ""], "fftt", {2, 3}),
        (["k = 3", "def f(k):\n    return [k for k in k]", "f(1)"], "fft", {1, 2}),
        (["k = 3", "def f(j):\n    return lambda: k*j", "f(1)"], "fft", {0, 1, 2}),
        (["k = 3", "def f():\n    global k\n    k = 4", "k"], "fft", {0, 1, 2}),
        (["def f():\n    box = []\n    box.append(1)", "box = 1", "box"], "fft", {1, 2}),
        (["class A:\n    k = 1", "k = 2", "A.k"], "fft", {0, 2}),
        (["def f(): return g()", "def g(): return 1", "f"], "fft", {0, 1, 2}),
        (["import a.b as c, d.e", "c", "d.x = 1", "d"], "ffft", {0, 2, 3}),
        ([], "", set()),
    ],
)
def test_a_rank_runs_the_cells_that_its_code_may_need(sources, own, needed):
    assert needed_cells(sources, [mark == "t" for mark in own]) == needed


ENDS_A_RANK = """
import fcntl, os
try: fcntl.flock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_SH)
except OSError: os._exit(4)
"""
SCALED = source(lab.ring).replace("return x", "return x*factor")


@pytest.mark.parametrize(
    ("own", "answer", "points"),
    [
        (ENDS_A_RANK, source(lab.ring), 3.0),  # it is left out
        (ENDS_A_RANK + "factor = 1", SCALED, 0.0),
        ("factor = 1", SCALED, 3.0),
        ("def define(k):\n    globals()['factor'] = k\ndefine(1)", SCALED, 3.0),
        ("unused = 1", SCALED, 0.0),
    ],
)
def test_the_chapters_own_cells_run_in_each_rank_where_it_needs_them(chapter, own, answer, points):
    bank, zygote, judge = chapter
    release = written(bank, "pass", own)
    submitted = copy.deepcopy(release)
    for cell in submitted.cells:
        if cell.metadata.get("gpubook", {}).get("part") == "answer":
            cell.source = answer
    done = grade_notebook(submitted, release, bank, "ann", RunSettings(LIMITS), zygote=zygote, judge=judge)
    assert done.results[0].points == points, done.results[0].say
