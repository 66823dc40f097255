"""The program that submissions are forked from: everything heavy is imported once, nothing else has happened
in it.

Run as `python -m autograder.sandbox.zygote FD`, never imported by a grader. It holds no secret, opens
nothing, has one thread and runs no tensor operation: a library that has started its threads hangs in every
process forked afterwards.
"""

import contextlib
import gc
import importlib
import json
import os
import random
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from typing import Any

from . import confine, wire
from .forking import settle
from .keeper import keep
from .limits import Limits
from .shell import Shell

PRELOADED = (
    "numpy",
    "numpy.random",
    "scipy.optimize",
    "scipy.sparse.csgraph",
    "sympy",
    "mpmath",
    "matplotlib.figure",
    "matplotlib.pyplot",
    "networkx",
    "ipywidgets",
    "anywidget",
    "torch",
    "torch.distributed",
    "hwlib",
    "hwlib.tl",
    "hwlib.formula",
    "hwlib.specs",
    "hwlib.roofline",
    "hwlib.network",
    "hwlib.hierarchy",
    "hwlib.topology",
    "hwlib.collectives",
    "hwlib.sharding",
    "hwlib.calibrated",
    "hwlib.algorithms",
    "hwlib.simulate",
    "hwlib.torch_groups._torch",
    "hwlib.widgets",
    "hwlib.plots",
    "hwlib.labs.measure",
    "hwlib.labs.ranks.collect",
    "hwlib.labs.ranks.server",
    "hwlib.labs.ranks.process",
    "cloudpickle",
    "autograder",
    "autograder.learner.exercise_widget",
    "autograder.learner.overview",
    "autograder.learner.verbs",
    "autograder.values.encoding",
    "autograder.values.trees",
    "autograder.declaration.calling",
    "autograder.ranks.generators",
    "autograder.declaration.withholding",
    "autograder.ranks.process_rank",
)
CORE = frozenset(
    {
        "numpy",
        "numpy.random",
        "sympy",
        "mpmath",
        "hwlib",
        "hwlib.formula",
        "autograder",
        "autograder.learner.exercise_widget",
        "autograder.learner.overview",
        "autograder.learner.verbs",
        "autograder.values.encoding",
        "autograder.values.trees",
        "autograder.declaration.calling",
        "autograder.ranks.generators",
        "autograder.declaration.withholding",
        "autograder.ranks.process_rank",
    }
)
"""What every submission uses; with `GPUBOOK_PRELOAD=core` the rest waits until a submission imports it."""


def preload() -> list[str]:
    """Import what chapters import, as far as it is installed; returns the names of missing modules."""
    core = os.environ.get("GPUBOOK_PRELOAD") == "core"
    missing = []
    for name in PRELOADED:
        if core and name not in CORE:
            continue
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    return missing


def make_shell() -> Shell:
    """A shell that has run one cell, so that a submission's first cell takes no longer than the others."""
    folder = tempfile.mkdtemp(prefix="gpubook-ipython-")
    try:
        shell = Shell(folder)
        out, err = sys.stdout, sys.stderr
        shell.begin(1000)
        shell.run("import sympy\nsympy.simplify(sympy.Symbol('x')*2 - 1)", 60.0)
        shell.ip.reset()
        sys.stdout, sys.stderr = out, err
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return shell


def serve(channel: socket.socket, shell: Shell, limits: Limits) -> None:
    """In the confined process: do what the supervisor asks, until it hangs up."""
    from ..declaration.calling import failure
    from ..declaration.withholding import Withheld, without
    from ..ranks.generators import Rank
    from ..ranks.process_rank import ProcessRank
    from ..ranks.traced import Traced
    from ..values import encoding

    start = wire.receive(channel)
    for name, text in start["files"].items():
        path = os.path.join(confine.WORK if start["confined"] else ".", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    os.environ.clear()
    os.environ.update(start["environment"])
    _seed(start["seed"])
    shell.begin(limits.output)
    values: dict[str, Any] = {}

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        names = shell.ip.user_ns
        value = values[request["key"]] = names.get(request["name"], ...)
        if request["reset"]:
            names[request["name"]] = ...
        return {"value": encoding.encode(value)}

    def rank(request: dict[str, Any]) -> dict[str, Any]:
        player = {"generator": Rank, "torch.distributed": ProcessRank}[request["plays"]]
        values[request["key"]] = player(shell.ip.user_ns.get(request["name"], ...), request["withholds"])
        return {}

    def forget(request: dict[str, Any]) -> dict[str, Any]:
        shell.ip.user_ns[request["name"]] = ...
        return {}

    def call(request: dict[str, Any]) -> dict[str, Any]:
        shell.capture.clear()
        function = values[request["key"]]
        called = Traced(function) if request["plays"] == "kernel" else function
        try:
            with without(request["withholds"], function):
                result = called(*encoding.decode(request["arguments"]))
        except Withheld as used:
            return {"problem": "Withheld", "withheld": used.name, "said": str(used)}
        except Exception as error:
            reason = getattr(error, "reason", "")
            return {"problem": type(error).__name__, "said": failure(error, function), "reason": str(reason)[:40]}
        return {"value": encoding.encode(result)}

    while True:
        request = wire.receive(channel)
        if request["op"] == "run":
            reply = shell.run(request["source"], request["limit"])
        else:
            act = {"answer": answer, "rank": rank, "forget": forget, "call": call}[request["op"]]
            try:
                reply = shell.timed(request["limit"], lambda act=act, request=request: act(request))
            except BaseException as error:
                reply = {
                    "problem": type(error).__name__,
                    "message": _message(error),
                    "expired": shell.expired,
                }
        if os.getpid() != shell.pid:
            os._exit(0)
        try:
            wire.send(channel, {"number": request["number"], **reply})
        except wire.WireClosed:
            os._exit(0)
        except (wire.WireError, ValueError, TypeError, RecursionError) as error:
            wire.send(channel, {"number": request["number"], "problem": "TooLarge", "message": str(error)[:500]})


def _message(error: BaseException) -> str:
    try:
        return str(error)[:500]
    except BaseException:
        return ""


def _seed(seed: int) -> None:
    """Every fork would draw the same numbers as its siblings; each submission has its own seed instead."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def child(
    channel: socket.socket, status: socket.socket, request: dict[str, Any], shell: Shell, view: confine.RootView
) -> None:
    """In the forked process: become the keeper, and fork the confined one; never returns."""
    from ..declaration import withholding

    limits = Limits(**request["limits"])
    try:
        if request["confined"]:
            confine.enter_namespaces()
        confine.close_all_but({channel.fileno(), status.fileno()})
        os.setsid()  # a session is what many kernels share the processors out to
        pid = os.fork()
    except OSError as error:
        wire.send(channel, {"refused": str(error)})
        os._exit(1)
    if pid:
        user = confine.user(request["slot"]) if request["confined"] and os.geteuid() == 0 else None
        keep(pid, channel, status, limits, user)
    status.close()
    try:
        if request["confined"]:
            covered = withholding.files(tuple(request["withholds"]))
            confine.enter(limits, request["slot"], view, request["alone"], covered)
        else:
            os.chdir(request["folder"])
            confine.set_limits(limits, own_user=False)
        withholding.strip(request["withholds"])
        wire.send(channel, {"ready": True})
    except OSError as error:
        wire.send(channel, {"refused": str(error)})
        os._exit(1)
    try:
        serve(channel, shell, limits)
    finally:
        os._exit(0)


def probe(view: confine.RootView | None = None) -> dict[str, str]:
    """What this system lacks: why it cannot confine a process (`unconfined`), and why the memory of a confined one
    cannot be limited (`unmeasured`); empty where it can."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        try:
            confine.enter_namespaces()
            inner = os.fork()
            if inner == 0:
                confine.enter(Limits(), 0, view or confine.RootView.of_system())
                theirs.sendall(b"-" if os.path.exists("/proc/self") else b"?")
                os._exit(0)
            os.waitpid(inner, 0)
        except OSError as error:
            theirs.sendall(str(error).encode())
        except BaseException:
            theirs.sendall(traceback.format_exc().encode())
        finally:
            os._exit(0)
    theirs.close()
    report = ours.recv(4000).decode()
    ours.close()
    os.waitpid(pid, 0)
    if report == "?":
        return {"unconfined": "", "unmeasured": confine.NO_PROC}
    return {"unconfined": "" if report == "-" else report or "the trial process died", "unmeasured": ""}


def main() -> None:
    """Import, report what is available, then fork on request until the supervisor hangs up."""
    from ..declaration import withholding

    control = socket.socket(fileno=int(sys.argv[1]))
    gc.disable()  # a fifth of the time to start
    missing = preload()
    shell = make_shell()
    view = confine.RootView.of_system()
    settle()
    threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
    with contextlib.suppress(BrokenPipeError):  # where the grader has ended meanwhile, the next look says so
        control.send(json.dumps({"missing": missing, "threads": threads, **probe(view)}).encode())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, fds, _, _ = socket.recv_fds(control, 1 << 16, 2)
        if not message:
            os._exit(0)  # at once: to take down what is loaded would take a while
        request = json.loads(message)
        withholding.files(tuple(request["withholds"]))  # found once, not in every child
        if os.fork() == 0:
            gc.enable()
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            channel, status = (socket.socket(fileno=fd) for fd in fds)
            child(channel, status, request, shell, view)
        for fd in fds:
            os.close(fd)


if __name__ == "__main__":
    main()
