"""Real ranks started by a cell of a notebook that is graded: they work, within the limits, and none is left."""

import pytest

from autograder.sandbox import Limits
from autograder.values import encoding

from .course import Attack

LIMITS = Limits(cell=20.0, total=90.0)
SETUP = """
import time
import torch.distributed as dist
from hwlib.labs import run_ranks
torch.ones(300, 300) @ torch.ones(300, 300)
def total(rank, n):
    x = torch.ones(1000)
    dist.all_reduce(x)
    return x
def hang(rank, n):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    dist.recv(torch.ones(2), (rank + 1) % n)
def loop(rank, n):
    while True: pass
def orphan(rank, n):
    os.kill(os.getppid(), 9)
    time.sleep(60)
def fill(rank, n):
    x = torch.ones(1 << 27)
    time.sleep(60)
"""
TWO = "run = run_ranks(total, {n})\nanswer = float(run.results[-1][0])*2/{n}"


@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_ranks_give_the_answer(attacked, n):
    answers = {"abuse-time": TWO.format(n=n), "abuse-guess": "answer = 'y'"}
    attacked(Attack(f"{n} ranks", SETUP, answers, asked=tuple(answers), earns=6.0), LIMITS)


def test_ranks_after_threads_have_started_come_from_another_program(attacked):
    busy = "import threading\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    answers = {"abuse-time": busy + TWO.format(n=4), "abuse-guess": "answer = 'y'"}
    attacked(Attack("threads", SETUP, answers, asked=tuple(answers), earns=6.0), LIMITS)


FAILURES = {
    "ranks that wait for each other": ("run_ranks(hang, 4)", "RankTimeout"),
    "ranks that loop": ("run_ranks(loop, 8, timeout=1)", "RankTimeout"),
    "ranks that outlast their cell": ("run_ranks(loop, 2, timeout=600)", " 4 s", 4.0),
    "ranks that end their server": ("run_ranks(orphan, 2)", "RankError"),
    "ranks that take memory": ("run_ranks(fill, 4)", " 1 GiB of memory "),
    "too many ranks": ("run_ranks(total, 64)", "2 to 16 "),
}


@pytest.mark.parametrize("name", FAILURES, ids=lambda name: name.replace(" ", "-"))
def test_ranks_that_do_not_end_cost_their_own_question(attacked, name):
    source, words, *cell = FAILURES[name]
    answers = {"abuse-time": source, "abuse-guess": "answer = 'y'", "abuse-scaled": "def scaled(x): return 8.628137*x"}
    limits = Limits(cell=cell[0] if cell else 20.0, total=60.0, memory=1 << 30)
    attacked(Attack(name, SETUP, answers, asked=tuple(answers), earns=6.0, words=words), limits)


def test_ranks_are_a_world_that_their_cell_leaves_as_it_was(classroom):
    child = classroom[2].spawn(LIMITS)
    child.run("import os\n" + SETUP.replace("torch.ones(300", "import torch\ntorch.ones(300", 1))
    seen = "answer = sorted(p for p in os.listdir('/proc') if p.isdigit()), os.listdir('/tmp'), os.listdir('.')"
    for source in ("run_ranks(total, 2)", "run_ranks(total, 8)", "run_ranks(hang, 3, timeout=1)"):
        child.run(source)
        child.run(seen)
        processes, files, own = encoding.decode(child.answer("seen", "answer", True)["value"])
        assert (len(processes), own) == (2, [])  # itself, and what its ranks are forked from
        assert not [file for file in files if file.startswith("hwlib-ranks")]
    child.kill()


ELSEWHERE = """
import hwlib.roofline
from hwlib.labs import run_ranks
def inside(rank, n, C, W):
    import hwlib.roofline
    return float(hwlib.roofline.ridge(C, W))
def ridge(C, W): return run_ranks(inside, 2, C, W).results[0]
"""
BUSY = "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"


@pytest.mark.parametrize("before", ["", BUSY, "run_ranks(inside, 2, 6.0, 3.0)\n"], ids=["fork", "program", "earlier"])
def test_ranks_have_nothing_that_is_withheld(attacked, before):
    answer = ELSEWHERE + before + "print(ridge(6.0, 3.0) == 2.0)"
    results, nb = attacked(Attack("ranks", SETUP, {"abuse-ridge": answer}, asked=("abuse-ridge",)), LIMITS)
    said = results["abuse-ridge"].say
    assert "hwlib.roofline" in said or "RankError" in said
    shown = next(c for c in nb.cells if "def inside" in c.source).outputs
    assert shown[0].text == "True\n"  # in the learner's own cell it is there


POISON = """
def poison(rank, n):
    import sys
    server = os.getppid()
    for place in ('/proc/%d/mem' % server, '/proc/%d/environ' % server):
        try: open(place, 'r+b').write(b'x')
        except OSError: pass
    for fd in os.listdir(f'/proc/{server}/fd'):
        try: os.write(os.open(f'/proc/{server}/fd/{fd}', os.O_WRONLY), b'{"ended": 0, "code": 0}\\n')
        except OSError: pass
    total.__globals__['dist'].all_reduce = lambda x: x.fill_(99)
    sys.modules['hwlib.labs.ranks.process'].packed = lambda *a: 1/0
    os.setsid() if os.getpid() != os.getsid(0) else None
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: time.sleep(600)
    return None
"""


def test_ranks_leave_nothing_behind_for_the_next_run(attacked):
    bad = "try: run_ranks(poison, 4, timeout=5)\nexcept Exception as error: print(error)\n"
    answers = {"abuse-time": POISON + bad + TWO.format(n=4), "abuse-guess": "answer = 'y'"}
    attacked(Attack("poison", SETUP, answers, asked=tuple(answers), earns=6.0), LIMITS)


UNTIDY = {
    "prints and warnings": "    import warnings\n    warnings.warn('w')\n    for k in range(20_000): print(rank, k)",
    "words on stderr": "    import logging\n    logging.error('it is fine')\n    os.write(2, b'Traceback'*10_000)",
    "threads": """
    import threading
    threading.Thread(target=lambda: [time.sleep(0.001) for _ in range(60_000)]).start()""",
    "plots": """
    import matplotlib.pyplot as plt
    plt.plot([1, 2])
    plt.savefig('rank.png')
    plt.show()""",
    "processes": "    import subprocess\n    subprocess.Popen(['sleep', '60'])\n    subprocess.run(['echo', 'x'])",
    "an error that is caught": "    try: dist.recv(torch.ones(2), 99)\n    except Exception: pass",
    "a group of its own": "    group = dist.new_group([0, 1])\n    dist.barrier(group)",
    "an early end of the group": "    x = total(rank, n)\n    dist.destroy_process_group()\n    return x",
    "its own limits": "    import signal\n    signal.alarm(0)\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "another folder": "    os.mkdir(f'mine{rank}')\n    os.chdir(f'mine{rank}')\n    os.environ.clear()",
}


@pytest.mark.parametrize("untidy", UNTIDY, ids=lambda name: name.replace(" ", "-"))
def test_right_ranks_may_be_untidy(attacked, untidy):
    program = f"def mine(rank, n):\n{UNTIDY[untidy]}\n    return total(rank, n)\n"
    answers = {
        "abuse-time": program + TWO.format(n=2).replace("(total", "(mine"),
        "abuse-guess": "answer = 'y'",
        "abuse-form": "n, S, W = symbols('abuse-form')\nanswer = 2*(n - 1)/n*S/W if run.results[0][0] == 2 else None",
    }
    attacked(Attack(untidy, SETUP, answers, asked=tuple(answers), earns=9.0), LIMITS)
