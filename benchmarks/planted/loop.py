"""A loop that really trains a small decoder on this machine, with one cause planted in it, and times its parts."""

import gc
import io
import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VOCAB, WIDTH, LENGTH = 256, 96, 48


@dataclass(frozen=True)
class PlantedCause:
    """What is done to a loop: a loader that waits so many seconds, what is written or evaluated every so many steps,
    and so on; by default nothing.
    """

    steps: int = 60
    batch: int = 8
    loader: float = 0.0
    late: tuple[int, ...] = ()
    save_every: int = 0
    evaluate_every: int = 0
    collect_every: int = 0
    launches: int = 0
    ramp: int = 0
    rate: float = 1e-3
    bad_batch: int = 0
    growing: bool = False
    disturbed: int = 0
    leak: bool = False
    first: float = 0.0
    repeats: int = 1


@dataclass
class TimedStep:
    """One step of a loop, with the seconds of its parts, and what was done after it."""

    step: int
    batch: int
    seconds: float
    loss: float
    memory: float
    clock: float
    parts: dict[str, float] = field(default_factory=dict)
    after: dict[str, float] = field(default_factory=dict)


def train(planted: PlantedCause) -> Iterator[TimedStep]:
    """The steps of a run. What is done after a step is not in its seconds."""
    import torch

    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Embedding(VOCAB, WIDTH),
        torch.nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True),
        torch.nn.Linear(WIDTH, VOCAB),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=planted.rate)
    memory: list[Any] = []
    hogs: list[Any] = []
    batch = planted.batch
    for step in range(1, planted.steps + 1):
        if planted.ramp and step % planted.ramp == 0:
            batch *= 2
        if step == planted.disturbed:
            hogs = [_hog() for _ in range(4)]
        yield _step(planted, model, optimizer, step, batch, memory)
    for hog in hogs:
        hog.terminate()


def _step(planted: PlantedCause, model: Any, optimizer: Any, step: int, batch: int, memory: list[Any]) -> TimedStep:
    import torch

    parts: dict[str, float] = {}
    start = time.perf_counter()
    with _part(parts, "data"):
        tokens = _data(planted, step, batch)
    with _part(parts, "forward"):
        loss = _forward(planted, model, tokens, step)
    with _part(parts, "backward"):
        loss.backward()
    with _part(parts, "optimizer"):
        optimizer.step()
        optimizer.zero_grad()
    _host(planted, step, memory)
    seconds = time.perf_counter() - start
    clock = time.time()
    after = _after(planted, model, step, tokens)
    if planted.leak:
        memory.append(torch.ones(500_000))
    return TimedStep(step, batch, seconds, float(loss.detach()), _resident(), clock, parts, after)


class _part:
    """Measures a block."""

    def __init__(self, parts: dict[str, float], name: str):
        self.parts, self.name = parts, name

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.parts[self.name] = time.perf_counter() - self.start


def _data(planted: PlantedCause, step: int, batch: int) -> Any:
    import torch

    time.sleep(planted.loader if not planted.late or step in planted.late else 0.0)
    length = LENGTH + (4 * step if planted.growing else 0)
    return torch.randint(0, VOCAB, (batch, length)) % 17


def _forward(planted: PlantedCause, model: Any, tokens: Any, step: int) -> Any:
    from torch.nn.functional import cross_entropy

    time.sleep(planted.first if step == 1 else 0.0)
    for _ in range(planted.repeats - 1):
        model(tokens)
    logits = model(tokens)
    wrong = (tokens * 13 + 101) % VOCAB if step == planted.bad_batch else tokens
    return cross_entropy(logits[:, :-1].flatten(0, 1), wrong[:, 1:].flatten())


def _host(planted: PlantedCause, step: int, memory: list[Any]) -> None:
    """Many small operations, which the host launches one by one; and objects that garbage collection walks over."""
    import torch

    small = torch.zeros(1)
    for _ in range(planted.launches):
        small = small + 1.0
    if planted.collect_every and step == 1:
        memory.append([[number] for number in range(600_000)])


def _after(planted: PlantedCause, model: Any, step: int, tokens: Any) -> dict[str, float]:
    import torch

    after: dict[str, float] = {}
    if planted.save_every and step % planted.save_every == 0:
        with _part(after, "save"):
            torch.save([model.state_dict(), torch.zeros(30_000_000)], io.BytesIO())
    if planted.evaluate_every and step % planted.evaluate_every == 0:
        with _part(after, "evaluate"), torch.no_grad():
            for _ in range(60):
                model(tokens)
    if planted.collect_every and step % planted.collect_every == 0:
        with _part(after, "collect"):
            gc.collect()
    return after


def _resident() -> float:
    """Bytes of memory that this process has."""
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * 4096.0


def _burn() -> None:
    while True:
        sum(range(10_000))


def _hog() -> Any:
    """Another job on this machine."""
    process = multiprocessing.get_context("spawn").Process(target=_burn, daemon=True)
    process.start()
    return process


def ranks(slow: int | None, steps: int, report: Callable[[int, list[float]], None]) -> None:
    """Three ranks that train together, of which `slow` does its forward pass four times; `report` gets the seconds of
    each rank's forward pass in each step.
    """
    from torch import multiprocessing as processes

    context = processes.get_context("spawn")
    barrier, queue = context.Barrier(3), context.Queue()
    workers = [context.Process(target=_rank, args=(rank, slow, steps, barrier, queue)) for rank in range(3)]
    for worker in workers:
        worker.start()
    times: dict[int, dict[int, float]] = {}
    for _ in range(3 * steps):
        rank, step, seconds = queue.get(timeout=120)
        times.setdefault(step, {})[rank] = seconds
    for worker in workers:
        worker.join()
    for step, of_step in sorted(times.items()):
        report(step, [of_step[rank] for rank in range(3)])


def _rank(rank: int, slow: int | None, steps: int, barrier: Any, queue: Any) -> None:
    """One rank: its steps end when those of all do."""
    for timed in train(PlantedCause(steps=steps, repeats=4 if rank == slow else 1)):
        queue.put((rank, timed.step, timed.parts["forward"]))
        barrier.wait(timeout=120)
