"""Sizes and capacities of switched networks in closed form, to check against the graphs that are built.

A fat tree here is of equal switches, half of whose ports lead down and half up, except at the top, where all lead
down. So nothing blocks: as much goes up from every switch as comes from below.
"""

from hwlib.formula import ceil, const, floor, formula, maximum, minimum, where


@formula("W", cite="scaling-book")
def node_switch_bandwidth(n, paths, switches, ports, W_link):
    """What n accelerators with `paths` links each send through the switches of their node: whichever has fewer ends.

    Ports of the switches beyond the links of the accelerators stay empty, or lead out of the node.
    """
    return minimum(n * paths, switches * ports) * W_link


@formula("W_cut", cite="scaling-book")
def crossbar_bisection_bandwidth(n, W):
    """Half of the ranks send to the other half, each at its own W. One direction: some texts count both."""
    return floor(n / 2) * W


@formula("hosts", cite="alfares2008")
def two_tier_hosts(ports):
    """As many leaves as a spine has ports, each with half of its own ports for hosts."""
    return ports**2 / 2


@formula("hosts", cite="alfares2008")
def three_tier_hosts(ports):
    """As many pods as a core switch has ports, each with ports/2 leaves of ports/2 hosts."""
    return ports**3 / 4


@formula("switches", cite="alfares2008")
def two_tier_switches(ports):
    """The largest two-tier tree: a leaf for each port of a spine, and half as many spines."""
    return ports + ports / 2


@formula("switches", cite="alfares2008")
def three_tier_switches(ports):
    """The largest three-tier tree: leaves and as many spines in each of `ports` pods, and half as many cores."""
    return ports**2 / 2 + ports**2 / 2 + ports**2 / 4


@formula("omega", cite="alfares2008")
def oversubscription(down, up):
    """Cables down over cables up, all of one rate. 1 or less does not block; 7 leaves a seventh when all send up."""
    return down / up


# Trees of any size


@formula("switches", cite="alfares2008")
def tree_switches(hosts, ports, tiers):
    """A host takes a port at its leaf; each further tier takes one up and one down: 2*tiers - 1 in all."""
    return (2 * tiers - 1) * hosts / ports


@formula("cables", cite="alfares2008")
def tree_cables(hosts, tiers):
    """As many cables below every tier as there are hosts: that is what non-blocking means."""
    return tiers * hosts


@formula("up", cite="alfares2008")
def up_ports(ports, omega):
    """Of omega + 1 ports one leads up. What does not divide stays empty."""
    return maximum(1, floor(ports / (1 + maximum(omega, 1))))


@formula("down", cite="alfares2008")
def down_ports(ports, omega):
    """omega ports down for each one up."""
    return floor(maximum(omega, 1) * up_ports(ports, omega))


@formula("tiers", cite="alfares2008")
def tree_tiers(hosts, ports, omega):
    """One switch while it has a port for every host; a further tier whenever the top one runs out of ports.

    The highest tier below the top is oversubscribed, the others are not. 4 stands for more than three.
    """
    return (
        1.0
        + where(hosts <= ports, 0, 1)
        + where(hosts <= ports * down_ports(ports, omega), 0, 1)
        + where(hosts <= ports * down_ports(ports, omega) * floor(maximum(ports, 2) / 2), 0, 1)
    )


@formula("switches", cite="alfares2008")
def tree_leaf_switches(hosts, ports, omega):
    """As many as the hosts fill: with omega ports down to one up in two tiers, with half down in three."""
    return where(
        tree_tiers(hosts, ports, omega) < 3,
        where(hosts <= ports, 1, ceil(hosts / down_ports(ports, omega))),
        ceil(hosts / floor(maximum(ports, 2) / 2)),
    )


@formula("switches", cite="alfares2008")
def tree_spine_switches(hosts, ports, omega):
    """As many as the cables up from the leaves fill: with every port down in two tiers, with omega to one in three."""
    return where(
        tree_tiers(hosts, ports, omega) < 2,
        0,
        where(
            tree_tiers(hosts, ports, omega) < 3,
            ceil(tree_leaf_switches(hosts, ports, omega) * up_ports(ports, omega) / ports),
            ceil(tree_leaf_switches(hosts, ports, omega) * floor(ports / 2) / down_ports(ports, omega)),
        ),
    )


@formula("switches", cite="alfares2008")
def tree_core_switches(hosts, ports, omega):
    """As many as the cables up from the spines fill; none in fewer than three tiers."""
    return where(
        tree_tiers(hosts, ports, omega) < 3,
        0,
        ceil(tree_spine_switches(hosts, ports, omega) * up_ports(ports, omega) / ports),
    )


@formula("W_cut", cite="alfares2008")
def tree_bisection_bandwidth(hosts, W, omega):
    """Half of the hosts send to the other half; what goes over the top tier is divided by its oversubscription."""
    return floor(hosts / 2) * W / maximum(omega, 1)


@formula("W_cut", cite="scaling-book")
def torus_bisection_bandwidth(axis, W_link):
    """A cube of chips, closed on all axes: a plane cuts axis^2 rings, each of them twice."""
    return 2 * axis**2 * W_link


# What they cost


@formula("cost", cite="wang2024")
def network_cost(switches, optics, cables, price_switch, price_optic, price_cable):
    """What is bought three times over: boxes, the transceivers in their ports, and the fibres between those."""
    return switches * price_switch + optics * price_optic + cables * price_cable


@formula("P_el", cite="nvidia-mms4x00")
def tree_optics_power(hosts, tiers):
    """A transceiver of two ports takes 17 W in a switch, one of a single port 9 W in a network card.

    A cable to a host ends in half of the first and in the second; every other cable in two halves of the first.
    """
    return hosts * (const(8.5, "W") + const(9, "W")) + (tiers - 1) * hosts * const(17, "W")
