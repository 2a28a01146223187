"""Our texts for participants."""

from __future__ import annotations

from beholder.words import check_words, read_words


def test_an_unknown_language_gets_english() -> None:
    assert read_words("xx") == read_words("en")
    assert check_words("xx") == check_words("en")


def test_every_check_has_its_own_texts() -> None:
    words = check_words("en")
    assert {"colour", "device", "list"} <= words.keys()
    assert words["colour"]["title"]
