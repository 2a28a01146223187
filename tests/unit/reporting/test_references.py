"""Sources: complete entries, and every citation of an analysis among them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from beholder.reporting.methods_section import methods, methods_files
from beholder.reporting.references import SOURCES, bibtex, find_source, full_reference
from support.headline_ratings import Value, around, flat, rated

CITING: Sequence[tuple[str, str, Mapping[Any, Value]]] = [
    ("score", "mushra", {"a": around(80), "b": around(50)}),
    ("score", "parallel", {"a": around(80), "b": around(50)}),
    ("diff", "ccr", {("a", "b"): around(1)}),
    ("choice", "pair", {("a", "b"): lambda who, what: (who + what) % 3 - 1, ("b", "c"): flat(1)}),
    ("correct", "abx", {("a", "b"): lambda who, what: float((who + what) % 2)}),
]


@pytest.mark.parametrize(("kind", "method", "values"), CITING)
def test_every_source_that_an_analysis_cites_is_known_and_in_the_bibliography(
    tmp_path: Path, kind: str, method: str, values: Mapping[Any, Value]
) -> None:
    material = rated(tmp_path, values, kind=kind, method=method, people=8, contents=4)
    files = methods_files(material, methods(material))
    for analysis in material.results.notes["analyses"].values():
        for citation in filter(None, analysis["citation"].split("; ")):
            source = find_source(citation)
            assert source is not None, citation
            assert f"{{{source.key},\n" in files["sources.bib"]
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", files["methods.tex"]) for key in keys.split(",")}
    assert cited
    assert cited <= set(re.findall(r"^@\w+\{([^,]+),$", files["sources.bib"], re.MULTILINE))


def test_every_entry_is_whole() -> None:
    text = bibtex(SOURCES.values())
    assert text.count("{") == text.count("}")
    for source in SOURCES.values():
        assert {"author", "title", "year"} <= set(source.fields)
        assert source.short
        assert source.cited
        assert re.fullmatch(r"[a-z0-9-]+", source.key)
        assert "{" not in full_reference(source)
    assert full_reference(SOURCES["cameron2011"]) == (
        "Cameron, A. Colin, Jonah B. Gelbach and Douglas L. Miller (2011). Robust inference with multiway clustering. "
        "Journal of Business & Economic Statistics 29(2), 238–249. doi:10.1198/jbes.2010.07136"
    )
    assert full_reference(SOURCES["itu-p913"]).endswith(
        "Recommendation ITU-T P.913 (06/2021). Merged into ITU-T P.910 (10/2023)."
    )
    assert r"journal = {Journal of Business \& Economic Statistics}," in text
