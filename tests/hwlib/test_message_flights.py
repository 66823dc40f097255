"""Transfers as a monitor sees them, and the link that they convict."""

import pytest

from hwlib.algorithms import Step
from hwlib.simulate import flights, link_flights, simulate_events
from hwlib.simulate.message_flights import Flight, LinkFlights
from hwlib.topology import crossbar, leaf_spine
from hwlib.units import GB, us

W = 50 * GB


def shifts(rank, n, x, by):
    for k in by:
        yield Step(x, to=(rank + k) % n, frm=(rank - k) % n)
    return x


def test_alone_in_a_healthy_network_a_message_takes_once_its_time():
    run = simulate_events(shifts, crossbar(4, W, latency=2 * us), count=10**6, alpha=3 * us, by=(1, 2))
    told = flights(run)
    assert [(f.src, f.dst) for f in told[:2]] == [(0, 1), (0, 2)]
    assert all(f.slowdown == pytest.approx(1) for f in told)
    assert told[0].links == ("gpu0-switch", "gpu1-switch")


def test_what_is_slow_shows_in_every_transfer_that_passes_it():
    run = simulate_events(shifts, crossbar(4, W), count=10**6, by=(1, 2, 3), slow={("gpu2", "switch"): 4})
    told = flights(run)
    assert {f.slowdown > 3 for f in told if "gpu2-switch" in f.links} == {True}
    links = link_flights(told)
    assert links["gpu2-switch"] == LinkFlights(6, 1.0)
    assert max(links, key=lambda link: links[link].slow) == "gpu2-switch"


def test_one_cable_of_a_tree_is_found():
    network = leaf_spine([[2] * 4] * 4, hosts=8, bandwidth=W)
    healthy = link_flights(flights(simulate_events(shifts, network, count=10**6, by=(8, 11, 13, 16, 22))))
    run = simulate_events(shifts, network, count=10**6, by=(8, 11, 13, 16, 22), slow={("leaf1", "spine2"): 8})
    links = link_flights(flights(run), slow=3)
    assert links.keys() == healthy.keys()
    guilty = {link for link, told in links.items() if told.slow == 1 and told.flights > 2}
    assert guilty == {"leaf1-spine2"}


def test_shares_are_counted_by_link():
    told = [Flight(0, 1, 2.0, ("a", "b")), Flight(1, 0, 1.9, ("a",)), Flight(2, 0, 5.0, ("a", "c"))]
    assert link_flights(told) == {"a": LinkFlights(3, 2 / 3), "b": LinkFlights(1, 1.0), "c": LinkFlights(1, 1.0)}
    assert link_flights(told, slow=3)["b"] == LinkFlights(1, 0.0)
    assert link_flights([]) == {}


def test_a_message_without_bytes_on_links_without_latency_is_not_slow():
    assert [f.slowdown for f in flights(simulate_events(shifts, crossbar(2, W), count=0, by=(1,)))] == [1.0, 1.0]


def test_a_cable_is_named_once_however_many_chunks_pass_it():
    run = simulate_events(
        shifts, crossbar(4, W), count=10**4, chunk_bytes=1000, by=(1, 2), slow={("gpu2", "switch"): 3}
    )
    assert {len(f.links) for f in flights(run)} == {2}
    assert sum(told.flights for told in link_flights(flights(run)).values()) == 2 * 8
