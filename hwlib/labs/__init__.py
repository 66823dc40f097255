"""Labs: programs that use the machine they run on, one idea per module; calling one imports torch."""

from hwlib.labs.ranks import RankError, Ranks, RankTimeout, run_ranks

__all__ = ["RankError", "RankTimeout", "Ranks", "run_ranks"]
