"""The documents of a bundle: RO-Crate 1.1 metadata, README, and the versions of the software.

Nothing in them depends on when or where they are written: the same study gives the same bytes.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from beholder.bundling.holdings import (
    ANALYSED,
    CLEANED,
    CRATE,
    FACTS,
    FORMAT,
    REPORTED,
    SOFTWARE,
    STUDY,
    Choice,
)
from beholder.exporting.dataset import Blank, blank_note
from beholder.files import json_bytes, utf8
from beholder.store.tables import SHAPES
from beholder.study.bibliography import Author
from beholder.study.markdown import plain_text
from beholder.study.model import Study

_CONTEXT = "https://w3id.org/ro/crate/1.1/context"
_PROFILE = "https://w3id.org/ro/crate/1.1"
_TERMS = {"sha256": "https://schema.org/sha256"}
"""Names that the context of RO-Crate 1.1 does not have."""
_HOME = "#beholder"
_ENCODINGS = {
    "csv": "text/csv", "json": "application/json", "jsonl": "application/jsonl", "yaml": "application/yaml",
    "md": "text/markdown", "html": "text/html", "svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf",
    "tex": "application/x-tex", "bib": "application/x-bibtex", "txt": "text/plain", "sha256": "text/plain",
    "parquet": "application/vnd.apache.parquet", "mp4": "video/mp4", "webm": "video/webm", "wav": "audio/wav",
    "mp3": "audio/mpeg", "jpg": "image/jpeg",
}  # fmt: skip
_FOLDERS = {
    STUDY: "The study as it was run: study.yaml, its texts and its plan, and what was computed from the facts.",
    FACTS: "Sessions, answers and events, one JSON object a line; a file for each table of the store.",
    CLEANED: "Ratings with the verdict and the reason for everything that is excluded.",
    ANALYSED: "Scores, intervals and tests.",
    REPORTED: "One page with the findings, its figures and tables.",
    SOFTWARE: "The versions of everything that computed the results.",
}


@dataclass(frozen=True)
class BundleFacts:
    """What the documents say of a bundle."""

    study: Study
    choice: Choice
    description: str
    citation: str
    population: str
    as_of: str
    """The time of the last fact, ISO 8601; a run that had closed by then is closed."""
    is_open: bool
    left_out: Sequence[str]
    """Keys of study.yaml that are not handed on."""
    blanks: Sequence[Blank]
    counts: Mapping[str, int]
    """Rows by table."""
    notes: Sequence[str]
    """What a reader has to know of this bundle alone."""

    def json(self) -> dict[str, Any]:
        """Return bundle.json: what a program needs to know first."""
        return {
            "kind": "beholder bundle", "format": FORMAT, "for": self.choice.kind, "study": self.study.name,
            "run": self.study.run, "population": self.population, "robots": self.choice.robots, "as_of": self.as_of,
            "is_open": self.is_open, "software": software_name(), "with_stimuli": self.choice.with_stimuli,
            "with_texts": self.choice.with_texts, "is_blinded": self.choice.is_blinded, "left_out": list(self.left_out),
            "rows": dict(self.counts), "notes": list(self.notes),
        }  # fmt: skip


def software_name() -> str:
    """Return this program with its version."""
    return f"beholder {metadata.version('beholder')}"


# RO-Crate


def crate_bytes(facts: BundleFacts, sizes: Mapping[str, int], hashes: Mapping[str, str]) -> bytes:
    """Return ro-crate-metadata.json for files with these sizes and hashes."""
    publication = facts.study.publication
    folders = [name for name in _FOLDERS if any(file.startswith(name) for file in sizes)]
    root: dict[str, Any] = {
        "@id": "./", "@type": "Dataset", "name": facts.study.title, "description": facts.description,
        "datePublished": publication.published or facts.as_of[:10], "identifier": _identifier(facts.study),
        "author": [{"@id": _person_id(one)} for one in publication.authors] or None,
        "license": {"@id": publication.licence_url} if publication.licence_url else None,
        "keywords": list(publication.keywords) or None, "inLanguage": facts.study.language,
        "version": publication.version, "url": publication.url,
        "hasPart": [{"@id": name} for name in [*folders, *sorted(sizes)]],
        "mentions": [{"@id": "#computation"}],
    }  # fmt: skip
    graph = [
        {"@id": CRATE, "@type": "CreativeWork", "about": {"@id": "./"}, "conformsTo": {"@id": _PROFILE}},
        root,
        *(_folder(name, sizes) for name in folders),
        *(_file(name, sizes[name], hashes[name]) for name in sorted(sizes)),
        *_people(publication.authors),
        *_licence(publication.licence_url, publication.licence),
        *_computation(),
    ]
    kept = [{name: value for name, value in one.items() if value not in (None, "")} for one in graph]
    return json_bytes({"@context": [_CONTEXT, _TERMS], "@graph": kept})


def _identifier(study: Study) -> str | None:
    doi = study.publication.doi
    return f"https://doi.org/{doi}" if doi else None


def _folder(name: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    inside = [{"@id": file} for file in sorted(sizes) if file.startswith(name)]
    return {"@id": name, "@type": "Dataset", "name": name, "description": _FOLDERS[name], "hasPart": inside}


def _file(name: str, size: int, sha256: str) -> dict[str, Any]:
    ending = name.rpartition(".")[2].lower()
    return {
        "@id": name, "@type": "File", "name": name.rpartition("/")[2], "contentSize": str(size), "sha256": sha256,
        "encodingFormat": _ENCODINGS.get(ending),
    }  # fmt: skip


def _person_id(author: Author) -> str:
    if author.orcid:
        return f"https://orcid.org/{author.orcid}"
    return "#" + re.sub(r"[^A-Za-z0-9]+", "-", author.name).strip("-")


def _people(authors: Sequence[Author]) -> Iterator[dict[str, Any]]:
    for author in authors:
        kind = "Person" if author.family_and_given else "Organization"
        yield {"@id": _person_id(author), "@type": kind, "name": author.reading_order, "email": author.email,
               "affiliation": author.affiliation}  # fmt: skip


def _licence(address: str | None, name: str | None) -> Iterator[dict[str, Any]]:
    if address:
        yield {"@id": address, "@type": "CreativeWork", "name": name}


def _computation() -> Iterator[dict[str, Any]]:
    yield {"@id": _HOME, "@type": "SoftwareApplication", "name": "Beholder", "version": metadata.version("beholder")}
    yield {
        "@id": "#computation", "@type": "CreateAction", "name": "Cleaning, analysis and report of the facts",
        "instrument": {"@id": _HOME}, "object": [{"@id": FACTS}],
        "result": [{"@id": name} for name in (CLEANED, ANALYSED, REPORTED)],
    }  # fmt: skip


# Software


def software_files() -> dict[str, bytes]:
    """Return the versions of this program and of everything that it is made of, as pip reads them, and of Python."""
    versions = dict(sorted(_installed("beholder")))
    system = {"python": platform.python_version(), "implementation": platform.python_implementation(),
              "system": platform.system(), "machine": platform.machine()}  # fmt: skip
    lines = [f"{name}=={version}" for name, version in versions.items()]
    return {
        f"{SOFTWARE}requirements.txt": utf8("".join(f"{line}\n" for line in lines)),
        f"{SOFTWARE}software.json": json_bytes({**system, "packages": versions}),
    }


def _installed(first: str) -> Iterator[tuple[str, str]]:
    """Yield name and version of a distribution and of all that it needs, as far as they are installed."""
    seen: set[str] = set()
    waiting = [first]
    while waiting:
        name = _normal(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # of another system, or optional
        yield name, found.version
        for requirement in found.requires or ():
            if "extra ==" not in requirement:
                waiting.append(re.split(r"[\s;<>=!~\[(]", requirement, maxsplit=1)[0])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# README


def readme_bytes(facts: BundleFacts) -> bytes:
    """Return the README for people."""
    study, choice = facts.study, facts.choice
    robots = facts.population == "robots"
    rows = [f"| `{table}.jsonl` | {facts.counts[table]:,} |" for table in SHAPES if table in facts.counts]
    lines = [
        f"# {plain_text(study.title)}",
        "",
        *(["**Simulated: robots answered in place of people. A rehearsal, not a result.**", ""] if robots else []),
        facts.description,
        "",
        *([f"How to cite: {facts.citation}", ""] if facts.citation and not choice.is_blinded else []),
        "This archive holds a study, everything that people answered, and everything that was computed from it. It was "
        f"made by {software_name()}. {choice.words}",
        "",
        "## Read it",
        "",
        f"Open `{REPORTED}index.html` in any browser. It needs no network.",
        "",
        "## Check it",
        "",
        "```console",
        "$ sha256sum --check checksums.sha256",
        "$ pip install -r software/requirements.txt",
        "$ beholder verify THIS-FILE.zip",
        "```",
        "",
        "The first line finds files that have changed. The last one computes every number and figure anew from "
        "`facts/`, and says of each whether it is the same. Who wants to be sure that the archive is the one that was "
        "published compares its digest, the SHA-256 of `checksums.sha256`, with the one in the paper.",
        "",
        "## Repeat it",
        "",
        "```console",
        "$ beholder rerun THIS-FILE.zip --new-people" + ("" if choice.with_stimuli else " --stimuli FOLDER"),
        "```",
        "",
        "makes a study folder that asks other people the same.",
        "",
        "## What is in it",
        "",
        "| where | what | left out |",
        "|---|---|---|",
        *(f"| `{one.place}` | {one.what} | {one.without or '–'} |" for one in choice.holdings),
        "",
        "| facts | rows |",
        "|---|---|",
        *rows,
        "",
        "Numbers of entries in the ledger are those of the original, so a gap is an entry that was left out. PDFs of "
        "figures are drawn from the same vectors as the SVG beside them.",
        "",
        *_further(facts),
    ]
    return utf8("\n".join(lines).rstrip() + "\n")


def _further(facts: BundleFacts) -> Iterator[str]:
    notes = list(facts.notes)
    if facts.left_out:
        notes.append("Keys of study.yaml that were set and are left out: " + ", ".join(facts.left_out) + ".")
    if facts.is_open:
        notes.append(f"People may still have come after {facts.as_of}: these are results of a look.")
    if not facts.choice.is_blinded and (blank := blank_note(facts.blanks)):
        notes.append(blank)
    if not facts.study.publication.published:
        notes.append("`datePublished`, which RO-Crate asks for, is the day of the last fact: nobody has said another.")
    if notes:
        yield from ("## What else to know", "", *(f"- {note}" for note in notes), "")
