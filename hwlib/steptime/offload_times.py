"""Time of what a step keeps in the host's memory: sent over PCIe or a chip-to-chip link, beside the work or after it.

What a layer keeps of a microbatch leaves the GPU beside the layer's forward pass and comes back beside its backward
pass. A step waits where the link takes longer than the pass: where the operations for each byte that is kept are fewer
than the chip's rate over the link's (ZeRO-Infinity, rajbhandari2021, section 4). The optimizer's states come in and go
out once a step, both ways at once, and beside the update alone. The GPU updates; an update by the host's own processor,
as ZeRO-Offload does it, is not modelled. Two layers' activations stay on the GPU and are counted like the others; that
a stage of a pipeline waits makes other stages wait too, which is not.
"""

from collections.abc import Collection
from typing import Any

from hwlib.columns import choose_by
from hwlib.footprint import OFFLOAD
from hwlib.footprint.layer_bytes import layer_on_rank
from hwlib.specs import Cluster, Node
from hwlib.specs.cluster import place_of
from hwlib.steptime.compute_times import recomputed_share
from hwlib.steptime.job import HostLink, Job
from hwlib.steptime.transfer_times import exposed

STATE_BYTES = 12  # of a parameter: a 32-bit copy and two moments


def host_bandwidth(machine: Any, host: float | None, offload: Collection[str]) -> float:
    """B/s of one GPU's link to its host, one direction: `host`, or that of the machine's nodes, or of a cluster that is
    described; 0 where nothing is offloaded.

    Raises ValueError for what cannot be offloaded, and for a machine of which nobody says the link.

    >>> host_bandwidth("dgx-h100", None, ("optimizer",))
    63015384615.38461
    >>> host_bandwidth("4x8 h100-sxm, network 400 Gbit/s, host 50 GB/s", None, ("optimizer",))
    50000000000.0
    """
    if odd := [offload] if isinstance(offload, str) else [x for x in offload if x not in OFFLOAD]:
        raise ValueError(f"step_time: offload is of {', '.join(OFFLOAD)}, got {odd[0]!r}")
    if not offload:
        return 0.0
    bandwidth = host
    if bandwidth is None:
        place: Any = place_of(machine) if isinstance(machine, str) else machine
        node = place.members if isinstance(place, Cluster) else place
        bandwidth = node.to_host_bandwidth if isinstance(node, Node) else getattr(node, "host", None)
    if bandwidth is None or not bandwidth > 0:
        bare = isinstance(machine, list | tuple) and not hasattr(machine, "host")
        source = "levels say" if bare else f"{machine!r} says"
        raise ValueError(f"step_time: offload needs a GPU's link to its host; {source} none, so give host, in B/s")
    return float(bandwidth)


def host_link(machine: Any, host: float | None, offload: Collection[str]) -> HostLink | None:
    """What goes to the host, and over which link; None where nothing does. Raises ValueError, as `host_bandwidth`."""
    bandwidth = host_bandwidth(machine, host, offload)
    return HostLink(bandwidth, "activations" in offload, "optimizer" in offload) if offload else None


def activation_time(job: Job, link: HostLink, moe: Any, t_F: Any, t_B: Any) -> Any:
    """Seconds that one layer and microbatch wait for what the layer keeps, out and back: beside passes of t_F and t_B;
    `moe` is the share of layers with experts.
    """
    plan, model = job.strategy, job.model
    tokens = plan.micro * job.T / plan.cp
    layer_bytes: Any = 0.0
    for with_experts, share in ((False, 1 - moe), (True, moe)):
        if with_experts and not model.moe:
            continue
        layer = layer_on_rank(model, with_experts, plan, tokens, job.T, job.fused)
        bytes_kept = choose_by(plan.recompute_code, layer.kept_with)
        again = recomputed_share(model, plan)
        layer_bytes = layer_bytes + share * (again * bytes_kept + (1 - again) * (layer.kept + layer.scores))
    sent = layer_bytes / link.bandwidth
    return exposed(sent, t_F, 1) + exposed(sent, t_B, 1)


def optimizer_time(link: HostLink, parameters: Any, update: Any) -> Any:
    """Seconds that an update of a rank's parameters, which takes `update`, waits for its states from the host."""
    return exposed(STATE_BYTES * parameters / link.bandwidth, update, 1)
