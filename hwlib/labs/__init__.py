"""Labs: programs that use the machine they run on, one idea per module; calling one imports torch."""

from hwlib.labs.ranks import Axis, RankError, Ranks, RankTimeout, grid_axes, run_ranks
from hwlib.labs.row_exchange import exchange_rows

__all__ = [
    "Axis",
    "RankError",
    "RankTimeout",
    "Ranks",
    "exchange_rows",
    "grid_axes",
    "run_ranks",
]
