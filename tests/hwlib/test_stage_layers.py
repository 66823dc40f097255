"""How layers are spread over stages where they do not divide, by hand."""

import numpy as np
import pytest

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
