"""Which system calls a learner's process may not make: seccomp filters, for it and all that it starts.

Namespaces, mounts and an unprivileged user confine it. The filtered calls are those not covered by these: resources
outside namespaces, common entry points of attacks on the kernel, and covert channels between a learner's processes.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Sequence

ARM = platform.machine() == "aarch64"
ARCHITECTURE, OTHER_CALLS = (0xC00000B7 if ARM else 0xC000003E), 0x40000000
# add_key, request_key, keyctl: no namespace holds the kernel's keys, a teacher's Kerberos ticket among them
KEYS = (217, 218, 219) if ARM else (248, 249, 250)
# unshare, setns, the three of io_uring, bpf, userfaultfd, perf_event_open
KERNEL = (97, 268, 425, 426, 427, 280, 282, 241) if ARM else (272, 308, 425, 426, 427, 321, 323, 298)
# fadvise64, cachestat, fanotify_init, mincore, io_setup (whose requests take the flags of preadv2): they change, tell
# or watch what the kernel keeps of a file that others read too
CACHE = (223, 451, 262, 232, 0) if ARM else (221, 451, 300, 27, 206)
LOG = 116 if ARM else 103  # syslog: the kernel's log has a line for each process of the machine that crashes
# memfd_create, memfd_secret, shmget, semget, msgget, vmsplice: memory that counts for no process once it is not
# mapped; landlock_create_ruleset: never
UNCOUNTED = (279, 447, 194, 190, 186, 75, 444) if ARM else (319, 447, 29, 64, 68, 278, 444)
# mmap of what is shared and no file's: all of it stays while a page is mapped, and counts for nobody; and of the
# machine's pool of huge pages
MMAP, SHARED_WITHOUT_FILE, HUGE = 222 if ARM else 9, 0x21, 0x40000
# flock, inotify's, and sysinfo: what processes that share no more than a read-only file can still tell each other by
# it, or by the machine's counts
WATCHES = (32, 26, 27, 179) if ARM else (73, 253, 294, 254, 99)
# move_pages, migrate_pages, mbind, get_mempolicy, process_madvise: whether a page is mapped by others too, and where
PLACES = (239, 238, 235, 236, 440) if ARM else (279, 256, 237, 239, 440)
QUOTAS = (60, 443) if ARM else (179, 443)  # quotactl, quotactl_fd
MADVISE, SHARED_PAGES = 233 if ARM else 28, (12, 20, 21, 25)  # MERGEABLE, COLD, PAGEOUT, COLLAPSE
PRCTL, MEMORY_MERGE = 167 if ARM else 157, 67
HUGE_PAGES = 41  # PR_SET_THP_DISABLE, see `confine.enter`
# getrusage, and the usage that wait4 and waitid tell: page faults for which a file had to be read from the disk
USAGE, WAIT4, WAITID = (165, 260, 95) if ARM else (98, 61, 247)
# A futex that is not PRIVATE may lie in a page of a file, and whoever maps that file wakes who waits there. The calls
# of the second version have their flags in memory, where a filter cannot look.
FUTEX, PRIVATE, OPERATION, WAKES = 98 if ARM else 202, 128, 127, (1, 5, 10)
FUTEX2 = (449, 454, 455, 456)
PREADV2, PWRITEV2 = (286, 287) if ARM else (327, 328)  # with flags they tell what of a file the kernel keeps
# setsockopt at the level of sockets: how much each buffers (SO_SNDBUF, SO_RCVBUF), see `keeper.SOCKET`
SETSOCKOPT, SOCKETS, BUFFERS = 208 if ARM else 54, 1, (7, 8)
GETSOCKOPT, COOKIE = 209 if ARM else 55, 57  # SO_COOKIE counts the sockets of the machine
# Of fcntl, what concerns a descriptor: its duplicates, flags, owner, signal, seals. The others are locks, leases,
# watches, hints and sizes that the kernel keeps of a file or a user.
FCNTL, OF_DESCRIPTOR = 25 if ARM else 72, (0, 1, 2, 3, 4, 8, 9, 10, 11, 15, 16, 1030, 1033, 1034)
IOCTL, OF_TERMINAL, OF_SOCKET = 29 if ARM else 16, 0x5400, 0x8900  # of a file there are more: flags, keys, extents
CLONE, CLONE3, SOCKET = (220, 435, 198) if ARM else (56, 435, 41)
NEW_NAMESPACE = 0x7E020000  # any of the flags of clone that ask for one
NETLINK = 16  # but for routes (0) it speaks to parts of the kernel that no namespace holds
FAMILIES = (1, 2, 10, NETLINK)  # unix, inet, inet6: all of them belong to a network namespace

LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06  # of the kernel's filter machine
# Where the call's number, the machine and its arguments lie
CALL, MACHINE, FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH = 0, 4, 16, 24, 32, 40, 48, 56
ALLOW, FAIL = (RETURN, 0, 0, 0x7FFF0000), 0x50000
PR_SET_SECCOMP = 22
Step = tuple[int, int, int, int]  # what to do, how many steps to skip if so and if not, with which value

_libc = ctypes.CDLL(None, use_errno=True)


def forbid(alone: bool = False) -> None:
    """Install the filters in this process, which has no_new_privs. A forbidden call fails with EPERM.

    `clone3` fails with ENOSYS, so that C libraries use `clone`, whose flags a filter can inspect. A call that sets a
    socket's buffers succeeds and changes nothing. With `alone`, see `_alone`. Raises OSError if the kernel has no
    filters.
    """
    head = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, ARCHITECTURE), (RETURN, 0, 0, FAIL | errno.EPERM), (LOAD, 0, 0, CALL)]
    calls = (*KEYS, *KERNEL, *CACHE, LOG, *UNCOUNTED)
    _install(head, [(AT_LEAST, OTHER_CALLS), *((EQUAL, number) for number in calls)])
    _install([(LOAD, 0, 0, CALL)], [(EQUAL, CLONE3)], errno.ENOSYS)
    _install(_argument(CLONE, FIRST), [(ANY_BIT, NEW_NAMESPACE)])
    _install([*_argument(MMAP, FOURTH), (AND, 0, 0, SHARED_WITHOUT_FILE)], [(EQUAL, SHARED_WITHOUT_FILE)])
    _install(_argument(MMAP, FOURTH), [(ANY_BIT, HUGE)])
    _install(_argument(PRCTL, FIRST), [(EQUAL, HUGE_PAGES)])
    level = [*_argument(SETSOCKOPT, SECOND), (EQUAL, 1, 0, SOCKETS), ALLOW, (LOAD, 0, 0, THIRD)]
    _install(level, [(EQUAL, buffer) for buffer in BUFFERS], 0)
    for call in (PREADV2, PWRITEV2):
        _install(_argument(call, SIXTH), [(AT_LEAST, 1)])
    _only(_argument(SOCKET, FIRST), FAMILIES)
    _install([*_argument(SOCKET, FIRST), (EQUAL, 1, 0, NETLINK), ALLOW, (LOAD, 0, 0, THIRD)], [(AT_LEAST, 1)])
    if alone:
        _alone()


def _alone() -> None:
    """What a process may not ask that must not meet others who read the same files: locks, watches, the pages that
    others map, the machine's counts.

    A usage is not told: `getrusage` succeeds and writes nothing. A shared futex never waits, as if its value had just
    changed, so that whoever uses one in memory of his own looks again; and waking wakes nobody.
    """
    _install([(LOAD, 0, 0, CALL)], [(EQUAL, number) for number in (*WATCHES, *PLACES, *QUOTAS)])
    _install([(LOAD, 0, 0, CALL)], [(EQUAL, number) for number in FUTEX2], errno.ENOSYS)
    _install([(LOAD, 0, 0, CALL)], [(EQUAL, USAGE)], 0)
    for call, where in ((WAIT4, FOURTH), (WAITID, FIFTH)):
        for half in (where, where + 4):
            _install(_argument(call, half), [(AT_LEAST, 1)])
    _install(_argument(MADVISE, THIRD), [(EQUAL, advice) for advice in SHARED_PAGES])
    _install(_argument(PRCTL, FIRST), [(EQUAL, MEMORY_MERGE)])
    level = [*_argument(GETSOCKOPT, SECOND), (EQUAL, 1, 0, SOCKETS), ALLOW, (LOAD, 0, 0, THIRD)]
    _install(level, [(EQUAL, COOKIE)])
    _only(_argument(FCNTL, SECOND), OF_DESCRIPTOR)
    _only([*_argument(IOCTL, SECOND), (AND, 0, 0, 0xFFFFFF00)], (OF_TERMINAL, OF_SOCKET))
    shared = [*_argument(FUTEX, SECOND), (ANY_BIT, 0, 1, PRIVATE), ALLOW, (AND, 0, 0, OPERATION)]
    _only(shared, WAKES, errno.EAGAIN)
    _install(shared, [(EQUAL, wake) for wake in WAKES], 0)


def _only(head: Sequence[Step], values: Sequence[int], error: int = errno.EPERM) -> None:
    """Install a filter of `head`, then `error` unless the value loaded last is one of `values`."""
    allowed = [step for value in values for step in ((EQUAL, 0, 1, value), ALLOW)]
    _install([*head, *allowed], [(AT_LEAST, 0)], error)


def _argument(call: int, where: int) -> list[Step]:
    """Allow every other call, and load an argument of this one."""
    return [(LOAD, 0, 0, CALL), (EQUAL, 1, 0, call), ALLOW, (LOAD, 0, 0, where)]


def _install(head: Sequence[Step], tests: Sequence[tuple[int, int]], error: int = errno.EPERM) -> None:
    """Install a filter of `head`, then `error` if one of `tests` holds for the value loaded last."""
    steps = [*head, *((code, len(tests) - at, 0, value) for at, (code, value) in enumerate(tests))]
    steps += [ALLOW, (RETURN, 0, 0, FAIL | error)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    if _libc.prctl(PR_SET_SECCOMP, 2, program, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")
