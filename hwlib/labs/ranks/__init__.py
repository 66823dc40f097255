"""Real ranks of torch.distributed from a notebook cell: N processes, a process group, a time limit, and the result.

`run` starts them, by way of `launch`, `collect` receives their results, and `results` holds them; `server`
is the program that they are forked from, and `process` what happens in one. `calls` logs what each sends, and `traffic`
counts it; `places` sees where each stands, and `failures` says who failed. `axes` makes the groups of a grid of ranks.
"""

from hwlib.labs.ranks.axes import Axis, grid_axes
from hwlib.labs.ranks.failures import RankError, RankTimeout
from hwlib.labs.ranks.results import Ranks
from hwlib.labs.ranks.run import run_ranks

__all__ = ["Axis", "RankError", "RankTimeout", "Ranks", "grid_axes", "run_ranks"]
