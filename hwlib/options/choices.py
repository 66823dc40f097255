"""What can be chosen on a page: the keys of tables, each with its name."""

from typing import TYPE_CHECKING

from hwlib.options.option import Pairs

if TYPE_CHECKING:
    from hwlib.specs import Accelerator

A_NODE = 8  # chips of a node that no source tells of


def same(*words: str) -> Pairs:
    """Words that are their own names."""
    return tuple((word, word) for word in words)


def model_choices() -> Pairs:
    """The models of the table, by name."""
    from hwlib.specs import models

    return tuple(sorted(((key, model.name) for key, model in models.items()), key=lambda pair: pair[1].lower()))


def cluster_choices() -> Pairs:
    """Clusters of the tables, nodes, and lines that describe chips of no node there whose links are known."""
    from hwlib.specs import accelerators, clusters, nodes

    several = [(key, cluster.name) for key, cluster in clusters.items()]
    single = [(key, f"{node.name}, one node") for key, node in nodes.items()]
    known = {node.accelerator for node in nodes.values()}
    others = [chip for key, chip in accelerators.items() if key not in known and chip.scaleup_bandwidth]
    lines = [_line(chip) for chip in others if chip.bf16_flops]
    return (*several, *single, *lines)


def _line(chip: "Accelerator") -> tuple[str, str]:
    """One node of a chip, described in a line."""
    chips = chip.scaleup_domain or A_NODE
    return f"1x{chips} {chip.key}", f"{chips} x {chip.name}, one node"


def state_choices() -> Pairs:
    """What a parameter may cost, with its bytes."""
    from hwlib.footprint import STATES

    named = ((key, f"{key}: {one.weight:g} + {one.gradient:g} + {one.optimizer:g}") for key, one in STATES.items())
    return (("", "the software's"), *named)


def stack_choices() -> Pairs:
    """The stacks of training."""
    from hwlib.specs import stacks

    return tuple((key, stack.name) for key, stack in stacks.items())


def feature_choices() -> Pairs:
    """What software can do."""
    from hwlib.specs import features

    return (("", "as its stack"), *((key, row.name) for key, row in features.items()), ("any", "everything"))


def server_choices() -> Pairs:
    """The stacks of serving."""
    from hwlib.specs.serving_stack import serving_stacks

    return tuple((key, stack.name) for key, stack in serving_stacks.items())
