"""A learner's torch.distributed function as one rank, in the learner's process: in the grader's sandbox, or started by
`check`.

Like `generators.Rank` it is called with ("start", rank, n, x, options) or ("send", rank, reply), and replies with
("asks", request, None), ("done", result, changed) or ("failed", kind, what). Between two calls the function waits, in
a thread of its own, inside the call of torch.distributed that it has made.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any

from ..declaration.calling import failure
from ..declaration.withholding import Withheld, without
from ..values import encoding
from .generators import RankFailed
from .process_group import as_array, plainly, run_rank

TALK = "torch.distributed"


class ProcessRank:
    """Plays one rank of `function(rank, n, x)`, whose messages go through the caller."""

    def __init__(self, function: Any, withholds: Sequence[str] = ()):
        self.function, self.withholds = function, withholds
        self.asked: SimpleQueue[tuple] = SimpleQueue()  # to the caller
        self.replies: SimpleQueue[Any] = SimpleQueue()  # from it

    def __call__(self, what: str, rank: int, *rest: Any) -> tuple:
        """The reply to a request."""
        if what == "start":
            n, x, options = rest
            self.asked, self.replies = SimpleQueue(), SimpleQueue()
            threading.Thread(target=self._play, args=(rank, n, x, options), daemon=True).start()
        else:
            self.replies.put(rest[0])
        return self.asked.get()

    def _play(self, rank: int, n: int, x: Any, options: dict[str, Any]) -> None:
        """In the thread: run the function to its end."""
        asked, replies = self.asked, self.replies

        def talk(request: dict[str, Any]) -> Any:
            asked.put(("asks", encoding.decode(encoding.encode(request)), None))
            return replies.get()

        changed = False

        def played(rank: int, n: int, tensor: Any) -> Any:
            nonlocal changed
            try:
                return plainly(self.function(rank, n, tensor, **options))
            finally:
                changed = as_array(tensor).tobytes() != x.tobytes()

        try:
            if not callable(self.function):
                raise RankFailed("result", encoding.type_name(self.function))
            with without(self.withholds, self.function):
                result = run_rank(played, rank, n, x, talk)
            asked.put(("done", encoding.decode(encoding.encode(result)), changed))
        except Withheld as used:
            asked.put(("failed", "withheld", used.name))
        except RankFailed as failed:
            asked.put(("failed", failed.kind, failed.what))
        except encoding.NotEncodable as error:
            asked.put(("failed", "result", str(error)))
        except BaseException as error:
            asked.put(("failed", "raises", failure(error, self.function)))
