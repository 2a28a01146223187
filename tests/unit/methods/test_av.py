"""av: sound, picture and the whole, all after one play, or each after a play of its own."""

from __future__ import annotations

from beholder.methods import find
from beholder.planning.builder import make_plan
from support.method_studies import catalogue_of, make_study, problems

AV = find("av")
QUESTIONS = ["audio", "video", "overall"]


def test_av_asks_on_one_page_after_one_play_and_in_one_order() -> None:
    study = make_study("av", questions=None)
    for planned in make_plan(study, catalogue_of(study), AV).lists:
        for trial in planned.trials:
            assert [asked.question for asked in trial.asked] == QUESTIONS
            assert (trial.passes, dict(AV.extra(trial))) == (1, {})


def test_av_in_passes_plays_three_times_and_balances_sound_and_picture() -> None:
    study = make_study("av", questions=None, options={"layout": "passes"})
    lists = make_plan(study, catalogue_of(study), AV).lists
    trials = [planned.trials[0] for planned in lists]
    assert [trial.passes for trial in trials] == [3] * 6
    assert [trial.asked[0].question for trial in trials] == ["audio", "video"] * 3
    assert {trial.asked[2].question for trial in trials} == {"overall"}
    assert AV.extra(trials[1])["attend"] == [
        "Attend to the picture", "Attend to the sound", "Attend to sound and picture together",
    ]  # fmt: skip


def test_a_question_may_have_another_scale() -> None:
    study = make_study("av", questions=[{"id": "overall", "text": "And all in all?", "scale": "acr11"}])
    assert [question.scale.max for question in AV.questions(study)] == [5, 5, 10]


def test_av_needs_something_to_hear() -> None:
    study = make_study("av", questions=None, playback={"sound": "off"})
    assert problems(study, catalogue_of(study, audio_codec="")) == [
        "playback.sound is off, and av asks about the sound. Allowed: on. Leave it out.",
        "has no sound, as 6 of 6 have, and av asks about it. Allowed: videos with sound. Use method: acr for silent "
        "videos.",
    ]
