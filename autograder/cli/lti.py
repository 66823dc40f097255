"""`gpubook course lti`: the roster from a learning platform and grades back to it, by LTI 1.3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .parameters import FOLDER, assignment_name
from .terminal import echo

if TYPE_CHECKING:
    from ..course.lti.connection import Connection
    from ..course.lti.members import RosterChange
    from ..course.lti.sending import SendPlan

MISSING = "LTI needs `pip install 'gpubook[lti]'`"


@click.group()
def lti() -> None:
    """Take the roster from a learning platform and send grades back, by LTI 1.3.

    In this order: keys, register, roster, send. Nothing is sent but by `send`; --dry-run says what would be.
    """


@lti.command("keys")
@click.argument("folder", type=FOLDER)
@click.option(
    "--form",
    type=click.Choice(["jwks", "jwk", "pem"]),
    default="jwks",
    show_default=True,
    help="A set of keys, for an address; one key, as Canvas takes it; PEM, as Moodle does.",
)
@click.option("--new", is_flag=True, help="Make another key; the platform needs its public half again.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="The file.  [default: print it]")
def lti_keys(folder: Path, form: str, new: bool, output: Path | None) -> None:
    """Make the course's key, once, and print its public half for the platform.

    The private half stays in FOLDER/.gpubook, readable by you alone, and is never shown.
    """
    from ..course.layout import read_config
    from ..values.atomic_write import write_whole

    folder = folder.resolve()
    read_config(folder)
    with _installed():
        from ..course.lti import keys

        key = (None if new else keys.load(folder)) or keys.make(folder)
    if output is None:
        echo(key.shown(form))
        return
    write_whole(output, key.shown(form) + "\n", mode=0o644)
    echo(f"Wrote {output}: the public half of the key {key.kid}")


@lti.command("register")
@click.argument("folder", type=FOLDER)
@click.option("--platform", type=click.Choice(["canvas", "moodle", "other"]), required=True, help="Which it is.")
@click.option("--client-id", required=True, help="What the platform shows of the registered tool.")
@click.option("--host", help="Canvas's or Moodle's address, e.g. https://school.instructure.com.")
@click.option("--course", help="The course's number there.")
@click.option("--tool", help="The tool's number in Moodle, its type id.")
@click.option("--token-url", help="Where tokens are made.  [default: as the platform has it]")
@click.option("--audience", help="For whom an assertion is.  [default: the address of tokens]")
@click.option("--roster-url", help="The course's roster (context_memberships_url).  [default: as the platform has it]")
@click.option("--items-url", help="The course's columns (lineitems).  [default: as the platform has it]")
def lti_register(
    folder: Path,
    platform: str,
    client_id: str,
    host: str | None,
    course: str | None,
    tool: str | None,
    token_url: str | None,
    audience: str | None,
    roster_url: str | None,
    items_url: str | None,
) -> None:
    """Say at which platform the course is, and as which client; nothing is asked there yet.

    Of Canvas --host and --course are enough, of Moodle --tool too; of any other the addresses are needed.
    """
    from dataclasses import replace

    from ..course.layout import read_config
    from ..course.lti import registration
    from ..course.lti.registration import Registration

    read_config(folder.resolve())
    own = {"token_url": token_url, "audience": audience or token_url, "roster_url": roster_url, "items_url": items_url}
    addresses = {name: url for name, url in own.items() if url}
    if platform == "canvas":
        made = registration.of_canvas(client_id=client_id, **_needed(host=host, course=course))
    elif platform == "moodle":
        made = registration.of_moodle(client_id=client_id, **_needed(host=host, course=course, tool=tool))
    else:
        _needed(token_url=token_url, roster_url=roster_url, items_url=items_url)
        made = Registration("other", client_id, "", "", "", "")
    made = registration.checked(replace(made, **addresses))
    registration.save(folder.resolve(), made)
    echo(f"Registered at {made.host} as {made.client_id}.")
    echo(f"Tokens: {made.token_url}\nRoster: {made.roster_url}\nColumns: {made.items_url}")
    echo(f"The platform needs the course's public key: gpubook course lti keys {folder}")


def _needed(**options: str | None) -> dict[str, str]:
    """Their values; a usage error that names those which are missing."""
    if missing := [f"--{name.replace('_', '-')}" for name, value in options.items() if not value]:
        raise click.UsageError(f"this platform needs {' and '.join(missing)}")
    return {name: value for name, value in options.items() if value}


@lti.command("roster")
@click.argument("folder", type=FOLDER)
@click.option(
    "--id",
    "by",
    type=click.Choice(["email", "login", "sis", "user"]),
    default="email",
    show_default=True,
    help="The id of who is new: the address, what is before its @, the institution's id, the platform's.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing.")
def lti_roster(folder: Path, by: str, dry_run: bool) -> None:
    """Enter the platform's learners into the gradebook, and keep who is whom there.

    Who is there already is known by lms_user_id, id or address, never by name. Nobody is removed.
    """
    folder = folder.resolve()
    with _connected(folder, "roster") as connection:
        from ..course.lti import members

        change = members.compared(folder, members.read(connection), by)
        if not dry_run:
            members.enter(folder, change)
    _print_roster(change, dry_run)


def _print_roster(change: RosterChange, dry_run: bool) -> None:
    for learner, member in sorted(change.new.items()):
        echo(f"{learner}: new, {member.shown}")
    counts = f"{len(change.new)} new, {len(change.known)} known"
    echo(f"{'Nothing was written. Would be: ' if dry_run else ''}{counts}.")
    for note in change.notes:
        echo(f"Note: {note}", err=True)


@lti.command("send")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.option("--dry-run", is_flag=True, help="Say what would be sent, and what differs from what is there.")
@click.option("--item", metavar="URL", help="Fill this column.  [default: the one made from here]")
@click.option("--replace", is_flag=True, help="Replace grades that were entered there, too.")
@click.option("--partial", is_flag=True, help="Also send grades of which answers are still to be graded by hand.")
@click.option("--missing-as-zero", is_flag=True, help="Send 0 for a missing submission.")
@click.option("--set-maximum", is_flag=True, help="Give the column the course's maximum.")
def lti_send(
    folder: Path,
    name: str,
    dry_run: bool,
    item: str | None,
    replace: bool,
    partial: bool,
    missing_as_zero: bool,
    set_maximum: bool,
) -> None:
    """Send the grades of NAME into its column of the platform, with the points of each question in the comment.

    The column is made if it is not there. Grades that are there already are not sent again, so a send that was
    interrupted is run once more.
    """
    folder = folder.resolve()
    with _connected(folder, "send") as connection:
        from ..course.lti import columns, members, sending
        from ..course.lti.sending import SendOptions

        options = SendOptions(item, replace, partial, missing_as_zero)
        plan = sending.planned(folder, name, connection, members.load(folder), options)
        _print_plan(plan, dry_run)
        if dry_run:
            return
        if set_maximum and plan.column is not None and plan.column.maximum != plan.maximum:
            plan.column = columns.with_maximum(connection, plan.column, plan.maximum)
        arrived = 0

        def progress(count: int) -> None:
            nonlocal arrived
            arrived = count

        try:
            notes = sending.send(folder, plan, connection, progress)
        except (ValueError, KeyboardInterrupt) as error:
            why = str(error) or "it was stopped"
            done = f"{arrived} of {len(plan.to_send)} grades have arrived, then {why}"
            raise click.ClickException(f"{done}; run it again, and only the rest is sent") from None
    for note in notes:
        echo(f"Note: {note}", err=True)
    echo(f"Sent {arrived} grades of {name} to {connection.at.host}.")


def _print_plan(plan: SendPlan, dry_run: bool) -> None:
    from ..course.lti.sending import KEPT, SAME, shown

    for step in plan.steps:
        if step.kind == KEPT or (dry_run and step.kind != SAME):
            echo(shown(step))
    for note in plan.notes:
        echo(f"Note: {note}", err=True)
    column = plan.column.label if plan.column else f"{plan.name}, which is to be made"
    counts = ", ".join(f"{count} {kind}" for kind, count in plan.counts.items()) or "no grades"
    if dry_run:
        echo(f"Nothing was sent. Column: {column}. Would be: {counts}.")
    else:
        echo(f"Column: {column}. {counts[:1].upper()}{counts[1:]}.")


@contextmanager
def _connected(folder: Path, to: str) -> Iterator[Connection]:
    """The platform's services that a command needs."""
    from ..course.layout import read_config

    read_config(folder)
    with _installed():
        from ..course.lti import connection, keys, registration
    at, key = registration.load(folder), keys.load(folder)
    if key is None:
        raise click.ClickException(f"the course has no key yet: gpubook course lti keys {folder}")
    scopes = {
        "roster": (connection.MEMBERS,),
        "send": (connection.ITEMS, connection.RESULTS, connection.SCORES),
    }
    with connection.Connection(at, key, scopes[to]) as made:
        yield made


@contextmanager
def _installed() -> Iterator[None]:
    """Without the extra's packages, how to install them."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in ("jwt", "cryptography", "requests", "urllib3"):
            raise click.ClickException(MISSING) from None
        raise
