"""The methods paragraph in the page, to be copied, with what it cites; and the same in the formats of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beholder.report.markup import Markup, render, tag
from beholder.report.material import Material
from beholder.report.paragraph.analysis import analysis, availability
from beholder.report.paragraph.apparatus import apparatus, trust
from beholder.report.paragraph.design import design
from beholder.report.paragraph.people import participants
from beholder.report.paragraph.sources import bibtex, cited_sources, in_full
from beholder.report.paragraph.text import Paragraph, Said, cited_keys, latex_methods, markdown_methods

_SIMULATED = Said("All ratings are simulated: robots answered in place of participants, and nothing here is a result")
FOOT = (
    "Every number is of this study. Words in brackets are for you to fill in. methods.tex and methods.md beside this "
    "page hold the same with citations, sources.bib what they cite."
)


def methods(material: Material) -> list[Paragraph]:
    """Return the methods of a study in paragraphs."""
    simulated = [_SIMULATED] if material.is_simulated else []
    return [
        Paragraph("Design", [*simulated, *design(material)]),
        Paragraph("Participants", participants(material)),
        Paragraph("Apparatus", apparatus(material)),
        Paragraph("Quality control", trust(material)),
        Paragraph("Analysis", analysis(material)),
        Paragraph("Data", availability(material)),
    ]


def methods_section(material: Material, paragraphs: Sequence[Paragraph]) -> Markup:
    """Return the paragraphs, marked as a whole by a click and copied by a button, and the sources."""
    text = [tag("p", tag("b", f"{one.title}."), " ", one.text, dir="auto") for one in paragraphs]
    paste = tag("div", text, class_="paste", tabindex="0", role="group", aria_label="Methods, to be copied")
    sources = cited_sources(material, cited_keys(paragraphs))
    listed = tag("ul", [tag("li", in_full(source)) for source in sources], class_="references")
    title = tag("h3", "Sources")
    return render([paste, [title, listed] if sources else None])


def methods_files(material: Material, paragraphs: Sequence[Paragraph]) -> Mapping[str, str]:
    """Return the files beside the page by name."""
    return {
        "methods.md": markdown_methods(paragraphs),
        "methods.tex": latex_methods(paragraphs),
        "sources.bib": bibtex(cited_sources(material, cited_keys(paragraphs))),
    }
