"""word-select: the words that were marked, or none of them, and what robots mark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.marked_words import word_agreement, word_shares
from beholder.methods import find
from beholder.methods.contract import Asked, Slot, Trial
from beholder.methods.word_select import MARKED, mark_probability
from support.method_studies import make_catalogue, make_study, problems, study_with_transcripts
from support.method_trials import refusal

WORDS = ("The ", "small ", "boat ", "reached ", "the ", "harbour.")
METHOD = find("word-select")


def trial_of(stimulus: str = "a/one", **draws: Any) -> Trial:
    slot = Slot("s1", stimulus, "test", None, True, None)
    asked = tuple(Asked(f"q{n}", name, "ask", name, MARKED) for n, name in enumerate(("unclear", "stressed"), 1))
    return Trial(stimulus, "one", "rate", (slot,), asked, {"words": list(WORDS), **draws})


TRIAL = trial_of()
GOOD: Any = {"picks": {"q1": {"words": [4, 1], "none": False}, "q2": {"words": [], "none": True}}}


def test_each_word_becomes_a_rating_with_its_place_and_none_of_them_is_an_answer() -> None:
    read = METHOD.read(TRIAL, GOOD)
    assert read == {"picks": {"q1": {"words": [1, 4], "none": False}, "q2": {"words": [], "none": True}}}
    rows = METHOD.judgements(TRIAL, read)
    assert [(one.unit, one.word, one.value) for one in rows[:6]] == [
        ("1", "The", 0), ("2", "small", 1), ("3", "boat", 0), ("4", "reached", 0), ("5", "the", 1), ("6", "harbour", 0),
    ]  # fmt: skip
    assert [(one.question, one.kind, one.value) for one in rows[6:]] == [("stressed", "pick", 0)] * 6
    lost = METHOD.read(TRIAL, {"picks": {}, "missing": {"s1": "media_error"}})
    assert [(one.value, one.missing, one.word) for one in METHOD.judgements(TRIAL, lost)] == [
        (None, "media_error", None)
    ] * 2


@pytest.mark.parametrize(
    ("pick", "said"),
    [
        ({"words": [], "none": False}, ("answer.picks.q1", "No word is marked", "words, or none: true without any")),
        ({"words": [1], "none": True}, ("answer.picks.q1", "Words are marked, and none of them is the answer",
                                        "words, or none: true without any")),
        ({"words": [6], "none": False}, ("answer.picks.q1.words", "[6] is not a list of words", "places from 0 to 5")),
        ({"words": [1, 1], "none": False}, ("answer.picks.q1.words", "[1, 1] names a word twice", "every place once")),
        ({"words": [1], "none": 0}, ("answer.picks.q1.none", "none is neither yes nor no", "true or false")),
        ({"words": "1", "none": False}, ("answer.picks.q1.words", "'1' is not a list of words", "places from 0 to 5")),
        ({"words": ["1"], "none": False}, ("answer.picks.q1.words", "['1'] is not a list of words",
                                           "places from 0 to 5")),
        ({"words": [1.5], "none": False}, ("answer.picks.q1.words", "[1.5] is not a list of words",
                                           "places from 0 to 5")),
        ({"words": [1, 1.0], "none": False}, ("answer.picks.q1.words", "[1, 1.0] names a word twice",
                                              "every place once")),
        ({"words": [-1], "none": False}, ("answer.picks.q1.words", "[-1] is not a list of words",
                                          "places from 0 to 5")),
        ({"words": {"0": True}, "none": False}, ("answer.picks.q1.words", "{'0': True} is not a list of words",
                                                 "places from 0 to 5")),
        ({"words": [1]}, ("answer.picks.q1.none", "none has no answer", "all of words, none")),
    ],
)  # fmt: skip
def test_an_answer_that_says_both_or_nothing_is_refused(pick: Any, said: tuple[str, str, str]) -> None:
    assert refusal(METHOD, TRIAL, {"picks": {**GOOD["picks"], "q1": pick}}) == said
    lost = {**GOOD, "missing": {"s1": "media_error"}}
    assert refusal(METHOD, TRIAL, lost) == (
        "answer.picks", "There is nothing to answer", "{} where a slot is missing"
    )  # fmt: skip


def test_a_long_list_is_refused_in_few_words() -> None:
    refused = refusal(METHOD, TRIAL, {"picks": {**GOOD["picks"], "q1": {"words": [9] * 50_000, "none": False}}})
    assert refused[1].startswith("[9, 9, 9, ")
    assert refused[1].endswith("… is not a list of words")
    assert len(refused[1]) < 300


def test_a_clip_is_played_as_often_as_asked_and_a_text_is_read_once(tmp_path: Path) -> None:
    study = study_with_transcripts(tmp_path, "word-select", ["one"], playback={"max_plays": 1})
    catalogue = make_catalogue(medium="audio", contents=("one",), duration_ms=3000)
    unit = METHOD.units(study, catalogue).items[0]
    assert METHOD.compose(study, unit, catalogue, np.random.default_rng(0)).passes == 2
    assert problems(study, catalogue) == [
        "playback.max_plays is 1, and word-select asks for 2 plays (options.listens). Allowed: 2 or more. Leave it "
        "out, or write listens: 1."
    ]
    text = make_catalogue(medium="text", contents=("one",), words=3)
    assert list(METHOD.problems(study, text)) == []


def test_scales_and_images_do_not_fit() -> None:
    study = make_study("word-select", questions=[{"id": "odd", "text": "Which?", "scale": {"min": 1, "max": 5}}])
    assert problems(study, make_catalogue(medium="text", words=3)) == [
        "questions.0.scale does not fit word-select: words are marked. Leave it out."
    ]
    said = problems(make_study("word-select"), make_catalogue(medium="image"))
    assert "stimuli are images, which word-select does not show. Allowed: audio, text, video." in said


def test_what_robots_are_planted_to_mark_is_found_word_by_word_within_its_interval() -> None:
    rows = []
    for condition, strength in (("a", 0.2), ("b", 0.8)):
        trial = trial_of(f"{condition}/one")
        for person in range(120):
            rng = np.random.default_rng([person, int(10 * strength)])
            answer = METHOD.read(trial, METHOD.respond(trial, {"q1.s1": strength, "q2.s1": 1.0}, rng))
            rows += [
                {"participant": f"p{person}", "content": "one", "condition": condition, "kind": one.kind,
                 "question": one.question, "unit": one.unit, "word": one.word, "value": one.value}
                for one in METHOD.judgements(trial, answer)
            ]  # fmt: skip
    table = pd.DataFrame(rows)
    shares = word_shares(table)
    agreement = word_agreement(table)
    assert shares is not None
    assert agreement is not None
    for row in shares.table.to_dict("records"):
        strength = 1.0 if row["question"] == "stressed" else {"a": 0.2, "b": 0.8}[row["condition"]]
        planted = mark_probability(row["place"] - 1, strength)
        # 24 intervals at once: one may miss, none by far.
        assert row["ci_low"] - 0.03 <= planted <= row["ci_high"] + 0.03
    alpha = {(row["question"], row["condition"]): row["alpha"] for row in agreement.table.to_dict("records")}
    assert alpha["unclear", "a"] > alpha["unclear", "b"] > 0
    assert np.isnan(alpha["stressed", "a"])  # nobody marked anything
