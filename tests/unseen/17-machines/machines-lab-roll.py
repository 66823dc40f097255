# %% right: two pieces, sent at once
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = divmod(shift, r)
    out, waits = torch.empty_like(x), []
    for far, mine, theirs in ((q, slice(0, r - s), slice(s, r)), (q + 1, slice(r - s, r), slice(0, s))):
        to, frm = (rank + far) % n, (rank - far) % n
        if mine.start == mine.stop:
            continue
        if to == rank:
            out[theirs] = x[mine]
        else:
            waits.append((dist.isend(x[mine].contiguous(), to), None, None))
            buffer = torch.empty_like(x[mine])
            waits.append((dist.irecv(buffer, frm), theirs, buffer))
    for work, place, buffer in waits:
        work.wait()
        if place is not None:
            out[place] = buffer
    return out
# %% right: a batch of operations
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = x.shape[0]
    far, s = shift//r, shift % r
    head, tail = x[:r - s].contiguous(), x[r - s:].contiguous()
    low, high = torch.empty_like(tail), torch.empty_like(head)
    ops = []
    for piece, into, hop in ((head, high, far % n), (tail, low, (far + 1) % n)):
        if hop == 0:
            into.copy_(piece)
        elif len(piece):
            ops += [dist.P2POp(dist.isend, piece, (rank + hop) % n), dist.P2POp(dist.irecv, into, (rank - hop) % n)]
    for work in dist.batch_isend_irecv(ops) if ops else ():
        work.wait()
    return torch.cat((low, high))
# %% right: row by row, the target of each row
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    rows = torch.arange(rank*r, (rank + 1)*r)
    target, source = (rows + shift) % (n*r), (rows - shift) % (n*r)
    y, works, got = torch.zeros_like(x), [], []
    for other in range(n):
        out, into = x[target//r == other], source//r == other
        if other == rank:
            y[target[target//r == rank] % r] = out
            continue
        if len(out):
            works.append(dist.isend(out[target[target//r == other].argsort()].contiguous(), other))
        if into.any():
            buffer = torch.zeros_like(y[into])
            works.append(dist.irecv(buffer, other))
            got.append((into, buffer))
    for work in works:
        work.wait()
    for into, buffer in got:
        y[into] = buffer
    return y
# %% right: posted sends, blocking receives
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    out, posted = torch.full_like(x, 0), []
    first = (rank*r - shift) % (n*r)             # the row of the array that becomes my first
    cut = -first % r                             # my rows from `cut` on come from one rank further
    for rows, owner, at in ((cut, first//r, r - cut), (r - cut, -(-first//r) % n, 0)):
        hop = (rank - owner) % n
        if rows == 0:
            continue
        piece = x[at:at + rows].clone()
        if hop == 0:
            (out[:cut] if at else out[cut:]).copy_(piece)
            continue
        posted.append(dist.isend(piece, (rank + hop) % n))
        into = torch.empty_like(piece)
        dist.recv(into, owner)
        (out[:cut] if at else out[cut:]).copy_(into)
    for one in posted:
        one.wait()
    return out
# %% right: whole elements flat, in double steps of what leaves and what stays
import torch.distributed as dist
def roll(rank, n, x, shift):
    r, hops = x.shape[0], -(-shift//x.shape[0])
    over = hops*r - shift                        # rows that stop one rank earlier
    parts = {(hops - 1) % n: x[:over], hops % n: x[over:]} if 0 < over else {hops % n: x}
    works, pieces = [], []
    for hop, piece in parts.items():
        flat = piece.reshape(-1).clone()
        into = flat if hop == 0 else torch.empty_like(flat)
        if hop:
            works += [dist.isend(flat, (rank + hop) % n), dist.irecv(into, (rank - hop) % n)]
        pieces.append(into.view_as(piece))
    [work.wait() for work in works]
    return torch.cat(pieces[::-1])
# %% wrong: rolls the other way
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = divmod(shift, r)
    parts, works = [], []
    for piece, hop in ((x[s:], -q % n), (x[:s], (-q - 1) % n)):
        piece = piece.contiguous()
        into = torch.empty_like(piece)
        if hop == 0:
            into = piece
        elif len(piece):
            works += [dist.isend(piece, (rank + hop) % n), dist.irecv(into, (rank - hop) % n)]
        parts.append(into)
    for work in works:
        work.wait()
    return torch.cat(parts)
# %% wrong: the two pieces exchanged in the result
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = divmod(shift, r)
    parts, works = [], []
    for piece, hop in ((x[r - s:], (q + 1) % n), (x[:r - s], q % n)):
        piece = piece.contiguous()
        into = torch.empty_like(piece)
        if hop == 0:
            into = piece
        elif len(piece):
            works += [dist.isend(piece, (rank + hop) % n), dist.irecv(into, (rank - hop) % n)]
        parts.append(into)
    for work in works:
        work.wait()
    return torch.cat(parts[::-1])
# %% wrong: only to the next rank, a shift beyond a shard forgotten
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = 0, shift % r
    parts, works = [], []
    for piece, hop in ((x[r - s:], (q + 1) % n), (x[:r - s], q % n)):
        piece = piece.contiguous()
        into = torch.empty_like(piece)
        if hop == 0:
            into = piece
        elif len(piece):
            works += [dist.isend(piece, (rank + hop) % n), dist.irecv(into, (rank - hop) % n)]
        parts.append(into)
    for work in works:
        work.wait()
    return torch.cat(parts)
# %% wrong: cuts the piece at the wrong end
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = divmod(shift, r)
    parts, works = [], []
    for piece, hop in ((x[:s], (q + 1) % n), (x[s:], q % n)):
        piece = piece.contiguous()
        into = torch.empty_like(piece)
        if hop == 0:
            into = piece
        elif len(piece):
            works += [dist.isend(piece, (rank + hop) % n), dist.irecv(into, (rank - hop) % n)]
        parts.append(into)
    for work in works:
        work.wait()
    return torch.cat(parts)
# %% wrong: sends what it keeps, too
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = divmod(shift, r)
    parts, works = [], []
    for piece, hop in ((x[r - s:], (q + 1) % n), (x[:r - s], q % n)):
        piece = piece.contiguous()
        into = torch.empty_like(piece)
        if len(piece):
            works += [dist.isend(piece, (rank + hop) % n), dist.irecv(into, (rank - hop) % n)]
        parts.append(into)
    for work in works:
        work.wait()
    return torch.cat(parts)
# %% wrong: everything is gathered and each takes its rows
import torch.distributed as dist
def roll(rank, n, x, shift):
    whole = [torch.empty_like(x) for _ in range(n)]
    dist.all_gather(whole, x)
    return torch.roll(torch.cat(whole), shift, 0)[rank*len(x):(rank + 1)*len(x)]
# %% wrong: rolls within each shard
import torch.distributed as dist
def roll(rank, n, x, shift):
    return torch.roll(x, shift, 0)
# %% wrong: passed on from neighbour to neighbour
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = divmod(shift, r)
    def on(piece):
        if n == 1 or not len(piece):
            return piece
        into, piece = torch.empty_like(piece), piece.contiguous()
        works = [dist.isend(piece, (rank + 1) % n), dist.irecv(into, (rank - 1) % n)]
        for work in works:
            work.wait()
        return into
    for _ in range(q):
        x = on(x)
    return torch.cat((on(x[r - s:]), x[:r - s]))
# %% wrong: whole shards to both ranks that want a part
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = divmod(shift, r)
    def passed(hop):
        hop %= n
        if hop == 0:
            return x
        into = torch.empty_like(x)
        for work in (dist.isend(x, (rank + hop) % n), dist.irecv(into, (rank - hop) % n)):
            work.wait()
        return into
    return torch.cat((passed(q + 1)[r - s:], passed(q)[:r - s]))
# %% wrong: everybody receives before anybody sends
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = divmod(shift, r)
    parts = []
    for piece, hop in ((x[r - s:], (q + 1) % n), (x[:r - s], q % n)):
        into = piece.clone()
        if hop and len(piece):
            dist.recv(into, (rank - hop) % n)
            dist.send(piece.contiguous(), (rank + hop) % n)
        parts.append(into)
    return torch.cat(parts)
# %% wrong: without the wrap at the end of the ranks
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = divmod(shift, r)
    y, works = torch.zeros_like(x), []
    for piece, hop, place in ((x[r - s:], q + 1, y[:s]), (x[:r - s], q, y[s:])):
        piece = piece.contiguous()
        if hop == 0:
            place.copy_(piece)
            continue
        if len(piece) and rank + hop < n:
            works.append(dist.isend(piece, rank + hop))
        if len(piece) and rank - hop >= 0:
            dist.recv(place, rank - hop)
    for work in works:
        work.wait()
    return y
# %% wrong: the first rows leave, one rank on, and the rest one further
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    q, s = divmod(shift, r)
    parts, works = [], []
    for piece, hop in ((x[r - s:], q % n), (x[:r - s], (q + 1) % n)):
        piece = piece.contiguous()
        into = torch.empty_like(piece) if hop else piece
        if hop and len(piece):
            works += [dist.isend(piece, (rank + hop) % n), dist.irecv(into, (rank - hop) % n)]
        parts.append(into)
    for work in works:
        work.wait()
    return torch.cat(parts)
# %% wrong: rows one by one, each to its rank, in no care for those that stay
import torch.distributed as dist
def roll(rank, n, x, shift):
    r = len(x)
    y, works = torch.empty_like(x), []
    for j in range(r):
        to = (rank*r + j + shift) % (n*r)//r
        works.append(dist.isend(x[j].clone(), to))
    for j in range(r):
        dist.recv(y[j], (rank*r + j - shift) % (n*r)//r)
    for work in works:
        work.wait()
    return y
