"""Rates and all-reduces on several machines: rows add up, have sources, and no wire carries more than its sheet."""

from hwlib.specs import measured_fabrics, measured_machines, nodes
from tests.each import each


@each("row", measured_machines())
def test_every_rate_is_below_its_peak(row):
    assert 0.3 < row.share < 0.75


@each("row", measured_fabrics())
def test_what_a_machine_sends_fits_its_cards(row):
    """Of an all-reduce over m machines each sends at least (m - 1)/m of the array, switches that add included."""
    time = 2 * (row.n - 1) / row.n * row.S / row.bus_bandwidth
    assert (row.machines - 1) / row.machines * row.S / time < row.network
    key = {"h100-sxm": "dgx-h100", "b200-sxm": "dgx-b200", "gb200-nvl72": "gb200-nvl72"}[row.chip]
    assert nodes[key].egress_bandwidth == row.network
    assert nodes[key].chips == row.domain


def test_a_plan_that_fits_one_domain_needs_no_tensor_parallelism():
    rows = {r.chip: r for r in measured_machines(model="llama3-70b") if r.source.endswith("26.04.01")}
    assert rows["h100-sxm"].plan.startswith("tp4")
    assert rows["gb200-nvl72"].plan.startswith("fsdp64 tp1")
