"""Real ranks of torch.distributed from a notebook cell: N processes, a process group, a time limit, and the result.

`run` starts them and collects; `server` is the program that they are forked from; `process` is what happens in one;
`calls` counts what they send; `failures` says who failed, and where each of them stands.
"""

from hwlib.labs.ranks.failures import RankError, RankTimeout
from hwlib.labs.ranks.run import Ranks, run_ranks

__all__ = ["RankError", "RankTimeout", "Ranks", "run_ranks"]
