"""The known architecture that a file is nearest to, by its fields: what a refusal leads on to."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hwlib.specs.config_fields import Config
from hwlib.specs.config_parts import STORED
from hwlib.specs.table import SpecError

MISSING = 2  # fields that are not read, which a needed field that is missing weighs as much as
BROKEN = 3  # and a field that has another value than the architecture knows
FEW = 6  # fields that are listed


class Kin(NamedTuple):
    """An architecture, and how a file differs from it: fields that it does not read, fields that it needs and the file
    has not, what keeps it from reading the file to the end, and how many of its fields it reads.
    """

    kind: str
    unread: tuple[str, ...]
    missing: tuple[str, ...]
    problem: str
    read: int

    @property
    def distance(self) -> tuple[int, int]:
        """How far the file is from it: first by what differs, then by how few fields it reads."""
        return len(self.unread) + MISSING * len(self.missing) + BROKEN * bool(self.problem), -self.read

    def __str__(self) -> str:
        differs = []
        if self.unread:
            differs.append(f"does not read {_listed(self.unread)}: each would have to change no parameter and product")
        if self.missing:
            differs.append(f"needs {_listed(self.missing)}")
        if self.problem:
            differs.append(f"expects more ({self.problem})")
        if not differs:
            return f"{self.kind}, which reads every field: if the layers are the same, give that as its model_type"
        return f"{self.kind}, which " + ", and ".join(differs)


class Trial(Config):
    """The fields of a file as another architecture reads them: a count that is missing is noted, and 1; so is one that
    cannot be, and a value that the architecture does not know. Reading goes on, so that what it knows is seen.
    """

    def __init__(self, where: str, fields: Mapping[str, Any]):
        super().__init__(where, fields)
        self.missing: list[str] = []
        self.problems: list[str] = []

    def count(self, *names: str, default: int | None = None, low: int = 1) -> int:
        if default is None and self.get(*names)[1] is None:
            self.missing.append(names[0])
            return max(low, 1)
        try:
            return super().count(*names, default=default, low=low)
        except SpecError as error:
            self.problems.append(str(error))
            return max(low, 1)

    def only(self, name: str, *values: Any) -> None:
        try:
            super().only(name, *values)
        except SpecError as error:
            self.problems.append(str(error))

    def divided(self, name: str, by: int) -> int:
        return max(self.count(name) // by, 1)


def nearest_kin(config: Config, known: Mapping[str, Callable[[Config], Any]]) -> Kin:
    """The architecture that a file differs least from by its fields; of several the first."""
    return min((_kin(config, kind, read) for kind, read in known.items()), key=lambda kin: kin.distance)


def kin_words(config: Config, known: Mapping[str, Callable[[Config], Any]]) -> str:
    """What the file of an unknown type is nearest to, and what its fields would have to mean."""
    return f"by its fields it is nearest to {nearest_kin(config, known)}"


def _kin(config: Config, kind: str, read: Callable[[Config], Any]) -> Kin:
    trial = Trial(config.where, {**config.fields, "model_type": kind})
    trial.seen |= config.seen | {name for name in config.fields if name.endswith(".json") or name in STORED}
    try:
        read(trial)
    except (SpecError, TypeError, ArithmeticError, LookupError) as error:
        trial.problems.append(str(error))
    problem = trial.problems[0].removeprefix(f"{config.where}: ") if trial.problems else ""
    named = sum(value is not None for name, value in config.fields.items() if name in trial.seen)
    return Kin(kind, tuple(trial.unread()), tuple(trial.missing), problem, named)


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more
