"""Traces of real jobs: what torch.profiler exports is read, added up and compared between ranks.

`read_trace` reads one rank's file, `trace_times` says where its time went, `meetings` and `waits_between` who waited
for whom. `draw_traces` plays a step of a healthy or a sick job and writes it in the same format;
`draw_flight` and `find_hang` do so with the flight recorder's dumps of a job that hangs.
"""

from hwlib.traces.cases import case_traces
from hwlib.traces.flight import HANGS, FlightEntry, Hang, draw_flight, find_hang, flight_entries
from hwlib.traces.generate import CAUSES, draw_traces
from hwlib.traces.intervals import length, minus, overlap, union
from hwlib.traces.reader import Trace, TraceError, TraceEvent, read_trace
from hwlib.traces.waits import (
    Meeting,
    TraceTimes,
    align,
    exposed_intervals,
    job_span,
    meetings,
    trace_times,
    waits_between,
)

__all__ = [
    "CAUSES",
    "HANGS",
    "FlightEntry",
    "Hang",
    "Meeting",
    "Trace",
    "TraceError",
    "TraceEvent",
    "TraceTimes",
    "align",
    "case_traces",
    "draw_flight",
    "draw_traces",
    "exposed_intervals",
    "find_hang",
    "flight_entries",
    "job_span",
    "length",
    "meetings",
    "minus",
    "overlap",
    "read_trace",
    "trace_times",
    "union",
    "waits_between",
]
