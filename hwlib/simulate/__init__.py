"""Runs algorithms (see `hwlib.algorithms`): in lockstep, by events over a topology, and on real ranks."""

from hwlib.simulate.distributed import RankRun, run_on_group
from hwlib.simulate.parties import Message, SimulationError, run_parties
from hwlib.simulate.rounds import Run, lockstep

__all__ = ["Message", "RankRun", "Run", "SimulationError", "lockstep", "run_on_group", "run_parties"]
