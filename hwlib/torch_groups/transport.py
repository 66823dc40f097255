"""The interface of a backend of torch.distributed: how the ranks of one group exchange tensors."""

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

ANY = -1  # the source of a message that may be from each rank


class Pending(Protocol):
    """A pending operation of a rank."""

    @property
    def done(self) -> bool:
        """Whether it has completed."""

    def wait(self) -> None:
        """Block until the result is in the tensors that were given for it. May be called again."""


class Transport:
    """One group as this rank sees it: its `rank` in the group, the `ranks` of the whole job that the group has, and the
    `name` that torch gives it. Raises NotImplementedError for operations that it does not support."""

    backend: ClassVar[str]

    def __init__(self, rank: int, ranks: Sequence[int]):
        self.rank, self.ranks, self.name = rank, tuple(ranks), ""

    @property
    def size(self) -> int:
        """Ranks of the group."""
        return len(self.ranks)

    def enter(self, ranks: Sequence[int], name: str) -> None:
        """Called at each `new_group` of this group, before the new one of `ranks` exists, also where this rank is not
        one of them. The name is a number, or a hash of the ranks where only they make the call. By default nothing is
        done.
        """

    def collective(self, call: str, outputs: Any, inputs: Any, op: str, root: int) -> Pending:
        """Begin this rank's part of a collective; `op` names a reduction as torch does, `root` is a rank of the group.

        Parts are one tensor of as many equal blocks as there are ranks, or a list with a tensor for each rank.

        | call | inputs | outputs |
        |---|---|---|
        | all_reduce, broadcast | list of tensors | the same list |
        | reduce | list of tensors | the same list; None at all but the root |
        | all_gather | a tensor | parts |
        | gather | a tensor | list of parts; None at all but the root |
        | scatter | list of parts; None at all but the root | a tensor |
        | reduce_scatter | parts | a tensor |
        | all_to_all | parts | parts |
        | barrier | None | None |
        """
        raise NotImplementedError(f"{self.backend} does not carry {call}")

    def send(self, tensor: Any, to: int, tag: int) -> Pending:
        """Begin a message to a rank of the group."""
        raise NotImplementedError(f"{self.backend} does not carry messages")

    def receive(self, tensor: Any, source: int, tag: int) -> Pending:
        """Begin to wait for a message of a rank of the group, or of ANY."""
        raise NotImplementedError(f"{self.backend} does not carry messages")
