"""Every analysis keeps the contract: the built-in ones, and one that is discovered through its entry point."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.analysis.registry import installed
from beholder.methods import methods
from beholder.methods.contract import scoring_of
from beholder.reporting.references import find_source
from beholder.testing import check_analysis
from support.installed_packages import LOUDNESS, install_loudness

OURS = [one.name for one in installed()[0]]


@pytest.mark.long
@pytest.mark.parametrize("name", OURS)
def test_a_built_in_analysis_keeps_the_contract(name: str, whole: bool) -> None:
    check_analysis(name, whole=whole)


def test_a_third_party_analysis_is_found_and_keeps_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_loudness(tmp_path, monkeypatch, LOUDNESS)
    assert [one.name for one in installed()[0]] == [*OURS, "loudness"]
    check_analysis("loudness")


def test_every_declared_source_is_in_the_bibliography() -> None:
    texts = [one.citation for one in installed()[0]] + [scoring_of(one).citation for one in methods().values()]
    sources = {source for text in texts for source in text.split("; ") if source}
    assert sources
    assert not {source for source in sources if find_source(source) is None}
