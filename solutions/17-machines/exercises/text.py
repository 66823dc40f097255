"""Names with which the text computes numbers, beside those of the exercises."""

from hwlib.collectives import torus_allgather_limit, torus_allgather_time  # noqa: F401  (the text uses some)
from hwlib.hierarchy import systolic_cycles, systolic_fraction  # noqa: F401  (the text uses them)
from hwlib.parallel import dp_critical_batch, hsdp_critical_batch
from hwlib.roofline import critical_batch
from hwlib.specs import (
    accelerators,
    clusters,
    links,
    measured_fabrics,
    measured_machines,
    measured_plans,
    models,
    nodes,
)
from hwlib.training import run_time
from hwlib.units import GB, hour

A100, H100, B200, GB200, GB300 = (
    accelerators[key] for key in ("a100-80gb-sxm", "h100-sxm", "b200-sxm", "gb200-nvl72", "gb300-nvl72")
)
V5E, V5P, V6E, V7X = (accelerators[key] for key in ("tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x"))
RUBIN, MI355X, TRN1, TRN2 = (accelerators[key] for key in ("rubin", "mi355x", "trainium1", "trainium2"))
CARD, NEW_CARD = nodes["dgx-h100"].nic_bandwidth, nodes["dgx-b300"].nic_bandwidth
C2C, PCIE5 = links["nvlink-c2c"], links["pcie5-x16"]


def inside(key):
    """Tokens of a GPU from which gradients hide inside one domain."""
    return dp_critical_batch(nodes[key].chip.bf16_flops, nodes[key].scaleup_bandwidth)


def across(key):
    """The same across domains, each with all its cards."""
    node = nodes[key]
    return hsdp_critical_batch(node.chips, node.chip.bf16_flops, node.nic_bandwidth)


# A slice of TPUs is the domain: ICI inside, the hosts' network across
V5E_POD, V5P_POD = clusters["tpu-v5e-pod"], clusters["tpu-v5p-pod"]
V5E_ACROSS = hsdp_critical_batch(V5E_POD.chips, V5E.bf16_flops, nodes["tpu-v5e-host"].nic_bandwidth)
V5P_INSIDE = dp_critical_batch(V5P.bf16_flops, V5P.scaleup_bandwidth)
V5P_ACROSS = hsdp_critical_batch(V5P_POD.chips, V5P.bf16_flops, nodes["tpu-v5p-host"].nic_bandwidth)

# VMEM: the scaling book's 22 times the bandwidth of HBM
VMEM_RATIO = 22
VMEM_BATCH = critical_batch(V5E.bf16_flops, VMEM_RATIO * V5E.hbm_bandwidth)
HBM_BATCH = critical_batch(V5E.bf16_flops, V5E.hbm_bandwidth)

# One stack of HBM-PIM (lee2021): operations of 16 bits, pins and their rate
PIM_FLOPS, PINS, PIN_RATE = 1.2e12, 1024, 2.4e9 / 8  # FLOP/s; B/s of a pin
STACK = PINS * PIN_RATE
PIM_BATCH = critical_batch(PIM_FLOPS, STACK)

# Light: NVIDIA's two numbers for a port of 1.6 Tbit/s (nvidia-cpo), and the wires of an NVL72
PLUG, PACKAGED, PORT = 30.0, 9.0, 200 * GB  # W, W, B/s one way
RACK = nodes["gb200-nvl72"]
WIRES = RACK.chips * RACK.links_per_chip * links[RACK.link].lanes * 2
RACK_OPTICS = 2 * RACK.chips * RACK.scaleup_bandwidth / PORT * PLUG
RACK_PACKAGED = 2 * RACK.chips * RACK.scaleup_bandwidth / PORT * PACKAGED
RACK_POWER = 120e3  # W, as printed with the announcement of its successor (tomshardware-kyber)

# All-reduces over machines: the largest published size of each
LARGEST = {}
for _row in measured_fabrics():
    LARGEST[_row.chip, _row.n] = _row


def told(row):
    """Bus bandwidth by the sheet: the worse of what a GPU sends inside and what its machine sends out."""
    up, m = accelerators[row.chip].scaleup_bandwidth, row.machines
    return min(up, row.network * (row.n - 1) / row.n * m / (m - 1)) if m > 1 else up


B200_FOUR = LARGEST["b200-sxm", 32]
B200_REACHED = B200_FOUR.bus_bandwidth / told(B200_FOUR)
B200_GIB = next(row for row in measured_fabrics("b200-sxm") if row.S == 2**30)
RACKS = LARGEST["gb200-nvl72", 1440]
B200_REAL = B200.matmul_bf16_flops / (B200_REACHED * 8 * CARD)


def of_a_rack(n):
    """The share of one rack's bus bandwidth that all-reduces over n GPUs of such racks keep."""
    return LARGEST["gb200-nvl72", n].bus_bandwidth / LARGEST["gb200-nvl72", 72].bus_bandwidth


# Training rates
RATES = {row.key: row for row in measured_machines()}
H100_70B, GB200_70B, GB300_70B = (RATES[f"mbridge-{key}"] for key in ("02074", "02071", "02068"))
MEGATRON = next(row for row in measured_plans() if row.key == "meg24-177B")
TOKENS_70B = 256 * 8192 / 64
ONE_SLICE, TWO_SLICES = RATES["maxtext-v5p-512-128B"], RATES["maxtext-2x-v5p-256-128B"]


def pods(params):
    """The runs of a model on v5e, from one pod on."""
    return [row for row in measured_machines("tpu-v5e") if row.params == params * 1e9]


POD_LOSSES = {params: 1 - pods(params)[-1].rate / pods(params)[0].rate for params in (16, 32, 64, 128)}


def share_of(chip, extreme):
    """The least or the largest share of its peak that a TPU reaches in MaxText's tables."""
    return extreme(row.share for row in measured_machines(chip))


# What a run costs on v5p: the scaling book's Llama 3 70B, at a price that readers count with
LLAMA = models["llama3-70b"]
V5P_TIME = run_time(70.55e9, 15e12, V5P_POD.chips, V5P.bf16_flops, 0.4)
V5P_PRICE = 1.89
V5P_COST = V5P_POD.chips * V5P_TIME / hour * V5P_PRICE
