"""Whose a token is that JupyterHub gave out, by the hub's own word; the one module that knows JupyterHub."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ...book.course_error import CourseError
from .limits import Later
from .tokens import LONGEST

FRESH = 60.0  # seconds for which the hub's word holds: a token that is revoked stops then
KNOWN = 5_000  # tokens whose owner is remembered
LOOKS = 16  # questions to the hub at once
WAITING = 200  # that may wait for it


def configured() -> bool:
    """Whether this process runs as a service of a hub, which says so in its environment."""
    return bool(os.environ.get("JUPYTERHUB_API_TOKEN") and os.environ.get("JUPYTERHUB_SERVICE_NAME"))


class HubTokens:
    """The learners whom a hub knows. A token counts only if it may reach this service (the scope
    `access:services!service=NAME`) and is a person's."""

    def __init__(self) -> None:
        try:
            from jupyterhub.services.auth import HubAuth
        except ImportError:
            raise CourseError("a service of JupyterHub needs `pip install 'gpubook[hub]'`") from None
        self._hub = HubAuth()
        if not self._hub.access_scopes:
            raise CourseError("JUPYTERHUB_SERVICE_NAME, the service's name in the hub, was expected in the environment")
        self._known: OrderedDict[str, tuple[float, str | None]] = OrderedDict()
        self._looks, self._waiting = asyncio.Semaphore(LOOKS), 0

    async def learner(self, token: str) -> str | None:
        """Whose token it is; None for nobody's. Later where the hub does not answer, or is asked too much."""
        if not token or len(token) > LONGEST:
            return None
        key = hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
        then, who = self._known.get(key, (0.0, None))
        if then and time.monotonic() - then < FRESH:
            return who
        if self._waiting >= WAITING:
            raise Later(503, "The hub is asked too much", 5)
        self._waiting += 1
        try:
            async with self._looks:
                model = await self._hub.user_for_token(token, use_cache=False, sync=False)
        except Exception as error:  # its own kinds: what the hub says of it is in its log
            raise Later(503, "The hub does not say who you are", 10) from error
        finally:
            self._waiting -= 1
        who = self._person(model)
        self._known[key] = (time.monotonic(), who)
        while len(self._known) > KNOWN:
            self._known.popitem(last=False)
        return who

    def _person(self, model: Mapping[str, Any] | None) -> str | None:
        if not isinstance(model, dict) or model.get("kind") != "user" or not model.get("name"):
            return None
        if not self._hub.check_scopes(self._hub.access_scopes, model):
            return None
        return str(model["name"])
