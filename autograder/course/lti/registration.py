"""Which platform a course is registered at, as which client, and where its services are; in `.gpubook/lti.json`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own

FILE = "lti.json"
REMEDY = "move it away, and register the platform anew: `gpubook course lti register`"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CANVAS_TOKENS = "https://sso.canvaslms.com/login/oauth2/token"  # of all that Instructure hosts, since 2023
CANVAS_HOSTED = (".instructure.com", ".canvaslms.com")


@dataclass(frozen=True)
class Registration:
    """A platform as a course knows it: its kind ("canvas", "moodle", "other"), our client id, where tokens are made and
    for which audience, and the addresses of the course's roster and of its columns of grades."""

    kind: str
    client_id: str
    token_url: str
    audience: str
    roster_url: str
    items_url: str

    @property
    def host(self) -> str:
        """Who it is, for people."""
        return urlsplit(self.items_url).netloc


def of_canvas(host: str, client_id: str, course: str) -> Registration:
    """A course of Canvas, by its number."""
    root = _root(host)
    is_hosted = (urlsplit(root).hostname or "").endswith(CANVAS_HOSTED)
    tokens = CANVAS_TOKENS if is_hosted else f"{root}/login/oauth2/token"
    home = f"{root}/api/lti/courses/{_number(course, 'a course')}"
    return checked(Registration("canvas", client_id, tokens, tokens, f"{home}/names_and_roles", f"{home}/line_items"))


def of_moodle(host: str, client_id: str, course: str, tool: str) -> Registration:
    """A course of Moodle, by its number and that of the tool, its `type id`."""
    root, course, tool = _root(host), _number(course, "a course"), _number(tool, "a tool")
    tokens, services = f"{root}/mod/lti/token.php", f"{root}/mod/lti/services.php"
    roster = f"{services}/CourseSection/{course}/bindings/{tool}/memberships"
    items = f"{services}/{course}/lineitems?type_id={tool}"
    return checked(Registration("moodle", client_id, tokens, tokens, roster, items))


def checked(made: Registration) -> Registration:
    """The same; CourseError where an address is not https, for a token goes there, or the client has no id."""
    if not made.client_id or not made.client_id.isprintable():
        raise CourseError(f"{made.client_id!r} is not a client id: what the platform shows of the registered tool")
    for url in (made.token_url, made.roster_url, made.items_url):
        parts = _parts(url)
        is_here = parts.scheme == "http" and parts.hostname in LOOPBACK
        if not parts.hostname or "@" in parts.netloc or not (is_here or parts.scheme == "https"):
            raise CourseError(f"{url!r} is not an address of a platform: https://HOST/PATH was expected")
    if origin(made.roster_url) != origin(made.items_url):
        raise CourseError(f"{made.roster_url} and {made.items_url} are two hosts; one platform was expected")
    return made


def origin(url: str) -> tuple[str, str]:
    """Scheme and host, to which a token of that platform may go."""
    parts = _parts(url)
    return parts.scheme, parts.netloc.lower()


def _parts(url: str):
    try:
        parts = urlsplit(url if url.isprintable() else "")
        parts.port  # noqa: B018 (a number, or an error)
    except ValueError:
        return urlsplit("")
    return parts


def _root(host: str) -> str:
    return (host if "://" in host else f"https://{host}").rstrip("/")


def _number(text: str, what: str) -> str:
    if not text.isascii() or not text.isdecimal():
        raise CourseError(f"{text!r} is not the number of {what}, as the platform's addresses have it")
    return text


def save(folder: Path, made: Registration) -> None:
    """Keep a registration, in place of an earlier one."""
    path = own(folder, FILE)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(path, json.dumps(asdict(made), indent=1) + "\n")


def load(folder: Path) -> Registration:
    """The platform of a course; CourseError where none is registered."""
    path = own(folder, FILE)
    if not path.exists():
        raise CourseError(f"{folder} is not registered at a platform yet: `gpubook course lti register`")
    return json_of(path, REMEDY, lambda plain: checked(Registration(**plain)), CourseError)
