"""Names of cards as drivers print them: each is one row of the tables, and one that only begins alike is none."""

import pytest

from hwlib.specs import accelerators
from hwlib.specs.card import CARDS, card_of


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("NVIDIA H100 NVL", "h100-nvl"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA H200 NVL", "h200-nvl"),
        ("NVIDIA H200", "h200-sxm"),
        ("NVIDIA H20", "h20-sxm"),
        ("NVIDIA H800", "h800-sxm"),
        ("NVIDIA GH200 480GB", "gh200"),
        ("NVIDIA GB10", "gb10"),
        ("NVIDIA GB200", "gb200-nvl72"),
        ("NVIDIA B200", "b200-sxm"),
        ("NVIDIA A800-SXM4-80GB", "a800-80gb-sxm"),
        ("A100-SXM4-40GB", "a100-40gb-sxm"),
        ("NVIDIA A100-PCIE-40GB", "a100-40gb-pcie"),
        ("NVIDIA A100 80GB PCIe", "a100-80gb-pcie"),
        ("Tesla V100-SXM2-32GB", "v100-sxm2"),
        ("NVIDIA A10", "a10"),
        ("NVIDIA A40", "a40"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("nvidia  geforce RTX 5090 ", "rtx-5090"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-workstation"),
        ("AMD Instinct MI300X", "mi300x"),
        ("AMD Instinct MI355X OAM", "mi355x"),
    ],
)
def test_a_name_is_one_row(name, key):
    assert card_of(name) is accelerators[key]


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        "NVIDIA H100 NVL MIG 1g.12gb",
        "NVIDIA H100",
        "NVIDIA H100 64GB",
        "NVIDIA H200NVL2",
        "NVIDIA H20-3e",
        "NVIDIA H800 PCIe",
        "NVIDIA GH200 144G HBM3e",
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
        "Tesla V100-SXM2-16GB",
        "NVIDIA A10G",
        "NVIDIA L40",
        "AMD Instinct MI300A",
        "NVIDIA",
        "",
    ],
)
def test_a_name_that_only_begins_alike_is_none(name):
    assert card_of(name) is None


def test_every_name_is_of_a_chip_of_the_tables():
    assert set(CARDS.values()) <= set(accelerators)
    assert [name for name in CARDS if name != " ".join(name.lower().split())] == []
