"""What a log says, in one form for all programs: its settings, its steps and what happened between them, in SI units.

Every number has the line that it stands in, counted from 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


class RunLogError(ValueError):
    """A text that is no log of a known program."""


@dataclass(frozen=True)
class LogSetting:
    """What a log says of the whole run: a number, or words."""

    name: str
    value: float | str
    line: int


@dataclass(frozen=True)
class LoggedStep:
    """One line (or block of lines) that a program prints of its last step, or of the mean of all since the one before.

    `seconds` of a step; rates in tokens, samples and steps a second, of all GPUs or of one; `flops_rate` in FLOP/s of a
    GPU and `mfu` as the program counts them; `memory` in bytes, the most that its allocator had taken, and
    `allocated` that tensors took; `clock` the second at which it was printed, of some calendar; `others` what the table
    of fields has besides. None where the line does not say.
    """

    step: int
    line: int
    seconds: float | None = None
    loss: float | None = None
    grad_norm: float | None = None
    token_rate: float | None = None
    gpu_token_rate: float | None = None
    sample_rate: float | None = None
    mean_sample_rate: float | None = None
    step_rate: float | None = None
    flops_rate: float | None = None
    mfu: float | None = None
    memory: float | None = None
    allocated: float | None = None
    batch: float | None = None
    samples: float | None = None
    tokens: float | None = None
    loss_scale: float | None = None
    skipped: float | None = None
    nans: float | None = None
    retries: float | None = None
    clock: float | None = None
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class LogEvent:
    """What a program did beside a step, by kind: save, evaluate, collect (garbage), profile, load, overflow, flush,
    compile; `step` is the last one before it, and `seconds` what the program says it took.
    """

    kind: str
    line: int
    step: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class LogTimer:
    """Seconds of one part of a step by the program's own timer: of the quickest and the slowest rank, where it says
    both, and of all ranks where it lists them.
    """

    name: str
    step: int | None
    line: int
    least: float
    most: float
    ranks: tuple[float, ...] = ()


@dataclass(frozen=True)
class RunLog:
    """A log as a whole. `benchmark` has the numbers of a serving benchmark, in SI units; `others` the programs whose
    lines are in the text beside those of `program`; `unread` the numbers of lines that begin like a step and are cut.
    """

    program: str
    steps: tuple[LoggedStep, ...] = ()
    settings: tuple[LogSetting, ...] = ()
    events: tuple[LogEvent, ...] = ()
    timers: tuple[LogTimer, ...] = ()
    benchmark: Mapping[str, float] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    unread: tuple[int, ...] = ()
    copies: int = 1

    def setting(self, name: str) -> LogSetting | None:
        """The first setting of a name; None if the log does not say it."""
        return next((setting for setting in self.settings if setting.name == name), None)

    def number(self, name: str) -> float | None:
        """The number that a setting says; None if there is none."""
        setting = self.setting(name)
        return setting.value if setting and isinstance(setting.value, float) else None

    def words(self, name: str) -> str:
        """The words that a setting says; empty if there are none."""
        setting = self.setting(name)
        return setting.value if setting and isinstance(setting.value, str) else ""
