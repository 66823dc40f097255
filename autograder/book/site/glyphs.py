"""A small drawing for each chapter's card: what the chapter is about, in a few lines and one accent.

They are SVG of a hundred words each, in the colours of the page. Where a shape follows from a formula or a schedule of
the library, it is computed: the roof, the memory of a data-parallel rank, a pipeline's passes, a queue's wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import cos, log10, pi, sin
from random import Random

from markupsafe import Markup

WIDTH, HEIGHT = 132, 72
Point = tuple[float, float]
SHOWN: dict[str, Callable[[], Iterable[str]]] = {}


def glyph(topic: str) -> Markup:
    """The drawing of a chapter's topic ("rooflines"), "" for one that has none."""
    if topic not in SHOWN:
        return Markup("")
    shapes = "".join(SHOWN[topic]())
    return Markup(
        f'<svg class="glyph" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true" focusable="false">{shapes}</svg>'
    )


def _of(topic: str) -> Callable[[Callable[[], Iterable[str]]], Callable[[], Iterable[str]]]:
    def register(draw: Callable[[], Iterable[str]]) -> Callable[[], Iterable[str]]:
        SHOWN[topic] = draw
        return draw

    return register


def _n(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")


def _rect(x: float, y: float, wide: float, high: float, look: str = "") -> str:
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(wide)}" height="{_n(high)}"{_class(look)}/>'


def _dot(x: float, y: float, r: float = 3, look: str = "") -> str:
    return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}"{_class(look)}/>'


def _line(points: Iterable[Point], look: str = "") -> str:
    return f'<polyline points="{" ".join(f"{_n(x)},{_n(y)}" for x, y in points)}"{_class(look)}/>'


def _class(look: str) -> str:
    return f' class="{look}"' if look else ""


def _around(n: int, x: float, y: float, radius: float) -> list[Point]:
    return [(x + radius * sin(2 * pi * k / n), y - radius * cos(2 * pi * k / n)) for k in range(n)]


@_of("gpu-architecture")
def _divergence() -> Iterator[str]:
    """A warp's lanes at an `if`: some take one way, then the others the other."""
    takes = [k % 3 == 0 for k in range(12)]
    for row, on in enumerate([[True] * 12, takes, [not one for one in takes], [True] * 12]):
        for lane, lit in enumerate(on):
            split = row in (1, 2)
            yield _rect(8 + 10 * lane, 8 + 15 * row, 7, 11, ("a" if split else "f") if lit else "")


@_of("memory-hierarchy")
def _memories() -> Iterator[str]:
    """From few bytes near the tensor cores to many far away: each level is wider."""
    for level, wide in enumerate((22, 50, 82, 118)):
        yield _rect((WIDTH - wide) / 2, 8 + 15 * level, wide, 11, "a" if level == 0 else "f" if level % 2 else "")


@_of("rooflines")
def _roof() -> Iterator[str]:
    """A chip's roof, and a matmul under it whose batch grows."""
    from hwlib.roofline import attainable_flops
    from hwlib.specs import accelerators

    chip = accelerators["h100-sxm"]
    peak, bandwidth = chip.bf16_flops, chip.hbm_bandwidth

    def place(intensity: float, part: float = 1.0) -> Point:
        flops = part * attainable_flops(intensity, peak, bandwidth)
        return 10 + 28 * log10(intensity), 14 + 17 * log10(peak / flops)

    yield _line([place(10 ** (k / 8)) for k in range(8, 33)], "w")
    yield _line([(10, 6), (10, 64), (124, 64)])
    for k in (3, 5, 7, 9, 11):
        yield _dot(*place(2.0**k, 0.72), 3, "a")


@_of("node-networking")
def _node() -> Iterator[str]:
    """Eight accelerators, each joined to each of four switches."""
    gpus, switches = [(13 + 15.2 * k, 14.0) for k in range(8)], [(30 + 24 * k, 58.0) for k in range(4)]
    for k, gpu in enumerate(gpus):
        for switch in switches:
            yield _line([gpu, switch], "t" if k else "l")
    yield from (_rect(x - 5, y - 5, 10, 10, "o" if k else "a") for k, (x, y) in enumerate(gpus))
    yield from (_rect(x - 8, y - 4, 16, 8, "o f") for x, y in switches)


@_of("cluster-networking")
def _tree() -> Iterator[str]:
    """Hosts, leaves and spines; one way from a host to another."""
    hosts = [(11 + 15.7 * k, 62.0) for k in range(8)]
    leaves, spines = [(19 + 31.4 * k, 38.0) for k in range(4)], [(45.0, 12.0), (87.0, 12.0)]
    for k, host in enumerate(hosts):
        yield _line([host, leaves[k // 2]], "t")
    for leaf in leaves:
        yield from (_line([leaf, spine], "t") for spine in spines)
    yield _line([hosts[0], leaves[0], spines[1], leaves[3], hosts[7]], "l")
    yield from (_rect(x - 7, y - 4, 14, 8, "o f") for x, y in (*leaves, *spines))
    yield from (_dot(x, y, 3.2, "a" if k in (0, 7) else "o") for k, (x, y) in enumerate(hosts))


@_of("collectives")
def _ring() -> Iterator[str]:
    """Ranks in a ring, and a block on each link."""
    places = _around(6, WIDTH / 2, HEIGHT / 2, 28)
    yield f'<circle cx="{_n(WIDTH / 2)}" cy="{_n(HEIGHT / 2)}" r="28" class="t"/>'
    yield from (_rect(x - 7, y - 5, 14, 10, "o") for x, y in places)
    yield from (_rect(x - 3, y - 3, 6, 6, "a") for x, y in _around(12, WIDTH / 2, HEIGHT / 2, 28)[1::2])


@_of("collectives-at-scale")
def _rings() -> Iterator[str]:
    """Rings inside the nodes, and one across them."""
    centres = [(24.0, 40.0), (66.0, 40.0), (108.0, 40.0)]
    for x, y in centres:
        yield _line([*_around(6, x, y, 15), (x, y - 15)], "t")
        yield from (_dot(u, v, 3, "o") for u, v in _around(6, x, y, 15))
    yield _line([(x, y - 15) for x, y in centres], "l")
    yield from (_dot(x, y - 15, 3.4, "a") for x, y in centres)


@_of("sharded-matmuls")
def _product() -> Iterator[str]:
    """Rows of one array times columns of another, and the block that one rank then has."""
    for x, shaded in ((6, "row"), (50, "column"), (94, "block")):
        for i in range(3):
            for j in range(3):
                on = {"row": i == 1, "column": j == 1, "block": i == j == 1}[shaded]
                yield _rect(x + 11 * j, 20 + 11 * i, 9, 9, "a" if on else "")
    yield _line([(42, 33), (47, 38)]) + _line([(47, 33), (42, 38)])
    yield _line([(86, 34), (91, 34)]) + _line([(86, 38), (91, 38)])


@_of("transformer-math")
def _decoder() -> Iterator[str]:
    """Two blocks of a decoder beside the residual stream; a box is as wide as its parameters are many."""
    yield _line([(22, 4), (22, 68)], "w")
    for block in range(2):
        for part, (wide, look) in enumerate(((32, "f"), (86, "a"))):
            y = 7 + 31 * block + 15 * part
            yield _line([(22, y + 5.5), (34, y + 5.5)]) + _rect(34, y, wide, 11, look)


@_of("data-parallelism")
def _zero() -> Iterator[str]:
    """What a rank of eight keeps of weights, gradients and optimizer states as more of them is sharded."""
    whole = (2.0, 2.0, 12.0)
    for stage in range(4):
        parts = [part / 8 if place >= 3 - stage else part for place, part in enumerate(whole)]
        x, y = 12 + 29 * stage, 66.0
        for part, look in zip(parts, ("a", "f", ""), strict=True):
            high = 3.75 * part
            y -= high
            yield _rect(x, y, 20, high, look)


@_of("tensor-parallelism")
def _columns_then_rows() -> Iterator[str]:
    """The first matrix is cut into columns, the second into rows."""
    for k in range(4):
        yield _rect(12 + 11 * k, 14, 9, 44, "a" if k == 2 else "f" if k % 2 else "")
        yield _rect(76, 14 + 11 * k, 44, 9, "a" if k == 2 else "f" if k % 2 else "")
    yield _line([(60, 36), (70, 36)]) + _line([(66, 32), (70, 36), (66, 40)])


@_of("pipeline-parallelism")
def _schedule() -> Iterator[str]:
    """The passes of 1F1B on four stages."""
    from hwlib.pipeline import one_f_one_b, play

    played = play(one_f_one_b(4, 5), t_F=1.0, t_B=2.0)
    scale = 120 / played.time
    for rank, spans in enumerate(played.spans):
        for op, start, end in spans:
            look = "a" if op.kind == "F" else "f"
            yield _rect(6 + scale * start, 9 + 14.5 * rank, scale * (end - start) - 0.8, 11, look)


@_of("expert-parallelism")
def _loads() -> Iterator[str]:
    """Tokens that chance sends to each of sixteen ranks, and their mean."""
    rng, loads = Random(13), [0] * 16
    for _ in range(112):
        loads[rng.randrange(16)] += 1
    for k, load in enumerate(loads):
        high = 4.2 * load
        yield _rect(8 + 7.4 * k, 66 - high, 5.4, high, "a" if load == max(loads) else "f")
    mean = 66 - 4.2 * 7
    yield _line([(4, mean), (128, mean)], "d")


@_of("mixed-strategies")
def _grid() -> Iterator[str]:
    """A grid of ranks, and the three axes that meet in one of them."""

    def place(i: int, j: int, k: int) -> Point:
        return 20 + 26 * i + 13 * j, 62 - 19 * k - 8 * j

    shape = (4, 2, 3)
    for axis in range(3):
        for i, j, k in _cells(shape):
            if (end := (i + (axis == 0), j + (axis == 1), k + (axis == 2)))[axis] < shape[axis]:
                yield _line(
                    [place(i, j, k), place(*end)], "l" if sum((i, j, k)[a] for a in range(3) if a != axis) == 0 else "t"
                )
    yield from (_dot(*place(*cell), 2.8, "a" if sum(cell) == 0 else "o") for cell in _cells(shape))


def _cells(shape: Sequence[int]) -> list[tuple[int, int, int]]:
    return [(i, j, k) for i in range(shape[0]) for j in range(shape[1]) for k in range(shape[2])]


@_of("inference")
def _cache() -> Iterator[str]:
    """Each token reads the keys and values of all before it."""
    for row in range(6):
        for column in range(row + 5):
            new = column == row + 4
            yield _rect(10 + 11.2 * column, 6 + 10.4 * row, 9, 8, "a" if new else "f" if row == 5 else "")


@_of("serving")
def _queue() -> Iterator[str]:
    """How long a request waits, against the load."""
    from hwlib.inference import mg1_wait

    def place(load: float) -> Point:
        return 10 + 112 * load, 62 - 5 * mg1_wait(load, t_srv=1.0, cv2=1.0)

    yield _line([(10, 6), (10, 64), (126, 64)])
    yield _line([place(k / 60) for k in range(56)], "w")
    yield _line([(122, 6), (122, 62)], "d")
    yield _dot(*place(0.8), 3.2, "a")


@_of("machines")
def _bounds() -> Iterator[str]:
    """Three bounds of one plan on six machines; the longest holds."""
    rows = [(0.9, 0.6, 0.5), (0.6, 0.8, 0.5), (0.4, 0.55, 0.75), (0.5, 0.3, 0.45), (0.35, 0.6, 0.3), (0.55, 0.35, 0.4)]
    for machine, bounds in enumerate(rows):
        for bound, part in enumerate(bounds):
            yield _rect(
                8 + 20.5 * machine + 5.2 * bound, 66 - 60 * part, 4.2, 60 * part, "a" if part == max(bounds) else "f"
            )


@_of("measuring")
def _trace() -> Iterator[str]:
    """A trace of three ranks: the last is late, and the others wait for it."""
    starts = [(8, 26, 66, 88), (8, 32, 66, 90), (8, 52, 66, 96)]
    for lane, (a, b, c, d) in enumerate(starts):
        y = 10 + 19 * lane
        yield _rect(a, y, b - a, 13, "a" if lane == 2 else "f") + _rect(c, y, d - c, 13, "f")
        yield _rect(b + 1.5, y + 4.5, c - b - 3, 4, "")
        yield _rect(d + 1.5, y, 124 - d, 13, "")
    yield _line([(65, 4), (65, 68)], "d")
