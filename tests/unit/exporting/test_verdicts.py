"""Verdicts and exclusions: every excluded row has its reason."""

from __future__ import annotations

from pathlib import Path

from support.export_store import rows


def test_raw_and_used_rows_are_in_one_table_and_every_exclusion_has_its_reason(folder: Path) -> None:
    used = {row["session"]: row["use"] for row in rows(folder, "ratings")}
    assert used == {"alice": "true", "bob": "true", "same": "false"}
    names = ("level", "session", "check", "reason", "words")
    assert [tuple(row[name] for name in names) for row in rows(folder, "exclusions")] == [
        ("session", "same", "variance", "same_answer", "Nearly the same answer throughout"),
        ("session", "gone", "complete", "withdrawn", "Withdrew; answers erased"),
        ("session", "left", "complete", "not_finished", "Did not finish"),
    ]  # fmt: skip
    (same,) = (row for row in rows(folder, "sessions") if row["session"] == "same")
    assert (same["use"], same["reasons"]) == ("false", "variance:same_answer")
