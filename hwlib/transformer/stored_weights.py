"""Bytes of a checkpoint's weights as its files store them: each matrix in its format, with scales and zero points.

The matrices are those of `hwlib.transformer.layer_matrices`; what they leave over of the counts of
`hwlib.transformer.model_counts` (norms, biases, tables of positions, convolutions) has 16 bits, or the 32 that the file
says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from hwlib.specs import Model, models
from hwlib.specs.module_names import EMBEDDING, HEAD, OUTSIDE
from hwlib.specs.quantisation import Quantisation
from hwlib.specs.weight_format import WeightFormat
from hwlib.transformer.layer_counts import stream_parameters
from hwlib.transformer.layer_matrices import Matrix, sublayers
from hwlib.transformer.model_counts import mtp_parameters, parameter_groups

WITHOUT = Quantisation()
HASHED_EXPERT = 8  # bytes of the number of an expert in a table of tokens: I64 among the types of DeepSeek-V4's files


class StoredParts(NamedTuple):
    """Bytes of weights by part; `attention` are states and indexers too, `rest` tables, norms, biases, routers."""

    attention: float
    mlp: float
    experts: float
    shared_experts: float
    rest: float

    @property
    def total(self) -> float:
        """All of them."""
        return sum(self)


def stored_weight_bytes(model: Model | str, mtp: bool = False, copied_tables: bool = False) -> float:
    """Bytes of the weights as the checkpoint's files store them; with `mtp` those of the modules for multi-token
    prediction too, and with `copied_tables` the copies of both tables that each of these has in DeepSeek-V3's files.
    Raises ValueError where the files do not say the format.

    >>> stored_weight_bytes("llama3-8b") / 2
    8030261248.0
    """
    model = models.of(model)
    total = stored_parts(model).total
    return total + _modules(model, copied_tables) if mtp else total


def _modules(model: Model, copied_tables: bool) -> float:
    """Bytes of the modules for multi-token prediction, each with a layer of the kind of the model's last one."""
    quantisation = WITHOUT if model.quantisation is None else model.quantisation
    last = _last_layer(model)
    total = mtp_parameters(model) * quantisation.plain.bits / 8
    for number in range(model.mtp_layers):
        for _, matrices in sublayers(last):
            for matrix in matrices:
                form = quantisation.in_module(number, model.layers + number, matrix.kind)
                total += _stored(matrix, form) - matrix.elements * quantisation.plain.bits / 8
    tables = 2 * model.mtp_layers * model.vocab * model.width * quantisation.plain.bits / 8
    return total + tables * copied_tables


def _last_layer(model: Model) -> Model:
    """A model of the one layer of a module for multi-token prediction."""
    alone = {"pattern": "", "mixer": None, "full_heads": None, "naming": "", "hashed_layers": 0}
    one_layer = {"layers": 1, "dense_layers": 0, "window_layers": 0}
    if x := model.compression:
        return model.replace(
            **one_layer | {"window_layers": 1}, **alone, indexer=None, compression=replace(x, strides=(0,))
        )
    indexer = replace(model.indexer, layers=1) if model.indexer else None
    return model.full_view.replace(**one_layer, **alone, indexer=indexer)


def stored_parts(model: Model | str) -> StoredParts:
    """Bytes of a checkpoint's weights by part. Raises ValueError where its files do not say the format.

    >>> parts = stored_parts("mixtral-8x7b")
    >>> parts.experts / parts.total > 0.9
    True
    """
    model = models.of(model)
    quantisation = WITHOUT if model.quantisation is None else model.quantisation
    sums = dict.fromkeys(StoredParts._fields, 0.0)
    counted = 0
    for number, matrices in sublayers(model):
        for matrix in matrices:
            sums[matrix.part] += _stored(matrix, quantisation.in_layer(number, matrix.kind))
            counted += matrix.elements
    tables = [EMBEDDING] if model.tied else [EMBEDDING, HEAD]
    for kind in tables:
        form = quantisation.format_of(OUTSIDE[kind], kind)
        sums["rest"] += form.stored_bytes(model.vocab, model.width)
        counted += model.vocab * model.width
    plain = quantisation.plain
    sums["rest"] += (parameter_groups(model).total - counted) * plain.bits / 8
    if quantisation:  # as published: hyper-connections in 32 bits, and what chooses the experts of hashed layers
        sums["rest"] += stream_parameters(model) * (4 - plain.bits / 8)
        sums["rest"] += model.hashed_layers * model.vocab * model.experts_per_token * HASHED_EXPERT
    return StoredParts(**sums)


def formats(model: Model | str) -> dict[str, WeightFormat]:
    """The format that most bytes of each part have. Raises ValueError where the files do not say it."""
    model = models.of(model)
    quantisation = WITHOUT if model.quantisation is None else model.quantisation
    held: dict[tuple[str, WeightFormat], float] = {}
    for number, matrices in sublayers(model):
        for matrix in matrices:
            form = quantisation.in_layer(number, matrix.kind)
            held[matrix.part, form] = held.get((matrix.part, form), 0.0) + matrix.elements
    most = sorted(held.items(), key=lambda item: item[1])
    return {part: form for (part, form), _ in most}


def _stored(matrix: Matrix, form: WeightFormat) -> float:
    return matrix.number * form.stored_bytes(matrix.out, matrix.into)
