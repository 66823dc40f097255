"""Which system calls the filters refuse, and how: their programs run here as the kernel runs them, and nothing is
installed. Numbers of calls are those of Linux's tables."""

import ctypes
import errno
import importlib.util
import platform
import struct

import pytest

from autograder.sandbox import filters

X86 = {
    "machine": 0xC000003E,
    "calls": {
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "unshare": 272,
        "setns": 308,
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "bpf": 321,
        "userfaultfd": 323,
        "perf_event_open": 298,
        "fadvise64": 221,
        "cachestat": 451,
        "fanotify_init": 300,
        "memfd_create": 319,
        "memfd_secret": 447,
        "vmsplice": 278,
        "landlock_create_ruleset": 444,
        "shmget": 29,
        "semget": 64,
        "msgget": 68,
        "mincore": 27,
        "io_setup": 206,
        "syslog": 103,
    },
    "alone": {
        "flock": 73,
        "inotify_init": 253,
        "inotify_init1": 294,
        "inotify_add_watch": 254,
        "sysinfo": 99,
        "move_pages": 279,
        "migrate_pages": 256,
        "mbind": 237,
        "get_mempolicy": 239,
        "process_madvise": 440,
        "quotactl": 179,
        "quotactl_fd": 443,
    },
    "by argument": {
        "mmap": 9,
        "clone": 56,
        "socket": 41,
        "setsockopt": 54,
        "fcntl": 72,
        "preadv2": 327,
        "pwritev2": 328,
        "getsockopt": 55,
        "madvise": 28,
        "prctl": 157,
        "getrusage": 98,
        "wait4": 61,
        "waitid": 247,
        "futex": 202,
        "ioctl": 16,
    },
}
ARM = {
    "machine": 0xC00000B7,
    "calls": {
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "unshare": 97,
        "setns": 268,
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "bpf": 280,
        "userfaultfd": 282,
        "perf_event_open": 241,
        "fadvise64": 223,
        "cachestat": 451,
        "fanotify_init": 262,
        "memfd_create": 279,
        "memfd_secret": 447,
        "vmsplice": 75,
        "landlock_create_ruleset": 444,
        "shmget": 194,
        "semget": 190,
        "msgget": 186,
        "mincore": 232,
        "io_setup": 0,
        "syslog": 116,
    },
    "alone": {
        "flock": 32,
        "inotify_init1": 26,
        "inotify_add_watch": 27,
        "sysinfo": 179,
        "move_pages": 239,
        "migrate_pages": 238,
        "mbind": 235,
        "get_mempolicy": 236,
        "process_madvise": 440,
        "quotactl": 60,
        "quotactl_fd": 443,
    },
    "by argument": {
        "mmap": 222,
        "clone": 220,
        "socket": 198,
        "setsockopt": 208,
        "fcntl": 25,
        "preadv2": 286,
        "pwritev2": 287,
        "getsockopt": 209,
        "madvise": 233,
        "prctl": 167,
        "getrusage": 165,
        "wait4": 260,
        "waitid": 95,
        "futex": 98,
        "ioctl": 29,
    },
}
CLONE3 = 435
FUTEX2 = (449, 454, 455, 456)  # futex_waitv, futex_wake, futex_wait, futex_requeue
ALLOWED, FAILS = 0x7FFF0000, 0x50000
TABLES = {"x86_64": X86, "aarch64": ARM}


class Kernel:
    """Takes filters, and decides as the kernel does: of all that are installed, a failure of one is a failure."""

    def __init__(self):
        self.programs, self.options, self.status = [], [], 0

    def prctl(self, option, mode, program, *zeros):
        length, where = struct.unpack("HxxxxxxP", program.raw[:16])
        code = ctypes.string_at(where, 8 * length)
        self.programs.append([struct.unpack_from("HBBI", code, 8 * at) for at in range(length)])
        self.options.append((option, mode, *zeros))
        return self.status

    def decides(self, machine, call, arguments=()):
        """None where a call is allowed, or with which error it fails."""
        padded = [*arguments, *[0] * (6 - len(arguments))]
        data = struct.pack("IIQ6Q", call, machine, 0, *padded)
        failures = [result & 0xFFFF for program in self.programs if (result := run(program, data)) != ALLOWED]
        return failures[0] if failures else None


def run(program, data):
    """What a filter returns for a call, as the kernel's classic BPF does."""
    value, at = 0, 0
    while True:
        code, if_so, if_not, operand = program[at]
        at += 1
        if code == 0x06:
            assert operand == ALLOWED or operand & 0xFFFF0000 == FAILS
            return operand
        if code == 0x20:
            (value,) = struct.unpack_from("I", data, operand)
        elif code == 0x54:
            value &= operand
        else:
            holds = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[code]
            at += if_so if holds else if_not


@pytest.fixture(params=TABLES)
def table(request):
    return TABLES[request.param]


@pytest.fixture
def module(table, monkeypatch):
    """The filters of either machine."""
    name = next(name for name, each in TABLES.items() if each is table)
    monkeypatch.setattr(platform, "machine", lambda: name)
    spec = importlib.util.spec_from_file_location(f"filters_of_{name}", filters.__file__)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def forbidden(table, module, monkeypatch):
    """What decides on a call by name or number, after `forbid`."""

    def decide(call, *arguments, alone=False, machine=table["machine"]):
        kernel = Kernel()
        monkeypatch.setattr(module, "_libc", kernel)
        module.forbid(alone)
        number = call if isinstance(call, int) else table["by argument"][call]
        return kernel.decides(machine, number, arguments)

    return decide


def installed(monkeypatch, alone):
    kernel = Kernel()
    monkeypatch.setattr(filters, "_libc", kernel)
    filters.forbid(alone)
    return kernel


@pytest.mark.parametrize("alone", [False, True])
def test_these_calls_fail_and_no_others(table, module, monkeypatch, alone):
    kernel = Kernel()
    monkeypatch.setattr(module, "_libc", kernel)
    module.forbid(alone)
    expected = dict.fromkeys(table["calls"].values(), errno.EPERM) | {CLONE3: errno.ENOSYS}
    named = table["by argument"]
    if alone:
        expected |= dict.fromkeys(table["alone"].values(), errno.EPERM)
        expected |= dict.fromkeys(FUTEX2, errno.ENOSYS)
        expected |= {named["getrusage"]: 0, named["futex"]: errno.EAGAIN, named["ioctl"]: errno.EPERM}
    expected[named["socket"]] = errno.EPERM  # of the family 0
    decisions = {call: kernel.decides(table["machine"], call) for call in range(600)}
    assert {call: error for call, error in decisions.items() if error is not None} == expected


def test_huge_pages_stay_off(forbidden):
    assert forbidden("prctl", 41) == errno.EPERM
    assert [forbidden("prctl", option) for option in (40, 42)] == [None, None]


def test_the_calls_of_another_machine_and_of_x32_fail(forbidden, table):
    assert forbidden(1) is None
    assert forbidden(1, machine=0x40000003) == errno.EPERM
    assert forbidden(1, machine=table["machine"] + 1) == errno.EPERM
    assert forbidden(0x3FFFFFFF) is None
    assert forbidden(0x40000000) == errno.EPERM
    assert forbidden(0x40000001) == errno.EPERM


@pytest.mark.parametrize("flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
def test_no_process_makes_a_namespace(forbidden, flag):
    assert forbidden("clone", flag) == errno.EPERM
    assert forbidden("clone", flag | 17) == errno.EPERM


@pytest.mark.parametrize("flags", [0, 17, 0x3D0F00, 0x1000000, 0x10000, 0x40000, 0x80000000])
def test_threads_and_processes_are_made_as_before(forbidden, flags):
    """Those of pthread_create (0x3d0f00) among them; the second argument, a stack, is no flags."""
    assert forbidden("clone", flags, 0x7E020000) is None


@pytest.mark.parametrize(
    ("flags", "error"),
    [(0x21, errno.EPERM), (0x4021, errno.EPERM), (0x01, None), (0x22, None), (0x20, None), (0x02, None), (0x03, None)],
)
def test_memory_that_is_shared_and_no_files_is_not_mapped(forbidden, flags, error):
    assert forbidden("mmap", 0x21, 0x21, 0x21, flags, 0x21, 0x21) == error


@pytest.mark.parametrize(
    ("level", "option", "error"),
    [(1, 7, 0), (1, 8, 0), (1, 6, None), (1, 9, None), (1, 2, None), (0, 7, None), (6, 7, None), (2, 8, None)],
)
def test_setting_a_sockets_buffers_succeeds_and_does_nothing(forbidden, level, option, error):
    assert forbidden("setsockopt", 7, level, option) == error


@pytest.mark.parametrize("call", ["preadv2", "pwritev2"])
@pytest.mark.parametrize(("flags", "error"), [(0, None), (1, errno.EPERM), (8, errno.EPERM), (2**31, errno.EPERM)])
def test_reading_and_writing_takes_no_flags(forbidden, call, flags, error):
    assert forbidden(call, 3, 3, 3, 3, 3, flags) == error


def test_sockets_are_of_families_that_a_network_namespace_holds(forbidden):
    unix, inet, inet6, netlink = 1, 2, 10, 16
    errors = {family: forbidden("socket", family, 1) for family in range(45)}
    assert {family for family in errors if errors[family] is None} == {unix, inet, inet6, netlink}
    assert {error for error in errors.values() if error is not None} == {errno.EPERM}


def test_what_the_kernel_keeps_of_a_file_is_refused_to_ranks_alone(forbidden):
    taken = {
        "F_DUPFD": 0,
        "F_GETFD": 1,
        "F_SETFD": 2,
        "F_GETFL": 3,
        "F_SETFL": 4,
        "F_SETOWN": 8,
        "F_GETOWN": 9,
        "F_SETSIG": 10,
        "F_GETSIG": 11,
        "F_SETOWN_EX": 15,
        "F_GETOWN_EX": 16,
        "F_DUPFD_CLOEXEC": 1030,
        "F_ADD_SEALS": 1033,
        "F_GET_SEALS": 1034,
    }
    commands = [*range(45), *range(1020, 1050)]
    assert {one for one in commands if not forbidden("fcntl", 3, one, alone=True)} == set(taken.values())
    assert forbidden("fcntl", 3, 6, alone=True) == errno.EPERM
    assert {one for one in commands if forbidden("fcntl", 3, one)} == set()


@pytest.mark.parametrize(
    ("call", "arguments", "error"),
    [
        ("getrusage", (0, 1), 0),
        ("wait4", (1, 1, 1, 0), None),
        ("wait4", (1, 1, 1, 1), errno.EPERM),
        ("wait4", (1, 1, 1, 1 << 32), errno.EPERM),
        ("waitid", (1, 1, 1, 1, 0), None),
        ("waitid", (1, 1, 1, 1, 1), errno.EPERM),
        ("waitid", (1, 1, 1, 1, 1 << 32), errno.EPERM),
        *[("madvise", (12, 12, advice), errno.EPERM) for advice in (12, 20, 21, 25)],
        *[("madvise", (12, 12, advice), None) for advice in (0, 1, 3, 4, 8, 14, 22)],
        ("prctl", (67, 1), errno.EPERM),
        ("prctl", (15, 67), None),
        ("getsockopt", (3, 1, 57), errno.EPERM),
        ("getsockopt", (3, 1, 4), None),
        ("getsockopt", (3, 6, 57), None),
        *[("ioctl", (3, request), None) for request in (0x5401, 0x541B, 0x5421, 0x8912, 0x8946)],
        *[("ioctl", (3, request), errno.EPERM) for request in (0xC0506617, 0xC020660B, 0x80086601, 1, 0x15401)],
        *[("futex", (1, operation, 1), None) for operation in (128, 129, 137, 138, 0x189)],
        *[("futex", (1, operation, 1), errno.EAGAIN) for operation in (0, 3, 4, 6, 9, 0x109)],
        *[("futex", (1, operation, 1), 0) for operation in (1, 5, 10)],
    ],
)
def test_what_shared_files_and_counts_tell_is_refused_to_ranks_alone(forbidden, call, arguments, error):
    assert forbidden(call, *arguments, alone=True) == error
    assert forbidden(call, *arguments) is None


@pytest.mark.parametrize(
    ("flags", "error"), [(0x22, None), (0x40022, errno.EPERM), (0x40002, errno.EPERM), (0x20022, None)]
)
def test_memory_is_not_of_the_machines_huge_pages(forbidden, flags, error):
    assert forbidden("mmap", 0x40000, 0x40000, 0x40000, flags, 0x40000, 0x40000) == error


@pytest.mark.parametrize(("family", "protocol"), [(16, 0), (1, 5), (2, 6), (10, 17)])
def test_netlink_is_for_routes(forbidden, family, protocol):
    assert forbidden("socket", family, 3, protocol) is None
    assert forbidden("socket", 16, 3, protocol + 1) == errno.EPERM


def test_filters_are_installed_by_prctl(monkeypatch):
    assert set(installed(monkeypatch, True).options) == {(22, 2, 0, 0)}


@pytest.mark.parametrize("status", [-1, 1])
def test_a_kernel_without_filters_is_an_error(monkeypatch, status):
    kernel = Kernel()
    kernel.status = status
    monkeypatch.setattr(filters, "_libc", kernel)
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EINVAL)
    with pytest.raises(OSError, match="seccomp: Invalid argument") as caught:
        filters.forbid()
    assert caught.value.errno == errno.EINVAL
    assert len(kernel.programs) == 1
