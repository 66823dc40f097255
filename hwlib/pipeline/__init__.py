"""Pipelines: schedules as data, simulated on a clock, and their bubbles and memory in closed form.

>>> run = play(one_f_one_b(stages=4, microbatches=8), t_F=1, t_B=2)
>>> run.time, round(run.bubble_fraction, 4), run.in_flight
(33.0, 0.2727, (4.0, 3.0, 2.0, 1.0))
>>> round(pipeline_bubble_fraction(pp=4, m=8), 4)
0.2727

A schedule says only which rank computes what in which order; `play` adds times.
"""

from hwlib.pipeline.bubbles import (
    blocking_pipeline_time,
    bubble_overhead,
    dualpipe_bubble_time,
    dualpipe_in_flight,
    dualpipe_played_bubble_time,
    dualpipev_in_flight,
    dualpipev_played_bubble_time,
    gpipe_in_flight,
    interleaved_bubble_fraction,
    interleaved_in_flight,
    one_f_one_b_bubble_time,
    one_f_one_b_in_flight,
    pipeline_bubble_fraction,
    time_bubble_fraction,
    zb_h1_bubble_time,
    zb_h1_played_bubble_time,
    zbv_bubble_fraction,
    zbv_in_flight,
)
from hwlib.pipeline.orders import (
    SCHEDULES,
    dualpipe,
    dualpipev,
    gpipe,
    interleaved,
    one_f_one_b,
    zb_h1,
    zbv,
)
from hwlib.pipeline.play import Deadlock, Played, Span, play
from hwlib.pipeline.schedule import Op, Schedule

__all__ = [
    "SCHEDULES",
    "Deadlock",
    "Op",
    "Played",
    "Schedule",
    "Span",
    "blocking_pipeline_time",
    "bubble_overhead",
    "dualpipe",
    "dualpipe_bubble_time",
    "dualpipe_in_flight",
    "dualpipe_played_bubble_time",
    "dualpipev",
    "dualpipev_in_flight",
    "dualpipev_played_bubble_time",
    "gpipe",
    "gpipe_in_flight",
    "interleaved",
    "interleaved_bubble_fraction",
    "interleaved_in_flight",
    "one_f_one_b",
    "one_f_one_b_bubble_time",
    "one_f_one_b_in_flight",
    "pipeline_bubble_fraction",
    "play",
    "time_bubble_fraction",
    "zb_h1",
    "zb_h1_bubble_time",
    "zb_h1_played_bubble_time",
    "zbv",
    "zbv_bubble_fraction",
    "zbv_in_flight",
]
