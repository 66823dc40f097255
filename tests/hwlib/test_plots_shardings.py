import pytest

from hwlib import plots, virtual
from hwlib.collectives import allreduce_bytes
from hwlib.sharding import Mesh

MESH = Mesh(X=4, Y=2)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_every_block_names_the_devices_that_hold_it():
    figure = plots.sharded_blocks(["A[I_X, J]", "A[I_XY, J]", "A[I, J_Y]"], MESH)
    coarse, fine, columns = figure.axes
    assert texts(coarse) == ["0,0  0,1", "1,0  1,1", "2,0  2,1", "3,0  3,1"]
    assert texts(fine) == [f"{x},{y}" for x in range(4) for y in range(2)]
    assert "".join(texts(columns)).count(",0") == 4
    with pytest.raises(ValueError, match=r"A\[I\]"):
        plots.sharded_blocks(["A[I]"], MESH)


def test_of_an_open_sum_the_blocks_are_hatched():
    whole, terms = plots.sharded_blocks(["A[I_X, J]", "A[I_X, J]{U_Y}"], MESH).axes
    assert not any(block.get_hatch() for block in whole.collections)
    assert all(block.get_hatch() for block in terms.collections)
    assert texts(whole) == texts(terms)


def test_the_four_cases_have_three_matrices_each():
    axes = plots.four_cases().axes
    assert len(axes) == 12
    assert [one.get_ylabel() for one in axes[::3]] == ["case 1", "case 2", "case 3", "case 4"]
    assert [t for one in axes for t in texts(one)] == ["nothing yet"]


def test_shares_are_those_of_the_formulas():
    (axes,) = plots.move_shares(16).axes
    most = axes.lines[0]
    assert list(most.get_xdata()) == [2, 4, 8, 16]
    assert list(most.get_ydata()) == [allreduce_bytes(n, 1.0) for n in (2, 4, 8, 16)]
    assert "all-to-all" in texts(axes)


def test_a_width_is_a_point_beside_its_number():
    (axes,) = plots.split_widths({"one": {"near": 4397.0, "far": 39576.0}, "two": {"near": 5000.0}}).axes
    assert texts(axes) == ["4,397", "39,576", "5,000"]
    assert axes.get_yticklabels()[0].get_text() == "one,\nnear"
    with pytest.raises(ValueError, match="machine"):
        plots.split_widths({})


def test_a_step_is_drawn_by_its_spans():
    torch = pytest.importorskip("torch")
    with virtual.cluster("dgx-h100") as world:
        with world.shapes():
            x = torch.empty(4096, 4096, dtype=torch.bfloat16)

        def program():
            torch.distributed.all_reduce(x @ x)

        step = world.step(program)
    (axes,) = plots.steps({"a product and its sum": step}).axes
    assert len(axes.patches) == len(step.spans)
    assert "33.6 MB" in texts(axes)
    with pytest.raises(ValueError, match="step"):
        plots.steps({})
