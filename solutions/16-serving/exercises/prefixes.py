"""Exercises on caches that are kept between requests, and on those that have to go."""

from collections import OrderedDict

from autograder.answers import Count, Expression, Function, positive
from autograder.declaration import Exercise, Mistake


def _routed(
    requests,
    replicas,
    pages,
    slack,
    *,
    anywhere=False,
    near=True,
    refresh=True,
    bounded=True,
    own=False,
    fair=True,
    strict=False,
    lowest=True,
    turned=False,
    several=True,
    whole=False,
):
    """The cached pages and the work; the flags are for the mistakes."""
    caches, work, found = [OrderedDict() for _ in range(replicas)], [0] * replicas, 0
    for keys in requests:
        known = []
        for cache in caches:
            hits = [key in cache for key in keys]
            known.append(sum(hits) if anywhere else next((i for i, hit in enumerate(hits) if not hit), len(keys)))
        most = min(work) + slack - (strict and slack > 0)
        free = [r for r in range(replicas) if work[r] <= most or not bounded]
        best = max(free, key=lambda r: ((known[r] if near else 0), -work[r] if fair else 0, -r if lowest else r))
        found += known[best]
        work[best] += len(keys) if own else len(keys) - known[best]
        for key in reversed(keys) if turned else keys:
            if refresh or key not in caches[best]:
                caches[best][key] = True
                caches[best].move_to_end(key)
        while len(caches[best]) > (max(pages, len(keys)) if whole else pages):
            caches[best].popitem(last=False)
            if not several:
                break
    return found, work


def route(requests, replicas, pages, slack):
    return _routed(requests, replicas, pages, slack)


def drawn(random):
    cases = []
    for _ in range(4):
        talks, requests = [], []
        for _ in range(random.randint(15, 40)):
            if talks and random.random() < 0.7:
                talk = random.choice(talks)
            else:
                talk = [random.randint(1, 3)]
                talks.append(talk)
            talk += [random.randint(10, 10**6) for _ in range(random.randint(1, 3))]
            requests.append(list(talk))
        cases.append((requests, random.randint(2, 4), random.randint(8, 40), random.randint(0, 30)))
    return cases


STICKY = Exercise(
    id="serving-lab-sticky",
    title="A router that knows the caches",
    points=3,
    lines=14,
    prompt="Requests come one after the other; `requests[i]` is the list of a prompt's pages, where a page's number "
    "stands for all tokens up to its end, so that equal numbers are equal beginnings. Each of `replicas` "
    "replicas keeps the last `pages` pages that were used there, and starts with none.\n\n"
    "A request goes to the replica that holds its longest beginning, but only to one whose work so far is at most "
    "`slack` above the least work of any; where several are equal, to the one with the least work, then to the one "
    "with the lowest number. What the replica does not hold it computes: that many pages are added to its work. Then "
    "all pages of the prompt count as used, in their order, and the longest unused are dropped until `pages` are "
    "left. Return how many pages were found, of all requests, and the list of the replicas' work. *Exact*.",
    answer=Function(
        "route",
        signature="route(requests, replicas, pages, slack)",
        cases=[
            ([[1, 2], [1, 2, 3], [1, 9]], 1, 10, 0),
            ([[1], [1], [1, 2], [2], [2]], 2, 1, 5),
            ([[1, 2], [1, 2, 3], [7], [1, 2, 3, 4], [7, 8]], 2, 10, 100),
            ([[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 6]], 2, 10, 1),
            ([[1, 2, 3], [4, 5], [1, 2, 6], [4, 5, 7], [1, 2, 8]], 1, 4, 0),
            ([[1, 2, 3, 4], [5, 6, 7], [1, 2, 8], [9, 10], [9, 10, 11]], 3, 6, 3),
            ([[1, 2, 3, 4], [9, 8], [1, 2, 3, 4, 5]], 1, 4, 0),
            ([[1, 2], [3], [1, 4], [5], [1, 2, 6], [7], [1, 2]], 1, 4, 0),
            ([[1, 2, 3], [1, 2, 3], [4, 5, 6, 7], [4]], 1, 2, 0),  # prompts longer than what is kept
            ([[1, 2], [1], [1, 2]], 3, 7, 1),  # the longest beginning of those within the slack
        ],
        drawn=drawn,
    ),
    solution=route,
    mistakes=(
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, anywhere=True),
            "You count every page that is held. What is one worth whose beginning has been dropped?",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, near=False),
            "That goes where the least work is. Who holds the beginning of the prompt?",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, bounded=False),
            "All conversations that begin alike end on one replica. What is `slack` for?",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, fair=False),
            "Where several hold as much of the prompt, yours takes the lowest number. What comes before that?",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, refresh=False),
            "Pages that are found have been used, too: the system prompt of everybody is not the oldest page.",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, own=True),
            "A page that is found is not computed. What is a replica's work?",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, strict=True),
            "A replica whose work is just `slack` above the least gets nothing from you. How much is at most `slack`?",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, lowest=False),
            "Where work and beginning are equal, yours takes the highest number. Which one was asked for?",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, turned=True),
            "The pages of a prompt count as used from the last one on. In which order are they used?",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, several=False),
            "At most one page is dropped after a request. How many pages may a replica keep?",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, pages, slack, whole=True),
            "A prompt longer than a replica's pages is kept whole there. Which of its pages are left?",
        ),
        Mistake(
            lambda requests, replicas, pages, slack: _routed(requests, replicas, 10**9, slack),
            "Nothing is ever dropped there. How many pages does a replica keep?",
        ),
    ),
    hints=(
        "For each replica: count pages from the first on, until one is not held.",
        "An `OrderedDict` with `move_to_end` and `popitem(last=False)` is a cache that drops what was not used for "
        "longest.",
        "Choose among the replicas with `work[r] <= min(work) + slack` by the key (found, -work, -r).",
    ),
    explain="Two aims pull apart: the longest beginning is where earlier requests went, and the least work is where "
    "they did not go. A bound on the difference decides between them. With slack 0 the router only balances, and with "
    "an endless one every prompt with the same system prompt ends on one replica. In between a conversation stays "
    "where it is, and a popular beginning is computed once more on each replica that needs it.",
    withholds=("hwlib.inference",),
)

EVICT = Exercise(
    id="serving-evict",
    title="Out and in again, or once more",
    points=2,
    prompt="The cache of a replica is full, and a sequence of `T_kv` tokens has to go for a while. Either its cache, "
    "`S_kv` bytes a token, is copied to the host's memory and later back, one after the other, each at the bandwidth "
    "`W`. Or it is dropped and computed again by a prefill, in which the replica reaches `R` tokens a second. From "
    "which W on does copying take less time? *Exact*.",
    answer=Expression(
        {
            "T_kv": positive("token", 100, 100000),
            "S_kv": positive("B", 1e4, 1e6),
            "R": positive("token/s", 1e3, 1e5),
        },
        "B/s",
    ),
    solution=lambda T_kv, S_kv, R: 2 * S_kv * R,
    mistakes=(
        Mistake(lambda T_kv, S_kv, R: S_kv * R, "The cache crosses the wire once there. How does it come back?"),
        Mistake(lambda T_kv, S_kv, R: S_kv * R / 2, "Upside down: two copies need a faster wire, not a slower one."),
        Mistake(
            lambda T_kv, S_kv, R: 2 * T_kv * S_kv * R,
            "The length is in both times. What is left of it when you compare them?",
        ),
        Mistake(lambda T_kv, S_kv, R: 2 * S_kv / R, "Is a bandwidth bytes times a rate, or bytes over one?"),
    ),
    hints=("Write both times. Both are proportional to the tokens.",),
    explain="Copying takes `2*T_kv*S_kv/W`, computing `T_kv/R`. The length cancels for a given R, and `W = 2*S_kv*R`; "
    "attention makes R itself fall with the length, so that long sequences favour copying. Llama 3 70B "
    "on eight H100s reads some 20,000 tokens a second, so 2·328 kB·20,000/s = 13 GB/s: nearly five times less than one "
    "PCIe of generation 5 has, and there are eight. For a model of 8 billion parameters, whose prefill is nine times "
    "as fast with a cache that is only 2.5 times smaller, the balance moves by 3.5 towards computing.",
)


def caches(chips, weights, hbm, token, context):
    return int((chips * hbm - weights) // (context * token))


ERRATUM = Exercise(
    id="serving-erratum-caches",
    title="A table of caches",
    points=2,
    prompt="*How to Scale Your Model* asks how many caches of 8,192 tokens fit beside Llama 3 70B on the smallest "
    "slice of TPU v5e that holds it, 16 GB each. In int4 an edition of 2025 "
    "prints 4 chips, 45 GB of weights, 19 GB left for caches of 81 kB a token, and 67 caches. The model has {P} "
    "billion parameters, and a token's cache {S_kv} bytes, both with 4 bits a number. How many caches of {T} tokens "
    "fit on {n} chips? *Exact*: 16 GB are 16e9 bytes, and nothing else is in the memory.",
    given=[
        dict(P=70, S_kv=81920, T=8192, n=4),
        dict(P=70, S_kv=81920, T=6144, n=4),
        dict(P=70, S_kv=81920, T=8192, n=5),
        dict(P=70, S_kv=81920, T=4096, n=3),
    ],
    answer=Count(of="cache"),
    solution=lambda P, S_kv, T, n: caches(n, P / 2 * 1e9, 16e9, S_kv, T),
    mistakes=(
        Mistake(67, "That is the printed number. Divide what is left by the bytes of a cache."),
        Mistake(
            lambda S_kv, T, n: caches(n, 45e9, 16e9, S_kv, T),
            "With the printed weights. How many bytes have so many parameters of 4 bits?",
        ),
        Mistake(
            lambda P, S_kv, T, n: caches(n, P / 2 * 1e9, 16e9, 2 * S_kv, T),
            "That is a cache of 8 bits a number. The bytes that are given are those of 4.",
        ),
        Mistake(
            lambda P, S_kv, T, n: caches(n, P * 1e9, 16e9, S_kv, T),
            "That is a byte for each parameter: int8.",
        ),
        Mistake(
            lambda P, S_kv, T, n: caches(n, P / 2 * 1e9, 16e9, 4 * S_kv, T),
            "Too few: a token's cache is given for 4 bits a number, and all chips hold the caches together.",
        ),
        Mistake(
            lambda P, S_kv, T, n: caches(n, P / 2 * 1e9, 16 * 2**30, S_kv, T),
            "With GiB: 16 GB are 16e9 bytes here.",
            name="gib-for-gb",
        ),
        Mistake(lambda S_kv, T, n: int(n * 16e9 // (S_kv * T)), "Where are the weights?"),
    ),
    hints=("Bytes left: the chips' memory less half a byte for each parameter.",),
    explain="{n} chips have {n}·16 GB, and {P} billion parameters of half a byte 35 GB, not 45. A cache has "
    "81,920·{T} bytes. For the slice of the book, 29 GB over 0.671 GB are 43: the same number as in bfloat16 and in "
    "int8, since chips, weights and caches all halve together. Its 67 does not follow from its own 19 GB either, "
    "which hold 28; it is what 45 GB would hold. The rates of requests below the table have the same errors in them.",
)
