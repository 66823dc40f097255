"""What one submission may use."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Limits:
    """Times in seconds, sizes in bytes; every limit holds for the whole submission unless it says
    otherwise."""

    cell: float = 30.0  # wall time of one cell, and of all calls of one answer's function
    total: float = 600.0  # wall time of a submission, replays included
    memory: int = 4 << 30  # address space beyond what the preloaded libraries map
    processes: int = 256  # and threads: each of 16 ranks has four, and three more for each group that it makes
    open_files: int = 256
    file_size: int = 64 << 20
    scratch: int = 256 << 20  # the private folder
    output: int = 200_000  # what one cell may print or show
    shown: int = 2_000_000  # what all its cells may print or show
    grace: float = 0.9  # from asking a cell to stop to killing its process

    def as_plain(self) -> dict[str, Any]:
        """For a message to the zygote."""
        return asdict(self)
