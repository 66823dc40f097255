"""What is to be known of a software that serves models whose layers keep a state or pick their keys."""

from hwlib.launch.launch import LaunchError
from hwlib.specs import Model
from hwlib.specs.listed_layers import LISTED, LISTS, NEWER_LISTS, TRTLLM, VLLM, kinds_of

SERVED = {software: LISTED[software] for software in (VLLM, TRTLLM)}
"""Of each software that serves and kind of layer a model that it lists."""


def served_words(model: Model, software: str) -> tuple[str, ...]:
    """What is to be known of a software that serves such a model; nothing of a model with plain attention. Raises
    LaunchError where the software lists none with such layers.
    """
    lines = []
    for kind in kinds_of(model):
        if kind not in SERVED[software]:
            having = " or ".join(name for name, kinds in SERVED.items() if kind in kinds)
            raise LaunchError(f"emit: {LISTS[software]} has no model with layers of {kind}; expected {having}")
        like, listed = SERVED[software][kind], NEWER_LISTS.get((software, kind), LISTS[software])
        lines.append(f"a release that reads this model: of layers of {kind} {listed} has {like}")
    return tuple(lines)
