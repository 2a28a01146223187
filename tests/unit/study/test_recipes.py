"""Names of anchors that say how a reference is made worse."""

from __future__ import annotations

import pytest

from beholder.study.recipes import KINDS, Recipe, example_recipes, intended_kind, read_recipe
from support.video_anchors import NAMES


@pytest.mark.parametrize(
    ("name", "value"),
    [("lowpass-3500", 3500), ("bitrate-200k", 200_000), ("bitrate-1.5M", 1_500_000), ("fps-7.5", 7.5), ("blur-4", 4)],
)
def test_a_recipe_is_a_kind_and_a_number(name: str, value: float) -> None:
    recipe = read_recipe(name)
    assert recipe is not None
    assert (recipe.kind, recipe.value) == (name.partition("-")[0], value)


@pytest.mark.parametrize("name", ["lowpass-5", "bitrate-200", "fps-1000", "blur-", "smooth", "blurred"])
def test_a_name_out_of_bounds_is_no_recipe(name: str) -> None:
    assert read_recipe(name) is None


def test_a_name_that_is_nearly_a_recipe_names_its_kind() -> None:
    assert intended_kind("lowpass") == KINDS["lowpass"]
    assert intended_kind("blur-strong") == KINDS["blur"]
    assert intended_kind("blurred") is None


def test_a_lower_bit_rate_and_a_wider_blur_are_worse() -> None:
    for worse, better in (("bitrate-100k", "bitrate-2M"), ("blur-8", "blur-2")):
        first, second = read_recipe(worse), read_recipe(better)
        assert first is not None
        assert second is not None
        assert first.badness > second.badness


def test_every_example_is_a_recipe_of_its_medium() -> None:
    for medium in ("audio", "video"):
        recipes = [read_recipe(name) for name in example_recipes(medium)]
        assert recipes
        assert all(recipe is not None and recipe.medium == medium for recipe in recipes)
    assert example_recipes("text") == ()


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        ("lowpass-3500", Recipe("lowpass", "audio", 3500)),
        ("bitrate-200k", Recipe("bitrate", "video", 200_000)),
        ("bitrate-1.5M", Recipe("bitrate", "video", 1_500_000)),
        ("resolution-180", Recipe("resolution", "video", 180)),
        ("fps-7.5", Recipe("fps", "video", 7.5)),
        ("blur-4", Recipe("blur", "video", 4, more_is_worse=True)),
        *(
            (name, None)
            for name in ("blur", "blur-", "blur-0", "fps-x", "fps-1000", "bitrate-5", "bitrate-9k", "codec")
        ),
        *((name, None) for name in ("resolution-18.5", "resolution-8", "lowpass-19", "lowpass-٣٥", "blur-4\n")),
    ],
)
def test_a_name_is_a_recipe_or_is_none(name: str, recipe: Recipe | None) -> None:
    assert read_recipe(name) == recipe


def test_a_recipe_knows_what_is_worse_and_what_is_meant() -> None:
    def badness(name: str) -> float:
        recipe = read_recipe(name)
        assert recipe is not None
        return recipe.badness

    for worse, better in zip(NAMES[::2], NAMES[1::2], strict=True):
        assert badness(worse) > badness(better)
    assert [intended_kind(name) is not None for name in ("lowpass", "blur-x", "blurred", "fps", "fps-")] == [
        True, True, False, False, True,
    ]  # fmt: skip
    assert example_recipes("video") == ("bitrate-200k", "resolution-180", "fps-7.5", "blur-4")
    assert example_recipes("audio") == ("lowpass-3500", "lowpass-7000")
    assert example_recipes("image") == ()
