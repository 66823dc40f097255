"""One message between two ranks: what a wire carries, and how long a message takes.

The α-β model underlies every collective of this book: a step costs alpha seconds whatever its size, then its
bytes follow at W. This module also gives the parts of W (lanes, line code, headers), the time over several
hops, and the two bandwidths in which collectives are measured. W is of one direction everywhere.
"""

from types import MappingProxyType
from typing import NamedTuple

from hwlib.formula import ceil, formula, minimum

__all__ = [
    "HEADERS",
    "Headers",
    "algorithm_bandwidth",
    "bandwidth_delay_bytes",
    "bus_bandwidth",
    "cut_through_time",
    "half_bandwidth_bytes",
    "line_bandwidth",
    "packet_forward_time",
    "payload_bandwidth",
    "payload_fraction",
    "protocol_crossover_bytes",
    "send_bandwidth",
    "send_time",
    "serialization_time",
    "share_bytes",
    "store_and_forward_time",
    "two_protocol_time",
    "window_bandwidth",
    "wire_bytes",
]


# A message: latency, then bytes


@formula("t", cite="hockney1994")
def send_time(S, alpha, W):
    """The α-β model: alpha until the first byte arrives, whatever the size, and then the bytes, one after another."""
    return alpha + S / W


@formula("W_use", cite="hockney1994")
def send_bandwidth(S, alpha, W):
    """Effective bandwidth of a message of S bytes: small messages are mostly latency."""
    return S / (alpha + S / W)


@formula("S_half", cite="hockney1994")
def half_bandwidth_bytes(alpha, W):
    """Hockney's n_1/2, the size that reaches half of W: its bytes take as long as its latency."""
    return alpha * W


@formula("S", cite="hockney1994")
def share_bytes(eta_W, alpha, W):
    """The size that reaches the fraction eta_W of the bandwidth; no size reaches all of it."""
    return eta_W / (1 - eta_W) * alpha * W


@formula("t", cite="hu2025")
def two_protocol_time(S, alpha_LL, W_LL, alpha, W):
    """The faster of two protocols: one of low latency that wastes bytes, and one that does the reverse.

    NCCL's LL sends a flag of 4 bytes with every 4 of data, so its W is at most half; LL128 sends 8 with 120.
    """
    return minimum(send_time(S, alpha_LL, W_LL), send_time(S, alpha, W))


@formula("S_cross", cite="hu2025")
def protocol_crossover_bytes(alpha_LL, W_LL, alpha, W):
    """The size from which on the second protocol is faster: its bandwidth makes up for its later start.

    Negative where one protocol is better in both, and so at every size; a division by zero where they have the
    same bandwidth.
    """
    return (alpha - alpha_LL) / (1 / W_LL - 1 / W)


# A wire: signal rate, line code, headers


@formula("W", cite="pcie-base")
def line_bandwidth(W_lane, paths, c_data, c_line):
    """Lanes side by side, less the line code: of every c_line symbols c_data are data (128 of 130, 64 of 66)."""
    return paths * W_lane * c_data / c_line


@formula("u", cite="intel-an690")
def payload_fraction(p, h):
    """The payload's fraction of a packet with p bytes of payload and h of headers and checks."""
    return p / (p + h)


@formula("W_use", cite="intel-an690")
def payload_bandwidth(W, p, h):
    """Bandwidth that is left for the payload once every packet carries its headers."""
    return W * payload_fraction(p, h)


@formula("S_wire", cite="intel-an690")
def wire_bytes(S, p, h):
    """Bytes on the wire for S bytes of payload: every packet has headers, even a short last one."""
    return S + ceil(S / p) * h


@formula("t", cite="kermani1979")
def serialization_time(S, W):
    """Time to put S bytes on a line, one after another; the first arrives later, by the latency."""
    return S / W


@formula("S_flight", cite="rfc1323")
def bandwidth_delay_bytes(W, t_rtt):
    """Bytes in flight until the first is acknowledged: with fewer, the line is idle part of the time."""
    return W * t_rtt


@formula("W_use", cite="rfc1323")
def window_bandwidth(S_flight, W, t_rtt):
    """With at most S_flight bytes unacknowledged, one window is sent per round trip, unless W limits first."""
    return minimum(W, S_flight / t_rtt)


# Several hops


@formula("t", cite="kermani1979")
def store_and_forward_time(S, alpha, W, hops):
    """Every switch receives the whole message before it forwards it, so the bytes take their time on every hop."""
    return hops * (alpha + S / W)


@formula("t", cite="kermani1979")
def packet_forward_time(S, alpha, W, hops, p):
    """Store and forward in packets of p bytes: the hops overlap, except for one packet each.

    Exact from one whole packet on: a shorter last packet waits for those before it. A single short packet is faster.
    """
    return hops * alpha + (S + (hops - 1) * p) / W


@formula("t", cite="kermani1979")
def cut_through_time(S, alpha, W, hops, paths=1):
    """A switch forwards a message as soon as it has read the header: latency on every hop, the bytes only once.

    With several parallel paths, each carries its part.
    """
    return hops * alpha + S / (paths * W)


# Bandwidths of collectives, as nccl-tests print them


@formula("W_alg", cite="nccl-tests")
def algorithm_bandwidth(S, t):
    """Size over time, as a user sees it. It falls as ranks are added though every link stays as busy."""
    return S / t


@formula("W_bus", cite="nccl-tests")
def bus_bandwidth(S, t, q):
    """Algorithm bandwidth times the bus factor, the bytes that each link must carry for one byte of S.

    The result is comparable with the link's own bandwidth. q is 2(n-1)/n for all-reduce, (n-1)/n for all-gather,
    reduce-scatter and all-to-all, 1 for broadcast and reduce.
    """
    return q * algorithm_bandwidth(S, t)


class Headers(NamedTuple):
    """What a packet carries besides its payload: each part in bytes, and the key of the source."""

    parts: dict[str, int]
    cite: str

    @property
    def bytes(self) -> int:
        """All parts together: the h of `payload_fraction`."""
        return sum(self.parts.values())


_ETHERNET = {
    "gap between frames": 12,
    "preamble": 7,
    "start of frame": 1,
    "destination": 6,
    "source": 6,
    "type": 2,
    "frame check": 4,
}
_TRANSPORT = {"base transport header": 12, "invariant check": 4}


class _Kinds(dict[str, Headers]):
    def __missing__(self, kind: object) -> Headers:
        raise KeyError(f"unknown packet {kind!r}; known: {', '.join(self)}")


HEADERS = MappingProxyType(
    _Kinds(
        {
            "pcie": Headers({"framing and sequence": 4, "header": 12, "link check": 4}, "intel-an690"),
            "pcie-64": Headers({"framing and sequence": 4, "header": 16, "link check": 4}, "intel-an690"),
            "nvlink": Headers({"header flit": 16}, "wikichip-nvlink"),
            "ethernet": Headers(_ETHERNET, "dell-packets"),
            "tcp": Headers({**_ETHERNET, "IPv4": 20, "TCP": 20}, "dell-packets"),
            "infiniband": Headers({"local route header": 8, **_TRANSPORT, "variant check": 2}, "infiniband-packets"),
            "roce-v2": Headers({**_ETHERNET, "IPv4": 20, "UDP": 8, **_TRANSPORT}, "infiniband-packets"),
        }
    )
)
"""Headers of one packet without options: "pcie-64" has the header for addresses above 4 GiB, where GPUs are mapped."""
