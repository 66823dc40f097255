"""The `config.json` that stands beside a checkpoint on the Hugging Face Hub, as the fields of a `hwlib.specs.Model`.

`hwlib.specs.architectures` and, of models whose layers differ, `hwlib.specs.mixed_architectures` say what the fields
of each architecture mean. A field that nothing there explains is an
error, never a count that leaves it out.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hwlib.specs.config_aliases import READERS, SEEING, known_kind
from hwlib.specs.config_fields import NOTHING, Config, kind_of, predicts_tokens
from hwlib.specs.config_kin import kin_words
from hwlib.specs.config_parts import is_beside, language_part, size_words
from hwlib.specs.quantisation import FILES, as_published, quantisation_of
from hwlib.specs.regular_file import regular_text
from hwlib.specs.table import SpecError

NAME = "config.json"
LONGEST_PATH, LONGEST_NAME = 4096, 255  # characters: Linux knows no longer ones


def content_of(path: str | Path) -> tuple[dict[str, Any], str, str]:
    """The fields of such a file, or of the one in a folder; the name of the model, which is the folder's, or the file's
    where that has another; and the file's path. What a quantiser wrote into a file of its own beside `config.json` is a
    field of that file's name. Nothing is fetched. Raises SpecError.
    """
    path = Path(path)
    file = path / NAME if path.is_dir() else path
    content = _object_of(file)
    if file.name == NAME:
        content |= {name: _object_of(file.with_name(name)) for name in FILES if file.with_name(name).is_file()}
    whole = file.resolve()
    return content, whole.parent.name if file.name == NAME else whole.stem, str(file)


def _object_of(file: Path) -> dict[str, Any]:
    import json

    expected = f"expected a {NAME}, or a folder with one; a model of the Hub is not fetched"
    text = regular_text(file, "utf-8-sig", expected)  # some editors begin with a mark
    try:
        content = json.loads(text)
    except RecursionError:
        raise SpecError(f"{file}: expected a {NAME}, not lists within lists that are too deep to be read") from None
    except ValueError as error:
        raise SpecError(f"{file}: expected a {NAME}, which is JSON: {error}") from None
    if not isinstance(content, dict):
        raise SpecError(f"{file}: expected a {NAME}, an object of fields, got {type(content).__name__}")
    return content


def values_of_config(content: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    """The values of a model's fields that the file's say; `where` names it in messages. Raises SpecError."""
    config, beside = language_part(Config(where, content))
    parts = _parts_among(config)
    beside += tuple(size_words(name, part) for name, part in parts.items() if isinstance(part, Mapping))
    kind = config.fields.get("model_type")
    if isinstance(kind, str) and known_kind(kind) in READERS:
        config = Config(config.where, {**config.fields, "model_type": known_kind(kind)})
    config.seen.update(parts)
    read = READERS[kind_of(config, READERS, lambda unknown: kin_words(unknown, READERS))]
    if not beside:
        predicts_tokens(config)
    shape = read(config)
    shape["quantisation"] = as_published(quantisation_of(config), config, shape)
    config.finished()
    key = re.sub(r"[^\w.]+", "-", name).strip("-").lower() or "model"
    own = {"key": key, "name": name or key, "data": MappingProxyType({}), "source": where, "confidence": "seen"}
    return own | shape | {"beside": beside}


def _parts_among(config: Config) -> dict[str, Any]:
    """The fields for other senses that stand among those of the language model itself, of types that do so."""
    if config.fields.get("model_type") not in SEEING:
        return {}
    return {name: value for name, value in config.fields.items() if is_beside(name) and value not in NOTHING}


def is_config(text: str) -> bool:
    """Whether a text is meant as the path of such a file or folder, and not as a key of the table."""
    if not text.strip() or len(text) > LONGEST_PATH:
        return False
    return text.endswith(".json") or "/" in text or "\\" in text or (len(text) <= LONGEST_NAME and Path(text).is_dir())
