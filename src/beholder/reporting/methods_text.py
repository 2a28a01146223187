"""The methods text as sentences and paragraphs, with citations, as plain text, Markdown and LaTeX.

Numbers come from the data; brackets leave a blank for what no file holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from beholder.reporting.references import SOURCES
from beholder.reporting.sheets import latex_text, markdown_text


class Sentence(NamedTuple):
    """One sentence without its full stop, and the keys of its sources."""

    text: str
    cites: tuple[str, ...] = ()


class Paragraph(NamedTuple):
    """Sentences under a title."""

    title: str
    sentences: Sequence[Sentence]

    @property
    def text(self) -> str:
        """The sentences as plain text, sources by name and year."""
        return " ".join(_sentence(one.text, _citations(one.cites)) for one in self.sentences)


def plain_text(paragraphs: Sequence[Paragraph]) -> str:
    """Return the paragraphs as plain text."""
    return "\n\n".join(f"{one.title}. {one.text}" for one in paragraphs) + "\n"


def markdown_methods(paragraphs: Sequence[Paragraph]) -> str:
    """Return the paragraphs in Markdown, sources by their keys in sources.bib as pandoc and Quarto read them."""
    lines = ["---", "bibliography: sources.bib", "---"]
    for paragraph in paragraphs:
        cited = [(markdown_text(one.text), "; ".join(f"@{key}" for key in one.cites)) for one in paragraph.sentences]
        body = " ".join(_sentence(text, f" [{keys}]" if keys else "") for text, keys in cited)
        lines.append(f"\n**{paragraph.title}.** {body}")
    return "\n".join(lines) + "\n"


def latex_methods(paragraphs: Sequence[Paragraph]) -> str:
    """Return the paragraphs in LaTeX, sources by their keys in sources.bib."""
    lines = ["% Sources: \\bibliography{sources}. Words in brackets are for you to fill in.", ""]
    for paragraph in paragraphs:
        body = " ".join(
            _sentence(latex_text(one.text), f"~\\cite{{{','.join(one.cites)}}}" if one.cites else "")
            for one in paragraph.sentences
        )
        lines.append(f"\\paragraph{{{latex_text(paragraph.title)}.}} {body}\n")
    return "\n".join(lines)


def cited_keys(paragraphs: Sequence[Paragraph]) -> list[str]:
    """Return the keys of all sources that the paragraphs cite."""
    return list(dict.fromkeys(key for paragraph in paragraphs for one in paragraph.sentences for key in one.cites))


def _sentence(text: str, cited: str) -> str:
    """Return a sentence with its sources before the full stop; text that ends in a mark gets no full stop."""
    return f"{text}{cited}{'' if not cited and text.endswith(('.', '?', '!')) else '.'}"


def _citations(cites: Sequence[str]) -> str:
    return f" ({'; '.join(SOURCES[key].short for key in cites)})" if cites else ""
