"""The sections of one question, and the overview of many."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from beholder.reporting.question_sections import (
    dmos_table,
    factor_tables,
    few_contents_warning,
    position_effect,
)
from beholder.study.model import Study
from support.report_material import analysed_material, markup_text
from support.report_pages import CROWDED, SPREAD, Page, made_up, read, read_undrawn


@pytest.mark.variant
def test_each_question_has_its_own_part(tmp_path: Path) -> None:
    questions = [
        {"id": "quality", "text": "How good?", "scale": "acr5"},
        {"id": "fit", "text": "How fitting?", "scale": "cont100"},
    ]
    page = read(made_up(tmp_path, {"a": 70.0, "b": 30.0}, questions=questions))
    for question in questions:
        assert str(question["text"]) in page.text
        assert (tmp_path / "report" / "figures" / f"scores-{question['id']}.svg").is_file()
    assert "1 to 5 in steps of 1: 1 Bad, 2 Poor, 3 Fair, 4 Good, 5 Excellent" in page.text


def test_many_questions_have_an_overview_and_their_details_folded(crowded: tuple[Study, Page]) -> None:
    page = crowded[1]
    folded = [attributes for tag, attributes in page.tags if tag == "details" and "id" in attributes]
    assert [one["id"] for one in folded] == ["question-1", "question-2", "question-3", "question-4"]
    assert all("open" not in one for one in folded)
    assert f"All questions Mean of every condition, by question Question {' '.join(CROWDED)} How human" in page.text
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a" and "href" in attributes]
    assert "#findings-four" in links  # inside: browsers unfold what a link leads into
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert "findings" in ids


@pytest.mark.variant
def test_three_questions_are_told_one_after_the_other(tmp_path: Path) -> None:
    questions = [{"id": name, "text": f"Is it {name}?", "scale": "agree5"} for name in ("one", "two", "three")]
    page = read_undrawn(made_up(tmp_path, {"a": 40.0, "b": 80.0}, questions=questions))
    assert not [attributes for tag, attributes in page.tags if tag == "details" and "id" in attributes]


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (1, "One content was rated: the intervals are over participants, and say nothing of other contents."),
        (
            3,
            "3 contents were rated: what is to hold for other contents too rests on few of them, intervals of scores "
            "on 2 degrees of freedom and tests on N to N, and is wide. More contents help more than more people; thick "
            "bars and what is clear on these contents are for just these.",
        ),
        (5, None),
    ],
)
def test_few_contents_are_warned_of(tmp_path: Path, contents: int, said: str | None) -> None:
    warning = few_contents_warning(
        analysed_material(made_up(tmp_path, SPREAD, contents=contents, participants=6)).parts[0]
    )
    text = None if warning is None else re.sub(r"\d+ to \d+", "N to N", markup_text(warning))
    assert text == (said and f"Few contents. {said}")


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (1, "A condition was rated on one content only: its intervals are over participants, and say nothing of other"),
        (2, "A condition was rated on 2 contents only: what is to hold for other contents too rests on few of them,"),
    ],
)
def test_contents_that_one_condition_lacks_are_not_told_of_all(tmp_path: Path, left: int, said: str) -> None:
    def change(ratings: pd.DataFrame) -> pd.DataFrame:
        return ratings[(ratings["condition"] != "b") | (ratings["position"].astype(int) <= left)]

    study = made_up(tmp_path, {"a": 40.0, "b": 80.0}, contents=4, participants=6)
    warning = markup_text(few_contents_warning(analysed_material(study, change).parts[0]))
    assert warning.startswith(f"Few contents. {said}")


@pytest.mark.parametrize(("participants", "freedom"), [(1, None), (2, "on 1 degree of freedom"), (3, "on 2 degrees")])
def test_of_one_person_no_interval_is_spoken_of(tmp_path: Path, participants: int, freedom: str | None) -> None:
    warning = few_contents_warning(analysed_material(made_up(tmp_path, SPREAD, participants=participants)).parts[0])
    assert (freedom in markup_text(warning)) if freedom else warning is None


def test_grades_against_a_reference_have_the_intervals_and_the_freedom_of_their_pairs(tmp_path: Path) -> None:
    scale = {"id": "quality", "text": "How do they compare?", "scale": "ccr7"}
    quality = {"source": 90.0, "fine": 70.0, "coarse": 50.0}
    study = made_up(tmp_path, quality, participants=6, contents=3, method="ccr", questions=[scale],
                    roles={"source": "reference"})  # fmt: skip

    def change(ratings: pd.DataFrame) -> pd.DataFrame:
        ratings = ratings[ratings["condition"] != "source"]
        return ratings.assign(kind="diff", method="ccr", other_condition="source", other_stimulus="source/x")

    part = analysed_material(study, change).parts[0]
    assert part.has_pair_intervals
    assert not part.is_among_equals
    assert "degrees of freedom" not in markup_text(few_contents_warning(part))


def test_differences_from_the_hidden_reference_have_a_table(tmp_path: Path) -> None:
    scale = {"id": "quality", "text": "How good is it?", "scale": "acr5"}
    study = made_up(tmp_path, {"source": 90.0, "codec": 50.0}, questions=[scale], noise=5, method="acr-hr")

    def change(ratings: pd.DataFrame) -> pd.DataFrame:
        ratings["method"] = "acr-hr"
        ratings.loc[ratings["condition"] == "source", "role"] = "hidden_reference"
        return ratings

    material = analysed_material(study, change)
    text = markup_text(dmos_table(material, material.parts[0]))
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

    material = analysed_material(study, change)
    assert markup_text(position_effect(material, material.parts[0])).startswith(said)


def test_factors_of_the_manifest_have_tables_with_names_as_written(tmp_path: Path) -> None:
    study = made_up(tmp_path, SPREAD)

    def change(ratings: pd.DataFrame) -> pd.DataFrame:
        return ratings.assign(factor_speaker=ratings["content"].str[-1].map({"1": "NA", "2": "01"}).fillna("Größe 2"))

    material = analysed_material(study, change)
    text = markup_text(factor_tables(material, material.parts[0]))
    assert text.startswith("By speaker: quality Level Ratings")
    assert [name in text for name in ("NA 96", "01 96", "Größe 2 192")] == [True] * 3


def test_comparisons_by_factor_say_who_won_within_each_level(tmp_path: Path) -> None:
    study = made_up(
        tmp_path, {"a": 50.0, "b": 50.0}, contents=4, method="pair", questions=[{"id": "quality", "text": "Which?"}]
    )

    def change(ratings: pd.DataFrame) -> pd.DataFrame:
        ratings = ratings[ratings["condition"] == "a"].assign(kind="choice", method="pair", other_condition="b")
        level = ratings["content"].str[-1].astype(int).mod(2).map({0: "dark", 1: "bright"})
        value = level.map({"dark": 1.0, "bright": -1.0})
        other = "b/" + ratings["content"]
        return ratings.assign(other_stimulus=other, factor_light=level, other_factor_light=level, value=value)

    material = analysed_material(study, change)
    text = markup_text(factor_tables(material, material.parts[0]))
    assert text.startswith("By light: quality Level Condition Ratings Participants Mean")
    assert [words in text for words in ("bright a 48 24 −1.0", "bright b 48 24 1.0", "dark a 48 24 1.0")] == [True] * 3
