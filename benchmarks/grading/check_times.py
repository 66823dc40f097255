"""How long `check` takes in a notebook: in a kernel of Jupyter's, from sending a cell to its last output, for the
benchmark's questions and those of the book; the first call is apart, since it loads what the others use."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.answers import JudgedBy
from autograder.declaration import Bank, load_bank
from autograder.declaration.bank import declared_below
from autograder.values.book_root import book_root
from benchmarks.grading.classroom import BANK, NO_LAB

START = "import math, os\nimport sympy\nfrom autograder import check, symbols\nos.environ['GPUBOOK_SOLUTIONS'] = {!r}"
TARGETS = {"Quantity": 0.020, "Count": 0.020, "Choice": 0.020, "Expression": 0.050}  # seconds


def measure(folder: Path, repeats: int) -> dict[str, dict[str, list[float]]]:
    """Seconds of the first call and of the later ones, by the kind of the exercise."""
    from jupyter_client.manager import start_new_kernel

    (folder / "bench").mkdir()
    (folder / "bench" / "exercises.py").write_text(BANK.read_text())
    found: dict[str, dict[str, list[float]]] = {}
    for solutions, name, cells in ((folder, "bench", list(_bench())), *_book()):
        work = folder / f"{name}-copy"
        work.mkdir()
        manager, client = start_new_kernel(kernel_name="python3", cwd=str(work))
        try:
            _seconds(client, START.format(str(solutions)))
            _seconds(client, f"answer = ...\ncheck({cells[0][1]!r}, answer)", "verdict")
            seen = set()
            for kind, exercise, source in cells:
                _seconds(client, source)
                call = f"check({exercise!r}, {source.split('(')[0][4:] if source.startswith('def ') else 'answer'})"
                times = found.setdefault(kind, {"first": [], "later": []})
                for _ in range(1 + repeats):
                    taken = _seconds(client, call, "verdict")
                    times["later" if exercise in seen else "first"].append(taken)
                    seen.add(exercise)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    return found


def _bench() -> Iterator[tuple[str, str, str]]:
    bank = load_bank(BANK)
    for q in NO_LAB[:5]:  # torch in the learner's function takes what it takes
        for source in (*q.right, *q.wrong):
            yield bank[q.name].kind, q.name, source


def _book() -> Iterator[tuple[Path, str, list[tuple[str, str, str]]]]:
    for path in declared_below(book_root() / "solutions"):
        if cells := list(_chapter(load_bank(path))):
            yield path.parent.parent, path.parent.name, cells


def _chapter(bank: Bank) -> Iterator[tuple[str, str, str]]:
    """The right answer and the mistakes of each number, choice and expression of a chapter."""
    for exercise in bank.values():
        if exercise.predict or exercise.answer.judged_by is not JudgedBy.VALUE:
            continue
        for value in (exercise.solution, *(m.value for m in exercise.mistakes)):
            mine = exercise.answer.as_learner(exercise, value, exercise.variant())
            source = repr(mine if isinstance(mine, (int, float, str)) else str(mine))
            yield exercise.kind, exercise.id, f"answer = {source}"


def _seconds(client: Any, source: str, wanted: str = "") -> float:
    """From sending a cell to its end, its outputs included; it must not fail, and show a verdict where one is
    `wanted`."""
    shown: list[str] = []

    def output(message: Any) -> None:
        content = message["content"]
        if message["msg_type"] == "error":
            raise RuntimeError(f"{source!r}: {content['ename']}: {content['evalue']}")
        if message["msg_type"] in ("execute_result", "display_data"):
            shown.append(content["data"].get("text/plain", ""))

    start = time.perf_counter()
    client.execute_interactive(source, output_hook=output, timeout=60)
    taken = time.perf_counter() - start
    if wanted and not any(text[:1] in "✓✗…" for text in shown):
        raise RuntimeError(f"{source!r} showed {shown}; a {wanted} was expected")
    return taken
