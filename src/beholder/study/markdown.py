"""Markdown of the researcher: pages as safe HTML, single words as a small tree that the page builds, and plain text.

Pages (consent, instructions, questions of a questionnaire) are CommonMark. Words within a page of ours (questions,
statements, labels, options, captions) know only **bold**, *italic* and `code`, as they stand in headings, labels and
buttons. Tables, figures, LaTeX and labels for screen readers have the plain text of either.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from beholder.types import Json

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

_TAGS = frozenset((
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "em",
    "strong", "s", "code", "pre", "blockquote", "a", "br", "hr",
))  # fmt: skip
_SCHEMES = {"http", "https", "mailto"}


# Pages


@lru_cache(maxsize=1024)
def markdown(text: str) -> str:
    """Return safe HTML of a Markdown text: no raw HTML, no images, only links to the web and to mail."""
    import nh3
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
    reader.add_render_rule("html_inline", _nothing)
    reader.add_render_rule("html_block", _words_only)
    reader.add_render_rule("image", _nothing)
    return nh3.clean(
        reader.render(text),
        tags=set(_TAGS),
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        attribute_filter=_keep,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    ).strip()


@lru_cache(maxsize=1024)
def plain_page(text: str) -> str:
    """Return the words of a Markdown text on one line, without its marks and without where its links lead."""
    import nh3

    return " ".join(html.unescape(nh3.clean(markdown(text), tags=set())).split())


def _keep(tag: str, attribute: str, value: str) -> str | None:
    """Return an attribute to keep; None for a link into our own server."""
    if attribute == "href" and value.split(":", 1)[0].lower() not in _SCHEMES:
        return None
    return value


def _nothing(renderer: Any, tokens: Sequence[Any], index: int, options: Any, env: Mapping[str, Any]) -> str:
    return ""


def _words_only(renderer: Any, tokens: Sequence[Any], index: int, options: Any, env: Mapping[str, Any]) -> str:
    import nh3

    words = nh3.clean(tokens[index].content, tags=set()).strip()
    return f"<p>{words}</p>" if words else ""


# Words


def marked(text: str) -> Json:
    """Return words as the page gets them: a string, or where some are marked a list of strings and marks.

    A mark is `{"mark": "strong", "words": [...]}`, or `em`, or `code`. `\\*`, `\\_`, `` \\` `` and `\\\\` are the
    characters themselves, as is every mark that has no partner or stands within a word.
    """
    if not _MARKS.search(text):
        return text
    tokens = _word_reader().parseInline(text)[0].children or []
    pieces: list[list[Json]] = [[]]
    for token in tokens:
        if token.nesting == 1:
            pieces.append([])
        elif token.nesting == -1:
            words = pieces.pop()
            pieces[-1].append({"mark": token.tag, "words": words})
        elif token.type == "code_inline":
            pieces[-1].append({"mark": token.tag, "words": [token.content]})
        elif token.content:
            pieces[-1].append(token.content)
    found = pieces[0]
    return "".join(map(str, found)) if all(isinstance(one, str) for one in found) else found


@lru_cache(maxsize=4096)
def plain_text(text: str) -> str:
    """Return words without their marks: what tables, figures, LaTeX and screen readers have."""
    return plain_words(marked(text))


def plain_words(words: Json) -> str:
    """Return the plain text of words as the page gets them."""
    if isinstance(words, str):
        return words
    if isinstance(words, Mapping):
        return plain_words(words["words"])
    return "".join(map(plain_words, words)) if isinstance(words, Sequence) else ""


_MARKS = re.compile(r"[*_`\\]")
_ESCAPED = "*_`\\"
_SPACED_SCRIPTS_END = "\u0530"
"""Before it come Latin, Greek and Cyrillic, whose words have spaces between them."""


@cache
def _word_reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("zero").enable(["emphasis", "backticks", "escape"])
    reader.inline.ruler.at("emphasis", _emphasis)
    reader.inline.ruler.at("escape", _escape)
    return reader


def _emphasis(state: StateInline, silent: bool) -> bool:
    """Take marks as CommonMark does, but none begins within a word: `2*3*4` and `sh*t or f*ck` stay as they are."""
    from markdown_it.rules_inline import emphasis

    before, at = len(state.delimiters), state.pos
    is_taken = emphasis.tokenize(state, silent)
    is_within = at > 0 and state.src[at - 1].isalnum() and state.src[at - 1] < _SPACED_SCRIPTS_END
    for one in state.delimiters[before:] if is_within else ():
        one.open = False
    return is_taken


def _escape(state: StateInline, silent: bool) -> bool:
    """Take a backslash away before a mark or a backslash, and nowhere else: other words keep theirs."""
    at = state.pos
    if not (state.src[at] == "\\" and state.src[at + 1 : at + 2] and state.src[at + 1] in _ESCAPED):
        return False
    if not silent:
        state.pending += state.src[at + 1]
    state.pos += 2
    return True
