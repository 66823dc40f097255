"""What a learner's code may do in the sandbox, and what becomes of it when it does more."""

import errno
import json
import os
import socket
import subprocess
import sys
import time

import pytest

from autograder.sandbox import ChildLost, Limits, NoSandbox, Zygote, confine, filters, wire
from autograder.values import encoding

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux namespaces")
PRELOAD = "all"  # as a course has it
LIMITS = Limits(cell=1.0, grace=1.0, total=60.0)


@pytest.fixture(scope="module")
def zygote():
    with Zygote() as running:
        yield running


@pytest.fixture
def child(zygote):
    child = zygote.spawn(LIMITS, files={"exercises.json": "{}"}, environment={"GPUBOOK_OWNER": "ann"}, seed=3)
    yield child
    child.kill()


def text(reply):
    return "".join(o.get("text", "") for o in reply["outputs"])


def value(child, source):
    """What an expression is inside."""
    child.run(f"answer = {source}")
    return encoding.decode(child.answer("t", "answer", True)["value"])


def test_the_zygote_has_one_thread_and_can_shut_in(zygote):
    assert zygote.report["threads"] == 1
    assert zygote.unconfined == ""
    assert "hwlib.roofline" not in zygote.report["missing"]


def test_where_no_proc_can_be_mounted_memory_is_said_to_be_without_limit(monkeypatch):
    mount = confine._mount

    def hidden(source, target, kind, *more):
        if kind == "proc":
            raise PermissionError(errno.EPERM, "mount")
        mount(source, target, kind, *more)

    from autograder.sandbox.zygote import probe

    assert probe() == {"unconfined": "", "unmeasured": ""}
    monkeypatch.setattr(confine, "_mount", hidden)
    assert probe() == {"unconfined": "", "unmeasured": confine.NO_PROC}


@pytest.mark.parametrize(
    "source",
    [
        "!pip install numpy",
        "%pip install numpy",
        "%conda install numpy",
        "names = !ls\nassert names == []",
        "!!ls",
        "%sx ls",
        "%%bash\nls",
        "%%script bash\nls",
        "%%python\nprint(1)",
        "get_ipython().system('ls')",
    ],
)
def test_a_line_for_the_terminal_is_said_to_be_left_out(child, source):
    reply = child.run(source)
    assert reply["error"] is None
    assert "not run" in text(reply)


@pytest.mark.parametrize("source", ["exit()", "quit()"])
def test_leaving_ends_nothing(child, source):
    reply = child.run(f"x = 1\n{source}")
    assert reply["error"] is None
    assert "goes on" in text(reply)
    assert value(child, "x") == 1


@pytest.mark.parametrize(
    "source", ["%matplotlib inline", "%matplotlib widget", "%config InlineBackend.dpi=9", "%gui qt"]
)
def test_a_figures_magic_is_no_error(child, source):
    assert child.run(source)["error"] is None


def test_cells_share_a_namespace_and_show_what_they_show(child):
    assert child.run("x = 20")["outputs"] == []
    reply = child.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\nx + 1")
    assert [(o["output_type"], o.get("name")) for o in reply["outputs"]] == [
        ("stream", "stdout"),
        ("stream", "stderr"),
        ("execute_result", None),
    ]
    assert reply["outputs"][-1]["data"] == {"text/plain": "21"}
    shown = child.run(
        "from IPython.display import Markdown, HTML, display\ndisplay(Markdown('*a*'))\nHTML('<script>1</script>')"
    )
    assert shown["outputs"][0]["data"]["text/markdown"] == "*a*"
    assert all("text/html" not in o["data"] for o in shown["outputs"])


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("1/0", "ZeroDivisionError"),
        ("def f(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("nowhere", "NameError"),
        ("class E(Exception):\n    def __str__(self): raise ValueError\nraise E", "E"),
    ],
)
def test_an_exception_is_an_output_and_the_next_cell_runs(child, source, name):
    assert child.run(source)["error"] == name
    assert child.run("1 + 1")["outputs"][0]["data"]["text/plain"] == "2"


def test_a_loop_ends_at_its_limit_and_the_namespace_stays(child):
    child.run("kept = 7")
    begun = time.monotonic()
    reply = child.run("while True:\n    pass")
    assert reply["expired"]
    assert time.monotonic() - begun < LIMITS.cell + LIMITS.grace
    assert value(child, "kept") == 7


def test_a_loop_that_catches_everything_is_killed(child):
    with pytest.raises(ChildLost, match=r"\b1 s$") as lost:
        child.run("while True:\n    try:\n        while True: sum(range(100))\n    except BaseException: pass")
    assert lost.value.reason == "time-limit"
    assert not child.alive


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os\nos._exit(3)", "exit status 3"),
        ("import ctypes\nctypes.string_at(0)", "SIGSEGV"),
        ("import os\nos.abort()", "SIG"),
        (
            "import os\nfor fd in range(3, 64):\n    try: os.close(fd)\n    except OSError: pass",
            "stopped answering|ended",
        ),
    ],
)
def test_a_dead_process_says_how_it_died(zygote, source, said):
    child = zygote.spawn(LIMITS)
    with pytest.raises(ChildLost, match=said) as lost:
        child.run(source)
    assert lost.value.reason == "process-ended"
    assert not child.alive


def test_its_world_has_nobody_to_kill(child):
    child.run("import os, signal\nfor victim in (1, 2, -1): \n    try: os.kill(victim, 9)\n    except OSError: pass")
    assert value(child, "1") == 1


def test_memory_processes_files_and_output_have_limits(zygote):
    child = zygote.spawn(Limits(cell=20.0, memory=1 << 30, processes=20, file_size=1 << 20, output=1000))
    assert child.run("b = bytearray(3 << 30)")["error"] == "MemoryError"
    source = """
import os, time
n = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        n += 1
except OSError:
    print(n)"""
    assert int(text(child.run(source))) < 20
    child.run("import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)")
    assert child.run("open('big', 'wb').write(bytes(2 << 20))")["error"] == "OSError"
    assert len(text(child.run("print('x'*10_000_000)"))) < 1200
    child.kill()


def test_nothing_of_anybody_is_in_sight(child, tmp_path):
    key = tmp_path / "key"
    key.write_text("secret")
    here = os.path.dirname(os.path.dirname(os.path.abspath(confine.__file__)))
    root = os.path.dirname(os.path.dirname(here))
    assert value(child, f"__import__('os').path.exists({str(key)!r})") is False
    assert value(child, f"__import__('os').path.exists({os.path.join(root, 'solutions')!r})") is False
    assert value(child, f"__import__('os').path.exists({os.path.join(root, 'tests')!r})") is False
    assert value(child, "__import__('os').listdir('.')") == ["exercises.json"]
    assert value(child, "[p for p in __import__('os').listdir('/proc') if p.isdigit()]") == ["1"]
    environment = value(child, "dict(__import__('os').environ)")
    assert environment["GPUBOOK_OWNER"] == "ann"
    assert not {"SECRET", "PYTHONPATH", "VIRTUAL_ENV", "SSH_AUTH_SOCK"} & set(environment)


def test_no_copy_of_the_book_is_in_sight(zygote):
    child = zygote.spawn(Limits(cell=60.0))
    child.run("import os\nfolders = [f for t in os.listdir('/') if t != 'proc' for f in os.walk('/' + t)]")
    assert value(child, "[d for d, _, files in folders if 'exercises.py' in files]") == []
    assert value(child, "len(folders)") > 100
    child.kill()


def test_a_book_in_an_installed_package_is_masked(tmp_path, monkeypatch):
    (tmp_path / "site-packages" / "autograder" / "_book").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    assert str(tmp_path / "site-packages" / "autograder" / "_book") in confine.masked_paths()


def test_no_file_can_be_written_but_in_the_scratch_folder(child):
    for path in (os.path.abspath(confine.__file__), "/usr/x", "/x", "/etc/hosts", f"{sys.prefix}/x"):
        assert child.run(f"open({path!r}, 'a')")["error"] in ("OSError", "PermissionError"), path
    assert child.run("open('x', 'w').write('y')")["error"] is None


def test_there_is_loopback_and_no_other_network(child):
    with socket.create_server(("127.0.0.1", 0)) as outside:
        port = outside.getsockname()[1]
        assert (
            child.run(f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)")["error"]
            == "ConnectionRefusedError"
        )
    assert child.run("socket.create_connection(('192.0.2.1', 80), 1)")["error"] == "OSError"
    own = "s = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(s.getsockname(), 1).close()"
    assert child.run(own)["error"] is None


def test_it_has_no_privileges(child):
    status = dict(
        line.split(":\t", 1)
        for line in text(child.run("print(open('/proc/self/status').read())")).splitlines()
        if ":\t" in line
    )
    assert {status[n].strip("0") for n in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {""}
    assert status["NoNewPrivs"] == "1"
    assert child.run("import os\nos.setuid(0)")["error"] == "PermissionError"


def test_what_it_leaves_running_ends_with_it(zygote):
    child = zygote.spawn(LIMITS)
    pid = os.stat("/proc/self").st_ino  # any number: only that the next line is run
    child.run(f"import os, time\n{pid}\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n    os._exit(0)")
    mark = "gpubook-left-over"
    child.run(f"import subprocess\nsubprocess.Popen(['sleep', '601'], env={{'{mark}': '1'}})")
    child.kill()
    for _ in range(50):
        if not any(mark in _environ(p) for p in os.listdir("/proc") if p.isdigit()):
            return
        time.sleep(0.05)
    pytest.fail("a process outlived its sandbox")


ORPHAN = """
import sys
from autograder.sandbox import Limits, Zygote
child = Zygote().spawn(Limits(cell=300.0))
child.run("import subprocess; subprocess.Popen(['sleep', '602'], env={'gpubook-orphan': '1'})")
print("ready", flush=True)
child.run("import ctypes, signal, time\\nctypes.CDLL(None).prctl(1, 0, 0, 0, 0)\\ntime.sleep(600)")
"""


def test_nothing_runs_on_when_the_grader_is_killed():
    grader = subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True)
    assert grader.stdout.readline() == "ready\n"
    time.sleep(0.5)
    assert any("gpubook-orphan" in _environ(p) for p in os.listdir("/proc") if p.isdigit())
    grader.kill()
    grader.communicate()
    for _ in range(100):
        if not any("gpubook-orphan" in _environ(p) for p in os.listdir("/proc") if p.isdigit()):
            return
        time.sleep(0.05)
    pytest.fail("a process outlived its grader")


def test_the_kernels_keys_are_out_of_reach_and_its_memory_goes_first(child):
    child.run("import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)")
    called = f"[(libc.syscall(n, 0, -3, 0, 0, 0), ctypes.get_errno()) for n in {filters.KEYS}]"
    assert value(child, called) == [(-1, errno.EPERM)] * 3
    assert value(child, "open('/proc/self/oom_score_adj').read()") == "1000\n"


def _environ(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def test_children_differ_in_their_random_numbers_and_repeat_by_seed(zygote):
    def draw(seed):
        child = zygote.spawn(LIMITS, seed=seed)
        child.run("import random, numpy, torch")
        drawn = value(child, "(random.random(), numpy.random.rand(), float(torch.rand(1)))")
        child.kill()
        return drawn

    assert draw(1) == draw(1)
    assert all(a != b for a, b in zip(draw(1), draw(2), strict=True))


def test_torch_works_after_the_fork(child):
    assert (
        value(child, "float((__import__('torch').ones(256, 256) @ __import__('torch').ones(256, 256)).sum())")
        == 256.0**3
    )


def test_an_answer_is_plain_data_and_is_reset(child):
    child.run("answer = [1, 2.5, 'x']")
    assert encoding.decode(child.answer("a", "answer", True)["value"]) == [1, 2.5, "x"]
    assert encoding.decode(child.answer("b", "answer", True)["value"]) is ...
    child.run("class Lie(float): pass\nanswer = Lie(1)")
    reply = child.answer("c", "answer", True)
    assert "value" not in reply
    assert "Lie" in reply["message"]


def test_a_syntax_error_names_its_line_and_no_file(child):
    assert child.run("x = 1\ndef f(a:\n    return a")["message"].endswith("(line 2)")


def test_a_function_is_called_with_plain_data(child):
    child.run("def f(a, b):\n    return a/b")
    assert encoding.decode(child.answer("f", "f", False)["value"]).name == "f"
    assert encoding.decode(child.call("f", encoding.encode((6.0, 3.0)), 1.0)["value"]) == 2.0
    failed = child.call("f", encoding.encode((6.0, 0.0)), 1.0)
    assert failed["problem"] == "ZeroDivisionError"
    assert "in line " in failed["said"]
    child.run("def f(a, b):\n    while True: pass")
    child.answer("f", "f", False)
    assert child.call("f", encoding.encode((6.0, 0.0)), 0.3)["expired"]


def test_a_function_does_without_what_is_withheld(child):
    given, withholds = encoding.encode((6.0, 3.0)), ["hwlib.roofline"]
    for source in (
        "import hwlib\ndef f(a, b): return hwlib.roofline.ridge(a, b)",
        "from hwlib.roofline import ridge\nf = ridge",
        "def f(a, b):\n    from hwlib.roofline import ridge\n    return ridge(a, b)",
    ):
        child.run(source)
        child.answer("f", "f", False)
        assert encoding.decode(child.call("f", given, 1.0)["value"]) == 2.0
        assert "hwlib.roofline" in child.call("f", given, 1.0, withholds)["said"]
        assert encoding.decode(child.call("f", given, 1.0)["value"]) == 2.0


def test_forged_messages_end_the_submission_not_the_grader(zygote):
    child = zygote.spawn(LIMITS)
    forge = (
        "import os, struct, json\nm = json.dumps({'number': 99, 'value': 1}).encode()\n"
        "for fd in range(3, 64):\n    try: os.write(fd, struct.pack('>I', len(m)) + m)\n"
        "    except OSError: pass"
    )
    with pytest.raises(ChildLost) as lost:
        child.run(forge)
    assert lost.value.reason == "forged-reply"


@pytest.mark.parametrize(
    "raw",
    [b"\xff\xff\xff\xff", b"\0\0\0\2[]", b"\0\0\0\3NaN", b"\0\0\0\4{'a}", b"\0\1\x86\xa0" + b"[" * 100_000],
)
def test_the_wire_refuses_what_is_no_message(raw):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(raw)
        with pytest.raises(wire.WireError):
            wire.receive(ours, time.monotonic() + 1.0)


def test_the_wire_keeps_its_deadline_and_its_limit():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(TimeoutError):
            wire.receive(ours, time.monotonic() + 0.05)
        with pytest.raises(wire.WireError, match=r"\b10 allowed"):
            wire.send(theirs, {"a": "x" * 100}, limit=10)
        deep: list = []
        for _ in range(100_000):
            deep = [deep]
        for value in (float("inf"), {1}, deep):  # 1e999 is JSON to read, but not to write
            with pytest.raises(wire.WireError) as error:
                wire.send(theirs, {"a": value})
            assert error.type is wire.WireError
        wire.send(theirs, {"a": [1, "ü"]})
        assert wire.receive(ours) == {"a": [1, "ü"]}


def test_without_namespaces_it_refuses_unless_asked_by_name(zygote, monkeypatch):
    monkeypatch.setitem(zygote.report, "unconfined", "unshare: Operation not permitted")
    with pytest.raises(NoSandbox, match=r"unshare: Operation not permitted.*--unsafe"):
        zygote.spawn(LIMITS)
    child = zygote.spawn(LIMITS, files={"a.txt": "b", "files/c.txt": "d"}, unsafe=True)
    assert value(child, "open('a.txt').read() + open('files/c.txt').read()") == "bd"
    folder = value(child, "__import__('os').getcwd()")
    child.kill()
    assert not os.path.exists(folder)


def test_the_new_root_is_an_allow_list():
    shown = confine.visible_paths()
    assert "/" not in shown
    assert "/home" not in shown
    assert "/etc" not in shown
    assert not any(path.endswith(("solutions", "tests", "chapters")) for path in shown)
    assert json.dumps(Limits().as_plain())
