"""What a training step is of, beside its strategy: the fields of a task that models of time, memory and traffic read.

`hwlib.planner.Task` is such a record. `step_time`, `footprint` and `transfers` take one in place of its fields.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from hwlib.constraints import Setting
from hwlib.specs import Framework, Level, Model, Stack

if TYPE_CHECKING:
    from hwlib.footprint.trained import Trained


class TaskMachine(Protocol):
    """The machine of a task."""

    @property
    def levels(self) -> Sequence[Level]:
        """The levels that join its GPUs."""

    @property
    def host(self) -> float | None:
        """B/s of a GPU's link to its host, one direction; None where nobody says."""


class TaskSoftware(Protocol):
    """What the software of a task does that its strategy does not say."""

    @property
    def dtype(self) -> str:
        """The precision of the layers' matrix products."""

    @property
    def fused(self) -> bool:
        """Whether attention keeps no scores."""

    @property
    def expert_imbalance(self) -> float:
        """Tokens of the busiest experts over the mean."""

    @property
    def dedup_dispatch(self) -> bool | None:
        """Whether a token goes once to each rank and node that has one of its experts."""

    @property
    def mtp(self) -> bool | None:
        """Whether modules for multi-token prediction are trained."""

    @property
    def offload(self) -> Collection[str]:
        """What the host keeps."""

    @property
    def loss(self) -> str:
        """How the loss is computed: one of hwlib.footprint.LOSSES."""


class TrainingTask(Protocol):
    """A model, a batch of B tokens in sequences of T, a machine, and software with its constants."""

    @property
    def model(self) -> Model:
        """The model."""

    @property
    def machine(self) -> TaskMachine:
        """The GPUs, and what joins them."""

    @property
    def B(self) -> int:
        """Tokens of a step."""

    @property
    def T(self) -> int:
        """Tokens of a sequence."""

    @property
    def software(self) -> TaskSoftware:
        """The software's settings."""

    @property
    def stack(self) -> Stack:
        """Its constants of time."""

    @property
    def framework(self) -> Framework | None:
        """Its memory; None where only what formulas count is taken."""

    @property
    def states(self) -> tuple[float, float, float]:
        """Bytes of a parameter as weight, as gradient and in the optimizer."""

    @property
    def setting(self) -> Setting:
        """What a strategy must suit."""

    @property
    def trained(self) -> "Trained | None":
        """What is trained and in which precision; None where that is all of the model, as the software does it."""


def is_task(subject: Any) -> TypeGuard[TrainingTask]:
    """Whether this is a task, not a model or the key of one."""
    return hasattr(subject, "software") and hasattr(subject, "machine")
