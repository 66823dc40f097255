"""What the zygote and the process of a submission do, step by step, in this process: nothing is forked for good."""

import io
import json
import os
import random
import sys
from types import SimpleNamespace

import numpy
import pytest

from autograder.declaration.withholding import Withheld
from autograder.sandbox import Limits, confine, wire, zygote
from autograder.values import encoding

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")


class Exit(BaseException):
    """The process ends."""


class System:
    """The module os, but that it ends and forks nothing."""

    def __init__(self):
        self.environ, self.forked, self.calls, self.pid = {"SECRET": "x"}, 0, [], os.getpid()

    def __getattr__(self, name):
        return getattr(os, name)

    def _exit(self, status):
        raise Exit(status)

    def fork(self):
        return self.forked

    def getpid(self):
        return self.pid

    def setsid(self):
        self.calls.append("setsid")

    def chdir(self, folder):
        self.calls.append(("chdir", folder))


@pytest.fixture
def system(monkeypatch):
    made = System()
    monkeypatch.setattr(zygote, "os", made)
    return made


def shell(**about):
    """A shell that runs nothing and calls what it is to time."""
    made = SimpleNamespace(
        ip=SimpleNamespace(user_ns={"answer": 2.5}),
        capture=[1],
        pid=os.getpid(),
        expired=False,
        began=[],
        run=lambda source, limit: {"ran": source, "limit": limit},
        timed=lambda limit, act: act(),
    )
    made.begin = made.began.append
    return SimpleNamespace(**(vars(made) | about))


START = {"files": {}, "environment": {"HOME": "/w"}, "seed": 3, "confined": False}


@pytest.fixture
def served(system, monkeypatch):
    """`served(*requests)`: what the submission's process replies, until the supervisor hangs up."""

    def run(*requests, start=START, shell=None, fails=()):
        waiting, replies, errors = [start, *requests], [], list(fails)

        def receive(_):
            if not waiting:
                raise Exit("hung up")
            return {"number": len(replies) + 1} | waiting.pop(0)

        def send(_, reply):
            if errors:
                raise errors.pop(0)
            json.dumps(reply)
            replies.append(reply)

        monkeypatch.setattr(zygote.wire, "receive", receive)
        monkeypatch.setattr(zygote.wire, "send", send)
        run.shell = shell or globals()["shell"]()
        with pytest.raises(Exit) as ended:
            zygote.serve(None, run.shell, Limits(output=77))
        run.ended = ended.value.args[0]
        return replies

    return run


def test_a_submission_finds_its_files_its_environment_and_its_seed(served, system, tmp_path, monkeypatch):
    seeds = []
    monkeypatch.setattr(zygote, "_seed", seeds.append)
    monkeypatch.setattr(confine, "WORK", str(tmp_path / "work"))
    monkeypatch.chdir(tmp_path)
    for confined, home in ((True, tmp_path / "work"), (False, tmp_path)):
        assert served(start=START | {"files": {"data/a.txt": "ä"}, "confined": confined}) == []
        assert (home / "data" / "a.txt").read_text(encoding="utf-8") == "ä"
    assert system.environ == {"HOME": "/w"}
    assert seeds == [3, 3]
    assert served.shell.began == [77]


def answer(**about):
    return {"op": "answer", "key": "q", "name": "answer", "reset": False, "limit": 1.0} | about


def test_cells_run_and_answers_are_taken(served):
    replies = served({"op": "run", "source": "x", "limit": 4.0}, answer(), answer(reset=True), answer())
    assert replies[0] == {"ran": "x", "limit": 4.0, "number": 1}
    assert [encoding.decode(one["value"]) for one in replies[1:]] == [2.5, 2.5, ...]
    assert [one["number"] for one in replies] == [1, 2, 3, 4]
    assert encoding.decode(served(answer(name="none"))[0]["value"]) is ...
    assert served({"op": "forget", "name": "answer", "limit": 1.0}) == [{"number": 1}]
    assert served.shell.ip.user_ns == {"answer": ...}
    assert served.ended == "hung up"


def called(function, served, **about):
    names = SimpleNamespace(user_ns={"answer": function})
    request = {
        "op": "call",
        "key": "q",
        "arguments": encoding.encode((2.0,)),
        "limit": 1.0,
        "withholds": [],
        "plays": "",
    }
    return served(answer(), request | about, shell=shell(ip=names))[-1]


def fails(error):
    def function(_):
        raise error

    return function


def test_a_function_that_was_the_answer_is_called(served):
    assert encoding.decode(called(lambda x: 2 * x, served)["value"]) == 4.0
    assert served.shell.capture == []  # what it shows is not that of a cell


def test_what_a_function_raises_is_told(served):
    reply = called(fails(ZeroDivisionError("so")), served)
    assert (reply["problem"], reply["reason"]) == ("ZeroDivisionError", "")
    assert "so" in reply["said"]
    odd = ValueError("so")
    odd.reason = "r" * 41
    assert called(fails(odd), served)["reason"] == "r" * 40
    withheld = Withheld("numpy.sort")
    reply = called(fails(withheld), served)
    assert (reply["problem"], reply["withheld"]) == ("Withheld", "numpy.sort")


def test_a_request_that_fails_is_told_in_few_words(served):
    def timed(_limit, _act):
        raise MemoryError("m" * 501)

    (reply,) = served(answer(), shell=shell(timed=timed, expired=True))
    assert reply == {"problem": "MemoryError", "message": "m" * 500, "expired": True, "number": 1}


@pytest.mark.parametrize(
    ("error", "replied"), [(wire.WireError("w" * 501), True), (ValueError("v"), True), (wire.WireClosed("c"), False)]
)
def test_a_reply_that_cannot_be_sent_is_told_unless_nobody_listens(served, error, replied):
    replies = served(answer(), fails=[error])
    if replied:
        assert replies == [{"number": 1, "problem": "TooLarge", "message": str(error)[:500]}]
    else:
        assert (replies, served.ended) == ([], 0)


def test_a_process_that_a_cell_has_forked_ends_after_the_cell(served, system):
    system.pid += 1
    assert served(answer()) == []
    assert served.ended == 0


def test_an_error_without_words_has_none():
    class Silent(Exception):
        def __str__(self):
            raise RuntimeError

    assert zygote._message(Silent()) == ""
    assert zygote._message(ValueError("v" * 501)) == "v" * 500


def test_each_submission_draws_numbers_of_its_own(monkeypatch):
    seeds = []
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(manual_seed=seeds.append))

    def drawn(seed):
        zygote._seed(seed)
        return random.random(), numpy.random.random()

    state = random.getstate(), numpy.random.get_state()
    try:
        assert drawn(3) == drawn(3) != drawn(4)
        assert drawn(2**32 + 3)[1] == drawn(3)[1]  # numpy takes 32 bits
        assert drawn(2**32 - 1)[1] != drawn(0)[1]
        assert drawn(2**31 + 3)[1] != drawn(3)[1]
    finally:
        random.setstate(state[0])
        numpy.random.set_state(state[1])
    assert seeds[:3] == [3, 3, 4]


@pytest.mark.parametrize("core", [True, False])
def test_what_is_preloaded(monkeypatch, core):
    imported, threads = [], []

    def importing(name):
        imported.append(name)
        if name == "sympy":
            raise ImportError(name)

    monkeypatch.setattr(zygote.importlib, "import_module", importing)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(set_num_threads=threads.append))
    monkeypatch.setenv("GPUBOOK_PRELOAD", "core" if core else "all")
    assert zygote.preload() == ["sympy"]
    assert imported == [name for name in zygote.PRELOADED if not core or name in zygote.CORE]
    assert threads == [1]
    assert len(zygote.PRELOADED) > len(zygote.CORE)


def test_the_shell_has_run_a_cell_and_left_nothing(monkeypatch):
    steps = []

    class Noted:
        def __init__(self, folder):
            self.folder, self.ip = folder, SimpleNamespace(reset=lambda: steps.append("reset"))
            assert os.path.isdir(folder)

        def begin(self, output):
            steps.append(output)
            sys.stdout = io.StringIO()

        def run(self, source, limit):
            steps.append(limit)
            compile(source, "cell", "exec")

    monkeypatch.setattr(zygote, "Shell", Noted)
    out = sys.stdout
    made = zygote.make_shell()
    assert sys.stdout is out
    assert steps == [1000, 60.0, "reset"]
    assert not os.path.exists(made.folder)


@pytest.fixture
def steps(monkeypatch, system):
    """What becoming a confined process does, in order."""
    made = []

    def noting(name):
        return lambda *about, **more: made.append((name, *about, *more.values()))

    for module, names in (
        (confine, ("enter_namespaces", "close_all_but", "enter", "set_limits")),
        (zygote, ("serve", "keep")),
        (zygote.wire, ("send",)),
    ):
        for name in names:
            monkeypatch.setattr(module, name, noting(name))
    system.calls = made
    system.geteuid = lambda: 0
    return made


REQUEST = {"limits": Limits().as_plain(), "slot": 5, "confined": True, "folder": "/w", "alone": True, "withholds": []}
CHANNEL = SimpleNamespace(fileno=lambda: 11)


def become(**about):
    status = SimpleNamespace(fileno=lambda: 12, close=lambda: None)
    with pytest.raises(Exit) as ended:
        zygote.child(CHANNEL, status, REQUEST | about, "shell", "view")
    return ended.value.args[0]


def test_a_process_is_confined_before_it_serves(steps):
    assert become() == 0
    assert steps == [
        ("enter_namespaces",),
        ("close_all_but", {11, 12}),
        "setsid",
        ("enter", Limits(), 5, "view", True, []),
        ("send", CHANNEL, {"ready": True}),
        ("serve", CHANNEL, "shell", Limits()),
    ]


def test_without_confinement_it_has_its_folder_and_its_limits(steps):
    assert become(confined=False) == 0
    assert steps[:4] == [
        ("close_all_but", {11, 12}),
        "setsid",
        ("chdir", "/w"),
        ("set_limits", Limits(), False),
    ]


@pytest.mark.parametrize(("confined", "root", "user"), [(True, True, 60005), (True, False, None), (False, True, None)])
def test_the_keeper_ends_what_runs_as_the_learners_own_user(steps, system, monkeypatch, confined, root, user):
    system.forked, system.geteuid = 4711, lambda: 0 if root else 1000
    monkeypatch.setattr(confine, "user", lambda slot: 60000 + slot)
    assert become(confined=confined) == 0  # the keeper does not return
    keeps = next(step for step in steps if step[0] == "keep")
    assert (keeps[1], keeps[2], keeps[4], keeps[5]) == (4711, CHANNEL, Limits(), user)


@pytest.mark.parametrize("step", ["enter_namespaces", "enter"])
def test_a_system_that_refuses_is_told(steps, monkeypatch, step):
    def refuse(*_):
        raise OSError(1, "not permitted")

    monkeypatch.setattr(confine, step, refuse)
    assert become() == 1
    assert steps[-1][0] == "send"
    assert "not permitted" in steps[-1][2]["refused"]


@pytest.fixture
def trial(monkeypatch):
    """Trials of which only a forked process ends: this one would end the tests, and nobody would notice."""

    class Forks(System):
        here = os.getpid()

        def fork(self):
            return os.fork()

        def getpid(self):
            return os.getpid()

        def _exit(self, status):
            if os.getpid() == self.here:
                raise Exit(status)
            os._exit(status)

    monkeypatch.setattr(zygote, "os", Forks())


def refusing(error):
    def act(*_):
        raise error

    return act


@pytest.mark.parametrize(
    ("first", "second", "lacks"),
    [
        (lambda: None, lambda *_: None, ""),
        (refusing(OSError("unshare: no")), None, "unshare: no"),
        (lambda: None, refusing(OSError("mount: no")), "mount: no"),
        (lambda: None, refusing(RuntimeError("odd")), "RuntimeError: odd"),
        (lambda: None, lambda limits, *rest: refusing(OSError(str(rest)))(), "(0, 'view')"),
        (lambda: None, lambda *_: os._exit(1), "the trial process died"),
    ],
)
def test_a_trial_says_what_the_system_lacks(monkeypatch, trial, first, second, lacks):
    monkeypatch.setattr(confine, "enter_namespaces", first)
    monkeypatch.setattr(confine, "enter", second)
    made = zygote.probe("view")
    assert made["unmeasured"] == ""
    assert lacks in made["unconfined"]
    assert bool(made["unconfined"]) == bool(lacks)


def test_a_trial_without_a_proc_of_its_own_limits_no_memory(monkeypatch, trial):
    monkeypatch.setattr(confine, "enter_namespaces", lambda: None)
    monkeypatch.setattr(confine, "enter", lambda *_: None)
    monkeypatch.setattr(os.path, "exists", lambda path: path != "/proc/self")
    assert zygote.probe("view") == {"unconfined": "", "unmeasured": confine.NO_PROC}


@pytest.mark.parametrize("forked", [0, 4711])
def test_the_zygote_reports_and_forks_on_request(monkeypatch, system, forked):
    """In the zygote, and in what it has forked."""
    steps, sockets = [], iter(["control", "channel", "status"])
    system.forked = forked
    system.close = lambda fd: steps.append(("closed", fd))
    control = SimpleNamespace(send=lambda text: steps.append(json.loads(text)), close=lambda: steps.append("hung up"))
    made = {"control": control}
    messages = [(json.dumps({"withholds": []}).encode(), [21, 22], 0, None), (b"", [], 0, None)]

    class Sockets:
        def socket(self, fileno):
            steps.append(("socket", fileno))
            name = next(sockets)
            return made.get(name, name)

        def recv_fds(self, which, size, count):
            assert (which, size, count) == (control, 1 << 16, 2)
            return messages.pop(0)

    def child(*about):
        raise Exit(about)

    for name, value in {
        "socket": Sockets(),
        "preload": lambda: ["torch"],
        "make_shell": lambda: "shell",
        "settle": lambda: steps.append("settled"),
        "probe": lambda _: {"unconfined": "", "unmeasured": ""},
        "signal": SimpleNamespace(signal=lambda *about: steps.append(about), SIGCHLD=17, SIG_IGN=1, SIG_DFL=0),
        "gc": SimpleNamespace(disable=lambda: None, enable=lambda: steps.append("gc")),
        "child": child,
    }.items():
        monkeypatch.setattr(zygote, name, value)
    monkeypatch.setattr(confine.RootView, "of_system", lambda: "view")
    monkeypatch.setattr(sys, "argv", ["zygote", "9"])
    with pytest.raises(Exit) as ended:
        zygote.main()
    assert steps[0] == ("socket", 9)
    assert steps[1] == "settled"
    assert steps[2].items() >= {"missing": ["torch"], "unconfined": ""}.items()
    assert steps[2]["threads"] >= 1
    if forked:
        assert ended.value.args[0] == 0
        assert steps[3:] == [(17, 1), ("closed", 21), ("closed", 22)]
    else:
        assert ended.value.args[0] == ("channel", "status", {"withholds": []}, "shell", "view")
        assert steps[3:] == [(17, 1), "gc", "hung up", (17, 0), ("socket", 21), ("socket", 22)]
