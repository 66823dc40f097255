# %% right: a zero-bubble order in both directions, typed
answer = dict(
    layout="both",
    rank0=list("FFfiwfFiwIFfiIWWfiwwIWIW"),
    rank1=list("FfFffiwIFiWwIFfiwIiWIwWW"),
    rank2=list("fFffFIiWIFwfiWwFIiwIiwWW"),
    rank3=list("fffFIWFfIiWFwIiWFIwiWwiw"),
)
# %% right: another with all backward passes split
rows = "FFfifwFiwIFfiIWfWiwIWwIW FfFfiwIWFfiIwFfiWIiIwwWW fFfFIiwWfFIfiWFIiwIiWWww ffFIfFIiwfWWFIiFWIwWiwiw".split()
answer = dict(layout="both", **{f"rank{r}": list(row) for r, row in enumerate(rows)})
# %% right: DualPipe of the library, a pass at a time
letters = [[op.kind.lower() if op.chunk else op.kind for op in ops] for ops in dualpipe(4, 8).ops]
answer = {"layout": "both", **{f"rank{r}": row for r, row in enumerate(letters)}}
# %% right: DualPipe, each backward pass in halves
def halves(op):
    text = "IW" if op.kind == "B" else op.kind
    return list(text.lower() if op.chunk else text)
rows = [sum(map(halves, ops), []) for ops in dualpipe(4, 8).ops]
answer = dict(zip(["layout", "rank0", "rank1", "rank2", "rank3"], ["both", *rows]))
# %% right: the same, turned round, rank 3 first
rows = "FFfifiwwFFIfiWIfiwIWwIWW FfFfiwIiWFfwFIfiIiWIwWWw fFfFIiwIfiWFwfFIiwIiWwWW fffFIFIWWiwfiFIwFIiwWWiw".split()
turned = [list(row.swapcase()) for row in reversed(rows)]
answer = dict(layout="both", rank0=turned[0], rank1=turned[1], rank2=turned[2], rank3=turned[3])
# %% wrong: GPipe, whose eight microbatches do not fit
answer = dict(layout="one", **{f"rank{r}": list("F"*8 + "B"*8) for r in range(4)})
# %% wrong: 1F1B
rows = ["F"*(3 - r) + "FB"*(5 + r) + "B"*(3 - r) for r in range(4)]
answer = dict(layout="one", **{f"rank{r}": list(row) for r, row in enumerate(rows)})
# %% wrong: interleaved, as the library has it
rows = [[op.kind.lower() if op.chunk else op.kind for op in ops] for ops in interleaved(4, 8, 2).ops]
answer = dict(layout="two", **{f"rank{r}": row for r, row in enumerate(rows)})
# %% wrong: ZB-H1, one chunk a rank
rows = [[op.kind for op in ops] for ops in zb_h1(4, 8).ops]
answer = dict(layout="one", **{f"rank{r}": row for r, row in enumerate(rows)})
# %% wrong: ZB-V, short of full points
rows = [[op.kind.lower() if op.chunk else op.kind for op in ops] for ops in zbv(4, 8).ops]
answer = dict(layout="v", **{f"rank{r}": row for r, row in enumerate(rows)})
# %% wrong: ZB-H1 with two chunks a rank
rows = [[op.kind.lower() if op.chunk else op.kind for op in ops] for ops in zb_h1(4, 8, 2).ops]
answer = dict(layout="two", **{f"rank{r}": row for r, row in enumerate(rows)})
# %% wrong: DualPipe's order on a V
from hwlib.pipeline import dualpipev
rows = [[op.kind.lower() if op.chunk else op.kind for op in ops] for ops in dualpipev(4, 8).ops]
answer = dict(layout="v", **{f"rank{r}": row for r, row in enumerate(rows)})
# %% wrong: both directions, all forward passes first
rows = ["FFFFffffiiiiIIIIwwwwWWWW", "ffffFFFFIIIIiiiiWWWWwwww"]
answer = dict(layout="both", **{f"rank{r}": list(rows[r//2]) for r in range(4)})
# %% wrong: all weight gradients at the end
rows = ["F"*(3 - r) + "FI"*(5 + r) + "I"*(3 - r) + "W"*8 for r in range(4)]
answer = dict(layout="one", **{f"rank{r}": list(row) for r, row in enumerate(rows)})
# %% wrong: eight microbatches in each direction
rows = [[op.kind.lower() if op.chunk else op.kind for op in ops] for ops in dualpipe(4, 16).ops]
answer = dict(layout="both", **{f"rank{r}": row for r, row in enumerate(rows)})
# %% wrong: the weight gradients of the last stage are forgotten
rows = [[op.kind for op in ops] for ops in zb_h1(4, 8).ops]
rows[3] = [kind for kind in rows[3] if kind != "W"]
answer = dict(layout="one", **{f"rank{r}": row for r, row in enumerate(rows)})
# %% wrong: one order for all ranks
answer = dict(layout="both", **{f"rank{r}": list("FFfiwfFiwIFfiIWWfiwwIWIW") for r in range(4)})
# %% wrong: ranks the other way round
rows = [[op.kind for op in ops] for ops in zb_h1(4, 8).ops][::-1]
answer = dict(layout="one", **{f"rank{r}": row for r, row in enumerate(rows)})
