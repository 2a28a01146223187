"""Scales: their labels and names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

import beholder
from beholder.methods import load_study
from beholder.study.questions import SCALES, Scale
from beholder.study.serialization import resolved_yaml
from support.study_texts import HEAD, load, refusal


def test_a_question_without_a_scale_gets_the_first_of_the_method(tmp_path: Path) -> None:
    questions = "questions: [{id: q, text: How good?}]\n"
    assert load(tmp_path, HEAD + questions).questions[0].scale == SCALES["acr5"]
    assert load(tmp_path, HEAD.replace("acr", "parallel") + questions).questions[0].scale == SCALES["cont100"]


def test_labels_may_be_words_or_a_map(tmp_path: Path) -> None:
    study = load(
        tmp_path,
        HEAD + "questions:\n"
        "  - {id: a, text: A, scale: {min: 1, max: 3, labels: [1, no, good], look: radio}}\n"
        "  - {id: b, text: B, scale: {min: 0, max: 100, labels: {100: best, 0: 0.0}}}\n"
        "  - {id: c, text: C, scale: {min: 0, max: 100, labels: [low, high]}}\n",
    )
    assert [q.scale.labels for q in study.questions] == [
        ((1, "1"), (2, "no"), (3, "good")),
        ((0, "0.0"), (100, "best")),
        ((25, "low"), (75, "high")),
    ]


def test_a_scale_that_the_method_does_not_use_is_refused_but_one_written_out_is_not(tmp_path: Path) -> None:
    head = HEAD.replace("acr", "parallel")
    assert refusal(tmp_path, head + "questions: [{id: q, text: x, scale: acr5}]\n") == [
        "study.yaml:6  questions.0.scale is acr5, which parallel does not use. "
        "Allowed: cont100 or {min, max, step, labels, look}."
    ]
    assert load(tmp_path, head + "questions: [{id: q, text: x, scale: {min: 1, max: 5}}]\n").questions[0].scale.max == 5


# Numbers


def asked(scale: str) -> str:
    return HEAD.replace("acr", "parallel") + f"questions:\n  - id: q\n    text: How good?\n    scale: {scale}\n"


def test_a_named_scale_can_say_where_its_numbers_are_shown(tmp_path: Path) -> None:
    (question,) = load(tmp_path, asked("{name: cont100, numbers: ticks}")).questions
    assert question.scale == SCALES["cont100"].model_copy(update={"numbers": "ticks"})
    (question,) = load(tmp_path, asked("{name: cont100, max: 200, labels: {0: soft, 200: loud}}")).questions
    assert (question.scale.max, question.scale.step, question.scale.labels) == (200, 1, ((0, "soft"), (200, "loud")))


def test_a_scale_whose_numbers_were_chosen_loads_as_it_is_printed(tmp_path: Path) -> None:
    study = load(tmp_path, asked("{name: cont100, numbers: both}"))
    again = tmp_path / "again.yaml"
    again.write_text(resolved_yaml(study), "utf-8")
    assert load_study(again).questions == study.questions
    assert "numbers: both" in resolved_yaml(study)


def test_a_scale_without_a_choice_is_written_as_before_there_was_one() -> None:
    for scale in SCALES.values():
        assert set(scale.model_dump(mode="json")) == {"min", "max", "step", "labels", "look"}


@pytest.mark.parametrize(
    ("scale", "told"),
    [
        ("{name: acr5, numbers: ticks}",
         "study.yaml:9  questions.0.scale.name is acr5, which parallel does not use. Allowed: cont100."),
        ("{name: cont10, numbers: ticks}",
         "study.yaml:9  questions.0.scale.name is cont10, which is not a scale. Allowed: cont100. "
         "Did you mean cont100?"),
        ("{name: cont100, numbers: some}",
         "study.yaml:9  questions.0.scale.numbers is some. Allowed: none, handle, ticks or both."),
        ("{min: 1, max: 7, look: radio, numbers: handle}",
         "study.yaml:9  questions.0.scale.numbers is handle, and categories have no handle. Allowed: none or ticks."),
        ("{min: 1, max: 3, look: radio, numbers: none, labels: {1: bad, 3: good}}",
         "study.yaml:9  questions.0.scale.numbers is none, and 1 of 3 answers has no words. "
         "Allowed: ticks, or words for every answer. Write a word for each, or leave numbers out."),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_shown_are_told(tmp_path: Path, scale: str, told: str) -> None:
    assert refusal(tmp_path, asked(scale)) == [told]


@pytest.mark.parametrize(
    ("scale", "is_right"),
    [
        ({"name": "cont100", "numbers": "ticks"}, True), ({"min": 0, "max": 9, "numbers": "none"}, True),
        ({"numbers": "ticks"}, False), ({"name": "acr7"}, False), ({"name": "cont100", "numbers": "some"}, False),
    ],
)  # fmt: skip
def test_editors_know_what_is_right(scale: dict[str, Any], is_right: bool) -> None:
    schema = beholder.schema()
    part = {"$defs": schema["$defs"], "$ref": "#/$defs/Scale"}
    assert jsonschema.Draft202012Validator(part).is_valid(scale) == is_right
    try:
        Scale.model_validate(scale)
    except ValueError:
        assert not is_right
