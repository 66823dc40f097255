"""What the files of a checkpoint say of a quantised copy: the method, the bits of a weight, what a server has like it.

Every quantiser writes other fields, and new ones appear each month. So the method is not looked up in a list: any
configuration that says something makes a checkpoint quantised, and the bits are read from whatever names them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hwlib.specs.config_fields import NOTHING, Config

FILES = ("hf_quant_config.json", "quantize_config.json", "quant_config.json")
"""Files beside a `config.json` that say it too: ModelOpt's, AutoGPTQ's and AutoAWQ's."""
FIELDS = ("quantization_config", "compression_config", "quantization", *FILES)
PARTS = ("text_config", "llm_config", "language_config")
"""The language model within a model that reads more than text."""
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
SIXTEEN = ("bf16", "fp16")


@dataclass(frozen=True)
class Quantisation:
    """How the weights of a checkpoint are stored. `method` and `cache` are its files' words, empty where they say
    nothing, `bits` those of a weight, None where they name none or several. `nearest` are the precisions of a server
    that come nearest, the best first; `own` is the one that is this format with all that it leaves out, if there is.

    It is true of a quantised checkpoint, and false of one in 16 or 32 bits.
    """

    method: str = ""
    bits: int | None = None
    cache: str = ""
    nearest: tuple[str, ...] = ()
    own: str = ""

    def __bool__(self) -> bool:
        return bool(self.method)

    def __str__(self) -> str:
        bits = f", {self.bits} bit" if self.bits else ""
        cache = f", cache in {self.cache}" if self.cache else ""
        return f"{self.method}{bits}{cache}"

    def replaced_by(self, dtype: str) -> str:
        """That a plan in this precision sets the checkpoint's own aside; empty where it does not."""
        return f"{self}; planned in {dtype}" if self and dtype != self.own else ""


def quantisation_of(config: Config) -> Quantisation:
    """How the weights of a checkpoint are stored. Raises SpecError for a configuration that is not an object."""
    for field in FIELDS:
        _, content = config.get(field)
        if content not in NOTHING and not isinstance(content, Mapping):
            raise config.wrong(field, "an object of fields, as a quantiser writes it")
        if content and (quantisation := _read(content)):
            return quantisation
    for part in PARTS:
        inner = config.fields.get(part)
        if isinstance(inner, Mapping) and (quantisation := quantisation_of(Config(f"{config.where}, {part}", inner))):
            return quantisation
    return _of_dtype(config)


def as_published(quantisation: Quantisation, config: Config, shape: Mapping[str, Any]) -> Quantisation:
    """The same with its `own` precision, where the timed kernels are of this very format: experts of 4 bits in
    gpt-oss, 8 bits in blocks in DeepSeek's kind. `shape` are the fields of `hwlib.specs.Model`.
    """
    content = config.fields.get("quantization_config")
    if not isinstance(content, Mapping):
        return quantisation
    if quantisation.method == "mxfp4" and shape.get("sinks") and shape.get("experts", 1) > 1:
        return replace(quantisation, own="mxfp4")
    in_blocks = content.get("weight_block_size") and not content.get("modules_to_not_convert")
    if quantisation.method == "fp8" and in_blocks and shape.get("kv_lora"):
        return replace(quantisation, own="fp8")
    return quantisation


def _read(content: Mapping[str, Any]) -> Quantisation:
    """The quantisation of a configuration; false where it says that there is none."""
    inner = content.get("quantization")
    algorithm = inner if isinstance(inner, Mapping) else content
    cache = _word(algorithm.get("kv_cache_quant_algo")) or ("8 bits" if algorithm.get("kv_cache_scheme") else "")
    plain = _says_none(algorithm)
    if plain and not cache:
        return Quantisation()
    producer = content.get("producer")
    by = producer.get("name") if isinstance(producer, Mapping) else None
    method = _word(content.get("quant_method")) or _word(by) or "a method without a name"
    detail = _word(algorithm.get("quant_algo")) or _word(algorithm.get("format"))
    bits = _bits(algorithm)
    name = f"{method} {detail}" if detail and detail != method else method
    return Quantisation(name, bits, cache, SIXTEEN if plain else _nearest(bits, algorithm))


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
    for field in ("torch_dtype", "dtype"):
        word = _word(config.fields.get(field))
        content = {"dtype": word}
        if bits := _bits(content):
            return Quantisation(word, bits, "", _nearest(bits, content))
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
