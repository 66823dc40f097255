"""Runs algorithms (see `hwlib.algorithms`): in lockstep, by events over a topology, and on real ranks."""

from hwlib.simulate.buffer_trace import Watched, watch
from hwlib.simulate.event_run import EventRun
from hwlib.simulate.events import play, simulate_events
from hwlib.simulate.fabric import UnreachableError
from hwlib.simulate.group_run import RankRun, run_on_group
from hwlib.simulate.lockstep_run import Run, lockstep
from hwlib.simulate.mailbox import Message, SimulationError, run_parties
from hwlib.simulate.message_flights import Flight, LinkFlights, flights, link_flights
from hwlib.simulate.size_only_array import Phantom
from hwlib.simulate.trace import chrome_trace

__all__ = [
    "EventRun", "Flight", "LinkFlights", "Message", "Phantom", "RankRun", "Run", "SimulationError", "UnreachableError",
    "Watched", "chrome_trace", "flights", "link_flights", "lockstep", "play", "run_on_group", "run_parties",
    "simulate_events", "watch",
]  # fmt: skip
