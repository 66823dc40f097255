"""Logs of training runs and of serving benchmarks, as their programs print them: read, and explained.

`read_run_log` makes one record of a log of any program in `fields.csv`, the table of every field that is read: its name
in the program, its unit, what it means, and in which releases it is printed.

>>> log = read_run_log("iter 10: loss 3.2202, time 893.76ms, mfu 16.68%")
>>> log.program, log.steps[0].step, log.steps[0].seconds
('nanogpt', 10, 0.89376)
"""

from hwlib.run_logs.fields import LogField, log_fields
from hwlib.run_logs.reader import read_run_log
from hwlib.run_logs.records import LoggedStep, LogSetting, RunLog, RunLogError

__all__ = ["LogField", "LogSetting", "LoggedStep", "RunLog", "RunLogError", "log_fields", "read_run_log"]
