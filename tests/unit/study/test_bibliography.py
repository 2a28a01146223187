"""The key `publication` of a study: what only the researcher knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.planning.digest import study_digest
from beholder.stimuli.ingestion import load_catalogue
from beholder.testing import write_study

FULL: dict[str, Any] = {
    "description": "How videos look.",
    "authors": [{"name": "Doe, Jane", "affiliation": "An institute", "orcid": "0000-0002-1694-233X"}, {"name": "ACME"}],
    "licence": "CC-BY-4.0",
    "ethics": "Approved by a board (2026-17).",
    "doi": "10.5281/zenodo.123456",
    "version": "1.0.0",
    "published": "2026-11-30",
    "answers": {"heds-2.1": "speech"},
}


def test_what_is_published_is_no_part_of_what_people_see(tmp_path: Path, tiny: Path) -> None:
    plain = load_study(write_study(tmp_path / "a", tiny))
    told = load_study(write_study(tmp_path / "b", tiny, publication=FULL))
    assert study_digest(plain, load_catalogue(plain)) == study_digest(told, load_catalogue(told))
    publication = told.publication
    assert publication.address == "https://doi.org/10.5281/zenodo.123456"
    assert publication.licence_url == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert [author.reading_order for author in publication.authors] == ["Jane Doe", "ACME"]
    assert [author.family_and_given for author in publication.authors] == [("Doe", "Jane"), None]


@pytest.mark.parametrize(
    ("publication", "words"),
    [
        (
            {"authors": [{"name": "A", "orcid": "0000-0002-1694-2331"}]},
            "publication.authors.0.orcid is 0000-0002-1694-2331. Allowed: an ORCID iD such as 0000-0002-1825-0097. "
            "Its last digit checks the others.",
        ),
        (
            {"licence": "some rights"},
            "publication.licence is some rights. Allowed: an SPDX identifier such as CC-BY-4.0, or a web address "
            "that begins with https://.",
        ),
        ({"published": "2026-02-30"}, "publication.published is 2026-02-30, and there is no such day."),
        ({"doi": "https://doi.org/10.1/x"}, "publication.doi is https://doi.org/10.1/x. Allowed: a DOI such as 10."),
        ({"version": "final"}, "publication.version is final. Allowed: one to three numbers, such as 1.0.0."),
        ({"license": "MIT"}, "publication.license is not a known key. Did you mean licence?"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, tiny: Path, publication: object, words: str) -> None:
    with pytest.raises(StudyError) as caught:
        load_study(write_study(tmp_path, tiny, publication=publication))
    assert words in str(caught.value)
