"""Notebooks that look for the key, the gradebook, other learners, the machine, the network: nothing is in sight."""

import errno
import os
import socket

import pytest

from autograder.sandbox import filters

from .course import SECRET, Attack

LOOK = """
def tell(do, *given, **options):
    try: print(do(*given, **options))
    except BaseException as error: print(type(error).__name__, error)
import ctypes, glob, subprocess
libc = ctypes.CDLL(None, use_errno=True)
"""
LOOKS = {
    "files of the course": """
for top in os.listdir('/'):
    for folder, _, files in os.walk('/' + top):
        if folder.startswith(('/proc', '/usr', '/lib')): continue
        for name in files:
            if name.endswith(('.ipynb', '.db', 'exercises.py', 'grades.json')):
                tell(lambda: open(os.path.join(folder, name), errors='replace').read())""",
    "the course by its path": """
for path in ROOT, ROOT + '/exercises.py', ROOT + '/gradebook.db', ROOT + '/../../../../' + ROOT + '/exercises.py':
    tell(lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())""",
    "other roots": """
for path in glob.glob('/proc/*/root/') + glob.glob('/proc/*/cwd') + glob.glob('/proc/self/fd/*') + ['/proc/1/root']:
    tell(lambda: open(os.path.join(path, ROOT.lstrip('/'), 'exercises.py')).read())
    tell(lambda: os.open('..', os.O_RDONLY, dir_fd=os.open(path, os.O_RDONLY)))""",
    "memory of other processes": """
for pid in range(1, 400):
    try:
        for name in 'environ', 'cmdline', 'maps', 'mem': tell(lambda: open(f'/proc/{pid}/{name}', 'rb').read(100))
    except OSError: pass
print(libc.ptrace(16, os.getppid(), 0, 0), libc.process_vm_readv(os.getppid(), None, 0, None, 0, 0))""",
    "its own memory": """
import re
needle = ('pelic' + 'ans').encode()
for line in open('/proc/self/maps'):
    span = re.match(r'([0-9a-f]+)-([0-9a-f]+) r', line)
    if span and 'vvar' not in line and 'vsyscall' not in line:
        lo, hi = (int(end, 16) for end in span.groups())
        try:
            with open('/proc/self/mem', 'rb', 0) as memory:
                memory.seek(lo)
                text = memory.read(min(hi - lo, 1 << 26))
            for hit in re.finditer(rb'\\\\d+ ' + needle, text): print(hit)
        except (OSError, OverflowError, ValueError): pass""",
    "open descriptors": """
for fd in range(64):
    tell(os.readlink, f'/proc/self/fd/{fd}')
    tell(os.pread, fd, 100, 0)
for other in range(1, 64):
    tell(lambda: os.pidfd_open(other))
    print(libc.syscall(438, other, 3, 0))""",
    "the environment": """
print(dict(os.environ))
print(open('/proc/self/environ', 'rb').read())""",
    "new mounts": """
for flags in 0x20000, 0x10000000 | 0x20000: print(libc.unshare(flags), ctypes.get_errno())
print(libc.mount(b'/', b'/tmp/work', None, 4096, None), libc.umount2(b'/proc', 2), libc.chroot(b'/tmp'))
tell(subprocess.run, ['unshare', '-Urm', 'cat', ROOT + '/exercises.py'], capture_output=True)
tell(subprocess.run, ['mount', '-o', 'remount,rw', '/'], capture_output=True)""",
    "other users": """
for call in (os.setuid, os.setgid, os.seteuid): tell(call, 0)
for program in 'su', 'sudo', 'newgrp', 'mount', 'ping': tell(subprocess.run, [program], capture_output=True, timeout=1)
print([p for p in glob.glob('/usr/bin/*') if os.stat(p).st_mode & 0o6000 and os.statvfs(p).f_flag & 2 == 0])""",
    "devices": """
for path in '/dev/mem', '/dev/kmsg', '/dev/vda', '/dev/fuse', '/dev/kvm', '/dev/nvidia0', '/dev/tty':
    tell(lambda: open(path, 'rb').read(10))
tell(os.mknod, '/tmp/gpubook-abuse', 0o60666, os.makedev(8, 0))
tell(os.mknod, 'x', 0o20666, os.makedev(1, 1))""",
    "the network": """
import socket, urllib.request
for host, port in (('127.0.0.1', PORT), ('192.0.2.1', 80), ('169.254.169.254', 80), ('localhost', 5432)):
    tell(socket.create_connection, (host, port), 0.3)
tell(socket.getaddrinfo, 'example.org', 80)
tell(lambda: urllib.request.urlopen('http://example.org/' + 'x', timeout=0.3).read())
tell(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
for path in glob.glob('/run/*') + ['/var/run/docker.sock', '/run/docker.sock', '/tmp/.X11-unix/X0']:
    tell(lambda: socket.socket(socket.AF_UNIX).connect(path))""",
    "its channel's other end": """
import socket
for fd in range(3, 20):
    try: link = socket.socket(fileno=os.dup(fd))
    except OSError: continue
    tell(lambda: socket.send_fds(link, [b'x'], [0]) if False else link.getpeername())
    tell(lambda: link.getsockopt(socket.SOL_SOCKET, 17, 12))""",
    "the kernel's words": """
print(libc.syscall(103, 2, None, 0), libc.klogctl(10, None, 0))
tell(lambda: open('/proc/kmsg', 'rb').read(10))
tell(lambda: open('/proc/kcore', 'rb').read(10))
tell(lambda: open('/proc/sys/kernel/core_pattern', 'w').write('|/tmp/gpubook-abuse'))
tell(lambda: open('/proc/sysrq-trigger', 'w').write('b'))""",
}


@pytest.mark.parametrize("look", LOOKS, ids=lambda name: name.replace(" ", "-"))
def test_there_is_nothing_to_see(classroom, attacked, look):
    with socket.create_server(("127.0.0.1", 0)) as server:
        known = f"ROOT, PORT = {str(classroom[0])!r}, {server.getsockname()[1]}\n"
        _, nb = attacked(Attack(look, LOOK + known + LOOKS[look]))
        server.settimeout(0.01)
        with pytest.raises(TimeoutError):
            server.accept()
    shown = str([cell.outputs for cell in nb.cells if cell.cell_type == "code"])
    assert "MARKER" not in shown
    assert "root:" not in shown


def test_of_all_exercises_only_those_of_the_assignment_are_there(attacked):
    said = "import json\nprint('it has', *json.load(open('exercises.json'))['exercises'])"
    answers = {"abuse-guess": "answer = 'x'", "abuse-time": "answer = -1"}
    _, nb = attacked(Attack("the bank", said, answers, asked=tuple(answers)))
    printed = [output["text"] for cell in nb.cells for output in cell.get("outputs", ()) if "text" in output]
    assert "it has abuse-guess abuse-time\n" in printed


def test_the_secret_can_be_found_where_it_is(classroom):
    """The search that finds nothing inside finds all of it outside."""
    root = classroom[0]
    found = [p for p in root.rglob("*") if p.is_file() and p.suffix in (".py", ".db", ".json", ".ipynb")]
    assert len([p for p in found if SECRET in p.read_text()]) == 4


KERNEL = """
import ctypes, errno, os, socket, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def called(number, *given):
    done = libc.syscall(number, *given)
    return 0 if done >= 0 else ctypes.get_errno()
def made(family, kind=socket.SOCK_STREAM):
    try: socket.socket(family, kind).close()
    except OSError as error: return error.errno
    return 0
"""


@pytest.fixture
def child(classroom):
    child = classroom[2].spawn(_limits())
    child.run(KERNEL)
    yield child
    child.kill()


def _limits():
    from .conftest import LIMITS

    return LIMITS


def _value(child, source):
    from autograder.values import encoding

    child.run(f"answer = {source}")
    return encoding.decode(child.answer("k", "answer", True)["value"])


NEW_USER, NEW_NET, NEW_NS = 0x10000000, 0x40000000, 0x20000
X86 = {
    "unshare": 272,
    "clone": 56,
    "clone3": 435,
    "setns": 308,
    "io_uring_setup": 425,
    "bpf": 321,
    "userfaultfd": 323,
    "perf_event_open": 298,
}


@pytest.mark.skipif(filters.ARM, reason="the numbers are those of x86")
@pytest.mark.parametrize("flags", [NEW_USER, NEW_NET, NEW_NS, NEW_USER | NEW_NET], ids=hex)
def test_it_makes_no_namespace(child, flags):
    assert _value(child, f"called({X86['unshare']}, {flags})") != 0
    assert _value(child, f"called({X86['clone']}, {flags} | 17, 0, 0, 0, 0)") != 0
    assert _value(child, f"called({X86['clone3']}, 0, 0)") == errno.ENOSYS  # then C libraries ask for clone


@pytest.mark.skipif(filters.ARM, reason="the numbers are those of x86")
@pytest.mark.parametrize("name", ["setns", "io_uring_setup", "bpf", "userfaultfd", "perf_event_open"])
def test_what_attacks_on_the_kernel_begin_with_is_forbidden(child, name):
    assert _value(child, f"called({X86[name]}, 0, 0, 0, 0, 0)") == 1


@pytest.mark.skipif(filters.ARM, reason="the numbers are those of x86")
@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("fanotify_init", "300, 0x200, 0"),
        ("fadvise64", "221, 0, 0, 0, 4"),
        ("cachestat", "451, 0, 0, 0, 0"),
        ("preadv2", "327, 0, 0, 0, 0, 0, 8"),
        ("pwritev2", "328, 0, 0, 0, 0, 0, 16"),
        ("memfd_create", "319, b'x', 0"),
        ("shmget", "29, 0, 4096, 0o1600"),
        ("mincore", "27, 0, 4096, 0"),
        ("io_setup", "206, 1, ctypes.byref(ctypes.c_ulong())"),
        ("syslog", "103, 10, 0, 0"),
        ("mmap of huge pages", "9, 0, 1 << 21, 3, 0x40022, -1, 0"),
        ("socket of netlink", "41, 16, 3, 16"),
    ],
)
def test_what_the_kernel_keeps_of_files_and_uncounted_memory_are_out_of_reach(child, call, given):
    assert _value(child, f"called({given})") == errno.EPERM, call


RANK = (
    KERNEL
    + """
import fcntl, mmap, multiprocessing, resource, threading
file = os.open(ctypes.__file__, os.O_RDONLY)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, *[ctypes.c_size_t]*5]
page = ctypes.c_void_p(libc.mmap(0, 4096, 1, 1, file, 0))
word = ctypes.c_uint32.from_address(page.value).value
def waited(operation, *more):
    ctypes.set_errno(0)
    done = libc.syscall(202, page, operation, *more)
    return done, ctypes.get_errno()
"""
)
USAGE = "ctypes.create_string_buffer(200)"
REFUSED = {
    "the machine's counts": f"called(99, {USAGE})",
    "a lock": "called(72, file, 37, ctypes.create_string_buffer(64))",
    "a lease": "called(72, file, 1024, 0)",
    "a hint that stays with a file": "called(72, file, 1036, ctypes.byref(ctypes.c_uint64(2)))",
    "the hint of a file": "called(72, file, 1035, ctypes.byref(ctypes.c_uint64()))",
    "an unknown command of fcntl": "called(72, file, 1099, 0)",
    "the size of a pipe": "called(72, os.pipe()[0], 1032, 0)",
    "a watch": "called(294, 0)",
    "where a page lies": "called(279, 0, 0, 0, 0, 0, 2)",
    "to move pages": "called(237, 0, 4096, 0, 0, 0, 2)",
    "to put a page out": "called(28, page, 4096, 21)",
    "to merge equal pages": "called(157, 67, 1, 0, 0, 0)",
    "the faults of a child": f"called(61, -1, 0, 1, {USAGE})",
    "the faults of a child again": f"called(247, 0, 0, 0, 5, {USAGE})",
    "the extents of a file": "called(16, file, 0xC020660B, ctypes.create_string_buffer(64))",
    "the keys of a file system": "called(16, file, 0xC0506617, ctypes.create_string_buffer(200))",
    "the number of a socket": f"called(55, socket.socket().fileno(), 1, 57, {USAGE}, ctypes.byref(ctypes.c_int(8)))",
    "a quota": f"called(179, 0, 0, 0, {USAGE})",
}


@pytest.fixture(scope="module")
def rank(classroom):
    rank = classroom[2].spawn(_limits(), alone=True)
    assert rank.run(RANK)["error"] is None
    yield rank
    rank.kill()


@pytest.mark.skipif(filters.ARM, reason="the numbers are those of x86")
def test_a_rank_does_not_ask_what_another_can_change(rank):
    tried = _value(rank, f"[{', '.join(REFUSED.values())}]")
    assert [name for name, error in zip(REFUSED, tried, strict=True) if error != errno.EPERM] == []
    assert _value(rank, "[called(number, 0, 0, 0, 0, 0, 0) for number in (449, 454, 455, 456)]") == [errno.ENOSYS] * 4
    assert _value(rank, "os.path.exists('/proc/self')") is False


@pytest.mark.skipif(filters.ARM, reason="the numbers are those of x86")
def test_a_rank_waits_for_nobody_in_a_file(rank, child):
    """What is waited for in a page of a file is woken by whoever maps it: with a learner's process it would wait."""
    soon = "ctypes.create_string_buffer(bytes(8) + (10**7).to_bytes(8, 'little'))"
    assert _value(rank, f"waited(0, word, {soon})") == (-1, errno.EAGAIN)
    assert _value(rank, "[waited(wake, 1) for wake in (1, 10)]") == [(0, 0)] * 2
    assert _value(rank, f"waited(128, word, {soon})") == (-1, errno.ETIMEDOUT)
    assert child.run(RANK)["error"] is None
    assert _value(child, f"waited(0, word, {soon})") == (-1, errno.ETIMEDOUT)


AT_WORK = """
def joined():
    done = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    thread.join()
    return done
def locked():
    lock = multiprocessing.get_context('fork').Lock()
    process = multiprocessing.get_context('fork').Process(target=lock.acquire)
    process.start()
    process.join(5)
    return process.exitcode, lock.acquire(block=False)
"""


def test_a_rank_works_as_ever(rank):
    assert rank.run(AT_WORK)["error"] is None
    assert _value(rank, "joined()") == [1]
    assert _value(rank, "locked()") == (0, False)
    assert _value(rank, "subprocess.run(['echo', 'hi'], capture_output=True).stdout.decode()") == "hi\n"
    assert _value(rank, "fcntl.fcntl(file, fcntl.F_GETFD)") == 1
    assert _value(rank, "len(socket.if_nameindex())") == 1
    assert rank.run("%%time\nx = 1")["error"] is None


def test_files_are_read_and_callbacks_made_as_ever(child):
    assert _value(child, "os.preadv(os.open('/etc/hosts', os.O_RDONLY), [bytearray(9)], 0)") == 9
    assert _value(child, "ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 7)()") == 7


@pytest.mark.parametrize("family", ["AF_VSOCK", "AF_ALG", "AF_PACKET", "AF_CAN", "AF_TIPC", "AF_QIPCRTR"])
def test_only_families_of_its_own_world_have_sockets(child, family):
    number = getattr(socket, family, 0)
    assert number
    assert _value(child, f"made({number}, {int(socket.SOCK_DGRAM)})") == 1
    assert _value(child, "[made(socket.AF_UNIX), made(socket.AF_INET), made(socket.AF_INET6)]") == [0, 0, 0]


def test_processes_and_threads_are_made_as_ever(child):
    assert _value(child, "subprocess.run(['echo', 'hi'], capture_output=True).stdout.decode()") == "hi\n"
    started = "__import__('concurrent.futures').futures.ThreadPoolExecutor(2).submit(os.getpid).result() > 0"
    assert _value(child, started) is True


def test_a_device_keeps_nobodys_time(child):
    before = os.stat("/dev/null").st_mtime_ns
    assert "OSError" in str(child.run("os.utime('/dev/null')")["error"])
    assert os.stat("/dev/null").st_mtime_ns == before
    assert child.run("open('/dev/null', 'w').write('x')\nopen('/dev/urandom', 'rb').read(3)")["error"] is None
