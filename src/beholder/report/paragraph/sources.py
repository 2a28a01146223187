"""Sources: everything that a report cites, under one key in the page, in BibTeX and in LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from beholder.report.material import Material
from beholder.report.paragraph.references import REFERENCES, Source
from beholder.report.words import listed

SOURCES: Mapping[str, Source] = {source.key: source for source in REFERENCES}


def find_source(citation: str) -> Source | None:
    """Return the source of what an analysis cites; None where it is not known here."""
    return next((source for source in REFERENCES if citation.startswith(source.cited)), None)


def cited_sources(material: Material, keys: Iterable[str] = ()) -> list[Source]:
    """Return the sources of all analyses of a study, and those with these keys, in alphabetical order."""
    notes = material.results.notes
    told = [one["citation"] for one in (*notes["analyses"].values(), *notes.get("models", {}).values())]
    found = {source.key for text in told for one in text.split("; ") if (source := find_source(one)) is not None}
    return sorted((SOURCES[key] for key in {*found, *keys}), key=lambda source: (source.short.casefold(), source.key))


def bibtex(sources: Iterable[Source]) -> str:
    """Return the sources as a BibTeX file."""
    return "\n".join(_entry(source) for source in sources)


def _entry(source: Source) -> str:
    lines = [f"  {name} = {{{_escaped(text)}}},\n" for name, text in source.fields.items()]
    return f"@{source.kind}{{{source.key},\n{''.join(lines)}}}\n"


def _escaped(text: str) -> str:
    return text.replace("&", r"\&").replace("–", "--")


def in_full(source: Source) -> str:
    """Return a source as a list of references prints it."""
    fields = {name: text.replace("{", "").replace("}", "") for name, text in source.fields.items()}
    first, *others = fields["author"].split(" and ")
    who = listed([first, *(" ".join(reversed(one.split(", "))) for one in others)])
    parts = [f"{who} ({fields['year']}). {fields['title']}."]
    if source.kind == "article":
        parts.append(f"{fields['journal']} {fields['volume']}({fields['number']}), {fields['pages']}.")
    elif source.kind == "techreport":
        parts.append(f"{fields['type']} {fields['number']}.")
    elif "eprint" in fields:
        parts.append(f"{fields['archiveprefix']}:{fields['eprint']}.")
    else:
        pages = f", {fields['pages']}" if "pages" in fields else ""
        parts.append(f"{fields.get('booktitle') or fields['publisher']}{pages}.")
    return " ".join([*parts, *([f"doi:{fields['doi']}"] if "doi" in fields else [])])
