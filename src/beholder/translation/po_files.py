"""Texts for translators and back: PO files, which Weblate, Poedit and others read, with the English beside each text.

Each plural form is an entry of its own (`key#few`), as the categories of CLDR are not those of gettext.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beholder.errors import Problem, UserError
from beholder.files import write_atomically
from beholder.translation.text_files import (
    PACKAGE,
    SOURCE,
    TextFile,
    below,
    is_unsaid,
    known_language,
    plural_categories,
    text_files,
    wanted_texts,
)
from beholder.words import UNREVIEWED, about

_HEADER = """# Beholder: texts for participants
msgid ""
msgstr ""
"Project-Id-Version: Beholder\\n"
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
"""Without the time at which it was made: the same texts make the same file."""


def write_translation(language: str, file: Path, *, only_missing: bool = False) -> Path:
    """Write every text, or those that a language lacks, as a PO file with the English beside it."""
    write_atomically(file, po_file(known_language(language), only_missing=only_missing))
    return file


def read_translation(file: Path, language: str, folder: Path | None = None) -> list[Path]:
    """Write the translated texts of a PO file beside the English; return the files."""
    return write_texts(known_language(language), read_po_file(file), folder or PACKAGE)


def po_file(language: str, *, only_missing: bool = False) -> bytes:
    """Return every text of ours, or what a language lacks, as a PO file with the English beside it."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import write_po

    catalog = Catalog()
    for file in text_files():
        own = file.texts(language)
        for key, english in wanted_texts(file.texts(SOURCE), language).items():
            if not (only_missing and own.get(key)):
                catalog.add(english, own.get(key, ""), context=f"{file.name}|{key}")
    text = io.BytesIO()
    write_po(text, catalog, width=0, omit_header=True)
    return _HEADER.format(language=language).encode("utf-8") + text.getvalue()


def read_po_file(path: Path) -> dict[str, dict[str, str]]:
    """Return the translated texts of a PO file by file and key; raise UserError where it is none of ours."""
    from babel.messages.pofile import PoFileError, read_po

    try:
        catalog = read_po(io.BytesIO(path.read_bytes()), abort_invalid=True)
    except (OSError, PoFileError, ValueError) as error:
        what = f"cannot be read as a PO file ({error})"
        raise UserError(Problem(str(path), what, "a file of `beholder words`")) from error
    names = {file.name for file in text_files()}
    texts: dict[str, dict[str, str]] = {}
    for message in catalog:
        name, _, key = (message.context or "").partition("|")
        if name in names and isinstance(message.string, str) and message.string:
            texts.setdefault(name, {})[key] = message.string
    if not texts:
        allowed = "entries with a context such as web/words/en.json|next, as `beholder words` writes them"
        raise UserError(Problem(str(path), "has no translated text of ours", allowed))
    return texts


def write_texts(language: str, texts: Mapping[str, Mapping[str, str]], folder: Path = PACKAGE) -> list[Path]:
    """Write texts beside the English in a folder that is laid out like the package; return the files.

    What a language has already and is not among the texts stays.
    """
    written = []
    for file in text_files():
        if file.name in texts:
            path = folder / file.path(language).relative_to(PACKAGE)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = _filled(file, language, {**file.texts(language), **texts[file.name]})
            write_atomically(path, text.encode("utf-8"))
            written.append(path)
    return written


def _filled(file: TextFile, language: str, texts: Mapping[str, str]) -> str:
    if file.english.suffix == ".md":
        return texts[""].strip() + "\n"
    english = json.loads(file.english.read_text("utf-8"))
    if file.is_about:
        terms = _translated(english["terms"], texts, plural_categories(language), "terms")
        told = {"written": UNREVIEWED, "reviews": [], "same": [], **about(language), "terms": terms}
        return json.dumps(told, ensure_ascii=False, indent=2) + "\n"
    if isinstance(english, dict) and "locale" in english:
        head = file.path(language)
        own = json.loads(head.read_text("utf-8")) if head.is_file() else {}
        english |= {"locale": own.get("locale", language), "direction": own.get("direction", "ltr")}
    return json.dumps(_translated(english, texts, plural_categories(language)), ensure_ascii=False, indent=2) + "\n"


def _translated(value: Any, texts: Mapping[str, str], categories: tuple[str, ...], key: str = "") -> Any:
    """Return a tree of words with the texts in place of the English; None for a text that there is not."""
    if isinstance(value, str):
        return texts.get(key)
    if isinstance(value, dict) and "other" in value:
        return {one: texts[f"{key}#{one}"] for one in categories if f"{key}#{one}" in texts} or None
    if isinstance(value, dict):
        inner = {
            name: one if is_unsaid(name, value) else _translated(one, texts, categories, below(key, name))
            for name, one in value.items()
        }
        return {name: one for name, one in inner.items() if one is not None}
    if isinstance(value, list):
        return [_translated(one, texts, categories, below(key, place)) for place, one in enumerate(value)]
    return value
