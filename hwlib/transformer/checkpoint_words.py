"""What is known of a model before it is planned, in words and as data: parameters, precision, and whence."""

from __future__ import annotations

from typing import Any

from hwlib.specs import Model
from hwlib.transformer.layer_counts import sequence_state_bytes
from hwlib.transformer.model_counts import (
    active_parameters,
    kv_bytes_per_token,
    kv_cache_bytes,
    mtp_parameters,
    parameter_count,
)
from hwlib.transformer.stored_weights import formats, stored_weight_bytes
from hwlib.units import show


def model_words(model: Model, dtype: str, mtp: bool = False) -> str:
    """One sentence: all parameters and those of a token, the precision of the checkpoint and of the plan, what is not
    counted, and where all of it was read. With `mtp` the plan counts the modules for multi-token prediction.
    """
    count, active = parameter_count(model), active_parameters(model)
    a_token = f", of which a token takes {active:,}" if active < count else ""
    parts = [f"{model.name}: {count:,} parameters{a_token}", _precision(model, dtype)]
    if model.mixer:
        keeps = f"{model.state_layers} of {model.layers} layers keep a state"
        parts.append(f"{keeps}, {show(sequence_state_bytes(model), 'B', 3)} of a sequence")
    if model.mtp_layers:
        modules = f"modules for multi-token prediction of {mtp_parameters(model):,} parameters"
        parts.append(f"{modules} are counted beside these" if mtp else f"{modules} are not counted")
    if model.compression:
        cache = kv_cache_bytes(model, model.context, 2)
        parts.append(f"a sequence of {model.context:,} tokens keeps {show(float(cache), 'B', 3)} of keys in 16 bits")
    if model.beside:
        parts.append(f"not counted: {', '.join(model.beside)}")
    whence = "its shape is published in" if model.quantisation is None else "read from"
    return "; ".join([*parts, f"{whence} {model.source}"])


def model_record(model: Model) -> dict[str, Any]:
    """The same as data: `bytes` are those of the weights in a checkpoint's files, and `parts` the format that most of
    each part has, None where no field says them; `state_bytes` those of a sequence, `cache_bytes_per_token` of a
    token's keys and values in 16 bits.
    """
    quantisation = model.quantisation
    reading = quantisation.reading if quantisation is not None else None
    main = reading.main if reading else None
    known = quantisation is None or quantisation.known
    return {
        "parameters": parameter_count(model),
        "active_parameters": active_parameters(model),
        "mtp_parameters": mtp_parameters(model),
        "state_layers": model.state_layers,
        "state_bytes": sequence_state_bytes(model),
        "cache_bytes_per_token": float(kv_bytes_per_token(model)),
        "not_counted": list(model.beside),
        "method": str(quantisation) if quantisation else None,
        "weights": str(main) if main else (quantisation.stored if quantisation is not None else "") or None,
        "parts": {part: str(form) for part, form in formats(model).items()} if known else None,
        "cache": reading.cache or None if reading else None,
        "bytes": stored_weight_bytes(model) if known else None,
        "from": quantisation.whence or None if quantisation is not None else None,
        "source": model.source,
    }


def _precision(model: Model, dtype: str) -> str:
    """The precision of the checkpoint, and that of the plan where it is another."""
    quantisation = model.quantisation
    if quantisation is None:
        return f"planned in {dtype}"
    if not quantisation:
        stored = f"{quantisation.stored}, as {quantisation.whence} says" if quantisation.stored else "16 bits"
        return f"the checkpoint is in {stored}"
    replaced = quantisation.replaced_by(dtype) or f"{quantisation}; planned so"
    size = f"{_left_out(model)}, {show(stored_weight_bytes(model), 'B', 3)} of weights" if quantisation.known else ""
    main = quantisation.reading.main if quantisation.reading else None
    form = f": {main}" if main else ""
    verb = "say" if " and " in quantisation.whence else "says"
    return f"the checkpoint is quantised ({replaced}){form}{size}, as {quantisation.whence} {verb}"


def _left_out(model: Model) -> str:
    """The parts of which most is not quantised."""
    plain = [part.replace("_", " ") for part, form in formats(model).items() if form.plain and part != "rest"]
    return f" ({', '.join(sorted(plain))} in 16 bits)" if plain else ""
