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
# fadvise64, cachestat, fanotify_init: they change, tell or watch what the kernel keeps of a file that others read too
CACHE = (223, 451, 262) if ARM else (221, 451, 300)
# memfd_create, memfd_secret, shmget, semget, msgget: memory that counts for no process once it is not mapped
UNCOUNTED = (279, 447, 194, 190, 186) if ARM else (319, 447, 29, 64, 68)
# mmap of what is shared and no file's: all of it stays while a page is mapped, and counts for nobody
MMAP, SHARED_WITHOUT_FILE = 222 if ARM else 9, 0x21
# flock, inotify's, and sysinfo: what processes that share no more than a read-only file can still tell each other by
# it, or by the machine's counts
WATCHES = (32, 26, 27, 179) if ARM else (73, 253, 294, 254, 99)
PREADV2, PWRITEV2 = (286, 287) if ARM else (327, 328)  # with flags they tell what of a file the kernel keeps
# setsockopt at the level of sockets: how much each buffers (SO_SNDBUF, SO_RCVBUF), see `keeper.SOCKET`
SETSOCKOPT, SOCKETS, BUFFERS = 208 if ARM else 54, 1, (7, 8)
FCNTL, LOCKS = 25 if ARM else 72, (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)  # record locks, leases, F_NOTIFY
CLONE, CLONE3, SOCKET = (220, 435, 198) if ARM else (56, 435, 41)
NEW_NAMESPACE = 0x7E020000  # any of the flags of clone that ask for one
FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink: all of them belong to a network namespace

LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06  # of the kernel's filter machine
# Where the call's number, the machine and its arguments lie
CALL, MACHINE, FIRST, SECOND, THIRD, FOURTH, SIXTH = 0, 4, 16, 24, 32, 40, 56
ALLOW, FAIL = (RETURN, 0, 0, 0x7FFF0000), 0x50000
PR_SET_SECCOMP = 22
Step = tuple[int, int, int, int]  # what to do, how many steps to skip if so and if not, with which value

_libc = ctypes.CDLL(None, use_errno=True)


def forbid(alone: bool = False) -> None:
    """Install the filters in this process, which has no_new_privs. A forbidden call fails with EPERM.

    `clone3` fails with ENOSYS, so that C libraries use `clone`, whose flags a filter can inspect. A call that sets a
    socket's buffers succeeds and changes nothing. With `alone`, the process can neither set nor see locks and watches.
    Raises OSError if the kernel has no filters.
    """
    head = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, ARCHITECTURE), (RETURN, 0, 0, FAIL | errno.EPERM), (LOAD, 0, 0, CALL)]
    calls = (*KEYS, *KERNEL, *CACHE, *UNCOUNTED, *(WATCHES if alone else ()))
    _install(head, [(AT_LEAST, OTHER_CALLS), *((EQUAL, number) for number in calls)])
    _install([(LOAD, 0, 0, CALL)], [(EQUAL, CLONE3)], errno.ENOSYS)
    _install(_argument(CLONE, FIRST), [(ANY_BIT, NEW_NAMESPACE)])
    _install([*_argument(MMAP, FOURTH), (AND, 0, 0, SHARED_WITHOUT_FILE)], [(EQUAL, SHARED_WITHOUT_FILE)])
    level = [*_argument(SETSOCKOPT, SECOND), (EQUAL, 1, 0, SOCKETS), ALLOW, (LOAD, 0, 0, THIRD)]
    _install(level, [(EQUAL, buffer) for buffer in BUFFERS], 0)
    for call in (PREADV2, PWRITEV2):
        _install(_argument(call, SIXTH), [(AT_LEAST, 1)])
    known = [step for family in FAMILIES for step in ((EQUAL, 0, 1, family), ALLOW)]
    _install([*_argument(SOCKET, FIRST), *known], [(AT_LEAST, 0)])
    if alone:
        _install(_argument(FCNTL, SECOND), [(EQUAL, command) for command in LOCKS])


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
