"""Fixed questions about one stimulus: a study may say them in its own words, and adds none."""

from __future__ import annotations

from typing import Any

from beholder.methods import find
from beholder.study.model import Study
from support.method_studies import catalogue_of, make_study, problems

QUESTIONS = ("signal", "background", "overall")
METHOD = find("p835")


def study_of(questions: list[dict[str, Any]] | None = None, **keys: Any) -> Study:
    return make_study("p835", questions=questions, **keys)


def test_a_study_may_say_a_question_in_its_own_words_and_keeps_the_scale() -> None:
    written = [{"id": "background", "text": "Did the noise disturb?", "label": "Noise"}]
    asked = METHOD.questions(study_of(questions=written))
    assert [question.id for question in asked] == [*QUESTIONS]
    assert (asked[1].text, asked[1].label, asked[1].scale.labels[0][1]) == (
        "Did the noise disturb?", "Noise", "Very intrusive",
    )  # fmt: skip


def test_p835_asks_nothing_else_and_plays_three_times() -> None:
    written: list[dict[str, Any]] = [{"id": "signl", "text": "?"}, {"id": "overall", "text": "?", "ticks": ["hum"]}]
    found = problems(study_of(questions=written, playback={"max_plays": 2}), catalogue_of(study_of(), medium="audio"))
    assert found == [
        "questions.0.id is signl, and p835 asks for signal, background, overall. Allowed: signal, background, "
        "overall. Did you mean signal?",
        "questions.1.ticks do not fit p835. Leave them out.",
        "playback.max_plays is 2, and p835 plays everything 3 times, once before each question. Allowed: 3 or more. "
        "Leave it out.",
    ]
