"""Confine the calling process: Linux namespaces, a file system that holds only what Python needs, limits, no
privileges.

The new root is built from an allow-list, not by hiding: home folders, the course, the gradebook, other
submissions, the book's solutions and every key are not in it. Works as root and, through a user
namespace, as any other user.
"""

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from . import filters
from .limits import Limits

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x20000,
    0x4000000,
    0x8000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    1,
    2,
    4,
    8,
    32,
    4096,
    16384,
    1 << 18,
)
MNT_DETACH, AT_FDCWD, AT_RECURSIVE = 2, -100, 0x8000
SYS_MOUNT_SETATTR = 442
SYS_PIVOT_ROOT, SYS_CAPSET = (41, 91) if filters.ARM else (155, 126)
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38
FIRST_UID = 60_000  # learners run as 60000 + slot, which owns nothing

BASES = ("/mnt", "/media", "/srv", "/var/tmp", "/tmp")
SYSTEM = (
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/bin",
    "/sbin",
    "/opt/rocm",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/localtime",
    "/etc/mime.types",
)
DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")  # not zero: see `filters.SHARED_WITHOUT_FILE`
NO_PROC = "part of /proc is hidden, so no confined process can have its own: memory would not be limited"
MOST_FILES = 20_000  # of the learner's: the kernel holds a kilobyte for each, beyond its bytes
WORK = "/tmp/work"  # the learner's working folder, empty and private

_libc = ctypes.CDLL(None, use_errno=True)


def _check(done: int, what: str) -> None:
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    raw = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    _check(_libc.mount(raw[0], raw[1], raw[2], ctypes.c_ulong(flags), raw[3]), f"mount {target}")


def _read_only(target: str) -> None:
    """Make a bind mount and all below it read-only, in one call that also works inside a user namespace."""
    attributes = struct.pack("QQQQ", 1 | 2, 0, 0, 0)  # RDONLY | NOSUID
    _check(
        _libc.syscall(
            SYS_MOUNT_SETATTR,
            AT_FDCWD,
            os.fsencode(target),
            AT_RECURSIVE,
            attributes,
            ctypes.c_size_t(len(attributes)),
        ),
        f"read-only {target}",
    )


def visible_paths() -> list[str]:
    """What the new root shows: the system's libraries, this Python, its installed packages, hwlib and
    autograder."""
    packages = Path(__file__).resolve().parent.parent.parent
    installed = [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages")]
    paths = [
        *SYSTEM,
        sys.base_prefix,
        sys.base_exec_prefix,
        sys.prefix,
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
        *installed,
        f"{packages}/hwlib",
        f"{packages}/autograder",
    ]
    shown: list[str] = []
    for path in sorted({*paths, *map(os.path.realpath, paths)}):
        inside_shown = any(path.startswith(parent + "/") and not os.path.islink(parent) for parent in shown)
        if os.path.exists(path) and path != "/" and not inside_shown:
            shown.append(path)
    return shown


def masked_paths() -> list[str]:
    """Folders inside the visible ones that must be empty: the book, with its key, of every installed copy of
    this package.

    There may be several copies: a checkout may run while a wheel is installed too.
    """
    prefixes = {sys.prefix, sys.base_prefix, sys.base_exec_prefix, "/usr", "/usr/local"}
    folders = {Path(__file__).resolve().parent.parent.parent, *map(Path, filter(None, sys.path))}
    folders |= {found for prefix in prefixes for found in Path(prefix).glob("lib*/python*/*-packages")}
    books = {folder / "autograder" / "_book" for folder in folders}
    return sorted({str(path) for book in books for path in (book, book.resolve()) if path.is_dir()})


@dataclass(frozen=True)
class RootView:
    """The paths that a learner's root shows, those that are empty in it, and the folder that it is built on."""

    shown: tuple[str, ...]
    masked: tuple[str, ...]
    base: str

    @classmethod
    def of_system(cls) -> Self:
        """The view of this system; computed once, before forking, because it is the same for all."""
        shown = tuple(visible_paths())
        free = (b for b in BASES if os.path.isdir(b) and not any((p + "/").startswith(b + "/") for p in shown))
        return cls(shown, tuple(masked_paths()), next(free, ""))


def _unshare() -> None:
    root = os.geteuid() == 0
    uid, gid = os.geteuid(), os.getegid()
    _check(_libc.unshare(NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS | (0 if root else NEWUSER)), "unshare")
    if not root:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{FIRST_UID} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{FIRST_UID} {gid} 1")


def _new_root(limits: Limits, uid: int, alone: bool, covered: Sequence[str], view: RootView) -> None:
    base = view.base
    if not base:
        raise OSError(f"none of {', '.join(BASES)} is free to build the learner's file system on")
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    _mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    scratch = f"size={limits.scratch},nr_inodes={MOST_FILES},mode=1777"
    os.mkdir(base + "/tmp")
    _mount("tmpfs", base + "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, scratch)
    for path in (*view.shown, *DEVICES):
        _show(path, base + path)
    for path in view.masked:
        if not os.path.isdir(base + path):
            continue
        _mount("tmpfs", base + path, "tmpfs", MS_RDONLY | MS_NOSUID, "size=4k,mode=755")
    for path in covered:
        if os.path.isfile(base + path):
            _mount("/dev/null", base + path, None, MS_BIND)
            _read_only(base + path)
    os.mkdir(base + "/dev/shm")
    _mount("tmpfs", base + "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, scratch)
    os.mkdir(base + "/proc")
    with contextlib.suppress(PermissionError):  # inside a container that hides parts of /proc: see NO_PROC
        counts = "subset=pid" if alone else None  # or without the machine's, which one could write and another read
        _mount("proc", base + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, counts)
    Path(base + "/etc/passwd").write_text(f"learner:x:{uid}:{uid}::{WORK}:/bin/sh\n")
    Path(base + "/etc/group").write_text(f"learner:x:{uid}:\n")
    Path(base + "/etc/hosts").write_text("127.0.0.1 localhost\n")
    os.mkdir(base + WORK)
    os.chown(base + WORK, uid, uid)
    os.chdir(base)
    _check(_libc.syscall(SYS_PIVOT_ROOT, b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", MNT_DETACH), "leave the old root")
    os.chdir(WORK)
    _mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _leave_proc() -> None:
    """Have no /proc, which the keeper goes on reading: a process sees in it how many others map a page of a file, and
    which pages of it the machine holds, whoever has read them."""
    _check(_libc.unshare(NEWNS), "unshare")
    if os.path.exists("/proc/self"):
        _check(_libc.umount2(b"/proc", MNT_DETACH), "leave /proc")


def _show(path: str, target: str) -> None:
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    if os.path.islink(path) and os.path.isdir(path):
        if not os.path.lexists(target):
            os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.makedirs(target, mode=0o755, exist_ok=True)
    else:
        Path(target).touch()
    _mount(path, target, None, MS_BIND | MS_REC)
    _read_only(target)  # a device can be written to all the same, but its times stay as they are


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        fcntl.ioctl(link, 0x8914, struct.pack("16sH14s", b"lo", 0x41, b""))  # SIOCSIFFLAGS: UP | RUNNING


def set_limits(limits: Limits, own_user: bool = True) -> None:
    """Resource limits of this process and all it starts; that of processes only if the user has no others."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if os.path.exists("/proc/self/statm") else 0
    mapped = pages * resource.getpagesize() or 8 << 30
    wanted = {
        resource.RLIMIT_AS: mapped + limits.memory,
        resource.RLIMIT_FSIZE: limits.file_size,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(limits.total) + 1,
    }
    if own_user:
        wanted[resource.RLIMIT_NPROC] = limits.processes
    for what, value in wanted.items():
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, value))


def _drop_privileges(uid: int) -> None:
    for capability in range(64):
        _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    header, none = struct.pack("Ii", 0x20080522, 0), bytes(24)
    _check(_libc.syscall(SYS_CAPSET, header, none), "drop capabilities")
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def close_all_but(keep: set[int]) -> None:
    """Close every descriptor but those in `keep`; 0, 1 and 2 become /dev/null."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    last = 2
    for number in sorted(keep):
        os.closerange(last + 1, number)
        last = number
    os.closerange(last + 1, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 20))


def user(slot: int) -> int:
    """The user that a learner's processes run as: when root grades, a different one for each slot."""
    return FIRST_UID + slot if os.geteuid() == 0 else FIRST_UID


def enter_namespaces() -> None:
    """The first half, in the keeper: the next process that it forks is the first of new, empty namespaces."""
    _unshare()


def enter(limits: Limits, slot: int, view: RootView, alone: bool = False, covered: Sequence[str] = ()) -> None:
    """The second half, in that first process: its own root, network, limits; raises OSError if the system
    refuses. With `alone`, it cannot communicate by what the kernel keeps of a file that another process also reads, its
    locks, watches and mapped pages. The files that are `covered` are empty in it."""
    uid = user(slot)
    with contextlib.suppress(OSError):  # if memory runs out, the kernel should not kill the grader's process
        Path("/proc/self/oom_score_adj").write_text("1000")
    _new_root(limits, uid, alone, covered, view)
    _loopback_up()
    _check(_libc.sethostname(b"localhost", 9), "sethostname")
    set_limits(limits)
    if alone:
        _leave_proc()
    _drop_privileges(uid)
    _libc.prctl(filters.HUGE_PAGES, 1, 0, 0, 0)  # one of which a small page is still mapped would count as that alone
    filters.forbid(alone)
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
