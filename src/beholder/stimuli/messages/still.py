"""A card on a picture, and a sentence inside a text."""

from __future__ import annotations

import html
import re
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from beholder.errors import Problem, StimuliError
from beholder.stimuli.messages.card import draw_card
from beholder.stimuli.messages.message import Message
from beholder.stimuli.picture import copy_picture, measure_picture
from beholder.stimuli.prose import measure_prose
from beholder.stimuli.stripping import put_in_place

_SENTENCE_END = re.compile(r"(?:(?P<last>\w{2,})[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[」』”’）]*\s*)(?=(?P<next>\S))")
_ABBREVIATED = frozenset(("mr", "mrs", "ms", "dr", "prof", "st", "no", "nr", "vs", "ca", "fig", "bzw", "usw"))
_OPENING = "\"'“‘„«¿¡（「『"
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*(?=\S)")
_BLOCK_END = re.compile(r"</p>\s*(?=<p\b)", re.IGNORECASE)
_GAP = re.compile(r"(?<=\w)\s+(?=\w)")
_UNREAD = re.compile(
    r"<!--.*?-->|<(head|script|style|title|template|pre|code|h[1-6]|table)\b.*?</\1\s*>|<[^>]*>",
    re.IGNORECASE | re.DOTALL,
)
"""Tags, and what stands between those that a sentence cannot be put into."""
_UNBROKEN = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)|^(?:#|\||\t| {4}).*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
"""Code, headings and tables of Markdown."""
_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&])")


def put_on_picture(source: Path, target: Path, message: Message, where: str) -> None:
    """Write a picture with a card in its middle as PNG, whole or not at all."""
    from PIL import Image

    measured = measure_picture(source, where)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        # The copy for participants is upright and in sRGB, so that the card is too.
        copy_picture(source, part, measured, where)
        with Image.open(part) as copy:
            picture = copy.convert("RGBA")
            mode = "RGBA" if copy.has_transparency_data else "RGB"
        card = draw_card(message.words, *picture.size, where)
        picture.alpha_composite(card.image, (card.left, card.top))
        picture.convert(mode).save(part, "PNG")
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def put_sentence(source: Path, target: Path, message: Message, where: str) -> None:
    """Write a text with a sentence more in its middle, in the format of the target's suffix, whole or not at all."""
    measure_prose(source, where)
    kind = {".htm": "html"}.get(target.suffix.lower(), target.suffix.lower().lstrip("."))
    text = source.read_text("utf-8-sig")
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        part.write_text(_with_sentence(text, message.words, kind, where), "utf-8", newline="\n")
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def _with_sentence(text: str, words: str, kind: str, where: str) -> str:
    """Return the text with the words between two sentences, else two paragraphs, else two words of it."""
    said = _WRITTEN[kind](words)
    readable = _readable(text, kind)
    # Breaks between paragraphs are tags in HTML, and are not hidden.
    paragraphs = (text, _BLOCK_END, "<p>{}</p>\n") if kind == "html" else (readable, _PARAGRAPH_END, "{}\n\n")
    for seen, pattern, form in ((readable, _SENTENCE_END, "{} "), paragraphs, (readable, _GAP, "({}) ")):
        places = [found.end() for found in pattern.finditer(seen) if _is_break(found)]
        if places:
            middle = _middle(readable)
            place = min(places, key=lambda place: abs(place - middle))
            return text[:place] + form.format(said) + text[place:]
    what = "has no two words that a message could stand between"
    raise StimuliError(Problem(where, what, "a text of two sentences or more"))


def _readable(text: str, kind: str) -> str:
    """Return a text of the same length in which all that a sentence cannot stand in is hidden."""
    hidden = {"html": _UNREAD, "md": _UNBROKEN}.get(kind)
    return text if hidden is None else hidden.sub(lambda found: "\0" * len(found[0]), text)


def _middle(readable: str) -> int:
    """Return the place with as much to read before it as after it."""
    places = [place for place, letter in enumerate(readable) if letter != "\0" and not letter.isspace()]
    return places[len(places) // 2] if places else 0


def _is_break(found: re.Match[str]) -> bool:
    """Return whether a sentence ends here: what follows begins like one, and what is before is no short form."""
    parts = found.groupdict()
    following = parts.get("next")
    if following is None:
        return True
    starts = (following.isalpha() and not following.islower()) or following in _OPENING
    last = parts.get("last") or ""
    return starts and last.lower() not in _ABBREVIATED and not last.isdigit()


_WRITTEN: Mapping[str, Callable[[str], str]] = {
    "txt": str,
    "md": lambda words: _MARKS.sub(r"\\\1", words),
    "html": lambda words: html.escape(words, quote=False),
}
