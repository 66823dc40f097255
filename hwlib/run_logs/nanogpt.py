"""Logs of nanoGPT and of what prints as it does."""

import re
from collections.abc import Sequence

from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading

PROGRAM = "nanogpt"
STEP = re.compile(
    r"\biter (\d{1,12}): loss ([-+.\w]{1,24}), time (\d{1,12}(?:\.\d{1,9})?)ms(?:, mfu (-?\d{1,9}\.\d{1,9})%)?"
)
TOKENS = re.compile(r"(tokens per iteration will be|number of parameters): ([\d.,]{1,24})M?")
GIVEN = re.compile(r"^[> *-]{0,6}([a-z_]{5,30}) ?[=:] ?([\d* ]{1,24})(?: ?#.{0,200})?$")


def read_nanogpt(lines: Sequence[LogLine]) -> LogReading:
    """The steps and the rest of a log of nanoGPT. The utilisation of the first five steps is -100 %, none."""
    log = LogReading(PROGRAM)
    for line in lines:
        text = line.text
        if match := STEP.search(text):
            pairs = [("iter", match[1]), ("loss", match[2]), ("time", match[3])]
            if match[4] and not match[4].startswith("-"):
                pairs.append(("mfu", match[4]))
            log.step(line, pairs)
        elif "iter " in text and ": loss" in text:
            log.unread.append(line.number)
        elif amount := TOKENS.search(text):
            log.setting(line, [(amount[1], amount[2])])
        elif not log.event(line) and (match := GIVEN.match(text)):
            log.setting(line, [(match[1], _product(match[2]))])
    return log


def _product(text: str) -> str:
    """A number, or a product as the configuration writes it: 5 * 8."""
    total = 1.0
    for factor in text.split("*"):
        total *= float(factor) if factor.strip().isdecimal() else 0.0
    return repr(total) if total else ""
