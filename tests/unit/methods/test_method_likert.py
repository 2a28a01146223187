"""likert: statements in a drawn order, ready-made sets of them, and avatars beside the video that drives them."""

from __future__ import annotations

from typing import Any

import pytest

from beholder.methods import find
from beholder.methods.contract import Question
from beholder.methods.likert.items import ITEM_SETS
from support.method_studies import QUESTION, answer_of, catalogue_of, make_study, one_trial, planned

DRIVING: list[Any] = [{"name": "filmed", "role": "reference"}, "avatar", "cartoon"]


def asked(items: str, **keys: Any) -> list[Question]:
    options = {"items": items, **keys.pop("options", {})}
    study = make_study("likert", options=options, questions=keys.pop("questions", None))
    return list(find("likert").questions(study))


def test_avatar_a_has_its_eight_dimensions_and_one_is_reversed() -> None:
    assert [(question.id, question.keyed) for question in asked("avatar-a")] == [
        ("realistic", "+"), ("trust", "+"), ("comfortableusing", "+"), ("comfortableinteracting", "+"),
        ("appropriate", "+"), ("creepy", "-"), ("formal", "+"), ("like", "+"),
    ]  # fmt: skip


def test_the_other_sets_have_their_statements() -> None:
    assert [question.id for question in asked("avatar-b")] == ["lookslike", "facialexpressions"]
    named = asked("avatar-b", options={"extra": ["gesture_acc"]})
    assert [question.id for question in named] == ["lookslike", "facialexpressions", "gesture_acc"]
    assert [question.id for question in asked("avatar-short")] == ["realistic", "lookslike", "facialexpressions"]
    assert [(question.id, question.keyed) for question in asked("sync")] == [
        ("lips", "+"), ("body", "+"), ("delay", "-"),
    ]  # fmt: skip
    tokens = asked("problem-token")
    assert [question.id for question in tokens] == ["picture", "sound"]
    assert all(len(question.ticks) > 5 and "Something else" in question.ticks[-1] for question in tokens)


@pytest.mark.parametrize("name", ITEM_SETS)
def test_every_statement_of_a_set_is_a_sentence_said_once(name: str) -> None:
    questions = asked(name)
    assert len({question.text for question in questions}) == len(questions)
    for question in questions:
        assert question.text[0].isupper()
        assert question.text[-1] == "."
        assert [text for _, text in question.scale.labels] == [
            "Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree",
        ]  # fmt: skip


def test_a_study_has_its_own_words_for_a_statement_and_the_key_stays_unless_it_is_written() -> None:
    own = [{"id": "creepy", "text": "It gives me an uneasy feeling."}, {"id": "warm", "text": "It is warm."}]
    found = {question.id: question for question in asked("avatar-a", questions=own)}
    assert list(found)[-1] == "warm"
    assert len(found) == 9
    assert (found["creepy"].text, found["creepy"].keyed) == ("It gives me an uneasy feeling.", "-")
    turned = [{"id": "creepy", "text": "It puts me at ease.", "keyed": "+", "scale": "acr5"}]
    found = {question.id: question for question in asked("avatar-a", questions=turned)}
    assert found["creepy"].keyed == "+"
    assert found["creepy"].scale.labels[-1][1] == "Excellent"
    assert list(found)[5] == "creepy"


def test_without_a_set_the_questions_are_the_studys() -> None:
    _, trial = one_trial(make_study("likert"))
    assert [(one.question, one.text, one.keyed) for one in trial.asked] == [("quality", "How good is it?", "+")]
    assert trial.asked[0].scale.labels[-1][1] == "Strongly agree"


def test_the_order_of_statements_is_drawn_for_each_trial_and_the_ids_follow_it() -> None:
    _, trials = planned(make_study("likert", options={"items": "avatar-a"}, questions=None))
    orders = {tuple(one.question for one in trial.asked) for trial in trials}
    assert len(orders) > 6
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(next(iter(orders))))}
    assert all([one.id for one in trial.asked] == [f"q{n}" for n in range(1, 9)] for trial in trials)
    _, fixed = planned(make_study("likert", options={"items": "avatar-a", "shuffle": False}, questions=None))
    assert {trial.asked[0].question for trial in fixed} == {"realistic"}


def test_the_scenario_is_the_sets_or_the_studys() -> None:
    method, trial = one_trial(make_study("likert", options={"items": "avatar-a"}, questions=None))
    assert method.extra(trial) == {
        "layout": "grid",
        "columns": "high-first",
        "scenario": "Think of a video call at work. You, or the person you are calling, would appear as in this clip.",
    }
    options = {"items": "avatar-a", "scenario": "Think of a party.", "layout": "tabs", "columns": "low-first"}
    method, trial = one_trial(make_study("likert", options=options, questions=None))
    assert method.extra(trial) == {"layout": "tabs", "columns": "low-first", "scenario": "Think of a party."}
    method, trial = one_trial(make_study("likert", options={"items": "avatar-a", "scenario": ""}, questions=None))
    assert "scenario" not in method.extra(trial)


def test_at_random_each_trial_has_one_statement_and_every_stimulus_meets_all_of_them() -> None:
    study = make_study(
        "likert", options={"items": "sync", "layout": "random"}, questions=None, design={"participants": 2, "trials": 3}
    )
    _, trials = planned(study)
    assert len(trials) == 2 * 3 * 3
    for trial in trials:
        assert len(trial.asked) == 1
        assert trial.asked[0].id == "q1"
    first = trials[:9]
    seen = {(trial.slots[0].stimulus, trial.asked[0].question) for trial in first}
    assert len(seen) == 9
    assert len({stimulus for stimulus, _ in seen}) == 3


@pytest.mark.parametrize("items", ["avatar-b", "avatar-short"])
def test_an_avatar_stands_beside_the_video_that_drives_it(items: str) -> None:
    study = make_study("likert", DRIVING, options={"items": items}, questions=None)
    method, trials = planned(study)
    for trial in trials:
        avatar, driving = trial.slots
        assert trial.together
        assert (avatar.id, avatar.label, avatar.role, avatar.rated) == ("s1", None, "test", True)
        assert (driving.id, driving.label, driving.role, driving.rated) == ("s2", "driving", "reference", False)
        assert driving.stimulus == f"filmed/{trial.content}"
        assert not avatar.stimulus.startswith("filmed/")
        assert method.extra(trial)["sound"] == "s2"
        answer = answer_of(method, trial, {"filmed": 1.0, "avatar": 0.5, "cartoon": 0.2})
        assert {(rating.slot, rating.other_slot) for rating in method.judgements(trial, answer)} == {("s1", "s2")}


@pytest.mark.parametrize(
    ("medium", "audio_codec", "expected"),
    [
        ("video", "aac", {"picture", "sound"}), ("video", "", {"picture"}), ("audio", "pcm", {"sound"}),
        ("image", "", {"picture"}),
    ],
)  # fmt: skip
def test_problem_tokens_are_about_what_a_stimulus_has(medium: str, audio_codec: str, expected: set[str]) -> None:
    study = make_study("likert", options={"items": "problem-token"}, questions=None)
    _, trial = one_trial(study, catalogue_of(study, medium=medium, audio_codec=audio_codec))
    assert {one.question for one in trial.asked} == expected


def test_a_resolved_study_has_the_same_keys() -> None:
    """Written out and read again, a statement without a key still has that of its set."""
    import yaml

    from beholder.study.serialization import resolved_yaml

    own = [{"id": "creepy", "text": "It gives me an uneasy feeling."}, QUESTION]
    study = make_study("likert", options={"items": "avatar-a"}, questions=own)
    again = make_study(**{**yaml.safe_load(resolved_yaml(study))})
    method = find("likert")
    assert method.questions(again) == method.questions(study)
