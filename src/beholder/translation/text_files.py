"""Every text of ours that a participant can meet, by its file and key, and what is wrong with a translation of it.

English is the source. Its files lie where they are used, beside a check, a method or the pages, and each translation
lies beside them under the code of its language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import beholder
from beholder.errors import Problem, UserError
from beholder.words import about, languages, locale_of, provenance, word_file

PACKAGE = Path(beholder.__file__).parent
ABOUT = PACKAGE / "translation" / "about"
BANK = PACKAGE / "checks" / "language" / "bank"
SOURCE = "en"
NOT_SAID = frozenset(
    {"id", "scale", "published", "about", "keyed", "source", "locale", "direction", "shows_driving_video"}
)
"""Keys in files of words whose values no participant reads."""
_OF_TABLES = frozenset({"label", "turned"})
"""Keys of items that only tables and figures show, which are in one language."""
_PLACEHOLDER = re.compile(r"\{(\w+)(?:![rs])?(?::[^}]*)?\}")
_SAME = re.compile(r"[\W\d_]*|.{1,3}", re.DOTALL)
"""What may well be the same in another language: a sign, a letter, a name of a key."""
_WORD = re.compile(r"[^\W\d_]+")
_NAMES = frozenset(re.findall(r"\w+", "windows macos linux chromeos android iphone ipad ctrl mbit mb min s x"))
"""Names and units that languages share."""
_ITEMS = 20
"""How many items a language check draws from, at least."""


@dataclass(frozen=True)
class TextFile:
    """A file with texts, in English and where its translations lie."""

    english: Path

    def path(self, language: str) -> Path:
        """Return the file in a language."""
        if self.english.suffix == ".md":
            folder = self.english.parent
            return self.english if language == SOURCE else folder / language / self.english.name
        if self.english.parent.name == SOURCE:
            return self.english.parent.parent / language / self.english.name
        return self.english.with_name(f"{language}.json")

    @property
    def name(self) -> str:
        """Where it is in the package."""
        return self.english.relative_to(PACKAGE).as_posix()

    def texts(self, language: str) -> dict[str, str]:
        """Return every text of the file by its key; a plural form has the key of the text, `#` and its category."""
        path = word_file(self.path(language))
        if not path.is_file():
            return {}
        if path.suffix == ".md":
            return {"": path.read_text("utf-8").strip()}
        written = json.loads(path.read_text("utf-8"))
        return dict(_leaves(written["terms"], "terms") if self.is_about else _leaves(written))

    @property
    def is_about(self) -> bool:
        """Whether it tells about a language: who wrote the texts, who has read them, and the terms that they use."""
        return self.english.parent == ABOUT


@dataclass(frozen=True)
class TranslationFault:
    """What is wrong with a text in another language."""

    file: str
    key: str
    what: str

    def __str__(self) -> str:
        return f"{self.file} {self.key}: {self.what}" if self.key else f"{self.file}: {self.what}"


@cache
def text_files() -> tuple[TextFile, ...]:
    """Return every file with texts for participants."""
    words = sorted(PACKAGE.glob("web/words/en.json")) + sorted(PACKAGE.glob("web/words/en/*.json"))
    words += sorted(PACKAGE.glob("study/labels/en.json"))
    words += sorted(PACKAGE.glob("checks/*/words/**/en.json")) + sorted(PACKAGE.glob("methods/**/words/**/en.json"))
    texts = sorted(path for path in PACKAGE.glob("methods/**/texts/*.md") if path.parent.name == "texts")
    return tuple(TextFile(path) for path in (*words, *texts, ABOUT / "en.json"))


def faults(language: str) -> Iterator[TranslationFault]:
    """Yield what is wrong with our texts in a language: missing, not asked for, or not fitting the English."""
    yield from text_faults(language)
    yield from bank_faults(language)


def text_faults(language: str) -> Iterator[TranslationFault]:
    """Yield what is wrong with the translations of our texts, key by key."""
    same = same_words(language)
    for file in text_files():
        english, own = file.texts(SOURCE), file.texts(language)
        wanted = wanted_texts(english, language)
        for key in sorted(wanted.keys() - own.keys()):
            yield TranslationFault(file.name, key, f"is missing: {wanted[key]}")
        for key in sorted(own.keys() - wanted.keys()):
            yield TranslationFault(file.name, key, "is not in English")
        for key in sorted(own.keys() & wanted.keys()):
            for what in _text_faults(wanted[key], own[key], key.rpartition("#")[2] if "#" in key else "", same):
                yield TranslationFault(file.name, key, what)


def same_words(language: str) -> frozenset[str]:
    """Return the words that are the same in a language as in English, in lower case."""
    return _NAMES | {word.casefold() for text in about(language).get("same", ()) for word in _WORD.findall(text)}


def bank_faults(language: str) -> Iterator[TranslationFault]:
    """Yield what is wrong with the items of the language check, which are no translations of each other."""
    file = word_file(BANK / f"{language}.json")
    name = file.relative_to(PACKAGE).as_posix() if file.is_relative_to(PACKAGE) else file.name
    if not file.is_file():
        yield TranslationFault(name, "", f"is missing: {_ITEMS} sentences or more with a gap")
        return
    bank = json.loads(file.read_text("utf-8"))
    known = () if language == SOURCE else json.loads((BANK / f"{SOURCE}.json").read_text("utf-8"))["items"]
    english = {item["text"] for item in known}
    if not bank.get("source"):
        yield TranslationFault(name, "source", "is missing: who wrote the items")
    if len(bank["items"]) < _ITEMS:
        yield TranslationFault(name, "items", f"are {len(bank['items'])}, fewer than {_ITEMS}")
    for place, item in enumerate(bank["items"]):
        options = item["options"]
        if item["text"].count("___") != 1:
            yield TranslationFault(name, f"items/{place}/text", "has not one gap, written ___")
        if len(options) != 4 or len(set(options)) != 4 or not all(option.strip() for option in options):
            yield TranslationFault(name, f"items/{place}/options", "are not four different words")
        if item["text"] in english:
            yield TranslationFault(name, f"items/{place}/text", "is still English")


def language_table() -> list[dict[str, object]]:
    """Return a row for each language with texts of ours: its name, how many there are, and how many need a look."""
    rows: list[dict[str, object]] = []
    for code in languages():
        wanted = sum(len(wanted_texts(file.texts(SOURCE), code)) for file in text_files())
        found = 0 if code == SOURCE else len(list(faults(code)))
        rows.append({
            "language": code, "name": str(locale_of(code).english_name), "texts": wanted, "to look at": found,
            "written by": "us, the source" if code == SOURCE else provenance(code),
        })  # fmt: skip
    return rows


def known_language(language: str) -> str:
    """Return the code of a language that is not English; raise UserError where there is none of this code."""
    from babel.localedata import exists

    if language == SOURCE or not exists(language.replace("-", "_")):
        what = "is English, from which the others are made" if language == SOURCE else f"is {language}, and is none"
        raise UserError(Problem("--language", what, "the code of another language, such as de, pt-BR or ar"))
    return language


def plural_categories(language: str) -> tuple[str, ...]:
    """Return the plural categories of a language for whole numbers up to a thousand, `other` last (CLDR)."""
    rule = locale_of(language).plural_form
    met = {str(rule(number)) for number in range(1001)}
    return tuple(name for name in ("zero", "one", "two", "few", "many", "other") if name in met | {"other"})


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if value:  # a kind of device that needs no line has an empty one
            yield key, value
    elif isinstance(value, Mapping) and "other" in value and all(isinstance(one, str) for one in value.values()):
        yield from ((f"{key}#{category}", text) for category, text in value.items())
    elif isinstance(value, Mapping):
        for name, one in value.items():
            if not is_unsaid(name, value):
                yield from _leaves(one, below(key, name))
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from _leaves(one, below(key, place))


def is_unsaid(name: str, among: Mapping[str, Any]) -> bool:
    """Return whether a key holds what no participant reads: settings, and of an item its names in tables."""
    return name in NOT_SAID or ("id" in among and name in _OF_TABLES)


def below(key: str, part: str | int) -> str:
    """Return the key of a part of what has this key."""
    return f"{key}/{part}" if key else str(part)


def wanted_texts(english: Mapping[str, str], language: str) -> dict[str, str]:
    """Return the keys that a translation of a file needs, with the English of each."""
    categories = plural_categories(language)
    wanted: dict[str, str] = {}
    for key, text in english.items():
        name, _, category = key.rpartition("#")
        if not name:
            wanted[key] = text
        elif category == "other":
            wanted |= {f"{name}#{one}": english.get(f"{name}#{one}", text) for one in categories}
    return wanted


def _text_faults(english: str, own: str, category: str, same: frozenset[str]) -> Iterator[str]:
    if not own.strip():
        yield "is empty"
        return
    needed, given = set(_PLACEHOLDER.findall(english)), set(_PLACEHOLDER.findall(own))
    # A form for exactly one or two may say the number in a word.
    if (given - needed - {"n"}) or (needed - given - ({"n"} if category in ("zero", "one", "two") else set())):
        yield f"has {_placeholders(given)}, and the English has {_placeholders(needed)}"
    if own.count("**") != english.count("**"):
        yield "has other marks of bold type than the English"
    if own.count("; ") != english.count("; ") and english.count("; ") > 1:
        yield "has another number of labels than the English"
    plain = _PLACEHOLDER.sub("", english)
    if own == english and not _SAME.fullmatch(plain) and {word.casefold() for word in _WORD.findall(plain)} - same:
        yield "is still English"


def _placeholders(names: set[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "no values"
