"""What the `config.json` of a checkpoint says of its model: parameters, bytes, and what a sequence keeps."""

from __future__ import annotations

import json
from typing import Any

from hwlib.units import show

CONTEXT = 8192  # tokens of the sequence whose memory is said


def checkpoint_answer(text: str) -> tuple[dict[str, Any], str]:
    """A record and its text. Raises ValueError, which names the field, for what is no such file."""
    from hwlib.specs import Model
    from hwlib.transformer import active_parameters, parameter_count, sequence_memory

    content = _object(text)
    model = Model.of_config(content, "the model")
    parameters, active = parameter_count(model), active_parameters(model)
    sequence = min(CONTEXT, model.context)
    memory = float(sequence_memory(model, sequence).total)
    record: dict[str, Any] = {
        "model_type": str(content.get("model_type", "")),
        "parameters": parameters,
        "active_parameters": active,
        "layers": model.layers,
        "width": model.width,
        "heads": model.heads,
        "kv_heads": model.kv_heads,
        "vocab": model.vocab,
        "context": model.context,
        "experts": model.experts,
        "experts_per_token": model.experts_per_token,
        "quantisation": str(model.quantisation or ""),
        "weights_16bit": 2 * parameters,
        "sequence": sequence,
        "sequence_bytes": memory,
        "beside": list(model.beside),
    }
    return record, "\n".join(_lines(record, repr(model).strip("<>")))


def _object(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("the config.json is nested deeper than any is") from None
    except ValueError as error:
        raise ValueError(f"the text of a config.json was expected: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"a config.json is an object of fields, got {type(content).__name__}")
    return content


def _lines(record: dict[str, Any], sizes: str) -> list[str]:
    dense = record["experts"] == 1
    active = "all of them active for a token" if dense else f"{record['active_parameters']:,.0f} active for a token"
    stored = record["quantisation"]
    return [
        f"{sizes[:1].upper()}{sizes[1:]}.",
        f"Parameters: {record['parameters']:,}, {active}.",
        f"Weights: {show(float(record['weights_16bit']), 'B', 3)} in 16 bits"
        + (f"; the checkpoint is stored as {stored}." if stored else "."),
        f"A sequence of {record['sequence']:,} tokens keeps {show(record['sequence_bytes'], 'B', 3)} in a server, on "
        "all its GPUs together, in 16 bits.",
        *(f"Not counted: {part}." for part in record["beside"]),
    ]
