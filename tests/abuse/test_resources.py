"""Notebooks that take what there is: each ends by its limits, and nobody else notices."""

import os
import time

import numpy as np
import pytest
from nbformat.v4 import new_code_cell

from autograder.grading.judge import JudgeRequest
from autograder.sandbox import Limits
from autograder.values import encoding

from .course import Attack

LOOPS = {
    "an endless loop": "while True: pass",
    "a loop that catches everything": """
while True:
    try:
        while True: pass
    except BaseException: pass""",
    "a loop that ignores signals": """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
signal.setitimer(signal.ITIMER_REAL, 0)
while True: pass""",
    "a long call in C": "x = 3**(10**9)",
    "sleep": "import time\ntime.sleep(10**6)",
    "a question to the terminal": "input('?')\nsys.stdin.read()",
    "a pattern that explodes": "import re\nre.match('(a+)+$', 'a'*64 + 'b')",
    "a deadlock": "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    "a loop of its own making": "import asyncio\nawait asyncio.Future()",
    "a stopped process": "import signal\nos.kill(os.getpid(), signal.SIGSTOP)\nwhile True: pass",
    "a wait for a child": "pid = os.fork()\nif pid == 0:\n    while True: pass\nos.waitpid(pid, 0)",
}


@pytest.mark.parametrize("loop", LOOPS, ids=lambda name: name.replace(" ", "-"))
def test_a_loop_costs_its_own_question(attacked, loop):
    limits = Limits(cell=0.5, grace=0.5, total=20.0)
    answers = {"abuse-time": LOOPS[loop], "abuse-guess": "answer = 'y'"}
    attacked(Attack(loop, answers=answers, asked=tuple(answers), earns=3.0), limits)


def test_a_loop_in_each_cell_ends_with_the_submissions_time(attacked):
    loop = LOOPS["a loop that ignores signals"]
    answers = dict.fromkeys(("abuse-time", "abuse-form", "abuse-guess"), f"answer = 'y'\n{loop}")
    limits = Limits(cell=0.5, grace=0.2, total=1.0)
    attacked(Attack("loops", answers=answers, asked=tuple(answers), reason="out-of-time"), limits)


FLOODS = {
    "200 MB on one line": "print('x'*200_000_000)",
    "200 MB beside the streams": "os.write(1, b'x'*200_000_000)\nos.write(2, b'x'*200_000_000)",
    "a million lines": "for _ in range(1_000_000): print('x')",
    "thousands of displays": "from IPython.display import display\nfor _ in range(5_000): display(1)",
    "a million outputs": "sys.stdout._capture.outputs += [{'output_type': 'stream', 'text': ','*10}]*300_000",
    "a message of brackets": """
from autograder.sandbox import wire
import struct
def send(channel, message): channel.sendall(struct.pack('>I', 16_000_000) + b'[' + b'[],'*5_333_332 + b'[]]')
wire.send = send""",
    "a million messages on the wire": """
import socket, struct
body = b'{"number": 7, "value": 2.0, "outputs": []}'
def send(fd):
    for _ in range(100_000): os.write(fd, struct.pack('>I', len(body)) + body)
import threading
for fd in range(3, 12): threading.Thread(target=send, args=(fd,), daemon=True).start()""",
    "half a message": """
import struct
for fd in range(3, 12):
    try: os.write(fd, struct.pack('>I', 1000) + b'{')
    except OSError: pass""",
    "a reply of nested lists": """
from autograder.sandbox import wire
import struct
def send(channel, message):
    deep = '['*900 + ']'*900
    words = ', '.join(f'"{k}": {deep}' for k in ('message', 'error', 'problem', 'said', 'outputs', 'expired'))
    body = ('{"number": %d, %s}' % (message['number'], words)).encode()
    channel.sendall(struct.pack('>I', len(body)) + body)
wire.send = send""",
    "outputs of nested lists": """
from autograder.sandbox import wire
import struct
def send(channel, message):
    deep = '['*900 + ']'*900
    one = '{"output_type": "error", "ename": %s, "evalue": %s, "traceback": [%s]}' % (deep, deep, deep)
    two = '{"output_type": "display_data", "data": {"text/plain": %s}}' % deep
    body = ('{"number": %d, "outputs": [%s, %s, {"output_type": %s}]}' % (message['number'], one, two, deep)).encode()
    channel.sendall(struct.pack('>I', len(body)) + body)
wire.send = send""",
}


@pytest.mark.parametrize("flood", FLOODS, ids=lambda name: name.replace(" ", "-"))
def test_a_flood_drowns_itself(attacked, flood):
    attacked(Attack(flood, FLOODS[flood], asked=("abuse-time", "abuse-guess", "abuse-scaled")))


LARGE = """
from autograder.sandbox import wire
import struct
def send(channel, message):
    body = b'{"number": %d, "outputs": [%s]}' % (message['number'], b','.join([b'{"a":[1]}']*300_000))
    channel.sendall(struct.pack('>I', len(body)) + body)
wire.send = send"""


def test_many_large_replies_cost_seconds_in_all(attacked):
    """Each is as large as one may be: the grader reads a few, and then no more of this submission."""

    def edit(nb):
        nb.cells[2:2] = [new_code_cell("pass") for _ in range(40)]

    before = time.process_time()
    results, _ = attacked(Attack("large replies", LARGE, asked=("abuse-time", "abuse-guess"), edit=edit))
    assert time.process_time() - before < 5
    assert all("than any answer has" in result.say for result in results.values())


def test_arrays_of_many_small_elements_are_not_compared_one_by_one(classroom):
    """A message holds them as one text, of which the grader reads as many bytes as any answer may have."""
    judge = classroom[3]
    reply = {"value": encoding.encode(np.zeros(10_000_000, np.int8))}
    question = JudgeRequest("abuse-ridge", None, {"$": "callable", "v": "ridge"})
    begun = time.monotonic()
    verdict = judge.ask(question, lambda arguments: reply, 30.0)
    assert (verdict.score, verdict.reason) == (0.0, "too-large")
    assert time.monotonic() - begun < 5


HOGS = {
    "one allocation": "x = bytearray(64 << 30)",
    "ever more objects": "x = []\nwhile True: x.append([0]*10**6)",
    "a list that doubles": "x = [0]\nwhile True: x *= 2",
    "memory in many processes": """
import time
for _ in range(12):
    if os.fork() == 0:
        block = bytearray(b'x')*(700 << 20)
        time.sleep(60)
        os._exit(0)
time.sleep(15)""",
    "memory in shared maps": "import mmap\nfor _ in range(64): mmap.mmap(-1, 1 << 30).write(b'x'*(1 << 30))",
    "the scratch folder": """
for number in range(100):
    for top in '/tmp', '/dev/shm', '.':
        try: open(f'{top}/gpubook-abuse-{number}', 'wb').write(b'x'*(64 << 20))
        except OSError: pass""",
    "a million files": "for number in range(10**6): open(f'/tmp/gpubook-abuse-{number}', 'w').close()",
    "descriptors": "x = []\nwhile True: x.append(open('/dev/null'))",
    "pipes full of bytes": """
x = []
while True:
    x.append(os.pipe())
    os.set_blocking(x[-1][1], False)
    os.write(x[-1][1], b'x'*65536)""",
    "threads": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()",
    "a spree of forks": """
import time
while True:
    try:
        if os.fork() == 0: continue
    except OSError: time.sleep(0.01)""",
    "forks that leave their session": """
for _ in range(20):
    try:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True: pass
            os._exit(0)
    except OSError: pass""",
    "a daemon that waits": """
import subprocess
subprocess.Popen(['sh', '-c', 'trap "" HUP TERM INT; sleep 600 & wait'], start_new_session=True, env={})
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 256)
    import time
    while True: time.sleep(1)""",
    "signals to everybody": "for pid in range(-1, 40000):\n    try: os.kill(pid, 9)\n    except OSError: pass",
    "real time": "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))\nwhile True: pass",
    "a higher priority": "os.setpriority(os.PRIO_PROCESS, 0, -20)\nwhile True: pass",
    "its limits": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
}


@pytest.mark.parametrize("hog", HOGS, ids=lambda name: name.replace(" ", "-"))
def test_a_hog_meets_its_limit(attacked, hog):
    attacked(
        Attack(hog, HOGS[hog], asked=("abuse-time", "abuse-scaled")),
        Limits(cell=2.0, grace=0.5, total=20.0, memory=2 << 30, processes=24, scratch=32 << 20),
    )


def test_memory_is_that_of_all_processes(attacked):
    answers = {"abuse-time": HOGS["memory in many processes"]}
    limits = Limits(cell=20.0, total=40.0, memory=1 << 30, processes=24)
    words = " 1 GiB of memory "
    attacked(Attack("many processes", answers=answers, asked=tuple(answers), words=words), limits)


SOCKETS = """
import socket, time
for _ in range(12):
    if os.fork() == 0:
        held = []
        try:
            while True:
                held += socket.socketpair()
                held[-1].setblocking(False)
                try:
                    while True: held[-1].send(bytes(65536))
                except BlockingIOError: pass
        except OSError: time.sleep(60)
        os._exit(0)
time.sleep(15)
"""


def test_memory_is_that_of_sockets_too(attacked):
    limits = Limits(cell=20.0, total=40.0, memory=256 << 20, processes=24)
    answers = {"abuse-time": SOCKETS}
    attacked(Attack("sockets", answers=answers, asked=tuple(answers), words=" 0.25 GiB of memory "), limits)


HOARDER = """
def ring(rank, n, x):
    import time
    held = bytearray(b"x") * (700 << 20)
    time.sleep(3)
    yield
"""


def test_the_ranks_of_a_submission_share_its_memory(attacked):
    limits = Limits(cell=20.0, total=60.0, memory=1 << 30, processes=24)
    words = " 0.333 GiB of memory together, the share of one of 3 ranks"
    attacked(Attack("ranks", answers={"abuse-ring": HOARDER}, asked=("abuse-ring",), words=words), limits)


def test_a_share_of_memory_is_at_least_what_the_cells_of_a_chapter_take():
    limits = Limits(memory=4 << 30)
    assert limits.share == 4 << 30
    assert limits.among(8).share == 512 << 20
    assert limits.among(64).share == 128 << 20
    assert Limits(memory=64 << 20).among(64).share == 64 << 20


def test_the_ranks_of_a_submission_share_its_private_folder(classroom):
    assert Limits().among(64).scratch == 16 << 20
    assert Limits(scratch=4 << 20).among(64).scratch == 4 << 20
    child = classroom[2].spawn(Limits(cell=10.0, total=20.0, scratch=64 << 20).among(4))
    child.run("""
import os
answer = 0
for folder in '.', '/dev/shm':
    with open(folder + '/gpubook-abuse', 'wb', buffering=0) as file:
        try:
            while True: answer += file.write(bytes(1 << 20))
        except OSError: pass
""")
    assert 0 < encoding.decode(child.answer("held", "answer", True)["value"]) <= 2 * 16 << 20
    child.kill()


UNCOUNTED = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
FAILED = ctypes.c_void_p(-1).value
"""
KERNELS_MEMORY = {  # each grew without end, and counted for no process
    "shared maps, but for a page unmapped": "answer = [libc.mmap(None, 1 << 20, 3, 0x21, -1, 0) == FAILED]",
    "shared maps of zeros": "answer = [not os.path.exists('/dev/zero')]",
    "semaphores": "answer = [libc.semget(0, 32_000, 0o600) == -1]",
    "messages": "answer = [libc.msgget(0, 0o600) == -1]",
    "socket buffers": """
import socket
one, other = socket.socketpair()
for what in socket.SO_SNDBUF, socket.SO_RCVBUF: one.setsockopt(socket.SOL_SOCKET, what, 1 << 22)
answer = [one.getsockopt(socket.SOL_SOCKET, what) < 1 << 20 for what in (socket.SO_SNDBUF, socket.SO_RCVBUF)]
one.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
answer.append(one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1)""",
    "memory files": "answer = [libc.memfd_create(b'x', 0) == -1, libc.shmget(0, 1 << 20, 0o600) == -1]",
    "pages in a pipe": "r, w = os.pipe()\nanswer = [libc.vmsplice(w, None, 0, 0) == -1]",
    "rules of a sandbox": "answer = [libc.syscall(444, (ctypes.c_uint64*2)(0, 1), 16, 0) == -1]",
    "huge pages of which one small page is left": """
answer = [libc.prctl(42, 0, 0, 0, 0) == 1, libc.prctl(41, 0, 0, 0, 0) == -1, libc.prctl(42, 0, 0, 0, 0) == 1]""",
    "empty files": """
answer = []
for folder in '.', '/dev/shm':
    made = 0
    try:
        for made in range(30_000): open(f'{folder}/{made}', 'w').close()
    except OSError: pass
    answer.append(0 < made < 20_000)""",
}


@pytest.mark.parametrize("memory", KERNELS_MEMORY, ids=lambda name: name.replace(" ", "-"))
def test_no_memory_is_held_that_counts_for_no_process(classroom, memory):
    child = classroom[2].spawn(Limits(cell=20.0, total=30.0))
    child.run(UNCOUNTED + KERNELS_MEMORY[memory])
    refused = encoding.decode(child.answer("refused", "answer", True)["value"])
    child.kill()
    assert refused
    assert all(refused)


IN_FORKS = """
import time
for _ in range({count}):
    if os.fork() == 0:
        for page in pages: ctypes.string_at(page, 1)
        time.sleep(60)
        os._exit(0)
time.sleep(15)
"""
TABLES = {  # what the kernel holds of a process beside its pages
    "page tables": """
GAP = 1 << 30
pages = [libc.mmap(place*GAP, 4096, 3, 0x100022, -1, 0) for place in range(1 << 14, 7000 + (1 << 14))]
"""
    + IN_FORKS.format(count=4),
    "mappings": """
pages, first = [], libc.mmap(None, 4096*60_000, 0, 0x22, -1, 0)
for place in range(0, 60_000, 2): libc.mprotect(ctypes.c_void_p(first + 4096*place), ctypes.c_size_t(4096), 1)
"""
    + IN_FORKS.format(count=9),
}


@pytest.mark.parametrize("table", TABLES, ids=lambda name: name.replace(" ", "-"))
def test_memory_is_that_of_what_the_kernel_notes_of_processes_too(attacked, table):
    limits = Limits(cell=20.0, total=40.0, memory=256 << 20, processes=24)
    answers = {"abuse-time": UNCOUNTED + TABLES[table]}
    words = " 0.25 GiB of memory "
    attacked(Attack(table, answers=answers, asked=tuple(answers), words=words), limits)


def test_what_processes_share_between_them_still_works(classroom):
    child = classroom[2].spawn(Limits(cell=20.0, total=30.0))
    child.run("""
import multiprocessing, torch
shared, tensor = multiprocessing.get_context('fork').Array('d', 1000), torch.zeros(1000).share_memory_()
def add():
    shared[0] += 1
    tensor.add_(1)
worker = multiprocessing.get_context('fork').Process(target=add)
worker.start()
worker.join()
answer = [shared[0], float(tensor[0])]
""")
    shared = encoding.decode(child.answer("shared", "answer", True)["value"])
    child.kill()
    assert shared == [1.0, 1.0]


def test_what_processes_share_counts_once(classroom):
    child = classroom[2].spawn(Limits(cell=20.0, memory=1 << 30, processes=24))
    child.run("import os, time\nblock = bytearray(b'x')*(300 << 20)")
    assert (
        child.run(
            "for _ in range(10):\n    if os.fork() == 0:\n        time.sleep(60)\n        os._exit(0)\ntime.sleep(1)"
        )["error"]
        is None
    )
    assert child.alive
    child.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only where root grades has each learner's work a user of its own")
def test_many_processes_get_no_more_of_the_processors_than_one(classroom):
    child = classroom[2].spawn(Limits(cell=20.0))
    seen = "import os, time\ntime.sleep(1)\nanswer = os.getpriority(os.PRIO_PROCESS, 0)"
    spin = "for _ in range(20):\n    if os.fork() == 0:\n        while True: pass"
    nice = []
    for source in ("", spin, "os.kill(-1, 9)"):
        child.run(source)
        child.run(seen)
        nice.append(encoding.decode(child.answer("nice", "answer", True)["value"]))
    child.kill()
    assert nice[0] == nice[2] == 0
    assert nice[1] >= 12
