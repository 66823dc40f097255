"""A PostgreSQL server of a test's own: made in a folder, listening on a Unix socket there, gone afterwards."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

USER = "gpubook"


def programs() -> Path | None:
    """The folder of initdb and pg_ctl: Debian keeps them off the PATH; None where PostgreSQL is not installed."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), reverse=True)
    on_path = [Path(found).parent for found in [shutil.which("initdb")] if found]
    return next((p for p in [*debian, *on_path] if (p / "initdb").exists() and (p / "pg_ctl").exists()), None)


def missing() -> str:
    """Why no server can be started here; empty where one can."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "the driver is not installed: pip install 'gpubook[postgres]'"
    if programs() is None:
        return "PostgreSQL's initdb and pg_ctl are not installed: apt-get install postgresql"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL does not run as root, and setpriv (util-linux) is not installed"
    return ""


@contextmanager
def server() -> Iterator[str]:
    """A fresh server, up inside the `with`: the URL of its database `postgres`."""
    found = programs()
    assert found is not None
    # as root, it runs as the user that Debian's package makes, or as nobody
    names = ("postgres", "nobody")
    who = next(n for n in names if subprocess.run(["id", n], capture_output=True, check=False).returncode == 0)
    become = ["setpriv", f"--reuid={who}", f"--regid={_group(who)}", "--clear-groups"] if os.geteuid() == 0 else []
    folder = Path(tempfile.mkdtemp(prefix="gpubook-pg-"))  # short: a socket's path has at most 107 bytes
    try:
        if become:
            shutil.chown(folder, who)
        data, log = folder / "data", folder / "log"

        def run(*command: str | Path) -> None:
            environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder)}
            done = subprocess.run(
                [*become, *map(str, command)],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=90,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr + (log.read_text() if log.exists() else "")

        run(found / "initdb", "-D", data, "-A", "trust", "-U", USER, "--no-sync", "-E", "UTF8")
        options = f"-k {folder} -c listen_addresses= -c fsync=off -c shared_buffers=16MB"
        run(found / "pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "-t", "60", "start")
        try:
            yield f"postgresql://{USER}@/postgres?host={quote(str(folder), safe='')}"
        finally:
            run(found / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _group(user: str) -> str:
    return subprocess.run(["id", "-g", user], capture_output=True, text=True, check=True).stdout.strip()


def new_database(url: str, name: str) -> str:
    """The URL of a new, empty database on the server at `url`."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return url.replace("/postgres?", f"/{name}?")
