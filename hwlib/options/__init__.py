"""The options of the planners: what can be asked, how its text is read, and what is said of it, once for all doors.

`gpubook plan` and its help, the fields of the pages that plan, the arguments of the agents' tool and the tables of the
documentation are made from `TRAINING`, those of `gpubook serve` from `SERVING`, and those of `gpubook explain-run`,
which are of both, from `RUN_LOG`. A new option of a plan is a row there,
and its physics.

>>> bytes_per_gpu = named(TRAINING)["memory"]
>>> bytes_per_gpu.reader.read("72GB"), bytes_per_gpu.unit, bytes_per_gpu.default
(72000000000.0, 'B', "the chip's")
"""

from hwlib.options.option import Entry, Option, markdown, named, of_group
from hwlib.options.readers import Reader
from hwlib.options.run_log import RUN_LOG
from hwlib.options.serving import SERVING
from hwlib.options.training import ANSWER, DEGREES, RUN, SOFTWARE, TASK, TRAINING

__all__ = [
    "ANSWER",
    "DEGREES",
    "RUN",
    "RUN_LOG",
    "SERVING",
    "SOFTWARE",
    "TASK",
    "TRAINING",
    "Entry",
    "Option",
    "Reader",
    "markdown",
    "named",
    "of_group",
]
