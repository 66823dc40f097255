"""One message between two ranks: what a wire carries, how long a message takes, and where its bytes go.

The α-β model underlies every collective of this book: a step costs alpha seconds whatever its size, then its
bytes follow at W. Around it stand what W is made of (lanes, line code, headers), what happens over several
hops, and the two bandwidths in which collectives are measured. W is of one direction everywhere.
"""

from types import MappingProxyType
from typing import NamedTuple

from hwlib.formula import ceil, formula, minimum

__all__ = [
    "HEADERS", "Headers", "algorithm_bandwidth", "bandwidth_delay_bytes", "bus_bandwidth", "cut_through_time",
    "half_bandwidth_bytes", "line_bandwidth", "packet_forward_time", "payload_bandwidth", "payload_fraction",
    "protocol_crossover_bytes", "send_bandwidth", "send_time", "serialization_time", "share_bytes",
    "store_and_forward_time", "two_protocol_time", "window_bandwidth", "wire_bytes",
]  # fmt: skip


# A message: latency, then bytes


@formula("t", cite="hockney1994")
def send_time(S, alpha, W):
    """The α-β model: alpha until the first byte is there, whatever the size, and then the bytes, one after another."""
    return alpha + S / W


@formula("W_use", cite="hockney1994")
def send_bandwidth(S, alpha, W):
    """What a message of S bytes sees of W: small ones are mostly latency."""
    return S / (alpha + S / W)


@formula("S_half", cite="hockney1994")
def half_bandwidth_bytes(alpha, W):
    """Hockney's n_1/2: its bytes take as long as its latency, so it sees half of W. Below it, latency decides."""
    return alpha * W


@formula("S", cite="hockney1994")
def share_bytes(eta_W, alpha, W):
    """The size that sees the share eta_W of the bandwidth; all of it is seen by no size."""
    return eta_W / (1 - eta_W) * alpha * W


@formula("t", cite="hu2025")
def two_protocol_time(S, alpha_LL, W_LL, alpha, W):
    """The faster of two ways to send: one that starts at once but wastes bytes, and one that does the reverse.

    NCCL's LL sends a flag of 4 bytes with every 4 of data, so its W is at most half; LL128 sends 8 with 120.
    """
    return minimum(send_time(S, alpha_LL, W_LL), send_time(S, alpha, W))


@formula("S_cross", cite="hu2025")
def protocol_crossover_bytes(alpha_LL, W_LL, alpha, W):
    """From this size on the second protocol is faster: its later start is paid back byte by byte.

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
    """Of a packet of p bytes of payload and h of headers and checks, the part that anyone wants."""
    return p / (p + h)


@formula("W_use", cite="intel-an690")
def payload_bandwidth(W, p, h):
    """Bandwidth that is left for the payload once every packet carries its headers."""
    return W * payload_fraction(p, h)


@formula("S_wire", cite="intel-an690")
def wire_bytes(S, p, h):
    """What crosses the wire for S bytes of payload: every packet has headers, the last one too, however short."""
    return S + ceil(S / p) * h


@formula("t", cite="kermani1979")
def serialization_time(S, W):
    """Time to put S bytes on a line, one after another; the first arrives later, by the latency."""
    return S / W


@formula("S_flight", cite="rfc1323")
def bandwidth_delay_bytes(W, t_rtt):
    """Bytes that are under way while the first is acknowledged: less than these in flight leave the line idle."""
    return W * t_rtt


@formula("W_use", cite="rfc1323")
def window_bandwidth(S_flight, W, t_rtt):
    """With at most S_flight bytes unacknowledged, one window is sent a round trip, or the line is full."""
    return minimum(W, S_flight / t_rtt)


# Several hops


@formula("t", cite="kermani1979")
def store_and_forward_time(S, alpha, W, hops):
    """Every switch takes in the whole message before it sends it on, so its bytes are paid on every hop."""
    return hops * (alpha + S / W)


@formula("t", cite="kermani1979")
def packet_forward_time(S, alpha, W, hops, p):
    """In packets of p bytes, stored and forwarded one by one: the hops overlap, but for one packet each.

    Exact from one whole packet on: a shorter last packet waits for those before it. A lone short packet is sooner.
    """
    return hops * alpha + (S + (hops - 1) * p) / W


@formula("t", cite="kermani1979")
def cut_through_time(S, alpha, W, hops, paths=1):
    """A switch sends on what it has as soon as the header is read: latency on every hop, the bytes only once.

    With several paths side by side, each carries its part.
    """
    return hops * alpha + S / (paths * W)


# Bandwidths of collectives, as nccl-tests print them


@formula("W_alg", cite="nccl-tests")
def algorithm_bandwidth(S, t):
    """Size over time: what a user gets. It falls as ranks are added though no link works less."""
    return S / t


@formula("W_bus", cite="nccl-tests")
def bus_bandwidth(S, t, q):
    """Algorithm bandwidth times the bus factor, the bytes that each link must carry for one byte of S.

    So it can be held against the link's own bandwidth. q is 2(n-1)/n for all-reduce, (n-1)/n for all-gather,
    reduce-scatter and all-to-all, 1 for broadcast and reduce.
    """
    return q * algorithm_bandwidth(S, t)


class Headers(NamedTuple):
    """What a packet carries beside its payload: each part in bytes, and the key of the source."""

    parts: dict[str, int]
    cite: str

    @property
    def bytes(self) -> int:
        """All parts together: the h of `payload_fraction`."""
        return sum(self.parts.values())


_ETHERNET = {
    "gap between frames": 12, "preamble": 7, "start of frame": 1, "destination": 6, "source": 6, "type": 2,
    "frame check": 4,
}  # fmt: skip
_TRANSPORT = {"base transport header": 12, "invariant check": 4}


class _Kinds(dict[str, Headers]):
    def __missing__(self, kind: object) -> Headers:
        raise KeyError(f"no packet {kind!r}; there is {', '.join(self)}")


HEADERS = MappingProxyType(
    _Kinds({
        "pcie": Headers({"framing and sequence": 4, "header": 12, "link check": 4}, "intel-an690"),
        "pcie-64": Headers({"framing and sequence": 4, "header": 16, "link check": 4}, "intel-an690"),
        "nvlink": Headers({"header flit": 16}, "wikichip-nvlink"),
        "ethernet": Headers(_ETHERNET, "dell-packets"),
        "tcp": Headers({**_ETHERNET, "IPv4": 20, "TCP": 20}, "dell-packets"),
        "infiniband": Headers({"local route header": 8, **_TRANSPORT, "variant check": 2}, "infiniband-packets"),
        "roce-v2": Headers({**_ETHERNET, "IPv4": 20, "UDP": 8, **_TRANSPORT}, "infiniband-packets"),
    })
)  # fmt: skip
"""Headers of one packet without options: "pcie-64" is the header of addresses above 4 GiB, where GPUs live."""
