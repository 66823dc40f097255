"""What one submission may use."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Self

# What a rank has however many there are: enough to run a chapter's cells again
LEAST_SHARE = 128 << 20  # bytes that it may hold
LEAST_SCRATCH = 16 << 20  # and of its private folder, which is memory too
LEAST_SENT, LEAST_VALUES = 16 << 20, 1 << 20  # and of what it sends: one message of the largest size


@dataclass(frozen=True)
class Limits:
    """Times in seconds, sizes in bytes; every limit holds for the whole submission unless it says
    otherwise."""

    cell: float = 30.0  # wall time of one cell, and of all calls of one answer's function
    total: float = 600.0  # wall time of a submission, replays included
    memory: int = 4 << 30  # beyond what the preloaded libraries take: address space of one process, bytes held by all
    ranks: int = 1  # how many such sets of processes share the bytes held
    processes: int = 256  # and threads: each of 16 ranks has four, and three more for each group that it makes
    open_files: int = 256
    file_size: int = 64 << 20
    scratch: int = 256 << 20  # the private folder
    output: int = 200_000  # what one cell may print or show
    shown: int = 2_000_000  # what all its cells may print or show
    # What one process may send the grader: its outputs, answers and results, of which honest notebooks have a few
    # megabytes. Time goes by values: the grader reads a million in a third of a second.
    sent: int = 64 << 20
    sent_values: int = 2 << 20
    sent_by_all: int = 4  # times that, of all processes of a submission, one after the other
    grace: float = 0.9  # from asking a cell to stop to killing its process

    @property
    def share(self) -> int:
        """Bytes that the processes of one rank may hold together; without ranks, those of the submission."""
        return max(self.memory // self.ranks, min(LEAST_SHARE, self.memory))

    def among(self, ranks: int) -> Self:
        """The limits of one of so many ranks."""
        scratch = max(self.scratch // ranks, min(LEAST_SCRATCH, self.scratch))
        sent, values = max(self.sent // ranks, LEAST_SENT), max(self.sent_values // ranks, LEAST_VALUES)
        return replace(self, ranks=ranks, scratch=scratch, sent=sent, sent_values=values)

    def as_plain(self) -> dict[str, Any]:
        """For a message to the zygote."""
        return asdict(self)
