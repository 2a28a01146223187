"""Messages to read: a dark card with white words in the middle of an image, or a sentence inside a text."""

from __future__ import annotations

import html
import io
import itertools
import re
import unicodedata
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, StimuliError
from beholder.stimuli.copies import put_in_place
from beholder.stimuli.image import copy_image, measure_image
from beholder.stimuli.messages.message import Message
from beholder.stimuli.text import UNSPACED, measure_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image


_FONT = 'font-family="Liberation Sans, sans-serif" font-weight="700"'
"""What the renderer brings along: Latin, Greek and Cyrillic letters. For others it looks among the system's fonts."""
_SHARES = (0.36, 0.5, 0.7)
"""How much of the picture's height the card may take; more than the first only where letters would be too small."""
_READABLE = 11
"""Pixels of the smallest letters that are worth a small card."""
_WIDE, _LINE, _BESIDE, _ABOVE = 0.9, 1.22, 0.9, 0.6
"""Width of the card in widths of the picture; line height, and space beside and above the words, in letter sizes."""
_SPACE, _TIGHT = 0.28, 0.04
"""Between words, and after letters that may be broken anywhere: in letter sizes."""
_STOPS = (":", ".", "!", "?", "。", "：")
_ACCEPTED_LOSS = 0.85
_LINES = 6
_RULER = 32
"""Letter size in pixels at which words are measured."""
_UNASSIGNED = "\u0378"
"""No font has this letter: it shows how one that is missing looks."""
_UNDRAWABLE = frozenset(("Cc", "Cs", "Cn"))
_DARK, _EDGE, _WHITE = 24, 110, 255
_Pieces = Sequence[tuple[str, float]]
"""What may not be broken, with the space after it, and how long it is in letter sizes."""


@dataclass(frozen=True)
class MessageCard:
    """A card and where it stands, in pixels; every number is even, as chroma planes want it."""

    left: int
    top: int
    image: Image.Image

    @property
    def width(self) -> int:
        return self.image.width

    @property
    def height(self) -> int:
        return self.image.height


@dataclass(frozen=True)
class _Typeset:
    """Words in lines: the letter size in pixels, and the longest line in letter sizes."""

    lines: tuple[str, ...]
    size: float
    widest: float


def draw_card(
    words: str, width: int, height: int, where: str, *, pixel_aspect: float = 1.0, brightness: float = 1.0
) -> MessageCard:
    """Return the card for a picture of this size, whose pixels may be wider than high (`pixel_aspect`).

    `brightness` is the level of white where the brightest that a picture can be is too bright to read.
    """
    shown = width * pixel_aspect
    pieces = _measure_pieces(words, where)
    for share in _SHARES:
        text = _typeset(pieces, shown * _WIDE, height * share)
        if text.size >= _READABLE:
            break
    wide = min(shown, (text.widest + 2 * _BESIDE) * text.size)
    high = min(height, (len(text.lines) * _LINE + 2 * _ABOVE) * text.size)
    columns, lines = _even(wide / pixel_aspect, width), _even(high, height)
    image = _render(_card_svg(text, wide, high, columns, lines, brightness))
    return MessageCard(2 * ((width - columns) // 4), 2 * ((height - lines) // 4), image)


def _typeset(pieces: _Pieces, wide: float, high: float) -> _Typeset:
    """Return the words in lines that make them largest; what ends in a stop has its own lines if that costs little."""
    plain = _largest_typeset([pieces], wide, high)
    ends = (place for place, (text, _) in enumerate(pieces[:-1], 1) if text.rstrip().endswith(_STOPS))
    for place in ends:
        parted = _largest_typeset([pieces[:place], pieces[place:]], wide, high)
        if parted.size >= _ACCEPTED_LOSS * plain.size:
            return parted
    return plain


def _largest_typeset(groups: Sequence[_Pieces], wide: float, high: float) -> _Typeset:
    """Return groups of words, each in lines of its own, in as many lines as make them largest."""
    ways = [[_balanced_lines(group, count) for count in range(1, min(len(group), _LINES) + 1)] for group in groups]
    sets = []
    for chosen in itertools.product(*ways):
        lines = tuple(line for part, _ in chosen for line in part)
        widest = max(length for _, length in chosen)
        size = min(wide / (widest + 2 * _BESIDE), high / (len(lines) * _LINE + 2 * _ABOVE))
        sets.append(_Typeset(lines, size, widest))
    return max(sets, key=lambda one: one.size)


def _balanced_lines(pieces: _Pieces, count: int) -> tuple[tuple[str, ...], float]:
    """Return the words in at most `count` lines with the shortest longest line, and its length."""
    lengths = [length for _, length in pieces]
    spans = {
        round(sum(lengths[start:end]), 6) for start in range(len(pieces)) for end in range(start + 1, len(pieces) + 1)
    }
    for limit in sorted(spans):
        lines: list[str] = []
        room = -1.0
        for text, length in pieces:
            if length <= room + 1e-6:
                lines[-1] += text
                room -= length
            else:
                lines.append(text)
                room = limit - length
        if len(lines) <= count and max(lengths) <= limit + 1e-6:
            return tuple(line.strip() for line in lines), limit
    raise AssertionError("one line holds everything")


def _measure_pieces(words: str, where: str) -> _Pieces:
    """Return the words as they may be broken; letters that cannot be drawn are a problem."""
    import numpy as np

    pieces = re.findall(rf"{UNSPACED.pattern}\s*|(?:(?!{UNSPACED.pattern})\S)+\s*", words)
    if not pieces:
        raise StimuliError(Problem(where, "is to say nothing", "some words"))
    kinds = {letter: unicodedata.category(letter) for letter in words if not letter.isspace()}
    _refuse_letters(words, {letter for letter, kind in kinds.items() if kind in _UNDRAWABLE}, where)
    # Marks and joiners draw nothing by themselves.
    letters = [letter for letter, kind in kinds.items() if kind[0] in "LNPS"]
    ink = _render_rows([*(piece.strip() for piece in pieces), *letters, _UNASSIGNED])
    missing = ink[-1]
    drawn = zip(letters, ink[len(pieces) :], strict=False)
    _refuse_letters(words, {one for one, shape in drawn if not shape.any() or np.array_equal(shape, missing)}, where)
    measured = []
    for piece, shape in zip(pieces, ink, strict=False):
        columns = np.flatnonzero(shape.any(axis=0))
        length = (int(columns[-1]) + 1 - int(columns[0])) / _RULER if columns.size else 0.0
        measured.append((piece, length + (_SPACE if piece[-1].isspace() else _TIGHT)))
    return measured


def _render_rows(rows: Sequence[str]) -> NDArray[np.uint8]:
    """Return rows of letters as they are drawn: rows x lines x columns."""
    import numpy as np

    high, wide = 2 * _RULER, _RULER * (2 + 2 * max(len(row) for row in rows))
    texts = "".join(
        f'<text x="{_RULER}" y="{high * place + 1.4 * _RULER}">{html.escape(row)}</text>'
        for place, row in enumerate(rows)
    )
    image = _render(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high * len(rows)}">'
        f'<g {_FONT} font-size="{_RULER}">{texts}</g></svg>'
    )
    return np.asarray(image.getchannel("A")).reshape(len(rows), high, wide)


def _refuse_letters(words: str, unknown: Collection[str], where: str) -> None:
    if unknown:
        letters = " ".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in sorted(unknown))
        what = f"is to say {words!r}, and no font here has {letters}"
        fix = "Install a font that has it, as one of the Noto fonts, or use other words."
        raise StimuliError(Problem(where, what, fix=fix))


def _card_svg(text: _Typeset, wide: float, high: float, columns: int, lines: int, brightness: float) -> str:
    """Return the card as SVG: drawn with square pixels, stretched to the picture's own."""
    dark, edge, white = (f"#{3 * f'{round(level * brightness):02x}'}" for level in (_DARK, _EDGE, _WHITE))
    size, stroke = text.size, max(1.0, text.size / 22)
    first = high / 2 - (len(text.lines) - 1) / 2 * _LINE * size + 0.35 * size
    texts = "".join(
        f'<text x="{wide / 2:.3f}" y="{first + n * _LINE * size:.3f}">{html.escape(line)}</text>'
        for n, line in enumerate(text.lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns}" height="{lines}"'
        f' viewBox="0 0 {wide:.3f} {high:.3f}" preserveAspectRatio="none">'
        f'<rect x="{stroke / 2:.3f}" y="{stroke / 2:.3f}" width="{wide - stroke:.3f}" height="{high - stroke:.3f}"'
        f' rx="{0.55 * size:.3f}" fill="{dark}" stroke="{edge}" stroke-width="{stroke:.3f}"/>'
        f'<g {_FONT} font-size="{size:.3f}" fill="{white}" text-anchor="middle">{texts}</g></svg>'
    )


def _render(drawing: str) -> Image.Image:
    import vl_convert
    from PIL import Image

    return Image.open(io.BytesIO(vl_convert.svg_to_png(drawing, scale=1.0, ppi=72))).convert("RGBA")


def _even(value: float, most: int) -> int:
    """Return an even number of pixels, at least two where there is room."""
    return max(2, min(2 * round(value / 2), most - most % 2))


# Cards on images, sentences in texts

_SENTENCE_END = re.compile(r"(?:(?P<last>\w{2,})[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[」』”’）]*\s*)(?=(?P<next>\S))")
_ABBREVIATED = frozenset(("mr", "mrs", "ms", "dr", "prof", "st", "no", "nr", "vs", "ca", "fig", "bzw", "usw"))
_OPENING = "\"'“‘„«¿¡（「『"
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*(?=\S)")
_BLOCK_END = re.compile(r"</p>\s*(?=<p\b)", re.IGNORECASE)
_GAP = re.compile(r"(?<=\w)\s+(?=\w)")
_HTML_SKIPPED = re.compile(
    r"<!--.*?-->|<(head|script|style|title|template|pre|code|h[1-6]|table)\b.*?</\1\s*>|<[^>]*>",
    re.IGNORECASE | re.DOTALL,
)
"""Tags, and what stands between those that a sentence cannot be put into."""
_MARKDOWN_SKIPPED = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)|^(?:#|\||\t| {4}).*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
"""Code, headings and tables of Markdown."""
_MARKDOWN_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&])")


def draw_on_image(source: Path, target: Path, message: Message, where: str) -> None:
    """Write a picture with a card in its middle as PNG, whole or not at all."""
    from PIL import Image

    measured = measure_image(source, where)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        # The copy for participants is upright and in sRGB, so that the card is too.
        copy_image(source, part, measured, where)
        with Image.open(part) as copy:
            picture = copy.convert("RGBA")
            mode = "RGBA" if copy.has_transparency_data else "RGB"
        card = draw_card(message.words, *picture.size, where)
        picture.alpha_composite(card.image, (card.left, card.top))
        picture.convert(mode).save(part, "PNG")
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def insert_sentence(source: Path, target: Path, message: Message, where: str) -> None:
    """Write a text with a sentence more in its middle, in the format of the target's suffix, whole or not at all."""
    measure_text(source, where)
    format = {".htm": "html"}.get(target.suffix.lower(), target.suffix.lower().lstrip("."))
    text = source.read_text("utf-8-sig")
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        part.write_text(_with_sentence(text, message.words, format, where), "utf-8", newline="\n")
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def _with_sentence(text: str, words: str, kind: str, where: str) -> str:
    """Return the text with the words between two sentences, else two paragraphs, else two words of it."""
    said = _ESCAPE[kind](words)
    readable = _mask_unreadable(text, kind)
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


def _mask_unreadable(text: str, kind: str) -> str:
    """Return a text of the same length in which all that a sentence cannot stand in is hidden."""
    hidden = {"html": _HTML_SKIPPED, "md": _MARKDOWN_SKIPPED}.get(kind)
    return text if hidden is None else hidden.sub(lambda found: "\0" * len(found[0]), text)


def _middle(readable: str) -> int:
    """Return the place with as much to read before it as after it."""
    places = [place for place, letter in enumerate(readable) if letter != "\0" and not letter.isspace()]
    return places[len(places) // 2] if places else 0


def _is_break(match: re.Match[str]) -> bool:
    """Return whether a sentence ends here: what follows begins like one, and what is before is no short form."""
    parts = match.groupdict()
    following = parts.get("next")
    if following is None:
        return True
    starts = (following.isalpha() and not following.islower()) or following in _OPENING
    last = parts.get("last") or ""
    return starts and last.lower() not in _ABBREVIATED and not last.isdigit()


_ESCAPE: Mapping[str, Callable[[str], str]] = {
    "txt": str,
    "md": lambda words: _MARKDOWN_MARKS.sub(r"\\\1", words),
    "html": lambda words: html.escape(words, quote=False),
}
