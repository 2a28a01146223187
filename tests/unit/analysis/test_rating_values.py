"""Values of ratings: numbers, words, missing codes and scales."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from beholder.analysis.rating_values import RatingScale, ReadValues, evident_scale, parse_scale, read_values
from beholder.errors import UserError


def read(cells: list[str], **options: Any) -> ReadValues:
    return read_values(pd.Series(cells), pd.Series(["q"] * len(cells)), lambda row: f"row {row}", **options)


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([1, 2, 3, 4, 5], (1, 5)),
        ([1, 2, 3, 4, 5, 6], (1, 7)),
        ([0, 3, 8], (0, 10)),
        ([0, 55, 80.5, 99], (0, 100)),
        ([-1, 0, 1], (-1, 1)),
        ([-1, 0, 1, 3, -2], (-3, 3)),
        ([1, 2, 3, 4, 5] * 2 + [55], (1, 5)),
        ([1, 2, 3, 4, 5] * 20 + [7], (1, 5)),
        ([1, 2, 3, 4, 5] * 20 + [0], (1, 5)),
        ([1, 2, 3, 4, 5] * 20 + [6, 7], (1, 7)),
        ([1, 2, 3, -1, 99], (1, 5)),
        ([250, 300], (250, 300)),
        ([1, 2, 1682351591.13], (1, 1682351591.13)),  # a time, whose seconds are too many to be counted
    ],
)
def test_the_scale_is_the_shortest_usual_one(values: list[float], ends: tuple[float, float]) -> None:
    assert evident_scale(pd.Series(values, dtype=float))[:2] == ends


def test_points_commas_and_numbers_before_words_are_numbers() -> None:
    found = read(["4", " 3.5 ", "2,5", "5 (Excellent)", "1 - Bad", ""])
    assert found.numbers.tolist()[:-1] == [4.0, 3.5, 2.5, 5.0, 1.0]
    assert math.isnan(found.numbers.tolist()[-1])
    assert found.notes == ("decimal commas in 1 cell",)


def test_words_of_a_scale_have_their_values() -> None:
    found = read(["Very annoying", "imperceptible", "Slightly annoying"])
    assert found.numbers.tolist() == [1.0, 5.0, 3.0]
    assert found.scales["q"].name == "dcr5"
    assert found.notes == ("words of the scale dcr5 (Very annoying = 1, Imperceptible = 5)",)


def test_a_scale_that_is_named_gives_words_its_values() -> None:
    found = read(["Bad", "Excellent"], scale=parse_scale("acr9"))
    assert found.numbers.tolist() == [1.0, 9.0]


@pytest.mark.parametrize(
    ("cells", "options", "told"),
    [
        (["Good", "Excelent"], {}, [
            "row 1  value is 'Excelent'. Allowed: a number, or Bad, Poor, Fair, Good or Excellent. Did you mean "
            "Excellent?",
        ]),
        (["3", "great"], {}, [
            "row 1  value is 'great'. Allowed: a number, a word of a scale, or an empty cell. Name its scale, such as "
            "--scale acr5, or write --missing with it where it stands for no answer.",
        ]),
        (["3", "7"], {"scale": RatingScale(1, 5, "acr5", True)}, [
            "row 1  value is 7, and the scale is 1 to 5 (acr5). Allowed: 1 to 5 (acr5). Correct it, or write --missing "
            "7 if it is no answer, or --scale if the scale is another.",
        ]),
    ],
)  # fmt: skip
def test_what_is_no_rating_is_refused(cells: list[str], options: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(UserError) as error:
        read(cells, **options)
    assert str(error.value).splitlines() == told


def test_codes_are_missing_where_they_are_outside_the_scale_only() -> None:
    found = read(["3", "99", "5", "n/a", "0"], missing=("0",))
    assert found.numbers.dropna().tolist() == [3.0, 5.0]
    assert found.notes == (
        "1 cell with n/a and 1 cell with 0 taken as missing",
        "1 cell with 99 taken as missing, as the scale is 1 to 5",
    )
    assert read(["3", "99", "50", "80"]).numbers.tolist() == [3.0, 99.0, 50.0, 80.0]


@pytest.mark.parametrize(
    ("text", "scale"),
    [("1..5", (1, 5)), ("0-100", (0, 100)), ("-3..3", (-3, 3)), ((0, 10), (0, 10)), ("dcr5", (1, 5))],
)
def test_a_scale_is_a_name_or_two_ends(text: Any, scale: tuple[float, float]) -> None:
    found = parse_scale(text)
    assert found is not None
    assert found[:2] == scale


def test_an_unknown_scale_is_told() -> None:
    with pytest.raises(UserError) as error:
        parse_scale("acr")
    assert str(error.value) == (
        "--scale  is acr. Allowed: two ends such as 1..5, or acr5, acr9, acr11, dcr5, dcr9, sig5, bak5, grade5, ccr5, "
        "ccr7, ccr9, pref2, pref3, order, agree5 or cont100. Did you mean acr9?"
    )
