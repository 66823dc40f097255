# %% right: lists of views, three collectives
def allreduce(rank, n, x, inner):
    for first in range(0, n, inner):
        group = dist.new_group(list(range(first, first + inner)))
        if first <= rank < first + inner:
            node = group
    for place in range(inner):
        group = dist.new_group(list(range(place, n, inner)))
        if rank % inner == place:
            rail = group
    parts = list(x.chunk(inner))
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts, group=node)
    dist.all_reduce(part, group=rail)
    dist.all_gather(parts, part, group=node)
    return x
# %% right: groups by comprehension, a new tensor by cat
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(range(k*inner, (k + 1)*inner)) for k in range(n//inner)]
    rails = [dist.new_group(range(k, n, inner)) for k in range(inner)]
    node, rail = nodes[rank//inner], rails[rank % inner]
    part = x.new_empty(len(x)//inner)
    dist.reduce_scatter(part, list(x.view(inner, -1)), op=dist.ReduceOp.SUM, group=node)
    dist.all_reduce(part, op=dist.ReduceOp.SUM, group=rail)
    gathered = [torch.empty_like(part) for _ in range(inner)]
    dist.all_gather(gathered, part, group=node)
    return torch.cat(gathered)
# %% right: across as a reduce-scatter and an all-gather
def allreduce(rank, n, x, inner):
    outer = n//inner
    nodes = [dist.new_group([o*inner + i for i in range(inner)]) for o in range(outer)]
    rails = [dist.new_group([o*inner + i for o in range(outer)]) for i in range(inner)]
    o, i = divmod(rank, inner)
    mine = torch.empty(x.numel()//inner, dtype=x.dtype, device=x.device)
    dist.reduce_scatter(mine, list(x.chunk(inner)), group=nodes[o])
    small = torch.empty(mine.numel()//outer, dtype=x.dtype, device=x.device)
    dist.reduce_scatter(small, list(mine.chunk(outer)), group=rails[i])
    dist.all_gather(list(mine.chunk(outer)), small, group=rails[i])
    dist.all_gather(list(x.chunk(inner)), mine, group=nodes[o])
    return x
# %% right: the calls that take one tensor
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(list(range(r, r + inner))) for r in range(0, n, inner)]
    rails = [dist.new_group(list(range(r, n, inner))) for r in range(inner)]
    part = x.new_zeros(x.numel()//inner)
    dist.reduce_scatter_tensor(part, x, group=nodes[rank//inner])
    dist.all_reduce(part, group=rails[rank % inner])
    out = torch.empty_like(x)
    dist.all_gather_into_tensor(out, part, group=nodes[rank//inner])
    return out
# %% right: started at once and waited for
def allreduce(rank, n, x, inner):
    node = rail = None
    for ranks in [range(k, k + inner) for k in range(0, n, inner)]:
        group = dist.new_group(ranks=list(ranks), backend=None)
        node = group if rank in ranks else node
    for ranks in [range(k, n, inner) for k in range(inner)]:
        group = dist.new_group(ranks=list(ranks))
        rail = group if rank in ranks else rail
    views = list(torch.split(x, len(x)//inner))
    part = torch.zeros_like(views[rank % inner])
    dist.reduce_scatter(part, views, group=node, async_op=True).wait()
    work = dist.all_reduce(part, group=rail, async_op=True)
    work.wait()
    dist.all_gather(views, part, group=node, async_op=True).wait()
    return x
# %% right: a dictionary of groups, result written back and returned
def allreduce(rank, n, x, inner):
    members = {("node", k): tuple(range(k*inner, k*inner + inner)) for k in range(n//inner)}
    members |= {("rail", k): tuple(range(k, n, inner)) for k in range(inner)}
    groups = {name: dist.new_group(list(ranks)) for name, ranks in members.items()}
    node, rail = groups["node", rank//inner], groups["rail", rank % inner]
    rows = x.reshape(inner, -1)
    part = rows[rank % inner].clone()
    dist.reduce_scatter(part, [row.clone() for row in rows], group=node)
    dist.all_reduce(part, group=rail)
    got = [torch.empty_like(part) for _ in rows]
    dist.all_gather(got, part, group=node)
    x.copy_(torch.stack(got).flatten())
    return x
# %% right: rails first, order of the groups does not matter
def allreduce(rank, n, x, inner):
    """Sum before you cross."""
    def mine(lists):
        made = [(ranks, dist.new_group(ranks)) for ranks in lists]
        return next(group for ranks, group in made if rank in ranks)
    rail = mine([[r for r in range(n) if r % inner == i] for i in range(inner)])
    node = mine([[r for r in range(n) if r//inner == o] for o in range(n//inner)])
    part = torch.empty(len(x)//inner, dtype=x.dtype, device=x.device)
    dist.reduce_scatter(part, list(x.split(len(part))), group=node)
    dist.all_reduce(part, group=rail)
    out = x.new_empty(len(x))
    dist.all_gather(list(out.split(len(part))), part, group=node)
    return out
# %% wrong: one flat ring
def allreduce(rank, n, x, inner):
    dist.all_reduce(x)
    return x
# %% wrong: whole arrays summed inside and then across
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(list(range(k, k + inner))) for k in range(0, n, inner)]
    rails = [dist.new_group(list(range(k, n, inner))) for k in range(inner)]
    dist.all_reduce(x, group=nodes[rank//inner])
    dist.all_reduce(x, group=rails[rank % inner])
    return x
# %% wrong: leaders of the nodes carry everything
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(list(range(k, k + inner))) for k in range(0, n, inner)]
    leaders = dist.new_group(list(range(0, n, inner)))
    first = rank//inner*inner
    dist.reduce(x, first, group=nodes[rank//inner])
    if rank == first:
        dist.all_reduce(x, group=leaders)
    dist.broadcast(x, first, group=nodes[rank//inner])
    return x
# %% wrong: crosses first, then sums inside
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(list(range(k, k + inner))) for k in range(0, n, inner)]
    rails = [dist.new_group(list(range(k, n, inner))) for k in range(inner)]
    outer = n//inner
    parts = list(x.chunk(outer))
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts, group=rails[rank % inner])
    dist.all_reduce(part, group=nodes[rank//inner])
    dist.all_gather(parts, part, group=rails[rank % inner])
    return x
# %% wrong: each rank makes its own groups only
def allreduce(rank, n, x, inner):
    first = rank//inner*inner
    node = dist.new_group(list(range(first, first + inner)))
    rail = dist.new_group(list(range(rank % inner, n, inner)))
    parts = list(x.chunk(inner))
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts, group=node)
    dist.all_reduce(part, group=rail)
    dist.all_gather(parts, part, group=node)
    return x
# %% wrong: forgets the sum across the nodes
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(list(range(k, k + inner))) for k in range(0, n, inner)]
    parts = list(x.chunk(inner))
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts, group=nodes[rank//inner])
    dist.all_gather(parts, part, group=nodes[rank//inner])
    return x
# %% wrong: returns its part without gathering
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(list(range(k, k + inner))) for k in range(0, n, inner)]
    rails = [dist.new_group(list(range(k, n, inner))) for k in range(inner)]
    parts = list(x.chunk(inner))
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts, group=nodes[rank//inner])
    dist.all_reduce(part, group=rails[rank % inner])
    return part
# %% wrong: gathers the parts of all ranks across the nodes
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(list(range(k, k + inner))) for k in range(0, n, inner)]
    rails = [dist.new_group(list(range(k, n, inner))) for k in range(inner)]
    parts = list(x.chunk(inner))
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts, group=nodes[rank//inner])
    every = [torch.empty_like(part) for _ in range(n//inner)]
    dist.all_gather(every, part, group=rails[rank % inner])
    part = torch.stack(every).sum(0)
    dist.all_gather(parts, part, group=nodes[rank//inner])
    return x
# %% wrong: the mean over the nodes
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(list(range(k, k + inner))) for k in range(0, n, inner)]
    rails = [dist.new_group(list(range(k, n, inner))) for k in range(inner)]
    parts = list(x.chunk(inner))
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts, group=nodes[rank//inner])
    dist.all_reduce(part, group=rails[rank % inner])
    part /= n//inner
    dist.all_gather(parts, part, group=nodes[rank//inner])
    return x
# %% wrong: neighbours across and strangers inside, groups exchanged
def allreduce(rank, n, x, inner):
    outer = n//inner
    nodes = [dist.new_group(list(range(k, n, outer))) for k in range(outer)]
    rails = [dist.new_group(list(range(k, k + outer))) for k in range(0, n, outer)]
    parts = list(x.chunk(inner))
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts, group=nodes[rank % outer])
    dist.all_reduce(part, group=rails[rank//outer])
    dist.all_gather(parts, part, group=nodes[rank % outer])
    return x
# %% wrong: reduce-scatter and all-gather over all ranks
def allreduce(rank, n, x, inner):
    parts = list(x.chunk(n))
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts)
    dist.all_gather(parts, part)
    return x
# %% wrong: gathers into copies and returns what it had
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(list(range(k, k + inner))) for k in range(0, n, inner)]
    rails = [dist.new_group(list(range(k, n, inner))) for k in range(inner)]
    parts = [part.clone() for part in x.chunk(inner)]
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts, group=nodes[rank//inner])
    dist.all_reduce(part, group=rails[rank % inner])
    dist.all_gather(parts, part, group=nodes[rank//inner])
    return x
# %% wrong: the sum across by reduce and broadcast of a tree
def allreduce(rank, n, x, inner):
    nodes = [dist.new_group(list(range(k, k + inner))) for k in range(0, n, inner)]
    rails = [dist.new_group(list(range(k, n, inner))) for k in range(inner)]
    rail, root = rails[rank % inner], rank % inner
    parts = list(x.chunk(inner))
    part = torch.empty_like(parts[0])
    dist.reduce_scatter(part, parts, group=nodes[rank//inner])
    dist.reduce(part, root, group=rail)
    dist.broadcast(part, root, group=rail)
    dist.all_gather(parts, part, group=nodes[rank//inner])
    return x
