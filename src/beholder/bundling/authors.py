"""Names of the authors, taken out of every text of a bundle for reviewers.

What identifies them stands under `publication` and `contact` of the study, so it is known by its letters: wherever
these letters stand, in consent texts, plans or facts, a mark takes their place. What is said in other words, no program
finds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beholder.study.model import Study

BLINDED = "[blinded]"
_ADDRESS, _MAIL = "https://example.org/blinded", "blinded@example.org"
_SHORTEST = 4
"""Letters that a name has to have: a shorter one is in words that are no names."""
PUBLICATION = "publication"


class Blinding:
    """Replaces what identifies the authors of a study, and counts how often."""

    def __init__(self, study: Study | None) -> None:
        marks = {} if study is None else dict(identifying(study))
        names = sorted((name for name in marks if len(name) >= _SHORTEST), key=lambda name: (-len(name), name))
        self._marks = {form.casefold(): marks[name] for name in names for form in _forms(name)}
        joined = "|".join(re.escape(form) for name in names for form in _forms(name))
        self._pattern = re.compile(rf"(?<!\w)(?:{joined})(?!\w)", re.IGNORECASE) if joined else None
        self.count = 0

    def __call__(self, text: str) -> str:
        """Return a text with marks in place of names."""
        if self._pattern is None:
            return text
        blinded, count = self._pattern.subn(lambda match: self._marks[match[0].casefold()], text)
        self.count += count
        return blinded


def identifying(study: Study) -> Iterator[tuple[str, str]]:
    """Yield what identifies the authors, with the mark that takes its place."""
    publication = study.publication
    for author in publication.authors:
        for name in {author.name, author.reading_order, " ".join(author.family_and_given or ())}:
            if name:
                yield name, BLINDED
        for told in (author.affiliation, author.orcid):
            if told:
                yield told, BLINDED
        if author.email:
            yield author.email, _MAIL
    for told in (
        *publication.funding,
        publication.ethics,
        publication.paper,
        publication.registration,
        publication.doi,
    ):
        if told and told != "none":
            yield told, BLINDED
    if publication.url:
        yield publication.url, _ADDRESS
    if study.contact:
        yield study.contact, _MAIL if "@" in study.contact else _ADDRESS


def _forms(name: str) -> Iterable[str]:
    """Return a name as it stands in texts, and as it stands in JSON."""
    return dict.fromkeys([name, json.dumps(name, ensure_ascii=False)[1:-1]])


def blinded_registration(row: Mapping[str, Any], blinding: Blinding) -> dict[str, Any] | None:
    """Return an entry on a preregistration without names; None of one that says where it was registered.

    Its digest becomes that of the blinded words, as anybody can compute it.
    """
    from beholder.preregistration.registration import content_digest

    if row["kind"] == "preregistered":
        return None
    evidence = json.loads(blinding(json.dumps(row["evidence"], ensure_ascii=False)))
    return {
        **row,
        "evidence": evidence,
        "provider_ref": content_digest(evidence["plan"], evidence["words"], evidence["answers"]),
    }
