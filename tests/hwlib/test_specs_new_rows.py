"""Chips, a node and a model that nobody has seen before: what reads the tables works, or says in words what lacks.

One chip has a count of multiprocessors, of lanes and of tensor cores that no other has, and an architecture and a
vendor that no dictionary knows; two others say hardly anything of themselves. The model has no published count.
"""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest

from hwlib import calibrated, hierarchy, inference, planner, plots, tl, topology, transformer, widgets
from hwlib.specs import Accelerator, Model, Node, Stack, accelerators, models, nodes, reader, stack_for
from hwlib.widgets.chips import PEAK_FORMULAS
from hwlib.widgets.live import module_source
from tests.each import each
from tests.hwlib.test_widgets import node as javascript
from tests.hwlib.test_widgets import state_of

HEAD = 'name = "{0}"\nvendor = "Acme"\narch = "Anvil"\nscaleup_name = "Acme Link"\n'
FULL = {
    "sms": "97", "lanes": "96", "tensor_cores": "3", "clock": "1.5 GHz", "vector_clock": "1.6 GHz",
    "bf16_flops": "500 TFLOPS", "fp32_flops": "29.7984 TFLOPS", "hbm_bytes": "96 GB", "hbm_bandwidth": "3 TB/s",
    "l2_bytes": "40 MiB", "l1_bytes": "192 KiB", "smem_bytes": "164 KiB", "regfile_bytes": "256 KiB",
    "scaleup_links": "12", "scaleup_link_bandwidth": "25 GB/s", "scaleup_bandwidth": "300 GB/s",
    "scaleup_domain": "8", "nic_bandwidth": "200 Gbit/s", "tdp": "400 W",
}  # fmt: skip
BARE = {"sms": "33", "lanes": "32"}
SLOW = {"sms": "33", "clock": "1 GHz", "fp32_flops": "20 TFLOPS"}  # no 16-bit rate at all
NODE = {"chips": "8", "hosts": "1", "links_per_chip": "12", "switches": "6", "nics": "8"}
MODEL = """
[anvil-7b]
name = "Anvil 7B"
source = "llama3"
confidence = "announced"
layers = 30
width = 4032
ffn = 12000
heads = 28
kv_heads = 4
head_dim = 144
vocab = 77777
context = 4096
"""


def row(key, head, printed):
    cells = [
        f'{name} = {{ printed = "{text}", source = "x", confidence = "seen" }}\n' for name, text in printed.items()
    ]
    return f"[{key}]\n{head}{''.join(cells)}\n"


CHIPS = "".join(
    row(key, HEAD.format(key), cells) for key, cells in (("anvil", FULL), ("bare", BARE), ("slow", SLOW))
) + row("odd-hopper", HEAD.format("odd-hopper").replace("Anvil", "Hopper"), BARE)
NODES = row(
    "anvil-node",
    'name = "Anvil node"\naccelerator = "anvil"\nshape = "crossbar"\n'
    'link = "nvlink3"\nswitch = "nvswitch2"\nnic = "hdr"\n',
    NODE,
)


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    """The tables with these rows too, read as a file of the folder is."""
    for table, kind, text in ((accelerators, Accelerator, CHIPS), (nodes, Node, NODES), (models, Model, MODEL)):
        for one in reader.read(kind, "new.toml", text):
            monkeypatch.setitem(table._rows, one.key, one)
    widgets.chips._classes.cache_clear()
    yield
    widgets.chips._classes.cache_clear()
    plt.close("all")


def drawn(name):
    return lambda key: getattr(plots, name)(accelerators[key])


def shown(name):
    return lambda key: getattr(widgets, f"{name}_explorer")(chip=key)


CALLS = {
    "repr": lambda key: repr(accelerators[key]),
    "table": lambda key: accelerators[key]._repr_markdown_(),
    "datum": lambda key: accelerators[key].datum("hbm_bandwidth"),
    "bf16": lambda key: accelerators[key].flops("bf16"),
    "fp8": lambda key: accelerators[key].flops("fp8"),
    "ideal": Stack.ideal,
    "stack_for": stack_for,
    "gemm_model": lambda key: calibrated.gemm_model(key, "bf16"),
    "nccl_time": lambda key: calibrated.nccl_time(key, "all_reduce", 8, 1e9),
    "memories": hierarchy.memories,
    "occupancy": lambda key: hierarchy.occupancy(key, 256, 32),
    "decode_point": lambda key: inference.decode_point("anvil-7b", key, n=1, B=1, T_kv=4096),
    "largest_batch": lambda key: inference.largest_batch("anvil-7b", key, n=1, T_kv=4096),
    "ridge_bars": lambda key: plots.ridge_bars([accelerators[key]]),
    **{name: drawn(name) for name in ("anatomy", "overlap", "roofline")},
    **{f"{name}_explorer": shown(name) for name in ("chip", "intensity", "occupancy", "peak", "roofline", "tile")},
}
WITHOUT = {"gemm_model", "nccl_time", "fp8", "occupancy", "intensity_explorer", "occupancy_explorer", "tile_explorer"}
"""What needs constants that were fitted, limits that were listed, or a place in a chart of chosen chips."""


def complaint(call, key):
    """What a call says that it lacks; empty where it works."""
    try:
        call(key)
    except (KeyError, ValueError) as error:
        return str(error.args[0])
    return ""


@pytest.mark.parametrize("key", ["anvil", "bare", "slow", "odd-hopper"])
@each("name", CALLS)
def test_a_new_chip_works_or_it_is_said_what_it_lacks(key, name):
    said = complaint(CALLS[name], key)
    if key == "anvil":
        assert bool(said) is (name in WITHOUT), said
    if said:
        assert len(said.split()) > 3, "the name of a key is no sentence"
        assert key in said or accelerators[key].arch in said or "fp8" in said or name == "datum"


def test_a_chip_that_lacks_registers_is_not_told_that_its_architecture_is_unknown():
    assert complaint(CALLS["occupancy"], "odd-hopper").endswith("no confirmed regfile_bytes and smem_bytes")


def one_copy():
    def copy(x_ptr, out_ptr):
        tl.store(out_ptr, tl.load(x_ptr))

    return tl.launch(copy, 1, np.ones(1, np.float32), tl.empty(1), touches=True)


@pytest.mark.parametrize("name", sorted(set(widgets.__all__) - {"VegaLite"}))
def test_every_widget_opens_beside_new_rows(name):
    given = [one_copy()] if name == "kernel_explorer" else []  # it draws what it is given, and opens no table
    assert getattr(widgets, name)(*given)


def test_the_explorers_show_what_a_new_chip_has():
    anvil = state_of(widgets.peak_explorer("anvil"))["chips"]["anvil"]
    assert (anvil["n_SM"], anvil["lanes"]) == (97, 96)
    assert {"bare", "slow"}.isdisjoint(state_of(widgets.peak_explorer())["chips"])
    state = state_of(widgets.chip_explorer("sms", "lanes", vendor="Acme", chip="anvil"))
    script = module_source("chip_explorer", PEAK_FORMULAS)
    body = "{vendors: vendors(given.chips), points: compute(given).points}"
    found = javascript(
        f"{script}\nprocess.stdout.write(JSON.stringify({body}));", json.loads(json.dumps(state, default=str))
    )
    assert found["vendors"][-1] == "Acme"
    assert [point["key"] for point in found["points"]] == ["anvil", "bare", "odd-hopper"]


def test_a_new_node_is_built_drawn_and_planned_on():
    assert topology.node("anvil-node").kinds["gpu"] == 8
    assert plots.node_bandwidths([nodes["anvil-node"]])
    assert widgets.node_explorer("anvil-node")
    for widget in (widgets.axis_explorer, widgets.alltoall_scale_explorer):
        assert "'anvil-node'" in complaint(widget, "anvil-node")
    assert planner.plan("anvil-7b", "anvil-node", B=64 * 4096, T=4096)


def test_a_model_without_a_published_count_is_counted_all_the_same():
    one = models["anvil-7b"]
    assert transformer.parameter_count(one) > 6e9
    assert one.published_parameters == 0
    assert "published_parameters" not in one._repr_markdown_()
    with pytest.raises(KeyError, match=r"anvil-7b .* published_parameters; .* layers"):
        one.datum("published_parameters")
