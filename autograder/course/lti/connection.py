"""Requests to a platform's services: a token for each command, fetched by a signed assertion; retries; pages.

What is safe to repeat (reading, a score, which replaces a learner's) is repeated after a lost connection or a busy
server; what is not (a new column, an assertion that counts once) only where the platform says that it did nothing.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

import jwt
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from ...book.course_error import CourseError
from ...values.own_file import loaded
from .keys import ALGORITHM, CourseKey
from .registration import Registration, origin

SCOPES = "https://purl.imsglobal.org/spec/lti-nrps/scope/", "https://purl.imsglobal.org/spec/lti-ags/scope/"
MEMBERS = f"{SCOPES[0]}contextmembership.readonly"
ITEMS, RESULTS, SCORES = (f"{SCOPES[1]}{name}" for name in ("lineitem", "result.readonly", "score"))
RIGHTS = {MEMBERS: "read the roster", ITEMS: "manage columns", RESULTS: "read results", SCORES: "write scores"}
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTED = 300  # seconds for which an assertion holds
TRIES = 5  # repetitions
PAUSE, LONGEST = 0.5, 120  # the first pause in seconds, and the longest that a platform may ask for
BUSY = (429, 502, 503, 504)
UNDONE = (429, 503)  # statuses of a platform that did nothing
WAIT = (10.0, 60.0)  # seconds for a connection, and for an answer
PAGES = 1000
MOST_BYTES = 16 << 20  # of one answer, unpacked: a roster of 20,000 is below it
SHOWN = 200  # characters of what a platform says that are passed on
TOO_FAST = "Rate Limit Exceeded"  # Canvas says so with the status of a refusal


class AccessRefused(CourseError):
    """The platform does not let this tool do that."""


class NotTaken(CourseError):
    """The platform does not take this request, whatever becomes of others; `reason` is what it says."""

    def __init__(self, message: str, reason: str):
        super().__init__(message)
        self.reason = reason


class Lost(CourseError):
    """No answer came, or none that says what was done."""


def session(retry: Retry) -> requests.Session:
    """A session of requests that repeats as `retry` says, and takes neither proxies nor passwords from outside."""
    made = requests.Session()
    made.trust_env = False
    for scheme in ("https://", "http://"):
        made.mount(scheme, HTTPAdapter(max_retries=retry))
    return made


class Connection:
    """A platform's services for these scopes, with one token that is renewed where it holds no longer. A context
    manager."""

    def __init__(self, at: Registration, key: CourseKey, scopes: Sequence[str]):
        self.at, self.key, self.scopes = at, key, tuple(scopes)
        about: dict[str, Any] = {
            "total": TRIES,
            "redirect": 0,
            "other": 0,
            "allowed_methods": None,
            "raise_on_status": False,
            "backoff_factor": PAUSE,
            "backoff_max": LONGEST,
            "retry_after_max": LONGEST,
        }
        self._patient = session(Retry(**about, status_forcelist=BUSY))
        self._careful = session(Retry(**about, read=0, status_forcelist=UNDONE))
        self._token = ""

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._patient.close()
        self._careful.close()

    def pages(self, url: str, accept: str) -> Iterator[Any]:
        """What each page of a list holds, the next by its `Link` header."""
        seen: set[str] = set()
        while url and len(seen) < PAGES:
            if url in seen:
                raise CourseError(
                    f"{self.at.host}: the pages of {url} lead in a circle; a list with an end was expected"
                )
            seen.add(url)
            response = self.ask("GET", url, accept=accept)
            yield read(response)
            link = response.links.get("next", {}).get("url", "")
            url = self.address(url, link) if link else ""

    def address(self, base: str, link: str) -> str:
        """The address that a platform names, perhaps beside `base`; CourseError where it is none."""
        try:
            return urljoin(base, link)
        except ValueError:
            raise CourseError(f"{self.at.host} names {link[:SHOWN]!r}; an address was expected") from None

    def ask(
        self, method: str, url: str, *, accept: str = "*/*", content: str = "", body: Any = None, once: bool = False
    ) -> requests.Response:
        """The platform's answer; with `once` no request is repeated that may have been carried out. Where there
        is none, AccessRefused or Lost say why in a sentence."""
        if origin(url) != origin(self.at.items_url):
            raise AccessRefused(
                f"{self.at.host} names {url!r}, an address of another host, to which no token of it goes"
            )
        data = None if body is None else json.dumps(body).encode()
        for fresh in (False, True):
            headers = {"Authorization": f"Bearer {self._bearer(fresh)}", "Accept": accept}
            if content:
                headers["Content-Type"] = content
            response = self._sent(self._careful if once else self._patient, method, url, headers=headers, data=data)
            if response.status_code != 401:
                break
        return self._checked(response, url)

    def _bearer(self, fresh: bool) -> str:
        if fresh or not self._token:
            self._token = self._new_token()
        return self._token

    def _new_token(self) -> str:
        now = int(time.time())
        client = self.at.client_id
        claims = {"iss": client, "sub": client, "aud": self.at.audience, "iat": now, "exp": now + ASSERTED}
        claims["jti"] = secrets.token_urlsafe(24)
        signed = jwt.encode(claims, self.key.private, algorithm=ALGORITHM, headers={"kid": self.key.kid})
        form = {"grant_type": "client_credentials", "client_assertion_type": ASSERTION, "client_assertion": signed}
        form["scope"] = " ".join(self.scopes)
        response = self._sent(self._careful, "POST", self.at.token_url, data=form)
        if response.status_code >= 400:
            raise AccessRefused(
                f"{self.at.host} gives this tool no token ({_said(response)}): look at the client id {client!r}, the "
                f"public key {self.key.kid!r} and the services of the tool that is registered there"
            )
        plain = read(response)
        token = plain.get("access_token") if isinstance(plain, dict) else None
        if not isinstance(token, str) or not (token.isascii() and token.isprintable()):
            raise CourseError(
                f"{self.at.token_url} answers without a token; the address where tokens are made was expected"
            )
        self._check_scopes(plain.get("scope"))
        return token

    def _check_scopes(self, granted: Any) -> None:
        """AccessRefused where the platform says that it grants less than what was asked for."""
        have = granted.split() if isinstance(granted, str) else []
        lacking = [RIGHTS[scope] for scope in self.scopes if have and scope not in have]
        if lacking:
            rights = ", nor ".join(lacking)
            raise AccessRefused(
                f"{self.at.host} does not let this tool {rights}: an administrator there has to grant it"
            )

    def _sent(self, via: requests.Session, method: str, url: str, **about: Any) -> requests.Response:
        try:
            with via.request(method, url, timeout=WAIT, allow_redirects=False, stream=True, **about) as response:
                response._content = self._content(response)
                return response
        except requests.exceptions.SSLError as error:
            raise Lost(f"{self.at.host} shows no certificate that is trusted here ({_reason(error)})") from None
        except requests.exceptions.RequestException as error:
            raise Lost(f"the connection to {self.at.host} was lost ({_reason(error)})") from None

    def _content(self, response: requests.Response) -> bytes:
        """What an answer holds, which ends where the largest that was expected does, and in chunks after LONGEST
        seconds."""
        content, until = bytearray(), time.monotonic() + LONGEST
        for chunk in response.iter_content(1 << 16):
            content += chunk
            if len(content) > MOST_BYTES or time.monotonic() > until:
                raise Lost(
                    f"{self.at.host} sends an answer without an end; at most {MOST_BYTES >> 20} MiB in {LONGEST} s "
                    "were expected"
                )
        return bytes(content)

    def _checked(self, response: requests.Response, url: str) -> requests.Response:
        status = response.status_code
        if status < 300 or status == 409:  # a score that is not newer than the one there
            return response
        if status in BUSY or TOO_FAST in response.text[:SHOWN]:
            raise Lost(f"{self.at.host} is busy ({_said(response)})")
        if status in (401, 403):
            raise AccessRefused(
                f"{self.at.host} refuses this tool ({_said(response)}): its rights were withdrawn, or never granted; "
                "an administrator there can grant them"
            )
        answer = _said(response)
        raise NotTaken(f"{url} answers with {answer}; was the course or the column deleted there?", answer)


def read(response: requests.Response) -> Any:
    """What an answer holds; CourseError where it is not JSON."""
    try:
        return loaded(response.content)
    except ValueError:
        raise CourseError(f"{response.url} does not answer with JSON; is it the address of that service?") from None


def _said(response: requests.Response) -> str:
    """The status, and the platform's reason where it has a short one."""
    try:
        plain = response.json()
    except (ValueError, RecursionError):
        plain = None
    reasons: Mapping[str, Any] = plain if isinstance(plain, dict) else {}
    words = [str(reasons[name]) for name in ("error", "error_description", "message") if reasons.get(name)]
    return ": ".join([str(response.status_code), *words])[:SHOWN]


def _reason(error: Exception) -> str:
    """The last cause, without the objects around it that urllib3 shows."""
    reason: Any = error
    while isinstance(inner := getattr(reason, "reason", None) or (reason.args or ("",))[0], Exception):
        reason = inner
    return str(reason).rpartition(">: ")[2][:SHOWN] or type(reason).__name__
