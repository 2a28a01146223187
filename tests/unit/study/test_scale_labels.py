"""The words on the named scales: in English in plans and tables, in the language of the study on the page."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from beholder.study.questions import SCALES, Scale, shown_labels
from beholder.study.scale_labels import label_set, label_source, labels_in, with_side
from beholder.words import UNREVIEWED, languages

TRANSLATED = [language for language in languages() if language != "en"]
FOLDER = resources.files("beholder.study") / "labels"


def test_english_labels_are_shown_as_they_are() -> None:
    for scale in SCALES.values():
        assert shown_labels(scale, "en") == scale.labels


def test_labels_of_a_study_are_never_changed() -> None:
    own = Scale(min=1, max=3, labels=((1, "Meh"), (3, "Good")))
    for language in languages():
        assert shown_labels(own, language) == own.labels


def test_a_comparison_names_the_side_that_is_better() -> None:
    assert [with_side(label, "A") for label in label_set("better")[:3]] == [
        "A much better", "A better", "A slightly better",
    ]  # fmt: skip
    assert with_side("Slightly better", "Left") == "Left slightly better"


def test_every_set_says_where_it_comes_from() -> None:
    for language in languages():
        for name in json.loads((FOLDER / "en.json").read_text("utf-8")):
            assert label_source(name, language)
            assert language == "en" or label_source(name, language) == UNREVIEWED


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_language_has_every_label_and_no_two_alike_on_a_scale(language: str) -> None:
    for name, scale in SCALES.items():
        words = [text for _, text in shown_labels(scale, language)]
        assert len(set(words)) == len(words), name
        assert scale.labels == () or words != [text for _, text in scale.labels], name
    assert with_side("Better", "Left") in labels_in(language)


@pytest.mark.parametrize("language", TRANSLATED)
def test_questionnaires_and_scales_agree_in_the_same_words(language: str) -> None:
    file = resources.files("beholder.web") / "words" / f"{language}.json"
    pages = json.loads(file.read_text("utf-8"))
    said = labels_in(language)
    assert [pages[f"agree.{place}"] for place in range(1, 6)] == [said[label] for label in label_set("agreement")]
