"""Our texts for participants."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import beholder
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


# Refusals, which participants read in a banner or in place of a page


def refusals() -> Iterator[tuple[str, ast.expr]]:
    """Yield every refusal that the package makes: `Refused`, `because` or `refuse`, and its text or word."""
    for path in Path(beholder.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
                place = {"Refused": 0, "Refused.because": 0, "refuse": 1}.get(name)
                if place is not None and len(node.args) > place:
                    yield name.rpartition(".")[2], node.args[place]


def test_no_refusal_has_its_text_in_the_code() -> None:
    texts = [text for name, text in refusals() if name == "Refused"]
    assert len(texts) > 10
    assert not [ast.unparse(text) for text in texts if isinstance(text, ast.Constant | ast.JoinedStr)]


def test_every_word_of_a_refusal_is_there_and_used() -> None:
    written = [text for name, text in refusals() if name != "Refused" and isinstance(text, ast.Constant)]
    words = {ast.literal_eval(text) for text in written}
    assert {f"refused.{word}" for word in words} == {key for key in read_words("en") if key.startswith("refused.")}
