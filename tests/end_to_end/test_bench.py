"""The table of benchmarks is consistent; the measurements themselves are made by `make bench`."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_a_line_says_whether_its_aim_was_met() -> None:
    from bench.table import Row, at_least, below, lines

    assert below("p99", 99.9, 100, "ms").verdict == "met"
    assert below("p99", 100, 100, "ms").verdict == "missed"
    assert at_least("share", 0.5, 0.5, "").verdict == "met"
    assert at_least("share", 0.49, 0.5, "").verdict == "missed"
    assert Row("p50", "3 ms").verdict == ""
    assert lines([below("start", 1.234, 2, "s"), Row("p50", "3 ms")]) == [
        "| measured | value  | aim       |     |",
        "|----------|--------|-----------|-----|",
        "| start    | 1.23 s | under 2 s | met |",
        "| p50      | 3 ms   |           |     |",
    ]


def test_the_plan_that_is_measured_can_be_made_and_written(tmp_path: Path) -> None:
    from bench.planning import write_large

    assert write_large(tmp_path, 12, 12).seconds > 0
    assert (tmp_path / "plan" / "plan.json").is_file()


def test_the_batch_that_is_cleaned_is_a_whole_study_with_planted_carelessness(tmp_path: Path) -> None:
    import beholder
    from bench.cleaning import RATINGS, write_batch

    cleaned = beholder.clean(write_batch(tmp_path / "batch", 40))
    assert cleaned.counts["sessions"] == cleaned.counts["completed"] == 40
    assert cleaned.counts["ratings"] == 40 * RATINGS
    assert 0 < cleaned.counts["used_sessions"] < 40


@pytest.mark.variant
def test_the_ratings_that_are_analysed_are_a_table_with_every_condition(tmp_path: Path) -> None:
    import beholder
    from bench.analysis import CONDITIONS, write_ratings

    results = beholder.analyse(write_ratings(tmp_path / "ratings.csv", 2000), out=tmp_path / "analyse")
    assert len(results.conditions) == CONDITIONS
    assert len(results.pairs) == CONDITIONS * (CONDITIONS - 1) // 2


def test_the_rehearsal_that_is_measured_has_as_many_ratings_as_it_says() -> None:
    from bench.rehearsal import measure_rehearse

    first, _ = measure_rehearse(ratings=480)
    assert first.what.startswith("480 ratings of 6 robots in memory")


async def test_the_leases_that_are_measured_are_all_different(tmp_path: Path) -> None:
    from bench.leases import measure_sqlite

    row = await measure_sqlite(tmp_path, 20)
    assert row.what == "Leases, 20 lists: SQLite, one server, 64 at once"
