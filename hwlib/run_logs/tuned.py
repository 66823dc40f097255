"""Runs that train adapters, and runs whose sequences are packed: what they are by the log, and the FLOPs of a token."""

from collections.abc import Iterator
from contextlib import suppress

from hwlib.footprint import BFLOAT16_ADAM
from hwlib.footprint.trained import GROUPS, Adapters, Trained, adapters_of
from hwlib.run_logs.facts import Facts, is_true, value_of
from hwlib.specs import Model
from hwlib.transformer import step_flops

WIDEST_RANK = 512
USUAL = (*(",".join(GROUPS[name]) for name in ("all", "attention", "mlp")), "q,v", "q,k,v", "q,k", "q")
"""Matrices that are given adapters together, the commonest first."""


def adapters_in(model: Model, facts: Facts) -> Adapters | None:
    """The adapters of a run: as they are told or logged, or those that have as many parameters as the log says are
    trained; None of a run that trains its model, or where nothing fits.
    """
    if adapters := value_of(facts, "lora"):
        with suppress(ValueError):
            return adapters_of(str(adapters), str(value_of(facts, "base") or "bf16"))
        return None
    trained, total = value_of(facts, "trainable"), value_of(facts, "total")
    return _of_count(model, int(trained)) if trained and total and trained < total / 2 else None


def _of_count(model: Model, parameters: int) -> Adapters | None:
    for names in USUAL:
        matrices = tuple(names.split(","))
        of_one = Adapters(1, matrices).parameters(model)
        rank, rest = divmod(parameters, of_one) if of_one else (0, 1)
        if not rest and 1 <= rank <= WIDEST_RANK:
            return Adapters(rank, matrices)
    return None


def adapter_options(model: Model | None, facts: Facts) -> dict[str, str | None]:
    """The planner's options for the adapters of a run."""
    adapters = adapters_in(model, facts) if model else None
    if adapters is None:
        return {}
    return {"lora": f"{adapters.rank}@{'+'.join(adapters.matrices)}", "base": value_of(facts, "base")}


def book_flops(model: Model, facts: Facts) -> float:
    """FLOPs that a token needs by the book: attention under its mask within a document, and no gradients of weights
    that are frozen.
    """
    length = value_of(facts, "document") or value_of(facts, "sequence")
    flops = float(step_flops(model, length, length)) / length
    adapters = adapters_in(model, facts)
    return flops - float(Trained(BFLOAT16_ADAM, adapters=adapters).spared_flops(model, 1.0)) if adapters else flops


def counting_notes(model: Model, facts: Facts) -> tuple[str, ...]:
    """How the FLOPs of the book are counted, where it is not as usual."""
    return tuple(_notes(model, facts))


def _notes(model: Model, facts: Facts) -> Iterator[str]:
    length = value_of(facts, "document") or value_of(facts, "sequence")
    if adapters := adapters_in(model, facts):
        share = book_flops(model, facts) / (float(step_flops(model, length, length)) / length)
        yield (
            f"{adapters}: frozen weights have no gradients of their own, so that a token needs {share:.0%} of the "
            "FLOPs of full training"
        )
    elif (trained := value_of(facts, "trainable")) and (total := value_of(facts, "total")) and trained < total / 2:
        yield (
            f"{trained:,.0f} of {total:,.0f} parameters are trained, of adapters that are not known (--lora): the "
            "FLOPs are those of full training, and the MFU is too high by up to a half"
        )
    if value_of(facts, "document"):
        yield f"attention is counted within documents of {value_of(facts, 'document'):,.0f} tokens"
    elif is_true(value_of(facts, "packed")):
        yield "sequences are packed: attention is counted over whole ones (--document says how long documents are)"
