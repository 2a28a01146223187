"""Our texts for participants."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

import beholder
from beholder.checks.page_contract import PageCheck
from beholder.checks.page_registry import check_texts, page_check_kinds
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


PACKAGE = Path(beholder.__file__).parent


MAKES_ONE = re.compile(r"Refused|refuse\(")
"""What stands in the few modules that refuse something; the syntax of all modules would take seconds."""


@cache
def refusals(folder: Path) -> list[tuple[str, ast.expr]]:
    """Return every refusal that the package makes: `Refused`, `because`, `refuse` or that of a check, and its text."""
    found = []
    for text in filter(MAKES_ONE.search, (path.read_text("utf-8") for path in folder.rglob("*.py"))):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
                place = {"Refused": 0, "Refused.because": 0, "refuse": 1, "self.refuse": 1}.get(name)
                if place is not None and len(node.args) > place:
                    found.append((name, node.args[place]))
    return found


def words_said(folder: Path, *names: str) -> set[str]:
    """Return the words of refusals that are made by one of these names."""
    texts = [text for name, text in refusals(folder) if name in names and isinstance(text, ast.Constant)]
    return {f"refused.{ast.literal_eval(text)}" for text in texts}


def refused_words(words: Mapping[str, str]) -> set[str]:
    return {key for key in words if key.startswith("refused.")}


def test_no_refusal_has_its_text_in_the_code() -> None:
    texts = [text for name, text in refusals(PACKAGE) if name == "Refused"]
    assert len(texts) > 10
    assert not [ast.unparse(text) for text in texts if isinstance(text, ast.Constant | ast.JoinedStr)]


def test_every_word_of_a_refusal_is_there_and_used() -> None:
    assert words_said(PACKAGE, "Refused.because", "refuse") == refused_words(read_words("en"))


@pytest.mark.parametrize("name", page_check_kinds())
def test_every_word_of_a_refusal_that_one_check_makes_is_with_the_check(name: str) -> None:
    kind = page_check_kinds()[name]
    shared = refused_words(read_words("en"))
    parents = [one for one in kind.__mro__ if issubclass(one, PageCheck)]
    own = {word for one in parents for word in refused_words(one.texts("en"))}
    assert words_said(kind.home(), "self.refuse") - shared == own
    assert not shared & own
