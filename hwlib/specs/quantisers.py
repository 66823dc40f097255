"""The configurations of quantisers, each read field by field: formats of weights, inputs and cache, what is left out.

A method that is not known, and a field of a known one that is not understood, is an error: a plan that ignores it could
be wrong. A method that is known, but whose bytes follow from no field, has no format.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from hwlib.specs.config_fields import Config
from hwlib.specs.module_names import EMBEDDING, HEAD, ROUTER, SHARED_GATE, NamePatterns
from hwlib.specs.table import SpecError
from hwlib.specs.weight_format import (
    FP8_TENSOR,
    MXFP4,
    MXFP8,
    NVFP4,
    PLAIN,
    SIXTEEN_BITS,
    WeightFormat,
    fp8_blocks,
    integers,
    rows_of,
)

HARMLESS = "|".join(
    (
        # who wrote it, with what, and how it was calibrated
        r"quant_method|version|checkpoint_format|meta|backend|pack_dtype|damp\w*|static_groups|true_sequential|model_\w+",
        r"producer|dataset|cache_block_outputs|block_name_to_quantize|module_name_preceding_first_block|batch_size",
        r"pad_token_id|tokenizer|task|nsamples|seqlen|iters|lr|minmax_lr|low_gpu_mem_usage|enable_\w+|autoround_version",
        r"gradient_accumulate_steps|amp|train_bs|quantization_status|observer\w*|global_compression_ratio|actorder",
        r"smoothquant_val|calib\w*|moe_quant_algo|modules_in_block_to_quantize|export|mode|_comment|to_quant_block_names",
        # with which kernels it runs
        r"use_\w+|exllama\w*|disable_\w+|max_input_length|do_fuse|fuse_\w+|modules_to_fuse|is_marlin_format|format|sym",
        r"activation_scheme|fmt|scale_fmt|scale_dtype|zp_dtype|activation_scale_ub|transform_config|rotation_config",
        r"bnb_4bit_(compute_dtype|quant_storage)|llm_int8_(threshold|enable_fp32_cpu_offload|has_fp16_weight)",
        r"_load_in_\w+|pre_quant_scale\w*|packing_format|data_type|act_\w+|output_activations|dynamic|quantize",
        r"softmax_quant_spec|algo_config|kv_cache_group|quant_mode|custom_mode|min_kv_scale|include_input_output_embeddings",
    )
)
"""Names of fields that no byte follows from."""
AROUND = frozenset({EMBEDDING, HEAD, ROUTER, SHARED_GATE})
"""Matrices that quantisers leave out without a word."""
ROUTERS = frozenset({EMBEDDING, ROUTER, SHARED_GATE})
CODES = ("aqlm", "vptq", "spqr", "quip", "bitnet", "higgs", "exl2", "exl3", "fp_quant", "sinq", "w4afp8", "ptpc_fp8")
"""Methods whose bytes follow from tables of codes, or from nothing that their files say."""


class FormatRule(NamedTuple):
    """Modules, by their names, and the format of their weights."""

    modules: NamePatterns
    weights: WeightFormat

    def __str__(self) -> str:
        return f"{', '.join(self.modules.patterns[:3])} in {self.weights}"

    @property
    def names_experts(self) -> bool:
        """Whether it is of whole layers' experts, quantised."""
        return not self.weights.plain and any(name.split(".")[-1] == "experts" for name in self.modules.patterns)


class FormatReading(NamedTuple):
    """What a configuration says: the format of `weights` (None: not known), the `rules` for modules of other formats,
    the first that fits first, the kinds of matrices that are left out without a rule, and the type of the cache.
    """

    weights: WeightFormat | None
    rules: tuple[FormatRule, ...] = ()
    around: frozenset[str] = AROUND
    cache: str = ""

    @property
    def main(self) -> WeightFormat | None:
        """The format that most weights have, as far as it is one: of a mixture its experts'."""
        if self.weights is None:
            return None
        if not self.weights.plain:
            return self.experts or self.weights
        named = Counter[WeightFormat]()
        for rule in self.rules:
            if not rule.weights.plain:
                named[rule.weights] += len(rule.modules.patterns)
        most = named.most_common(2)
        if not most:
            return PLAIN
        return most[0][0] if len(most) == 1 or most[0][1] > most[1][1] else None

    @property
    def experts(self) -> WeightFormat | None:
        """The format of routed experts, where a rule names all of them in a layer."""
        return next((rule.weights for rule in self.rules if rule.names_experts), None)


def reading_of(config: Config, method: str) -> FormatReading:
    """What a quantiser's configuration says. Raises SpecError, which names the field."""
    read = METHODS.get(method.lower().replace("_", "-"))
    if read is None:
        known = ", ".join(sorted(METHODS))
        name = "quant_method" if config.fields.get("quant_method") is not None else "the method"
        raise SpecError(f"{config.where}: {name} = {method!r} is not understood; expected one of {known}")
    reading = read(config)
    for name in config.unread(HARMLESS):
        raise SpecError(
            f"{config.where}: {name} = {str(config.fields[name])[:60]!r} is not understood, and the bytes of weights "
            f"might depend on it; expected, beside fields that they do not depend on: {', '.join(sorted(config.seen))}"
        )
    return reading


# What several of them share


def _left_out(config: Config, *names: str, whole: bool = False) -> tuple[FormatRule, ...]:
    """The rule for modules that stay as they are; with `whole` a name does not stand for what its module holds."""
    listed: list[str] = []
    for name in names:
        _, value = config.get(name)
        listed += _texts(config, name, value)
    return (FormatRule(NamePatterns(listed, whole), PLAIN),) if listed else ()


def _texts(config: Config, name: str, value: Any) -> list[str]:
    value = [value] if isinstance(value, str) else value
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise config.wrong(name, "a list of names of modules")
    return value


def _group(config: Config, *names: str, default: int) -> int:
    """Elements of a group, and 0 where a row is one."""
    _, value = config.get(*names)
    if value in (-1, 0):
        return 0
    return config.count(*names, default=default)


def _bits(config: Config, *names: str, default: int | None = None) -> int:
    bits = config.count(*names, default=default)
    if bits not in range(1, 9):
        raise config.wrong(names[0], "1 to 8 bits")
    return bits


def _cache(config: Config) -> str:
    """The type of the cache, of any of the fields that say it."""
    _, value = config.get("kv_cache_quant_algo", "kv_cache_dtype")
    _, scheme = config.get("kv_cache_scheme")
    if isinstance(scheme, Mapping):
        inner = config.inner("kv_cache_scheme")
        return f"{'fp' if inner.get('type')[1] == 'float' else 'int'}{_bits(inner, 'num_bits')}"
    value = value if value is not None else scheme
    if value in (None, "auto", "NONE"):
        return ""
    if not isinstance(value, str) or not re.fullmatch(r"(?i)(nv)?fp[48]\w*|int[48]|bf16|fp16", value):
        raise config.wrong("kv_cache_quant_algo", "a type of the cache, such as FP8")
    return value.lower()


# Methods


def _fp8(config: Config) -> FormatReading:
    if config.fields.get("quant_algo") is not None:
        return _modelopt(config)
    rules = _left_out(config, "modules_to_not_convert", "ignored_layers")
    _, block = config.get("weight_block_size")
    config.get("expert_dtype")  # of DeepSeek-V4: `as_published`
    _, fmt = config.get("fmt")
    if fmt is not None and "e4m3" not in str(fmt) and "e5m2" not in str(fmt):
        raise config.wrong("fmt", "e4m3 or e5m2")
    return FormatReading(
        FP8_TENSOR if block is None else _blocks(config, "weight_block_size", block), rules, cache=_cache(config)
    )


def _blocks(config: Config, name: str, block: Any, inputs: str = "fp8") -> WeightFormat:
    whole = isinstance(block, list) and len(block) == 2 and all(type(x) is int and 0 < x < 2**20 for x in block)
    if not whole:
        raise config.wrong(name, "two whole numbers above 0, the rows and columns of a block")
    return fp8_blocks(block[0], block[1], inputs)


def _awq(config: Config) -> FormatReading:
    bits, group = _bits(config, "bits", "w_bit"), _group(config, "group_size", "q_group_size", default=128)
    zero = config.flag("zero_point", True)
    return FormatReading(integers(bits, group, zero), _left_out(config, "modules_to_not_convert"))


def _gptq(config: Config) -> FormatReading:
    """Zero points are kept of symmetric weights too, and each column says its group."""
    bits, group = _bits(config, "bits", "wbits"), _group(config, "group_size", "groupsize", default=0)
    config.flag("desc_act", False)
    config.get("static_groups")
    rules = _left_out(config, "modules_to_not_convert")
    dynamic = config.inner("dynamic").fields
    if any(not name.startswith("-:") for name in dynamic):  # modules with other bits or groups
        return FormatReading(None)
    if dynamic:
        rules += (FormatRule(NamePatterns(f"re:{name.removeprefix('-:')}" for name in dynamic), PLAIN),)
    around = AROUND - {HEAD} if config.flag("lm_head", False) else AROUND
    return FormatReading(integers(bits, group, True, order=True), rules, around)


def _auto_round(config: Config) -> FormatReading:
    bits, group = _bits(config, "bits"), _group(config, "group_size", default=128)
    _, kind = config.get("data_type")
    _, act_bits = config.get("act_bits")
    _, others = config.get("extra_config")
    if not isinstance(others, (Mapping, type(None))):
        raise config.wrong("extra_config", "an object of modules")
    rules = _left_out(config, "modules_to_not_convert")
    plain = [name for name, value in (others or {}).items() if isinstance(value, Mapping) and value.get("bits") == 16]
    if len(plain) < len(others or {}):
        return FormatReading(None)
    if plain:
        rules += (FormatRule(NamePatterns(_regular(plain)), PLAIN),)
    narrow = isinstance(act_bits, int) and act_bits < 16
    formats = {"mx_fp": MXFP4, "nv_fp": NVFP4, "fp8_sym": FP8_TENSOR}
    if isinstance(kind, str) and kind in formats:
        wide = formats[kind]
        inputs = ("fp8" if wide.bits == 8 else "fp4") if narrow else SIXTEEN_BITS
        return FormatReading(_with_inputs(wide, inputs), rules)
    return FormatReading(integers(bits, group, True, order=False), rules)


def _regular(names: Iterable[str]) -> list[str]:
    """The names as patterns, of which some are regular expressions without a word."""
    regular = re.compile(r"\\|\.\*|\(")
    return [f"{'re:' * bool(regular.search(name))}{name}" for name in names]


def _with_inputs(weights: WeightFormat, inputs: str) -> WeightFormat:
    return replace(weights, inputs=inputs)


def _bitsandbytes(config: Config) -> FormatReading:
    """4 bits in blocks of 64 elements, each with a scale of 32 bits, or of 8 with a second scale; or 8 bits and a scale
    for each row.
    """
    rules = _left_out(config, "llm_int8_skip_modules")
    double = config.flag("bnb_4bit_use_double_quant", False)
    config.only("bnb_4bit_quant_type", "fp4", "nf4")
    kind = config.get("bnb_4bit_quant_type")[1] or "fp4"
    if not config.flag("load_in_4bit", False):
        config.only("load_in_8bit", True)
        return FormatReading(rows_of("int8", 8, 4), rules)
    config.get("load_in_8bit")
    name = "nf4" if kind == "nf4" else "bnb fp4"
    return FormatReading(
        WeightFormat(name, 4, columns=64, beside=1 + 4 / 256 if double else 4, once=64 + 1024 * double), rules
    )


def _compressed(config: Config) -> FormatReading:
    rules = _left_out(config, "ignore", whole=True)
    _, sparsity = config.get("sparsity_config")
    if sparsity and isinstance(sparsity, Mapping) and sparsity.get("format") not in (None, "dense"):
        return FormatReading(None, cache=_cache(config))
    weights, targets = _groups(config)
    return FormatReading(weights, rules + targets, ROUTERS, _cache(config))


def _groups(config: Config) -> tuple[WeightFormat, tuple[FormatRule, ...]]:
    """The format of all linear modules, and the rules for those of groups with targets of their own."""
    groups = config.inner("config_groups")
    everywhere: list[WeightFormat] = []
    rules = []
    for name in groups.fields:
        group = groups.inner(name)
        weights = _tensors(group)
        _, targets = group.get("targets")
        listed = _texts(group, "targets", targets) or ["Linear"]
        named = [target for target in listed if not re.fullmatch(r"[A-Z]\w*", target)]
        if len(named) < len(listed):
            everywhere.append(weights)
        if named:
            rules.append(FormatRule(NamePatterns(named), weights))
        for other in group.unread(HARMLESS):
            raise group.wrong(other, "a group of compressed-tensors: weights, input_activations, targets")
    if len(set(everywhere)) > 1:
        raise config.wrong("config_groups", "one group for all linear modules")
    return (everywhere or [PLAIN])[0], tuple(rules)


def _tensors(group: Config) -> WeightFormat:
    """The format of a group's weights."""
    _, content = group.get("weights")
    inputs = _inputs(group)
    if content is None:
        return PLAIN
    weights = group.inner("weights")
    bits, columns = _bits(weights, "num_bits"), _group(weights, "group_size", default=0)
    floats = weights.get("type")[1] in (None, "float")
    _, strategy = weights.get("strategy")
    _, structure = weights.get("block_structure")
    symmetric = weights.flag("symmetric", True)
    for other in weights.unread(HARMLESS):
        raise weights.wrong(other, "a field of a compressed tensor that its bytes do not depend on")
    if strategy == "block" or structure is not None:
        return _blocks(weights, "block_structure", structure, inputs)
    if floats and bits == 4:
        return _with_inputs(NVFP4 if columns in (0, 16) else MXFP4, inputs)
    if floats and columns == 32:
        return MXFP8
    name = f"fp{bits}" if floats else f"int{bits}"
    if columns:
        return (
            _with_inputs(integers(bits, columns, not symmetric), inputs)
            if not floats
            else _grouped(name, bits, columns)
        )
    if strategy in (None, "tensor"):
        return WeightFormat(name, bits, rows=0, once=8, inputs=inputs)
    return rows_of(name, bits, 2, inputs)


def _grouped(name: str, bits: int, columns: int) -> WeightFormat:
    return WeightFormat(name, bits, columns=columns, beside=2, inputs="fp8")


def _inputs(group: Config) -> str:
    """The format of products' inputs."""
    _, content = group.get("input_activations")
    if content is None:
        return SIXTEEN_BITS
    inputs = group.inner("input_activations")
    bits = inputs.count("num_bits", default=16)
    kind = "fp" if inputs.get("type")[1] in (None, "float") else "int"
    return f"{kind}{bits}" if bits < 16 else SIXTEEN_BITS


ALGORITHMS: Mapping[str, WeightFormat] = MappingProxyType(
    {
        "FP8": FP8_TENSOR,
        "FP8_PER_CHANNEL_PER_TOKEN": rows_of("fp8", 8, 4, "fp8"),
        "FP8_PB_WO": fp8_blocks(128, 128, SIXTEEN_BITS),
        "FP8_PB_REAL_QUANT": fp8_blocks(128, 128),
        "FP8_BLOCK_SCALES": fp8_blocks(128, 128),
        "NVFP4": NVFP4,
        "NVFP4_AWQ": NVFP4,
        "NVFP4_SVDQUANT": NVFP4,
        "W4A4_NVFP4": NVFP4,
        "W4A16_NVFP4": _with_inputs(NVFP4, SIXTEEN_BITS),
        "W4A8_NVFP4_FP8": _with_inputs(NVFP4, "fp8"),
        "MXFP4": MXFP4,
        "W4A8_MXFP4_FP8": _with_inputs(MXFP4, "fp8"),
        "W4A16_MXFP4": MXFP4,
        "MXFP8": MXFP8,
        "W4A16_AWQ": integers(4, 128, False),
        "INT4_AWQ": integers(4, 128, False),
        "W4A8_AWQ": _with_inputs(integers(4, 128, False), "fp8"),
        "W4A16": integers(4, 0, False),
        "W8A16": rows_of("int8", 8, 4),
        "INT8_SQ": rows_of("int8", 8, 4, "int8"),
        "W8A8_SQ_PER_CHANNEL": rows_of("int8", 8, 4, "int8"),
    }
)
"""ModelOpt's names of formats."""
MIXED = "MIXED_PRECISION"


def _modelopt(config: Config) -> FormatReading:
    inner = config.inner("quantization") if isinstance(config.get("quantization")[1], Mapping) else config
    _, algorithm = inner.get("quant_algo")
    rules = _left_out(inner, "exclude_modules", "ignore", "modules_to_not_convert")
    around = ROUTERS if rules else AROUND
    cache = _cache(inner)
    inner.get("group_size")
    inner.get("has_zero_point")
    _, listed = inner.get("quantized_layers")
    _, groups = inner.get("config_groups")
    if algorithm is None and groups is not None:
        weights, targets = _groups(inner)
        return FormatReading(weights, rules + targets, around, cache)
    if algorithm is None:
        return FormatReading(PLAIN, rules, around, cache)
    if algorithm != MIXED:
        return FormatReading(_algorithm(inner, algorithm), rules, around, cache)
    if listed is None:
        weights, targets = _groups(inner)
        return FormatReading(weights, rules + targets, around, cache)
    _, block = inner.get("weight_block_size")
    if inner.get("quant_method")[1] != "fp8":
        return FormatReading(PLAIN, rules + _layers(inner), around, cache)
    # What ModelOpt left out has the format that it had in the checkpoint before.
    before = fp8_blocks(128, 128) if block is None else _blocks(inner, "weight_block_size", block)
    return FormatReading(before, _layers(inner), cache=cache)


def _algorithm(config: Config, name: Any) -> WeightFormat:
    """The format of one of ModelOpt's names; groups of another size than its usual are its own."""
    if not isinstance(name, str) or name.upper() not in ALGORITHMS:
        raise config.wrong("quant_algo", f"one of {', '.join(ALGORITHMS)}, {MIXED}")
    usual = ALGORITHMS[name.upper()]
    group = _group(config, "group_size", default=usual.columns)
    if usual.columns in (0, group) or usual.rows != 1:
        return usual
    return replace(usual, columns=group)


def _layers(config: Config) -> tuple[FormatRule, ...]:
    """The rules of layers that are listed one by one."""
    layers = config.inner("quantized_layers")
    formats: dict[WeightFormat, list[str]] = {}
    for name in layers.fields:
        layer = layers.inner(name)
        formats.setdefault(_algorithm(layer, layer.get("quant_algo")[1]), []).append(name)
    return tuple(FormatRule(NamePatterns(names), weights) for weights, names in formats.items())


def _fbgemm(config: Config) -> FormatReading:
    return FormatReading(rows_of("fp8", 8, 4, "fp8"), _left_out(config, "modules_to_not_convert"))


TORCHAO = (
    (r"int4", lambda group: integers(4, group or 128, True)),
    (r"int8dynamicactivationint8|int8_dynamic_activation_int8", lambda _: rows_of("int8", 8, 2, "int8")),
    (r"int8", lambda _: rows_of("int8", 8, 2)),
    (r"(float8|fp8)dynamic|(float8|fp8)_dynamic", lambda _: rows_of("fp8", 8, 4, "fp8")),
    (r"float8|fp8", lambda _: rows_of("fp8", 8, 4)),
    (r"nvfp4", lambda _: NVFP4),
)
"""Parts of torchao's names, and the format of each, by the size of its groups."""


def _torchao(config: Config) -> FormatReading:
    _, kind = config.get("quant_type")
    _, options = config.get("quant_type_kwargs")
    rules = _left_out(config, "modules_to_not_convert")
    config.get("untie_embedding_weights")
    default, data = kind, options
    if isinstance(kind, Mapping):
        inner = kind.get("default", kind)
        default = inner.get("_type") if isinstance(inner, Mapping) else None
        data = inner.get("_data") if isinstance(inner, Mapping) else None
    if not isinstance(default, str):
        raise config.wrong("quant_type", "a name of torchao, or an object with one")
    group = data.get("group_size") if isinstance(data, Mapping) else None
    group = group if isinstance(group, int) and not isinstance(group, bool) and 0 < group < 2**20 else 0
    word = default.lower()
    if re.search("activation_?int(4|x)", word):
        return FormatReading(integers(4, group or 32, True), rules)
    for part, form in TORCHAO:
        if re.search(part, word):
            return FormatReading(form(group), rules)
    raise config.wrong("quant_type", "integers of 4 or 8 bits, or floats of 8 or 4, by torchao's names")


def _mxfp4(config: Config) -> FormatReading:
    """Experts alone, whose inputs have 8 bits where a chip multiplies such weights."""
    experts = FormatRule(NamePatterns(["experts"]), _with_inputs(MXFP4, "fp8"))
    return FormatReading(PLAIN, (*_left_out(config, "modules_to_not_convert"), experts))


def _quark(config: Config) -> FormatReading:
    rules = _left_out(config, "exclude")
    whole = config.inner("global_quant_config")
    for name in ("layer_quant_config", "layer_type_quant_config", "kv_cache_quant_config"):
        if config.get(name)[1]:
            return FormatReading(None)
    _, content = whole.get("weight")
    inputs = "fp8" if whole.get("input_tensors")[1] else SIXTEEN_BITS
    dtype = str(content.get("dtype")).lower() if isinstance(content, Mapping) else ""
    if "fp8" in dtype or "e4m3" in dtype:
        return FormatReading(_with_inputs(FP8_TENSOR, inputs), rules, ROUTERS)
    if "fp4" in dtype:
        return FormatReading(_with_inputs(MXFP4, "fp4" if inputs == "fp8" else inputs), rules, ROUTERS)
    if "int8" in dtype:
        return FormatReading(rows_of("int8", 8, 4, "int8" if inputs == "fp8" else inputs), rules, ROUTERS)
    if "int4" in dtype:
        return FormatReading(integers(4, 128, True), rules, ROUTERS)
    raise whole.wrong("weight", "an object with a dtype of fp8, fp4, int8 or int4")


def _hqq(config: Config) -> FormatReading:
    rules = _left_out(config, "skip_modules")
    options = config.inner("quant_config").inner("weight_quant_params")
    bits, group = _bits(options, "nbits", default=4), _group(options, "group_size", default=64)
    return FormatReading(WeightFormat(f"int{bits}", bits, columns=group, beside=4), rules)


def _eetq(config: Config) -> FormatReading:
    config.only("weights", "int8")
    return FormatReading(rows_of("int8", 8, 2), _left_out(config, "modules_to_not_convert"))


def _quanto(config: Config) -> FormatReading:
    config.only("weights", "int8", "int4", "float8", "int2")
    config.get("activations")
    name = config.get("weights")[1] or "int8"
    rules = _left_out(config, "modules_to_not_convert")
    if name == "float8":
        return FormatReading(rows_of("fp8", 8, 2), rules)
    bits = int(name[-1])
    return FormatReading(rows_of("int8", 8, 2) if bits == 8 else integers(bits, 128, True), rules)


def _mlx(config: Config) -> FormatReading:
    """MLX names no method; its tables of tokens are quantised too. Modules of other formats stand by their names, with
    false those that stay as they are.
    """
    weights = _mlx_format(config)
    modules: dict[WeightFormat, list[str]] = {}
    for name, value in config.fields.items():
        if "." in name or isinstance(value, Mapping):
            config.get(name)
            modules.setdefault(_of_module(config, name, value, weights), []).append(name)
    rules = tuple(FormatRule(NamePatterns(names), form) for form, names in modules.items())
    return FormatReading(weights, rules, around=frozenset({ROUTER, SHARED_GATE}))


def _of_module(config: Config, name: str, value: Any, weights: WeightFormat) -> WeightFormat:
    """The format of a module that MLX lists."""
    if isinstance(value, bool):
        return weights if value else PLAIN
    if not isinstance(value, Mapping):
        raise config.wrong(name, "an object with bits and group_size, true or false")
    module = config.inner(name)
    form = _mlx_format(module)
    for other in module.unread(HARMLESS):
        raise module.wrong(other, "bits, group_size and mode")
    return form


def _mlx_format(config: Config) -> WeightFormat:
    """A scale and an offset of 16 bits for a group, or one of the formats of floats."""
    config.only("mode", "affine", *MLX_FLOATS)
    mode = config.get("mode")[1]
    if mode in MLX_FLOATS:
        form = MLX_FLOATS[mode]
        config.only("bits", form.bits)
        config.only("group_size", form.columns)
        return form
    bits, group = _bits(config, "bits"), _group(config, "group_size", default=64)
    return WeightFormat(f"int{bits}", bits, columns=group, beside=4)


def _unknown(config: Config) -> FormatReading:
    config.seen.update(config.fields)
    return FormatReading(None)


MLX_FLOATS: Mapping[str, WeightFormat] = MappingProxyType(
    {
        "mxfp4": MXFP4,
        "mxfp8": replace(MXFP8, inputs=SIXTEEN_BITS),
        "nvfp4": replace(NVFP4, inputs=SIXTEEN_BITS, once=0),
    }
)
"""The formats of floats that MLX writes, by its modes."""
METHODS: Mapping[str, Callable[[Config], FormatReading]] = MappingProxyType(
    {
        "fp8": _fp8,
        "awq": _awq,
        "awq-marlin": _awq,
        "gptq": _gptq,
        "gptq-marlin": _gptq,
        "marlin": _gptq,
        "auto-round": _auto_round,
        "intel/auto-round": _auto_round,
        "bitsandbytes": _bitsandbytes,
        "compressed-tensors": _compressed,
        "modelopt": _modelopt,
        "modelopt-fp4": _modelopt,
        "modelopt-mixed": _modelopt,
        "fbgemm-fp8": _fbgemm,
        "torchao": _torchao,
        "mxfp4": _mxfp4,
        "quark": _quark,
        "hqq": _hqq,
        "eetq": _eetq,
        "quanto": _quanto,
        "mlx": _mlx,
        **dict.fromkeys((name.replace("_", "-") for name in CODES), _unknown),
    }
)
"""The methods that are known, by the name that their files have."""
