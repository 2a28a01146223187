"""Our texts for participants."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from pathlib import Path

import pytest

import beholder
from beholder.checks.page_contract import PageCheck
from beholder.checks.page_registry import check_texts, page_check_kinds
from beholder.study.recruitment import Sum
from beholder.words import LanguageWords, check_words, folder_words, read_words


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
    # The desk is for researchers, and what it refuses is in their language.
    paths = (path for path in folder.rglob("*.py") if "desk" not in path.relative_to(folder).parts)
    for text in filter(MAKES_ONE.search, (path.read_text("utf-8") for path in paths)):
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
    homes = {one.home() for one in parents if (one.home() / one.page).is_file()}
    said = {word for home in homes for word in words_said(home, "self.refuse")}
    assert said - shared == own
    assert not shared & own


# One way of saying things


def all_words(value: object) -> list[str]:
    """Return every text in a tree of words."""
    if isinstance(value, str):
        return [value]
    return [text for one in (value.values() if isinstance(value, Mapping) else ()) for text in all_words(one)]


def test_the_words_are_those_that_people_say() -> None:
    folder = Path(beholder.__file__).parent
    files = [*folder.glob("web/words/**/*.json"), *folder.glob("checks/*/words/**/*.json")]
    assert len(files) > 15
    odd = re.compile(r"\b[Gg]o on\b|goes on by itself|leave this out|mean nothing|Thank you\..*Thank you", re.DOTALL)
    texts = {path: all_words(json.loads(path.read_text("utf-8"))) for path in files}
    assert [(path.name, text) for path, found in texts.items() for text in found if odd.search(text)] == []


def test_a_page_thanks_once() -> None:
    own = json.loads((Path(beholder.__file__).parent / "web/words/en.json").read_text("utf-8"))
    ends = {"completed": "thanks", "screened_out": "screened_out", "failed_checks": "failed_checks"}
    for outcome, text in ends.items():
        page = own[f"end.{outcome}"] + own["server"][f"text_{text}"]
        assert page.count("Thank you") == 1, outcome
    for closed in ("finished", "earlier_run", "excluded"):
        assert (own[f"closed.{closed}"] + own["server"][closed]).count("Thank you") == 1, closed
    for rule, words in check_texts("en").items():
        title = own["end.failed_checks" if rule in check_words("en") else "end.screened_out"]
        assert "out" not in words or (title + words["out"]).count("Thank you") == 1, rule


# Values as a language writes them


def words_in(language: str, **entries: str | Mapping[str, str]) -> LanguageWords:
    return LanguageWords(language, entries)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ["1 page", "2 pages", "5 pages", "1,200 pages"]),
        ("pl", ["1 strona", "2 strony", "5 stron", "1200 stron"]),
        ("ja", ["1ページ", "2ページ", "5ページ", "1,200ページ"]),
    ],
)
def test_a_text_has_the_plural_form_of_its_language(language: str, said: list[str]) -> None:
    pages = {
        "en": {"one": "{n} page", "other": "{n} pages"},
        "pl": {"one": "{n} strona", "few": "{n} strony", "many": "{n} stron", "other": "{n} strony"},
        "ja": {"other": "{n}ページ"},
    }
    words = words_in(language, pages=pages[language])
    # A narrow space between thousands may differ between editions of the data.
    assert [re.sub(r"\s(?=\d{3})", "", words.say("pages", n=n)) for n in (1, 2, 5, 1200)] == said


def test_numbers_money_and_times_are_written_as_the_language_does() -> None:
    reward, at = Sum(250, "EUR"), datetime(2027, 1, 31, 9, 0, tzinfo=UTC)
    for language, number, money, time in (
        ("en", "1.5", "€2.50", "31 January 2027 09:00 UTC"),
        ("de", "1,5", "2,50 €", "31 Januar 2027 09:00 UTC"),
    ):
        words = words_in(language, all="{n} {sum} {word} {n!r}")
        assert words.say("all", n=1.5, sum=reward, word="x").replace("\xa0", " ") == f"{number} {money} x 1.5"
        assert words.time(at) == time
    east = at.astimezone(timezone(timedelta(hours=2)))
    assert words_in("en").time(east) == "31 January 2027 11:00 UTC+0200"


def test_a_language_that_nobody_knows_is_written_as_english() -> None:
    assert words_in("xx", all="{n}").say("all", n=1234) == "1,234"


# No text without a use

_HOLE = re.compile(r"\$?\{[^{}]*(?:\}|$)")
_TEMPLATES = {
    "py": re.compile(r"\bf\"([^\"\s{]*(?:\{[^{}\"]*\}[^\"\s{]*)+)\""),
    "js": re.compile(r"`([^`\s]*\$\{[^`]*)`"),
}
"""Texts that are put together from parts: of one word, as keys are."""
_LEAST = 4
"""A template has so many characters outside of its holes, else it would fit any key."""


def used_among(keys: Iterable[str], code: Mapping[str, str]) -> set[str]:
    """Return the keys that stand in code as they are, or that fit a text which it puts together; `code` by ending."""
    whole = "\n".join(code.values())
    parts = [_HOLE.split(text) for ending, one in _TEMPLATES.items() for text in one.findall(code.get(ending, ""))]
    fits = [re.compile(".*".join(map(re.escape, some))) for some in parts if len("".join(some)) >= _LEAST]
    return {
        key
        for key in keys
        if any(f"{quote}{key}{quote}" in whole for quote in "\"'`") or any(one.fullmatch(key) for one in fits)
    }


def test_no_text_of_pages_and_server_is_without_a_use() -> None:
    english = json.loads((PACKAGE / "web" / "words" / "en.json").read_text("utf-8"))
    keys = english.keys() - {"server", "locale", "direction"} | english["server"].keys()
    keys = {key for key in keys if not key.startswith("refused.")}  # of which there is a test of their own
    code = {
        ending: "\n".join(path.read_text("utf-8") for path in sorted(PACKAGE.rglob(f"*.{ending}")))
        for ending in ("py", "js")
    }
    assert keys - used_among(keys, code) == set()
    assert used_among(["view.top", "view.side", "off"], {"py": 'say(f"view.{place}")', "js": ""}) == {
        "view.top",
        "view.side",
    }
    assert used_among(["on.top", "top"], {"py": 'f"{place}"', "js": "say('top')"}) == {"top"}
