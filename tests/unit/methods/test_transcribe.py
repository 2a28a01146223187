"""transcribe: what was typed is compared with what was said, and what was said stays on the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.analysis.transcriptions import error_rates
from beholder.methods import find
from beholder.methods.contract import Asked, Slot, Trial
from beholder.methods.transcribe import MOST_CHARACTERS, PERCENT_RIGHT
from support.method_studies import make_catalogue, make_study, problems, study_with_transcripts
from support.method_trials import refusal

SAID = "The small boat reached the harbour before the storm."
METHOD = find("transcribe")


def trial_of(stimulus: str = "a/one", **draws: Any) -> Trial:
    slot = Slot("s1", stimulus, "test", None, True, None)
    asked = (Asked("q1", "heard", "ask", "What?", PERCENT_RIGHT),)
    return Trial(stimulus, "one", "rate", (slot,), asked, {"said": SAID, **draws})


TRIAL = trial_of()


def answer_of(text: Any) -> Any:
    return {"texts": {"q1": {"s1": text}}}


def percent_right(text: str, **draws: Any) -> float | None:
    trial = trial_of(**draws)
    (one,) = METHOD.judgements(trial, METHOD.read(trial, answer_of(text)))
    return one.value


def test_an_answer_is_the_percentage_of_words_right_with_what_was_compared() -> None:
    read = METHOD.read(TRIAL, answer_of("  The small GOAT reached… the harbour, before the storm\n"))
    assert read == answer_of("The small GOAT reached… the harbour, before the storm")
    (one,) = METHOD.judgements(TRIAL, read)
    assert one.value == pytest.approx(100 * 8 / 9)
    assert (one.kind, one.raw_value, one.missing) == ("score", None, None)
    assert one.said == "the small boat reached the harbour before the storm"
    assert one.heard == "the small goat reached the harbour before the storm"


def test_nothing_understood_is_an_answer_and_a_clip_that_did_not_play_is_none() -> None:
    (one,) = METHOD.judgements(TRIAL, METHOD.read(TRIAL, answer_of(" ")))
    assert (one.value, one.heard, one.missing) == (0, "", None)
    lost = METHOD.read(TRIAL, {"texts": {}, "missing": {"s1": "media_error"}})
    (one,) = METHOD.judgements(TRIAL, lost)
    assert (one.value, one.heard, one.missing) == (None, None, "media_error")


def test_what_was_said_is_not_in_what_the_page_learns() -> None:
    assert METHOD.extra(trial_of(alike={"their": "there"})) == {"most": MOST_CHARACTERS}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (answer_of(None), ("answer.texts.q1.s1", "This is no text, or too long a one",
                           "a text of up to 2000 characters, empty if nothing was heard")),
        (answer_of(2001 * "x"), ("answer.texts.q1.s1", "This is no text, or too long a one",
                                 "a text of up to 2000 characters, empty if nothing was heard")),
        (answer_of(["the"]), ("answer.texts.q1.s1", "This is no text, or too long a one",
                              "a text of up to 2000 characters, empty if nothing was heard")),
        ({"texts": {"q1": "the"}}, ("answer.texts.q1", "No texts are given", "an object with s1")),
        ({"texts": {"q1": {}}}, ("answer.texts.q1.s1", "s1 has no answer", "all of s1")),
        ({"texts": {}}, ("answer.texts.q1", "q1 has no answer", "all of q1")),
        ({"texts": {**answer_of("a")["texts"], "q2": {}}}, ("answer.texts.q2", "q2 is not in this trial", "q1")),
        ({"scores": {}}, ("answer.scores", "scores is not part of an answer", "texts, missing, comment")),
        ({**answer_of("a"), "missing": {"s1": "media_error"}},
         ("answer.texts", "There is nothing to answer", "{} where a slot is missing")),
    ],
)  # fmt: skip
def test_other_answers_are_refused(answer: Any, said: tuple[str, str, str]) -> None:
    assert refusal(METHOD, TRIAL, answer) == said


@pytest.mark.parametrize(
    "text", [MOST_CHARACTERS * "x", "a " * 1000, "\ud800 \x00 \u202e", "🙂🙂", "=1+1", "<b>boat</b>"]
)
def test_odd_texts_are_answers_and_score_what_is_right_in_them(text: str) -> None:
    assert percent_right(text) == pytest.approx(100 / 9 if "boat" in text else 0)


def test_words_that_are_alike_count_as_the_same(tmp_path: Path) -> None:
    alike = {"harbor": "harbour", "buoyed": "boat"}
    assert percent_right("the small buoyed reached the harbor before the storm", alike=alike) == 100
    options = {"alike": [["Harbour", "harbor"], ["don’t", "do"]]}
    study = study_with_transcripts(tmp_path, "transcribe", ["one"], options=options)
    catalogue = make_catalogue(contents=("one",), medium="audio", duration_ms=3000)
    unit = METHOD.units(study, catalogue).items[0]
    trial = METHOD.compose(study, unit, catalogue, np.random.default_rng(0))
    assert trial.draws == {"said": SAID, "alike": {"harbor": "harbour", "do": "dont"}}


def test_what_does_not_fit_is_told_with_its_place() -> None:
    two = [{"id": "one", "text": "What?", "scale": {"min": 1, "max": 5}}, {"id": "two", "text": "What?"}]
    alike = [["well-known", "known"], ["their", "there"], ["there", "they're"]]
    study = make_study("transcribe", questions=two, options={"alike": alike})
    found = problems(study, make_catalogue(medium="text", words=3))
    assert found == [
        "questions.0.scale does not fit transcribe: a text is typed. Leave it out.",
        "stimuli are texts, which transcribe does not show. Allowed: audio, video.",
        "questions are 2, and transcribe asks for one text. Allowed: one question. Leave the others out, or ask them "
        "in another study.",
        "options.alike.0.0 is 'well-known', which is 2 words as they are compared. Allowed: one word. Case, "
        "apostrophes and punctuation do not count anyway.",
        "options.alike.2.0 is 'there', which stands in another list too. Allowed: every word in one list.",
    ]


def test_a_clip_says_no_more_than_can_be_typed(tmp_path: Path) -> None:
    study = study_with_transcripts(tmp_path, "transcribe", ["one"])
    (tmp_path / "transcripts" / "one.txt").write_text("harbours " * 250, "utf-8")
    (found,) = METHOD.problems(study, make_catalogue(contents=("one",), medium="audio"))
    assert str(found) == (
        "transcripts/one.txt  has 2249 characters, and people type up to 2000. Allowed: up to 2000. Cut the clip into "
        "parts."
    )


def test_what_robots_are_planted_to_understand_is_found_within_its_interval() -> None:
    planted = {"a": 0.85, "b": 0.4}
    rows = []
    for condition, strength in planted.items():
        for person in range(60):
            for place, text in enumerate((SAID, "She cut the bread and put butter on both slices.")):
                trial = trial_of(f"{condition}/{place}", said=text)
                rng = np.random.default_rng([person, place, int(100 * strength)])
                answer = METHOD.read(trial, METHOD.respond(trial, {"q1.s1": strength}, rng))
                (one,) = METHOD.judgements(trial, answer)
                rows.append({
                    "participant": f"p{person}", "content": str(place), "condition": condition, "kind": one.kind,
                    "question": one.question, "said": one.said, "heard": one.heard, "value": one.value,
                })  # fmt: skip
    result = error_rates(pd.DataFrame(rows))
    assert result is not None
    for row in result.table.to_dict("records"):
        strength = planted[row["condition"]]
        assert row["right_low"] <= strength <= row["right_high"]
        assert row["right"] == pytest.approx(strength, abs=0.04)
        assert row["wer"] == pytest.approx(1 - strength, abs=0.08)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 10))
def test_a_robot_that_perceives_more_types_more_words_right(one: float, other: float, seed: int) -> None:
    low, high = sorted((one, other))
    shares = []
    for strength in (low, high):
        rng = np.random.default_rng(seed)
        answers = [METHOD.respond(TRIAL, {"q1.s1": strength}, rng) for _ in range(20)]
        judged = [METHOD.judgements(TRIAL, METHOD.read(TRIAL, answer))[0].value for answer in answers]
        shares.append(np.mean([value for value in judged if value is not None]))
    # Shares of 180 words differ by more than this once in ten thousand times where nothing is different.
    assert shares[1] >= shares[0] - 20
