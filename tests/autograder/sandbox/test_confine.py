"""What confining asks of the system, call by call, with a libc that only notes it; the numbers are those of the
kernel's headers (sched.h, mount.h, prctl.h, capability.h, sockios.h, if.h)."""

import ctypes
import os
import resource
import stat
import struct
import sys
from pathlib import Path

import pytest

from autograder.sandbox import confine, filters
from autograder.sandbox.confine import FIRST_UID, RootView
from autograder.sandbox.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux namespaces")
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18


class Libc:
    """Notes the calls; every one succeeds, or fails with `status`."""

    status = 0

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append((name, *(getattr(one, "value", one) for one in arguments)))
            return self.status

        return call


@pytest.fixture
def libc(monkeypatch):
    made = Libc()
    monkeypatch.setattr(confine, "_libc", made)
    return made


def noting(steps, *names):
    """Functions that note their calls."""
    return {name: lambda *about, name=name: steps.append((name, *about)) for name in names}


def test_a_call_that_fails_is_an_error_with_its_number():
    confine._check(0, "mount /x")
    for done in (-1, 1):
        ctypes.set_errno(13)
        with pytest.raises(OSError, match="mount /x") as failed:
            confine._check(done, "mount /x")
        assert failed.value.errno == 13


def test_a_mount_and_its_being_read_only(libc):
    confine._mount("tmpfs", "/a/ä", "tmpfs", 6, "size=1m")
    confine._mount(None, "/", None, 1)
    confine._read_only("/a")
    attributes = struct.pack("QQQQ", RDONLY | NOSUID, 0, 0, 0)
    assert libc.calls == [
        ("mount", b"tmpfs", "/a/ä".encode(), b"tmpfs", 6, b"size=1m"),
        ("mount", None, b"/", None, 1, None),
        ("syscall", 442, -100, b"/a", 0x8000, attributes, 32),
    ]
    libc.status = -1
    with pytest.raises(OSError, match="/a"):
        confine._mount("tmpfs", "/a", "tmpfs", 6)
    with pytest.raises(OSError, match="read-only /a"):
        confine._read_only("/a")


@pytest.mark.parametrize("root", [True, False])
def test_new_namespaces_are_of_every_kind_and_of_users_where_it_is_not_root(libc, monkeypatch, root):
    written = {}

    class Noted(str):
        def write_text(self, text):
            written[str(self)] = text

    monkeypatch.setattr(confine, "Path", Noted)
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    monkeypatch.setattr(os, "getegid", lambda: 0 if root else 1001)
    confine.enter_namespaces()
    every = 0x20000 | 0x20000000 | 0x40000000 | 0x8000000 | 0x4000000  # NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS
    assert libc.calls == [("unshare", every if root else every | 0x10000000)]
    assert written == (
        {}
        if root
        else {
            "/proc/self/setgroups": "deny",
            "/proc/self/uid_map": "60000 1000 1",
            "/proc/self/gid_map": "60000 1001 1",
        }
    )


def test_what_is_shown_is_there_once_and_nothing_inside_of_it(tmp_path, monkeypatch):
    for name in ("lib/inner", "real/site-packages", "other/site-packages", "packages"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    system = ("lib", "lib/inner", "library", "link", "link/site-packages", "none")
    (tmp_path / "library").mkdir()
    monkeypatch.setattr(confine, "SYSTEM", (*(str(tmp_path / name) for name in system), "/"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "other/site-packages"), str(tmp_path / "packages")])
    for name in ("prefix", "base_prefix", "base_exec_prefix"):
        monkeypatch.setattr(sys, name, str(tmp_path / "lib"))
    monkeypatch.setattr(confine.sysconfig, "get_path", lambda _: str(tmp_path / "lib/inner"))
    shown = confine.visible_paths()
    ours = Path(confine.__file__).resolve().parent.parent.parent
    names = ("lib", "library", "link", "link/site-packages", "other/site-packages", "real")
    assert shown == sorted([*(str(tmp_path / name) for name in names), f"{ours}/autograder", f"{ours}/hwlib"])


def test_the_book_with_its_key_is_hidden_in_every_copy(tmp_path, monkeypatch):
    installed = tmp_path / "prefix" / "lib" / "python3" / "site-packages"
    for folder in (installed, tmp_path / "checkout", tmp_path / "elsewhere"):
        (folder / "autograder" / "_book").mkdir(parents=True)
    (tmp_path / "file" / "autograder").mkdir(parents=True)
    (tmp_path / "file" / "autograder" / "_book").touch()
    (tmp_path / "link" / "autograder").mkdir(parents=True)
    (tmp_path / "link" / "autograder" / "_book").symlink_to(tmp_path / "elsewhere" / "autograder" / "_book")
    for name in ("prefix", "base_prefix", "base_exec_prefix"):
        monkeypatch.setattr(sys, name, str(tmp_path / "prefix"))
    monkeypatch.setattr(sys, "path", ["", *(str(tmp_path / name) for name in ("checkout", "file", "link", "none"))])
    masked = [path for path in confine.masked_paths() if path.startswith(str(tmp_path))]
    folders = (tmp_path / "checkout", tmp_path / "elsewhere", tmp_path / "link", installed)
    assert masked == sorted(str(folder / "autograder" / "_book") for folder in folders)


def test_the_root_is_built_on_the_first_folder_that_nothing_shown_needs(monkeypatch):
    monkeypatch.setattr(confine, "masked_paths", lambda: ["/m"])
    for shown, base in (
        (["/usr"], "/mnt"),
        (["/mnt/env"], "/media"),
        (["/mnt", "/media/x"], "/srv"),
        (["/mntx"], "/mnt"),
    ):
        monkeypatch.setattr(confine, "visible_paths", lambda shown=shown: shown)
        monkeypatch.setattr(os.path, "isdir", lambda _: True)
        assert RootView.of_system() == RootView(tuple(shown), ("/m",), base)
    monkeypatch.setattr(os.path, "isdir", lambda path: path == "/tmp")
    assert RootView.of_system().base == "/tmp"
    monkeypatch.setattr(os.path, "isdir", lambda _: False)
    assert RootView.of_system().base == ""


def test_without_a_place_for_the_root_nothing_is_confined():
    with pytest.raises(OSError, match="/var/tmp"):
        confine._new_root(Limits(), 60001, False, (), RootView((), (), ""))


@pytest.fixture
def new_root(libc, tmp_path, monkeypatch):
    """`new_root(alone, covered)`: the steps of building a root on a folder of the test's."""

    def built(alone=False, covered=(), masked=()):
        steps = []
        base = tmp_path / f"base{len(list(tmp_path.iterdir()))}"
        for name in ("etc", "dev", "usr/mine", "usr/_book"):
            (base / name).mkdir(parents=True)
        (base / "usr" / "mine" / "secret.py").touch()
        for name, noted in noting(steps, "_mount", "_show", "_read_only").items():
            monkeypatch.setattr(confine, name, noted)
        for name, noted in noting(steps, "chown", "chdir").items():
            monkeypatch.setattr(os, name, noted)
        libc.calls.clear()
        with monkeypatch.context() as patch:
            patch.setattr(confine, "DEVICES", ("/dev/null",))
            confine._new_root(Limits(scratch=999), 60001, alone, covered, RootView(("/usr",), masked, str(base)))
        return str(base), steps

    yield built
    monkeypatch.undo()


def test_the_root_holds_what_is_shown_and_folders_of_its_own(new_root, libc):
    base, steps = new_root()
    scratch = "size=999,nr_inodes=20000,mode=1777"
    assert steps == [
        ("_mount", None, "/", None, REC | PRIVATE),
        ("_mount", "tmpfs", base, "tmpfs", NOSUID | NODEV, "size=1m,mode=755"),
        ("_mount", "tmpfs", base + "/tmp", "tmpfs", NOSUID | NODEV, scratch),
        ("_show", "/usr", base + "/usr"),
        ("_show", "/dev/null", base + "/dev/null"),
        ("_mount", "tmpfs", base + "/dev/shm", "tmpfs", NOSUID | NODEV, scratch),
        ("_mount", "proc", base + "/proc", "proc", NOSUID | NODEV | NOEXEC, None),
        ("chown", base + "/tmp/work", 60001, 60001),
        ("chdir", base),
        ("chdir", "/tmp/work"),
        ("_mount", None, "/", None, REMOUNT | BIND | RDONLY | NOSUID | NODEV),
    ]
    pivot = 41 if filters.ARM else 155
    assert libc.calls == [("syscall", pivot, b".", b"."), ("umount2", b".", 2)]
    assert Path(base, "etc/passwd").read_text() == "learner:x:60001:60001::/tmp/work:/bin/sh\n"
    assert Path(base, "etc/group").read_text() == "learner:x:60001:\n"
    assert Path(base, "etc/hosts").read_text() == "127.0.0.1 localhost\n"
    assert os.path.isdir(base + "/dev/shm")


def test_a_rank_sees_its_own_processes_alone(new_root):
    base, steps = new_root(alone=True)
    assert ("_mount", "proc", base + "/proc", "proc", NOSUID | NODEV | NOEXEC, "subset=pid") in steps


def test_the_book_and_covered_files_are_empty_where_they_are(new_root):
    base, steps = new_root(covered=("/usr/mine/secret.py", "/usr/none.py", "/usr/mine"), masked=("/usr/_book", "/none"))
    extra = steps[5:8]
    assert extra == [
        ("_mount", "tmpfs", base + "/usr/_book", "tmpfs", RDONLY | NOSUID, "size=4k,mode=755"),
        ("_mount", "/dev/null", base + "/usr/mine/secret.py", None, BIND),
        ("_read_only", base + "/usr/mine/secret.py"),
    ]
    assert steps[8][2] == base + "/dev/shm"


def test_a_proc_that_is_refused_is_done_without_and_another_mount_is_not(new_root, monkeypatch, libc, tmp_path):
    def refuse(kind):
        def mount(_source, _target, which, *_):
            if which == kind:
                raise PermissionError(1, "mount")

        return mount

    base = tmp_path / "refusing"
    for name in ("etc", "dev"):
        (base / name).mkdir(parents=True)
    view = RootView((), (), str(base))
    for name in ("chown", "chdir"):
        monkeypatch.setattr(os, name, lambda *_: None)
    monkeypatch.setattr(confine, "DEVICES", ())
    monkeypatch.setattr(confine, "_mount", refuse("tmpfs"))
    with pytest.raises(PermissionError):
        confine._new_root(Limits(), 60001, False, (), view)
    monkeypatch.setattr(confine, "_mount", refuse("proc"))
    confine._new_root(Limits(), 60001, False, (), view)


def test_folders_and_files_are_bound_read_only_and_links_to_folders_are_links(tmp_path, monkeypatch):
    steps = []
    for name, noted in noting(steps, "_mount", "_read_only").items():
        monkeypatch.setattr(confine, name, noted)
    source, root = tmp_path / "source", tmp_path / "root"
    (source / "folder").mkdir(parents=True)
    (source / "file").write_text("text")
    (source / "link").symlink_to("folder")
    (source / "file-link").symlink_to("file")
    mask = os.umask(0)
    try:
        for name in ("folder", "file", "file-link"):
            target = str(root / name / "x")
            confine._show(str(source / name), target)
            assert steps[-2:] == [
                ("_mount", str(source / name), target, None, BIND | REC),
                ("_read_only", target),
            ]
    finally:
        os.umask(mask)
    assert stat.S_IMODE((root / "folder" / "x").stat().st_mode) == 0o755
    assert stat.S_IMODE((root / "folder").stat().st_mode) == 0o755
    assert (root / "file" / "x").is_file()
    assert (root / "file-link" / "x").is_file()
    count = len(steps)
    for _ in range(2):
        confine._show(str(source / "link"), str(root / "link"))
    assert os.readlink(root / "link") == "folder"
    assert len(steps) == count


def test_the_loopback_is_switched_on(monkeypatch):
    calls = []
    monkeypatch.setattr(confine.fcntl, "ioctl", lambda link, *about: calls.append(about))
    confine._loopback_up()
    ((request, asked),) = calls
    assert request == 0x8914
    name, flags, _ = struct.unpack("16sH14s", asked)
    assert (name.rstrip(b"\0"), flags) == (b"lo", 1 | 0x40)


@pytest.fixture
def limited(monkeypatch):
    """`limited(limits, own_user, hard)`: what is set of this process."""

    def of(limits, own_user=True, hard=resource.RLIM_INFINITY):
        made = {}
        monkeypatch.setattr(resource, "getrlimit", lambda _: (0, hard))
        monkeypatch.setattr(resource, "setrlimit", lambda what, values: made.update({what: values}))
        confine.set_limits(limits, own_user)
        return made

    return of


LIMITS = Limits(total=60.5, memory=1000, processes=7, open_files=8, file_size=9)


def test_a_process_has_its_limits(limited, monkeypatch):
    class Statm(str):
        def read_text(self):
            return "12 3 4"

    monkeypatch.setattr(confine, "Path", Statm)
    wanted = {
        resource.RLIMIT_AS: 12 * resource.getpagesize() + 1000,
        resource.RLIMIT_FSIZE: 9,
        resource.RLIMIT_NOFILE: 8,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: 61,
        resource.RLIMIT_NPROC: 7,
    }
    assert limited(LIMITS) == {what: (value, value) for what, value in wanted.items()}
    assert resource.RLIMIT_NPROC not in limited(LIMITS, own_user=False)
    assert limited(LIMITS, hard=8)[resource.RLIMIT_FSIZE] == (8, 8)
    assert limited(LIMITS, hard=9)[resource.RLIMIT_FSIZE] == (9, 9)
    assert limited(LIMITS, hard=10)[resource.RLIMIT_FSIZE] == (9, 9)


def test_where_nobody_says_what_is_mapped_eight_gibibytes_are(limited, monkeypatch):
    monkeypatch.setattr(os.path, "exists", lambda _: False)
    assert limited(LIMITS)[resource.RLIMIT_AS][0] == (8 << 30) + 1000


@pytest.mark.parametrize("root", [True, False])
def test_privileges_are_dropped_for_good(libc, monkeypatch, root):
    steps = []
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    for name, noted in noting(steps, "setgroups", "setresgid", "setresuid").items():
        monkeypatch.setattr(os, name, noted)
    confine._drop_privileges(60001)
    ids = (60001,) * 3
    assert steps == ([("setgroups", []), ("setresgid", *ids), ("setresuid", *ids)] if root else [])
    assert libc.calls[:64] == [("prctl", 24, capability, 0, 0, 0) for capability in range(64)]
    capset = 91 if filters.ARM else 126
    assert libc.calls[64:] == [
        ("syscall", capset, struct.pack("Ii", 0x20080522, 0), bytes(24)),
        ("prctl", 38, 1, 0, 0, 0),
    ]
    libc.status = -1
    with pytest.raises(OSError, match="drop capabilities"):
        confine._drop_privileges(60001)


@pytest.mark.parametrize(("most", "last"), [(256, 256), (1 << 20, 1 << 20), ((1 << 20) + 1, 1 << 20)])
def test_every_descriptor_but_a_few_is_closed(monkeypatch, most, last):
    steps = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (most, most))
    monkeypatch.setattr(os, "open", lambda path, flags: (steps.append(("open", path, flags)), 99)[1])
    for name, noted in noting(steps, "dup2", "closerange").items():
        monkeypatch.setattr(os, name, noted)
    confine.close_all_but({12, 5})
    monkeypatch.undo()
    assert steps == [
        ("open", "/dev/null", os.O_RDWR),
        *(("dup2", 99, number) for number in (0, 1, 2)),
        ("closerange", 3, 5),
        ("closerange", 6, 12),
        ("closerange", 13, last),
    ]


@pytest.mark.parametrize(("root", "slot", "expected"), [(True, 0, 60000), (True, 7, 60007), (False, 7, 60000)])
def test_each_place_has_a_user_of_its_own_where_root_grades(monkeypatch, root, slot, expected):
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    assert confine.user(slot) == expected
    assert FIRST_UID == 60_000


@pytest.mark.parametrize("mounted", [False, True])
def test_a_rank_alone_leaves_proc_to_its_keeper(libc, monkeypatch, mounted):
    monkeypatch.setattr(os.path, "exists", lambda path: mounted and path == "/proc/self")
    confine._leave_proc()
    assert libc.calls == [("unshare", 0x20000), *[("umount2", b"/proc", 2)] * mounted]


@pytest.mark.parametrize("alone", [False, True])
def test_entering_is_done_in_order_and_ends_with_the_grader(libc, monkeypatch, alone):
    steps = []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for name, noted in noting(
        steps, "_new_root", "_loopback_up", "set_limits", "_leave_proc", "_drop_privileges"
    ).items():
        monkeypatch.setattr(confine, name, noted)
    monkeypatch.setattr(filters, "forbid", lambda alone: steps.append(("forbid", alone)))

    class Score(str):
        def write_text(self, text):
            steps.append((str(self), text))
            raise PermissionError

    monkeypatch.setattr(confine, "Path", Score)
    confine.enter(LIMITS, 7, "view", alone=alone, covered=("/a",))
    assert steps == [
        ("/proc/self/oom_score_adj", "1000"),
        ("_new_root", LIMITS, 60007, alone, ("/a",), "view"),
        ("_loopback_up",),
        ("set_limits", LIMITS),
        *[("_leave_proc",)] * alone,
        ("_drop_privileges", 60007),
        ("forbid", alone),
    ]
    huge_pages_off, ends_with_the_grader = ("prctl", 41, 1, 0, 0, 0), ("prctl", 1, 9, 0, 0, 0)
    assert libc.calls == [("sethostname", b"localhost", 9), huge_pages_off, ends_with_the_grader]
