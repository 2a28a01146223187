"""The site of the docs: every page has one place in it, and links follow pages to where they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from documentation import site
from support.data import ROOT


def places(entry: object) -> Iterator[str]:
    """Yield the paths below an entry of the navigation."""
    if isinstance(entry, str):
        yield entry
    for below in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
        yield from places(below)


def test_every_page_has_one_place_in_the_navigation() -> None:
    listed = list(places(list(site.navigation())))
    assert sorted(listed) == sorted(set(listed))
    assert set(site.pages().values()) - set(listed) == {"readme.md"}, "the front page of the repository is not ours"


def test_links_follow_pages_and_a_missing_one_is_named(tmp_path: Path) -> None:
    missing: list[str] = []
    page = ROOT / "docs" / "writing-a-method.md"
    text = site.with_links(page, "writing-a-method.md", site.pages(), missing)
    assert "(contributing.md#add-a-method-in-15-minutes)" in text
    assert missing == []
    assert site.write_source(tmp_path / "source") == []
    method = (tmp_path / "source" / "methods" / "acr.md").read_text("utf-8")
    assert "](../" in method
    assert "](../../../" not in method
    site.with_links(page, "writing-a-method.md", {}, missing)
    assert missing == []


def test_the_words_that_say_to_tests_what_a_block_is_are_not_for_readers() -> None:
    text = site.with_links(ROOT / "docs" / "trust.md", "trust.md", site.pages(), [])
    assert "```yaml\npreset: hemvip" in text
