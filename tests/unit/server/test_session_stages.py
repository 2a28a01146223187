"""About how long a session takes, and that participants are told so before they agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.methods import find, method_folder, names
from beholder.server.public_steps import step_texts
from beholder.server.script import ServedStudy
from beholder.server.session_stages import session_stages, told_minutes
from beholder.study.markdown import markdown
from beholder.study.model import Study
from beholder.testing import write_study
from beholder.types import Medium
from beholder.words import read_words
from beholder.workflow.check import check
from support.instruction_pages import served
from support.method_studies import make_catalogue, make_study, planned
from support.visitor import Visitor

WORDS = read_words("en")


def serve(study: Study, *, medium: Medium = "video") -> ServedStudy:
    """Return a served study of these stimuli."""
    _, trials = planned(study)
    catalogue = make_catalogue([one.name for one in study.conditions], medium=medium)
    return ServedStudy(study, "", catalogue, find(study.method), [tuple(trials[:2])], "")


def test_people_are_told_what_check_estimates_unless_the_study_says_how_long_it_takes() -> None:
    study = make_study("acr")
    one = serve(study)
    stages = session_stages(study, one.catalogue, one.method, tuple(one.lists[0]))
    assert told_minutes(one) == max(1, -(-sum(stage.minutes for stage in stages) // 1))
    assert told_minutes(serve(make_study("acr", recruit={"minutes": 11.5}))) == 12


def test_our_consent_says_what_is_done_how_long_it_takes_and_what_it_pays() -> None:
    study = make_study("acr", recruit={"reward": "2.00 GBP"})
    catalogue, method = make_catalogue(medium="audio"), find("acr")
    consent = step_texts(study, WORDS, catalogue, method, 9)["consent"]
    for line in (
        "<li>You will listen to short recordings, one at a time, and rate each of them.</li>",
        "<li>It takes about 9 minutes.</li>",
        "<li>You earn £2.00.</li>",
    ):
        assert line in consent
    assert "It takes about 1 minute.</li>" in step_texts(study, WORDS, catalogue, method, 1)["consent"]
    often = make_study("acr", design={"participants": 6, "trials": 2, "sessions_per_participant": 2})
    several = step_texts(often, WORDS, catalogue, method, 9)["consent"]
    assert "A session takes about 9 minutes." in several
    assert "earn" not in several


def test_a_consent_of_ones_own_tells_time_and_pay_as_the_study_has_them() -> None:
    texts = {"consent": "You look at faces. {time} {pay}\n\n- {pay}\n- {other} stays."}
    paid = make_study("acr", recruit={"reward": "2.00 GBP"}, texts=texts)
    assert step_texts(paid, WORDS, minutes=9)["consent"] == markdown(
        "You look at faces. It takes about 9 minutes. You earn £2.00.\n\n- You earn £2.00.\n- {other} stays."
    )
    assert step_texts(make_study("acr", texts=texts), WORDS, minutes=1)["consent"] == markdown(
        "You look at faces. It takes about 1 minute.\n\n- {other} stays."
    )


@pytest.mark.parametrize("name", names())
def test_the_consent_of_a_new_study_takes_its_time_from_the_study(name: str) -> None:
    text = (method_folder(name) / "texts" / "consent.md").read_text("utf-8")
    assert "{time} {pay}" in text
    assert "minutes" not in text


@pytest.mark.parametrize("name", names())
def test_our_texts_fit_every_method_and_medium(name: str) -> None:
    method = find(name)
    for medium in sorted(method.media):
        texts = step_texts(make_study("acr"), WORDS, make_catalogue(medium=medium), method, 5)
        noun = {"video": "video", "audio": "recording", "image": "image", "text": "text"}[medium]
        others = {"video", "recording", "image", "text"} - {noun}
        for which in ("consent", "instructions"):
            assert noun in texts[which], (name, medium)
            assert not [other for other in others if f" {other}s" in texts[which]], (name, medium)


def test_our_instructions_follow_how_stimuli_play_and_promise_no_wrong_answers_where_there_are_some() -> None:
    catalogue = make_catalogue()

    def instructions(method: str, **playback: object) -> str:
        return step_texts(make_study("acr", playback=playback), WORDS, catalogue, find(method))["instructions"]

    assert "Please watch each video to the end. You may go back to it" in instructions("acr", watch="whole")
    assert "to the end" not in instructions("acr", watch="none")
    assert "Each one can be played once only." in instructions("acr", max_plays=1)
    assert "go back" not in instructions("acr", max_plays=2)
    assert "no right or wrong answers" in instructions("acr")
    assert "no right or wrong answers" not in instructions("abx")


async def test_a_visitor_reads_it_before_agreeing(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, texts={})
    minutes = check(path).minutes
    async with served(path) as site:
        visitor = Visitor(site)
        await visitor.arrive()
        text = visitor.step["text"]
        assert "You will watch" in text or "Each page has several versions of the same video." in text
        assert f"about {max(1, -int(-minutes // 1))} minute" in text


def test_check_says_which_texts_are_ours(tmp_path: Path, tiny: Path) -> None:
    assert check(write_study(tmp_path / "none", tiny, texts={})).default_texts == ("consent", "instructions")
    own = write_study(tmp_path / "own", tiny, texts={"consent": "Mine.", "instructions": "Mine too."})
    assert check(own).default_texts == ()
