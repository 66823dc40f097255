"""The supervisor's side of a submission's process, with a zygote that is made up: what it asks, and how an end is
told."""

import os
import socket
import sys
from types import SimpleNamespace

import pytest

from autograder.sandbox import ChildLost, Limits, NoSandbox, client, confine, wire
from autograder.sandbox.client import IDLE, ONE_THREAD, WAITED, Child, Zygote, ZygoteGone
from autograder.sandbox.program import SandboxedProgram

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
LIMITS = Limits(cell=4.0, grace=0.5)


@pytest.fixture
def asked(monkeypatch):
    """A child and what is sent to it; `replies` come one after the other, an exception is raised."""
    made = SimpleNamespace(sent=[], replies=[], polls=[], heard=[], ready=False, used=[0.0, 0.0], now=100.0, freed=[])

    def receive(_channel, deadline=None, *, allowance):
        made.heard.append(deadline)
        assert allowance is not None
        reply = made.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return {"number": len(made.sent)} | reply

    class Poll:
        def register(self, *_):
            pass

        def poll(self, milliseconds):
            made.polls.append(milliseconds)
            made.now += made.slow
            return made.ready

    made.slow = 0.0
    monkeypatch.setattr(client.wire, "send", lambda _, message: made.sent.append(message))
    monkeypatch.setattr(client.wire, "receive", receive)
    monkeypatch.setattr(client, "select", SimpleNamespace(poll=Poll, POLLIN=1))
    monkeypatch.setattr(client, "time", SimpleNamespace(monotonic=lambda: made.now))
    monkeypatch.setattr(client.usage, "seconds", lambda _: made.used[(len(made.polls) - 1) % 2])
    channel, made.theirs = socket.socketpair()
    status, made.status = socket.socketpair()
    zygote = SimpleNamespace(_children=set(), _free=made.freed.append)
    made.child = Child(channel, status, os.open(os.devnull, os.O_RDONLY), LIMITS, 7, zygote, None)
    yield made
    made.child.kill()
    made.theirs.close()
    made.status.close()


def test_what_is_asked_has_a_number_and_its_limit(asked):
    child = asked.child
    asked.replies = [{"value": 1}] * 5
    assert child.run("x = 1") == {"value": 1, "number": 1}
    child.answer("q", "answer", True)
    child.rank("q", "ring", ("numpy",), "generator")
    child.forget("answer")
    child.call("q", [1], 2.5, ("numpy",), "kernel")
    assert asked.sent == [
        {"op": "run", "source": "x = 1", "limit": 4.0, "number": 1},
        {"op": "answer", "key": "q", "name": "answer", "reset": True, "limit": 4.0, "number": 2},
        {
            "op": "rank",
            "key": "q",
            "name": "ring",
            "withholds": ["numpy"],
            "plays": "generator",
            "limit": 4.0,
            "number": 3,
        },
        {"op": "forget", "name": "answer", "limit": 4.0, "number": 4},
        {
            "op": "call",
            "key": "q",
            "arguments": [1],
            "limit": 2.5,
            "plays": "kernel",
            "withholds": ["numpy"],
            "number": 5,
        },
    ]


def test_a_reply_is_waited_for_until_the_limit_and_the_grace(asked):
    asked.replies = [{}, {}]
    asked.child.run("x")
    assert asked.polls == [pytest.approx(2000.0), pytest.approx(3800.0)]
    assert asked.heard == [104.5]
    asked.polls.clear()
    asked.ready, asked.slow = True, 9.0
    asked.child.run("x")
    assert asked.polls == [pytest.approx(2000.0)]


def test_one_that_is_late_is_not_waited_for_again(asked):
    asked.replies, asked.slow = [{}], 9.0
    asked.child.run("x")
    assert asked.polls == [pytest.approx(2000.0), 0.0]


@pytest.mark.parametrize(
    ("used", "waited"),
    [
        ([1.0, 1.0], True),
        ([1.0, 1.0399], True),
        ([1.0, 1.0401], False),
        ([2.0, 1.0], True),
        ([None, 1.0], False),
        ([1.0, None], False),
        ([0.0, 0.04], False),
    ],
)
def test_what_used_nothing_in_the_second_half_has_waited(asked, used, waited):
    assert IDLE == 0.01  # of 4 s
    asked.used, asked.replies = used, [TimeoutError()]
    with pytest.raises(ChildLost) as lost:
        asked.child.run("x")
    assert lost.value.reason == "time-limit"
    assert "within 4 s" in str(lost.value)
    assert (WAITED in str(lost.value)) == asked.child.waited == waited
    assert asked.freed == [7]


def test_one_that_replies_soon_has_not_waited(asked):
    asked.replies, asked.ready = [{}], True
    asked.child.run("x")
    assert not asked.child.waited


@pytest.mark.parametrize("number", [0, 2, None, "1"])
def test_a_reply_to_another_question_is_forged(asked, number):
    asked.replies = [{"number": number}]
    with pytest.raises(ChildLost) as lost:
        asked.child.run("x")
    assert lost.value.reason == "forged-reply"
    assert not asked.child.alive


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (b'"out of memory"', "out of memory"),
        (b"3", "it ended its Python process (exit status 3)"),
        (b"0", "it ended its Python process (exit status 0)"),
        (b"-9", "its Python process was ended by SIGKILL"),
        (b"-99", "its Python process was ended by signal 99"),
        (b"true", "it stopped answering"),
        (b"", "it stopped answering"),
        (b"{", "it stopped answering"),
    ],
)
def test_how_a_process_ended_is_told(asked, status, said):
    asked.status.send(status)
    if not status:
        asked.status.close()
    asked.replies = [wire.WireClosed("gone")]
    with pytest.raises(ChildLost) as lost:
        asked.child.run("x")
    assert (str(lost.value), lost.value.reason) == (said, "process-ended")
    assert not asked.child.alive


def test_killing_twice_frees_one_place(asked, tmp_path):
    asked.child._folder = str(tmp_path / "work")
    (tmp_path / "work").mkdir()
    assert asked.child._zygote._children == {asked.child}
    asked.child.kill()
    asked.child.kill()
    assert asked.freed == [7]
    assert asked.child._zygote._children == set()
    assert not (tmp_path / "work").exists()


class Made(Zygote):
    """A zygote whose other end is here: it starts what `ready` says, and `started` has what each child was sent."""

    def __init__(self, ready=None, **report):
        self.ready = {"ready": True} if ready is None else ready
        self.handles, self.requests, self.started, self.ends = True, [], [], []
        self.report_to_be = {"unconfined": "", "unmeasured": ""} | report
        super().__init__()

    def request(self, message, descriptors):
        if isinstance(self.ready, OSError):
            raise self.ready
        self.requests.append(message)
        channel, status = (socket.socket(fileno=os.dup(fd)) for fd in descriptors)
        self.ends += [channel, status]
        with open(os.devnull) as handle:
            socket.send_fds(status, [b"x"], [handle.fileno()] if self.handles else [])
        if self.ready:
            wire.send(channel, self.ready)
        else:
            channel.close()

    def sent(self, number=-1):
        return wire.receive(self.ends[2 * number])


@pytest.fixture
def zygote(monkeypatch):
    """`zygote(...)`: a made-up one, without a process."""
    made = []

    def init(self, _module, environment, limit=None):
        import threading

        self.environment, self.limit, self._lock = environment, limit, threading.Lock()
        self.said = self.report_to_be if hasattr(self, "report_to_be") else None

    monkeypatch.setattr(SandboxedProgram, "__init__", init)
    monkeypatch.setattr(SandboxedProgram, "close", lambda self: made.append("closed"))
    monkeypatch.setattr(SandboxedProgram, "stop", lambda self: made.append("stopped"))

    def new(*args, **options):
        made.append(Made(*args, **options))
        return made[-1]

    new.steps = made
    yield new
    for one in made:
        for child in list(getattr(one, "_children", ())):
            child.kill()
        for end in getattr(one, "ends", ()):
            end.close()


def test_a_child_is_started_with_its_files_and_a_small_environment(zygote, monkeypatch):
    made = zygote()
    child = made.spawn(LIMITS, {"a.txt": "A"}, {"GPUBOOK_OWNER": "ann"}, seed=3, alone=True, withholds=("numpy",))
    assert made.requests == [
        {
            "limits": LIMITS.as_plain(),
            "slot": 0,
            "confined": True,
            "folder": None,
            "alone": True,
            "withholds": ["numpy"],
        }
    ]
    start = made.sent()
    assert (start["files"], start["seed"], start["confined"]) == ({"a.txt": "A"}, 3, True)
    environment = start["environment"]
    assert (environment["HOME"], environment["TMPDIR"], environment["USER"]) == (confine.WORK, "/tmp", "learner")
    assert environment["GPUBOOK_OWNER"] == "ann"
    assert environment.items() >= ONE_THREAD.items()
    assert (child.alive, child.limits, child.waited) == (True, LIMITS, False)
    assert made.limit == 120.0


def test_without_confinement_a_child_has_a_folder_of_its_own(zygote):
    made = zygote(unconfined="unshare: no")
    child = made.spawn(LIMITS, unsafe=True)
    folder = made.requests[0]["folder"]
    start = made.sent()
    assert (made.requests[0]["confined"], start["confined"], start["files"]) == (False, False, {})
    assert start["environment"]["HOME"] == start["environment"]["TMPDIR"] == folder
    assert os.path.isdir(folder)
    child.kill()
    assert not os.path.exists(folder)


def test_the_place_that_is_free_the_longest_is_taken(zygote):
    made = zygote()
    assert len(made._slots) == 1000
    first, second = made.spawn(LIMITS), made.spawn(LIMITS)
    assert [one["slot"] for one in made.requests] == [0, 1]
    first.kill()
    made.spawn(LIMITS)
    assert made.requests[-1]["slot"] == 2
    assert made._slots[-1] == 0
    second.kill()
    assert made._slots[-1] == 1


@pytest.mark.parametrize(
    ("ready", "error"),
    [(OSError("broken pipe"), ZygoteGone), ({}, ZygoteGone), ({"refused": "mount: no"}, NoSandbox)],
)
def test_a_child_that_does_not_start_gives_its_place_back(zygote, ready, error):
    made = zygote(ready)
    with pytest.raises(NoSandbox) as failed:
        made.spawn(LIMITS)
    assert type(failed.value) is error
    assert made._slots == [*range(1, 1000), 0]
    assert not made._children


def test_a_child_has_half_a_minute_to_start(zygote, monkeypatch):
    heard, receive = [], wire.receive

    def noting(channel, deadline):
        heard.append(deadline)
        return receive(channel, deadline)

    monkeypatch.setattr(client.wire, "receive", noting)
    monkeypatch.setattr(client, "time", SimpleNamespace(monotonic=lambda: 100.0))
    made = zygote()
    monkeypatch.setattr(wire, "time", SimpleNamespace(monotonic=lambda: 100.0))
    child = made.spawn(LIMITS)
    assert heard == [130.0]
    assert child._status.gettimeout() == 30.0


def test_a_child_that_nobody_can_see_is_started_all_the_same(zygote):
    made = zygote()
    made.handles = False
    child = made.spawn(LIMITS)
    child.end()
    assert child.alive


def test_after_a_stop_no_child_starts(zygote):
    made = zygote()
    child = made.spawn(LIMITS)
    ended = []
    child.end = lambda: ended.append("child")
    made.stop()
    assert (ended, zygote.steps[1:]) == (["child"], ["stopped"])
    with pytest.raises(ZygoteGone, match="stopped"):
        made.spawn(LIMITS)


@pytest.mark.parametrize(
    ("lacks", "unsafe", "refused"),
    [
        ({}, False, False),
        ({"unconfined": "unshare: no"}, False, True),
        ({"unmeasured": "no /proc"}, False, True),
        ({"unconfined": "unshare: no"}, True, False),
        ({"unmeasured": "no /proc"}, True, False),
    ],
)
def test_code_runs_without_a_sandbox_only_where_that_was_asked_for(zygote, lacks, unsafe, refused):
    made = zygote(**lacks)
    if refused:
        with pytest.raises(NoSandbox, match=next(iter(lacks.values()))):
            made.refuse_unless(unsafe)
        with pytest.raises(NoSandbox):
            made.spawn(LIMITS, unsafe=unsafe)
        assert made.requests == []
    else:
        made.refuse_unless(unsafe)


def test_a_zygote_that_ends_before_it_is_ready_is_no_sandbox(zygote):
    with pytest.raises(NoSandbox, match="before it was ready"):
        Zygote()
    assert zygote.steps == ["closed"]


def test_there_is_a_sandbox_on_linux_only(zygote, monkeypatch):
    monkeypatch.setattr(client, "sys", SimpleNamespace(platform="darwin"))
    with pytest.raises(NoSandbox, match="Linux"):
        Zygote()
    begun = []
    monkeypatch.setattr(client, "beginning", lambda *about: begun.append(about))
    with client.zygote_ahead():
        assert begun == []
    monkeypatch.setattr(client, "sys", sys)
    assert client.zygote_ahead() is None  # what `beginning` gave
    assert begun[0][0] == client.ZYGOTE


def test_the_zygote_gets_what_it_needs_of_the_environment(monkeypatch):
    monkeypatch.setattr(client.os, "environ", {"HOME": "/home/ann", "SECRET": "x", "OMP_NUM_THREADS": "64"})
    assert client._environment() == {"HOME": "/home/ann", **ONE_THREAD}
    assert set(ONE_THREAD.values()) == {"1", "Agg"}
