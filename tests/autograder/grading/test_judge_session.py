"""The judge's two ends, each with the other made up: how a reply becomes a verdict, and what an answer is judged by."""

import json
import math
import resource
import sys
from types import SimpleNamespace

import pytest

from autograder.answers import Expression, Quantity, positive
from autograder.declaration import Bank, Exercise, Mistake, Verdict
from autograder.declaration.verdict import AnswerError
from autograder.declaration.withholding import Withheld
from autograder.grading import judge as module
from autograder.grading.judge import SECONDS, Judge, JudgeFailed, JudgeGone, JudgeRequest, JudgeSession, judge_answer
from autograder.sandbox import wire
from autograder.sandbox.program import SandboxedProgram
from autograder.values import encoding

TIME = Exercise(
    id="mine-time",
    prompt="{S:B} at {W:B/s}?",
    given={"S": [4e9, 8e9], "W": [2e9]},
    answer=Quantity("s"),
    solution=lambda S, W: S / W,
    mistakes=(Mistake(lambda S, W: W / S, "Turn it over.", "upside-down"), Mistake(lambda S: S, "No.")),
)
BANK = Bank([TIME])
QUESTION = JudgeRequest("mine-time", None, 2.0, "s")
REPLY = {"score": 0.5, "say": "So.", "kind": "partial", "reason": "r", "wants_hint": True, "mistakes": ["m"]}


class Exit(BaseException):
    """The process ends."""


@pytest.fixture
def session(monkeypatch):
    """A session whose judge replies one thing after the other; an exception is raised."""
    made = SimpleNamespace(sent=[], replies=[], deadlines=[], begun=0, alive=True, now=100.0, ends=[])

    def request(message, descriptors):
        if made.begun == made.refused:
            raise OSError("broken pipe")
        assert (message, len(descriptors)) == ({}, 1)
        made.begun += 1

    def receive(channel, deadline):
        made.deadlines.append(deadline)
        reply = made.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    made.refused = None
    monkeypatch.setattr(module.wire, "send", lambda _, message: made.sent.append(message))
    monkeypatch.setattr(module.wire, "receive", receive)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: made.now))

    class TheJudge:
        alive = property(lambda _: made.alive)

    TheJudge.request = staticmethod(request)
    with JudgeSession(TheJudge()) as made.session:
        made.ask = made.session.ask
        yield made


def test_a_reply_is_a_verdict_and_one_process_judges_a_submission(session):
    session.replies = [REPLY, REPLY]
    assert session.ask(QUESTION) == Verdict(0.5, "So.", "partial", "r", True, ("m",))
    session.ask(QUESTION, patience=7.0)
    assert session.begun == 1
    assert session.sent[0] == {"exercise": "mine-time", "owner": None, "message": 2.0, "seed": "s"}
    assert session.deadlines == [140.0, 147.0]  # twice the judge's own limit
    assert SECONDS == 20.0


def test_the_function_is_called_as_often_as_the_judge_asks(session):
    session.replies = [{"call": [1]}, {"call": [2]}, REPLY]
    session.ask(QUESTION, call=lambda arguments: {"value": 2 * arguments[0]})
    assert session.sent[1:] == [{"value": 2}, {"value": 4}]


def test_an_exercise_at_fault_is_the_teachers_to_mend(session):
    session.replies = [{"failed": "mine.py: no"}, {"call": [1]}]
    with pytest.raises(JudgeFailed, match=r"mine\.py: no"):
        session.ask(QUESTION)
    assert session.session._channel is not None
    with pytest.raises(JudgeFailed, match="not a function"):
        session.ask(QUESTION)
    assert session.session._channel is None


@pytest.mark.parametrize("error", [wire.WireClosed("c"), TimeoutError(), wire.WireError("w")])
def test_an_answer_that_is_too_much_costs_its_verdict_only(session, error):
    session.replies = [error, REPLY]
    verdict = session.ask(QUESTION)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, "unreadable", "too-slow")
    session.ask(QUESTION)
    assert session.begun == 2


@pytest.mark.parametrize(
    ("error", "again"), [(wire.WireClosed("c"), True), (TimeoutError(), False), (wire.WireError("w"), False)]
)
def test_a_process_that_an_earlier_answer_has_filled_is_replaced_for_the_next(session, error, again):
    session.replies = [REPLY, error, REPLY]
    session.ask(QUESTION)
    assert session.ask(QUESTION).reason == ("r" if again else "too-slow")
    assert session.begun == 1 + again


def test_a_process_that_dies_amid_an_answer_is_not_tried_with_it_again(session):
    session.replies = [REPLY, {"call": [1]}, wire.WireClosed("c")]
    session.ask(QUESTION)
    assert session.ask(QUESTION, call=lambda _: {}).reason == "too-slow"


def test_a_judge_that_is_gone_blames_no_answer(session):
    session.replies, session.alive = [wire.WireClosed("c")], False
    with pytest.raises(JudgeGone):
        session.ask(QUESTION)
    session.refused = session.begun
    with pytest.raises(JudgeGone, match="broken pipe"):
        session.ask(QUESTION)


def test_another_error_ends_the_process(session):
    session.replies = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        session.ask(QUESTION)
    assert session.session._channel is None


def test_a_judge_that_does_not_start_says_why(monkeypatch, tmp_path):
    steps, said = [], {}

    def init(self, name, environment, arguments):
        steps.append((name, arguments))
        self.said = said["now"]

    monkeypatch.setattr(SandboxedProgram, "__init__", init)
    monkeypatch.setattr(SandboxedProgram, "close", lambda _: steps.append("close"))
    for reply, words in (({"error": "mine.py: no"}, r"mine\.py"), (None, "did not start")):
        said["now"] = reply
        with pytest.raises(JudgeFailed, match=words):
            Judge([tmp_path / "mine.py"])
        assert steps.pop() == "close"
    said["now"] = {"exercises": 1}
    Judge([tmp_path / "x" / ".." / "mine.py"])
    assert steps[-1] == ("autograder.grading.judge", [str(tmp_path / "mine.py")])


def judged(value, exercise="mine-time", owner=None, bank=BANK):
    return judge_answer(bank, JudgeRequest(exercise, owner, encoding.encode(value)))


def test_an_answer_is_judged_with_its_owners_numbers():
    assert (judged(2.0)["score"], judged(2.0)["kind"]) == (1.0, "right")
    owner = next(who for who in "abcdefgh" if TIME.variant(who)["S"] == 8e9)
    assert (judged(4.0, owner=owner)["score"], judged(2.0, owner=owner)["score"]) == (1.0, 0.0)
    wrong = judged(0.5)
    assert (wrong["say"], wrong["mistakes"]) == ("Turn it over.", ["upside-down"])
    assert json.loads(json.dumps(wrong)) == wrong


def test_an_exercise_that_is_not_declared_or_fails_is_named():
    assert "'none'" in judged(1.0, "none")["failed"]

    def broken(*_):
        raise ZeroDivisionError("by zero")

    bank = {"q": SimpleNamespace(judge_message=broken, variant=lambda _: {})}

    class Declared(dict):
        path = None

    declared = Declared(bank)
    assert judged(1.0, "q", bank=declared)["failed"] == "the exercise 'q' failed: ZeroDivisionError: by zero"
    declared.path = "mine.py"
    assert judged(1.0, "q", bank=declared)["failed"].startswith("mine.py: ")
    declared["q"].judge_message = lambda *_: (_ for _ in ()).throw(MemoryError())
    with pytest.raises(MemoryError):
        judged(1.0, "q", bank=declared)


@pytest.mark.parametrize(
    ("score", "told"), [(-0.5, 0.0), (0.0, 0.0), (0.25, 0.25), (1.0, 1.0), (1.5, 1.0), (math.nan, 0.0), (math.inf, 1.0)]
)
def test_a_score_is_a_number_between_nothing_and_all(score, told):
    verdict = Verdict(score, "So.")
    bank = {"q": SimpleNamespace(judge_message=lambda *_: verdict, variant=lambda _: {})}
    assert judged(1.0, "q", bank=bank)["score"] == told


@pytest.fixture
def limits(monkeypatch):
    """What is set of this process, with a hard limit of the test's."""
    made = SimpleNamespace(hard=resource.RLIM_INFINITY, set={}, digits=[])
    monkeypatch.setattr(resource, "getrlimit", lambda _: (0, made.hard))
    monkeypatch.setattr(resource, "setrlimit", lambda what, values: made.set.update({what: values}))
    monkeypatch.setattr(sys, "set_int_max_str_digits", made.digits.append)
    return made


def test_the_judges_process_writes_nothing_and_has_three_gibibytes(limits, monkeypatch):
    class Statm(str):
        def read_text(self):
            return "12 3 4"

    monkeypatch.setattr(module, "Path", Statm)
    module._limit()
    size = 12 * resource.getpagesize() + (3 << 30)
    assert limits.set == {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_AS: (size, size),
    }
    assert limits.digits == [10_000]
    for hard, expected in ((size - 1, size - 1), (size + 1, size)):
        limits.hard = hard
        module._limit()
        assert limits.set[resource.RLIMIT_AS] == (expected, expected)
    limits.hard = resource.RLIM_INFINITY
    monkeypatch.setattr(module.os.path, "exists", lambda _: False)
    module._limit()
    assert limits.set[resource.RLIMIT_AS][0] == (1 << 21) * resource.getpagesize() + (3 << 30)


def test_answers_are_judged_one_after_another_each_with_its_processor_time(limits, monkeypatch):
    limits.hard = 99
    requests = [vars(QUESTION), vars(QUESTION)]
    sent = []

    def receive(_):
        if not requests:
            raise Exit
        return requests.pop()

    monkeypatch.setattr(module.wire, "receive", receive)
    monkeypatch.setattr(module.wire, "send", lambda _, reply: sent.append(reply))
    monkeypatch.setattr(module, "time", SimpleNamespace(process_time=lambda: 1.5))
    with pytest.raises(Exit):
        module._serve_session("channel", BANK)
    assert [one["score"] for one in sent] == [1.0, 1.0]
    assert limits.set[resource.RLIMIT_CPU] == (22, 99)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ({"value": 2.5}, 2.5),
        ({"problem": "It raised.", "reason": "time-limit"}, ("It raised.", "time-limit")),
        ({"problem": "It raised."}, ("It raised.", "raises")),
        ({"problem": "Withheld", "withheld": "numpy.sort"}, Withheld),
        ({"value": {"$": "nonsense"}}, "could not be read"),
    ],
)
def test_what_a_function_comes_to_reaches_the_judge(limits, monkeypatch, reply, outcome):
    seen, replies, sent = [], [vars(QUESTION), reply], []

    def receive(_):
        if not replies:
            raise Exit
        return replies.pop(0)

    def judge(_bank, _question, call):
        try:
            seen.append(call((1.0, 2.0)))
        except (AnswerError, Withheld) as error:
            seen.append(error)
        return {}

    monkeypatch.setattr(module, "judge_answer", judge)
    monkeypatch.setattr(module.wire, "receive", receive)
    monkeypatch.setattr(module.wire, "send", lambda _, message: sent.append(message))
    with pytest.raises(Exit):
        module._serve_session("channel", BANK)
    assert encoding.decode(sent[0]["call"]) == (1.0, 2.0)
    (made,) = seen
    if isinstance(outcome, tuple):
        assert (str(made), made.reason) == outcome
    elif outcome is Withheld:
        assert (type(made), made.name) == (Withheld, "numpy.sort")
    elif isinstance(outcome, str):
        assert outcome in str(made)
    else:
        assert made == outcome


def test_a_kind_that_gains_by_it_is_warm_before_the_first_answer(monkeypatch):
    term = Exercise(
        id="mine-term",
        prompt="How long?",
        answer=Expression({"S": positive("B"), "W": positive("B/s")}, "s"),
        solution=lambda S, W: S / W,
        mistakes=(Mistake(lambda S, W: W / S, "No."), Mistake(lambda S, W: S * W, "Nor.")),
    )
    judged = []
    monkeypatch.setattr(module, "judge_answer", lambda _, question: judged.append(question))
    module._warm(Bank([TIME, term]))
    assert judged == [JudgeRequest("mine-term", None, encoding.encode(0))]


def test_what_exercises_need_is_loaded_once_as_far_as_it_is_there(monkeypatch):
    def needs(*names):
        return SimpleNamespace(answer=SimpleNamespace(loads=lambda _: names))

    imported, threads = [], []

    def importing(name):
        imported.append(name)
        if name == "none":
            raise ImportError

    monkeypatch.setattr(module.importlib, "import_module", importing)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(set_num_threads=threads.append))
    module._load({"a": needs("none", "x"), "b": needs("x", "y")})
    assert (imported, threads) == (["none", "x", "y"], [1])


@pytest.mark.parametrize("forked", [0, 4711])
def test_the_judge_forks_a_process_a_submission(monkeypatch, forked):
    steps, messages = [], [(b"{}", [21], 0, None), (b"", [], 0, None)]
    control = SimpleNamespace(send=lambda text: steps.append(json.loads(text)), close=lambda: steps.append("hung up"))

    class Sockets:
        def socket(self, fileno):
            return control if fileno == 9 else f"channel {fileno}"

        def recv_fds(self, which, size, count):
            assert (which, size, count) == (control, 100, 1)
            return messages.pop(0)

    class System:
        def __getattr__(self, name):
            return lambda *about: steps.append((name, *about))

        def fork(self):
            return forked

        def getpid(self):
            return 7

        def _exit(self, status):
            raise Exit(status)

    for name, value in {
        "socket": Sockets(),
        "os": System(),
        "gc": SimpleNamespace(disable=lambda: None, enable=lambda: None),
        "load_bank": lambda path: {str(path): None},
        "importlib": SimpleNamespace(import_module=lambda name: None),
        "_load": lambda _: None,
        "_warm": lambda _: None,
        "settle": lambda: None,
        "end_with": lambda pid: steps.append(("ends with", pid)),
        "signal": SimpleNamespace(signal=lambda *_: None, SIGCHLD=17, SIG_IGN=1),
        "_serve_session": lambda channel, bank: steps.append((channel, sorted(bank))),
    }.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(sys, "argv", ["judge", "9", "a.py", "b.py"])
    with pytest.raises(Exit) as ended:
        module.main()
    assert ended.value.args == (0,)
    assert steps[0] == {"exercises": 2}
    assert steps[1:] == ([("close", 21)] if forked else [("ends with", 7), "hung up", ("channel 21", ["a.py", "b.py"])])


def test_a_file_that_cannot_be_loaded_is_told_in_bounds(monkeypatch):
    steps = []

    def fails(_):
        raise ValueError("x" * 30_001)

    monkeypatch.setattr(module, "load_bank", fails)
    monkeypatch.setattr(module, "gc", SimpleNamespace(disable=lambda: None))
    monkeypatch.setattr(module, "socket", SimpleNamespace(socket=lambda fileno: SimpleNamespace(send=steps.append)))
    monkeypatch.setattr(sys, "argv", ["judge", "9", "a.py"])
    assert module.main() is None
    assert json.loads(steps[0]) == {"error": "x" * 30_000}
