"""One message: numbers of the sources, limits, and a small model of packets that must agree."""

import math
import random

import numpy as np
import pytest

from hwlib.formula import REGISTRY
from hwlib.network import (
    HEADERS,
    algorithm_bandwidth,
    bandwidth_delay_bytes,
    bus_bandwidth,
    cut_through_time,
    half_bandwidth_bytes,
    line_bandwidth,
    packet_forward_time,
    payload_bandwidth,
    payload_fraction,
    protocol_crossover_bytes,
    send_bandwidth,
    send_time,
    serialization_time,
    share_bytes,
    store_and_forward_time,
    two_protocol_time,
    window_bandwidth,
    wire_bytes,
)
from hwlib.roofline import compute_time, matmul_flops, memory_time
from hwlib.specs import accelerators
from hwlib.specs.link import links
from hwlib.units import GB, MB, Gbit, ms, ns, us

V5E = accelerators["tpu-v5e"]


def close(x, rel):
    return pytest.approx(x, rel=rel)


# Numbers of the sources


def test_from_corner_to_corner_of_a_4x4_slice():
    """scaling-book, TPU chapter, question 5: 6 us to the first byte, 194 us in all, at 1 us a hop."""
    S = 2 * 8 * 128 * 8192
    way = {"alpha": 1 * us, "W": V5E.scaleup_link_bandwidth, "hops": 3 + 3}
    assert cut_through_time(0, **way, paths=2) == close(6 * us, 1e-12)
    assert cut_through_time(S, **way, paths=2) == close(194 * us, 0.015)
    # The book rounds 16.78 MB to 17 MB before it divides: 188 + 6 us. Exactly it is 186.4 + 6.
    assert cut_through_time(17 * MB, **way, paths=2) == close(194 * us, 0.005)
    assert round(cut_through_time(S, **way, paths=2) / us, 1) == 192.4
    assert cut_through_time(S, **way) == close(cut_through_time(S, **way, paths=2) + 186.4 * us, 1e-3)


def test_an_array_in_the_hosts_of_a_4x4_slice_reaches_one_chip():
    """scaling-book, TPU chapter, question 6: PCIe 66 ms, ICI 167 ms, memory 19 ms, arithmetic 1.3 ms.

    The book calls an array of 16 GiB "16 GB", so it is 7 % low throughout; at 16e9 bytes its figures come out.
    """

    def stages(S):
        work = matmul_flops(8, math.sqrt(S), math.sqrt(S))
        return (
            serialization_time(S / 16, 15 * GB),  # each chip has a slot of its own
            serialization_time(S * 15 / 16, 2 * V5E.scaleup_link_bandwidth),
            memory_time(S, V5E.hbm_bandwidth),
            compute_time(work, V5E.bf16_flops),
        )

    pcie, ici, memory, arithmetic = stages(16e9)
    assert pcie == close(66 * ms, 0.02)
    assert ici == close(167 * ms, 0.005)
    assert memory == close(19 * ms, 0.03)
    assert arithmetic == close(1.3 * ms, 0.005)
    assert 150 * ms < max(stages(16e9)) < sum(stages((128 * 1024) ** 2)) < 300 * ms
    assert max(stages((128 * 1024) ** 2)) == close(179 * ms, 0.002)


@pytest.mark.parametrize("key", [key for key, link in links.items() if link.code_payload and link.signal_rate])
def test_a_links_bandwidth_is_its_lanes_less_the_line_code(key):
    link = links[key]
    line = line_bandwidth(link.signal_rate, link.lanes, link.code_payload, link.code_length)
    assert line == close(link.bandwidth, 1e-9 if link.code_length < 200 else 1e-3)


def test_an_old_line_code_costs_a_fifth():
    assert line_bandwidth(2.5 * Gbit, 1, 8, 10) == close(0.25 * GB, 1e-12)  # PCIe 1
    assert line_bandwidth(10.3125 * Gbit, 10, 64, 66) == close(100 * Gbit, 1e-12)  # the first 100 Gbit Ethernet


@pytest.mark.parametrize(
    ("kind", "frame", "share"),
    [("tcp", 1500, 0.949), ("tcp", 9000, 0.991)],  # dell-packets: 1460/1538 and 8960/9038
)
def test_jumbo_frames_carry_more(kind, frame, share):
    inside = HEADERS[kind].bytes - HEADERS["ethernet"].bytes  # IP and TCP are part of the frame
    assert HEADERS["ethernet"].bytes == 38
    assert payload_fraction(frame - inside, HEADERS[kind].bytes) == close(share, 6e-4)


def test_an_unknown_packet_is_answered_with_those_there_are():
    with pytest.raises(KeyError, match=r"'udp'; .*pcie, .*roce-v2"):
        HEADERS["udp"]
    assert "udp" not in HEADERS


def test_a_packet_of_pcie_has_five_words_of_overhead():
    """intel-an690: 256 bytes of payload with a 3-word header have 5 words (of 4 bytes) of overhead."""
    assert HEADERS["pcie"].bytes == 5 * 4
    assert payload_fraction(256, HEADERS["pcie"].bytes) == close(0.9275, 1e-3)
    gen5 = payload_bandwidth(links["pcie5-x16"].bandwidth, 256, HEADERS["pcie-64"].bytes)
    assert gen5 == close(57.6 * GB, 1e-3)  # what is left of "64 GB/s"


@pytest.mark.parametrize(("kind", "size"), [("infiniband", 26), ("roce-v2", 82)])
def test_rdma_headers(kind, size):
    assert HEADERS[kind].bytes == size
    assert payload_bandwidth(links["ndr"].bandwidth, 4096, size) == close(links["ndr"].bandwidth, 0.02)
    assert payload_bandwidth(links["ndr"].bandwidth, 64, size) < 0.75 * links["ndr"].bandwidth


def test_headers_are_sourced(sources):
    assert {headers.cite for headers in HEADERS.values()} <= sources


def test_low_latency_wins_until_its_flags_cost_more():
    """hu2025: a hop costs LL about 1 us and Simple about 6 us; half of LL's bytes are flags."""
    W = links["ndr"].bandwidth
    low, high = (1 * us, W / 2), (6 * us, W)
    S = protocol_crossover_bytes(*low, *high)
    assert close(5 * us * W, 1e-12) == S
    assert two_protocol_time(S, *low, *high) == close(send_time(S, *high), 1e-12)
    assert two_protocol_time(S / 2, *low, *high) == send_time(S / 2, *low) < send_time(S / 2, *high)
    assert two_protocol_time(2 * S, *low, *high) == send_time(2 * S, *high) < send_time(2 * S, *low)
    assert payload_fraction(120, 8) == 0.9375  # LL128's own line code


def test_bus_bandwidth_of_a_published_run():
    """nccl-tests on 8 H200: 480.0 GB/s of bus bandwidth with in-switch reduction, so 274.3 GB/s of algorithm's."""
    t = 1 * GB / (274.3 * GB)
    assert algorithm_bandwidth(1 * GB, t) == close(274.3 * GB, 1e-12)
    assert bus_bandwidth(1 * GB, t, 2 * 7 / 8) == close(480.0 * GB, 1e-3)
    assert bus_bandwidth(1 * GB, t, 1) == algorithm_bandwidth(1 * GB, t)


def test_long_fat_lines_want_much_in_flight():
    assert bandwidth_delay_bytes(400 * Gbit, 10 * us) == close(500_000, 1e-12)
    assert window_bandwidth(64_000, 400 * Gbit, 10 * us) == close(6.4 * GB, 1e-12)
    assert window_bandwidth(1e9, 400 * Gbit, 10 * us) == 50 * GB


# Limits, and how the formulas hang together


def test_half_the_bandwidth_is_seen_where_latency_and_bytes_take_equally_long():
    alpha, W = 2 * us, 450 * GB
    S = half_bandwidth_bytes(alpha, W)
    assert close(900_000, 1e-12) == S
    assert send_bandwidth(S, alpha, W) == close(W / 2, 1e-12)
    assert send_time(S, alpha, W) == close(2 * alpha, 1e-12)
    assert share_bytes(0.5, alpha, W) == S
    for share in (0.1, 0.9, 0.99):
        assert send_bandwidth(share_bytes(share, alpha, W), alpha, W) == close(share * W, 1e-9)


def test_latency_and_bandwidth_are_the_two_ends():
    assert send_time(0, 3 * us, 1 * GB) == send_time(1e9, 3 * us, math.inf) == 3 * us
    assert send_time(2 * GB, 0, 1 * GB) == serialization_time(2 * GB, 1 * GB) == 2
    assert send_bandwidth(1e18, 1 * us, 1 * GB) == close(1 * GB, 1e-5)
    assert list(send_time(np.array([0, 10**9]), 1, 1 * GB)) == [1, 2]


@pytest.mark.parametrize("name", ["packet_forward_time", "store_and_forward_time", "cut_through_time"])
def test_one_hop_is_a_send(name):
    f = REGISTRY[f"network.{name}"]
    extra = {"p": 4096} if "p" in f.args else {}
    assert f(1 * MB, 1 * us, 1 * GB, 1, **extra) == close(send_time(1 * MB, 1 * us, 1 * GB), 1e-12)


def forwarded(sizes, alpha, W, hops):
    """When the last packet arrives: a hop takes one packet at a time, and only whole ones."""
    free = [0.0] * hops
    arrived = 0.0
    for size in sizes:
        at = 0.0
        for hop in range(hops):
            start = max(at, free[hop])
            free[hop] = start + size / W
            at = free[hop] + alpha
        arrived = max(arrived, at)
    return arrived


@pytest.mark.parametrize("seed", range(6))
def test_packets_forwarded_one_by_one_take_the_formulas_time(seed):
    rng = random.Random(seed)
    p, count, hops = rng.choice([256, 4096]), rng.randrange(1, 60), rng.randrange(1, 7)
    alpha, W = rng.uniform(0, 2) * us, rng.choice([25 * GB, 450 * GB])
    S = p * count
    assert packet_forward_time(S, alpha, W, hops, p) == close(forwarded([p] * count, alpha, W, hops), 1e-12)
    assert store_and_forward_time(S, alpha, W, hops) == close(forwarded([S], alpha, W, hops), 1e-12)
    assert packet_forward_time(S, alpha, W, hops, S) == close(store_and_forward_time(S, alpha, W, hops), 1e-12)
    finest = forwarded([p / 256] * count * 256, alpha, W, hops)
    assert finest == close(cut_through_time(S, alpha, W, hops) + (hops - 1) * p / 256 / W, 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_a_short_last_packet_waits_for_those_before_it(seed):
    """So the formula is exact from one whole packet on; alone, the short packet is on every hop for less."""
    rng = random.Random(seed)
    p, short, count, hops = 4096, rng.randrange(1, 4096), rng.randrange(1, 60), rng.randrange(2, 7)
    alpha, W = rng.uniform(0, 2) * us, rng.choice([25 * GB, 450 * GB])
    S = p * count + short
    assert packet_forward_time(S, alpha, W, hops, p) == close(forwarded([p] * count + [short], alpha, W, hops), 1e-12)
    assert packet_forward_time(short, alpha, W, hops, p) > forwarded([short], alpha, W, hops)


@pytest.mark.parametrize(("S", "packets"), [(0, 0), (1, 1), (4096, 1), (4097, 2), (1_000_000, 245)])
def test_the_last_packet_has_headers_too(S, packets):
    assert wire_bytes(S, 4096, 26) == S + 26 * packets


def test_the_payloads_share_is_that_of_the_wire():
    S = 1000 * 4096
    assert S / wire_bytes(S, 4096, 82) == close(payload_fraction(4096, 82), 1e-12)
    assert payload_fraction(4096, 0) == 1
    assert serialization_time(4096, 50 * GB) == close(81.92 * ns, 1e-9)  # one packet on a 400 Gbit line


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: send_time(-1, 0, 1), r"send_time: S .* -1$"),
        (lambda: send_time(1, 0, 0), r"send_time: W .* 0$"),
        (lambda: cut_through_time(1, 0, 1, 0), r"cut_through_time: hops .* 0$"),
        (lambda: payload_fraction(0, 20), r"payload_fraction: p .* 0$"),
        (lambda: window_bandwidth(1, 1, math.nan), r"window_bandwidth: t_rtt .* nan$"),
    ],
)
def test_bad_input_is_named(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_collective_in_no_time_is_named():
    with pytest.raises(ZeroDivisionError, match=r"algorithm_bandwidth .* S=1, t=0$"):
        algorithm_bandwidth(1, 0)
