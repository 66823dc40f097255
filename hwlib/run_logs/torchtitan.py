"""Logs of torchtitan."""

import re
from collections.abc import Sequence

from hwlib.run_logs.fields import fields_of
from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading
from hwlib.run_logs.records import LogSetting

PROGRAM = "torchtitan"
STEP = re.compile(r"(?:^|[ -])step: +(\d{1,12}) ")
PAIR = re.compile(r"([a-z_]{3,12}): +([-+.,\d a-zA-Z]{1,24}?)(?=GiB|%|\(|  |$)")
MESH = re.compile(r"\b([a-z_]{2,14})=(-?\d{1,9})")
OLD_MESH = re.compile(r"device mesh with \[([^\]]{1,200})\], \[([\d, ]{1,100})\]")
BUILT = re.compile(r"\b(?:Building|Model) (\w{2,20}) ([\w.-]{1,30})(?: with|$| size: ([\d,]{1,30}) total)")
STARTED = re.compile(
    r"(local batch size|global batch size|gradient accumulation steps|sequence length|maximum context length|"
    r"total steps) (\d{1,15})"
)
COUNTED = re.compile(r"(\d{1,15}) (tokens per DP rank|tokens per train step)")
PEAK = re.compile(r"(Peak FLOPS used for computing MFU): (\S{1,20})")
CHIP = re.compile(r"capacity: (.{1,60}?) with (\d{1,6}(?:\.\d{1,4})?)GiB memory")
RECOMPUTE = re.compile(r"Applied (\w{2,20}) activation checkpointing")
SCHEDULE = re.compile(r"pipeline schedule (\w{1,30}) with (\d{1,6}) microbatches and (\d{1,6}) stages")
SHARDED = re.compile(r"Applied (HSDP|FSDP|DDP|DP)\b")
SAYS = {
    "Float8 training active": ("precision", "fp8"),
    "MXFP8Linear": ("precision", "fp8"),
    "NVFP4Linear": ("precision", "fp4"),
}


def read_torchtitan(lines: Sequence[LogLine]) -> LogReading:
    """The steps and the rest of a log of torchtitan. The rate is of one GPU; the time of a step follows from the batch
    and the degrees that are printed before.

    >>> from hwlib.run_logs.lines import log_lines
    >>> text = "step: 10  loss:  6.1384  memory: 49.66GiB(52.28%)  tps: 5,856  tflops: 339.16  mfu: 34.29%"
    >>> step = read_torchtitan([*log_lines(text)]).steps[0]
    >>> step.gpu_token_rate, step.mfu, round(step.memory/2**30, 2)
    (5856.0, 0.3429, 49.66)
    """
    log = LogReading(PROGRAM)
    for line in lines:
        text = line.text
        match = STEP.search(text) if "step:" in text and "validate" not in text else None
        if match and "loss:" in text:
            if not log.step(line, [("step", match[1]), *PAIR.findall(text[match.end() :])]):
                log.unread.append(line.number)
        elif not log.event(line):
            _other(log, line)
    return log


def _other(log: LogReading, line: LogLine) -> None:
    text = line.text
    if "device mesh with" in text:
        _mesh(log, line)
    elif "rainer" in text and ("batch size" in text or "tokens per" in text):
        pairs = [(name, number) for number, name in COUNTED.findall(text)]
        log.setting(line, [*STARTED.findall(text), *pairs])
    elif match := BUILT.search(text):
        log.words(line, "model", f"{match[1]} {match[2]}")
        if match[3]:
            log.setting(line, [("total parameters", match[3])])
    elif match := PEAK.search(text):
        log.setting(line, [(match[1], match[2])])
    elif match := CHIP.search(text):
        log.words(line, "chip", match[1])
        log.setting(line, [("capacity", match[2])])
    elif "pplied" in text or "pipeline" in text or "Linear" in text or "Float8" in text:
        _applied(log, line)


def _mesh(log: LogReading, line: LogLine) -> None:
    """The degrees of the device mesh, in the form of each release; those that it does not name are 1."""
    match = OLD_MESH.search(line.text)
    if match:
        names = [name.strip(" '\"") for name in match[1].split(",")]
        pairs = [*zip(names, [number.strip() for number in match[2].split(",")], strict=False)]
    else:
        pairs = MESH.findall(line.text)
    known = fields_of(PROGRAM, "setting")
    pairs = [(name.replace("dp_shard_mod_ep", "dp_shard"), number) for name, number in pairs]
    degrees = {name: number for name, number in pairs if name in known}
    if degrees:
        of_line = dict.fromkeys(("pp", "dp_replicate", "dp_shard", "cp", "tp"), "1") | degrees
        log.setting(line, of_line.items())


def _applied(log: LogReading, line: LogLine) -> None:
    """What was done to the model before training."""
    if match := RECOMPUTE.search(line.text):
        log.words(line, "recompute", match[1])
    if match := SCHEDULE.search(line.text):
        log.words(line, "schedule", match[1])
        log.settings.append(LogSetting("stages", float(match[3]), line.number))
    if match := SHARDED.search(line.text):
        log.words(line, "sharding", match[1])
    for words, (name, value) in SAYS.items():
        if words in line.text:
            log.words(line, name, value)
