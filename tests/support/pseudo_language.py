"""Languages that nobody speaks, to look at pages with: texts 60 % longer, and texts from right to left.

They stand in a folder that is laid out like the package, under the codes of languages that we do not have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from beholder import words
from beholder.methods.aspects import read_aspects
from beholder.methods.likert.items import item_sets
from beholder.study import scale_labels
from beholder.translation.po_files import write_texts
from beholder.translation.text_files import SOURCE, text_files, wanted_texts

LONG, TURNED = "eo", "he"
"""Esperanto and Hebrew, which are none of ours."""
LONGER = 1.6
_KEPT = re.compile(r"(\{[^}]*\}|\*\*|`[^`]*`|; |\n|\[[^\]]*\]\([^)]*\))")
_ACCENTS = str.maketrans("aceghjlnorsuwyzACEGHIJLNORSUWYZ", "àćéĝĥĵłñöŕŝüŵÿžÀĆÉĜĤÍĴŁÑÖŔŜÜŴŸŽ")
_LETTERS = "אבגדהוזחטיכלמנסעפצקרשת"
_CACHES = (
    words.languages, words.read_words, words.read_items, words.direction_of, words.language_name, words.english_name,
    scale_labels._file, scale_labels.labels_in, item_sets, read_aspects,
)  # fmt: skip


def longer(text: str) -> str:
    """Return a text with accents, and 60 % longer by one word at its end."""
    plain = "".join(_KEPT.split(text)[::2])
    more = round(len(plain.strip()) * (LONGER - 1))
    said = "".join(part if number % 2 else part.translate(_ACCENTS) for number, part in enumerate(_KEPT.split(text)))
    if more < 1 or not any(map(str.isalpha, plain)):
        return said
    body = said.rstrip(" .…?!:")
    return body + " " + _filler(more - 1) + said[len(body) :] if more > 1 else body + "ñ" + said[len(body) :]


def _filler(length: int) -> str:
    """Return words of seven letters, as many letters as are asked for."""
    return " ".join("ñöŕŝüéà"[: min(7, length - start)] for start in range(0, length, 8))[:length].strip() or "ñ"


def turned(text: str) -> str:
    """Return a text in letters that are written from right to left."""
    parts = _KEPT.split(text)
    return "".join(part if number % 2 else "".join(map(_letter, part)) for number, part in enumerate(parts))


def _letter(letter: str) -> str:
    return _LETTERS[ord(letter.lower()) % len(_LETTERS)] if letter.isascii() and letter.isalpha() else letter


def write_pseudo_languages(folder: Path) -> Path:
    """Write all our texts in both languages to a folder, for the variable BEHOLDER_WORDS."""
    for code, change in ((LONG, longer), (TURNED, turned)):
        texts = {file.name: _changed(file.texts(SOURCE), code, change) for file in text_files()}
        write_texts(code, texts, folder)
        head = folder / "web" / "words" / f"{code}.json"
        direction = "rtl" if code == TURNED else "ltr"
        read = json.loads(head.read_text("utf-8"))
        head.write_text(json.dumps({**read, "direction": direction}, ensure_ascii=False), "utf-8")
        bank = folder / "checks" / "language" / "bank" / f"{code}.json"
        bank.parent.mkdir(parents=True, exist_ok=True)
        items = [{"text": change(f"{number} ___"), "options": [change(f"{one} word {number}") for one in "abcd"]}
                 for number in range(24)]  # fmt: skip
        bank.write_text(json.dumps({"source": "ours, unreviewed", "items": items}, ensure_ascii=False), "utf-8")
    return folder


def _changed(english: dict[str, str], code: str, change: Callable[[str], str]) -> dict[str, str]:
    return {key: change(text) for key, text in wanted_texts(english, code).items()}


@contextmanager
def pseudo_languages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have both languages in this process."""
    monkeypatch.setenv(words.ADDED, str(folder))
    _forget()
    try:
        yield
    finally:
        monkeypatch.delenv(words.ADDED)
        _forget()


def _forget() -> None:
    for cached in _CACHES:
        getattr(cached, "cache_clear", lambda: None)()
