"""Our texts for participants."""

from __future__ import annotations

from pathlib import Path

from beholder.checks.page_registry import check_texts
from beholder.words import check_words, folder_words, read_words


def test_an_unknown_language_gets_english() -> None:
    assert read_words("xx") == read_words("en")
    assert check_words("xx") == check_words("en")
    assert check_texts("xx") == check_texts("en")


def test_a_folder_has_a_file_for_each_language(tmp_path: Path) -> None:
    (tmp_path / "en.json").write_text('{"title": "Eyes", "out": "Sorry."}', "utf-8")
    (tmp_path / "de.json").write_text('{"title": "Augen"}', "utf-8")
    assert folder_words(tmp_path, "de") == {"title": "Augen", "out": "Sorry."}
    assert folder_words(tmp_path / "absent", "de") == {}


def test_every_check_has_its_own_texts() -> None:
    words = check_texts("en")
    assert {"colour", "device", "list"} <= words.keys()
    assert words["colour"]["title"]
