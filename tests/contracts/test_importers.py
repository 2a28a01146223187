"""Every importer keeps the contract, on sources that were written for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.importing.registry import IMPORTERS
from beholder.testing import check_importer
from support.hemvip_sources import write_documents, write_hemvip, write_pairs
from support.pearmut_sources import write_pearmut
from support.reseval_source import write_reseval
from support.sureal_sources import write_sureal, write_sureal_pairs
from support.toolkit_sources import write_p808, write_p910
from support.variants import variant
from support.webmushra_source import EVERY_KIND, KIND_RESULTS, mushra_results, write_source

BUILT_IN = ("hemvip", "p808", "p910", "pearmut", "reseval", "sureal", "table", "webmushra")
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


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "ratings"),
    [("acr", 24), *(variant(*one) for one in (("acr-hr", 36), ("dcr", 24), ("ccr", 24), ("avatar", 72)))],
)  # fmt: skip
def test_the_p910_toolkit_keeps_the_contract(tmp_path: Path, method: str, ratings: int, whole: bool) -> None:
    source = write_p910(tmp_path / "batch", method)
    done = check_importer("p910", source, tmp_path / "imports", ratings=ratings, whole=whole)
    assert (done.sessions, done.missing, done.problems) == (7, (), ())


@pytest.mark.long
@pytest.mark.parametrize(
    ("items", "ratings"), [((), 12), variant(("sig", "bak", "ovrl"), 36), variant(("noise", "col", "ovrl"), 36)]
)
def test_the_p808_toolkit_keeps_the_contract(tmp_path: Path, items: tuple[str, ...], ratings: int, whole: bool) -> None:
    source = write_p808(tmp_path / "batch", items)
    check_importer("p808", source, tmp_path / "imports", ratings=ratings, whole=whole)


@pytest.mark.long
@pytest.mark.parametrize(
    ("write", "branch", "ratings"),
    [
        (write_hemvip, "master", 12), variant(write_hemvip, "genea2022", 12), variant(write_hemvip, "genea2023", 12),
        variant(write_pairs, "genea2022", 4), variant(write_pairs, "genea2023", 4),
        variant(write_documents, 2024, 6), variant(write_documents, 2025, 6),
    ],
)  # fmt: skip
def test_hemvip_keeps_the_contract(tmp_path: Path, write: Any, branch: Any, ratings: int, whole: bool) -> None:
    check_importer("hemvip", write(tmp_path / "root", branch), tmp_path / "imports", ratings=ratings, whole=whole)


@pytest.mark.long
def test_sureal_keeps_the_contract(tmp_path: Path, whole: bool) -> None:
    check_importer("sureal", write_sureal(tmp_path / "root"), tmp_path / "imports", ratings=24, whole=whole)


@pytest.mark.long
@pytest.mark.variant
def test_sureal_keeps_the_contract_on_comparisons(tmp_path: Path, whole: bool) -> None:
    check_importer("sureal", write_sureal_pairs(tmp_path / "root"), tmp_path / "imports", ratings=3, whole=whole)


@pytest.mark.long
def test_plain_tables_keep_the_contract(tmp_path: Path, whole: bool) -> None:
    (tmp_path / "votes.csv").write_text(
        "subject,scene,codec,score\nann,a,x,1\nann,a,y,5\nbob,a,x,2\nbob,a,y,4\n", "utf-8"
    )
    done = check_importer("table", tmp_path / "votes.csv", tmp_path / "imports", ratings=4, whole=whole)
    assert len(done.missing) == 2


@pytest.mark.long
@pytest.mark.parametrize(("models", "ratings"), [(("Alpha", "Beta"), 8), variant(("Alpha",), 4)])
def test_pearmut_keeps_the_contract(tmp_path: Path, models: tuple[str, ...], ratings: int, whole: bool) -> None:
    source = write_pearmut(tmp_path / "root", models)
    check_importer("pearmut", source, tmp_path / "imports", ratings=ratings, whole=whole)
