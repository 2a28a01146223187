"""Our texts for participants (of the server, of rules, of checks with a page), with values as a language writes them.

A text is a string, or a form for each plural category of the language (Unicode CLDR), chosen by the number `n`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from importlib import resources
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from babel import Locale

Entry = str | Mapping[str, str]
"""A text, or its plural forms: `{"one": ..., "other": ...}`."""


@runtime_checkable
class Amount(Protocol):
    """A sum of money in hundredths of a currency."""

    @property
    def minor(self) -> int: ...
    @property
    def currency(self) -> str: ...


class LanguageWords(Mapping[str, str]):
    """Texts in one language, by key. `say` fills in values as the language writes them."""

    def __init__(self, language: str, entries: Mapping[str, Entry]) -> None:
        self.language = language
        self._entries = entries

    def __getitem__(self, key: str) -> str:
        entry = self._entries[key]
        return entry if isinstance(entry, str) else entry["other"]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def say(self, key: str, **values: object) -> str:
        """Return a text with its values filled in, in the plural form for the number `n` where it has forms."""
        entry = self._entries[key]
        if not isinstance(entry, str):
            n = values["n"]
            assert isinstance(n, int | float), n
            entry = entry.get(str(locale_of(self.language).plural_form(abs(n))), entry["other"])
        return _Filling(self).vformat(entry, (), values)

    def number(self, value: float) -> str:
        """Return a number as the language writes it, with up to three decimals."""
        from babel.numbers import format_decimal

        return format_decimal(value, locale=locale_of(self.language))

    def money(self, amount: Amount) -> str:
        """Return a sum of money as the language writes it, such as `£1.50` or `1,50 €`."""
        from babel.numbers import format_currency

        return format_currency(Decimal(amount.minor) / 100, amount.currency, locale=locale_of(self.language))

    def time(self, at: datetime) -> str:
        """Return a time of day as the language writes it, in the zone in which it is given."""
        from babel.dates import format_datetime

        zone = f"UTC{at:%z}".removesuffix("+0000")
        return f"{format_datetime(at, 'd MMMM y HH:mm', tzinfo=at.tzinfo, locale=locale_of(self.language))} {zone}"


class _Filling(Formatter):
    """Fills values into a text as its language writes them; `{value!r}` stays as it came."""

    def __init__(self, words: LanguageWords) -> None:
        self._words = words

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion is not None or isinstance(value, bool):
            return super().convert_field(value, conversion)
        if isinstance(value, Amount):
            return self._words.money(value)
        return self._words.number(value) if isinstance(value, int | float) else value


@cache
def locale_of(language: str) -> Locale:
    """Return how a language writes things; English where it is not known."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse("en_GB" if language == "en" else language, sep="-" if "-" in language else "_")
    except (UnknownLocaleError, ValueError):
        return Locale.parse("en_GB")


PACKAGE = Path(str(resources.files("beholder")))
ADDED = "BEHOLDER_WORDS"
"""The environment variable with a folder of more languages, laid out as the package, as `words --into` writes it."""


def word_file(file: Path) -> Path:
    """Return where a file of words of this package is: in the folder of more languages where it is there, else here."""
    added = os.environ.get(ADDED)
    if added and file.is_relative_to(PACKAGE):
        own = Path(added) / file.relative_to(PACKAGE)
        return own if own.exists() else file
    return file


@cache
def languages() -> tuple[str, ...]:
    """Return the languages in which our words are written."""
    folders = [PACKAGE / "web" / "words"]
    if added := os.environ.get(ADDED):
        folders.append(Path(added) / "web" / "words")
    # English is always there: every other language falls back to it.
    return tuple(sorted({"en", *(file.stem for folder in folders for file in folder.glob("*.json"))}))


@cache
def read_words(language: str) -> LanguageWords:
    """Return the texts of the server, in English where a language lacks one."""
    folder = PACKAGE / "web" / "words"
    entries = json.loads((folder / "en.json").read_text("utf-8"))["server"]
    own = word_file(folder / f"{language}.json")
    if own.is_file():
        entries |= json.loads(own.read_text("utf-8")).get("server", {})
    return LanguageWords(language, entries)


@cache
def direction_of(language: str) -> str:
    """Return in which direction a language is written: `ltr` or `rtl`."""
    return str(locale_of(language).text_direction)


@cache
def language_name(language: str) -> str:
    """Return the name of a language in itself, such as `Deutsch`, beginning with a capital where it has them."""
    locale = locale_of(language)
    name = (locale.get_display_name() if "-" in language else locale.get_language_name(language)) or language
    return name[:1].upper() + name[1:]


@cache
def english_name(language: str) -> str:
    """Return the English name of a language, such as `German`."""
    locale = locale_of(language)
    return str(locale.get_display_name("en") if "-" in language else locale.get_language_name("en"))


UNREVIEWED = "ours, unreviewed"
"""Where texts come from that we wrote without a native speaker."""


def about(language: str) -> Mapping[str, Any]:
    """Return what is known of our texts in a language: who wrote them, who has read them, terms, words kept as is."""
    file = word_file(PACKAGE / "translation" / "about" / f"{language}.json")
    known: Mapping[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return known


def provenance(language: str) -> str:
    """Return in words who wrote our texts in a language, and who has read them through."""
    known = about(language)
    reviews = known.get("reviews") or []
    by = "; ".join(f"read by {one['by']} ({one['at']})" for one in reviews)
    return f"{known.get('written', UNREVIEWED)}; {by}" if by else str(known.get("written", UNREVIEWED))


def check_words(language: str) -> Mapping[str, Mapping[str, str]]:
    """Return the texts of each rule, `words/<language>/<rule>.json`, in English where a language lacks one."""
    folder = PACKAGE / "web" / "words"
    texts: dict[str, dict[str, str]] = {}
    for name in dict.fromkeys(("en", language)):
        place = word_file(folder / name)
        for file in sorted(place.iterdir(), key=lambda file: file.name) if place.is_dir() else ():
            check = file.name.removesuffix(".json")
            texts[check] = {**texts.get(check, {}), **json.loads(file.read_text("utf-8"))}
    return texts


def folder_words(folder: Path, language: str) -> Mapping[str, str]:
    """Return the texts in a folder with a file for each language, in English where a language lacks one."""
    texts: dict[str, str] = {}
    for name in dict.fromkeys(("en", language)):
        file = word_file(folder / f"{name}.json")
        texts |= json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return texts


@cache
def read_items(folder: Path, language: str) -> Any:
    """Return what is in the file of a language in a folder of words, of English where there is none."""
    own = word_file(folder / f"{language}.json")
    return json.loads((own if own.is_file() else folder / "en.json").read_text("utf-8"))
