"""Texts: UTF-8 of a plain, Markdown or HTML file, served as safe HTML that leads nowhere."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from pathlib import Path

from beholder.stimuli.catalogue import Probe
from beholder.stimuli.streams import Measurement, read_error
from beholder.study.markdown import markdown

RECIPE = ("prose", "2")
"""A new number where the same file would become another text."""

_ALLOWED_TAGS = frozenset((
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "em",
    "strong", "b", "i", "u", "s", "sub", "sup", "code", "pre", "blockquote", "br", "hr", "div", "q", "cite", "dl", "dt",
    "dd",
))  # fmt: skip
_REMOVED_TAGS = frozenset(
    ("script", "style", "title", "template", "noscript", "iframe", "svg", "math", "object", "select")
)
UNSPACED = re.compile(
    "[\u0e01-\u0e2e\u0e81-\u0eae\u1000-\u102a\u1780-\u17b3\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f]"
)
"""Letters of scripts that put no space between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
_MOST_BYTES = 1_000_000
"""Nobody rates a longer text, and what makes HTML of Markdown takes its time on one that was made for that."""
_LETTERS_A_WORD = 2


def measure_text(path: Path, where: str) -> Measurement:
    """Return what a text holds: the words that people will read."""
    html_text = _safe_html(path, where)
    visible = visible_text(html_text)
    # Spaces, marks without width and control characters are all that Unicode files under Z and C.
    if all(unicodedata.category(letter)[0] in "ZC" for letter in visible):
        raise read_error(where, "text", "there is nothing to read in it", "Write the text, or take it out.")
    kind = path.suffix.lower().lstrip(".")
    return Measurement(
        Probe(
            bytes=path.stat().st_size,
            container={"htm": "html"}.get(kind, kind),
            duration_ms=0,
            width=0,
            height=0,
            fps=0.0,
            codec="",
            audio_codec="",
            channels=0,
            words=words_in(visible),
        )
    )


def copy_text(path: Path, part: Path, measured: Measurement, where: str) -> None:
    """Write a text as safe HTML."""
    part.write_bytes(_safe_html(path, where).encode())


def words_in(text: str) -> int:
    """Return how many words a text has; two letters count as one where a script puts no spaces between words."""
    words, letters = 0, 0
    for run in text.split():
        unspaced = UNSPACED.findall(run)
        letters += len(unspaced)
        rest = UNSPACED.sub("", run) if unspaced else run
        words += any(letter.isalnum() for letter in rest)
    return max(1, words + math.ceil(letters / _LETTERS_A_WORD))


def _safe_html(path: Path, where: str) -> str:
    """Return the text as HTML without scripts, pictures, links and styles."""
    import nh3

    if path.stat().st_size > _MOST_BYTES:
        raise read_error(where, "text", f"it has more than {_MOST_BYTES} bytes", "Take a part of it.")
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise read_error(where, "text", "it is not UTF-8", "Save it as UTF-8.") from None
    if "\0" in text:
        raise read_error(where, "text", "it holds bytes that are no text")
    suffix = path.suffix.lower()
    if suffix == ".md":
        text = markdown(text)
    elif suffix == ".txt":
        text = _paragraphs(text)
    return nh3.clean(
        text,
        tags=set(_ALLOWED_TAGS),
        clean_content_tags=set(_REMOVED_TAGS),
        attributes={"*": set(), "ol": {"start"}},
        strip_comments=True,
    ).strip()


def _paragraphs(text: str) -> str:
    """Return plain text as HTML: a blank line ends a paragraph, and lines end where they end.

    A paragraph that an editor wrapped flows: its line ends say how wide a window was, and would be ragged on a phone.
    """
    blocks = [block.strip("\n") for block in re.split(r"\n[ \t]*\n", text.strip())]
    return "".join(
        f"<p>{html.escape(block, quote=False).replace(chr(10), ' ' if _is_wrapped(block) else '<br>')}</p>"
        for block in blocks
        if block.strip()
    )


_NARROWEST_WRAP = 50
"""Of what an editor wraps; verses and addresses have shorter lines."""


def _is_wrapped(block: str) -> bool:
    """Return whether every line of a paragraph ends because the next word had no room."""
    lines = [line.strip() for line in block.split("\n")]
    width = max(map(len, lines))
    words = [line.partition(" ")[0] for line in lines[1:]]
    return width >= _NARROWEST_WRAP and all(
        len(line) + 1 + len(word) > width for line, word in zip(lines, words, strict=False)
    )


def visible_text(safe: str) -> str:
    """Return what people read of safe HTML."""
    apart = re.sub(r"<(?!/?(?:em|strong|b|i|u|s|sub|sup|code|q|cite)\b)[^>]*>", " ", safe)
    return html.unescape(re.sub(r"<[^>]*>", "", apart))
