"""Runs algorithms (see `hwlib.algorithms`): in lockstep, by events over a topology, and on real ranks."""

from hwlib.simulate.distributed import RankRun, run_on_group
from hwlib.simulate.events import play, simulate_events
from hwlib.simulate.fabric import UnreachableError
from hwlib.simulate.monitor import Flight, LinkFlights, flights, link_flights
from hwlib.simulate.outcome import EventRun
from hwlib.simulate.parties import Message, SimulationError, run_parties
from hwlib.simulate.phantom import Phantom
from hwlib.simulate.rounds import Run, lockstep
from hwlib.simulate.trace import chrome_trace
from hwlib.simulate.watching import Watched, watch

__all__ = [
    "EventRun", "Flight", "LinkFlights", "Message", "Phantom", "RankRun", "Run", "SimulationError", "UnreachableError",
    "Watched", "chrome_trace", "flights", "link_flights", "lockstep", "play", "run_on_group", "run_parties",
    "simulate_events", "watch",
]  # fmt: skip
