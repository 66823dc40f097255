"""What `check` asks of a course's check service, where the release of an assignment names one: a verdict by the
teacher's key, on an exercise that nobody here has a key to.

A learner's token goes to the address for which it was kept, and a hub's to a service of that hub, and nowhere else: an
exercises.json may come from anybody. Where the service is away, slow or refuses, the answer is recorded as
without one, and a line says why.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..declaration.answer import JudgedBy
from ..declaration.verdict import Verdict
from ..values.atomic_write import write_whole
from ..values.own_file import json_of
from . import answer_cells
from .lookup import LocatedExercise, assignment
from .recording import GRADING

CONNECT, PATIENCE, CODE_PATIENCE = 3.0, 20.0, 150.0  # seconds
PAUSE = 60.0  # seconds for which a service that did not answer is not asked again
TRIES, LONGEST_WAIT = 4, 8.0  # of a request that is told to come back, and the seconds that it waits for it
MOST = 256 << 10  # bytes of a request, and of a reply
LOOPBACK = ("localhost", "127.0.0.1", "::1")
HUB = "GPUBOOK_HUB_URL"  # where its users' servers reach a hub, set by its configuration
OF_HUB = re.compile(r"(/[\w~-]+)*/services/[\w~-]+/")  # the path of a service: never of somebody's server
_away: dict[str, float] = {}  # by address, until when it is not asked


class Unavailable(RuntimeError):
    """No verdict now; the message says why, for the learner."""


@dataclass(frozen=True)
class AssignmentService:
    """The check service of the assignment at hand, and how many verdicts it gives on an exercise."""

    url: str
    assignment: str
    allowed: int


def of(exercise_id: str) -> AssignmentService | None:
    """The service that judges an exercise of the notebook's; None where there is none, and where work is graded."""
    if any(os.environ.get(name) for name in GRADING):
        return None
    about = assignment()
    service = about.get("service") if about else None
    counts = service.get("attempts") if isinstance(service, dict) else None
    allowed = counts.get(exercise_id) if isinstance(counts, dict) else None
    url = service.get("url") if isinstance(service, dict) else None
    if about is None or type(allowed) is not int or type(url) is not str:
        return None
    return AssignmentService(url, about["name"], allowed)


def judged(service: AssignmentService, found: LocatedExercise, answer: Any, message: Any) -> Verdict:
    """The service's verdict on an answer, with how many are left; or that it is recorded, and why there is none."""
    recorded = found.kind.recorded(message)
    if recorded.kind != "recorded":  # it is not an answer: nobody needs to be asked
        return recorded
    try:
        return _verdict(_ask(service, found, answer, message), recorded)
    except Unavailable as error:
        return recorded.with_more(f"({error}.)")


def address_in(folder: Path) -> str:
    """The address of the service that the exercises.json in `folder` names; ValueError where it names none, and
    Unavailable where no token may go there."""
    about = assignment(folder)
    service = about.get("service") if about else None
    url = service.get("url") if isinstance(service, dict) else None
    if type(url) is not str:
        raise ValueError(f"{folder / 'exercises.json'}: an assignment that names a check service was expected there")
    _checked(url)
    return url


def keep_token(folder: Path, token: str) -> str:
    """Keep a token for the service that the exercises.json in `folder` names, and return its address."""
    url = address_in(folder)
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("that is not a token: letters and digits were expected, as your teacher gave it to you")
    path = _tokens_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    tokens = {address: other for address, other in _tokens().items() if address != _origin(url)}
    write_whole(path, json.dumps({**tokens, _key(url): token}, indent=1))
    return url


def _verdict(reply: Mapping[str, Any], recorded: Verdict) -> Verdict:
    used, allowed = reply.get("used"), reply.get("allowed")
    if reply.get("recorded") == "over":
        return recorded.with_more("(The deadline is over: its verdict comes with the grading.)")
    if reply.get("recorded") == "exam":
        return recorded.with_more("(This is an exam: its verdict comes with the grading.)")
    if reply.get("recorded") == "used-up":
        many = f"All {allowed} checks" if isinstance(allowed, int) else "All checks"
        return recorded.with_more(f"({many} of this exercise are used: its verdict comes with the grading.)")
    verdict = reply.get("verdict")
    fits = isinstance(verdict, dict) and {type(verdict.get("say")), type(verdict.get("kind"))} == {str}
    if not isinstance(verdict, dict) or not fits or not isinstance(used, int) or not isinstance(allowed, int):
        raise Unavailable("Not checked: what the course's check service answered cannot be read")
    score = verdict.get("score")
    score = min(max(float(score), 0.0), 1.0) if isinstance(score, int | float) and score == score else 0.0
    left = max(allowed - used, 0)
    again = "Checked before, so it costs nothing: " if reply.get("again") else ""
    more = f"({again}{left} of {allowed} check{'' if allowed == 1 else 's'} left.)"
    return Verdict(score, verdict["say"], verdict["kind"], wants_hint=verdict.get("wants_hint") is True).with_more(more)


def _ask(service: AssignmentService, found: LocatedExercise, answer: Any, message: Any) -> Mapping[str, Any]:
    is_code = found.kind.judged_by is not JudgedBy.VALUE
    request = {"assignment": service.assignment, "exercise": found.public["id"]}
    if is_code:
        cells = answer_cells.of(found.public["answer_name"], answer)
        if cells is None:
            raise Unavailable("Not checked: the cell that defines it is not known")
        body = json.dumps({**request, "code": cells.message})
    else:
        body = json.dumps({**request, "value": message})
    if len(body) > MOST:
        raise Unavailable(f"Not checked: it is larger than {MOST >> 10} KiB")
    if time.monotonic() < _away.get(service.url, 0.0):
        raise Unavailable("Not checked: the course's check service did not answer a moment ago")
    return posted(service.url, body.encode(), CODE_PATIENCE if is_code else PATIENCE)


def posted(address: str, body: bytes, patience: float, verb: str = "check") -> Mapping[str, Any]:
    """What the service at an address replies, asked again where it says when to; Unavailable, which says why, where it
    does not."""
    url, token = _known(address)
    headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
    until = time.monotonic() + patience
    for turn in range(1, TRIES + 1):
        try:
            status, after, reply = sent(url, body, headers, until, verb)
        except (OSError, ValueError, RecursionError) as error:
            _away[address] = time.monotonic() + PAUSE
            why = "took too long" if isinstance(error, TimeoutError) else "did not answer"
            raise Unavailable(
                f"Not checked: the course's check service {why}; the same answer again costs nothing more"
            ) from None
        if status == 200:
            return reply
        say = str(reply.get("say", ""))[:200].rstrip(".") or f"it answered {status}"
        if status not in (429, 503):
            raise Unavailable(f"Not checked: {_lower(say)}")
        if turn == TRIES or after > LONGEST_WAIT or time.monotonic() + after > until:
            raise Unavailable(f"Not checked now: {_lower(say)}; ask again in {after:g} s")
        time.sleep(after)
    raise AssertionError("the last turn ends otherwise")


def sent(
    url: str, body: bytes, headers: Mapping[str, str], until: float, verb: str = "check"
) -> tuple[int, float, Mapping[str, Any]]:
    """The status, the seconds to wait, and the reply to one request: no redirection is followed, no proxy asked.
    OSError or ValueError where there is none."""
    import http.client

    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(parts.hostname or "", parts.port, timeout=CONNECT)
        try:
            connection.connect()
            connection.sock.settimeout(max(1.0, until - time.monotonic()))
            connection.request("POST", f"{parts.path}{verb}", body, dict(headers))
            response = connection.getresponse()
            text = response.read(MOST)
            after = response.getheader("Retry-After") or "1"
        finally:
            connection.close()
    except http.client.HTTPException as error:
        raise OSError(f"{type(error).__name__}: {error}") from None
    data = json.loads(text) if response.status == 200 or text.startswith(b"{") else {}  # a proxy's error is a page
    return response.status, float(after) if after.isdecimal() else 1.0, data if isinstance(data, dict) else {}


def _known(url: str) -> tuple[str, str]:
    """The whole address of a service and the learner's token for it; Unavailable says how to get one."""
    hub = os.environ.get(HUB) or os.environ.get("JUPYTERHUB_PUBLIC_HUB_URL", "")
    if url.startswith("/"):
        if not _origin(hub) or not os.environ.get("JUPYTERHUB_API_TOKEN"):
            raise Unavailable("Not checked: the course's service is on its JupyterHub, and this notebook is not")
        url = _origin(hub) + url
    else:
        _checked(url)
    try:
        tokens = _tokens()
    except ValueError as error:
        raise Unavailable(f"Not checked: {error}") from None
    if token := tokens.get(_key(url)):
        return url, token
    path, base = urlsplit(url).path, os.environ.get("JUPYTERHUB_BASE_URL", "/")
    if _origin(url) == _origin(hub) and OF_HUB.fullmatch(path) and path.startswith(f"{base.rstrip('/')}/services/"):
        return url, os.environ.get("JUPYTERHUB_API_TOKEN", "")
    if _origin(url) in tokens:
        raise Unavailable(
            f"Not checked: an earlier version kept your token for all of {_origin(url)}, and now it is kept for "
            f"{_key(url)} alone; give it once more if that is your course's service: `gpubook token`"
        )
    raise Unavailable(
        f"Not checked: the service at {_key(url)} needs your token, which your teacher has; "
        "give it if that is your course's: `gpubook token`"
    )


def _checked(url: str) -> None:
    """Unavailable where a token would go over the network for all to read."""
    scheme, _, rest = _origin(url).partition("://")
    if not (scheme == "https" or (scheme == "http" and rest.rpartition(":")[0] in LOOPBACK)):
        raise Unavailable("Not checked: the address of the course's service is not https")


def _origin(url: str) -> str:
    """Scheme, host and port; "" where the address has none, would not be shown as it is, or has a name before its host,
    which is read as the host."""
    if not url.isprintable():
        return ""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
    except ValueError:
        return ""
    is_plain = bool(parts.hostname and port) and "@" not in parts.netloc
    return f"{parts.scheme}://{parts.hostname}:{port}" if is_plain else ""


def _key(url: str) -> str:
    """What a token is kept for: an address with its path, since a host may have a path for each of its users."""
    return _origin(url) + (urlsplit(url).path or "/")


def _tokens_file() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "gpubook" / "tokens.json"


def _tokens() -> dict[str, str]:
    """The learner's tokens by address. ValueError where their file cannot be read, since a token more would be written
    over the others."""
    try:
        return json_of(_tokens_file(), "move it away, and give your tokens again: `gpubook token`", _by_address)
    except FileNotFoundError:
        return {}


def _by_address(plain: Mapping[str, Any]) -> dict[str, str]:
    if any(type(token) is not str for token in plain.values()):
        raise TypeError("an address with something else than a token")
    return dict(plain)


def _lower(say: str) -> str:
    return say[:1].lower() + say[1:]
