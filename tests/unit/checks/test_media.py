"""Whether a browser decodes what the study shows."""

from __future__ import annotations

import io
import wave

import pytest

from beholder.checks.media import codec_names
from beholder.checks.page_contract import CheckContext, Needs, Sample
from beholder.types import Json
from support.device_checks import (
    CODEC,
    MEDIA,
    PLAYS,
    judged,
    posed,
    words,
)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"playable": {CODEC: False}}, "codec"),
        ({"fullscreen": False}, "fullscreen"),
        ({"decoded": False}, "decode"),
    ],
)
def test_what_the_browser_lacks_is_named(change: dict[str, Json], reason: str) -> None:
    verdict = judged(MEDIA, {**PLAYS, **change})
    assert (verdict.verdict, verdict.reason) == ("fail", reason)
    assert words(MEDIA, verdict)


def test_a_missing_codec_is_called_by_its_name() -> None:
    verdict = judged(MEDIA, {**PLAYS, "playable": {CODEC: False}})
    assert words(MEDIA, verdict).startswith("Your browser cannot play H.264. Please use a current Chrome,")
    types = [
        'video/webm; codecs="vp9, opus"',
        'video/mp4; codecs="av01.0.05M.08"',
        "image/webp",
        'audio/wav; codecs="1"',
    ]
    assert codec_names(types) == "VP9, Opus, AV1, WebP, WAV"


def test_sound_is_asked_for_only_where_there_is_some() -> None:
    silent = {**PLAYS, "sound": False}
    assert judged(MEDIA, silent).verdict == "pass"
    loud = CheckContext(needs=Needs((CODEC,), sound=True))
    assert judged(MEDIA, silent, loud).reason == "sound"


def test_dropped_frames_are_tried_again_and_then_only_flagged() -> None:
    known = CheckContext(needs=Needs((CODEC,), sample=Sample("h264", "mp4", 96, 54, 25)))
    slow: dict[str, Json] = {**PLAYS, "plays": [[25, 9], [25, 4], [25, 2]]}
    first, last = judged(MEDIA, slow, known, 1), judged(MEDIA, slow, known, 3)
    assert (first.verdict, first.again, first.measured) == ("unknown", True, 0.08)
    assert (last.verdict, last.action) == ("fail", "flag")
    assert judged(MEDIA, {**PLAYS, "plays": [[25, 9], [25, 1]]}, known).verdict == "pass"
    assert judged(MEDIA, {**PLAYS, "plays": []}, known).verdict == "unknown"


def test_a_sample_is_a_second_in_the_codec_of_the_study() -> None:
    known = CheckContext(needs=Needs((CODEC,), sample=Sample("h264", "mp4", 96, 54, 25.0)))
    clip = MEDIA.draw(posed(MEDIA, known).private, "sample")
    assert clip.content_type == "video/mp4"
    assert clip.body[4:8] == b"ftyp"
    assert MEDIA.draw(posed(MEDIA, known).private, "sample") == clip
    unknown = CheckContext(needs=Needs((CODEC,), sample=Sample("theora", "ogg", 96, 54, 25.0)))
    assert MEDIA.draw(posed(MEDIA, unknown).private, "sample").body == b""


def test_sounds_and_images_have_samples_of_their_own() -> None:
    sound = MEDIA.draw(posed(MEDIA, CheckContext(needs=Needs(medium="audio"))).private, "sample")
    with wave.open(io.BytesIO(sound.body)) as file:
        assert file.getnframes() == file.getframerate()
    image = MEDIA.draw(posed(MEDIA, CheckContext(needs=Needs(medium="image"))).private, "sample")
    assert image.body[8:12] == b"WEBP"
    assert posed(MEDIA, CheckContext(needs=Needs(medium="text"))).media == ()
