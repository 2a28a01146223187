"""Speech synthesis: the same words are the same samples, whoever speaks beside or before."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from beholder.stimuli.messages.speech import speak
from beholder.stimuli.messages.synthesis import installed_synthesis


@pytest.mark.variant
def test_many_may_speak_at_once() -> None:
    sentences = ["One.", "Seventeen thousand.", "Please choose: Poor.", "Set this slider to 64."] * 3
    alone = [speak(words, "en").seconds for words in sentences]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda words: speak(words, "en").seconds, sentences))
    assert together == alone


def test_what_was_spoken_before_changes_nothing() -> None:
    first = speak("Please choose 87 now.", "en").samples
    for before, language in (("Please choose 87 now.", "en"), ("Bitte vier.", "de"), ("One.", "en")):
        speak(before, language, words_per_minute=200)
        assert speak("Please choose 87 now.", "en").samples.tobytes() == first.tobytes(), before


def test_a_process_that_cannot_speak_says_why(tmp_path: Path) -> None:
    moved = replace(installed_synthesis(), data=str(tmp_path))
    with pytest.raises(OSError, match=f"its data in {re.escape(str(tmp_path))} cannot be read"):
        moved.samples("One.", "en", 140)
