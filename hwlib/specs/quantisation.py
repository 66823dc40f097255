"""What the files of a checkpoint say of a quantised copy: the formats of its weights, and what a server has like them.

`hwlib.specs.quantisers` reads the configuration of each method. Where two files of a checkpoint say it, they agree.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hwlib.specs.config_fields import NOTHING, Config
from hwlib.specs.module_names import NamePatterns, names_in, names_in_module
from hwlib.specs.quantisers import FormatReading, FormatRule, reading_of
from hwlib.specs.table import SpecError
from hwlib.specs.weight_format import MXFP4, WeightFormat
from hwlib.specs.weight_format import PLAIN as SIXTEEN

FILES = ("hf_quant_config.json", "quantize_config.json", "quant_config.json")
"""Files beside a `config.json` that say it too: ModelOpt's, AutoGPTQ's and AutoAWQ's."""
FIELDS = ("quantization_config", "compression_config", "quantization", *FILES)
LONGEST = 40  # characters of a method's name that are repeated
PLAIN = 16  # bits of a weight that is not quantised, at least
BITS = {"bits", "num_bits", "nbits", "w_bit", "wbits", "weight_bits"}
FORMATS = {
    "quant_method",
    "quant_algo",
    "quant_type",
    "default",
    "type",
    "_type",
    "format",
    "fmt",
    "weights",
    "weight",
    "dtype",
    "weight_dtype",
    "forward_dtype",
    "data_type",
}
NOT_WEIGHTS = re.compile(r"bnb_|scale|zero|meta|offset|activation|input|output|cache|exclude|ignore|producer|sparsity")
INPUTS = ("input_activations", "input_tensors")
WIDTH = re.compile(r"(?:fp|nf|int|float|bf|w)(\d{1,2})")
FLOATS = re.compile(r"fp\d|float|e4m3|e5m2|(mx|nv)_fp")
FOUR_BIT_FLOATS = re.compile(r"fp4|float|(mx|nv)_fp")
NAMELESS = "a method without a name"
WITHOUT_METHOD = {"quantize_config.json": "gptq", "quant_config.json": "awq"}
"""The methods of files that need not name theirs."""


@dataclass(frozen=True)
class Quantisation:
    """How the weights of a checkpoint are stored. `method` and `cache` are its files' words, empty where they say
    nothing, `bits` those of most weights, None where that is not known. `nearest` are the precisions of a server
    that come nearest, the best first; `own` is the one that is this format with all that it leaves out, if there is.
    `reading` has the formats of all weights, None where no field says them, and `whence` the fields that do.

    It is true of a quantised checkpoint, and false of one in 16 or 32 bits.
    """

    method: str = ""
    bits: int | None = None
    cache: str = ""
    nearest: tuple[str, ...] = ()
    own: str = ""
    reading: FormatReading | None = None
    stored: str = ""
    whence: str = field(default="", compare=False)

    def __bool__(self) -> bool:
        return bool(self.method)

    def __str__(self) -> str:
        bits = f", {self.bits} bit" if self.bits else ""
        cache = f", cache in {self.cache}" if self.cache else ""
        return f"{self.method}{bits}{cache}"

    def replaced_by(self, dtype: str) -> str:
        """That a plan in this precision sets the checkpoint's own aside; empty where it does not."""
        return f"{self}; planned in {dtype}" if self and dtype != self.own else ""

    @property
    def known(self) -> bool:
        """Whether the format of every weight is known."""
        return self.reading is None or self.reading.weights is not None

    @property
    def plain(self) -> WeightFormat:
        """The format of what no method quantises, norms and biases among it."""
        return WeightFormat(self.stored, 32) if self.stored == "float32" else SIXTEEN

    def format_of(self, names: tuple[str, ...], kind: str) -> WeightFormat:
        """The format of a matrix that may have these names, and is of this kind. Raises ValueError where that is not
        known."""
        plain = self.plain
        if self.reading is None:
            return plain
        if self.reading.weights is None:
            raise ValueError(f"the format of the weights is not known of {self}")
        for rule in self.reading.rules:
            if rule.modules.match(names):
                return plain if rule.weights.plain else rule.weights
        weights = self.reading.weights
        return plain if weights.plain or kind in self.reading.around else weights

    def in_layer(self, layer: int, kind: str) -> WeightFormat:
        """The format of a kind of matrix of a layer (`hwlib.specs.module_names.IN_A_LAYER`)."""
        return self.format_of(names_in(layer, kind), kind)

    def in_module(self, number: int, layer: int, kind: str) -> WeightFormat:
        """The format of a kind of matrix of a module for multi-token prediction, by its number among these and among
        all layers.
        """
        return self.format_of(names_in_module(number, layer, kind), kind)


def quantisation_of(config: Config) -> Quantisation:
    """How the weights of a checkpoint are stored. Raises SpecError for a configuration that is not an object, one that
    is not understood, and for two that differ.
    """
    readings = []
    for name in FIELDS:
        _, content = config.get(name)
        if content not in NOTHING and not isinstance(content, Mapping):
            raise config.wrong(name, "an object of fields, as a quantiser writes it")
        if content and (quantisation := _read(config, name)):
            readings.append((name, quantisation))
    of_dtype = _of_dtype(config)
    if not readings:
        return of_dtype
    (first, quantisation), *others = readings
    for name, other in others:
        _agree(config, first, quantisation, name, other)
        quantisation = _joined(quantisation, other)
    whence = " and ".join(name for name, _ in readings)
    return replace(quantisation, whence=whence, stored=of_dtype.stored)


def _agree(config: Config, first: str, one_says: Quantisation, name: str, other: Quantisation) -> None:
    """Refuse two configurations that say different things of a checkpoint."""
    pairs = [
        ("bits", one_says.bits, other.bits),
        ("type of the cache", _as_word(one_says), _as_word(other)),
        ("format of weights", _formats(one_says, False), _formats(other, False)),
        ("modules left out", _formats(one_says, True), _formats(other, True)),
    ]
    for what, here, there in pairs:
        if here and there and here != there:
            raise SpecError(
                f"{config.where}: {name}: expected the same {what} as in {first}, and they differ: "
                f"{_brief(here)} in {first}, {_brief(there)} in {name}"
            )


def _as_word(quantisation: Quantisation) -> str:
    return quantisation.reading.cache if quantisation.reading else ""


def _formats(quantisation: Quantisation, plain: bool) -> frozenset[Any]:
    """The rules of a configuration, of modules that are left out or of the others; and its format of weights."""
    reading = quantisation.reading
    if reading is None or reading.weights is None:
        return frozenset()
    rules = {rule for rule in reading.rules if rule.weights.plain == plain}
    return frozenset(rules) if plain or rules else frozenset({reading.weights})


def _brief(value: Any) -> str:
    if not isinstance(value, frozenset):
        return str(value)
    return "; ".join(sorted(map(str, value)))[:120]


def _joined(quantisation: Quantisation, other: Quantisation) -> Quantisation:
    """Both readings of a checkpoint: what the one leaves open, the other says."""
    first, second = quantisation.reading, other.reading
    if first is None or second is None:
        return quantisation if first is not None else replace(quantisation, reading=second)
    here, there = first.weights, second.weights
    says_all = here and not here.plain and there and there.plain  # in what the modules are that the second leaves out
    rules = first.rules if says_all or len(first.rules) >= len(second.rules) else second.rules
    around = first.around & second.around
    reading = first._replace(rules=rules, around=around, cache=first.cache or second.cache)
    return replace(quantisation, reading=reading, cache=quantisation.cache or other.cache)


def as_published(quantisation: Quantisation, config: Config, shape: Mapping[str, Any]) -> Quantisation:
    """The same with its `own` precision, where the timed kernels are of this very format: experts of 4 bits in
    gpt-oss, 8 bits in blocks in DeepSeek's kind. `shape` are the fields of `hwlib.specs.Model`.
    """
    content = config.fields.get("quantization_config")
    if not isinstance(content, Mapping):
        return quantisation
    if shape.get("compression"):
        return _with_narrow_experts(quantisation, config, content)
    if quantisation.method == "mxfp4" and shape.get("sinks") and shape.get("experts", 1) > 1:
        return replace(quantisation, own="mxfp4")
    in_blocks = content.get("weight_block_size") and not content.get("modules_to_not_convert")
    if quantisation.method == "fp8" and in_blocks and shape.get("kv_lora"):
        return replace(quantisation, own="fp8")
    return quantisation


COMPRESSORS = FormatRule(
    NamePatterns(
        [f"compressor.{name}" for name in ("wkv", "wgate", "kv_proj", "gate_proj")]
        + [f"indexer.{name}" for name in ("kv_proj", "gate_proj", "weights_proj", "scorer.weights_proj")]
    ),
    SIXTEEN,
)
"""What DeepSeek-V4's checkpoints have in 16 bits, without saying so."""


def _with_narrow_experts(quantisation: Quantisation, config: Config, content: Mapping[str, Any]) -> Quantisation:
    """The quantisation of DeepSeek-V4: where a file has experts in 4 bits, they have the scales of MXFP4, and blocks of
    8 bits a scale of one byte (deepseek-v4).
    """
    reading = quantisation.reading
    if not quantisation.method.startswith("fp8") or reading is None or reading.weights is None:
        return quantisation
    weights, experts, rules = reading.weights, content.get("expert_dtype", config.fields.get("expert_dtype")), ()
    if experts == "fp4":
        weights = replace(weights, beside=1)
        rules = (FormatRule(NamePatterns(["experts"]), replace(MXFP4, inputs="fp8")),)
    reading = reading._replace(weights=weights, rules=(COMPRESSORS, *reading.rules, *rules))
    narrow = reading.experts
    if narrow is None:
        return replace(quantisation, reading=reading, own="fp8")
    named = f"{quantisation.method} with experts in {narrow.name}"
    own = "mxfp4" if rules and narrow is rules[0].weights else ""
    bits = round(narrow.bits)
    return replace(quantisation, method=named, bits=bits, nearest=narrow.nearest, own=own, reading=reading)


def _read(config: Config, name: str) -> Quantisation:
    """The quantisation of a configuration; false where it says that there is none."""
    content = config.fields[name]
    inner = content.get("quantization")
    algorithm = inner if isinstance(inner, Mapping) else content
    cache = _word(algorithm.get("kv_cache_quant_algo")) or ("8 bits" if algorithm.get("kv_cache_scheme") else "")
    plain = _says_none(algorithm)
    if plain and not cache:
        return Quantisation()
    producer = content.get("producer")
    by = producer.get("name") if isinstance(producer, Mapping) else None
    method = (
        _word(content.get("quant_method")) or _word(by) or _method_of(algorithm) or WITHOUT_METHOD.get(name, NAMELESS)
    )
    detail = _word(algorithm.get("quant_algo")) or _word(algorithm.get("format"))
    of_mlx = "mlx" if "bits" in content else ""
    reading = reading_of(Config(f"{config.where}, {name}", content), of_mlx if method == NAMELESS else method)
    named = f"{method} {detail}" if detail and detail != method else method
    return _of_reading(named, reading, cache, algorithm, plain)


def _of_reading(
    named: str, reading: FormatReading, cache: str, algorithm: Mapping[str, Any], plain: bool
) -> Quantisation:
    """The quantisation of a reading; where that has no format, what the words of the configuration name."""
    main = reading.main
    if main is not None and not main.plain:
        return Quantisation(named, round(main.bits), cache, main.nearest, reading=reading)
    if plain or main is not None:
        return Quantisation(named, None, cache, SIXTEEN.nearest if plain else (), reading=reading)
    bits = None if any(rule.weights.bits < PLAIN for rule in reading.rules) else _bits(algorithm)
    return Quantisation(named, bits, cache, _nearest(bits, algorithm), reading=reading)


def _method_of(content: Mapping[str, Any]) -> str:
    """The method of a configuration without a name, by the fields that only this one has."""
    of_fields = {
        "quant_algo": "modelopt",
        "quantized_layers": "modelopt",
        "config_groups": "compressed-tensors",
        "load_in_4bit": "bitsandbytes",
        "load_in_8bit": "bitsandbytes",
        "desc_act": "gptq",
        "zero_point": "awq",
    }
    return next((method for name, method in of_fields.items() if name in content), "")


def _says_none(content: Mapping[str, Any]) -> bool:
    """Whether a configuration says nothing, or in so many words that weights are not quantised."""
    if all(value in NOTHING for value in content.values()):
        return True
    without_groups = not content.get("config_groups")
    if without_groups and "quant_algo" in content and content["quant_algo"] is None:
        return True
    if without_groups and content.get("format") == "dense" and not content.get("sparsity_config"):
        return True
    loads = [content[name] for name in ("load_in_4bit", "load_in_8bit") if name in content]
    return bool(loads) and not any(loads)


def _of_dtype(config: Config) -> Quantisation:
    """The quantisation of a checkpoint that says it only by the type of its weights, such as float8_e4m3fn."""
    for name in ("torch_dtype", "dtype"):
        word = _word(config.fields.get(name)).removeprefix("torch.")
        content = {"dtype": word}
        if bits := _bits(content):
            return Quantisation(word, bits, "", _nearest(bits, content), whence=name, reading=FormatReading(None))
        if word:
            return Quantisation(stored=word, whence=name)
    return Quantisation()


def _word(value: Any) -> str:
    """A name of one line that can be repeated; empty of anything else."""
    return " ".join(value.split())[:LONGEST] if isinstance(value, str) else ""


def _leaves(content: Any) -> Iterator[tuple[str, Any]]:
    """The values that speak of weights, each with the name of its field, however deep they stand."""
    waiting = [("", content)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            named = [(name if key == "_data" else str(key), inner) for key, inner in value.items()]
            waiting += [(key, inner) for key, inner in named if not NOT_WEIGHTS.search(key)]
        else:
            yield name, value


def _bits(content: Mapping[str, Any]) -> int | None:
    """The bits of a quantised weight, where all that names some agrees."""
    widths = set()
    for name, value in _leaves(content):
        if name in BITS and isinstance(value, int) and not isinstance(value, bool):
            widths.add(value)
        elif name in ("load_in_4bit", "load_in_8bit") and value is True:
            widths.add(int(name[-4]))
        elif name in FORMATS and isinstance(value, str):
            widths |= _widths(value)
    quantised = {bits for bits in widths if 0 < bits < PLAIN}
    return quantised.pop() if len(quantised) == 1 else None


def _widths(text: str) -> set[int]:
    """The bits of weights in a name such as Int8DynamicActivationInt4WeightConfig, W4A16 or float8_e4m3fn."""
    of_weights = text.lower().rpartition("activation")[2]
    if both := re.search(r"w(\d{1,2})a", of_weights):  # the rest is of products' inputs: W4AFP8, W4A8_NVFP4_FP8
        return {int(both[1])}
    widths = {int(width) for width in WIDTH.findall(of_weights)}
    return widths | {8} if re.search("e4m3|e5m2", of_weights) else widths


def _nearest(bits: int | None, content: Mapping[str, Any]) -> tuple[str, ...]:
    """The precisions of a server for weights of so many bits: where products have as few, that of products first."""
    if bits is None or bits > 8:
        return ()
    words = " ".join(str(value).lower() for name, value in _leaves(content) if name in FORMATS)
    wide = re.search("a16", words) or _inputs_are_wide(content)
    if bits > 4:
        return ("fp8", "int8w") if bits == 8 and FLOATS.search(words) and not wide else ("int8w",)
    return ("fp4", "int4w") if bits == 4 and FOUR_BIT_FLOATS.search(words) and not wide else ("int4w",)


def _inputs_are_wide(content: Any) -> bool:
    """Whether a configuration has a place for the format of products' inputs, and leaves it empty everywhere, or says
    16 bits.
    """
    inputs, waiting = [], [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            inputs += [value[name] for name in INPUTS if name in value]
            inputs += [value["act_bits"] != PLAIN] if "act_bits" in value else []
            waiting += value.values()
    return bool(inputs) and not any(inputs)
