"""Hostile inputs for a reader: a sentence or an answer, never a traceback, in bounded time and memory.

`reads(reader, text)` calls a reader and lets pass a ValueError alone, with the seconds of the processor and the bytes
that were allocated. `damaged` draws what people's files look like after they were cut, pasted or mangled.
"""

import time
import tracemalloc

from hypothesis import strategies as st

SECONDS = 2.0  # of the processor, for one input
BYTES = 500e6
PIECES = ["", "#", "-" * 5000, "|" * 3000, "9" * 400, "0", "-1", "nan", "inf", "1e400", "\t", "\x00", "é", "\u2028"]
PIECES += ["[1,0]<stdout>:", "{", "}", "[" * 2000, '"', "null", "x" * 10_000, " " * 10_000, "1 " * 4000, "\r\n"]


def reads(reader, *text, memory=False):
    """What `reader` makes of an input: its answer, or the sentence of its ValueError."""
    if memory:
        tracemalloc.start()
    start = time.thread_time()
    try:
        answer = reader(*text)
    except ValueError as error:
        answer = str(error)
        assert answer.strip()
        assert len(answer) < 2000
    finally:
        seconds = time.thread_time() - start
        if memory:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < BYTES
    assert seconds < SECONDS
    return answer


@st.composite
def damaged(draw, sound):
    """One of the texts of `sound`, with lines and characters cut, doubled, swapped and replaced by `PIECES`."""
    text = draw(st.sampled_from(sound))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 200)))
        middle = draw(st.one_of(st.sampled_from(PIECES), st.text(max_size=20), st.just(text[start:end] * 2)))
        text = text[:start] + middle + text[end:]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text
