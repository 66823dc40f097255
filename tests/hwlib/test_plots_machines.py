"""Pictures of things: a rack, the ways to the network, blocks with their scales, fused attention."""

import pytest

from hwlib import plots
from hwlib.plots.style import ORANGE
from hwlib.specs import nodes


def test_the_rack_has_its_gpus_its_chips_and_the_links_of_one_gpu():
    axes = plots.rack(nodes["gb200-nvl72"], 30).axes[0]
    gpus, chips = (
        next(line for line in axes.lines if line.get_label() == word) for word in ("72 GPUs", "18 switch chips")
    )
    assert (len(gpus.get_xdata()), len(chips.get_xdata())) == (72, 18)
    fan = next(line for line in axes.lines if line.get_color() == ORANGE and len(line.get_xdata()))
    starts = {*zip(fan.get_xdata()[::3], fan.get_ydata()[::3], strict=True)}
    assert starts == {(gpus.get_xdata()[30], gpus.get_ydata()[30])}
    assert len(fan.get_xdata()) == 3 * nodes["gb200-nvl72"].links_per_chip


def test_the_cards_of_a_rack_stand_beside_its_trays():
    spec = nodes["gb200-nvl72"]
    axes = plots.rack(spec, exits=True).axes[0]
    assert sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == "D") == spec.nics
    assert sum(len(line.get_xdata()) for line in plots.rack(spec).axes[0].lines if line.get_marker() == "D") == 0


@pytest.mark.parametrize(("key", "gpu"), [("dgx-h100", 0), ("gb200-nvl72", 72), ("mi300x-node", 0)])
def test_what_is_no_rack_is_rejected(key, gpu):
    with pytest.raises(ValueError, match="rack: "):
        plots.rack(nodes[key], gpu)


def test_every_gpu_and_nic_is_drawn_in_both_ways():
    for axes in plots.ways_to_the_network(3).axes:
        words = [text.get_text() for text in axes.texts]
        assert (words.count("GPU"), words.count("NIC")) == (3, 3)
    with pytest.raises(ValueError, match="at least one GPU"):
        plots.ways_to_the_network(0)


def test_bars_are_as_long_as_the_bits():
    axes = plots.block_scales({"bf16": (16, 1, 0), "MXFP4": (4, 32, 8), "NVFP4": (4, 16, 8)}).axes[0]
    ends = [
        max(bar.get_x() + bar.get_width() for bar in axes.patches if abs(bar.get_y() + 0.31 - row) < 0.01)
        for row in range(3)
    ]
    assert ends == [32 * 16, 32 * 4 + 8, 32 * 4 + 2 * 8]
    assert [text.get_text() for text in axes.texts] == ["16 bits a weight", "4.25 bits a weight", "4.5 bits a weight"]
    with pytest.raises(ValueError, match="got none"):
        plots.block_scales({})


def test_one_block_of_keys_is_on_the_chip():
    bright = [box for box in plots.fused_attention(6, 2).axes[0].patches if box.get_alpha() == 0.9]
    assert len(bright) == 2  # of the keys and of the values
    with pytest.raises(ValueError, match="a step from 0 to 5"):
        plots.fused_attention(6, 6)
