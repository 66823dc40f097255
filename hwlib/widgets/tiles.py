"""Output tiles of a matmul as a map: the intensity of each, which of them fit into fast memory, and the best."""

from typing import Any

from hwlib.hierarchy import LIMITS, tile_bytes, tile_intensity
from hwlib.specs import Accelerator, accelerators
from hwlib.widgets.charts import VegaLite, _choice, chart_style

STEP, MOST = 16, 512  # sides of the tiles: multiples, up to
CHIPS = ("v100-sxm2", "a100-80gb-sxm", "h100-sxm", "b200-sxm")
SUMS = {"regs": "half of the registers", "tmem": "256 KiB of tensor memory", "smem": "shared memory, with the inputs"}
SUM_BYTES = 4.0  # of an accumulator


def tile_explorer(chip: str = "h100-sxm", b: float = 2, b_k: int = 64, stages: int = 4, sums: str = "regs") -> VegaLite:
    """Intensity of every output tile whose sides are multiples of 16, where its inputs and its sums fit.

    Choose the chip (its shared memory), the bytes of an element, the depth of an input tile, the stages in flight, and
    where the sums are kept: "regs", "tmem" or "smem". The best tile that fits is ringed and named in the title. Raises
    KeyError for a chip or a place that the chart does not have.
    """
    if chip not in CHIPS:
        raise KeyError(f"no chip {chip!r} in this chart; known: {', '.join(CHIPS)}")
    if sums not in SUMS:
        raise KeyError(f"sums are kept in {', '.join(SUMS)}, not in {sums!r}")
    smem = {key: _room(accelerators[key]) for key in CHIPS}
    letters = {"b_m": "datum.b_m", "b_n": "datum.b_n"}
    in_smem = f"(sums == 'smem' ? {SUM_BYTES} : 0)"
    room = {"regs": (accelerators["h100-sxm"].regfile_bytes or 0) / 2, "tmem": accelerators["b200-sxm"].tmem_bytes}
    elsewhere = f"(sums == 'smem' || {SUM_BYTES}*datum.b_m*datum.b_n <= ({room})[sums])"
    depths = {"input": "range", "min": 16, "max": 256, "step": 16, "name": "depth "}
    params: list[dict[str, Any]] = [
        {"name": "chip", "value": chip, "bind": _choice("chip ", {key: accelerators[key].name for key in CHIPS})},
        {"name": "sums", "value": sums, "bind": _choice("sums live in ", SUMS)},
        {"name": "b", "value": b, "bind": {"input": "select", "options": [4, 2, 1, 0.5], "name": "bytes an element "}},
        {"name": "b_k", "value": b_k, "bind": depths},
        {"name": "stages", "value": stages, "bind": {**depths, "min": 1, "max": 8, "step": 1, "name": "stages "}},
        {"name": "S_fast", "expr": f"({smem})[chip]"},
    ]
    fits = [
        {"calculate": f"sequence({STEP}, {MOST + 1}, {STEP})", "as": "b_m"},
        {"flatten": ["b_m"]},
        {"calculate": f"sequence({STEP}, {MOST + 1}, {STEP})", "as": "b_n"},
        {"flatten": ["b_n"]},
        {"calculate": tile_intensity.vega_with({**letters, "b": "b"}), "as": "intensity"},
        {
            "calculate": tile_bytes.vega_with(
                {**letters, "b_k": "b_k", "b": "b", "stages": "stages", "b_acc": in_smem}
            ),
            "as": "bytes",
        },
        {"filter": f"datum.bytes <= S_fast && {elsewhere}"},
    ]
    best = [
        {"joinaggregate": [{"op": "max", "field": "intensity", "as": "most"}]},
        {"filter": "datum.intensity >= datum.most"},
        {"calculate": "abs(datum.b_m - datum.b_n) - datum.b_m/10000", "as": "oblong"},
        {"window": [{"op": "rank", "as": "place"}], "sort": [{"field": "oblong"}]},
        {"filter": "datum.place == 1"},
    ]
    return VegaLite(
        {
            "description": "Intensity of output tiles by their two sides, where they fit into fast memory",
            "title": {"text": {"expr": _title()}, "anchor": "start"},
            "params": params,
            "data": {"values": [{}]},
            "transform": fits,
            "width": 400,
            "height": 400,
            "layer": [_map(), {**_ring(), "transform": best}],
            "config": chart_style(),
        }
    )


def _room(chip: Accelerator) -> float:
    """Shared memory available to one block: all but what the driver reserves."""
    return (chip.smem_bytes or 0) - LIMITS[chip.arch].smem_reserved


def _title() -> str:
    memory = "format(S_fast/1024, ',d') + ' KiB of shared memory'"
    inputs = "stages + (stages > 1 ? ' stages' : ' stage') + ' of depth ' + b_k"
    return f"[{memory}, {inputs} + ', ' + b + ' bytes an element']"


def _side(field: str, title: str) -> dict[str, Any]:
    scale = {"domain": [0, MOST + STEP], "nice": False}
    axis = {"title": title, "values": list(range(0, MOST + 1, 64)), "grid": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def _map() -> dict[str, Any]:
    colour = {
        "field": "intensity",
        "type": "quantitative",
        "title": "FLOP/B",
        "scale": {"scheme": "viridis", "zero": True},
    }
    tooltip = [
        {"field": "b_m", "title": "rows"},
        {"field": "b_n", "title": "columns"},
        {"field": "intensity", "title": "FLOP/B", "format": ".3~r"},
        {"field": "bytes", "title": "bytes of shared memory", "format": ",d"},
    ]
    return {
        "mark": {"type": "square", "size": 150, "opacity": 1},
        "encoding": {
            "x": _side("b_n", "columns of the output tile"),
            "y": _side("b_m", "rows of the output tile"),
            "color": colour,
            "tooltip": tooltip,
        },
    }


def _ring() -> dict[str, Any]:
    """A ring around the best tile, labelled with its sides and intensity."""
    say = "datum.b_m + ' x ' + datum.b_n + ': ' + format(datum.intensity, '.3~r') + ' FLOP/B'"
    place = {"x": _side("b_n", ""), "y": _side("b_m", "")}
    for axis in place.values():
        axis.pop("axis")
    return {
        "layer": [
            {"mark": {"type": "point", "shape": "square", "size": 260, "color": "#d55e00", "strokeWidth": 3}},
            {
                "mark": {
                    "type": "text",
                    "align": "left",
                    "dx": 14,
                    "dy": -10,
                    "fontSize": 13,
                    "color": "currentColor",
                    "text": {"expr": say},
                }
            },
        ],
        "encoding": place,
    }
