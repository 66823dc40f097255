"""The stage of a pipeline that all others wait for, where stages hold different layers.

A stage that the layers do not fill is not the slowest, and neither is one with dense layers in a model whose layers
with experts take longer: the steps of a pipeline are those of the fullest stage of the slower kind.
"""

from typing import Any, NamedTuple

from hwlib.columns import is_one
from hwlib.footprint.stage_layers import StageLayers, stage_layers
from hwlib.formula import maximum, minimum, where
from hwlib.specs import Model
from hwlib.steptime.compute_times import Passes, attention_time, layer_passes
from hwlib.steptime.job import Job


class Slowest(NamedTuple):
    """How many layers stages have; of the slowest one the passes of its mean layer, and the share that has experts.

    The other stages have `lighter` dense layers more than as many layers of the slowest stage would, each of them
    quicker by `less` seconds than one with experts, transfers aside; `lighter` is None where all layers are alike. If
    the slowest is the last one, a full one takes `quicker` seconds less for its dense layers than with experts only.
    """

    held: StageLayers
    layer: Passes
    moe: Any
    lighter: Any = None
    less: Any = 0.0
    quicker: Any = 0.0


def slowest_stage(job: Job, t_loss: Any = 0.0) -> Slowest:
    """The slowest stage of a plan: a full one, or the last, if the output layer takes longer than what it lacks."""
    model, plan = job.model, job.strategy
    held = stage_layers(model, plan.pp, plan.v)
    kinds = [moe for moe, there in ((False, model.layers > model.moe_layers), (True, model.moe_layers)) if there]
    if len(kinds) == 1:
        return Slowest(held, layer_passes(job, kinds[0], attention_time(job)), float(kinds[0]))
    attention = attention_time(job)
    dense, experts = (layer_passes(job, moe, attention) for moe in kinds)
    if is_one(plan.pp):
        moe: Any = model.moe_layers / model.layers
        return Slowest(held, _mixed(dense, experts, moe), moe)
    less = experts.forward + experts.backward + experts.again - dense.forward - dense.backward - dense.again
    *full, at_end = dense_on_stages(model, plan.pp, held)
    quicker = maximum(full[0] - at_end, 0.0) * maximum(less, 0.0)
    last_is = held.last * (experts.forward + experts.backward + experts.again) - quicker <= t_loss
    share = where(less > 0, where(last_is, minimum(full[0], at_end), full[0]), full[1]) / held.full
    moe, lighter = 1 - share, model.layers - model.moe_layers - model.layers * share
    return Slowest(held, _mixed(dense, experts, moe), moe, lighter, less, where(last_is, quicker, 0.0))


def dense_on_stages(model: Model, pp: Any, held: StageLayers) -> tuple[Any, Any, Any]:
    """Dense layers of a model with experts, its first ones: on the last of the full stages, which has the fewest of
    these; on the first stage, which has the most; and on the last one. They are all taken to be in the first chunks of
    the stages.
    """
    dense, chunk = model.layers - model.moe_layers, held.chunk
    full = maximum(pp - 1 - held.others - (held.last > 0), 0)
    at_end = minimum(maximum(dense - (pp - 1) * chunk, 0), chunk)
    return minimum(maximum(dense - full * chunk, 0), chunk), minimum(dense, chunk), at_end


def _mixed(dense: Passes, experts: Passes, moe: Any) -> Passes:
    """The mean layer of those with experts, a share of `moe`, and of dense ones, whose attention is the same."""
    mean = (a + moe * (b - a) for a, b in zip(dense, experts, strict=True))
    return Passes(*mean)._replace(attention=dense.attention)
