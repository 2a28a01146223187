"""What a study needs of a device: read from the files that are served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.checks.page_contract import Sample
from beholder.methods import load_study
from beholder.methods.contract import Break, Trial
from beholder.server.script import make_script, needs_of, sets_volume
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus, mime_type
from beholder.stimuli.ingestion import load_catalogue
from beholder.testing import write_study
from support.flow_scripts import AGE, SCREEN
from support.instruction_pages import PLAYED, written
from support.scripts import script, study


def test_what_is_needed_comes_from_the_served_files(tmp_path: Path, tiny: Path) -> None:
    keys = {"qualification": {"media": True}, "playback": {"size": "native", "fullscreen": True}}
    study = load_study(write_study(tmp_path / "study", tiny, **keys))
    needs = needs_of(study, load_catalogue(study), ())
    assert len(needs.codecs) == 1
    assert needs.codecs[0].startswith('video/mp4; codecs="avc1.')
    assert (needs.size, needs.fullscreen, needs.sample) == ((96, 54), True, Sample("h264", "mp4", 96, 54, needs.fps))


BOXES = {
    "h264": (b"\0\0\0\x31avcC\x01\x64\x00\x28\xff", ".mp4", "avc1.640028"),
    "vp9": (b"\0\0\0\x14vpcC\x01\0\0\0\x00\x1f\x80", ".mp4", "vp09.00.31.08"),
    "av1": (b"\0\0\0\x14av1C\x81\x08\x4c\x00", ".mp4", "av01.0.08M.10"),
}


@pytest.mark.parametrize("codec", BOXES)
def test_a_codec_is_named_with_the_profile_and_level_of_its_file(tmp_path: Path, codec: str) -> None:
    box, suffix, name = BOXES[codec]
    file = tmp_path / f"clip{suffix}"
    file.write_bytes(b"\0\0\0\x18ftypisom" + box)
    probe = Probe(1, "mp4", 1000, 96, 54, 25.0, codec, "opus", 2)
    assert mime_type(file, probe, "video") == f'video/mp4; codecs="{name}, opus"'


@pytest.mark.parametrize(
    ("suffix", "codec", "name"), [(".webm", "vp9", "vp9"), (".webm", "vp8", "vp8"), (".webm", "av1", "av01.0.08M.08")]
)
def test_webm_has_short_names_and_keeps_the_set_up_of_av1(tmp_path: Path, suffix: str, codec: str, name: str) -> None:
    file = tmp_path / f"clip{suffix}"
    file.write_bytes(b"\x1a\x45\xdf\xa3webm\x63\xa2\x84\x81\x08\x0c\x00")
    probe = Probe(1, "webm", 1000, 96, 54, 25.0, codec, "", 0)
    assert mime_type(file, probe, "video") == f'video/webm; codecs="{name}"'


def test_sounds_and_images_have_one_type_each() -> None:
    probe = Probe(1, "wav", 1000, 0, 0, 0.0, "pcm_s16le", "pcm_s16le", 2)
    assert mime_type(Path("a.wav"), probe, "audio") == 'audio/wav; codecs="1"'
    assert mime_type(Path("a.webp"), probe, "image") == "image/webp"
    assert mime_type(Path("a.txt"), probe, "text") == ""


def test_the_steps_come_in_their_order() -> None:
    whole = script(before=[SCREEN], after=[AGE])
    assert [step.key for step in whole.steps] == [
        "consent", "questions:before", "text:instructions", "trial:1", "trial:2", "break:1", "trial:3",
        "questions:after",
    ]  # fmt: skip


def recurring(id: str, every: Any) -> dict[str, Any]:
    return {"id": id, "text": "?", "type": "likert", "every": every}


def test_pages_are_counted_in_numbers_from_the_first_one() -> None:
    steps = script(before=[SCREEN])
    assert str([steps.page(place) for place in range(2)]) == str([(1, len(steps.steps)), (2, len(steps.steps))])


def test_questions_between_trials_follow_theirs_and_come_before_a_break() -> None:
    during = [
        recurring("each", "trial"),
        recurring("second", 2),
        recurring("rest", "break"),
        recurring("once", "content"),
    ]
    entries: list[Trial | Break] = [Trial(f"t{n}", "ab"[n % 2], "rate", (), ()) for n in range(5)]
    entries.insert(3, Break("break:1"))
    entries.insert(0, Trial("lesson", "a", "train", (), ()))
    asked = {
        step.key: [item.id for item in step.items]
        for step in make_script(study(during=during, design={"breaks": 3}), entries).steps
        if not step.is_training and step.kind in ("questions", "break", "trial")
    }
    assert asked == {
        "trial:1": [], "questions:during:1": ["each"],
        "trial:2": [], "questions:during:2": ["each", "second"],
        "trial:3": [], "questions:during:3": ["each", "rest"], "break:1": [],
        "trial:4": [], "questions:during:4": ["each", "second", "once"],
        "trial:5": [], "questions:during:5": ["each", "once"],
    }  # fmt: skip
    assert list(asked)[4:7] == ["trial:3", "questions:during:3", "break:1"]


def test_in_a_later_session_questions_between_trials_are_asked_again() -> None:
    entries = [Trial("t", "a", "rate", (), ())]
    steps = make_script(study(during=[recurring("each", "trial")]), entries, is_later=True).steps
    assert [step.key for step in steps] == ["consent", "trial:1", "questions:during:1"]


def test_the_volume_is_set_after_the_instructions() -> None:
    keys = [step.key for step in make_script(study(), [], has_volume=True).steps]
    assert keys == ["consent", "text:instructions", "volume"]


@pytest.mark.parametrize(
    ("playback", "medium", "is_set"),
    [
        ({}, "audio", True), ({}, "video", False),
        ({"volume": True}, "video", True), ({"volume": False}, "audio", False),
        ({"sound": "off"}, "audio", False), ({"sound": "off", "volume": True}, "video", False),
    ],
)  # fmt: skip
def test_the_volume_is_set_where_there_is_sound_or_the_study_says_so(playback: Any, medium: Any, is_set: bool) -> None:
    stimulus = Stimulus("c/t", "t", "c", "test", medium, "c/t", "", Probe(0, "", 0, 0, 0, 0, "", "", 0), Path())
    assert sets_volume(study(playback=playback), Catalogue((stimulus,), ("c",), ("t",))) is is_set


def test_the_checks_stand_around_the_questions_and_the_instructions() -> None:
    whole = script(
        before=[{"id": "age", "text": "?", "type": "number"}],
        qualification={"device": True, "colour": True, "acuity": True, "brightness": True},
    )
    assert [step.key for step in whole.steps][:8] == [
        "consent", "check:device", "questions:before", "check:colour", "check:card", "check:acuity",
        "text:instructions", "check:brightness",
    ]  # fmt: skip


def test_every_page_is_a_step_and_the_volume_comes_before_what_is_heard(tmp_path: Path, tiny: Path) -> None:
    study = load_study(written(tmp_path, tiny, ["First.", PLAYED, "Last."]))
    catalogue = load_catalogue(study)
    steps = make_script(study, [], has_volume=True, examples=catalogue.examples).steps
    assert [step.key for step in steps] == [
        "consent", "volume", "text:instructions", "text:instructions:2", "text:instructions:3",
    ]  # fmt: skip
    assert [len(step.trial.slots) if step.trial else 0 for step in steps] == [0, 0, 0, 2, 0]
    plain = make_script(study, [], has_volume=True).steps
    assert [step.key for step in plain][:2] == ["consent", "text:instructions"]
