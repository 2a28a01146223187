"""Every importer keeps the contract, on sources that were written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.importing.registry import IMPORTERS
from beholder.testing import check_importer
from support.reseval_source import write_reseval
from support.variants import variant
from support.webmushra_source import EVERY_KIND, KIND_RESULTS, mushra_results, write_source

BUILT_IN = ("reseval", "webmushra")
# Ratings in the results of each test of ReSEval: comparisons, scores, sliders, words.
RESEVAL = {"ab": 5, "abx": 5, "mos": 5, "mushra": 15, "wordselect": 25}


def test_all_built_in_importers_are_registered() -> None:
    assert set(IMPORTERS.names()) >= set(BUILT_IN)


@pytest.mark.long
def test_webmushra_keeps_the_contract(tmp_path: Path, whole: bool) -> None:
    source = write_source(tmp_path / "root", results={"mushra.csv": mushra_results()})
    done = check_importer("webmushra", source, tmp_path / "imports", ratings=3 * 2 * 5, whole=whole)
    assert (done.people, done.sessions, done.missing, done.problems) == (3, 3, (), ())


@pytest.mark.long
@pytest.mark.variant
def test_webmushra_keeps_the_contract_on_every_kind_of_page(tmp_path: Path, whole: bool) -> None:
    source = write_source(tmp_path / "root", EVERY_KIND, KIND_RESULTS)
    check_importer("webmushra", source, tmp_path / "imports", ratings=3 + 3 + 6 + 2, whole=whole)


@pytest.mark.long
@pytest.mark.parametrize(
    ("test", "medium"),
    [
        ("mushra", "audio"),
        *(variant(test, medium) for test in RESEVAL for medium in ("text", "image", "video", "audio")
          if (test, medium) not in (("mushra", "audio"), ("wordselect", "image"))),
    ],
)  # fmt: skip
def test_reseval_keeps_the_contract(tmp_path: Path, test: str, medium: str, whole: bool) -> None:
    source = write_reseval(tmp_path / "root", test, medium)
    check_importer("reseval", source, tmp_path / "imports", ratings=RESEVAL[test], whole=whole)
