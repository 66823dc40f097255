"""A learner's torch.distributed function as one rank, in the learner's process: in the grader's sandbox, or started by
`check`. The declaration's own functions are ranks like it, in threads of the judge (see `thread_ranks`).

Like `generators.Rank` it is called with ("start", rank, n, x, options[, measures]) or ("send", rank, reply), and it
replies with ("asks", request, None), ("done", result, told) or ("failed", kind, what). What is told is whether the
function has changed its arrays; where `measures` asks for its memory too, a dict of `changed`, `peak` and `line`.
Between two calls the function waits, in a thread of its own, inside the call of torch.distributed that it has made.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

from ..declaration.calling import failure
from ..declaration.withholding import Withheld, without
from ..values import encoding
from .arguments import arrays, each, numbers, positional
from .generators import RankFailed
from .memory_meter import Metered, paused
from .process_group import as_array, plainly, run_rank

TALK = "torch.distributed"


class RanksEnded(BaseException):
    """The run of all ranks is over, and this one has not ended: it is in a thread, and must."""


class ProcessRank:
    """Plays one rank of `function(rank, n, x)`, whose messages go through the caller."""

    alone = True  # whether the process is this rank's only

    def __init__(self, function: Any, withholds: Sequence[str] = ()):
        self.function, self.withholds = function, withholds
        self.asked: SimpleQueue[tuple] = SimpleQueue()  # to the caller
        self.replies: SimpleQueue[Any] = SimpleQueue()  # from it
        self.thread: threading.Thread | None = None

    def __call__(self, what: str, rank: int, *rest: Any) -> tuple:
        """The reply to a request."""
        if what == "start":
            self.asked, self.replies = SimpleQueue(), SimpleQueue()
            self.thread = threading.Thread(target=self._play, args=(rank, *rest), daemon=True)
            self.thread.start()
        else:
            self.replies.put(rest[0])
        return self.reply()

    def reply(self) -> tuple:
        """What the rank says next, however long it takes: the caller has a limit."""
        return self.asked.get()

    def _play(self, rank: int, n: int, x: Any, options: dict[str, Any], measures: bool = False) -> None:
        """In the thread: run the function to its end."""
        messages, replies = self.asked, self.replies

        def talk(request: dict[str, Any]) -> Any:
            messages.put(("asks", encoding.plain(request), None))
            reply = replies.get()
            if reply is RanksEnded:
                raise RanksEnded
            return reply

        changed, peak = False, Metered()

        def played(rank: int, n: int, given: Any) -> Any:
            nonlocal changed, peak
            try:
                with self._measured(given, measures) as peak:
                    result = self.function(rank, n, *positional(given), **options)
                return plainly(result)
            finally:
                changed = _changed(given, x)

        try:
            if not callable(self.function):
                raise RankFailed("result", encoding.type_name(self.function))
            with without(self.withholds, self.function):
                result = run_rank(played, rank, n, x, talk)
            measurements = {"changed": changed, "peak": peak.bytes, "line": peak.line} if measures else changed
            messages.put(("done", encoding.plain(result), measurements))
        except RanksEnded:
            pass
        except Withheld as used:
            messages.put(("failed", "withheld", used.name))
        except RankFailed as failed:
            messages.put(("failed", failed.kind, failed.what))
        except encoding.NotEncodable as error:
            messages.put(("failed", "result", str(error)))
        except BaseException as error:
            messages.put(("failed", "raises", failure(error, self.function)))

    @contextmanager
    def _measured(self, given: Any, measures: bool) -> Iterator[Metered]:
        """Measure the memory of the block, if it is asked for."""
        if not measures:
            yield Metered()
            return
        from ._torch import metered, numbers_stay_in_tensors

        with metered(self.function, list(arrays(given))) as measured:
            if not self.alone:
                yield measured
                return
            gc.freeze()  # for the meter, which collects garbage
            with numbers_stay_in_tensors(paused):
                yield measured


def _changed(given: Any, x: Any) -> bool:
    """Whether the tensors no longer hold what they were given."""
    try:
        return numbers(each(given, as_array)) != numbers(x)
    except RuntimeError:  # a storage was freed
        return True
