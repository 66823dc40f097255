"""A class at the check service at once, beside attackers: `python -m benchmarks.grading.check_service`.

`gpubook course serve` runs as its own process. Each learner asks as a notebook does, one question after the other,
coming back when told to: three answers to each of two numbers, one of them twice, and two functions. Parts:

\b
  class    all learners begin at once
  attack   the same beside floods of forged tokens, of a stolen one that repeats what it saw and more, of junk and of
           connections that send a byte now and then
  kill     the same, and the service is killed (kill -9) and started again meanwhile

After each the attempts are counted: a learner has as many as verdicts on different answers, none is lost, none is
beyond what is allowed. Figures are minimum / median / 95 % / maximum, over questions, of the seconds from a question to
its verdict with all waiting, as a learner has them.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import click
import psutil

from autograder import course
from autograder.course.service.attempts import used
from autograder.course.service.tokens import CourseTokens
from benchmarks.grading.classroom import BANK
from benchmarks.grading.costs import load, machine

NAME, ASKED = "week1", ("bench-seconds", "bench-steps", "bench-bubble")
ALLOWED = 5
NUMBERS = {"bench-seconds": (0.07, 0.04, 0.035), "bench-steps": (14, 8, 7)}
FUNCTIONS = ("def bubble(p, m):\n    return (p - 1)/(m + p - 1)", "def bubble(p, m):\n    return (p - 1)/m")
PARTS = ("class", "attack", "kill")
PATIENCE = 600.0  # seconds for which a learner comes back


@dataclass
class Service:
    """The service as a process over a course, which can be killed and started again."""

    folder: Path
    port: int
    program: subprocess.Popen | None = None

    def start(self) -> float:
        """Start it; the seconds until it judges."""
        began = time.perf_counter()
        command = [sys.executable, "-m", "autograder", "course", "serve", str(self.folder), "--port", str(self.port)]
        log = open(self.folder / "serve.log", "a")  # noqa: SIM115  (the process has it, too)
        self.program = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        log.close()
        while self.ask("nobody", {})[0] in (0, 503):
            if self.program.poll() is not None:
                raise RuntimeError((self.folder / "serve.log").read_text()[-2000:])
            time.sleep(0.1)
        return time.perf_counter() - began

    def kill(self) -> None:
        """As a power failure does."""
        if self.program is not None:
            self.program.kill()
            self.program.wait()

    def stop(self) -> None:
        if self.program is not None and self.program.poll() is None:
            self.program.send_signal(signal.SIGTERM)
            self.program.wait(60)

    def memory(self) -> int:
        """Bytes that all its processes hold."""
        total = 0
        with contextlib.suppress(psutil.Error):
            me = psutil.Process(self.program.pid if self.program else 0)
            for one in (me, *me.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    total += one.memory_info().rss - one.memory_info().shared
        return total

    def ask(self, token: str, body: Any, timeout: float = 120.0) -> tuple[int, dict[str, Any], float]:
        """The status, the reply, and when to come back; 0 where nobody answers."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            connection.request("POST", "/check", data, {"Authorization": f"token {token}"})
            response = connection.getresponse()
            text = response.read()
            after = float(response.getheader("Retry-After") or 1)
            return response.status, json.loads(text) if response.status == 200 else {}, after
        except (OSError, HTTPException, ValueError):
            return 0, {}, 0.5
        finally:
            connection.close()


@dataclass
class ServiceAnswers:
    """What the learners got: seconds by kind of answer, verdicts by learner and exercise, how often one was sent
    away."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"value": [], "again": [], "code": []})
    verdicts: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    away: dict[int, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def learner(self, service: Service, who: str, token: str, go: threading.Barrier) -> None:
        """One learner, from the signal on."""
        go.wait()
        for exercise, values in NUMBERS.items():
            for number, value in enumerate((*values, values[0])):
                kind = "again" if number == len(values) else "value"
                self.question(service, who, token, kind, exercise, {"value": value})
        for source in FUNCTIONS:
            code = {"code": {"cells": [source], "answer": 0}}
            self.question(service, who, token, "code", "bench-bubble", code)

    def question(
        self, service: Service, who: str, token: str, kind: str, exercise: str, answer: dict[str, Any]
    ) -> None:
        body = {"assignment": NAME, "exercise": exercise, **answer}
        began = time.perf_counter()
        while time.perf_counter() - began < PATIENCE:
            status, reply, after = service.ask(token, body)
            if status == 200:
                with self.lock:
                    self.seconds[kind].append(time.perf_counter() - began)
                    if "verdict" in reply:
                        self.verdicts.setdefault((who, exercise), set()).add(json.dumps(answer))
                    else:
                        self.lost.append(f"{who} {exercise}: {reply}")
                return
            with self.lock:
                self.away[status] = self.away.get(status, 0) + 1
            if status not in (0, 429, 503):
                break
            time.sleep(after * random.uniform(1.0, 1.3))
        with self.lock:
            self.lost.append(f"{who} {exercise}: no verdict")


def attackers(service: Service, stolen: str, over: threading.Event, count: dict[str, int]) -> list[Callable[[], None]]:
    """What runs beside the class until it is over."""

    def forged() -> None:
        while not over.is_set():
            count["forged tokens"] += 1
            service.ask(f"gpubook-{random.randbytes(32).hex()}", {"assignment": NAME}, 5)

    def thief() -> None:
        seen = {"assignment": NAME, "exercise": "bench-seconds", "value": 0.07}
        while not over.is_set():
            count["of a stolen token"] += 1
            service.ask(stolen, {**seen, "value": random.choice((0.07, random.random()))}, 5)

    def junk() -> None:
        bodies = (b"[" * 100_000, b"\xff" * 1000, b'{"assignment":{"$":"x"}}', b"9" * 50_000, b"{" * 200_000)
        while not over.is_set():
            count["junk"] += 1
            service.ask(stolen, random.choice(bodies), 5)

    def slow() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", service.port), 5) as link:
                count["slow connections"] += 1
                link.sendall(b"POST /check HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n")
                while not over.is_set():
                    link.sendall(b"X")
                    time.sleep(1.0)

    return [forged] * 4 + [thief] * 2 + [junk] * 2 + [slow] * 100


def made(folder: Path, learners: int) -> tuple[Path, dict[str, str]]:
    """A course with the benchmark's exercises, and everybody's token."""
    course.init(folder)
    (folder / "exercises" / "bench.py").write_text(BANK.read_text())
    course.assign(folder, NAME, exercises=ASKED, due=datetime(2100, 1, 1))
    return folder, CourseTokens(folder).issue([f"learner{n:03}" for n in range(learners)] + ["victim"], days=1)


def measure(service: Service, tokens: dict[str, str], part: str) -> dict[str, Any]:
    """One part: its figures, once the attempts are reconciled."""
    (service.folder / ".gpubook" / "checks.db").unlink(missing_ok=True)
    start, asked, over = service.start(), ServiceAnswers(), threading.Event()
    counts = dict.fromkeys(("forged tokens", "of a stolen token", "junk", "slow connections"), 0)
    learners = {who: token for who, token in tokens.items() if who != "victim"}
    go = threading.Barrier(len(learners) + 1)
    class_ = [threading.Thread(target=asked.learner, args=(service, *one, go)) for one in learners.items()]
    others = attackers(service, tokens["victim"], over, counts) if part == "attack" else []
    beside = [threading.Thread(target=one, daemon=True) for one in others]
    for thread in (*beside, *class_):
        thread.start()
    go.wait()
    began, peak, killed = time.perf_counter(), 0, 0
    while any(thread.is_alive() for thread in class_):
        peak = max(peak, service.memory())
        if part == "kill" and killed < 3 and time.perf_counter() - began > 8 + 25 * killed:
            killed += 1
            service.kill()
            service.start()
        time.sleep(0.3)
    seconds = time.perf_counter() - began
    over.set()
    for thread in (*beside, *class_):
        thread.join()
    alive = service.ask("nobody", {})[0] == 401
    service.stop()
    counted = {(one.learner, one.exercise): one.count for one in used(service.folder)}
    stolen = {exercise: counted.pop(("victim", exercise), 0) for exercise in ASKED}
    right = {key: len(answers) for key, answers in asked.verdicts.items()}
    print(
        f"{part}: {len(learners)} learners, {sum(map(len, asked.seconds.values()))} answers in {seconds:.1f} s; "
        f"ready after {start:.1f} s, {peak / 1e6:.0f} MB, load {load():.1f}"
    )
    for kind, times in asked.seconds.items():
        print(f"  {kind}: {spread(times)} s")
    print(f"  sent away, by status: {asked.away or 'none'}; killed: {killed}; beside: {counts if beside else 'nobody'}")
    print(
        f"  attempts: {sum(counted.values())} counted, {sum(right.values())} different answers with a verdict, "
        f"{'equal' if counted == right else 'NOT EQUAL'}; lost: {len(asked.lost)}; of a stolen token {stolen}; "
        f"{'up' if alive else 'DOWN'}"
    )
    if counted != right or asked.lost or not alive or max(stolen.values()) > ALLOWED:
        raise click.ClickException(f"{part}: the attempts do not add up: {asked.lost[:5]}")
    return {
        "seconds": seconds,
        "start": start,
        "peak": peak,
        "times": asked.seconds,
        "away": asked.away,
        "beside": counts,
    }


def spread(times: Sequence[float]) -> str:
    """Minimum, median, 95 % and maximum."""
    ordered = sorted(times)
    return " / ".join(f"{ordered[min(int(share * len(ordered)), len(ordered) - 1)]:.3g}" for share in (0, 0.5, 0.95, 1))


@click.command(help=__doc__)
@click.option("--learners", default=200, show_default=True, type=click.IntRange(1))
@click.option("--port", default=8770, show_default=True)
@click.option("--only", "parts", multiple=True, type=click.Choice(PARTS), help="[default: all]")
@click.option("--json", "output", type=click.Path(dir_okay=False, path_type=Path), help="Write all figures there.")
def main(learners: int, port: int, parts: tuple[str, ...], output: Path | None) -> None:
    """Run the parts that were asked for."""
    about = machine()
    print(f"{about['date']}, {about['cores']} cores of {about['processor'] or 'an unknown processor'}", flush=True)
    record: dict[str, Any] = {"machine": about}
    scratch = Path(tempfile.mkdtemp(prefix="gpubook-service-"))
    service = Service(scratch / "course", port)
    try:
        _, tokens = made(service.folder, learners)
        for part in parts or PARTS:
            record[part] = measure(service, tokens, part)
            if output is not None:
                output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    finally:
        service.stop()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    os.environ.pop("NBGRADER_EXECUTION", None)
    main()
