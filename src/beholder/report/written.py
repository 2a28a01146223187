"""What people wrote: free answers, reasons and comments, listed as they were written and without whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from beholder.clean.masks import Masks
from beholder.report.asked import people_words
from beholder.report.markup import Markup, render, tag
from beholder.report.material import Material
from beholder.report.words import count

FOOT = (
    "As written, in the order in which people came, without whose they are; [e-mail] and [id] stand for addresses and "
    "ids. People can name themselves or others in what they write: look through these texts before you hand this page "
    "on. No file beside it holds them."
)
_FORMULA = tuple(f"'{sign}" for sign in "=+-@\t\r\n")
"""How a text begins that got an apostrophe for spreadsheets (clean/tables.py)."""


class _Text(NamedTuple):
    words: str
    about: str
    is_used: bool


def written(material: Material) -> Markup | None:
    """Return every text under what was asked, to be opened; None where nobody wrote anything."""
    lists = [_list(title, texts, people_words(material)) for title, texts in _all(material).items() if texts]
    return render(lists) if lists else None


def _all(material: Material) -> dict[str, list[_Text]]:
    """Return the texts by what they answer."""
    found: dict[str, list[_Text]] = {}
    people = material.clean("participants")
    for ask in (*material.study.before, *material.study.after):
        if ask.type == "text" and f"answer_{ask.id}" in people.columns:
            cells = zip(people[f"answer_{ask.id}"], people["use"] == "true", strict=True)
            found[ask.text] = [_Text(_plain(cell), "", bool(used)) for cell, used in cells if cell.strip()]
    comments, sessions = material.clean("comments"), material.clean("sessions")
    if comments.empty or sessions.empty:
        return found
    used = set(sessions.loc[sessions["use"] == "true", "session"])
    asked = {part.id: part.name for part in material.parts}
    columns = (comments[name] for name in ("kind", "question", "content", "text", "session"))
    for kind, question, content, text, session in zip(*columns, strict=True):
        title = f"Reasons: {asked.get(question, question)}" if kind == "reason" else "Comments on the stimuli"
        if text.strip():
            found.setdefault(title, []).append(_Text(_plain(text), content, session in used))
    return found


def _list(title: str, texts: Sequence[_Text], people: tuple[str, str]) -> Markup:
    others = [text for text in texts if not text.is_used]
    mine = [text for text in texts if text.is_used]
    not_used = f", {len(others):,} of them of {people[1]} who are not used" if others else ""
    head = tag("summary", tag("span", title, dir="auto"), " ", tag("b", f"{count(len(texts), 'text')}{not_used}"))
    below = [tag("p", "Not used", class_="written__head"), _items(others)] if others else None
    return tag("details", head, _items(mine) if mine else None, below, class_="written")


def _items(texts: Sequence[_Text]) -> Markup:
    items = [
        tag("li", tag("span", text.words, dir="auto"), tag("small", text.about, dir="auto") if text.about else None)
        for text in texts
    ]
    return tag("ul", items)


def _plain(cell: str) -> str:
    """Return a text as it was written: without the apostrophe for spreadsheets, and without what cannot be shown.

    Addresses and ids are marked, as the page is handed on.
    """
    text = Masks().text(cell[1:] if cell.startswith(_FORMULA) else cell)
    return "".join(sign if sign.isprintable() or sign in "\n\t" or not sign.isascii() else "\ufffd" for sign in text)
