"""Results from facts alone: as of when, and without a store."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from beholder.bundling.facts_files import read_rows_of
from beholder.bundling.recomputation import BUNDLED, output_files, time_of
from beholder.methods import load_study
from beholder.study.model import Study
from beholder.study.recruitment import moment
from support.bundled_study import NOON


def test_a_bundle_stands_as_of_its_last_fact_or_of_its_closing(study: Study, unpacked: Path) -> None:
    tables = read_rows_of(unpacked / "facts", BUNDLED)
    last = time_of(study, tables, NOON)
    assert last == max(row["at"] for rows in tables.values() for row in rows if "at" in row) + timedelta(microseconds=1)
    closing = study.model_copy(update={"recruit": study.recruit.model_copy(update={"closes": "2031-05-01"})})
    assert closing.recruit.closes is not None
    after = moment(closing.recruit.closes) + timedelta(days=3)
    assert time_of(closing, tables, NOON) == last
    assert time_of(closing, tables, after) > moment(closing.recruit.closes)


def test_results_need_no_store_and_leave_none(unpacked: Path) -> None:
    names = {path.relative_to(unpacked / "study").as_posix() for path in output_files(load_study(unpacked / "study"))}
    assert {"clean/account.json", "analyse/notes.json", "report/index.html"} <= names
    assert not (unpacked / "study" / "store").exists()
