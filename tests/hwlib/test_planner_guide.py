"""Which meshes the rule of thumb considers: enough microbatches for the stages, and tokens that hide the gradients."""

import pytest

from hwlib.planner import Allowed, guide
from hwlib.planner.allowed import SHORTEST_CUT, axes_of
from hwlib.planner.task import task_of


def bounds(model, cluster, sequences):
    return guide._bounds(task_of(model, cluster, B=sequences * 8192, T=8192))


@pytest.mark.parametrize("model", ["llama3-70b", "mixtral-8x7b"])
@pytest.mark.parametrize("sequences", [8, 64, 256, 2048])
def test_a_mesh_has_microbatches_for_its_stages_and_hides_what_it_must(model, sequences):
    b = bounds(model, "superpod-h100-1su", sequences)
    every, hiding = list(guide._meshes(b, False)), list(guide._meshes(b, True))
    widest = max(d for d in range(1, b.model.experts + 1) if b.model.experts % d == 0 and d <= 8)
    assert every
    for mesh in every:
        assert mesh.gpus == 256
        assert sequences % mesh.dp == 0
        assert mesh.pp == 1 or sequences // mesh.dp >= guide.FEWEST * mesh.pp
        assert mesh.tp <= max(b.limit, 1)
        assert (mesh in hiding) == bool(b.hidden(b.tokens, mesh.tp, mesh.pp, widest))


def test_few_tokens_hide_little_and_many_hide_all():
    few, many = bounds("llama3-70b", "superpod-h100-1su", 8), bounds("llama3-70b", "superpod-h100-1su", 2048)
    assert len(list(guide._meshes(few, True))) < len(list(guide._meshes(few, False)))
    assert list(guide._meshes(many, True)) == list(guide._meshes(many, False))


def test_as_few_microbatches_as_may_be_are_enough():
    b = bounds("llama3-70b", "dgx-h100", guide.FEWEST * 2)
    meshes = [(mesh.pp, mesh.dp) for mesh in guide._meshes(b, False)]
    assert (2, 1) in meshes
    assert (2, 2) not in meshes
    assert (4, 1) not in meshes


@pytest.mark.parametrize(("less", "cp"), [(0, (1, 2, 4)), (16, (1, 2))])
def test_a_sequence_is_cut_into_pieces_of_so_many_tokens_and_no_shorter(less, cp):
    T = 4 * SHORTEST_CUT - less
    assert axes_of(task_of("llama3-70b", "superpod-h100-1su", B=256 * T, T=T), Allowed()).cp == cp
    b = guide._bounds(task_of("llama3-70b", "superpod-h100-1su", B=256 * T, T=T))
    assert {mesh.cp for mesh in guide._meshes(b, False)} == set(cp)
