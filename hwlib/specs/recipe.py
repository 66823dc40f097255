"""Recipes: what a software sets for one model, where that differs from what it usually does, from the
sections `recipes` of software.toml.

Whether a token goes once to each node and rank that has one of its experts, or in as many copies as it has experts, is
a setting of the software (Megatron's flex dispatcher with DeepEP or HybridEP, or its all-to-all dispatcher). A software
has a usual one (`Features.dedup_dispatch`), and its recipes choose by model, chip, release and precision. A recipe may
also lag behind its release: until it takes over what is new there, the constants of an earlier one stand for it.

>>> from hwlib.specs import features, models
>>> run = dict(chip="h100-sxm", dtype="fp8", release=release_of("26.02"))
>>> [merges_tokens(features["megatron-core"], models[key], **run) for key in ("qwen3-30b-a3b", "deepseek-v3")]
[False, True]
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hwlib.specs.accelerator import accelerators
from hwlib.specs.feature import Features
from hwlib.specs.model import Model
from hwlib.specs.reader import switch, text, texts
from hwlib.specs.release import Release, release_of
from hwlib.specs.software_sections import FILE, sections_of
from hwlib.specs.table import SpecError, Table, file_text, unknown


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What one software (`features`) sets for models whose keys begin with one of `models`.

    It is of all chips, of some, or of all but `except_chips`; of all precisions of the products, or some; and of all
    releases, or those `before` one. With `dedup_dispatch` a token goes once to each node and rank that has one of its
    experts. `as_of` is the release whose constants stand for it, where it has not taken over what later ones brought.
    """

    key: str
    name: str
    features: str = text()
    source: str
    models: tuple[str, ...] = texts()
    chips: tuple[str, ...] = texts()
    except_chips: tuple[str, ...] = texts()
    dtypes: tuple[str, ...] = texts()
    before: str = text()
    as_of: str = text()
    dedup_dispatch: bool = switch(False)
    note: str = text()

    def of(self, model: Model, chip: str, dtype: str, release: Release | None) -> bool:
        """Whether it is the recipe of such a run; without a release, of the newest."""
        if not model.key.startswith(self.models) or chip in self.except_chips:
            return False
        if (self.chips and chip not in self.chips) or (self.dtypes and dtype not in self.dtypes):
            return False
        return not self.before or (release is not None and release < release_of(self.before))


def read_recipes(file: str, content: str) -> Iterator[Recipe]:
    """The recipes of a file's text. Raises SpecError, naming file, row, section and field."""
    for section, values in sections_of(Recipe, file, content, "recipes"):
        recipe, place = Recipe(key=section.key, **values), section.place
        if not recipe.features:
            raise SpecError(f"{place}: recipes are of software whose features are known")
        if not recipe.models:
            raise SpecError(f"{place}.models: expected the beginning of at least one model's key")
        if odd := [chip for chip in (*recipe.chips, *recipe.except_chips) if chip not in accelerators]:
            raise SpecError(f"{place}.chips: " + unknown("accelerator", odd[0], accelerators))
        for name in ("before", "as_of"):
            try:
                if written := getattr(recipe, name):
                    release_of(written)
            except ValueError as error:
                raise SpecError(f"{place}.{name}: {error}") from None
        yield recipe


recipes: Table[Recipe] = Table("recipe", lambda file: read_recipes(file, file_text(file)), (FILE,))


def recipe_of(
    software: Features | None, model: Model, *, chip: str, dtype: str, release: Release | None = None
) -> Recipe | None:
    """The recipe of a model in a software; None of a dense model, without a software, and where it does as usual."""
    if software is None or not model.moe:
        return None
    own = (recipe for recipe in recipes.values() if recipe.features == software.key)
    return next((one for one in own if one.of(model, chip, dtype, release)), None)


def merges_tokens(
    software: Features | None, model: Model, *, chip: str, dtype: str, release: Release | None = None
) -> bool:
    """Whether a software sends a token once to each node and rank that has one of its experts: as the recipe of the
    model says, or as it usually does. False of a dense model, and without a software, where formulas count each copy.
    """
    if software is None or not model.moe:
        return False
    recipe = recipe_of(software, model, chip=chip, dtype=dtype, release=release)
    return software.dedup_dispatch if recipe is None else recipe.dedup_dispatch


def constants_release(
    software: Features | None, model: Model, *, chip: str, dtype: str, release: Release | None = None
) -> Release | None:
    """The release whose constants stand for a model's run in a release, by default the newest (None): this one, or the
    earlier one that its recipe has not left.

    >>> from hwlib.specs import features, models
    >>> run = dict(chip="b300-sxm", dtype="fp8", release=release_of("26.06"))
    >>> for key in ("qwen3-30b-a3b", "deepseek-v3"):
    ...     print(constants_release(features["megatron-core"], models[key], **run))
    26.06
    26.04
    """
    recipe = recipe_of(software, model, chip=chip, dtype=dtype, release=release)
    if recipe is None or not recipe.as_of:
        return release
    earlier = release_of(recipe.as_of)
    return earlier if release is None else min(release, earlier)
