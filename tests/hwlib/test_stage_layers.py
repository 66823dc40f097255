"""How layers are spread over stages where they do not divide, by hand."""

import numpy as np
import pytest

from hwlib.constraints import ENDS, even_chunks
from hwlib.footprint.stage_layers import stage_layers
from hwlib.specs import models

LLAMA = models["llama3-8b"]


@pytest.mark.parametrize(
    ("layers", "pp", "v", "spread"),
    [
        # layers of a chunk and of a full stage; fewer on the first and on the last; stages between that have one less
        (8, 4, 1, (2, 2, 0, 0, 0)),
        (7, 4, 1, (2, 2, 0, 1, 0)),  # the last lacks one
        (6, 4, 1, (2, 2, 1, 1, 0)),  # and the first
        (5, 4, 1, (2, 2, 1, 1, 1)),  # and one between
        (7, 3, 1, (3, 3, 1, 1, 0)),
        (3, 4, 1, (1, 1, 0, 0, 1)),  # a last stage is not left without a layer
        (6, 2, 2, (2, 4, 0, 2, 0)),  # of two stages the last lacks both, a whole chunk
        (10, 4, 2, (2, 4, 1, 2, 2)),
        (9, 2, 4, (2, 8, 0, 2, 0)),  # between two stages there is none
        (5, 1, 2, (3, 5, 0, 1, 0)),  # a stage has no more than all
        (1, 1, 1, (1, 1, 0, 0, 0)),
    ],
)
def test_the_ends_lack_layers_first(layers, pp, v, spread):
    model = LLAMA.replace(layers=layers)
    assert tuple(stage_layers(model, pp, v)) == spread
    columns = stage_layers(model, np.array([float(pp)]), np.array([float(v)]))
    assert tuple(float(np.asarray(x).ravel()[0]) for x in columns) == spread


def test_a_first_stage_of_light_layers_lacks_none():
    model = models["deepseek-v3"].replace(layers=6, mtp_layers=0)
    assert model.dense_layers
    assert tuple(stage_layers(model, 4, 1)) == (2, 2, 0, 1, 1)


@pytest.mark.parametrize("dense", [0, 3])
def test_chunks_that_can_be_hold_every_layer_and_leave_one_stage_full(dense):
    """Beyond the rule the spread loses layers, or no stage has as many as its time is counted with."""
    model = models["deepseek-v3"].replace(mtp_layers=0)
    layers, pp, v = (x.ravel().astype(float) for x in np.meshgrid(range(4, 130), range(2, 18), range(2, 17)))
    for count in np.unique(layers):
        at = layers == count
        held = stage_layers(model.replace(layers=int(count), dense_layers=dense), pp[at], v[at])
        lacking = held.first + held.last + held.others
        short = held.chunk * pp[at] * v[at] - count
        full = pp[at] - (held.first > 0) - (held.last > 0) - held.others
        can = (lacking == short) & (full > 0) & (pp[at] * v[at] <= count + ENDS)
        ends = (short <= ENDS) & (pp[at] * v[at] <= count + ENDS)
        assert ((can | ends) == even_chunks(int(count), pp[at], v[at])).all()
