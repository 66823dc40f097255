"""Runs algorithms (see `hwlib.algorithms`): in lockstep, by events over a topology, and on real ranks."""

from hwlib.simulate.buffer_trace import BufferTrace, watch
from hwlib.simulate.event_run import EventRun
from hwlib.simulate.events import play, simulate_events
from hwlib.simulate.fabric import UnreachableError
from hwlib.simulate.group_run import RankRun, run_on_group
from hwlib.simulate.lockstep_run import LockstepRun, lockstep
from hwlib.simulate.mailbox import Message, SimulationError, run_programs
from hwlib.simulate.message_flights import Flight, LinkFlights, flights, link_flights
from hwlib.simulate.size_only_array import Phantom
from hwlib.simulate.trace import chrome_trace

__all__ = [
    "BufferTrace",
    "EventRun",
    "Flight",
    "LinkFlights",
    "LockstepRun",
    "Message",
    "Phantom",
    "RankRun",
    "SimulationError",
    "UnreachableError",
    "chrome_trace",
    "flights",
    "link_flights",
    "lockstep",
    "play",
    "run_on_group",
    "run_programs",
    "simulate_events",
    "watch",
]
