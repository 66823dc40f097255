"""A script of torch.distributed as it is, on a simulated cluster: one process plays one of its ranks.

A step ends when an optimizer has worked, with the last thing that it does; the first steps are not like the others.
"""

import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from hwlib.units import show
from hwlib.virtual.playing import Playing
from hwlib.virtual.record import StepTiming
from hwlib.virtual.world import World, cluster


@dataclass(frozen=True, repr=False)
class ScriptRun:
    """The steps of a script; `step` is the last one, of which `step_time` is."""

    script: str
    steps: tuple[StepTiming, ...]

    @property
    def step(self) -> StepTiming:
        return self.steps[-1]

    @property
    def step_time(self) -> float:
        """Seconds of the last step."""
        return self.step.step_time

    def __repr__(self) -> str:
        times = ", ".join(show(step.step_time, "s") for step in self.steps)
        return f"{self.script}: {len(self.steps)} steps: {times}; the last one:\n{self.step!r}"


class _Steps:
    """The steps of a world in which a script runs."""

    def __init__(self, world: World, told: Callable[[int, StepTiming], None] | None):
        self.world, self.told, self.done = world, told, []  # type: ignore[var-annotated]
        self.updated = False

    def updating(self, now: bool) -> None:
        """An optimizer begins, or has worked."""
        self.updated = not now

    def another(self) -> None:
        """Something is put on the clock: after an update, it is of the next step."""
        if self.updated:
            self.end()

    def last(self) -> None:
        """The script has ended: what came after its last update, such as a line of its log, is not a step."""
        if self.updated or not self.done:
            self.end()

    def end(self) -> None:
        """A step has ended."""
        self.updated = False
        step = self.world.taken()
        if step.spans:
            self.done.append(step)
            if self.told:
                self.told(len(self.done), step)
        Playing.clock = self.world.restarted()


def run(
    script: str | PathLike[str],
    args: Sequence[str] = (),
    *,
    where: Any,
    n: int | None = None,
    told: Callable[[int, StepTiming], None] | None = None,
    **more: Any,
) -> ScriptRun:
    """Run a script, with the arguments that follow its name, as one rank of a cluster; `more` is as for `cluster`.

    `told(number, step)` is called after each step. Raises FileNotFoundError if there is no such script, and ValueError
    if nothing that it does takes time; what the script raises is not caught.
    """
    path = Path(script)
    if not path.is_file():
        raise FileNotFoundError(f"run: there is no script {fspath(script)!r}")
    with cluster(where, n, **more) as world, _as_program(path, args):
        steps = world.steps = _Steps(world, told)
        with world.counting(numbers=True):
            try:
                runpy.run_path(str(path), run_name="__main__")
            except SystemExit as ended:
                if ended.code not in (None, 0):
                    raise
            steps.last()
        world.steps = None
    if not steps.done:
        raise ValueError(f"run: {path.name} did nothing that takes a GPU's time; does it train on device 'cuda'?")
    return ScriptRun(path.name, tuple(steps.done))


@contextmanager
def _as_program(path: Path, args: Sequence[str]) -> Iterator[None]:
    argv, places = sys.argv, list(sys.path)
    sys.argv = [str(path), *args]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, places
