"""Sample texts: each condition in other words."""

from __future__ import annotations

from beholder.stimuli.samples import QUALITIES
from beholder.stimuli.samples.text import passage


def test_each_condition_of_a_text_says_it_in_other_words() -> None:
    for content in range(6):
        versions = [passage(content, name) for name in QUALITIES["text"]]
        assert len(set(versions)) == 4
        assert all(30 <= len(text.split()) <= 75 for text in versions)
        shared = set.intersection(*({word.strip(".,:;").casefold() for word in text.split()} for text in versions))
        assert len(shared) >= 4
