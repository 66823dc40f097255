"""What networks of switches hold and carry, in closed form: to be held against the graphs that are built.

A fat tree here is of equal switches, half of whose ports lead down and half up, except at the top, where all lead
down. So nothing blocks: as much goes up from every switch as comes from below.
"""

from hwlib.formula import floor, formula, minimum


@formula("W", cite="scaling-book")
def node_switch_bandwidth(n, paths, switches, ports, W_link):
    """What n accelerators with `paths` links each send through the switches of their node: whichever has fewer ends.

    Ports of the switches beyond the links of the accelerators stay empty, or lead out of the node.
    """
    return minimum(n * paths, switches * ports) * W_link


@formula("W", cite="scaling-book")
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
