"""What Calculon predicts for the same rows: typed, for it is in no registry to be installed from.

Row by row for Korthikanti's tables: the output of its own validation, `calculon llm-validation`, version 0.1.0, as
it is kept with its tests (https://github.com/calculon-ai/calculon, docs/references.bib: calculon). For other tables
only the mean error is kept, of its revision caa4b11 with its system file a100_80g.json and each table's own network,
as `python -m benchmarks.planner.calculon_run --calculon DIR --data FILE` prints it.
"""

import math

from benchmarks.rows.training_memory import MemoryUse
from benchmarks.rows.training_step import TrainingStep
from hwlib.units import GiB

SIZES = {48: "22b", 96: "175b", 105: "530b", 128: "1t"}
SECONDS = {  # Table 5, full recomputation and selective with sequence parallelism
    ("22b", "full"): 1.40,
    ("22b", "selective"): 1.14,
    ("175b", "full"): 18.03,
    ("175b", "selective"): 13.64,
    ("530b", "full"): 49.89,
    ("530b", "selective"): 34.47,
    ("1t", "full"): 90.08,
    ("1t", "selective"): 66.04,
}
GIBS = {  # Figure 1: states; activations without and with sequence parallelism and selective recomputation
    "22b": (40.62, 59.44, 10.40),
    "175b": (40.93, 66.94, 12.69),
    "530b": (29.30, 114.18, 23.56),
    "1t": (31.13, 131.45, 27.17),
}
SHARES = {  # Figure 7, %: none, sp, selective, sp+selective, full
    "22b": (100.0, 66.92, 43.17, 17.49, 9.96),
    "175b": (100.0, 62.03, 48.32, 18.96, 9.63),
    "530b": (100.0, 58.41, 52.79, 20.64, 10.37),
    "1t": (100.0, 58.41, 52.82, 20.67, 10.44),
}
MODES = ("none", "sp", "selective", "sp+selective", "full")
MEANS = {"meg21": 0.103, "vtrain-multi": 0.208, "vtrain-single": 0.377, "bloom": 0.238}  # over a table's rows


def calculon(case: object) -> float:
    """Calculon's figure for a case, in the case's unit; NaN where it has none."""
    if isinstance(case, TrainingStep) and case.group == "kor-t5":
        return SECONDS.get((SIZES.get(case.model.layers, ""), case.plan["recompute"]), math.nan)
    if isinstance(case, MemoryUse) and case.relative:
        return SHARES[case.size][MODES.index(case.mode)] / 100
    if isinstance(case, MemoryUse):
        states, none, selective = GIBS[case.size]
        if case.part == "states":
            return states * GiB
        return {"none": none, "sp+selective": selective}.get(case.mode, math.nan) * GiB
    return math.nan
