"""Pages of other tools, written in HTML, as the Markdown that our pages have: words, and nothing that runs.

Only what is listed survives. Scripts, styles, forms and frames go with all that is in them; an address of a medium is
returned, so that it can be told.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

_DROPPED = frozenset(
    {"script", "style", "iframe", "object", "embed", "form", "button", "select", "textarea", "head", "svg"}
)
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "center", "blockquote", "table", "tr", "ul", "ol", "header", "footer"}
)
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*"}
_MEDIA = frozenset({"audio", "video", "img", "source", "track"})
_VOID = frozenset({"img", "source", "track", "br", "hr", "input", "meta", "link", "embed"})
_SPECIAL = re.compile(r"([\\`*_\[\]<>#])")
_SAFE_LINK = re.compile(r"(?i)(https?://|mailto:)[^\s()<>]+$")


class PageText(NamedTuple):
    """A page in Markdown, the media that it had, and the elements that were left out."""

    text: str
    media: tuple[str, ...]
    dropped: tuple[str, ...]


def page_text(html: str) -> PageText:
    """Return a page of HTML, or of plain text, as Markdown."""
    reader = _Reader()
    reader.feed(html[:_MOST])
    reader.close()
    text = "".join(reader.parts)
    text = re.sub(r"[ \t]*\n[ \t]*", "\n", re.sub(r"[ \t]+", " ", text))
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return PageText(text, tuple(dict.fromkeys(reader.media)), tuple(dict.fromkeys(reader.dropped)))


_MOST = 200_000
"""Characters of a page: what follows is no page that anybody reads."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.media: list[str] = []
        self.dropped: list[str] = []
        self._hidden: list[str] = []
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._hidden or tag in _DROPPED:
            self.dropped.append(tag)
            if tag not in _VOID:
                self._hidden.append(tag)
            return
        values = dict(attrs)
        if tag in _MEDIA:
            if source := values.get("src"):
                self.media.append(source)
        elif tag == "br":
            self.parts.append("  \n")
        elif tag == "hr":
            self.parts.append("\n\n---\n\n")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in _MARKS:
            self.parts.append(_MARKS[tag])
        elif re.fullmatch(r"h[1-6]", tag):
            self.parts.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "a":
            self._links.append(values.get("href") or "")
            if _SAFE_LINK.match(self._links[-1]):
                self.parts.append("[")
        elif tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            if tag in self._hidden:
                del self._hidden[self._hidden.index(tag) :]
            return
        if tag in _MARKS:
            self.parts.append(_MARKS[tag])
        elif tag == "a" and self._links:
            link = self._links.pop()
            if _SAFE_LINK.match(link):
                self.parts.append(f"]({link})")
        elif tag in _BLOCKS or re.fullmatch(r"h[1-6]", tag):
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(_SPECIAL.sub(r"\\\1", re.sub(r"\s+", " ", data)))
