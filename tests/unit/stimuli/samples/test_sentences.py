"""Sample sentences: equally loud under every condition, with a transcript whose times lie within the clip."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beholder.stimuli.samples import make_transcripts
from beholder.stimuli.samples.generation import SPEECH_QUALITIES
from beholder.stimuli.samples.sentences import CONTENTS, speech


def test_conditions_are_equally_loud_and_the_noise_is_as_far_below_as_they_say() -> None:
    clean, rate = speech(0, "clean")
    for condition in SPEECH_QUALITIES:
        samples, same = speech(0, condition)
        assert (samples.shape, same) == (clean.shape, rate)
        assert np.sqrt((samples**2).mean()) == pytest.approx(np.sqrt((clean**2).mean()), rel=0.02)
        assert np.abs(samples).max() < 1
    pause = slice(0, round(0.2 * rate))
    noise = [float(np.sqrt((speech(0, name)[0][pause] ** 2).mean())) for name in SPEECH_QUALITIES]
    assert noise == sorted(noise)
    assert noise[0] == 0


def test_every_content_has_a_transcript_whose_times_lie_within_its_clip(tmp_path: Path) -> None:
    make_transcripts(tmp_path, contents=len(CONTENTS) + 1)
    assert {path.stem for path in tmp_path.iterdir()} == {*CONTENTS, f"{CONTENTS[0]}-2"}
    for place, content in enumerate(CONTENTS):
        samples, rate = speech(place, "clean")
        head, *lines = (tmp_path / f"{content}.csv").read_text("utf-8").splitlines()
        times = [tuple(map(float, line.split(",")[1:])) for line in lines]
        assert head == "word,start,end"
        assert all(start < end for start, end in times)
        assert times[-1][1] <= len(samples) / rate
        quiet = samples[: round(times[0][0] * rate)]
        assert np.abs(quiet).max(initial=0.0) < 0.05
