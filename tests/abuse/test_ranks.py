"""Ranks that would rather not send what they have to send: nothing reaches them but through the judge, who counts."""

import pytest

from .course import RIGHT, Attack

PLAN = """
def ring(rank, n, x):
    share(rank, x.tobytes())
    sizes = [(rank - k - 1) % n for k in range(n - 1)] + [(rank - k) % n for k in range(n - 1)]
    for size in sizes:
        yield Step(0*blocks(x.copy(), n)[size], (rank + 1) % n, (rank - 1) % n)
    parts = [np.frombuffer(look(r), x.dtype) for r in range(n)]
    return sum(parts[1:], parts[0])
"""
CHANNELS = {
    "a file": """
def share(r, b): open(f'/tmp/gpubook-abuse-{r}', 'wb').write(b)
def look(r): return open(f'/tmp/gpubook-abuse-{r}', 'rb').read()""",
    "shared memory": """
from multiprocessing import shared_memory
def share(r, b):
    global mine
    mine = shared_memory.SharedMemory(f'gpubook-abuse-{r}', create=True, size=len(b))
    mine.buf[:len(b)] = b
def look(r): return bytes(shared_memory.SharedMemory(f'gpubook-abuse-{r}').buf)[:64]""",
    "a socket of the loopback": """
import socket
def share(r, b): globals().update(server=socket.create_server(('127.0.0.1', 7000 + r)))
def look(r): return socket.create_connection(('127.0.0.1', 7000 + r), 0.2).recv(64)""",
    "an abstract socket": """
import socket
def share(r, b):
    globals().update(server=socket.socket(socket.AF_UNIX))
    server.bind(f'\\0gpubook-abuse-{r}')
    server.listen()
def look(r):
    link = socket.socket(socket.AF_UNIX)
    link.connect(f'\\0gpubook-abuse-{r}')
    return link.recv(64)""",
    "a socket of the machine": """
import socket
def share(r, b):
    globals().update(server=socket.socket(socket.AF_VSOCK))
    server.bind((1, 7000 + r))
    server.listen()
def look(r):
    link = socket.socket(socket.AF_VSOCK)
    link.connect((1, 7000 + r))
    return link.recv(64)""",
    "locks on a shared file": """
import fcntl
def share(r, b): fcntl.lockf(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_SH, 8, r*8)
def look(r): return b'12345678'*8""",
    "the time of a device": """
def share(r, b): os.utime('/dev/null')
def look(r): return os.stat('/dev/null').st_mtime_ns.to_bytes(8, 'little')*8""",
    "the machine's counts of open files": """
held = []
def share(r, b): held.extend(open('/dev/null') for _ in range(b[0] % 64))
def look(r): return bytes(int(open('/proc/sys/fs/file-nr').read().split()[0]) % 256 for _ in range(64))""",
    "the machine's memory": """
def share(r, b): globals().update(held=bytearray(b[0] << 20))
def look(r): return open('/proc/meminfo', 'rb').read(64)""",
    "pages of a file that both map": """
import ctypes, mmap, pathlib
libc, page = ctypes.CDLL(None), mmap.PAGESIZE
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, *[ctypes.c_size_t]*5]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
mapped = open('/proc/self/maps').read()
large = next(path for top in (sys.base_prefix, '/usr') for path in pathlib.Path(top).rglob('*')
             if str(path) not in mapped and path.is_file() and path.stat().st_size > 1024*page)
opened = os.open(large, os.O_RDONLY)
shared = []
def touched(at):
    place = libc.mmap(0, page, 1, 1, opened, at*page)
    return ctypes.string_at(place, 1) and place
def left(places): [libc.munmap(place, page) for place in places] and places.clear()
def share(r, b):
    global size
    left(shared)
    size = len(b)
    shared.extend(touched(512*r + at) for at in range(8*size) if b[at//8] >> at%8 & 1)
def look(r):
    looked, got, at = [touched(512*r + at) for at in range(8*size)], {}, -1
    for name, value, *rest in map(str.split, open('/proc/self/smaps')):
        if '-' in name: at = int(rest[0], 16)//page - 512*r if str(large) in rest else -1
        elif name == 'Pss:' and 0 <= at < 512: got[at] = int(value) < 4
    left(looked)
    return bytes(sum(got[8*k + j] << j for j in range(8)) for k in range(size))""",
    "a System V queue": """
import ctypes
libc = ctypes.CDLL(None)
def share(r, b): libc.msgsnd(libc.msgget(4711, 0o1666), ctypes.create_string_buffer(b'\\1'*8 + b), 56, 0)
def look(r):
    got = ctypes.create_string_buffer(80)
    if libc.msgrcv(libc.msgget(4711, 0o666), got, 56, 0, 0o4000) < 0: raise OSError('no message')
    return got.raw[8:72]""",
    "processes of one user": """
def share(r, b): [os.kill(p, 18) for p in range(2, 40)]
def look(r): return b'' """,
    "the session's past": """
import atexit
seen = {}
def share(r, b): seen[r] = b
def look(r): return seen[r]""",
}


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda name: name.replace(" ", "-"))
def test_generators_meet_nowhere(attacked, channel):
    attacked(Attack(channel, CHANNELS[channel], {"abuse-ring": PLAN}, asked=("abuse-ring",)))


TORCH_PLAN = """
def allreduce(rank, n, x):
    got = torch.empty_like(x[:3])
    for _ in range(2*(n - 1)):
        work = [dist.isend(x[:3].clone(), (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
        for w in work: w.wait()
    share(rank, x.numpy().tobytes())
    return sum(torch.frombuffer(bytearray(look(r)), dtype=x.dtype) for r in range(n))
"""
BEHIND = {
    "gloo on the loopback": """
def allreduce(rank, n, x):
    dist.destroy_process_group()
    import datetime
    dist.init_process_group('gloo', init_method='tcp://127.0.0.1:29500', rank=rank, world_size=n,
                            timeout=datetime.timedelta(seconds=1))
    dist.all_reduce(x)
    return x""",
    "a store in a file": """
def allreduce(rank, n, x):
    store = dist.FileStore('/tmp/gpubook-abuse-store', n)
    store.set(str(rank), x.numpy().tobytes())
    return sum(torch.frombuffer(bytearray(store.get(str(r))), dtype=x.dtype) for r in range(n))""",
    "a store over TCP": """
def allreduce(rank, n, x):
    import datetime
    store = dist.TCPStore('127.0.0.1', 29501, n, rank == 0, datetime.timedelta(seconds=1))
    store.set(str(rank), x.numpy().tobytes())
    return sum(torch.frombuffer(bytearray(store.get(str(r))), dtype=x.dtype) for r in range(n))""",
    "a patched torch.distributed": """
dist.send = dist.recv = dist.isend = dist.irecv = dist.all_reduce = lambda *a, **k: None
dist.ProcessGroup.send = dist.ProcessGroup.recv = lambda *a: None
from autograder.ranks import process_group
process_group.as_array = lambda tensor: np.zeros(0)
def allreduce(rank, n, x):
    dist.all_reduce(x)
    return n*x""",
    "tensors that say they are small": """
class Small(torch.Tensor):
    nbytes = property(lambda self: 0)
    numel = element_size = lambda self: 0
def allreduce(rank, n, x):
    got = torch.empty_like(x)
    for w in [dist.isend(x.as_subclass(Small), (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]: w.wait()
    return x + got""",
    "half of the bits": """
def allreduce(rank, n, x):
    got = torch.empty(8, dtype=torch.float32)
    for _ in range(2):
        for w in [dist.isend(x.float(), (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]: w.wait()
    return x + got""",
    "messages in tags": """
def allreduce(rank, n, x):
    for k, v in enumerate(x): dist.isend(torch.zeros(0), (rank + 1) % n, tag=int(v*1e9) % 2**31)
    return x""",
    "ranks that are started again": """
def allreduce(rank, n, x):
    import subprocess
    subprocess.run([sys.executable, '-c', 'import torch.distributed as d; d.init_process_group("gloo", '
                    'init_method="tcp://127.0.0.1:29502", rank=0, world_size=2)'], timeout=1)
    return x""",
    "a file": CHANNELS["a file"] + TORCH_PLAN,
    "shared memory": CHANNELS["shared memory"] + TORCH_PLAN,
    "a queue of torch": """
import torch.multiprocessing as mp
queue = mp.Queue()
def share(r, b): queue.put(b)
def look(r): return queue.get(timeout=0.2)"""
    + TORCH_PLAN,
}


@pytest.mark.parametrize("behind", BEHIND, ids=lambda name: name.replace(" ", "-"))
def test_torch_ranks_meet_nowhere(attacked, behind):
    attacked(Attack(behind, answers={"abuse-torch": BEHIND[behind]}, asked=("abuse-torch",)))


FORGE = """
from autograder.ranks import generators, process_rank
def forge(*replies):
    left = list(replies)
    def reply(self, *asked): return left.pop(0) if len(left) > 1 else left[0]
    generators.Rank.__call__ = process_rank.ProcessRank.__call__ = reply
def asks(**request): return ('asks', request, None)
def post(call, data=None, group=(0, 1), **more):
    return asks(do='post', call=call, group=list(group), data=data, **more)
wait = asks(do='wait', handle=0)
"""
REPLIES = {
    "the wrong shape": "forge(('steps', [(np.ones((2, 2)), 1, 1)], True))",
    "the wrong type": "forge(('steps', [(np.ones(2, 'int8'), 1, 1)], True))",
    "an end at once": "forge(('done', np.zeros(8), False))",
    "an end that is no end": "forge(('done',), ('done', [[]]*1000, 1), 'done', {}, None)",
    "endless steps": "forge(('steps', [(None, None, None)]*4000, False))",
    "huge numbers": "forge(('steps', [(None, 10**5500, -10**5500)], True))",
    "a failure in many words": "forge(('failed', 'raises', '<script>'*10**5))",
    "an unknown failure": "forge(('failed', ['right'], {'score': 1}))",
    "a verdict": "forge({'score': 1.0, 'kind': 'right', 'say': 'Right.'})",
    "no call at all": "forge(asks(), asks(do=None), asks(do=['send']), asks(do='<script>'))",
    "a wait for nothing": "forge(asks(do='wait', handle=-1))",
    "a wait for everything": "forge(asks(do='wait', handle=[0]), asks(do='wait', handle=True))",
    "a rank that there is not": "forge(asks(do='send', to=99, data=np.ones(1)))",
    "a message to itself": "forge(asks(do='send', to=0, data=np.ones(1)))",
    "a message of words": "forge(asks(do='send', to=1, data='1 2 3'))",
    "a list for a rank": "forge(asks(do='send', to=[1], data=np.ones(1)))",
    "tags of every kind": "forge(asks(do='send', to=1, tag=[[]], data=np.ones(1)))",
    "another's group": "forge(post('all_reduce', np.ones(8), group=(1,)), wait)",
    "a group of lists": "forge(post('all_reduce', np.ones(8), group=([0], [1])), wait)",
    "a group of words": "forge(post('all_reduce', np.ones(8), group='01'), wait)",
    "arrays that do not fit": "forge(post('all_reduce', np.ones((2, 4))), wait)",
    "complex sums": "forge(post('all_reduce', np.ones(8)*1j, op='max'), wait)",
    "sums of booleans": "forge(post('all_reduce', np.ones(8, bool), op='avg'), wait)",
    "an unknown sum": "forge(post('all_reduce', np.ones(8), op=['sum']), wait)",
    "a sum that overflows": "forge(post('all_reduce', np.full(8, 2**62), op='product'), wait)",
    "a root of a list": "forge(post('broadcast', np.ones(8), root=[0]), wait)",
    "a root that is no rank": "forge(post('broadcast', np.ones(8), root=7), wait)",
    "a root of a thousand digits": "forge(post('reduce', np.ones(8), root=10**5500), wait)",
    "a scatter of words": "forge(post('scatter', ['a', 'b'], root=0), wait)",
    "a scatter of uneven parts": "forge(post('scatter', [np.ones(1), np.ones((2, 2))*1j], root=0), wait)",
    "a gather of nothing": "forge(post('gather', np.ones(0), root=0), wait)",
    "an exchange of dicts": "forge(post('all_to_all', {0: np.ones(1), 1: np.ones(1)}), wait)",
    "an exchange of one": "forge(post('all_to_all', [np.ones(1)]), wait)",
    "markup for a rank": "forge(asks(do='send', to='<img src=x onerror=alert(1)>', data=np.ones(1)))",
    "markup for a sum": "forge(post('all_reduce', np.ones(8), op='<script>alert(1)</script>'), wait)",
    "markup for a group": "forge(post('all_reduce', np.ones(8), group=['<b>']*999), wait)",
    "no data": "forge(post('all_gather'), wait)",
    "a scalar": "forge(post('reduce_scatter', np.float64(1)), wait)",
    "an array without dimensions": "forge(post('reduce_scatter', np.array(1.0)), wait)",
    "an unknown call": "forge(post('all_mine', np.ones(8)), wait)",
    "a call of a list": "forge(post(['all_reduce'], np.ones(8)), wait)",
    "a call of a million letters": "forge(post('a'*10**6, np.ones(8)), wait)",
    "messages without end": "forge(asks(do='send', to=1, data=np.ones(1)), asks(do='send', to=0, data=np.ones(1)))",
    "posts without end": "forge(post('barrier'))",
}


@pytest.mark.parametrize("reply", REPLIES, ids=lambda name: name.replace(" ", "-"))
def test_a_forged_reply_is_a_verdict(attacked, reply):
    setup = f"{FORGE}\n{REPLIES[reply]}"
    names = ("abuse-ring",) if "'steps'" in setup else ("abuse-calls",)
    results, _ = attacked(Attack(reply, setup, {name: RIGHT[name] for name in names}, asked=names))
    assert "<" not in results[names[0]].say
    assert len(results[names[0]].say) < 500
