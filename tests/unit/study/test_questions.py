"""Scales: their labels and names."""

from __future__ import annotations

from pathlib import Path

from beholder.study.questions import SCALES
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
