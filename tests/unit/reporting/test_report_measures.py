"""Sections of the report beside the means: other choices of cleaning, agreement of tests, DMOS, place, factors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.cleaning.ratings import read_ratings
from beholder.reporting.html import Markup, render
from beholder.reporting.material import Material, load_material
from beholder.reporting.question_sections import (
    agreement_of_tests,
    dmos_table,
    factor_tables,
    few_contents_warning,
    position_effect,
    question_sections,
)
from beholder.reporting.sensitivity import sensitivity_section
from beholder.study.model import Study
from support.report_pages import SPREAD, Page, made_up


def _material(study: Study, change: Callable[[pd.DataFrame], pd.DataFrame] | None = None) -> Material:
    """Return what a report is made of, with other ratings where they are to change."""
    if change is not None:
        path = study.folder / "clean" / "ratings.csv"
        change(read_ratings(path)).to_csv(path, index=False)
    analyse(study)
    return load_material(study)


def _text(markup: Markup | None) -> str:
    assert markup is not None
    return Page(markup).text


def _without(people: int, *, turned: bool = False) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a change after which the first people are not used; turned, they say the opposite of the others."""

    def change(ratings: pd.DataFrame) -> pd.DataFrame:
        is_out = ratings["participant"].isin([f"p{person:03}" for person in range(people)])
        ratings.loc[is_out, "use"] = False
        ratings.loc[is_out, "reasons"] = "variance:same_answer"
        if turned:
            ratings.loc[is_out, "value"] = 100 - ratings.loc[is_out, "value"]
        return ratings

    return change


def test_conclusions_that_do_not_hang_on_the_cleaning_are_said_to_hold(tmp_path: Path) -> None:
    text = _text(sensitivity_section(_material(made_up(tmp_path, SPREAD, contents=8), _without(3))))
    assert text.startswith("No conclusion changes under 2 other choices of cleaning. Means of conditions move by 0.")
    assert "and the order of the conditions stays the same." in text
    assert "Without the rule “Spread of the answers” 24 768 6 of 6 0 0 0" in text
    assert "Spread of the answers 3 96 3.0" in text
    assert "Means by those who failed a rule Condition Used Spread of the answers" in text


def test_a_conclusion_that_hangs_on_the_cleaning_is_named(tmp_path: Path) -> None:
    text = _text(sensitivity_section(_material(made_up(tmp_path, SPREAD, contents=8), _without(12, turned=True))))
    assert text.startswith(
        "Some conclusions depend on the cleaning: they change with nobody left out and without the rule “Spread of the "
        "answers”."
    )


def test_where_nothing_was_left_out_there_is_nothing_to_vary(tmp_path: Path) -> None:
    assert sensitivity_section(_material(made_up(tmp_path, SPREAD))) is None


def test_no_usable_rating_has_no_sensitivity(tmp_path: Path) -> None:
    assert sensitivity_section(_material(made_up(tmp_path, SPREAD), _without(24))) is None


def test_tests_that_agree_are_said_to(tmp_path: Path) -> None:
    material = _material(made_up(tmp_path, {"good": 80.0, "bad": 20.0}, contents=8))
    text = _text(agreement_of_tests(material, material.parts[0]))
    assert text == "The tests agree on 1 of 1 pair. They see the same condition ahead in every one."


def test_pairs_that_the_study_is_not_about_are_not_among_those_on_which_tests_agree(tmp_path: Path) -> None:
    quality = {"good": 80.0, "fair": 50.0, "bad": 20.0}
    material = _material(made_up(tmp_path, quality, contents=8, analyse={"contrasts": [["good", "bad"]]}))
    text = _text(agreement_of_tests(material, material.parts[0]))
    assert text == "The tests agree on 1 of 1 pair. They see the same condition ahead in every one."
    figures: defaultdict[str, Markup] = defaultdict(lambda: Markup(""))
    page = _text(render(question_sections(material, material.parts[0], figures)))
    assert "= no clear difference – not asked for" in page


def test_pairs_on_which_tests_do_not_agree_are_listed(tmp_path: Path) -> None:
    # Two contents: a test that is to hold for others can show nothing, those over pages can.
    material = _material(made_up(tmp_path, {"good": 80.0, "fair": 75.0}, contents=2, noise=10))
    text = _text(agreement_of_tests(material, material.parts[0]))
    assert text.startswith("The tests agree on 0 of 1 pair.")
    assert "good fair – 0." in text


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (1, "One content was rated: the intervals are over participants, and say nothing of other contents."),
        (
            3,
            "3 contents were rated: intervals and tests that are to hold for other contents too rest on 2 degrees of "
            "freedom, and are wide. More contents help more than more people; conditions.csv also has intervals for "
            "just these contents.",
        ),
        (5, None),
    ],
)
def test_few_contents_are_warned_of(tmp_path: Path, contents: int, said: str | None) -> None:
    found = few_contents_warning(_material(made_up(tmp_path, SPREAD, contents=contents, participants=6)).parts[0])
    assert (None if found is None else _text(found)) == (said and f"Few contents. {said}")


def test_differences_from_the_hidden_reference_have_a_table(tmp_path: Path) -> None:
    scale = {"id": "quality", "text": "How good is it?", "scale": "acr5"}
    study = made_up(tmp_path, {"source": 90.0, "codec": 50.0}, questions=[scale], noise=5, method="acr-hr")

    def change(ratings: pd.DataFrame) -> pd.DataFrame:
        ratings["method"] = "acr-hr"
        ratings.loc[ratings["condition"] == "source", "role"] = "hidden_reference"
        return ratings

    material = _material(study, change)
    text = _text(dmos_table(material, material.parts[0]))
    assert text.startswith("DMOS(ACR-HR), from each participant's own vote on the reference: quality")
    assert "codec 96 24 3." in text
    assert "source" not in text


@pytest.mark.parametrize(
    ("pull", "said"), [(0, "No pull of the place is shown."), (1, "The place pulls: this is more than chance.")]
)
def test_the_pull_of_a_place_is_told(tmp_path: Path, pull: int, said: str) -> None:
    study = made_up(
        tmp_path, {"a": 50.0, "b": 50.0}, contents=8, method="pair", questions=[{"id": "quality", "text": "Which?"}]
    )

    def change(ratings: pd.DataFrame) -> pd.DataFrame:
        ratings = ratings[ratings["condition"] == "a"].assign(kind="choice", method="pair", other_condition="b")
        ratings["other_stimulus"] = "b/" + ratings["content"]
        place = ratings["position"] + ratings["participant"].str[1:].astype(int)
        second = place % 2 == 0
        ratings["raw_value"] = 1.0 if pull else (2 * (place // 2 % 2) - 1).astype(float)
        ratings["value"] = ratings["raw_value"].where(second, -ratings["raw_value"])
        return ratings

    material = _material(study, change)
    assert _text(position_effect(material, material.parts[0])).startswith(said)


def test_factors_of_the_manifest_have_tables_with_names_as_written(tmp_path: Path) -> None:
    study = made_up(tmp_path, SPREAD)

    def change(ratings: pd.DataFrame) -> pd.DataFrame:
        return ratings.assign(factor_speaker=ratings["content"].str[-1].map({"1": "NA", "2": "01"}).fillna("Größe 2"))

    material = _material(study, change)
    text = _text(factor_tables(material, material.parts[0]))
    assert text.startswith("By speaker: quality Level Ratings")
    assert [name in text for name in ("NA 96", "01 96", "Größe 2 192")] == [True] * 3
