"""Whether learners' notebooks reach this service at the address that the course promises them: it asks itself there, as
a notebook does."""

from __future__ import annotations

import os
import secrets
import time
from urllib.parse import urlsplit

from ...learner import check_service

SECONDS = 10.0  # for the answer
BEGINS = "gpubook-self-"  # no learner's token begins so
HERE = {"service": "gpubook check", "itself": True}


class Probe:
    """A question of the service to itself; only who made the `token` of it knows it."""

    def __init__(self) -> None:
        self.token = BEGINS + secrets.token_urlsafe(32)

    def knows(self, token: str) -> bool:
        """Whether that is the token of this process."""
        return secrets.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def fault(self, address: str, here: str) -> str:
        """What is wrong with an address, where the service listens at `here`: one sentence; "" where it is right."""
        if not (host := _host(address)):
            return (
                f"{address} could not be tried: the public address of the hub is not known here; "
                "with GPUBOOK_HUB_URL in the environment, as learners' servers have it, it is"
            )
        try:
            headers = {"Authorization": f"token {self.token}", "Content-Type": "application/json"}
            status, _, reply = check_service.sent(host + _path(address), b"{}", headers, time.monotonic() + SECONDS)
        except OSError as error:
            return f"{address} does not answer ({_why(error)}); a proxy that passes it on to {here} was expected there"
        except (ValueError, RecursionError):
            return f"{address} is answered by a page that is not this service's; {here} was expected behind it"
        if status == 200 and reply == HERE:
            return ""
        if status == 401 and "token" in str(reply.get("say", "")):
            return (
                f"{address} is a check service that does not know this one's token; a proxy that passes on "
                f"`Authorization` to {here}, and not another course's service, was expected there"
            )
        return f"{address} is answered by something else, with the status {status}; {here} was expected behind it"


def _host(address: str) -> str:
    """Scheme, host and port; of a path on a hub, those of the hub, as far as they are known."""
    parts = urlsplit(address)
    if parts.netloc:
        return f"{parts.scheme}://{parts.netloc}"
    parts = urlsplit(os.environ.get(check_service.HUB) or os.environ.get("JUPYTERHUB_PUBLIC_HUB_URL", ""))
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


def _path(address: str) -> str:
    return urlsplit(address).path or "/"


def _why(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "it takes too long"
    return (error.strerror or str(error).strip() or type(error).__name__)[:200]
