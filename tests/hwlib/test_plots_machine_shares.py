"""The figure of published rates on several machines."""

import pytest

from hwlib import plots
from hwlib.specs import measured_machines


def test_a_line_for_each_model_and_a_name_for_each_chip():
    rows = measured_machines("tpu-v5e")
    axes = plots.machine_shares(rows).axes[0]
    assert len(axes.lines) == len({row.params for row in rows})
    assert sum(len(line.get_xdata()) for line in axes.lines) == len(rows)
    assert [text.get_text() for text in axes.get_legend().texts] == ["TPU v5e"]
    with pytest.raises(ValueError, match="got none"):
        plots.machine_shares([])
